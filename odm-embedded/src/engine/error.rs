//! Errors and panics of redb as errors of the library.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use odm_store::{Error, ErrorKind, Result};
use redb::DatabaseError;

use super::super::wait::panic_message;

/// Runs a call into redb. A panic in it means that redb met bytes that it never writes.
#[inline]
pub(super) fn guard<T>(name: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => Err(panicked(name, &*panic)),
    }
}

#[cold]
fn panicked(name: &str, panic: &(dyn Any + Send)) -> Error {
    let why = panic_message(panic);
    Error::new(
        ErrorKind::Corrupt,
        format!("`{name}` is damaged: the engine panicked ({why})"),
    )
}

#[cold]
pub(super) fn opening(name: &str, error: DatabaseError) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Error::new(
            ErrorKind::Locked,
            format!(
                "`{name}` is already open, in this process or in another: close it there first, or wait for that by `wait_for_lock`"
            ),
        ),
        DatabaseError::RepairAborted => Error::new(
            ErrorKind::ReadOnly,
            format!(
                "`{name}` was not closed, and no process has it open: open it by `Embedded::open` once, which recovers its last commits"
            ),
        ),
        DatabaseError::LockProtocolMismatch => Error::new(
            ErrorKind::Locked,
            format!(
                "`{name}` is open in a program with another version of this library: close it there first, or use one version"
            ),
        ),
        DatabaseError::UpgradeRequired(version) => Error::new(
            ErrorKind::Corrupt,
            format!(
                "`{name}` has version {version} of the engine's format: open it with the version of this library that wrote it"
            ),
        ),
        error => failed(name, error),
    }
}

#[cold]
pub(super) fn failed(name: &str, error: impl Into<redb::Error>) -> Error {
    failed_by(name, error.into())
}

fn failed_by(name: &str, error: redb::Error) -> Error {
    match error {
        redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            let message = format!("`{name}` is not a store of this library: {error}");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        redb::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let message = format!("`{name}` is damaged: the file is shorter than its header says");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        redb::Error::Io(error) => {
            Error::new(ErrorKind::Io, format!("cannot access `{name}`: {error}")).with_source(error)
        }
        redb::Error::DatabaseClosed => {
            Error::new(ErrorKind::Closed, format!("the store `{name}` is closed"))
        }
        redb::Error::Corrupted(why) => {
            Error::new(ErrorKind::Corrupt, format!("`{name}` is damaged: {why}"))
        }
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableDoesNotExist(_)
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }) => {
            let message = format!("`{name}` is not a store of this library");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        error @ redb::Error::ValueTooLarge(_) => {
            Error::new(ErrorKind::Limit, error.to_string()).with_source(error)
        }
        error => {
            Error::new(ErrorKind::Io, format!("cannot access `{name}`: {error}")).with_source(error)
        }
    }
}
