//! Expressions: values that are computed from a document.

mod arrays;
mod bind;
mod bits;
mod convert;
mod dates;
mod evaluate;
mod fields;
mod named;
mod numbers;
mod objects;
mod operator;
mod parse;
mod parts;
mod powers;
mod quantiles;
mod regexes;
mod scope;
mod search;
mod sets;
mod sort_array;
mod texts;
mod totals;
mod trigonometry;
mod work;
mod zip;

use std::{borrow::Cow, sync::Arc};

use bson::{Bson, Document, RawBson, RawDocument};
use odm_pattern::Steps;

use self::{bind::Bind, fields::FieldOf, named::Named, operator::Operator, scope::Scope};
pub(super) use self::{
    evaluate::{at_path, in_elements},
    quantiles::{check_method, percentiles},
    scope::part,
    work::Work,
};
use crate::{
    Collation, Error, Variables,
    types::{MAX_NESTING, check_nesting, from_raw},
    variables::Substitution,
};

/// An expression: a value, a path as `$a.b`, or an operator with its operands.
///
/// The documentation of [`mql`](crate) lists the operators. A path through an array gives the values in the elements that are documents; a
/// number in a path is a name.
///
/// Operands are evaluated in order; `$and`, `$or`, `$cond`, `$ifNull` and `$switch` evaluate only the operands that they need, `$concat`
/// and `$concatArrays` those up to the first null. MongoDB's optimizer evaluates operands that read no field before all others: where `a`
/// is 0, `{ $or: [{ $divide: [1, "$a"] }, true] }` fails here, and `{ $ifNull: ["$a", { $divide: [1, 0] }] }` there.
///
/// `$convert` and its short forms convert as MongoDB 8.0 does, with these differences:
///
/// - Arrays of numbers and documents are not converted to binary data, nor from it.
/// - A date is read from a text of ISO 8601 alone, as `2018-03-27T16:58:51.538Z`: with a space in the place of the `T`, with or without
///   seconds and their fraction, with an offset, with `UTC` or `GMT`, or as a day. MongoDB reads other spellings too, as `July 4th, 2017`.
/// - A double is read from decimal digits, `infinity` and `nan` alone, not from `-0x1p3` or `nan(1)`. It is written with all digits that it
///   needs, of which older servers write sixteen.
/// - `$convert` has no `base`.
///
/// `$toLower`, `$toUpper`, `$strcasecmp` and the parts of texts take numbers, dates and timestamps as their texts, as in MongoDB: a double
/// has six digits there.
///
/// Operators on dates have the time zones of IANA with the feature `time-zones`, as of the version of the library, and offsets from UTC
/// without it. `$dateFromString` without a format reads what `$convert` reads. Powers and logarithms of decimals are right to the last of
/// their 34 digits, where MongoDB's can be one off. Trigonometry refuses decimals, which MongoDB has, but for the conversion of
/// angles: the sine of a number of 6,144 digits needs as many of pi. A set is in the order in which its elements were met. The operators
/// with regular expressions search with a bounded number of steps for a document, and the evaluation of an expression for a document has a
/// bound on its steps, with the code of an expired time, and on the memory of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr(Arc<ExprNode>, Option<Collation>);

#[derive(Debug, Clone, PartialEq)]
enum ExprNode {
    Literal(RawBson),
    /// No value: `$$REMOVE`.
    Missing,
    /// The value at a path, or the whole document at the empty one.
    Path(Cow<'static, str>),
    Object(Vec<(String, ExprNode)>),
    Array(Vec<ExprNode>),
    Operator(Operator, Vec<ExprNode>),
    Switch {
        branches: Vec<(ExprNode, ExprNode)>,
        default: Option<Box<ExprNode>>,
    },
    Convert(Box<Convert>),
    Field(Box<FieldOf>),
    /// The value at a path in a variable of an expression around this one.
    Variable(String, Option<String>),
    Bind(Box<Bind>),
    Named(Box<Named>),
}

/// The operands of `$convert`.
#[derive(Debug, Clone, PartialEq)]
struct Convert {
    input: ExprNode,
    to: ExprNode,
    on_error: Option<ExprNode>,
    on_null: Option<ExprNode>,
    format: Option<ExprNode>,
    byte_order: Option<ExprNode>,
}

impl Expr {
    /// Parses an expression in MongoDB's form. `$$NOW` is the time of this call.
    pub fn parse(value: &Bson) -> Result<Expr, Error> {
        Expr::parse_with(value, &Variables::default())
    }

    /// Parses an expression in MongoDB's form, with the values of [variables](Variables) in the place of their names.
    pub fn parse_with(value: &Bson, variables: &Variables) -> Result<Expr, Error> {
        Expr::parse_in(value, &Substitution::new(variables))
    }

    /// The same as a part of a filter or a projection.
    pub(super) fn parse_in(value: &Bson, variables: &Substitution<'_>) -> Result<Expr, Error> {
        check_nesting(value, MAX_NESTING)?;
        Ok(Expr(parse::node(value, variables)?.into(), None))
    }

    /// Whether a name is that of an operator.
    pub(super) fn has_operator(name: &str) -> bool {
        parse::SPECIAL.contains(&name)
            || bind::NAMES.contains(&name)
            || named::Form::by_name(name).is_some()
            || Operator::by_name(name).is_some()
    }

    /// Whether the expression has no operator but `$literal`: it is a value, a path, or one of these in a list.
    pub(super) fn is_value(&self) -> bool {
        matches!(
            *self.0,
            ExprNode::Literal(_) | ExprNode::Missing | ExprNode::Path(_) | ExprNode::Array(_)
        )
    }

    /// Whether the expression makes a document of its fields.
    pub(super) fn is_object(&self) -> bool {
        matches!(*self.0, ExprNode::Object(_))
    }

    /// Compares all texts by a collation, if there is one.
    pub fn collated(self, collation: Option<&Collation>) -> Expr {
        Expr(self.0, collation.cloned())
    }

    /// Whether texts are compared by a collation.
    pub(super) fn is_collated(&self) -> bool {
        self.1.is_some()
    }

    /// Returns the expression in MongoDB's form, which does not contain collations.
    pub fn to_bson(&self) -> Bson {
        self.0.to_bson()
    }

    /// Returns the value for a document, or `None` if it is missing.
    ///
    /// # Errors
    ///
    /// [`Expression`](Error::Expression) if an operator does not accept a value, or if the evaluation takes too many steps or too much
    /// memory; [`ResultTooDeep`](Error::ResultTooDeep) if `$reduce` nests a value too deeply; [`RegexLimit`](Error::RegexLimit) if the
    /// regular expressions need too many steps.
    pub fn evaluate(&self, document: &RawDocument) -> Result<Option<RawBson>, Error> {
        self.evaluate_by(None, document, &Work::new(&Steps::default()))
    }

    /// Returns the value, with a collation in the place of its own one, within the work that is left for a document.
    pub(super) fn evaluate_by(
        &self,
        collation: Option<&Collation>,
        document: &RawDocument,
        work: &Work<'_>,
    ) -> Result<Option<RawBson>, Error> {
        let collation = collation.or(self.1.as_ref());
        evaluate::node(&self.0, Scope::of(document, collation, work))
    }

    /// Whether the value for a document counts as true.
    ///
    /// # Errors
    ///
    /// The errors of [`evaluate`](Expr::evaluate).
    pub fn holds(&self, document: &RawDocument) -> Result<bool, Error> {
        self.holds_by(None, document, &Work::new(&Steps::default()))
    }

    /// The same as [`evaluate_by`](Expr::evaluate_by).
    pub(super) fn holds_by(
        &self,
        collation: Option<&Collation>,
        document: &RawDocument,
        work: &Work<'_>,
    ) -> Result<bool, Error> {
        let value = self.evaluate_by(collation, document, work)?;
        Ok(value.is_some_and(|value| evaluate::truthy(value.as_raw_bson_ref())))
    }

    /// Returns the paths that are read, in order. The empty path is the whole document.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        self.0.collect_paths(&mut paths);
        paths
    }

    pub(super) fn with_paths(self, change: &dyn Fn(&str) -> Cow<'static, str>) -> Expr {
        Expr(
            Arc::unwrap_or_clone(self.0).with_paths(change).into(),
            self.1,
        )
    }
}

impl ExprNode {
    fn to_bson(&self) -> Bson {
        let all = |nodes: &[ExprNode]| Bson::Array(nodes.iter().map(ExprNode::to_bson).collect());
        match self {
            ExprNode::Literal(value) => match from_raw(value) {
                value @ (Bson::String(_) | Bson::Document(_) | Bson::Array(_)) => {
                    bson::doc! { "$literal": value }.into()
                }
                value => value,
            },
            ExprNode::Missing => "$$REMOVE".into(),
            ExprNode::Path(path) if path.is_empty() => "$$ROOT".into(),
            ExprNode::Path(path) => format!("${path}").into(),
            ExprNode::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, node)| (name.clone(), node.to_bson()));
                Bson::Document(fields.collect())
            }
            ExprNode::Array(nodes) => all(nodes),
            ExprNode::Operator(operator, operands) => {
                let operands = match (operator, operands.as_slice()) {
                    (Operator::Sigmoid, [operand]) => operand.to_bson(),
                    (_, operands) => all(operands),
                };
                bson::doc! { operator.name(): operands }.into()
            }
            ExprNode::Switch { branches, default } => {
                let branch = |(case, then): &(ExprNode, ExprNode)| {
                    Bson::from(bson::doc! { "case": case.to_bson(), "then": then.to_bson() })
                };
                let branches: Vec<Bson> = branches.iter().map(branch).collect();
                let mut operand = Document::from_iter([("branches".to_owned(), branches.into())]);
                if let Some(default) = default {
                    operand.insert("default", default.to_bson());
                }
                bson::doc! { "$switch": operand }.into()
            }
            ExprNode::Convert(convert) => {
                let parts = convert.parts().into_iter();
                let parts = parts.map(|(name, node)| (name.to_owned(), node.to_bson()));
                bson::doc! { "$convert": parts.collect::<Document>() }.into()
            }
            ExprNode::Field(field) => field.to_bson(),
            ExprNode::Variable(name, None) => format!("$${name}").into(),
            ExprNode::Variable(name, Some(path)) => format!("$${name}.{path}").into(),
            ExprNode::Bind(bind) => bind.to_bson(),
            ExprNode::Named(named) => named.to_bson(),
        }
    }

    fn collect_paths<'n>(&'n self, paths: &mut Vec<&'n str>) {
        match self {
            ExprNode::Literal(_) | ExprNode::Missing | ExprNode::Variable(..) => {}
            ExprNode::Path(path) => paths.push(path),
            ExprNode::Object(fields) => fields
                .iter()
                .for_each(|(_, node)| node.collect_paths(paths)),
            ExprNode::Array(nodes) | ExprNode::Operator(_, nodes) => {
                nodes.iter().for_each(|node| node.collect_paths(paths));
            }
            ExprNode::Switch { branches, default } => {
                for (case, then) in branches {
                    case.collect_paths(paths);
                    then.collect_paths(paths);
                }
                if let Some(default) = default {
                    default.collect_paths(paths);
                }
            }
            ExprNode::Convert(convert) => {
                for (_, node) in convert.parts() {
                    node.collect_paths(paths);
                }
            }
            ExprNode::Field(field) => {
                for node in field.operands() {
                    node.collect_paths(paths);
                }
            }
            ExprNode::Bind(bind) => bind.nodes().for_each(|node| node.collect_paths(paths)),
            ExprNode::Named(named) => named.nodes().for_each(|node| node.collect_paths(paths)),
        }
    }

    fn with_paths(self, change: &dyn Fn(&str) -> Cow<'static, str>) -> ExprNode {
        let each = |nodes: Vec<ExprNode>| -> Vec<ExprNode> {
            let changed = nodes.into_iter().map(|node| node.with_paths(change));
            changed.collect()
        };
        match self {
            ExprNode::Literal(_) | ExprNode::Missing | ExprNode::Variable(..) => self,
            ExprNode::Path(path) if path.is_empty() => ExprNode::Path(path),
            ExprNode::Path(path) => ExprNode::Path(change(&path)),
            ExprNode::Object(fields) => {
                let fields = fields.into_iter();
                let changed = fields.map(|(name, node)| (name, node.with_paths(change)));
                ExprNode::Object(changed.collect())
            }
            ExprNode::Array(nodes) => ExprNode::Array(each(nodes)),
            ExprNode::Operator(operator, operands) => ExprNode::Operator(operator, each(operands)),
            ExprNode::Switch { branches, default } => ExprNode::Switch {
                branches: branches
                    .into_iter()
                    .map(|(case, then)| (case.with_paths(change), then.with_paths(change)))
                    .collect(),
                default: default.map(|default| Box::new(default.with_paths(change))),
            },
            ExprNode::Convert(convert) => ExprNode::Convert(Box::new(Convert {
                input: convert.input.with_paths(change),
                to: convert.to.with_paths(change),
                on_error: convert.on_error.map(|node| node.with_paths(change)),
                on_null: convert.on_null.map(|node| node.with_paths(change)),
                format: convert.format.map(|node| node.with_paths(change)),
                byte_order: convert.byte_order.map(|node| node.with_paths(change)),
            })),
            ExprNode::Field(field) => {
                ExprNode::Field(Box::new(field.map(|node| node.with_paths(change))))
            }
            ExprNode::Bind(bind) => {
                ExprNode::Bind(Box::new(bind.map(|node| node.with_paths(change))))
            }
            ExprNode::Named(named) => {
                ExprNode::Named(Box::new(named.map(|node| node.with_paths(change))))
            }
        }
    }
}

impl Convert {
    /// The operands that are there, with their names.
    fn parts(&self) -> Vec<(&'static str, &ExprNode)> {
        let mut parts = vec![("input", &self.input), ("to", &self.to)];
        parts.extend(self.on_error.as_ref().map(|node| ("onError", node)));
        parts.extend(self.on_null.as_ref().map(|node| ("onNull", node)));
        parts.extend(self.format.as_ref().map(|node| ("format", node)));
        parts.extend(self.byte_order.as_ref().map(|node| ("byteOrder", node)));
        parts
    }
}

/// The error of an operator that does not accept a value.
fn failed(
    operator: impl Into<&'static str>,
    reason: impl Into<Cow<'static, str>>,
    code: i32,
) -> Error {
    Error::Expression {
        operator: operator.into(),
        reason: reason.into(),
        code,
    }
}

#[cfg(test)]
mod tests;
