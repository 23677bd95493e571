//! The check of a document against a schema: one visitor, which stops at the first violation or collects all of them.

use bson::{RawArray, RawBsonRef, RawDocument};
use odm_pattern::Steps;

use super::{
    Violation, equality, native,
    node::{
        ArrayRules, Bound, Divisor, Enumeration, Limits, Needs, NumberRules, ObjectRules, Rest,
        SchemaNode, TextRules,
    },
    words::{Path, count, or, shown},
};
use crate::{
    Error,
    decimal::Decimal,
    filter::is_match,
    number,
    order::{compare, is_nan},
    steps, types,
};

/// The longest array whose items are compared in pairs.
const FEW_ITEMS: usize = 12;

/// The reason why a check ends before the end of the document.
pub(super) enum Stop {
    /// A rule is violated, in a check that does not report which.
    Violated,
    /// Boxed to keep the frames of the visitor small, since there is one for each level.
    Failed(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(Box::new(error))
    }
}

type Outcome = Result<(), Stop>;

/// A check in progress.
pub(super) struct Checker<'v> {
    violations: Option<&'v mut Vec<Violation>>,
    steps: &'v Steps,
}

impl<'v> Checker<'v> {
    /// A check that stops at the first violation.
    pub(super) fn matching(steps: &'v Steps) -> Self {
        Checker {
            violations: None,
            steps,
        }
    }

    /// A check that collects all violations.
    pub(super) fn reporting(violations: &'v mut Vec<Violation>, steps: &'v Steps) -> Self {
        Checker {
            steps,
            violations: Some(violations),
        }
    }

    fn violated(
        &mut self,
        path: &Path<'_>,
        rule: &str,
        message: impl FnOnce() -> String,
    ) -> Outcome {
        let Some(violations) = &mut self.violations else {
            return Err(Stop::Violated);
        };
        violations.push(Violation {
            path: path.to_string(),
            rule: rule.to_owned(),
            message: message(),
        });
        Ok(())
    }

    pub(super) fn node(
        &mut self,
        node: &SchemaNode,
        value: RawBsonRef<'_>,
        path: &Path<'_>,
    ) -> Outcome {
        steps::step();
        if let Some(types) = node.types.as_ref().filter(|types| !types.has(value)) {
            self.violated(path, types.keyword, || {
                let found = types::name(value.element_type());
                format!("must be of type {}, and is {found}", or(&types.names))
            })?;
        }
        if let Some(one_of) = node.one_of.as_ref().filter(|one_of| !one_of.has(value)) {
            self.violated(path, "enum", || not_one_of(one_of, value))?;
        }
        if let Some(native) = node.native.as_ref().filter(|native| !native.has(value)) {
            self.violated(path, native::KEYWORD, || {
                format!("must be {}, and is {}", native.words(), shown(value))
            })?;
        }
        match value {
            RawBsonRef::Int32(_)
            | RawBsonRef::Int64(_)
            | RawBsonRef::Double(_)
            | RawBsonRef::Decimal128(_) => {
                if let Some(rules) = &node.number {
                    self.number(rules, value, path)?;
                }
            }
            RawBsonRef::String(text) => {
                if let Some(rules) = &node.text {
                    self.text(rules, text, path)?;
                }
            }
            RawBsonRef::Array(array) => {
                if let Some(rules) = &node.array {
                    self.array(rules, array, path)?;
                }
            }
            RawBsonRef::Document(document) => {
                if let Some(rules) = &node.object {
                    self.object(rules, document, path)?;
                }
            }
            _ => {}
        }
        for inner in &node.all {
            self.node(inner, value, path)?;
        }
        if !node.any.is_empty() {
            self.any(&node.any, value, path)?;
        }
        if !node.one.is_empty() {
            self.one(&node.one, value, path)?;
        }
        match &node.not {
            Some(not) if conforms(not, value, self.steps)? => self.violated(path, "not", || {
                "must not conform to the schema of `not`, and does".to_owned()
            }),
            _ => Ok(()),
        }
    }

    fn any(&mut self, branches: &[SchemaNode], value: RawBsonRef<'_>, path: &Path<'_>) -> Outcome {
        for branch in branches {
            if conforms(branch, value, self.steps)? {
                return Ok(());
            }
        }
        self.violated(path, "anyOf", || {
            let schemas = count(branches.len() as u64, "schema");
            format!("must conform to one of {schemas}, and conforms to none")
        })?;
        // The types, and the values that tell the schemas apart, decide which schema was meant.
        let mut meant = branches.iter().filter(|branch| fits(branch, value));
        match (meant.next(), meant.next()) {
            (Some(one), None) => self.node(one, value, path),
            _ => Ok(()),
        }
    }

    fn one(&mut self, branches: &[SchemaNode], value: RawBsonRef<'_>, path: &Path<'_>) -> Outcome {
        let mut matches = 0;
        for branch in branches {
            matches += u64::from(conforms(branch, value, self.steps)?);
        }
        if matches == 1 {
            return Ok(());
        }
        self.violated(path, "oneOf", || {
            let schemas = count(branches.len() as u64, "schema");
            let found = match matches {
                0 => "none".to_owned(),
                matches => matches.to_string(),
            };
            format!("must conform to exactly one of {schemas}, and conforms to {found}")
        })
    }

    fn number(&mut self, rules: &NumberRules, value: RawBsonRef<'_>, path: &Path<'_>) -> Outcome {
        let message = |bound: &Bound, words: [&str; 2]| {
            let words = words[usize::from(bound.exclusive)];
            let limit = shown(bound.value.as_raw_bson_ref());
            format!("must be {words} {limit}, and is {}", shown(value))
        };
        if let Some(bound) = &rules.minimum
            && !is_within(value, bound, |order| order.is_gt())
        {
            self.violated(path, "minimum", || {
                message(bound, ["at least", "greater than"])
            })?;
        }
        if let Some(bound) = &rules.maximum
            && !is_within(value, bound, |order| order.is_lt())
        {
            self.violated(path, "maximum", || message(bound, ["at most", "less than"]))?;
        }
        match &rules.multiple_of {
            Some(divisor) if !is_multiple(value, divisor) => {
                self.violated(path, "multipleOf", || {
                    let divisor = shown(divisor.value.as_raw_bson_ref());
                    format!("must be a multiple of {divisor}, and is {}", shown(value))
                })
            }
            _ => Ok(()),
        }
    }

    fn text(&mut self, rules: &TextRules, text: &str, path: &Path<'_>) -> Outcome {
        if rules.length.is_stated() {
            let length = text.chars().count() as u64;
            let keywords = ["minLength", "maxLength"];
            self.length(&rules.length, keywords, length, "character", path)?;
        }
        match &rules.pattern {
            Some(pattern) if !is_match(pattern, text, self.steps)? => {
                self.violated(path, "pattern", || {
                    let text = shown(RawBsonRef::String(text));
                    format!(
                        "must match the pattern `{}`, and is {text}",
                        pattern.source()
                    )
                })
            }
            _ => Ok(()),
        }
    }

    fn length(
        &mut self,
        limits: &Limits,
        [least_keyword, most_keyword]: [&str; 2],
        length: u64,
        thing: &str,
        path: &Path<'_>,
    ) -> Outcome {
        if let Some(least) = limits.least.filter(|least| length < *least) {
            self.violated(path, least_keyword, || {
                format!(
                    "must have at least {}, and has {length}",
                    count(least, thing)
                )
            })?;
        }
        match limits.most.filter(|most| length > *most) {
            None => Ok(()),
            Some(most) => self.violated(path, most_keyword, || {
                format!("must have at most {}, and has {length}", count(most, thing))
            }),
        }
    }

    fn array(&mut self, rules: &ArrayRules, array: &RawArray, path: &Path<'_>) -> Outcome {
        let mut length = 0;
        for (position, item) in array.into_iter().flatten().enumerate() {
            length += 1;
            let path = Path::Item(path, position);
            match (rules.first.get(position), &rules.rest) {
                (Some(node), _) => self.node(node, item, &path)?,
                (None, Rest::Any) => {}
                (None, Rest::Conforming(node)) => self.node(node, item, &path)?,
                (None, Rest::None) => self.violated(&path, "additionalItems", || {
                    let items = count(rules.first.len() as u64, "item");
                    format!("is not allowed, since the array has at most {items}")
                })?,
            }
        }
        let keywords = ["minItems", "maxItems"];
        self.length(&rules.length, keywords, length as u64, "item", path)?;
        match rules.unique.then(|| equal_items(array, length)).flatten() {
            None => Ok(()),
            Some((first, second)) => self.violated(path, "uniqueItems", || {
                format!("must have no equal items, and the items {first} and {second} are equal")
            }),
        }
    }

    fn object(&mut self, rules: &ObjectRules, document: &RawDocument, path: &Path<'_>) -> Outcome {
        let mut seen = Seen::new(rules.fields.len());
        let mut length = 0;
        for (name, value) in document.iter().flatten() {
            length += 1;
            let name = name.as_str();
            let position = rules.position(name);
            if let Some(position) = position {
                seen.add(position);
            }
            let path = Path::Field(path, name);
            let node = position.and_then(|position| rules.fields[position].node.as_ref());
            if let Some(node) = node {
                self.node(node, value, &path)?;
            }
            let mut is_named = node.is_some();
            for (pattern, node) in &rules.patterns {
                if is_match(pattern, name, self.steps)? {
                    is_named = true;
                    self.node(node, value, &path)?;
                }
            }
            match &rules.rest {
                _ if is_named => {}
                Rest::Any => {}
                Rest::Conforming(node) => self.node(node, value, &path)?,
                Rest::None => self.violated(&path, "additionalProperties", || {
                    "is not allowed, since the schema does not name it".to_owned()
                })?,
            }
        }
        let keywords = ["minProperties", "maxProperties"];
        self.length(&rules.length, keywords, length, "field", path)?;
        for position in rules.required.iter().filter(|at| !seen.has(**at)) {
            let path = Path::Field(path, &rules.fields[*position].name);
            self.violated(&path, "required", || "is missing".to_owned())?;
        }
        for dependency in &rules.dependencies {
            if !seen.has(dependency.field) {
                continue;
            }
            match &dependency.needs {
                Needs::Conforming(node) => {
                    self.node(node, RawBsonRef::Document(document), path)?;
                }
                Needs::Fields(fields) => {
                    for position in fields.iter().filter(|at| !seen.has(**at)) {
                        let path = Path::Field(path, &rules.fields[*position].name);
                        self.violated(&path, "dependencies", || {
                            let field = &rules.fields[dependency.field].name;
                            format!("is missing, and is needed beside `{field}`")
                        })?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a value conforms to a schema within another.
pub(super) fn conforms(
    node: &SchemaNode,
    value: RawBsonRef<'_>,
    steps: &Steps,
) -> Result<bool, Stop> {
    match Checker::matching(steps).node(node, value, &Path::Root) {
        Ok(()) => Ok(true),
        Err(Stop::Violated) => Ok(false),
        Err(failed) => Err(failed),
    }
}

/// Whether a value is of the types of a schema, and has the values that the schema lists for it and for its
/// fields.
fn fits(node: &SchemaNode, value: RawBsonRef<'_>) -> bool {
    let has = |node: &SchemaNode, value| {
        node.types.as_ref().is_none_or(|types| types.has(value))
            && node.one_of.as_ref().is_none_or(|one_of| one_of.has(value))
    };
    let RawBsonRef::Document(document) = value else {
        return has(node, value);
    };
    let fields = node.object.iter().flat_map(|rules| &rules.fields);
    let mut listed = fields.filter_map(|field| {
        let node = field.node.as_ref()?;
        node.one_of.as_ref().map(|one_of| (&field.name, one_of))
    });
    has(node, value)
        && listed.all(|(name, one_of)| {
            let value = document.get(name);
            value.is_ok_and(|value| value.is_some_and(|value| one_of.has(value)))
        })
}

fn not_one_of(one_of: &Enumeration, value: RawBsonRef<'_>) -> String {
    let values = one_of.values.iter().take(20);
    let mut values: Vec<String> = values.map(|value| shown(value.as_raw_bson_ref())).collect();
    let rest = one_of.values.len() - values.len();
    if rest > 0 {
        values.push(format!("{rest} others"));
    }
    let words = match one_of.values.len() {
        1 => "must be",
        _ => "must be one of",
    };
    format!("{words} {}, and is {}", values.join(", "), shown(value))
}

/// Whether a number is on the accepted side of a bound. NaN equals itself, and is on no side of other bounds.
fn is_within(
    value: RawBsonRef<'_>,
    bound: &Bound,
    side: impl Fn(std::cmp::Ordering) -> bool,
) -> bool {
    let limit = bound.value.as_raw_bson_ref();
    match (is_nan(value), is_nan(limit)) {
        (false, false) => {
            let order = compare(value, limit);
            side(order) || order.is_eq() && !bound.exclusive
        }
        (true, true) => !bound.exclusive,
        _ => false,
    }
}

#[allow(clippy::arithmetic_side_effects, reason = "the divisor is positive")]
fn is_multiple(value: RawBsonRef<'_>, divisor: &Divisor) -> bool {
    let decimal = match (value, divisor.whole) {
        (RawBsonRef::Int32(value), Some(divisor)) => return i64::from(value) % divisor == 0,
        (RawBsonRef::Int64(value), Some(divisor)) => return value % divisor == 0,
        _ => decimal(value),
    };
    decimal.is_some_and(|decimal| decimal.modulo(divisor.decimal).is_zero())
}

/// The number as a decimal. A double keeps 15 digits, as in MongoDB.
pub(super) fn decimal(value: RawBsonRef<'_>) -> Option<Decimal> {
    Some(match value {
        RawBsonRef::Double(value) => Decimal::double(value),
        RawBsonRef::Decimal128(value) => Decimal::new(value),
        value => Decimal::int(number::whole(value)?),
    })
}

/// The positions of two equal items.
fn equal_items(array: &RawArray, length: usize) -> Option<(usize, usize)> {
    let items = || array.into_iter().flatten().enumerate();
    if length <= FEW_ITEMS {
        return items().find_map(|(first, item)| {
            let mut later = items().skip(first + 1);
            let second = later.find(|(_, other)| equality::compare(item, *other).is_eq());
            second.map(|(second, _)| (first, second))
        });
    }
    let mut sorted: Vec<_> = items().collect();
    // The sort is stable: the first two of equal items are neighbours.
    sorted.sort_by(|(_, a), (_, b)| equality::compare(*a, *b));
    let mut pairs = sorted.windows(2);
    let pair = pairs.find(|pair| equality::compare(pair[0].1, pair[1].1).is_eq())?;
    Some((pair[0].0, pair[1].0))
}

/// The fields of a document that rules name.
struct Seen {
    first: u64,
    /// The fields from the 64th on.
    others: Vec<bool>,
}

impl Seen {
    fn new(fields: usize) -> Self {
        Seen {
            first: 0,
            others: vec![false; fields.saturating_sub(64)],
        }
    }

    fn add(&mut self, position: usize) {
        match position.checked_sub(64) {
            None => self.first |= 1 << position,
            Some(other) => self.others[other] = true,
        }
    }

    fn has(&self, position: usize) -> bool {
        match position.checked_sub(64) {
            None => self.first >> position & 1 == 1,
            Some(other) => self.others[other],
        }
    }
}
