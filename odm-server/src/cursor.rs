//! Results that clients read in several batches.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
    vec,
};

use odm::{
    bson::{RawArrayBuf, RawDocumentBuf, Uuid},
    collections::{AggregateCursor, DocumentCursor},
    store::contract::CommitTime,
};

use tokio::sync::Notify;

use crate::{
    auth::UserDigest,
    changes::ChangeStream,
    error::{CommandError, Result, code},
    session::SessionId,
};

/// The bytes of the documents of a batch, unless it is one larger document.
const MAX_BATCH: usize = 16 << 20;

/// How long a cursor that nobody reads holds its state of the data.
const STATE_LIFE: Duration = Duration::from_secs(10);

/// The result of a query that is not read yet.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) database: String,
    pub(crate) collection: String,
    pub(crate) session: Option<SessionId>,
    /// The user who reads it.
    pub(crate) user: Option<UserDigest>,
    /// The collections whose documents it passes.
    pub(crate) reads: Vec<String>,
    documents: Documents,
    /// A document that no batch has had room for.
    held: Option<RawDocumentBuf>,
    /// How many documents are left, if the query limits them.
    left: Option<u64>,
    /// How much time is left of the limit of the query.
    pub(crate) time_left: Option<Duration>,
    /// The time of the snapshot that it reads.
    pub(crate) at: Option<CommitTime>,
}

/// Where the documents of a cursor come from.
#[derive(Debug)]
pub(crate) enum Documents {
    Stored(Box<DocumentCursor>),
    Aggregated(Box<AggregateCursor>),
    Listed(vec::IntoIter<RawDocumentBuf>),
    /// A change stream, which clients read by batches of events.
    Changes(Box<ChangeStream>),
}

/// Some documents of a cursor.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) documents: RawArrayBuf,
    /// No documents follow.
    pub(crate) is_last: bool,
}

impl Cursor {
    pub(crate) fn new(database: &str, collection: &str, documents: Documents) -> Self {
        Cursor {
            database: database.to_owned(),
            collection: collection.to_owned(),
            session: None,
            user: None,
            reads: Vec::new(),
            documents,
            held: None,
            left: None,
            time_left: None,
            at: None,
        }
    }

    /// Sets the number of documents that the query returns at most.
    pub(crate) fn with_limit(mut self, limit: Option<u64>) -> Self {
        self.left = limit;
        self
    }

    /// The change stream that it reads, if it is one.
    pub(crate) fn changes(&mut self) -> Option<&mut ChangeStream> {
        match &mut self.documents {
            Documents::Changes(stream) => Some(stream),
            Documents::Stored(_) | Documents::Aggregated(_) | Documents::Listed(_) => None,
        }
    }

    /// Sets the collections that it reads.
    pub(crate) fn reading(mut self, collections: impl IntoIterator<Item = String>) -> Self {
        self.reads.extend(collections);
        self
    }

    pub(crate) fn namespace(&self) -> String {
        format!("{}.{}", self.database, self.collection)
    }

    /// Reads the next documents: so many of them, or as many as fit.
    pub(crate) async fn batch(&mut self, size: Option<u64>) -> Result<Batch> {
        let mut documents = RawArrayBuf::new();
        let (mut number, mut bytes) = (0, 0);
        while size.is_none_or(|size| number < size) && self.left != Some(0) {
            let next = match self.held.take() {
                Some(held) => Some(held),
                None => self.documents.next().await?,
            };
            let Some(document) = next else {
                return Ok(Batch {
                    documents,
                    is_last: true,
                });
            };
            bytes += document.as_bytes().len();
            if number > 0 && bytes > MAX_BATCH {
                self.held = Some(document);
                break;
            }
            documents.push(document);
            number += 1;
            self.left = self.left.map(|left| left - 1);
        }
        let is_last = self.left == Some(0);
        Ok(Batch { documents, is_last })
    }
}

impl Documents {
    /// The next document. `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RawDocumentBuf>> {
        match self {
            Documents::Stored(documents) => Ok(documents.try_next().await?),
            Documents::Aggregated(documents) => Ok(documents.try_next().await?),
            Documents::Listed(documents) => Ok(documents.next()),
            Documents::Changes(_) => Ok(None),
        }
    }
}

/// The open cursors of a server.
#[derive(Debug)]
pub(crate) struct Cursors {
    open: Mutex<HashMap<i64, Slot>>,
    limit: usize,
    /// Tells the readers of cursors that some were closed.
    killed: Notify,
}

#[derive(Debug)]
enum Slot {
    Idle {
        cursor: Box<Cursor>,
        since: Instant,
    },
    InUse {
        session: Option<SessionId>,
        user: Option<UserDigest>,
        database: String,
        collection: String,
    },
}

impl Cursors {
    pub(crate) fn new(limit: usize) -> Self {
        Cursors {
            open: Mutex::default(),
            limit,
            killed: Notify::new(),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<i64, Slot>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.open().len()
    }

    /// Keeps a cursor, and returns its number.
    pub(crate) fn keep(&self, cursor: Cursor) -> Result<i64> {
        let mut open = self.open();
        if open.len() >= self.limit {
            let message = format!(
                "there are {} open cursors, which is the limit: read or close others",
                open.len()
            );
            return Err(CommandError::new(code::EXCEEDED_MEMORY_LIMIT, message));
        }
        let slot = Slot::Idle {
            cursor: Box::new(cursor),
            since: Instant::now(),
        };
        let id = loop {
            let id = random_id();
            if id != 0 && !open.contains_key(&id) {
                break id;
            }
        };
        open.insert(id, slot);
        Ok(id)
    }

    /// Takes a cursor to read it. It is closed when it is dropped.
    pub(crate) fn take(&self, id: i64) -> Result<TakenCursor<'_>> {
        let mut open = self.open();
        let Some(slot) = open.get_mut(&id) else {
            let message = format!("cursor id {id} not found");
            return Err(CommandError::new(code::CURSOR_NOT_FOUND, message));
        };
        let in_use = match slot {
            Slot::Idle { cursor, .. } => Slot::InUse {
                session: cursor.session,
                user: cursor.user,
                database: cursor.database.clone(),
                collection: cursor.collection.clone(),
            },
            Slot::InUse { .. } => {
                let message = format!("cursor id {id} is already in use");
                return Err(CommandError::new(code::CURSOR_IN_USE, message));
            }
        };
        match std::mem::replace(slot, in_use) {
            Slot::Idle { cursor, .. } => Ok(TakenCursor {
                cursors: self,
                id,
                cursor: Some(cursor),
            }),
            Slot::InUse { .. } => unreachable!("the slot was looked at under the same lock"),
        }
    }

    /// The user of a cursor, if it is open.
    pub(crate) fn user(&self, id: i64) -> Option<Option<UserDigest>> {
        self.open().get(&id).map(|slot| match slot {
            Slot::Idle { cursor, .. } => cursor.user,
            Slot::InUse { user, .. } => *user,
        })
    }

    /// Closes a cursor of a collection of a database, and returns whether it was open.
    pub(crate) fn kill(&self, id: i64, namespace: (&str, &str)) -> bool {
        let mut open = self.open();
        let found = open.get(&id).map(|slot| match slot {
            Slot::Idle { cursor, .. } => (cursor.database.as_str(), cursor.collection.as_str()),
            Slot::InUse {
                database,
                collection,
                ..
            } => (database.as_str(), collection.as_str()),
        });
        let is_killed = found == Some(namespace) && open.remove(&id).is_some();
        drop(open);
        self.killed.notify_waiters();
        is_killed
    }

    /// Tells of closed cursors.
    pub(crate) fn killed(&self) -> &Notify {
        &self.killed
    }

    pub(crate) fn is_open(&self, id: i64) -> bool {
        self.open().contains_key(&id)
    }

    /// Closes the cursors of a session.
    pub(crate) fn end_session(&self, ended: SessionId) {
        self.open().retain(|_, slot| {
            let session = match slot {
                Slot::Idle { cursor, .. } => cursor.session,
                Slot::InUse { session, .. } => *session,
            };
            session != Some(ended)
        });
        self.killed.notify_waiters();
    }

    /// Closes the cursors that nobody has read for this long, and releases the states of the store that the others hold.
    pub(crate) fn sweep(&self, idle: Duration) {
        self.open().retain(|_, slot| match slot {
            Slot::InUse { .. } => true,
            Slot::Idle { cursor, since } => {
                if since.elapsed() > STATE_LIFE
                    && let Documents::Stored(documents) = &mut cursor.documents
                {
                    documents.release();
                }
                since.elapsed() <= idle
            }
        });
    }
}

/// A number that no other client can guess.
fn random_id() -> i64 {
    let bytes = Uuid::new().bytes();
    let (_, last) = bytes.split_last_chunk::<8>().expect("a UUID has 16 bytes");
    i64::from_le_bytes(*last) & i64::MAX
}

/// A cursor that a command reads.
#[derive(Debug)]
pub(crate) struct TakenCursor<'c> {
    cursors: &'c Cursors,
    id: i64,
    /// `None` once it is put back.
    cursor: Option<Box<Cursor>>,
}

impl TakenCursor<'_> {
    pub(crate) fn cursor(&mut self) -> &mut Cursor {
        self.cursor
            .as_mut()
            .expect("only `put_back`, which consumes, takes it")
    }

    /// Keeps the cursor open.
    ///
    /// # Errors
    ///
    /// It was killed while it was read.
    pub(crate) fn put_back(mut self) -> Result<()> {
        let cursor = self.cursor.take();
        let mut open = self.cursors.open();
        match (open.get_mut(&self.id), cursor) {
            (Some(slot), Some(cursor)) => {
                *slot = Slot::Idle {
                    cursor,
                    since: Instant::now(),
                };
                Ok(())
            }
            (None, _) | (_, None) => {
                let message = format!("cursor id {} was killed", self.id);
                Err(CommandError::new(code::CURSOR_KILLED, message))
            }
        }
    }
}

impl Drop for TakenCursor<'_> {
    fn drop(&mut self) {
        if self.cursor.is_some() {
            self.cursors.open().remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests;
