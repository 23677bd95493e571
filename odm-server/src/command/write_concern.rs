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
    for name in ["j", "fsync"] {
        concern.optional::<bool>(name)?;
    }
    for name in ["wtimeout", "provenance"] {
        concern.ignore(name);
    }
    let number = |number: f64| (0.0..=50.0).contains(&number).then_some(number);
    let (members, mode) = match concern.optional::<RawBsonRef<'_>>("w")? {
        None | Some(RawBsonRef::String("majority")) => (Some(1.0), None),
        Some(RawBsonRef::String(mode)) => (None, Some(mode)),
        Some(RawBsonRef::Int32(members)) => (number(members.into()), None),
        Some(RawBsonRef::Int64(members)) => (number(members as f64), None),
        Some(RawBsonRef::Double(members)) => (number(members), None),
        Some(_) => (None, None),
    };
    let error = match (members, mode) {
        (Some(0.0..=1.0), _) => None,
        (Some(_), _) if is_member => Some((
            code::UNSATISFIABLE_WRITE_CONCERN,
            "Not enough data-bearing nodes".to_owned(),
        )),
        (Some(_), _) => Some((
            code::BAD_VALUE,
            "cannot use 'w' > 1 when a host is not replicated".to_owned(),
        )),
        (None, Some(mode)) if is_member => Some((
            code::UNKNOWN_WRITE_CONCERN,
            format!("No write concern mode named '{mode}' found in replica set configuration"),
        )),
        (None, Some(mode)) => Some((
            code::BAD_VALUE,
            format!(
                "cannot use non-majority 'w' mode \"{mode}\" when a host is not a member of a replica set"
            ),
        )),
        (None, None) => {
            let message = "'w' must be a text, or a number from 0 to 50";
            return Err(CommandError::new(code::FAILED_TO_PARSE, message));
        }
    };
    concern.end()?;
    let error = error.map(|(code, message)| CommandError::new(code, message));
    match error {
        Some(error) if !is_member => Err(error),
        unmet => Ok(unmet),
    }
}
