//! Operators on a field by its name, which may have dots and begin with `$`.

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf, raw::CString};

use super::{
    ExprNode,
    evaluate::{check_size, is_null, node, type_of},
    parse,
    scope::Scope,
};
use crate::{
    Error,
    error::code,
    types::{bad_as, unknown},
    variables::Substitution,
    write::malformed,
};

/// `$getField`, or `$setField`, which removes the field if its value is missing: this is `$unsetField`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldOf {
    name: String,
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
        Ok(FieldOf {
            name: constant(name, "$getField", [5_654_601, 3_041_704, code::BAD_VALUE])?,
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
        Ok(FieldOf {
            name: constant(name, operator, [4_161_106, 4_161_107, 4_161_108])?,
            input: part("input", bad(4_161_109, "an `input`"))?,
            value: Some(value),
        })
    }

    pub(super) fn to_bson(&self) -> Bson {
        let field = bson::doc! { "$literal": &self.name };
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
        [Some(&self.input), self.value.as_ref()]
            .into_iter()
            .flatten()
    }

    /// The same with other operands.
    pub(super) fn map(self, change: impl Fn(ExprNode) -> ExprNode) -> Self {
        FieldOf {
            name: self.name,
            input: change(self.input),
            value: self.value.map(change),
        }
    }

    pub(super) fn evaluate(&self, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
        let (input, held) = (node(&self.input, scope)?, scope.work.hold());
        held.add(&input)?;
        match (&self.value, input) {
            (None, Some(RawBson::Document(input))) => {
                let found = input.get(&self.name).ok().flatten();
                Ok(found.map(RawBson::from))
            }
            (None, Some(RawBson::Null | RawBson::Undefined)) => Ok(Some(RawBson::Null)),
            (None, _) => Ok(None),
            (Some(_), input) if is_null(&input) => Ok(Some(RawBson::Null)),
            (Some(value), Some(RawBson::Document(input))) => {
                self.changed(&input, node(value, scope)?)
            }
            (Some(_), input) => Err(Error::Expression {
                operator: "$setField",
                reason: format!("its input must be a document, not {}", type_of(&input)).into(),
                code: 4_161_105,
            }),
        }
    }

    /// The document with the value: in the place of the old one, or at the end.
    fn changed(
        &self,
        input: &RawDocument,
        value: Option<RawBson>,
    ) -> Result<Option<RawBson>, Error> {
        let mut changed = RawDocumentBuf::new();
        let mut value = Some(value);
        for (name, old) in input.iter().flatten() {
            if name.as_str() != self.name {
                changed.append(name, old);
            } else if let Some(Some(value)) = value.take() {
                changed.append(name, value);
            }
        }
        if let Some(Some(value)) = value {
            let name = CString::try_from(self.name.as_str()).map_err(malformed)?;
            changed.append(name, value);
        }
        check_size(changed.as_bytes().len())?;
        Ok(Some(RawBson::Document(changed)))
    }
}

fn other_key<'d>(document: &'d Document, keys: &[&str]) -> Option<&'d str> {
    let mut names = document.keys().map(String::as_str);
    names.find(|name| !keys.contains(name))
}

/// The constant name of a field. The codes are those of another expression, of another type, and of a null byte.
fn constant(name: ExprNode, operator: &str, codes: [i32; 3]) -> Result<String, Error> {
    let [expression, of_type, null] = codes;
    let (code, expected) = match name {
        ExprNode::Literal(RawBson::String(name)) if name.contains('\0') => {
            (null, "a `field` without a null byte")
        }
        ExprNode::Literal(RawBson::String(name)) => return Ok(name),
        ExprNode::Literal(_) => (of_type, "a string in `field`"),
        _ => (
            expression,
            "a constant in `field`, such as `{ $literal: \"$name\" }`",
        ),
    };
    Err(bad_as(code, operator, expected))
}
