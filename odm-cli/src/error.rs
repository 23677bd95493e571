//! Failures, and the codes with which the command ends.

use std::{fmt, io, process::ExitCode};

use mongodb::error::ErrorKind as DriverError;
use odm::ErrorKind;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The codes with which the command ends. The README of the crate lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It is done.
    Done = 0,
    /// An audit, a validation or a repair has findings.
    Findings = 1,
    /// The arguments are wrong, which is clap's code, too.
    Usage = 2,
    /// The file, the database, the collection, the document or the user is not there.
    NotFound = 3,
    /// Another process has the file.
    Locked = 4,
    /// The file is damaged, is no store, or is of another format.
    Damaged = 5,
    /// A right is missing, or a rule of the data refuses a write.
    Refused = 6,
    /// The system fails: a full disk, a missing permission.
    Io = 7,
    /// The server cannot be reached, or does not answer.
    Unavailable = 8,
    /// Ended by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Failure { exit, message }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::new(Exit::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Failure::new(Exit::NotFound, message)
    }

    pub(crate) fn interrupted() -> Self {
        Failure::new(Exit::Interrupted, "interrupted")
    }

    /// A failure of the system.
    pub(crate) fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            // Nobody reads what is written: the end of `odm .. | head`.
            io::ErrorKind::BrokenPipe => Exit::Done,
            _ => Exit::Io,
        };
        Failure::new(exit, format!("{what}: {error}"))
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn with_advice(mut self, advice: impl fmt::Display) -> Self {
        self.message = format!("{}\n  {advice}", self.message);
        self
    }

    /// Names the file that it is about.
    #[must_use]
    pub(crate) fn within(mut self, file: impl fmt::Display) -> Self {
        self.message = format!("`{file}`: {}", self.message);
        self
    }

    /// Tells the reason on the standard error, and returns the code.
    pub(crate) fn report(&self) -> Exit {
        if self.exit != Exit::Done {
            crate::output::complain("error", &self.message);
        }
        self.exit
    }
}

impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::NotFound => Exit::NotFound,
            ErrorKind::InvalidQuery | ErrorKind::InvalidRequest | ErrorKind::InvalidImport => {
                Exit::Usage
            }
            ErrorKind::Locked | ErrorKind::Migrating => Exit::Locked,
            ErrorKind::Corrupt => Exit::Damaged,
            ErrorKind::Io => match io_kind(&error) {
                Some(io::ErrorKind::NotFound) => Exit::NotFound,
                // Nobody reads what is written.
                Some(io::ErrorKind::BrokenPipe) => Exit::Done,
                _ => Exit::Io,
            },
            ErrorKind::Unavailable | ErrorKind::Closed => Exit::Unavailable,
            // The data does not allow it.
            _ => Exit::Refused,
        };
        let failure = Failure::new(exit, error.to_string());
        match error.kind() {
            // The library tells it apart from damage by these words alone.
            ErrorKind::Corrupt if error.to_string().starts_with("format ") => failure.with_advice(
                "Nothing is damaged: a newer version of `odm` reads it. `cargo install typed-odm-cli` brings the newest one.",
            ),
            ErrorKind::Corrupt => failure.with_advice(
                "A damaged store is restored from a backup. If its log alone is damaged, `odm salvage` opens it without the rest of the log.",
            ),
            ErrorKind::Io if io_kind(&error) == Some(io::ErrorKind::StorageFull) => {
                failure.with_advice("The disk is full: give it room, and run the command again.")
            }
            _ => failure,
        }
    }
}

/// The kind of the system's error behind an error.
fn io_kind(error: &odm::Error) -> Option<io::ErrorKind> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        source = inner.source();
    }
    None
}

/// The remedy for a missing right.
const NAME_USER: &str =
    "Name a user with the right in the URI: mongodb://USER:PASSWORD@HOST/DATABASE";

impl From<mongodb::error::Error> for Failure {
    fn from(error: mongodb::error::Error) -> Self {
        match &*error.kind {
            DriverError::Command(command) => {
                let exit = match command.code {
                    // Unauthorized, AuthenticationFailed.
                    13 | 18 => Exit::Refused,
                    // NamespaceNotFound.
                    26 => Exit::NotFound,
                    // DuplicateKey, DocumentValidationFailure.
                    11_000 | 121 => Exit::Refused,
                    // MaxTimeMSExpired, ChangeStreamHistoryLost.
                    50 | 286 => Exit::Unavailable,
                    _ => Exit::Usage,
                };
                let failure =
                    Failure::new(exit, format!("{} (code {})", command.message, command.code));
                if command.code == 13 {
                    failure.with_advice(NAME_USER)
                } else {
                    failure
                }
            }
            DriverError::Authentication { .. } => {
                Failure::new(Exit::Refused, error.to_string()).with_advice(NAME_USER)
            }
            DriverError::InvalidArgument { message, .. } => Failure::usage(message.clone()),
            DriverError::ServerSelection { message, .. } => Failure::new(
                Exit::Unavailable,
                format!("the server cannot be reached: {message}"),
            ),
            _ => Failure::new(Exit::Unavailable, error.to_string()),
        }
    }
}
