//! `$changeStream`, and the batches of its cursors.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use odm::{
    bson::{Document, RawArray, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp, raw::cstr},
    mql::{Pipeline, Variables},
};

use super::{
    Context, access, aggregate,
    cursors::{self, FirstBatch},
    namespace,
};
use crate::{
    arguments::Arguments,
    changes::{ChangeStream, Events, Images, Scope, Start, Token},
    cursor::{Cursor, Cursors, Documents, TakenCursor},
    error::{CommandError, RESUMABLE, Result, code},
};

/// How long a `getMore` waits for events, if the client does not say it.
const WAIT: Duration = Duration::from_secs(1);

/// The stages that can stand behind `$changeStream`.
const PERMITTED: [&str; 8] = [
    "$addFields",
    "$set",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$unset",
];

/// The stage, if a pipeline begins with it.
pub(super) fn asked<'a>(arguments: &Arguments<'a>) -> Option<&'a RawDocument> {
    let pipeline: &'a RawArray = arguments.look("pipeline")?;
    let first = pipeline.into_iter().next()?.ok()?.as_document()?;
    match first.iter().next()?.ok()? {
        (name, RawBsonRef::Document(stage)) if name.as_str() == "$changeStream" => Some(stage),
        _ => None,
    }
}

/// The arguments of `$changeStream`.
struct Asked {
    is_of_deployment: bool,
    images: Images,
    start: Start,
}

impl Asked {
    fn take(stage: &RawDocument) -> Result<Self> {
        let mut options = Arguments::of("$changeStream", stage)?;
        let is_of_deployment = options.flag("allChangesForCluster")?;
        options.refuse_true("showExpandedEvents")?;
        let after = one_of(
            &mut options,
            "fullDocument",
            &["default", "updateLookup", "whenAvailable", "required"],
        )?;
        let before = one_of(
            &mut options,
            "fullDocumentBeforeChange",
            &["off", "whenAvailable", "required"],
        )?;
        let resume = options.optional::<&RawDocument>("resumeAfter")?;
        let start = options.optional::<&RawDocument>("startAfter")?;
        let time = options.optional::<Timestamp>("startAtOperationTime")?;
        options.end()?;
        let start = match (resume, start, time) {
            (None, None, None) => Start::Now,
            (None, None, Some(time)) => Start::At(time.into()),
            (Some(token), None, None) => {
                let token = Token::parse(token)?;
                if token.is_invalidate {
                    let message = "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.";
                    return Err(CommandError::new(code::INVALID_RESUME_TOKEN, message));
                }
                Start::After(token)
            }
            (None, Some(token), None) => Start::After(Token::parse(token)?),
            _ => {
                let message = "Only one type of resume option is allowed, but multiple were found.";
                return Err(CommandError::new(code::SEVERAL_RESUME_OPTIONS, message));
            }
        };
        Ok(Asked {
            is_of_deployment,
            images: Images {
                after: after.is_some_and(|after| after != "default"),
                before: before.is_some_and(|before| before != "off"),
            },
            start,
        })
    }
}

/// Takes one of some texts.
fn one_of<'a>(options: &mut Arguments<'a>, name: &str, values: &[&str]) -> Result<Option<&'a str>> {
    let value = options.optional::<&str>(name)?;
    if let Some(value) = value
        && !values.contains(&value)
    {
        let message = format!(
            "Enumeration value '{value}' for field '$changeStream.{name}' is not a valid value."
        );
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    Ok(value)
}

/// The last stage, if large events are to be split.
const SPLIT: &str = "$changeStreamSplitLargeEvent";

/// The stages behind `$changeStream`, and whether large events are split behind these.
fn stages_of(mut stages: Vec<Document>, variables: &Variables) -> Result<(Pipeline, bool)> {
    stages.remove(0);
    let last = stages.pop_if(|stage| stage.contains_key(SPLIT));
    let options = last.as_ref().and_then(|last| last.get_document(SPLIT).ok());
    if last.is_some() && options.is_none_or(|options| !options.is_empty()) {
        let message = format!("{SPLIT} spec should be an empty object");
        return Err(CommandError::new(code::SPLIT_NOT_EMPTY, message));
    }
    for stage in &stages {
        let name = stage.keys().next().map_or("", String::as_str);
        if PERMITTED.contains(&name) {
            continue;
        }
        if name == "$changeStream" {
            return Err(misplaced());
        }
        if name == SPLIT {
            let message = format!("{SPLIT} must be the last stage in the pipeline");
            return Err(CommandError::new(code::SPLIT_NOT_LAST, message));
        }
        if let Err(error) = Pipeline::parse(std::slice::from_ref(stage), variables)
            && matches!(error, odm::mql::Error::UnknownStage(_))
        {
            return Err(error.into());
        }
        let message = format!("{name} is not permitted in a $changeStream pipeline");
        return Err(CommandError::new(code::ILLEGAL_OPERATION, message));
    }
    Ok((Pipeline::parse(&stages, variables)?, last.is_some()))
}

/// The error of `$changeStream` at another place than the first one.
pub(super) fn misplaced() -> CommandError {
    let message = "$changeStream is only valid as the first stage in a pipeline";
    CommandError::new(code::STAGE_NOT_FIRST, message)
}

/// The scope of a stream, by the collection that `aggregate` names.
fn scope_of(context: Context<'_>, name: &str, is_of_deployment: bool) -> Result<Scope> {
    let database = context.database;
    let is_of_database = name == aggregate::OF_DATABASE;
    let invalid = |what: &str| {
        let message = format!("$changeStream may not be opened on the internal {what}");
        Err(CommandError::new(code::INVALID_NAMESPACE, message))
    };
    if is_of_deployment && !(database == "admin" && is_of_database) {
        let message = format!(
            "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; \
             found {database}.{name}"
        );
        return Err(CommandError::new(code::INVALID_OPTIONS, message));
    }
    if is_of_deployment {
        // A user has rights on one database.
        let is_own = |name: &String| {
            context
                .caller
                .is_none_or(|caller| *name == caller.user.database)
        };
        return if context.state.databases.keys().all(is_own) {
            Ok(Scope::Deployment)
        } else {
            Err(access::refused(database, "aggregate", None))
        };
    }
    if super::VIRTUAL.contains(&database) {
        return invalid(&format!("{database} database"));
    }
    if is_of_database {
        return Ok(Scope::Database(database.to_owned()));
    }
    // The library writes to its own collections past the changes.
    if name.starts_with("system.") || name.starts_with("_odm") {
        return invalid(&format!("{database}.{name} collection"));
    }
    Ok(Scope::Collection {
        database: database.to_owned(),
        name: name.to_owned(),
    })
}

/// Opens the cursor of a change stream.
pub(super) async fn open(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
    stage: &RawDocument,
) -> Result<RawDocumentBuf> {
    let collection = aggregate::take_collection(context, &mut arguments)?;
    if arguments.is_of_view() {
        return Err(namespace::view_not_supported(context, collection));
    }
    arguments.take_variables()?;
    let stages = aggregate::stages(arguments.required("pipeline")?)?;
    let first = FirstBatch::take_required(&mut arguments)?;
    arguments.simple_collation()?;
    arguments.refuse("hint")?;
    arguments.flag("bypassDocumentValidation")?;
    arguments.refuse_true("explain")?;
    arguments.ignore("allowDiskUse");
    let asked = Asked::take(stage)?;
    let scope = scope_of(context, collection, asked.is_of_deployment)?;
    let pipeline = stages_of(stages, arguments.variables())?;
    arguments.end()?;
    if context.unit.is_some()
        || context
            .session
            .is_some_and(|session| session.starts.is_some())
    {
        let message = "Stage not supported inside of a multi-document transaction: $changeStream";
        return Err(CommandError::new(code::NOT_IN_TRANSACTION, message));
    }
    if !context.client.is_member(context.state) {
        let message = "The $changeStream stage is only supported on replica sets";
        return Err(CommandError::new(code::ONLY_ON_REPLICA_SETS, message));
    }
    let databases = context.state.databases.iter();
    let stream = ChangeStream::begin(databases, scope, asked.images, asked.start, pipeline);
    let mut stream = stream.await.map_err(CommandError::in_change_stream)?;
    let events = stream.batch(first.size_or_default(), None).await;
    let events = events.map_err(CommandError::in_change_stream)?;
    let mut cursor = Cursor::new(
        context.database,
        collection,
        Documents::Changes(Box::new(stream)),
    );
    if collection != aggregate::OF_DATABASE {
        cursor = cursor.reading([collection.to_owned()]);
    }
    let namespace = cursor.namespace();
    let id = if events.is_last {
        0
    } else {
        cursor.session = context.session.map(|session| session.id);
        cursor.user = context.user();
        context.state.cursors.keep(cursor)?
    };
    Ok(reply(events, id, namespace, true))
}

/// The next batch of the cursor of a change stream. It waits for events.
pub(super) async fn more(
    context: Context<'_>,
    id: i64,
    mut taken: TakenCursor<'_>,
    size: Option<u64>,
) -> Result<RawDocumentBuf> {
    let deadline = Instant::now().checked_add(context.time_left().unwrap_or(WAIT));
    let namespace = taken.cursor().namespace();
    let Some(stream) = taken.cursor().changes() else {
        let message = format!("cursor id {id} is not one of a change stream");
        return Err(CommandError::new(code::BAD_VALUE, message));
    };
    let open = &context.state.cursors;
    let events = tokio::select! {
        biased;
        () = context.state.until_end() => {
            let message = "interrupted at shutdown";
            return Err(CommandError::new(code::INTERRUPTED_AT_SHUTDOWN, message).with_label(RESUMABLE));
        }
        () = until_killed(open, id) => {
            let message = format!("cursor id {id} was killed");
            return Err(CommandError::new(code::CURSOR_KILLED, message));
        }
        events = stream.batch(size, deadline) => events.map_err(CommandError::in_change_stream)?,
    };
    cursors::check_owner_now(context, id, &mut taken).await?;
    let id = if events.is_last {
        drop(taken);
        0
    } else {
        taken.put_back()?;
        id
    };
    Ok(reply(events, id, namespace, false))
}

/// Waits until a cursor is closed by others than its reader.
async fn until_killed(cursors: &Cursors, id: i64) {
    loop {
        let mut killed = pin!(cursors.killed().notified());
        killed.as_mut().enable();
        if !cursors.is_open(id) {
            return;
        }
        killed.await;
    }
}

fn reply(events: Events, id: i64, namespace: String, is_first: bool) -> RawDocumentBuf {
    let batch = if is_first {
        cstr!("firstBatch")
    } else {
        cstr!("nextBatch")
    };
    let mut cursor = RawDocumentBuf::new();
    cursor.append(batch, events.documents);
    cursor.append(cstr!("postBatchResumeToken"), events.token.to_document());
    cursor.append(cstr!("id"), id);
    cursor.append(cstr!("ns"), namespace);
    let mut reply = RawDocumentBuf::new();
    reply.append(cstr!("cursor"), cursor);
    reply
}
