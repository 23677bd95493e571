//! `$zip`: arrays as the columns of an array of arrays.

use bson::{RawArrayBuf, RawBson, RawBsonRef};

use super::{
    ExprNode,
    evaluate::{check_size, is_null, node, type_of, values},
    failed,
    named::Arguments,
};
use crate::{Error, types::bad_as};

/// Checks the arguments that are known without a document.
pub(super) fn check(
    inputs: &Option<ExprNode>,
    longest: &Option<ExprNode>,
    defaults: &Option<ExprNode>,
) -> Result<(), Error> {
    let bad = |code, expected| Err(bad_as(code, "$zip", expected));
    let is_longest = match longest {
        None => false,
        Some(ExprNode::Literal(RawBson::Boolean(value))) => *value,
        Some(_) => return bad(34_463, "a boolean as `useLongestLength`"),
    };
    let inputs = match inputs {
        Some(ExprNode::Array(inputs)) => inputs.len(),
        _ => return bad(34_461, "an array of `inputs`"),
    };
    if inputs == 0 {
        return bad(34_465, "at least one array in `inputs`");
    }
    match defaults {
        None => Ok(()),
        Some(ExprNode::Array(_)) if !is_longest => {
            bad(34_466, "`useLongestLength` with `defaults`")
        }
        Some(ExprNode::Array(defaults)) if defaults.len() == inputs => Ok(()),
        Some(ExprNode::Array(_)) => bad(34_467, "as many `defaults` as `inputs`"),
        Some(_) => bad(34_462, "an array of `defaults`"),
    }
}

pub(super) fn zip(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let name = arguments.name();
    let inputs = arguments.list(0).unwrap_or_default();
    let defaults = arguments.list(2).unwrap_or_default();
    let (mut arrays, held) = (
        Vec::with_capacity(inputs.len()),
        arguments.scope().work.hold(),
    );
    for input in inputs {
        let value = node(input, arguments.scope())?;
        held.add(&value)?;
        match value {
            Some(RawBson::Array(array)) => arrays.push(array),
            value if is_null(&value) => return Ok(Some(RawBson::Null)),
            value => {
                let reason = format!("its inputs must be arrays, not {}", type_of(&value));
                return Err(failed(name, reason, 34_468));
            }
        }
    }
    let lens = arrays
        .iter()
        .map(|array| array.into_iter().flatten().count());
    let lens = lens.collect::<Vec<_>>();
    let (least, most) = (lens.iter().min(), lens.iter().max());
    let needed = if least == most { &[][..] } else { defaults };
    let (defaults, _held) = values(needed, arguments.scope())?;
    let is_longest = arguments.value(1)? == Some(RawBson::Boolean(true));
    let rows = if is_longest { most } else { least };
    let columns = arrays.iter().map(|array| array.into_iter().flatten());
    let mut columns = columns.collect::<Vec<_>>();
    let mut zipped = RawArrayBuf::new();
    for _ in 0..rows.copied().unwrap_or(0) {
        let mut values = RawArrayBuf::new();
        for (at, column) in columns.iter_mut().enumerate() {
            let default = || defaults.get(at)?.as_ref().map(RawBson::as_raw_bson_ref);
            let value = column.next().or_else(default);
            values.push(value.unwrap_or(RawBsonRef::Null));
        }
        zipped.push(values);
        check_size(zipped.as_bytes().len())?;
    }
    Ok(Some(RawBson::Array(zipped)))
}
