//! The operators of expressions on documents.

use std::collections::HashMap;

use bson::{RawBson, RawDocumentBuf};

use super::{
    ExprNode,
    evaluate::{check_size, is_null, node, type_of},
    failed,
    operator::Operator,
    scope::Scope,
};
use crate::Error;

/// The fields of all documents, each with its last value in the place of its first one. An array as the only operand stands for its
/// elements.
pub(super) fn merge(operands: &[ExprNode], scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    let mut objects = Vec::new();
    let (mut bytes, held) = (0, scope.work.hold());
    let mut add = |value: Option<RawBson>| match value {
        Some(RawBson::Document(object)) => {
            bytes += object.as_bytes().len();
            objects.push(object);
            check_size(bytes)?;
            held.set(bytes)
        }
        value if is_null(&value) => Ok(()),
        value => {
            let reason = format!("it needs documents, not {}", type_of(&value));
            Err(failed(Operator::MergeObjects, reason, 40_400))
        }
    };
    for operand in operands {
        match node(operand, scope)? {
            Some(RawBson::Array(array)) if operands.len() == 1 => {
                for element in array.into_iter().flatten() {
                    add(Some(element.into()))?;
                }
            }
            value => add(value)?,
        }
    }
    Ok(Some(RawBson::Document(merged(&objects))))
}

fn merged(objects: &[RawDocumentBuf]) -> RawDocumentBuf {
    let mut fields = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (name, value) in objects.iter().flat_map(|object| object.iter().flatten()) {
        let place = *places.entry(name.as_str()).or_insert(fields.len());
        match fields.get_mut(place) {
            Some(field) => *field = (name, value),
            None => fields.push((name, value)),
        }
    }
    let mut merged = RawDocumentBuf::new();
    for (name, value) in fields {
        merged.append(name, value);
    }
    merged
}
