//! Names of databases and collections.

use odm::{Collection, Collections, bson::RawBsonRef};

use super::Context;
use crate::{
    arguments::Arguments,
    auth::is_secret,
    error::{CommandError, Result, code},
};

/// Whether a database can have this name.
pub(crate) fn is_database_name(name: &str) -> bool {
    let is_bad = |character: char| matches!(character, '/' | '\\' | '.' | ' ' | '"' | '$' | '\0');
    !name.is_empty() && name.len() <= 63 && !name.contains(is_bad)
}

/// Checks the name of a database.
pub(super) fn check_database(name: &str) -> Result<()> {
    match is_database_name(name) {
        true => Ok(()),
        false => Err(invalid(format!("Invalid database name: '{name}'"))),
    }
}

/// Takes the collection that a command names.
pub(super) fn take<'a>(
    context: Context<'_>,
    arguments: &mut Arguments<'a>,
    field: &str,
) -> Result<&'a str> {
    let name = match arguments.required::<RawBsonRef<'_>>(field)? {
        RawBsonRef::String(name) => name,
        other => {
            let error = arguments.wrong_type(field, other, "string");
            let message = format!("collection name has invalid type: {}", error.text());
            return Err(invalid(message));
        }
    };
    check(context, name)?;
    Ok(name)
}

/// Checks the name of a collection.
pub(super) fn check(context: Context<'_>, name: &str) -> Result<()> {
    let is_bad = |character: char| matches!(character, '$' | '\0');
    if is_secret(name) {
        return context.check_read("find", name);
    }
    match name.is_empty() || name.starts_with('.') || name.contains(is_bad) {
        true => Err(invalid(format!(
            "Invalid namespace specified '{}.{name}'",
            context.database
        ))),
        false => Ok(()),
    }
}

fn invalid(message: String) -> CommandError {
    CommandError::new(code::INVALID_NAMESPACE, message)
}

/// Whether a database has a collection, one of the library included.
pub(super) async fn exists(collections: &Collections, name: &str) -> Result<bool> {
    let all = collections.list().await?;
    Ok(all.iter().any(|collection| collection.name == name))
}

/// The error of a collection that is not there.
pub(super) fn missing(context: Context<'_>, name: &str) -> CommandError {
    let message = format!("ns does not exist: {}.{name}", context.database);
    CommandError::new(code::NAMESPACE_NOT_FOUND, message)
}

/// Commands whose texts are compared by the default collation of their collection, unless they state another one.
const COLLATED: [&str; 9] = [
    "find",
    "count",
    "distinct",
    "aggregate",
    "update",
    "delete",
    "findAndModify",
    "findandmodify",
    "createIndexes",
];

/// Gives a command the default collation of the collection that it names.
pub(super) async fn collated<'a>(
    context: Context<'_>,
    arguments: Arguments<'a>,
) -> Result<Arguments<'a>> {
    let command = arguments.name();
    if !COLLATED.contains(&command) {
        return Ok(arguments);
    }
    let (Some(name), Some(collections)) = (arguments.look::<&str>(command), context.collections())
    else {
        return Ok(arguments);
    };
    let collation = collections.collection(name).default_collation().await?;
    Ok(arguments.with_default_collation(collation))
}

/// The collection to change, which a command names.
pub(super) fn take_writable(
    context: Context<'_>,
    arguments: &mut Arguments<'_>,
    field: &str,
) -> Result<Collection> {
    let name = take(context, arguments, field)?;
    Ok(context.writable()?.collection(name))
}
