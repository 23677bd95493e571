//! The common part of all commands that write.

use odm::{
    Collections, ErrorKind,
    bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, rawdoc},
    collections::{DoneStatements, Statement, WrittenDocuments},
};

use super::{Context, count::number_of};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

/// The number of statements of a command.
pub(crate) const MAX_WRITE_BATCH: usize = 100_000;

/// The bytes of the messages of the errors of a command. Those of further errors are left out.
const MAX_MESSAGES: usize = 1 << 20;

/// The arguments that all commands with statements have.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteOptions {
    /// The first error ends the command.
    pub(super) ordered: bool,
    /// The rule of a collection that no model declares is not looked at.
    pub(super) bypasses_rule: bool,
}

impl WriteOptions {
    pub(super) fn take(arguments: &mut Arguments<'_>) -> Result<Self> {
        if arguments.name() != "insert" {
            arguments.take_variables()?;
        }
        arguments.refuse_true("bypassEmptyTsReplacement")?;
        Ok(WriteOptions {
            ordered: arguments.boolean("ordered")?.unwrap_or(true),
            bypasses_rule: arguments.flag("bypassDocumentValidation")?,
        })
    }
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

/// The results of the statements of a command so far.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteReply {
    /// The documents that were inserted, removed, or matched.
    pub(super) number: u64,
    /// The documents that an update has changed, if the command is one.
    pub(super) modified: Option<u64>,
    /// The `_id`s of the documents that upserts have inserted, with the positions of their statements.
    upserted: Vec<RawDocumentBuf>,
    errors: Vec<RawDocumentBuf>,
    /// The bytes of the messages of the errors.
    messages: usize,
}

impl WriteReply {
    pub(super) fn of_update() -> Self {
        WriteReply {
            modified: Some(0),
            ..WriteReply::default()
        }
    }

    pub(super) fn upserted(&mut self, at: usize, id: RawBson) {
        self.upserted
            .push(rawdoc! { "index": position(at), "_id": id });
    }

    fn fail(&mut self, database: &str, at: usize, error: &CommandError) {
        self.messages += error.text().len();
        let with_message = self.messages <= MAX_MESSAGES;
        let error = error.write_error(database, position(at), with_message);
        self.errors.push(error);
    }

    /// Reads a reply that was stored.
    fn read(reply: &RawDocument) -> odm::Result<Self> {
        let number = |name| match reply.get(name)? {
            Some(RawBsonRef::Int32(number)) => Ok(u64::try_from(number).ok()),
            Some(RawBsonRef::Int64(number)) => Ok(u64::try_from(number).ok()),
            _ => Ok::<_, odm::bson::error::Error>(None),
        };
        let list = |name| {
            let list = reply.get(name)?.and_then(RawBsonRef::as_array);
            let all = list.into_iter().flatten().map(|value| {
                let document = value?.as_document().map(RawDocument::to_owned);
                Ok(document.unwrap_or_default())
            });
            all.collect::<std::result::Result<Vec<_>, odm::bson::error::Error>>()
        };
        let read = || {
            Ok(WriteReply {
                number: number("n")?.unwrap_or_default(),
                modified: number("nModified")?,
                upserted: list("upserted")?,
                errors: list("writeErrors")?,
                messages: 0,
            })
        };
        read().map_err(|error: odm::bson::error::Error| {
            let message = "the stored answer of a command is not well-formed";
            odm::Error::new(ErrorKind::Corrupt, message).with_source(error)
        })
    }

    fn to_document(&self) -> RawDocumentBuf {
        let mut reply = rawdoc! { "n": number_of(self.number) };
        if let Some(modified) = self.modified {
            reply.append(cstr!("nModified"), number_of(modified));
        }
        for (name, all) in [
            (cstr!("upserted"), &self.upserted),
            (cstr!("writeErrors"), &self.errors),
        ] {
            if !all.is_empty() {
                reply.append(name, RawArrayBuf::from_iter(all.iter().cloned()));
            }
        }
        reply
    }
}

/// The answer of a command, and the command, as they are stored for a client that sends the command again.
fn stored(of: &str, reply: RawDocumentBuf) -> RawDocumentBuf {
    let mut answer = rawdoc! { "of": of };
    answer.append(cstr!("reply"), reply);
    answer
}

/// The reply in a stored answer.
///
/// # Errors
///
/// It is the answer of another command, which its sender may not read any more.
fn stored_reply<'a>(of: &str, answer: &'a RawDocument) -> Result<&'a RawDocument> {
    match (answer.get("of")?, answer.get("reply")?) {
        (Some(RawBsonRef::String(command)), Some(RawBsonRef::Document(reply))) if command == of => {
            Ok(reply)
        }
        _ => {
            let message = format!(
                "`{of}` was sent with the lsid and the txnNumber of another command, which it does not repeat"
            );
            Err(CommandError::new(code::OTHER_COMMAND, message))
        }
    }
}

/// Carries out a command of one statement, whose reply `reply` makes of its result. `of` tells the command from others.
pub(super) async fn carry_out(
    context: Context<'_>,
    of: String,
    statement: Statement,
    reply: impl Fn(&WrittenDocuments) -> odm::Result<RawDocumentBuf> + Send + Sync + 'static,
) -> Result<RawDocumentBuf> {
    let Some(part) = context.session.and_then(|session| session.retryable(0, 1)) else {
        return Ok(reply(&statement.await?)?);
    };
    let command = of.clone();
    let answer = move |_: Option<&RawDocument>, written: &[WrittenDocuments]| {
        let reply = written
            .first()
            .map_or_else(|| Ok(RawDocumentBuf::new()), &reply)?;
        Ok(stored(&command, reply))
    };
    let done = context.writable()?.once(part, vec![statement], answer);
    Ok(stored_reply(&of, &done.await?.answer)?.to_owned())
}

/// The statements of a command, which are carried out one after another. Every write of several documents goes through here.
///
/// If the client may send the command again, the reply so far is stored with each statement, and a command that was sent before goes on
/// after its last statement.
pub(super) struct Statements<'c> {
    context: Context<'c>,
    collections: &'c Collections,
    /// The command and its collection.
    of: String,
    is_ordered: bool,
    /// How many statements the stored reply is about.
    done: usize,
    reply: WriteReply,
}

impl<'c> Statements<'c> {
    pub(super) async fn begin(
        context: Context<'c>,
        of: String,
        options: WriteOptions,
        reply: WriteReply,
    ) -> Result<Self> {
        let mut statements = Statements {
            context,
            collections: context.writable()?,
            of,
            is_ordered: options.ordered,
            done: 0,
            reply,
        };
        if let Some(part) = context.session.and_then(|session| session.retryable(0, 0))
            && let Some(done) = statements.collections.done(&part).await?
        {
            statements.take(&done)?;
        }
        Ok(statements)
    }

    fn take(&mut self, done: &DoneStatements) -> Result<()> {
        self.done = usize::try_from(done.number).unwrap_or_default();
        self.reply = WriteReply {
            messages: self.reply.messages,
            ..WriteReply::read(stored_reply(&self.of, &done.answer)?)?
        };
        Ok(())
    }

    /// The first statement that is not done: another copy of the command may have gone on meanwhile.
    pub(super) fn next(&self) -> usize {
        self.done
    }

    /// Carries out the statements up to a position, and adds their result to the reply.
    pub(super) async fn carry_out(
        &mut self,
        end: usize,
        statement: Statement,
        add: impl Fn(&mut WriteReply, &WrittenDocuments) + Send + Sync + 'static,
    ) -> Result<()> {
        let session = self.context.session;
        let part =
            session.and_then(|session| session.retryable(position(self.done), position(end)));
        let Some(part) = part else {
            let written = statement.await?;
            add(&mut self.reply, &written);
            self.done = end;
            return Ok(());
        };
        let (before, of) = (self.reply.clone(), self.of.clone());
        let answer = move |_: Option<&RawDocument>, written: &[WrittenDocuments]| {
            let mut reply = before.clone();
            written.iter().for_each(|written| add(&mut reply, written));
            Ok(stored(&of, reply.to_document()))
        };
        let done = self.collections.once(part, vec![statement], answer).await?;
        self.take(&done)
    }

    /// Records the error of a statement, and returns whether the command goes on.
    ///
    /// # Errors
    ///
    /// The error is one of the whole store or of the whole transaction, which no other statement could avoid.
    pub(super) fn fail(&mut self, at: usize, error: CommandError) -> Result<bool> {
        let is_of_transaction = self.context.unit.is_some() && error.ends_transaction();
        let is_of_all =
            [code::SHUTDOWN_IN_PROGRESS, code::TRANSACTION_TOO_OLD].contains(&error.code);
        if is_of_all || is_of_transaction {
            return Err(error);
        }
        self.reply.fail(self.context.database, at, &error);
        Ok(!self.is_ordered && self.context.unit.is_none())
    }

    pub(super) fn into_reply(self) -> RawDocumentBuf {
        self.reply.to_document()
    }
}

/// The position of a statement, of which there are few enough.
fn position(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}
