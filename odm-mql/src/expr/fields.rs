//! Operators on a field by its name, which may have dots and begin with `$`.

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf, raw::CString};

use super::{
    ExprNode,
    evaluate::{check_size, is_null, node, type_of},
    failed, parse,
    scope::Scope,
};
use crate::{
    Error,
    error::code,
    path,
    types::{bad_as, unknown},
    variables::Substitution,
    write::malformed,
};

const A_STRING: &str = "a string in `field`";
const NO_NUL: &str = "a `field` without a null byte";

/// `$getField`, or `$setField`, which removes the field if its value is missing: this is `$unsetField`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldOf {
    /// The name, which is constant for `$setField`.
    name: ExprNode,
    input: ExprNode,
    /// The new value of `$setField`.
    value: Option<ExprNode>,
}

impl FieldOf {
    /// Reads `{ field: .., input: .. }`, or only the name of a field of the whole document.
    pub(super) fn get(operand: &Bson, variables: &Substitution<'_>) -> Result<Self, Error> {
        let bad = |code, expected| bad_as(code, "$getField", expected);
        let (name, input) = match operand {
            Bson::Document(document) if !parse::is_operator(document) => {
                if let Some(other) = other_key(document, &["field", "input"]) {
                    return Err(unknown(3_041_701, other));
                }
                let field = document
                    .get("field")
                    .ok_or_else(|| bad(3_041_702, "a `field`"))?;
                let input = document
                    .get("input")
                    .ok_or_else(|| bad(3_041_703, "an `input`"))?;
                (field, parse::node(input, variables)?)
            }
            // The variable can be bound.
            name => (name, parse::node(&"$$CURRENT".into(), variables)?),
        };
        let name = parse::node(name, variables)?;
        match &name {
            ExprNode::Literal(RawBson::String(name)) if name.contains('\0') => {
                return Err(bad(code::BAD_VALUE, NO_NUL));
            }
            ExprNode::Literal(RawBson::String(_)) => {}
            ExprNode::Literal(_) => return Err(bad(3_041_704, A_STRING)),
            // It is known for a document.
            _ => {}
        }
        Ok(FieldOf {
            name,
            input,
            value: None,
        })
    }

    /// Reads `{ field: .., input: .., value: .. }`, without the value for `$unsetField`.
    pub(super) fn set(
        operator: &str,
        operand: &Bson,
        variables: &Substitution<'_>,
    ) -> Result<Self, Error> {
        let has_value = operator == "$setField";
        let bad = |code, expected| bad_as(code, operator, expected);
        let Bson::Document(document) = operand else {
            return Err(bad(4_161_100, "a document of its arguments"));
        };
        let keys = if has_value {
            &["field", "input", "value"][..]
        } else {
            &["field", "input"]
        };
        if let Some(other) = other_key(document, keys) {
            return Err(unknown(4_161_101, other));
        }
        let part = |name: &str, missing| match document.get(name) {
            Some(value) => parse::node(value, variables),
            None => Err(missing),
        };
        let name = part("field", bad(4_161_102, "a `field`"))?;
        let value = if has_value {
            part("value", bad(4_161_103, "a `value`"))?
        } else {
            ExprNode::Missing
        };
        let input = part("input", bad(4_161_109, "an `input`"))?;
        let constant = "a constant in `field`, such as `{ $literal: \"$name\" }`";
        match &name {
            ExprNode::Literal(RawBson::String(name)) if name.contains('\0') => {
                return Err(bad(9_534_700, NO_NUL));
            }
            ExprNode::Literal(RawBson::String(_)) => {}
            ExprNode::Object(fields) if fields.is_empty() => return Err(bad(4_161_107, A_STRING)),
            ExprNode::Literal(_) => return Err(bad(4_161_107, A_STRING)),
            ExprNode::Path(_) => return Err(bad(4_161_108, constant)),
            _ => return Err(bad(4_161_106, constant)),
        }
        Ok(FieldOf {
            name,
            input,
            value: Some(value),
        })
    }

    pub(super) fn to_bson(&self) -> Bson {
        let field = self.name.to_bson();
        let input = self.input.to_bson();
        match &self.value {
            None => bson::doc! { "$getField": { "field": field, "input": input } },
            Some(value) => {
                let value = value.to_bson();
                bson::doc! { "$setField": { "field": field, "input": input, "value": value } }
            }
        }
        .into()
    }

    /// The operands.
    pub(super) fn operands(&self) -> impl Iterator<Item = &ExprNode> {
        [Some(&self.name), Some(&self.input), self.value.as_ref()]
            .into_iter()
            .flatten()
    }

    /// The same with other operands.
    pub(super) fn map(self, change: impl Fn(ExprNode) -> ExprNode) -> Self {
        FieldOf {
            name: change(self.name),
            input: change(self.input),
            value: self.value.map(change),
        }
    }

    pub(super) fn evaluate(&self, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
        let name = match node(&self.name, scope)? {
            Some(RawBson::String(name)) => name,
            other => {
                let reason = format!("its field must be a string, not {}", type_of(&other));
                return Err(failed("$getField", reason, 3_041_704));
            }
        };
        let (input, held) = (node(&self.input, scope)?, scope.work.hold());
        held.add(&input)?;
        match (&self.value, input) {
            (None, Some(RawBson::Document(input))) => {
                let found = path::get(&input, &name);
                Ok(found.map(RawBson::from))
            }
            (None, Some(RawBson::Null | RawBson::Undefined)) => Ok(Some(RawBson::Null)),
            (None, _) => Ok(None),
            (Some(_), input) if is_null(&input) => Ok(Some(RawBson::Null)),
            (Some(value), Some(RawBson::Document(input))) => {
                changed(&input, &name, node(value, scope)?)
            }
            (Some(_), input) => Err(Error::Expression {
                operator: "$setField",
                reason: format!("its input must be a document, not {}", type_of(&input)).into(),
                code: 4_161_105,
            }),
        }
    }
}

/// The document with a value in a field: in the place of the old one, or at the end.
fn changed(
    input: &RawDocument,
    field: &str,
    value: Option<RawBson>,
) -> Result<Option<RawBson>, Error> {
    let mut changed = RawDocumentBuf::new();
    let mut value = Some(value);
    for (name, old) in input.iter().flatten() {
        if name.as_str() != field {
            changed.append(name, old);
        } else if let Some(Some(value)) = value.take() {
            changed.append(name, value);
        }
    }
    if let Some(Some(value)) = value {
        let name = CString::try_from(field).map_err(malformed)?;
        changed.append(name, value);
    }
    check_size(changed.as_bytes().len())?;
    Ok(Some(RawBson::Document(changed)))
}

fn other_key<'d>(document: &'d Document, keys: &[&str]) -> Option<&'d str> {
    let mut names = document.keys().map(String::as_str);
    names.find(|name| !keys.contains(name))
}
