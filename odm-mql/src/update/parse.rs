//! The parser of MongoDB's form of an update.

use std::collections::HashSet;

use bson::{Bson, Document, RawBson};

use super::{
    ArrayFilter, BitOperation, CurrentDate, End, Operation, Pull, Push, PushSort, Update,
    arithmetic,
    tree::{Action, TreeLeaf, TreeNode, array_filters, check_path, has_element},
};
use crate::{
    Direction, Error, Filter, Sort,
    error::code,
    filter::{self, FilterScope},
    path::{self, overlap, split},
    types::{
        self, MAX_NESTING, bad, bad_as, check_nesting, is_operators, to_raw, unknown, whole_number,
    },
};

pub(super) fn update(document: &Document, filters: &[Document]) -> Result<Update, Error> {
    let mut update = Update::default();
    for (operator, value) in document {
        if !operator.starts_with('$') {
            return Err(Error::NotAnOperator(operator.clone()));
        }
        let known = OPERATORS.iter().find(|(name, _)| name == operator);
        let unknown = || unknown(code::FAILED_TO_PARSE, operator);
        let (_, operation) = known.ok_or_else(unknown)?;
        let Bson::Document(fields) = value else {
            return Err(bad_as(
                code::FAILED_TO_PARSE,
                operator,
                "a document of paths",
            ));
        };
        for (path, operand) in fields {
            check_nesting(operand, MAX_NESTING)?;
            update
                .operations
                .push((path.clone().into(), operation(operand)?));
        }
    }
    update.array_filters = filters.iter().map(array_filter).collect::<Result<_, _>>()?;
    update.check()?;
    if let Some(path) = update.paths().find(|path| has_element(path)) {
        let reason = "`$[]` with a number in it: write the number alone";
        return Err(path::bad(path, reason, code::BAD_VALUE));
    }
    Ok(update)
}

type OperatorReader = fn(&Bson) -> Result<Operation, Error>;

const OPERATORS: [(&str, OperatorReader); 15] = [
    ("$set", |value| to_raw(value).map(Operation::Set)),
    ("$unset", |_| Ok(Operation::Unset)),
    ("$inc", |value| to_raw(value).map(Operation::Inc)),
    ("$mul", |value| to_raw(value).map(Operation::Mul)),
    ("$bit", |value| bit(value).map(Operation::Bit)),
    ("$min", |value| to_raw(value).map(Operation::Min)),
    ("$max", |value| to_raw(value).map(Operation::Max)),
    ("$rename", |value| match value {
        Bson::String(target) => Ok(Operation::Rename(target.clone())),
        _ => Err(bad("$rename", "a path")),
    }),
    ("$setOnInsert", |value| {
        to_raw(value).map(Operation::SetOnInsert)
    }),
    ("$currentDate", |value| {
        current_date(value).map(Operation::CurrentDate)
    }),
    ("$push", |value| push(value).map(Operation::Push)),
    ("$addToSet", |value| {
        add_to_set(value).map(Operation::AddToSet)
    }),
    ("$pop", |value| match whole_number(value) {
        Some(-1) => Ok(Operation::Pop(End::First)),
        Some(1) => Ok(Operation::Pop(End::Last)),
        _ => Err(bad_as(code::FAILED_TO_PARSE, "$pop", "1 or -1")),
    }),
    ("$pull", |value| pull(value).map(Operation::Pull)),
    ("$pullAll", |value| {
        values("$pullAll", value).map(Operation::PullAll)
    }),
];

fn values(operator: &str, value: &Bson) -> Result<Vec<RawBson>, Error> {
    match value {
        Bson::Array(array) => array.iter().map(to_raw).collect(),
        _ => Err(bad(operator, "an array")),
    }
}

fn bit(value: &Bson) -> Result<Vec<(BitOperation, RawBson)>, Error> {
    let Bson::Document(document) = value else {
        return Err(arithmetic::bad_bits());
    };
    if document.is_empty() {
        return Err(arithmetic::bad_bits());
    }
    let operand = |(name, value): (&String, &Bson)| {
        let operation = match (name.as_str(), value) {
            ("and", Bson::Int32(_) | Bson::Int64(_)) => BitOperation::And,
            ("or", Bson::Int32(_) | Bson::Int64(_)) => BitOperation::Or,
            ("xor", Bson::Int32(_) | Bson::Int64(_)) => BitOperation::Xor,
            _ => return Err(arithmetic::bad_bits()),
        };
        Ok((operation, to_raw(value)?))
    };
    document.iter().map(operand).collect()
}

fn current_date(value: &Bson) -> Result<CurrentDate, Error> {
    let expected = || {
        bad(
            "$currentDate",
            "true, or a `$type` of `date` or `timestamp`",
        )
    };
    match value {
        Bson::Boolean(_) => Ok(CurrentDate::Date),
        Bson::Document(document) if document.len() == 1 => match document.get("$type") {
            Some(Bson::String(kind)) if kind == "date" => Ok(CurrentDate::Date),
            Some(Bson::String(kind)) if kind == "timestamp" => Ok(CurrentDate::Timestamp),
            _ => Err(expected()),
        },
        _ => Err(expected()),
    }
}

fn push(value: &Bson) -> Result<Push, Error> {
    let document = match value {
        Bson::Document(document) if document.contains_key("$each") => document,
        value => {
            return Ok(Push {
                each: vec![to_raw(value)?],
                ..Push::default()
            });
        }
    };
    let mut push = Push::default();
    for (modifier, value) in document {
        let number = || whole_number(value).ok_or_else(|| bad(modifier, "a whole number"));
        match modifier.as_str() {
            "$each" => push.each = values("$each", value)?,
            "$slice" => push.slice = Some(number()?),
            "$position" => push.position = Some(number()?),
            "$sort" => push.sort = Some(push_sort(value)?),
            _ => return Err(unknown(code::BAD_VALUE, modifier)),
        }
    }
    Ok(push)
}

fn push_sort(value: &Bson) -> Result<PushSort, Error> {
    let expected = || bad("$sort", "1, -1 or a non-empty document of them");
    match value {
        Bson::Document(document) if document.is_empty() => Err(expected()),
        Bson::Document(document) => Sort::parse_exactly(document).map(PushSort::Fields),
        value => Direction::parse_exactly(value)
            .map(PushSort::Elements)
            .ok_or_else(expected),
    }
}

fn add_to_set(value: &Bson) -> Result<Vec<RawBson>, Error> {
    match value {
        Bson::Document(document) if document.keys().next().is_some_and(|key| key == "$each") => {
            match document.iter().nth(1) {
                Some((other, _)) => Err(unknown(code::BAD_VALUE, other)),
                None => match document.get("$each") {
                    Some(Bson::Array(array)) => array.iter().map(to_raw).collect(),
                    _ => Err(bad_as(code::TYPE_MISMATCH, "$each", "an array")),
                },
            }
        }
        value => Ok(vec![to_raw(value)?]),
    }
}

fn pull(value: &Bson) -> Result<Pull, Error> {
    let logical = |key: &String| ["$and", "$or", "$nor"].contains(&key.as_str());
    match value {
        Bson::Document(document)
            if is_operators(document) && !document.keys().next().is_some_and(logical) =>
        {
            filter::element_tests(value, FilterScope::Value).map(Pull::Tests)
        }
        Bson::Document(document) => filter::fields(document, FilterScope::Value).map(Pull::Filter),
        Bson::RegularExpression(_) => {
            filter::element_tests(value, FilterScope::Value).map(Pull::Tests)
        }
        value => to_raw(value).map(Pull::Value),
    }
}

fn array_filter(document: &Document) -> Result<ArrayFilter, Error> {
    let filter = filter::parse_in(document, FilterScope::ArrayFilter)?;
    let mut names = Vec::new();
    collect_names(&filter, &mut names);
    let bad = |name: &str, reason| Error::ArrayFilter {
        name: name.to_owned(),
        reason,
        code: code::BAD_VALUE,
    };
    let Some(name) = names.first().map(|name| (*name).to_owned()) else {
        return Err(bad("", "it has no field"));
    };
    if names.iter().any(|other| *other != name) {
        return Err(bad(&name, "it has fields of several names"));
    }
    let mut letters = name.chars();
    let valid = letters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_alphanumeric());
    if !valid {
        return Err(bad(
            &name,
            "its name is not of letters and digits, a small letter first",
        ));
    }
    Ok(ArrayFilter { name, filter })
}

fn collect_names<'f>(filter: &'f Filter, names: &mut Vec<&'f str>) {
    match filter {
        Filter::And(filters) | Filter::Or(filters) | Filter::Nor(filters) => {
            filters
                .iter()
                .for_each(|filter| collect_names(filter, names));
        }
        Filter::Path(path, _) => names.push(split(path).0),
        Filter::Collated(_, inner) => collect_names(inner, names),
        Filter::Expr(_) | Filter::Schema(_) => {}
    }
}

pub(super) fn check(update: &Update) -> Result<(), Error> {
    let mut root = TreeNode::root();
    for (path, operation) in &update.operations {
        check_operation(path, operation)?;
        root.insert(TreeLeaf {
            path,
            action: Action::Operation(operation),
        })?;
        if let Operation::Rename(target) = operation {
            root.insert(TreeLeaf {
                path: target,
                action: Action::Nothing,
            })?;
        }
    }
    check_array_filters(update)
}

fn check_operation(path: &str, operation: &Operation) -> Result<(), Error> {
    let is_number = |value: &RawBson| types::as_number(&types::from_raw(value)).is_some();
    match operation {
        Operation::Inc(amount) | Operation::Add(amount) if !is_number(amount) => {
            Err(arithmetic::bad_number("$inc"))
        }
        Operation::Mul(factor) if !is_number(factor) => Err(arithmetic::bad_number("$mul")),
        Operation::Rename(target) => {
            check_path(target)?;
            check_no_dollar(target)?;
            for path in [path, target] {
                let is_element = |part: &str| part == "$" || part.starts_with("$[");
                if path.split('.').any(is_element) {
                    let reason = "`$rename` needs a path without elements of arrays";
                    return Err(path::bad(path, reason, code::BAD_VALUE));
                }
            }
            if path == target {
                return Err(bad("$rename", "another name"));
            }
            if overlap(path, target) {
                return Err(Error::ConflictingPaths {
                    path: target.clone(),
                    other: path.to_owned(),
                    code: code::CONFLICTING_UPDATE_OPERATORS,
                });
            }
            Ok(())
        }
        // These operations remove the field at most, or insert it.
        Operation::Unset
        | Operation::SetOnInsert(_)
        | Operation::Pop(_)
        | Operation::Pull(_)
        | Operation::PullAll(_) => Ok(()),
        _ => check_no_dollar(path),
    }
}

/// Rejects a field of a document whose name begins with `$`. An embedded document can have one.
fn check_no_dollar(path: &str) -> Result<(), Error> {
    if path.starts_with('$') && !path.starts_with("$[") && split(path).0 != "$" {
        let reason = "it begins with `$`";
        return Err(path::bad(path, reason, code::DOLLAR_PREFIXED_FIELD_NAME));
    }
    Ok(())
}

fn check_array_filters(update: &Update) -> Result<(), Error> {
    let bad = |name: &str, reason, code| {
        Err(Error::ArrayFilter {
            name: name.to_owned(),
            reason,
            code,
        })
    };
    let filters = &update.array_filters;
    let names: HashSet<&str> = filters.iter().map(|filter| &*filter.name).collect();
    let used: HashSet<&str> = update.paths().flat_map(array_filters).collect();
    for name in update.paths().flat_map(array_filters) {
        if !names.contains(name) {
            let reason = "no filter has this name; add one to the array filters";
            return bad(name, reason, code::BAD_VALUE);
        }
    }
    let mut before = HashSet::new();
    for filter in filters {
        if !before.insert(&*filter.name) {
            let reason = "several filters have this name; combine them by `$and`";
            return bad(&filter.name, reason, code::FAILED_TO_PARSE);
        }
        if !used.contains(&*filter.name) {
            let reason = "no path of the update uses it; remove it";
            return bad(&filter.name, reason, code::FAILED_TO_PARSE);
        }
    }
    Ok(())
}
