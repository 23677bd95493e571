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

/// Whether a database has a collection, or a view.
pub(super) async fn exists(collections: &Collections, name: &str) -> Result<bool> {
    let all = collections.list().await?;
    Ok(all.iter().any(|collection| collection.name == name)
        || collections.collection(name).view().await?.is_some())
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

/// Commands on collections that there are none of on views.
const NOT_ON_VIEWS: [&str; 12] = [
    "insert",
    "update",
    "delete",
    "findAndModify",
    "findandmodify",
    "createIndexes",
    "listIndexes",
    "dropIndexes",
    "deleteIndexes",
    "collStats",
    "collstats",
    "validate",
];

/// Gives a command the default collation of the collection, or of the view, that it names.
///
/// # Errors
///
/// `CommandNotSupportedOnView`, and `OptionNotSupportedOnView` for another collation than that of a view.
pub(super) async fn collated<'a>(
    context: Context<'_>,
    arguments: Arguments<'a>,
) -> Result<Arguments<'a>> {
    let command = arguments.name();
    let is_for_collections = NOT_ON_VIEWS.contains(&command);
    let is_collated = COLLATED.contains(&command);
    if !is_collated && !is_for_collections {
        return Ok(arguments);
    }
    let (Some(name), Some(collections)) = (arguments.look::<&str>(command), context.collections())
    else {
        return Ok(arguments);
    };
    let collection = collections.collection(name);
    let Some(view) = collection.view().await? else {
        return Ok(if is_collated {
            let collation = collection.default_collation().await?;
            arguments.with_default_collation(collation)
        } else {
            arguments
        });
    };
    if is_for_collections {
        return Err(view_not_supported(context, name));
    }
    let mut arguments = arguments.of_view(view.collation.clone());
    if arguments.has("collation") {
        // It is the default one from here on.
        arguments.take_collation()?;
        if arguments.collation() != view.collation.as_ref() {
            return Err(other_collation(context, name));
        }
    }
    Ok(arguments)
}

/// The error of a read of a view by another collation than its own.
pub(super) fn other_collation(context: Context<'_>, name: &str) -> CommandError {
    let message = format!(
        "Cannot override a view's default collation {}.{name}",
        context.database
    );
    CommandError::new(code::OPTION_NOT_SUPPORTED_ON_VIEW, message)
}

/// The error of a command, or a stage, that there is none of on views.
pub(super) fn view_not_supported(context: Context<'_>, name: &str) -> CommandError {
    let message = format!(
        "Namespace {}.{name} is a view, not a collection",
        context.database
    );
    CommandError::new(code::COMMAND_NOT_SUPPORTED_ON_VIEW, message)
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
