//! The commands: one table, from the name of a command to the function that runs it.
//!
//! A command is a function of its [`Context`] and its [`Arguments`], in a file of its own, which lists it in its `COMMANDS`.

mod access;
mod aggregate;
mod authentication;
mod change_stream;
mod collections;
mod count;
mod create;
mod cursors;
mod delete;
mod distinct;
mod explain;
mod find;
mod find_and_modify;
mod handshake;
mod indexes;
mod insert;
mod namespace;
mod read_concern;
mod replica_set;
mod sessions;
mod stats;
mod status;
mod update;
mod users;
mod validate;
mod write;
mod write_concern;

use self::access::Access;
pub(crate) use self::namespace::is_database_name;

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use odm::{
    Collections,
    bson::{RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr},
};

use crate::{
    arguments::Arguments,
    auth::{Caller, UserDigest, UserRights},
    cluster_time,
    connection::Client,
    error::{CommandError, Result, code},
    message::Request,
    server::{EndedCommand, ServerState},
    session::SessionUse,
    snapshots::{AskedSnapshot, Snapshot},
};

/// All commands.
const COMMANDS: &[&[Command]] = &[
    aggregate::COMMANDS,
    authentication::COMMANDS,
    collections::COMMANDS,
    count::COMMANDS,
    create::COMMANDS,
    cursors::COMMANDS,
    delete::COMMANDS,
    distinct::COMMANDS,
    explain::COMMANDS,
    find::COMMANDS,
    find_and_modify::COMMANDS,
    handshake::COMMANDS,
    indexes::COMMANDS,
    insert::COMMANDS,
    replica_set::COMMANDS,
    sessions::COMMANDS,
    stats::COMMANDS,
    status::COMMANDS,
    update::COMMANDS,
    users::COMMANDS,
    validate::COMMANDS,
];

/// The databases that every server has, in which nothing is stored.
pub(crate) const VIRTUAL: [&str; 3] = ["admin", "config", "local"];

/// A command.
struct Command {
    name: &'static str,
    access: Access,
    run: Run,
}

type Run = for<'a> fn(Context<'a>, Arguments<'a>) -> BoxFuture<'a, Result<RawDocumentBuf>>;

impl Command {
    const fn new(name: &'static str, access: Access, run: Run) -> Self {
        Command { name, access, run }
    }

    async fn run_in<'a>(
        &self,
        context: Context<'a>,
        arguments: Arguments<'a>,
    ) -> Result<RawDocumentBuf> {
        let arguments = namespace::collated(context, arguments).await?;
        (self.run)(context, arguments).await
    }
}

/// The context of a command.
#[derive(Debug, Clone, Copy)]
struct Context<'a> {
    state: &'a ServerState,
    client: &'a Client,
    database: &'a str,
    session: Option<SessionUse>,
    /// The collections in the transaction of the command.
    unit: Option<&'a Collections>,
    /// The state that it reads, if the client wants one that other commands can read, too.
    snapshot: Option<&'a Snapshot>,
    /// The user; `None` if the server lets in everybody, or before a client has proved which user it is.
    caller: Option<&'a Caller>,
    /// The collections of the database, in the snapshot if there is one, with the rights of the user.
    restricted: Option<&'a Collections>,
    /// When the command must have ended.
    deadline: Option<Instant>,
}

impl<'a> Context<'a> {
    /// The collections of the database, if it has any: a virtual database and one that is not there have none.
    fn collections(&self) -> Option<&'a Collections> {
        self.unit
            .or(self.restricted)
            .or_else(|| self.state.databases.get(self.database))
    }

    /// The user, where the server requires users.
    fn user(&self) -> Option<UserDigest> {
        self.caller.map(|caller| caller.user.digest)
    }

    /// The rights of the user, where the server requires users.
    fn rights(&self) -> Option<&'a Arc<UserRights>> {
        self.caller.map(|caller| &caller.rights)
    }

    /// The collections of the database, for a command that changes something.
    fn writable(&self) -> Result<&'a Collections> {
        self.collections().ok_or_else(|| {
            let message = format!(
                "database '{}' is not served: it cannot be written",
                self.database
            );
            CommandError::new(code::INVALID_NAMESPACE, message)
        })
    }

    /// How long the command may still run.
    fn time_left(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// Runs a command, and returns its reply.
pub(crate) async fn run(
    state: &ServerState,
    client: &Client,
    request: &Request<'_>,
) -> RawDocumentBuf {
    let begun = Instant::now();
    let (name, database) = (name_of(request.body), database_of(request));
    let result = dispatch(state, client, request, name, database).await;
    let time = begun.elapsed();
    let microseconds = time.as_micros();
    let connection = client.id;
    let mut reply = match result {
        Ok(mut reply) => {
            tracing::debug!(target: "odm", connection, database, command = name, microseconds, "command");
            reply.append(cstr!("ok"), 1.0);
            reply
        }
        Err(error) => {
            let code = error.code;
            tracing::debug!(target: "odm", connection, database, command = name, microseconds, code, "command");
            error.reply(database)
        }
    };
    state.slow.note(EndedCommand {
        connection,
        address: &client.address,
        database,
        body: request.body,
        reply: &reply,
        time,
    });
    cluster_time::append(state, client, &mut reply);
    reply
}

/// The commands of every user that only read.
#[cfg(feature = "http")]
const READS_OF_USERS: [&str; 5] = [
    "currentOp",
    "getMore",
    "killCursors",
    "listCollections",
    "listDatabases",
];

/// Checks that a command only reads.
///
/// # Errors
///
/// `IllegalOperation` if it could change data, a session, or the commands of others.
#[cfg(feature = "http")]
pub(crate) fn check_reads(body: &RawDocument) -> Result<()> {
    let command = command_of(name_of(body))?;
    let reads = match command.access {
        Access::Anyone | Access::Read | Access::ReadAll | Access::Server | Access::Inner => true,
        Access::User => READS_OF_USERS.contains(&command.name),
        Access::Write | Access::WriteAll | Access::Rename => false,
    };
    if reads {
        return Ok(());
    }
    let message = format!("'{}' is refused: this page only reads", command.name);
    Err(CommandError::new(code::ILLEGAL_OPERATION, message))
}

/// The name of a command, which is that of its first field.
fn name_of(body: &RawDocument) -> &str {
    match body.iter().next() {
        Some(Ok((name, _))) => name.as_str(),
        _ => "",
    }
}

fn database_of<'a>(request: &Request<'a>) -> &'a str {
    let in_body = || match request.body.get("$db") {
        Ok(Some(RawBsonRef::String(database))) => Some(database),
        _ => None,
    };
    request.database.or_else(in_body).unwrap_or_default()
}

fn command_of(name: &str) -> Result<&'static Command> {
    let mut all = COMMANDS.iter().copied().flatten();
    all.find(|command| command.name == name).ok_or_else(|| {
        let message = format!("no such command: '{name}'");
        CommandError::new(code::COMMAND_NOT_FOUND, message)
    })
}

async fn dispatch<'a>(
    state: &'a ServerState,
    client: &'a Client,
    request: &Request<'a>,
    name: &'a str,
    database: &'a str,
) -> Result<RawDocumentBuf> {
    let mut arguments =
        Arguments::of(Cow::Borrowed(name), request.body)?.with_sequences(&request.sequences);
    let command = command_of(name)?;
    state.counters.count(name);
    if request.database.is_none() {
        let _: &str = arguments.required("$db")?;
    }
    namespace::check_database(database)?;
    let caller = if state.requires_users {
        client.authentication.caller(state).await
    } else {
        Ok(None)
    };
    let caller = match command.access {
        // Such a command needs no account, and logs out a user whose account cannot be read.
        Access::Anyone => caller.unwrap_or_default(),
        _ => caller?,
    };
    let caller = caller.as_ref();
    access::check(state, command, caller, (database, request.body))?;
    let session = match command.access {
        // A stranger can send it, who could name sessions without an end.
        Access::Anyone => {
            SessionUse::ignore(&mut arguments);
            None
        }
        _ => SessionUse::take(&mut arguments, caller)?,
    };
    check_use(name, session)?;
    let is_in_transaction = session.is_some_and(|session| session.starts.is_some());
    if ["count", "distinct"].contains(&name) && arguments.has("writeConcern") {
        let message = format!("Command {name} does not support writeConcern");
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    let unmet = write_concern::take(&mut arguments, client.is_member(state))?;
    cluster_time::take(state, client, &mut arguments)?;
    let mut arguments = arguments.with_variables(cluster_time::variables(state, client));
    let Generic { time, snapshot } =
        take_generic(state, client, &mut arguments, is_in_transaction)?;
    let snapshot = match snapshot {
        // It goes on with the snapshot of its cursor, whatever it says.
        Some(_) if name == "getMore" => None,
        Some(_) if !READS_SNAPSHOTS.contains(&name) => {
            return Err(no_snapshot(&format!("Command {name}")));
        }
        Some(asked) => {
            let snapshots = &state.snapshots;
            Some(snapshots.get(asked, caller, &state.databases).await?)
        }
        None => None,
    };
    let restricted = match &snapshot {
        Some(snapshot) => snapshot.database(database),
        None => state.databases.get(database),
    };
    let restricted = restricted.map(|all| access::restricted(caller, all));
    let context = Context {
        state,
        client,
        database,
        session,
        unit: None,
        snapshot: snapshot.as_deref(),
        caller,
        restricted: restricted.as_ref(),
        deadline: time.and_then(|time| Instant::now().checked_add(time)),
    };
    let operation = {
        let named = (database, command.name);
        state
            .operations
            .begin(client, context.user(), named, request.body)
    };
    let running = async {
        let running = run_in_session(command, context, arguments);
        match time {
            None => running.await,
            // It is how long the client waits for documents.
            Some(_) if name == "getMore" => running.await,
            Some(time) => match tokio::time::timeout(time, running).await {
                Ok(result) => result,
                Err(_) => Err(out_of_time()),
            },
        }
    };
    let mut reply = tokio::select! {
        biased;
        result = running => result,
        // The end of a transaction takes place, whether its client is told of it or not.
        () = operation.killed(), if !END_OF_TRANSACTION.contains(&name) => {
            Err(CommandError::new(code::INTERRUPTED, "operation was interrupted"))
        }
    }?;
    if let Some(unmet) = unmet {
        reply.append(cstr!("writeConcernError"), unmet.concern_error());
    }
    Ok(reply)
}

/// Commands that can be part of a transaction.
const IN_TRANSACTION: [&str; 14] = [
    "find",
    "getMore",
    "killCursors",
    "aggregate",
    "distinct",
    "insert",
    "update",
    "delete",
    "findAndModify",
    "findandmodify",
    "create",
    "createIndexes",
    END_OF_TRANSACTION[0],
    END_OF_TRANSACTION[1],
];

/// Commands that can read a snapshot outside of a transaction.
const READS_SNAPSHOTS: [&str; 3] = ["find", "aggregate", "distinct"];

/// Commands that end a transaction.
const END_OF_TRANSACTION: [&str; 2] = ["commitTransaction", "abortTransaction"];

/// Commands that a client sends again if it gets no answer.
const RETRYABLE: [&str; 5] = [
    "insert",
    "update",
    "delete",
    "findAndModify",
    "findandmodify",
];

/// Checks that a command can have its role in the session.
fn check_use(name: &str, session: Option<SessionUse>) -> Result<()> {
    let Some(SessionUse {
        number: Some(_),
        starts,
        ..
    }) = session
    else {
        return Ok(());
    };
    match starts {
        Some(_) if !IN_TRANSACTION.contains(&name) => {
            let message = format!("Cannot run '{name}' in a multi-document transaction.");
            Err(CommandError::new(code::NOT_IN_TRANSACTION, message))
        }
        None if !RETRYABLE.contains(&name) => {
            let message = "txnNumber may only be provided for multi-document transactions and retryable write commands";
            Err(CommandError::new(code::NOT_RETRYABLE, message))
        }
        _ => Ok(()),
    }
}

/// Runs a command, in the transaction of its session if it is part of one. The transaction ends with an error, and with a command that is
/// dropped.
async fn run_in_session<'a>(
    command: &Command,
    context: Context<'a>,
    arguments: Arguments<'a>,
) -> Result<RawDocumentBuf> {
    let Some(session) = context.session else {
        return command.run_in(context, arguments).await;
    };
    context.state.sessions.touch(session.id)?;
    if let Some(part) = session.retryable(0, 0) {
        let _turn = context
            .state
            .sessions
            .turn(session.id, part.command)
            .await?;
        return command.run_in(context, arguments).await;
    }
    if session.starts.is_none() || END_OF_TRANSACTION.contains(&command.name) {
        return command.run_in(context, arguments).await;
    }
    let sessions = &context.state.sessions;
    let data = (context.database, context.collections());
    let taken = sessions.transaction(session, data, context.rights());
    let taken = taken.await?;
    let unit = taken.collections();
    let unit = unit.map(|unit| access::restricted(context.caller, unit));
    let context = Context {
        unit: unit.as_ref(),
        ..context
    };
    let result = command.run_in(context, arguments).await;
    if let Ok(reply) = &result
        && reply.get("writeErrors")?.is_none()
    {
        taken.keep();
    }
    result.map_err(CommandError::in_transaction)
}

fn out_of_time() -> CommandError {
    CommandError::new(code::MAX_TIME_EXPIRED, "operation exceeded time limit")
}

/// The error of a command, or a stage, that reads no snapshot.
fn no_snapshot(what: &str) -> CommandError {
    let message = format!(
        "{what} does not support {{ readConcern: {{ level: \"snapshot\" }} }} :: caused by :: read concern not supported"
    );
    CommandError::new(code::INVALID_OPTIONS, message)
}

/// The arguments of every command.
struct Generic {
    /// How long it may take.
    time: Option<Duration>,
    /// The state that it reads, outside of a transaction.
    snapshot: Option<AskedSnapshot>,
}

/// Takes the arguments that every command has.
fn take_generic(
    state: &ServerState,
    client: &Client,
    arguments: &mut Arguments<'_>,
    is_in_transaction: bool,
) -> Result<Generic> {
    // What every command knows, and what means something only to servers of a cluster.
    for name in [
        "$readPreference",
        "$clusterTime",
        "$audit",
        "$client",
        "$configServerState",
        "$queryOptions",
        "$replData",
        "$oplogQueryData",
        "comment",
        "apiStrict",
        "apiDeprecationErrors",
        "mayBypassWriteBlocking",
        "maxTimeMSOpOnly",
        "stmtId",
    ] {
        arguments.ignore(name);
    }
    if let Some(version) = arguments.optional::<&str>("apiVersion")?
        && version != "1"
    {
        let message = format!("API version must be '1', and is '{version}'");
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    let snapshot = read_concern::take(state, client, arguments, is_in_transaction)?;
    let time = match arguments.whole("maxTimeMS", code::TYPE_MISMATCH)? {
        None | Some(0) => None,
        Some(time) => match u32::try_from(time) {
            Ok(time) if time <= i32::MAX.cast_unsigned() => {
                Some(Duration::from_millis(time.into()))
            }
            _ => {
                let message = format!(
                    "{time} value for maxTimeMS is out of range [0, {}]",
                    i32::MAX
                );
                return Err(CommandError::new(code::BAD_VALUE, message));
            }
        },
    };
    Ok(Generic { time, snapshot })
}
