//! Change streams: the commits of stores as events, from a place on.

mod difference;
mod event;
mod split;
mod token;

use std::{collections::VecDeque, fmt, sync::Arc, time::Instant};

use futures_util::future::{self, FutureExt};
use odm::{
    Collections, ErrorKind,
    bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf},
    mql::{self, Pipeline, PipelineRun, PipelineStep},
    store::contract::{CollectionChange, CommitTime, CommitWatch, CommittedChange, StoreCommit},
};

pub(crate) use self::{
    event::Images,
    token::{StreamId, Token},
};
use crate::error::{CommandError, Result, code};

/// The bytes of the events of a batch, unless it is one larger event.
const MAX_BATCH: usize = 16 << 20;

/// The bytes of the largest event that clients must be able to read: a document of 16 MiB and the event around it, as for MongoDB.
const MAX_EVENT: usize = MAX_BATCH + (16 << 10);

/// How many changes a batch looks at, however late it is.
const LOOKED_AT: usize = 1_000;

/// How many changes are looked at before others run.
const AT_ONCE: usize = 100;

/// The scope of a stream.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    Collection { database: String, name: String },
    Database(String),
    Deployment,
}

/// Where a stream begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    Now,
    /// With the commits of this time, and later ones.
    At(CommitTime),
    After(Token),
}

/// The changes of one or more stores, from a place on.
pub(crate) struct ChangeStream {
    scope: Scope,
    images: Images,
    id: StreamId,
    sources: Vec<Source>,
    /// The commit whose changes are shown.
    open: Option<OpenCommit>,
    /// The place after all that was shown or left out.
    place: Token,
    /// The events that come next, each with the place after it: one for which a batch had no room, fragments, and the last one.
    held: VecDeque<(RawDocumentBuf, Token)>,
    stages: PipelineRun,
    /// Whether an event that is too large comes in fragments.
    splits: bool,
    /// How many fragments of the next event are left out.
    skipped: usize,
    has_ended: bool,
}

/// A database whose commits are shown.
struct Source {
    database: Arc<str>,
    watch: CommitWatch,
    /// Its first commit that is not shown.
    next: Option<Arc<StoreCommit>>,
}

struct OpenCommit {
    database: Arc<str>,
    commit: Arc<StoreCommit>,
    /// How many changes are shown or left out.
    shown: usize,
}

/// Some events.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) documents: RawArrayBuf,
    /// The place after them.
    pub(crate) token: Token,
    /// No events follow.
    pub(crate) is_last: bool,
}

impl Scope {
    /// The name of the scope, which is in its tokens.
    fn id(&self) -> u32 {
        let name = match self {
            Scope::Collection { database, name } => format!("{database}.{name}"),
            Scope::Database(database) => format!("{database}."),
            Scope::Deployment => ".".to_owned(),
        };
        crc32c::crc32c(name.as_bytes())
    }

    fn has_database(&self, name: &str) -> bool {
        match self {
            Scope::Collection { database, .. } | Scope::Database(database) => database == name,
            Scope::Deployment => true,
        }
    }

    fn has(&self, change: &CommittedChange) -> bool {
        let Scope::Collection { name, .. } = self else {
            return true;
        };
        match change {
            CommittedChange::Document { collection, .. } => **collection == **name,
            CommittedChange::Collection(_) | CommittedChange::DropAll => self.is_ended_by(change),
        }
    }

    /// Whether the scope is gone after a change.
    fn is_ended_by(&self, change: &CommittedChange) -> bool {
        let name = match self {
            Scope::Collection { name, .. } => name,
            Scope::Database(_) => return matches!(change, CommittedChange::DropAll),
            Scope::Deployment => return false,
        };
        match change {
            CommittedChange::Document { .. }
            | CommittedChange::DropAll
            | CommittedChange::Collection(CollectionChange::Create { .. }) => false,
            CommittedChange::Collection(CollectionChange::Drop { name: dropped }) => {
                dropped == name
            }
            CommittedChange::Collection(CollectionChange::Replace { from, to }) => {
                from == name || to == name
            }
        }
    }
}

impl ChangeStream {
    /// Begins a stream of the databases that it concerns.
    pub(crate) async fn begin(
        databases: impl Iterator<Item = (&String, &Collections)>,
        scope: Scope,
        images: Images,
        start: Start,
        (pipeline, splits): (Pipeline, bool),
    ) -> Result<Self> {
        let after = match start {
            Start::Now => None,
            Start::At(time) if time.is_passed_over() => {
                return Err(lost("the time is one of another process"));
            }
            Start::At(time) => Some(time.before()),
            // The commit of the place is read again, for what follows in it.
            Start::After(token) if token.shown().is_some() => Some(token.time.before()),
            Start::After(token) => Some(token.time),
        };
        let namespace = scope.id();
        if let Start::After(token) = start
            && token.stream.namespace != namespace
        {
            let message =
                "the resume token belongs to a change stream of another collection or database";
            return Err(CommandError::new(code::INVALID_RESUME_TOKEN, message));
        }
        let mut watched = Vec::new();
        for (name, collections) in databases.filter(|(name, _)| scope.has_database(name)) {
            let watch = collections.watch_commits(None).await;
            watched.push((name, collections, watch.map_err(of_store)?));
        }
        // All stores record their commits by now, so that none after this place is missed.
        let after = after.unwrap_or_else(CommitTime::newest);
        let mut sources = Vec::new();
        let mut stores = 0;
        for (name, collections, _recording) in &watched {
            let watch = collections.watch_commits(Some(after)).await;
            let watch = watch.map_err(of_store)?;
            stores = crc32c::crc32c_append(stores, &watch.store().to_be_bytes());
            sources.push(Source {
                database: name.as_str().into(),
                watch,
                next: None,
            });
        }
        let id = StreamId { namespace, stores };
        if let Start::After(token) = start
            && token.stream != id
        {
            return Err(lost(
                "the resume token was made before the store was opened",
            ));
        }
        let mut stream = ChangeStream {
            scope,
            images,
            id,
            sources,
            open: None,
            place: Token::whole(after, id),
            held: VecDeque::new(),
            stages: pipeline.begin(Pipeline::MEMORY_LIMIT),
            splits,
            skipped: 0,
            has_ended: false,
        };
        if let Start::After(token) = start
            && let Some(shown) = token.shown()
        {
            stream.go_on(token, shown)?;
        }
        Ok(stream)
    }

    /// Goes on within a commit.
    fn go_on(&mut self, token: Token, shown: usize) -> Result<()> {
        let not_found = || {
            let message = "cannot resume stream; the resume token was not found.";
            CommandError::new(code::CHANGE_STREAM_FATAL_ERROR, message)
        };
        let mut open = self.take(CommitTime::newest())?.ok_or_else(not_found)?;
        let last = shown.checked_sub(1);
        let last = last.and_then(|at| open.commit.changes.get(at));
        if open.commit.time != token.time || (shown > 0 && last.is_none()) {
            return Err(not_found());
        }
        open.shown = shown;
        self.place = token;
        self.skipped = token.fragments.into();
        let is_ended = last.is_some_and(|change| self.scope.is_ended_by(change));
        if is_ended && !token.is_invalidate {
            let token = token.invalidate();
            let event = event::invalidate(token, &open.commit);
            let event = self.pass(event, token)?;
            self.held.extend(event.map(|event| (event, token)));
            self.has_ended = true;
        }
        self.open = Some(open);
        Ok(())
    }

    /// Reads the next events: so many of them, or as many as fit. If there are none, waits for some until a time.
    pub(crate) async fn batch(
        &mut self,
        size: Option<u64>,
        deadline: Option<Instant>,
    ) -> Result<Events> {
        let mut documents = RawArrayBuf::new();
        let (mut number, mut bytes) = (0_u64, 0_usize);
        let mut looked_at = 0;
        loop {
            let until = CommitTime::newest();
            while size.is_none_or(|size| number < size) {
                let Some((event, token)) = self.next(until, deadline, &mut looked_at).await? else {
                    break;
                };
                bytes = bytes.saturating_add(event.as_bytes().len());
                if number > 0 && bytes > MAX_BATCH {
                    self.held.push_front((event, token));
                    break;
                }
                documents.push(event);
                number = number.saturating_add(1);
                self.place = token;
            }
            let is_last = self.has_ended && self.held.is_empty();
            let is_late = deadline.is_none_or(|deadline| deadline <= Instant::now());
            if number > 0 || is_last || is_late || size == Some(0) {
                return Ok(Events {
                    documents,
                    token: self.place,
                    is_last,
                });
            }
            if let Some(deadline) = deadline {
                // Late or not, the commits until then are looked at.
                let _ = tokio::time::timeout_at(deadline.into(), changed(&self.sources)).await;
            }
        }
    }

    /// The next event up to a time, with the place after it. After a deadline there is none, once enough changes were looked at.
    async fn next(
        &mut self,
        until: CommitTime,
        deadline: Option<Instant>,
        looked_at: &mut usize,
    ) -> Result<Option<(RawDocumentBuf, Token)>> {
        loop {
            if let Some(held) = self.held.pop_front() {
                return Ok(Some(held));
            }
            if self.has_ended {
                return Ok(None);
            }
            *looked_at = looked_at.saturating_add(1);
            if looked_at.is_multiple_of(AT_ONCE) {
                tokio::task::yield_now().await;
                let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
                if is_late && *looked_at >= LOOKED_AT {
                    if let Some(open) = &self.open {
                        self.place = Token::within(open.commit.time, open.shown, self.id);
                    }
                    return Ok(None);
                }
            }
            let Some(open) = &mut self.open else {
                self.open = self.take(until)?;
                if self.open.is_none() {
                    let time = until.max(self.place.time);
                    self.place = Token::whole(time, self.id);
                    return Ok(None);
                }
                continue;
            };
            let (commit, database, at) = (open.commit.clone(), open.database.clone(), open.shown);
            let Some(change) = commit.changes.get(at) else {
                self.place = Token::whole(commit.time, self.id);
                self.open = None;
                continue;
            };
            open.shown = at.saturating_add(1);
            if !self.scope.has(change) {
                continue;
            }
            let ends = self.scope.is_ended_by(change);
            let token = if open.shown == commit.changes.len() && !ends {
                Token::whole(commit.time, self.id)
            } else {
                Token::within(commit.time, open.shown, self.id)
            };
            let event = event::of_change(token, &database, &commit, change, self.images)?;
            let event = self.pass(event, token)?;
            let skipped = std::mem::take(&mut self.skipped);
            match event {
                Some(event) if is_too_large(&event) => {
                    let within = Token::within(commit.time, at, self.id);
                    let fragments = split::split(&event, within, token)?;
                    self.held.extend(fragments.into_iter().skip(skipped));
                }
                Some(event) => self.held.push_back((event, token)),
                None => self.place = token,
            }
            if ends {
                self.has_ended = true;
                let last = token.invalidate();
                let invalidate = self.pass(event::invalidate(last, &commit), last)?;
                self.held.extend(invalidate.map(|event| (event, last)));
            }
        }
    }

    /// Passes an event through the stages, which may leave it out.
    fn pass(&mut self, event: RawDocumentBuf, token: Token) -> Result<Option<RawDocumentBuf>> {
        self.stages.push(vec![event]);
        let mut passed = None;
        loop {
            match self.stages.step_of_any_size()? {
                PipelineStep::Documents(documents) => passed = documents.into_iter().next_back(),
                PipelineStep::Read | PipelineStep::Done => break,
                PipelineStep::Lookup(_) | PipelineStep::Union(_) | PipelineStep::MoreOfUnion => {
                    let message = "a stage that reads collections is not permitted in a $changeStream pipeline";
                    return Err(CommandError::new(code::ILLEGAL_OPERATION, message));
                }
            }
        }
        if let Some(event) = &passed {
            check_id(event, &token.to_document())?;
            let size = event.as_bytes().len();
            if is_too_large(event) && !self.splits {
                let message = format!(
                    "BSONObj size: {size} is invalid. Size must be between 0 and {MAX_EVENT}(16MB): ask for fewer images, or leave out \
                     fields of the event by a stage"
                );
                return Err(CommandError::new(code::BSON_OBJECT_TOO_LARGE, message));
            }
        }
        Ok(passed)
    }

    /// Takes the next commit of all sources up to a time.
    fn take(&mut self, until: CommitTime) -> Result<Option<OpenCommit>> {
        for source in &mut self.sources {
            if source.next.is_none() {
                source.next = source.watch.take(until).map_err(of_store)?;
            }
        }
        let time = |source: &&mut Source| source.next.as_ref().map(|commit| commit.time);
        let ready = self
            .sources
            .iter_mut()
            .filter(|source| source.next.is_some());
        let first = ready.min_by_key(time);
        Ok(first.and_then(|source| {
            Some(OpenCommit {
                database: source.database.clone(),
                commit: source.next.take()?,
                shown: 0,
            })
        }))
    }
}

fn is_too_large(event: &RawDocument) -> bool {
    event.as_bytes().len() > MAX_EVENT
}

/// Waits until a source has a commit, or an error.
async fn changed(sources: &[Source]) {
    let changes = sources.iter().map(|source| source.watch.changed().boxed());
    let changes: Vec<_> = changes.collect();
    if changes.is_empty() {
        future::pending().await
    } else {
        future::select_all(changes).await;
    }
}

impl fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream")
            .field("scope", &self.scope)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Checks that the stages have left the token of an event as it was.
fn check_id(event: &RawDocument, token: &RawDocument) -> Result<()> {
    let id = event.get("_id")?;
    if matches!(id, Some(RawBsonRef::Document(id)) if id.as_bytes() == token.as_bytes()) {
        return Ok(());
    }
    let shown = |id: RawBsonRef<'_>| format!("{{ _id: {} }}", mql::show(id));
    let found = id.map_or_else(|| "{}".to_owned(), shown);
    let message = format!(
        "Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an \
         event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are \
         allowed. Expected: {} but found: {found}",
        shown(RawBsonRef::Document(token))
    );
    Err(CommandError::new(code::CHANGE_STREAM_FATAL_ERROR, message))
}

fn lost(why: &str) -> CommandError {
    let message = format!(
        "Resume of change stream was not possible, as the resume point may no longer be in the oplog: {why}"
    );
    CommandError::new(code::CHANGE_STREAM_HISTORY_LOST, message)
}

fn of_store(error: odm::Error) -> CommandError {
    match error.kind() {
        ErrorKind::Lagged => lost(&error.to_string()),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests;
