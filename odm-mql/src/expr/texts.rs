//! The operators of expressions on texts.

use bson::RawBson;

use super::{
    ExprNode, arrays, convert,
    evaluate::{is_null, node, type_of},
    failed,
    operator::Operator,
    scope::Scope,
    search,
};
use crate::{Error, types};

/// All texts, one after another, or null at the first null.
pub(super) fn concat(operands: &[ExprNode], scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    let (mut all, held) = (String::new(), scope.work.hold());
    for operand in operands {
        match node(operand, scope)? {
            Some(RawBson::String(text)) => all.push_str(&text),
            value if is_null(&value) => return Ok(Some(RawBson::Null)),
            value => {
                let reason = format!("it needs texts, not {}", type_of(&value));
                return Err(failed(Operator::Concat, reason, 16_702));
            }
        }
        check_len(all.len())?;
        held.set(all.len())?;
    }
    Ok(Some(RawBson::String(all)))
}

/// Checks the number of bytes of a text in a request or of a computed one.
pub(super) fn check_len(bytes: usize) -> Result<(), Error> {
    const MOST: usize = 16 << 20;
    if bytes < MOST {
        return Ok(());
    }
    Err(Error::Expression {
        operator: "$literal",
        reason: format!("a text has {MOST} bytes or more").into(),
        code: 16_493,
    })
}

/// The value of an operator on a text.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    Ok(Some(match (operator, values) {
        (Operator::ToLower, [value]) => {
            RawBson::String(text_of(operator, value)?.to_ascii_lowercase())
        }
        (Operator::ToUpper, [value]) => {
            RawBson::String(text_of(operator, value)?.to_ascii_uppercase())
        }
        (Operator::StrLenCp, [Some(RawBson::String(text))]) => {
            let len = text.chars().count();
            RawBson::Int32(i32::try_from(len).unwrap_or(i32::MAX))
        }
        (Operator::StrLenCp, [value]) => {
            let reason = format!("it needs a text, not {}", type_of(value));
            return Err(failed(operator, reason, 34_471));
        }
        (Operator::SubstrCp, [value, start, count]) => {
            let text = text_of(operator, value)?;
            let start = arrays::int(operator, start, 34_450, 34_451)?;
            let count = arrays::int(operator, count, 34_452, 34_453)?;
            let amount = |number: i64, code| {
                let amount = usize::try_from(number);
                amount.map_err(|_| failed(operator, "it needs numbers from 0 on", code))
            };
            let count = amount(count, 34_454)?;
            let rest = text.chars().skip(amount(start, 34_455)?);
            RawBson::String(rest.take(count).collect())
        }
        (operator, values) => return search::operator(operator, values),
    }))
}

/// The text that a value stands for where a text is needed.
pub(super) fn text_of(operator: Operator, value: &Option<RawBson>) -> Result<String, Error> {
    match value {
        value if is_null(value) => Ok(String::new()),
        Some(RawBson::JavaScriptCode(text) | RawBson::Symbol(text)) => Ok(text.clone()),
        Some(
            value @ (RawBson::String(_)
            | RawBson::Double(_)
            | RawBson::Int32(_)
            | RawBson::Int64(_)
            | RawBson::Decimal128(_)
            | RawBson::DateTime(_)),
        ) => convert::text(operator.name(), value),
        Some(value) => {
            let kind = types::name(value.element_type());
            Err(failed(
                operator,
                format!("it needs a text, not {kind}"),
                16_007,
            ))
        }
        None => Ok(String::new()),
    }
}
