//! The events of a change stream, in the form of MongoDB 8.0.

use odm::{
    bson::{DateTime, RawDocument, RawDocumentBuf, Timestamp, raw::cstr, rawdoc},
    store::contract::{CollectionChange, CommittedChange, DocumentChange, StoreCommit},
};

use super::{difference, token::Token};
use crate::error::Result;

/// The images of documents that a client requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Images {
    /// The document after an update.
    pub(crate) after: bool,
    /// The document before an update, a replacement or a delete.
    pub(crate) before: bool,
}

/// The fields of every event.
#[derive(Debug, Clone, Copy)]
struct Head {
    token: Token,
    time: Timestamp,
    at: DateTime,
}

impl Head {
    fn begin(self, operation: &str) -> RawDocumentBuf {
        let mut event = RawDocumentBuf::new();
        event.append(cstr!("_id"), self.token.to_document());
        event.append(cstr!("operationType"), operation);
        event.append(cstr!("clusterTime"), self.time);
        event.append(cstr!("wallTime"), self.at);
        event
    }
}

fn head(token: Token, commit: &StoreCommit) -> Head {
    Head {
        token,
        time: commit.time.into(),
        at: commit.at,
    }
}

/// The event of a change.
pub(super) fn of_change(
    token: Token,
    database: &str,
    commit: &StoreCommit,
    change: &CommittedChange,
    images: Images,
) -> Result<RawDocumentBuf> {
    let head = head(token, commit);
    match change {
        CommittedChange::Document { collection, change } => {
            of_document(head, database, collection, change, images)
        }
        CommittedChange::Collection(change) => Ok(of_collection(head, database, change)),
        CommittedChange::DropAll => {
            let mut event = head.begin("dropDatabase");
            event.append(cstr!("ns"), rawdoc! { "db": database });
            Ok(event)
        }
    }
}

/// The event after which a stream ends.
pub(super) fn invalidate(token: Token, commit: &StoreCommit) -> RawDocumentBuf {
    head(token, commit).begin("invalidate")
}

fn of_document(
    head: Head,
    database: &str,
    collection: &str,
    change: &DocumentChange,
    images: Images,
) -> Result<RawDocumentBuf> {
    let image = |image: &Option<std::sync::Arc<RawDocumentBuf>>| image.clone();
    let (before, after) = (image(&change.before), image(&change.after));
    let operation = match (&before, &after) {
        (None, _) => "insert",
        (Some(_), Some(_)) if change.is_replaced => "replace",
        (Some(_), Some(_)) => "update",
        (Some(_), None) => "delete",
    };
    let mut event = head.begin(operation);
    if let Some(after) = &after
        && (operation != "update" || images.after)
    {
        event.append(cstr!("fullDocument"), whole(after));
    }
    event.append(cstr!("ns"), rawdoc! { "db": database, "coll": collection });
    let mut key = RawDocumentBuf::new();
    let newest = after.as_deref().or(before.as_deref());
    if let Some(id) = newest.and_then(|image| image.get("_id").transpose()) {
        key.append(cstr!("_id"), id?);
    }
    event.append(cstr!("documentKey"), key);
    if let (Some(before), Some(after), "update") = (&before, &after, operation) {
        let description = difference::describe(before, after)?;
        event.append(cstr!("updateDescription"), description);
    }
    if let Some(before) = &before
        && images.before
    {
        event.append(cstr!("fullDocumentBeforeChange"), whole(before));
    }
    Ok(event)
}

fn whole(image: &RawDocumentBuf) -> &RawDocument {
    image
}

fn of_collection(head: Head, database: &str, change: &CollectionChange) -> RawDocumentBuf {
    let (operation, name, to) = match change {
        CollectionChange::Create { name, .. } => ("create", name, None),
        CollectionChange::Drop { name } => ("drop", name, None),
        CollectionChange::Replace { from, to } => ("rename", from, Some(to)),
    };
    let mut event = head.begin(operation);
    event.append(
        cstr!("ns"),
        rawdoc! { "db": database, "coll": name.as_str() },
    );
    if let Some(to) = to {
        event.append(cstr!("to"), rawdoc! { "db": database, "coll": to.as_str() });
    }
    event
}
