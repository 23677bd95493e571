//! Who may run a command: each states it in the table, and it is checked here.

use std::sync::Arc;

use odm::{
    Collections,
    bson::{RawBsonRef, RawDocument},
};

use super::{Command, Context, VIRTUAL, command_of, name_of};
use crate::{
    auth::{Caller, is_secret},
    error::{CommandError, Result, code},
    server::ServerState,
};

/// Who may run a command, where a server requires users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody, since it shows no data and nothing about others.
    Anyone,
    /// Every user: it concerns the user alone, or shows only data that they may read.
    User,
    /// Who may read the collection that its first argument names.
    Read,
    /// Who may change that collection.
    Write,
    /// Who may change the collections of its first argument and of `to`, which name the database too.
    Rename,
    /// Who may read all collections of the database.
    ReadAll,
    /// Who may change all of them.
    WriteAll,
    /// Who may read all collections of any database: it is about the whole server.
    Server,
    /// Who may run the command that is its first argument.
    Inner,
}

/// Checks that somebody may run a command.
///
/// # Errors
///
/// `Unauthorized`.
pub(super) fn check(
    state: &ServerState,
    command: &Command,
    caller: Option<&Caller>,
    (database, body): (&str, &RawDocument),
) -> Result<()> {
    if !state.requires_users || command.access == Access::Anyone {
        return Ok(());
    }
    let Some(caller) = caller else {
        return Err(unauthenticated(command.name));
    };
    if is_allowed(caller, command, database, body) {
        Ok(())
    } else {
        Err(refused(database, command.name, first(body)))
    }
}

fn is_allowed(caller: &Caller, command: &Command, database: &str, body: &RawDocument) -> bool {
    let rights = &caller.rights;
    let is_own = caller.user.database == database;
    match command.access {
        Access::Anyone | Access::User => true,
        // Without a name the command is one on all collections, or malformed.
        Access::Read => match first(body) {
            Some(collection) => caller.can_read(database, collection),
            None => (is_own || VIRTUAL.contains(&database)) && rights.can_read_all(),
        },
        Access::Write => match first(body) {
            Some(collection) => caller.can_write(database, collection),
            None => is_own && rights.can_write_all(),
        },
        Access::Rename => {
            let can_write = |name: Option<&str>| {
                let namespace = name.and_then(|name| name.split_once('.'));
                namespace
                    .is_some_and(|(database, collection)| caller.can_write(database, collection))
            };
            can_write(first(body)) && can_write(text(body.get("to")))
        }
        Access::ReadAll => is_own && rights.can_read_all(),
        Access::WriteAll => is_own && rights.can_write_all(),
        Access::Server => rights.can_read_all(),
        Access::Inner => match body.iter().next() {
            Some(Ok((_, RawBsonRef::Document(inner)))) => match command_of(name_of(inner)) {
                Ok(command) if command.access != Access::Inner => {
                    is_allowed(caller, command, database, inner)
                }
                _ => false,
            },
            _ => false,
        },
    }
}

fn text<'a>(
    value: std::result::Result<Option<RawBsonRef<'a>>, odm::bson::error::Error>,
) -> Option<&'a str> {
    match value {
        Ok(Some(RawBsonRef::String(text))) => Some(text),
        _ => None,
    }
}

/// The first argument, if it is a text.
fn first(body: &RawDocument) -> Option<&str> {
    match body.iter().next() {
        Some(Ok((_, RawBsonRef::String(name)))) => Some(name),
        _ => None,
    }
}

/// The error of a client that has not proved which user it is.
pub(super) fn unauthenticated(command: &str) -> CommandError {
    let message = format!("Command {command} requires authentication");
    CommandError::new(code::UNAUTHORIZED, message)
}

/// The error of a user without the right.
pub(super) fn refused(database: &str, command: &str, collection: Option<&str>) -> CommandError {
    let argument = match collection {
        Some(collection) => format!("\"{collection}\""),
        None => "1".to_owned(),
    };
    let message =
        format!("not authorized on {database} to execute command {{ {command}: {argument} }}");
    CommandError::new(code::UNAUTHORIZED, message)
}

impl Context<'_> {
    /// Whether the user may read a collection of the database.
    pub(super) fn can_read(&self, collection: &str) -> bool {
        match self.caller {
            Some(caller) => caller.can_read(self.database, collection),
            None => !is_secret(collection),
        }
    }

    /// Checks that the user may read a collection of the database, which a command reads besides that of its first argument.
    ///
    /// # Errors
    ///
    /// `Unauthorized`.
    pub(super) fn check_read(&self, command: &str, collection: &str) -> Result<()> {
        if self.can_read(collection) {
            Ok(())
        } else {
            Err(refused(self.database, command, Some(collection)))
        }
    }
}

/// The collections with the rights of a user.
pub(super) fn restricted(caller: Option<&Caller>, collections: &Collections) -> Collections {
    match caller {
        Some(caller) => collections.restricted(Arc::clone(&caller.rights) as Arc<_>),
        None => collections.clone(),
    }
}

#[cfg(test)]
mod tests;
