//! What all commands that write have in common.

use odm::bson::{RawArrayBuf, RawBson, RawDocumentBuf, raw::cstr, rawdoc};

use super::{Context, count::number_of};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

/// The number of statements of a command.
pub(crate) const MAX_WRITE_BATCH: usize = 100_000;

/// The bytes of the messages of the errors of a command. Those of further errors are left out.
const MAX_MESSAGES: usize = 1 << 20;

/// Carries out a write. Every write of documents by a command goes through here.
pub(super) async fn carry_out<T>(write: impl IntoFuture<Output = odm::Result<T>>) -> Result<T> {
    Ok(write.await?)
}

/// The arguments that all commands with statements have.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteOptions {
    /// The first error ends the command.
    pub(super) ordered: bool,
}

impl WriteOptions {
    pub(super) fn take(arguments: &mut Arguments<'_>) -> Result<Self> {
        refuse_options(arguments)?;
        let ordered = arguments.optional("ordered")?.unwrap_or(true);
        Ok(WriteOptions { ordered })
    }
}

/// Takes the variables of a command that writes, and refuses what no write can do here.
pub(super) fn refuse_options(arguments: &mut Arguments<'_>) -> Result<()> {
    if arguments.name() != "insert" {
        arguments.take_variables()?;
    }
    for name in ["bypassDocumentValidation", "bypassEmptyTsReplacement"] {
        arguments.refuse_true(name)?;
    }
    Ok(())
}

/// Checks the number of statements.
pub(super) fn check_number(number: usize) -> Result<()> {
    match (1..=MAX_WRITE_BATCH).contains(&number) {
        true => Ok(()),
        false => {
            let message = format!(
                "Write batch sizes must be between 1 and {MAX_WRITE_BATCH}. Got {number} operations."
            );
            Err(CommandError::new(code::INVALID_LENGTH, message))
        }
    }
}

/// What the statements of a command have done so far.
#[derive(Debug, Default)]
pub(super) struct WriteReply {
    /// The documents that were inserted, removed, or matched.
    pub(super) number: u64,
    /// The documents that an update has changed, if the command is one.
    pub(super) modified: Option<u64>,
    /// The `_id`s of the documents that upserts have inserted, with the positions of their statements.
    pub(super) upserted: Vec<(usize, RawBson)>,
    errors: Vec<(usize, CommandError)>,
}

impl WriteReply {
    pub(super) fn of_update() -> Self {
        WriteReply {
            modified: Some(0),
            ..WriteReply::default()
        }
    }

    /// Records the error of a statement, and returns whether the command goes on.
    ///
    /// # Errors
    ///
    /// The error is one of the whole store, which no other statement could avoid.
    pub(super) fn fail(
        &mut self,
        at: usize,
        error: CommandError,
        options: WriteOptions,
    ) -> Result<bool> {
        if error.code == code::SHUTDOWN_IN_PROGRESS {
            return Err(error);
        }
        self.errors.push((at, error));
        Ok(!options.ordered)
    }

    pub(super) fn into_document(self, context: Context<'_>) -> RawDocumentBuf {
        let mut reply = rawdoc! { "n": number_of(self.number) };
        if let Some(modified) = self.modified {
            reply.append(cstr!("nModified"), number_of(modified));
        }
        if !self.upserted.is_empty() {
            let mut upserted = RawArrayBuf::new();
            for (at, id) in self.upserted {
                upserted.push(rawdoc! { "index": position(at), "_id": id });
            }
            reply.append(cstr!("upserted"), upserted);
        }
        if !self.errors.is_empty() {
            let mut errors = RawArrayBuf::new();
            let mut bytes = 0;
            for (at, error) in self.errors {
                bytes += error.text().len();
                let with_message = bytes <= MAX_MESSAGES;
                errors.push(error.write_error(context.database, position(at), with_message));
            }
            reply.append(cstr!("writeErrors"), errors);
        }
        reply
    }
}

/// The position of a statement, of which there are few enough.
fn position(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}
