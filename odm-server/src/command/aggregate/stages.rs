//! The operands of stages.

use odm::{
    bson::{Bson, Document, RawBson, RawBsonRef},
    mql::Projection,
};

use super::Count;
use crate::error::{CommandError, Result, code};

pub(super) fn document(operand: RawBsonRef<'_>, code: i32, what: &str) -> Result<Document> {
    match operand {
        RawBsonRef::Document(document) => Ok(document.try_into()?),
        _ => Err(CommandError::new(code, format!("{what} must be an object"))),
    }
}

pub(super) fn number(operand: RawBsonRef<'_>, code: i32, stage: &str) -> Result<u64> {
    let number = match operand {
        RawBsonRef::Int32(number) => u64::try_from(number).ok(),
        RawBsonRef::Int64(number) => u64::try_from(number).ok(),
        RawBsonRef::Double(number) if number.fract() == 0.0 && (0.0..1e18).contains(&number) => {
            Some(number as u64)
        }
        _ => None,
    };
    number.ok_or_else(|| {
        let message =
            format!("invalid argument to {stage} stage: it must be a whole number from 0 on");
        CommandError::new(code, message)
    })
}

/// Reads a stage that has the meaning of the projection of a search.
pub(super) fn projection(operand: RawBsonRef<'_>) -> Result<Projection> {
    let fields = document(operand, 15_969, "$project specification")?;
    if fields.is_empty() {
        let message = "projection specification must have at least one field";
        return Err(CommandError::new(51_272, message));
    }
    check_projected(&fields)?;
    Ok(Projection::parse(&fields)?)
}

/// Refuses what a search has in other forms than a stage, at any path.
fn check_projected(fields: &Document) -> Result<()> {
    for (name, value) in fields {
        if name.contains('$') {
            let message = format!("'{name}' in $project is not supported by this server");
            return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
        }
        let Bson::Document(inner) = value else {
            continue;
        };
        match inner.keys().next().map(String::as_str) {
            Some(name @ ("$slice" | "$elemMatch")) => {
                let message = format!("'{name}' in $project is not supported by this server");
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            Some(name) if name.starts_with('$') => {}
            Some(_) | None => check_projected(inner)?,
        }
    }
    Ok(())
}

/// Reads `{ _id: 1, n: { $sum: 1 } }`, by which drivers count documents.
pub(super) fn count_of(operand: RawBsonRef<'_>) -> Result<Count> {
    let group = document(operand, 15_947, "a group's fields")?;
    let mut id = None;
    let mut fields = Vec::new();
    for (name, value) in &group {
        match (name.as_str(), value) {
            ("_id", Bson::Null | Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)) => {
                id = Some(RawBson::try_from(value.clone())?);
            }
            (name, Bson::Document(sum)) if is_count(sum) && !name.contains(['.', '$']) => {
                fields.push(name.to_owned());
            }
            _ => fields.clear(),
        }
    }
    match (id, <[String; 1]>::try_from(fields), group.len()) {
        (Some(id), Ok([field]), 2) => Ok(Count {
            id: Some(id),
            field,
        }),
        _ => {
            let message = "$group is supported by this server only as a count of all documents: {_id: null, n: {$sum: 1}}";
            Err(CommandError::new(code::NOT_IMPLEMENTED, message))
        }
    }
}

fn is_count(sum: &Document) -> bool {
    let one = [Bson::Int32(1), Bson::Int64(1), Bson::Double(1.0)];
    sum.len() == 1 && sum.get("$sum").is_some_and(|value| one.contains(value))
}
