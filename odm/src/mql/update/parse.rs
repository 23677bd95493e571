//! The parser of MongoDB's form of an update.

use bson::{Bson, Document, RawBson};

use super::{
    ArrayFilter, CurrentDate, End, Operation, Pull, Push, PushSort, Update,
    operate::bad_number,
    tree::{Action, TreeLeaf, TreeNode, array_filters, check_path},
};
use crate::mql::{
    Direction, Error, Filter, Sort, filter,
    path::{overlap, split},
    types::{MAX_NESTING, bad, check_nesting, is_operators, to_raw, whole_number},
};

pub(super) fn update(document: &Document, filters: &[Document]) -> Result<Update, Error> {
    let mut update = Update::default();
    for (operator, value) in document {
        if !operator.starts_with('$') {
            return Err(Error::NotAnOperator(operator.clone()));
        }
        let known = OPERATORS.iter().find(|(name, _)| name == operator);
        let (_, operation) = known.ok_or_else(|| Error::UnknownOperator(operator.clone()))?;
        let Bson::Document(fields) = value else {
            return Err(bad(operator, "a document of paths"));
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
    Ok(update)
}

type OperatorReader = fn(&Bson) -> Result<Operation, Error>;

const OPERATORS: [(&str, OperatorReader); 14] = [
    ("$set", |value| to_raw(value).map(Operation::Set)),
    ("$unset", |_| Ok(Operation::Unset)),
    ("$inc", |value| to_raw(value).map(Operation::Inc)),
    ("$mul", |value| to_raw(value).map(Operation::Mul)),
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
        _ => Err(bad("$pop", "1 or -1")),
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
            _ => return Err(Error::UnknownOperator(modifier.clone())),
        }
    }
    Ok(push)
}

fn push_sort(value: &Bson) -> Result<PushSort, Error> {
    let expected = || bad("$sort", "1, -1 or a non-empty document of them");
    match value {
        Bson::Document(document) if document.is_empty() => Err(expected()),
        Bson::Document(document) => Sort::parse(document).map(PushSort::Fields),
        value => Direction::parse(value)
            .map(PushSort::Elements)
            .ok_or_else(expected),
    }
}

fn add_to_set(value: &Bson) -> Result<Vec<RawBson>, Error> {
    match value {
        Bson::Document(document) if document.keys().next().is_some_and(|key| key == "$each") => {
            match document.iter().nth(1) {
                Some((other, _)) => Err(Error::UnknownOperator(other.clone())),
                None => values("$each", document.get("$each").unwrap_or(&Bson::Null)),
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
            filter::element_tests(value).map(Pull::Tests)
        }
        Bson::Document(document) => filter::fields(document).map(Pull::Filter),
        Bson::RegularExpression(_) => filter::element_tests(value).map(Pull::Tests),
        value => to_raw(value).map(Pull::Value),
    }
}

fn array_filter(document: &Document) -> Result<ArrayFilter, Error> {
    let filter = Filter::parse(document)?;
    let mut names = Vec::new();
    collect_names(&filter, &mut names);
    let bad = |name: &str, reason| Error::ArrayFilter {
        name: name.to_owned(),
        reason,
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
    let is_number = |value: &RawBson| {
        matches!(
            value,
            RawBson::Int32(_) | RawBson::Int64(_) | RawBson::Double(_)
        )
    };
    match operation {
        Operation::Inc(amount) if !is_number(amount) => Err(bad_number("$inc")),
        Operation::Mul(factor) if !is_number(factor) => Err(bad_number("$mul")),
        Operation::Rename(target) => {
            check_path(target)?;
            for path in [path, target] {
                if path.split('.').any(|part| part.starts_with("$[")) {
                    let reason = "`$rename` needs a path without array filters";
                    return Err(Error::BadPath {
                        path: path.to_owned(),
                        reason,
                    });
                }
            }
            if overlap(path, target) {
                return Err(Error::ConflictingPaths {
                    path: target.clone(),
                    other: path.to_owned(),
                });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_array_filters(update: &Update) -> Result<(), Error> {
    let bad = |name: &str, reason| {
        Err(Error::ArrayFilter {
            name: name.to_owned(),
            reason,
        })
    };
    let filters = &update.array_filters;
    for (at, filter) in filters.iter().enumerate() {
        if filters[..at].iter().any(|other| other.name == filter.name) {
            return bad(
                &filter.name,
                "several filters have this name; combine them by `$and`",
            );
        }
        let used = update
            .paths()
            .any(|path| array_filters(path).any(|name| name == filter.name));
        if !used {
            return bad(&filter.name, "no path of the update uses it; remove it");
        }
    }
    for name in update.paths().flat_map(array_filters) {
        if filters.iter().all(|filter| filter.name != name) {
            return bad(
                name,
                "no filter has this name; add one to the array filters",
            );
        }
    }
    Ok(())
}
