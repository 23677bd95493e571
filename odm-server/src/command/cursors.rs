//! `getMore` and `killCursors`, and the first batch of every cursor.

use odm::{
    bson::{RawArray, RawArrayBuf, RawBsonRef, RawDocumentBuf, Timestamp, raw::cstr, rawdoc},
    store::contract::CommitTime,
};

use super::{Access, Command, Context, access, aggregate::OF_DATABASE, change_stream, out_of_time};
use crate::{
    arguments::Arguments,
    auth::{Caller, UserDigest},
    cursor::{Batch, Cursor, Documents, TakenCursor},
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("getMore", Access::User, |context, arguments| {
        Box::pin(get_more(context, arguments))
    }),
    Command::new("killCursors", Access::User, |context, arguments| {
        Box::pin(async move { kill_cursors(context, arguments) })
    }),
];

/// The number of documents in the first batch, if the client does not say one.
const FIRST_BATCH: u64 = 101;

/// How a client wants the first batch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FirstBatch {
    pub(super) size: Option<u64>,
    /// No batch follows.
    pub(super) is_single: bool,
}

impl FirstBatch {
    /// Takes `{ batchSize }`, as all commands but `find` have it.
    pub(super) fn take(arguments: &mut Arguments<'_>) -> Result<Option<Self>> {
        let Some(mut cursor) = arguments.nested("cursor")? else {
            return Ok(None);
        };
        let size = cursor.count("batchSize")?;
        cursor.end()?;
        Ok(Some(FirstBatch {
            size,
            is_single: false,
        }))
    }

    /// Takes the same, which `aggregate` must have.
    pub(super) fn take_required(arguments: &mut Arguments<'_>) -> Result<Self> {
        FirstBatch::take(arguments)?.ok_or_else(|| {
            let message =
                "The 'cursor' option is required, except for aggregate with the explain argument";
            CommandError::new(code::FAILED_TO_PARSE, message)
        })
    }

    pub(super) fn size_or_default(self) -> Option<u64> {
        self.size.or(Some(FIRST_BATCH))
    }
}

/// The reply with the first batch of a cursor. The cursor is kept if there is more.
pub(super) async fn first(
    context: Context<'_>,
    mut cursor: Cursor,
    first: FirstBatch,
) -> Result<RawDocumentBuf> {
    let batch = cursor.batch(first.size_or_default()).await?;
    let at = context.snapshot.map(|snapshot| snapshot.time);
    let namespace = cursor.namespace();
    let id = match first.is_single || batch.is_last {
        true => 0,
        false => {
            cursor.user = context.user();
            cursor.session = context.session.map(|session| session.id);
            cursor.time_left = context.time_left();
            cursor.at = at;
            context.state.cursors.keep(cursor)?
        }
    };
    let mut reply = rawdoc! {};
    let mut cursor = rawdoc! {};
    cursor.append(cstr!("firstBatch"), &*batch.documents);
    cursor.append(cstr!("id"), id);
    cursor.append(cstr!("ns"), namespace);
    append_time(&mut cursor, at);
    reply.append(cstr!("cursor"), cursor);
    Ok(reply)
}

/// Adds the time of the snapshot that was read.
pub(super) fn append_time(reply: &mut RawDocumentBuf, at: Option<CommitTime>) {
    if let Some(at) = at {
        reply.append(cstr!("atClusterTime"), Timestamp::from(at));
    }
}

/// The reply with documents that were computed at once.
pub(super) async fn listed(
    context: Context<'_>,
    collection: &str,
    documents: Vec<RawDocumentBuf>,
    batch: FirstBatch,
) -> Result<RawDocumentBuf> {
    let documents = Documents::Listed(documents.into_iter());
    first(
        context,
        Cursor::new(context.database, collection, documents),
        batch,
    )
    .await
}

async fn get_more(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let id = match arguments.required::<RawBsonRef<'_>>("getMore")? {
        RawBsonRef::Int64(id) => id,
        other => return Err(arguments.wrong_type("getMore", other, "long")),
    };
    let collection: &str = arguments.required("collection")?;
    let size = arguments.count("batchSize")?.filter(|size| *size > 0);
    arguments.ignore("term");
    arguments.ignore("lastKnownCommittedOpTime");
    arguments.end()?;
    let mut taken = context.state.cursors.take(id)?;
    if let Err(error) = check_owner(context, id, collection, taken.cursor()) {
        taken.put_back()?;
        return Err(error);
    }
    if taken.cursor().changes().is_some() {
        return change_stream::more(context, id, taken, size).await;
    }
    if context.deadline.is_some() {
        taken.put_back()?;
        let message = "cannot set maxTimeMS on getMore command for a non-awaitData cursor";
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    let begun = std::time::Instant::now();
    let cursor = taken.cursor();
    let Batch { documents, is_last } = match cursor.time_left {
        None => cursor.batch(size).await?,
        Some(time) => tokio::time::timeout(time, cursor.batch(size))
            .await
            .map_err(|_| out_of_time())??,
    };
    let cursor = taken.cursor();
    cursor.time_left = cursor
        .time_left
        .map(|time| time.saturating_sub(begun.elapsed()));
    let (namespace, at) = (cursor.namespace(), cursor.at);
    match is_last {
        true => drop(taken),
        false => taken.put_back()?,
    }
    let mut cursor = rawdoc! {};
    cursor.append(cstr!("nextBatch"), &*documents);
    cursor.append(cstr!("id"), if is_last { 0 } else { id });
    cursor.append(cstr!("ns"), namespace);
    append_time(&mut cursor, at);
    Ok(rawdoc! { "cursor": cursor })
}

/// Checks that a cursor is of the collection and of the session that the client says.
fn check_owner(context: Context<'_>, id: i64, collection: &str, cursor: &Cursor) -> Result<()> {
    let Context {
        database, session, ..
    } = context;
    if (cursor.database.as_str(), cursor.collection.as_str()) != (database, collection) {
        let message = format!(
            "Requested getMore on namespace '{database}.{collection}', but cursor belongs to a different namespace {}",
            cursor.namespace()
        );
        return Err(CommandError::new(code::UNAUTHORIZED, message));
    }
    if let Some(caller) = context.caller {
        check_user(caller, id, cursor.user)?;
        if cursor.collection == OF_DATABASE && !caller.rights.can_read_all() {
            return context.check_read("getMore", OF_DATABASE);
        }
        for collection in &cursor.reads {
            context.check_read("getMore", collection)?;
        }
    }
    let (code, why) = match (session.map(|session| session.id), cursor.session) {
        (Some(_), None) => (
            code::CURSOR_WITHOUT_SESSION,
            "which was not created in a session, in a session",
        ),
        (None, Some(_)) => (
            code::CURSOR_OF_SESSION,
            "which was created in a session, without an lsid",
        ),
        (Some(session), Some(creator)) if session != creator => (
            code::CURSOR_OF_OTHER_SESSION,
            "which was created in another session, in this one",
        ),
        (_, _) => return Ok(()),
    };
    let message = format!("Cannot run getMore on cursor {id}, {why}");
    Err(CommandError::new(code, message))
}

/// Checks the same for a command that has waited meanwhile: its user may be removed, or may have lost the right.
pub(super) async fn check_owner_now(
    context: Context<'_>,
    id: i64,
    taken: &mut TakenCursor<'_>,
) -> Result<()> {
    if context.caller.is_none() {
        return Ok(());
    }
    let caller = context.client.authentication.caller(context.state).await?;
    let Some(caller) = &caller else {
        return Err(access::unauthenticated("getMore"));
    };
    let context = Context {
        caller: Some(caller),
        ..context
    };
    let cursor = taken.cursor();
    check_owner(context, id, &cursor.collection, cursor)
}

/// Checks that a cursor is of the user.
fn check_user(caller: &Caller, id: i64, owner: Option<UserDigest>) -> Result<()> {
    if owner == Some(caller.user.digest) {
        Ok(())
    } else {
        let message = format!("cursor {id} was not created by the authenticated user");
        Err(CommandError::new(code::UNAUTHORIZED, message))
    }
}

fn kill_cursors(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    // That of a cursor over collections or of a pipeline has a name that no collection has.
    let collection: &str = arguments.required("killCursors")?;
    let ids: &RawArray = arguments.required("cursors")?;
    arguments.end()?;
    let (mut killed, mut not_found) = (RawArrayBuf::new(), RawArrayBuf::new());
    for id in ids {
        let RawBsonRef::Int64(id) = id? else {
            let message = "BSON field 'killCursors.cursors' must have numbers of the type 'long'";
            return Err(CommandError::new(code::TYPE_MISMATCH, message));
        };
        if let Some(caller) = context.caller
            && let Some(owner) = context.state.cursors.user(id)
        {
            check_user(caller, id, owner)?;
        }
        let namespace = (context.database, collection);
        match context.state.cursors.kill(id, namespace) {
            true => killed.push(id),
            false => not_found.push(id),
        }
    }
    Ok(rawdoc! {
        "cursorsKilled": killed,
        "cursorsNotFound": not_found,
        "cursorsAlive": RawArrayBuf::new(),
        "cursorsUnknown": RawArrayBuf::new(),
    })
}
