//! Write concerns.

use odm::bson::RawBsonRef;

use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

/// Takes the write concern of a command. The durability of writes is that of the program that serves them.
///
/// A member of a replica set of one carries out a write whose concern needs other members. Its reply has the returned error then.
pub(super) fn take(arguments: &mut Arguments<'_>, is_member: bool) -> Result<Option<CommandError>> {
    let Some(mut concern) = arguments.nested("writeConcern")? else {
        return Ok(None);
    };
    for name in ["j", "fsync", "wtimeout", "provenance"] {
        concern.ignore(name);
    }
    let error = match concern.optional::<RawBsonRef<'_>>("w")? {
        None | Some(RawBsonRef::String("majority")) => None,
        Some(RawBsonRef::Int32(0 | 1) | RawBsonRef::Int64(0 | 1)) => None,
        Some(RawBsonRef::Double(number)) if number == 0.0 || number == 1.0 => None,
        Some(RawBsonRef::String(mode)) => Some(match is_member {
            true => CommandError::new(
                code::UNKNOWN_WRITE_CONCERN,
                format!("No write concern mode named '{mode}' found in replica set configuration"),
            ),
            false => CommandError::new(
                code::BAD_VALUE,
                format!(
                    "cannot use non-majority 'w' mode \"{mode}\" when a host is not a member of a replica set"
                ),
            ),
        }),
        Some(_) => Some(match is_member {
            true => CommandError::new(
                code::UNSATISFIABLE_WRITE_CONCERN,
                "Not enough data-bearing nodes",
            ),
            false => CommandError::new(
                code::BAD_VALUE,
                "cannot use 'w' > 1 when a host is not replicated",
            ),
        }),
    };
    concern.end()?;
    match error {
        Some(error) if !is_member => Err(error),
        unmet => Ok(unmet),
    }
}
