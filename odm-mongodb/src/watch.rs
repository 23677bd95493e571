//! Watches of a collection, by change streams.
//!
//! A server shows each statement of a transaction as an event of its own, after the commit, with the document before and after it if it
//! keeps both for the collection. A watch makes it keep them from then on. A stream that ends goes on after its token, on the member that
//! is then primary; if the server cannot go on, the watch says that changes are missing, and goes on from now.
//!
//! Shapes and errors are from MongoDB's manual, "Change Events" and "Change Streams".

use std::{pin::pin, sync::Arc, time::Duration};

use ::mongodb::{
    Collection, Database,
    bson::{Bson, Document, RawDocumentBuf, doc},
    change_stream::{ChangeStream, event::ResumeToken as ServerToken},
    error::{Error as DriverError, Result as DriverResult},
    options::{FullDocumentBeforeChangeType, FullDocumentType, ReadConcern},
};
use bson::{RawBsonRef, RawDocument};
use futures_util::{
    future::{Either, select},
    stream::{StreamExt, TryStreamExt, unfold},
};
use odm_mql::Filter;
use odm_store::{
    Cause, DocumentChange, Error, ErrorKind, Result, ResumeToken, StoreWatch, WatchRequest,
    WatchedChange,
};
use tokio::sync::watch;

use super::{
    Connection,
    error::{About, caused, code, code_of, translate},
};

/// How long a stream that cannot be opened again waits before the next try.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a stream is opened anew if the server shows an event before it tells where the stream has begun.
const OPENED: usize = 10;

const BEFORE: &str = "fullDocumentBeforeChange";
const AFTER: &str = "fullDocument";

/// The events of a collection. It does not keep the store open.
struct Events {
    database: Database,
    collection: Collection<RawDocumentBuf>,
    pipeline: Vec<Document>,
    /// `None` until it is opened again.
    stream: Option<ChangeStream<RawDocumentBuf>>,
    /// The place where it goes on then. `None` for the changes from then on.
    token: Option<ServerToken>,
    /// The number of errors since the last answer. The first one may be of a member that goes away.
    failures: u32,
    closed: watch::Receiver<bool>,
}

/// Begins a watch.
pub(super) async fn begin(connection: &Connection, request: &WatchRequest) -> Result<StoreWatch> {
    let name = &request.collection;
    let token = match &request.after {
        Some(token) => Some(server_token(token).ok_or_else(|| token.invalid(name))?),
        None => None,
    };
    let mut events = Events {
        database: connection.database.clone(),
        collection: connection.database.collection(name),
        pipeline: pipeline(&connection.portable(&request.filter)),
        stream: None,
        token,
        failures: 0,
        closed: connection.closed.subscribe(),
    };
    let about = || About::collection(name);
    for _ in 0..OPENED {
        let opened = events.open().await;
        opened.map_err(|error| match (code_of(&error), &request.after) {
            (Some(code::UNAUTHORIZED), _) => refused(name, error),
            (Some(code), Some(_)) if code::NO_CHANGES_AFTER.contains(&code) => {
                ResumeToken::too_old(name, "the oplog of the server does not go back to it")
            }
            (Some(code), Some(token)) if code::NO_TOKEN.contains(&code) => token.invalid(name),
            _ => translate(error, Some(about())),
        })?;
        if let Some(token) = &events.token {
            let token = text(token)?;
            let changes = unfold(events, |mut events| async {
                Some((events.next().await?, events))
            });
            return Ok(StoreWatch::new(token, changes.fuse().boxed()));
        }
    }
    let message = format!(
        "watch of `{name}` not begun: the MongoDB server does not say where it begins; call it again"
    );
    Err(Error::new(ErrorKind::Unavailable, message).retryable())
}

/// The error of a user who may not watch.
fn refused(collection: &str, error: DriverError) -> Error {
    let message = format!(
        "watch of `{collection}` refused by the MongoDB server: {error}; it takes the privileges `changeStream` and `find`, and \
         `collMod` where the server does not keep documents before their changes yet: grant it, or run \
         `db.runCommand({{ collMod: \"{collection}\", changeStreamPreAndPostImages: {{ enabled: true }} }})` once"
    );
    let refused = caused(ErrorKind::Refused, message, error);
    refused.at(collection, None, None)
}

impl Events {
    /// The next step. `None` if the store is closed.
    async fn next(&mut self) -> Option<Result<WatchedChange>> {
        loop {
            let mut closed = self.closed.clone();
            let closed = pin!(closed.wait_for(|is_closed| *is_closed));
            match select(closed, pin!(self.step())).await {
                Either::Left(_) => return None,
                Either::Right((step, _)) => {
                    if let Some(step) = step.transpose() {
                        return Some(step);
                    }
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<WatchedChange>> {
        let Some(stream) = &mut self.stream else {
            if self.failures > 1 {
                tokio::time::sleep(PAUSE).await;
            }
            return match self.open().await {
                Ok(()) => self.place(),
                Err(error) => self.failed(error),
            };
        };
        match stream.next_if_any().await {
            Ok(Some(event)) => {
                self.failures = 0;
                self.change(&event)
            }
            Ok(None) => {
                self.failures = 0;
                self.token = stream.resume_token().or(self.token.take());
                if !stream.is_alive() {
                    self.stream = None;
                }
                self.place()
            }
            Err(error) => self.failed(error),
        }
    }

    /// Opens the stream after its token, or from now on.
    async fn open(&mut self) -> DriverResult<()> {
        keep_images(&self.database, self.collection.name()).await?;
        let stream = (self.collection.watch())
            .pipeline(self.pipeline.clone())
            .full_document(FullDocumentType::WhenAvailable)
            .full_document_before_change(FullDocumentBeforeChangeType::WhenAvailable)
            // Change streams accept no other, regardless of the client's.
            .read_concern(ReadConcern::majority());
        let stream = match self.token.clone() {
            Some(token) => stream.start_after(token).await?,
            None => stream.await?,
        };
        let stream = stream.with_type();
        self.token = stream.resume_token().or(self.token.take());
        self.stream = Some(stream);
        Ok(())
    }

    fn failed(&mut self, error: DriverError) -> Result<Option<WatchedChange>> {
        self.stream = None;
        self.failures += 1;
        if self.failures == 1 {
            return Ok(None);
        }
        let code = code_of(&error);
        if code.is_some_and(|code| code::NO_CHANGES_AFTER.contains(&code)) {
            self.token = None;
            return Err(self.lagged(&format!("the server cannot show the next change: {error}")));
        }
        let about = About::collection(self.collection.name());
        Err(translate(error, Some(about)))
    }

    fn change(&mut self, event: &RawDocument) -> Result<Option<WatchedChange>> {
        if let Ok(Some(token)) = event.get("_id") {
            let token = Bson::try_from(token).map_err(Error::malformed)?;
            let token = bson::deserialize_from_bson(token).map_err(Error::malformed)?;
            self.token = Some(token);
        }
        let image = |name: &str| match event.get(name) {
            Ok(Some(RawBsonRef::Document(image))) => Some(Arc::new(image.to_owned())),
            _ => None,
        };
        let (before, after) = (image(BEFORE), image(AFTER));
        let has_images = match event.get_str("operationType") {
            Ok("insert") => after.is_some(),
            Ok("update" | "replace") => before.is_some() && after.is_some(),
            Ok("delete") => before.is_some(),
            Ok("invalidate") => {
                return Err(self.lagged("the collection was dropped or renamed"));
            }
            _ => return self.place(),
        };
        if !has_images {
            return Err(self.lagged(
                "the server does not keep the document before and after a change any more",
            ));
        }
        let change = DocumentChange::new(before, after, Cause::Unknown);
        let place = self.place()?;
        Ok(place.map(|place| WatchedChange::new(Some(change), place.token)))
    }

    /// The place after the last shown change, if the server has told it.
    fn place(&self) -> Result<Option<WatchedChange>> {
        let token = self.token.as_ref().map(text).transpose()?;
        Ok(token.map(|token| WatchedChange::new(None, token)))
    }

    fn lagged(&self, why: &str) -> Error {
        let collection = self.collection.name();
        let message = format!(
            "watch of `{collection}` has missed changes, and goes on with later ones: {why}"
        );
        Error::new(ErrorKind::Lagged, message).at(collection, None, None)
    }
}

/// Makes the server keep documents of a collection as they were before their changes, from now on.
async fn keep_images(database: &Database, collection: &str) -> DriverResult<()> {
    const OPTION: &str = "changeStreamPreAndPostImages";
    let list = doc! { "listCollections": 1, "filter": { "name": collection } };
    let listed: Vec<Document> = database
        .run_cursor_command(list)
        .await?
        .try_collect()
        .await?;
    let has_images = listed.iter().any(|listed| {
        let options = listed.get_document("options");
        let images = options.and_then(|options| options.get_document(OPTION));
        images.is_ok_and(|images| images.get_bool("enabled").unwrap_or(false))
    });
    if !has_images {
        let keep = doc! { "collMod": collection, OPTION: { "enabled": true } };
        database.run_command(keep).await?;
    }
    Ok(())
}

/// Leaves out events that do not match, as far as the filter applies to parts of an event.
fn pipeline(filter: &Filter) -> Vec<Document> {
    if *filter == Filter::default() {
        return Vec::new();
    }
    let of = |image: &str| {
        let moved = filter
            .clone()
            .moved_to(&|path| format!("{image}.{path}").into());
        moved.map(|moved| moved.to_document())
    };
    let (Some(before), Some(after)) = (of(BEFORE), of(AFTER)) else {
        return Vec::new();
    };
    // Its token is needed to go on after it.
    let ended = doc! { "operationType": "invalidate" };
    vec![doc! { "$match": { "$or": [before, after, ended] } }]
}

/// The token as text: the server's document as JSON.
fn text(token: &ServerToken) -> Result<ResumeToken> {
    let token = bson::serialize_to_bson(token).map_err(Error::malformed)?;
    Ok(ResumeToken::from(token.into_relaxed_extjson().to_string()))
}

fn server_token(token: &ResumeToken) -> Option<ServerToken> {
    let json: serde_json::Value = serde_json::from_str(token.as_str()).ok()?;
    let token = Bson::try_from(json).ok()?;
    token.as_document()?.get_str("_data").ok()?;
    bson::deserialize_from_bson(token).ok()
}
