//! The export: documents in an order in which each comes after the documents that it refers to.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    future::IntoFuture,
};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Find, ReaderExt, Result};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::{
    OnTransferProgress, TransferProgress,
    extended_json::check_read_back,
    line::{Head, write_document},
    order::{Exported, in_order, targets},
    scope::{TransferScope, TransferState},
};
use crate::{
    catalog::COUNTERS,
    maintain::{SequenceCounter, last_number},
    session::Session,
    trace::Operation,
};

/// The approximate number of bytes of documents that are read at once, and of lines that are written at once.
const PORTION: usize = 1 << 20;

/// How many documents are read at once.
const MOST: u64 = 1_000;

/// An export of a database, from [`Database::export`](crate::Database::export). Awaiting it writes, and returns the
/// number of documents.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let mut lines = Vec::new();
/// shop.export(&mut lines).await?;
/// // A head, and a line for each document.
/// assert!(String::from_utf8(lines).unwrap().lines().count() > 14);
/// # Ok(()) });
/// ```
#[must_use = "an export does nothing until it is awaited"]
pub struct Export<'w> {
    session: Session,
    scope: TransferScope,
    writer: Box<dyn AsyncWrite + Unpin + Send + 'w>,
    on_progress: Box<OnTransferProgress>,
}

impl<'w> Export<'w> {
    pub(crate) fn new(
        session: &Session,
        scope: TransferScope,
        writer: impl AsyncWrite + Unpin + Send + 'w,
    ) -> Self {
        Export {
            session: session.clone(),
            scope,
            writer: Box::new(writer),
            on_progress: Box::new(|_| {}),
        }
    }

    /// Calls a function after each portion of about 1 MiB, and at the end.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let mut file = Vec::new();
    /// shop.export(&mut file).on_progress(|progress| println!("{} of {}", progress.documents, progress.of)).await?;
    /// # Ok(()) });
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(TransferProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<u64> {
        let mut lines = LineWriter {
            lines: Vec::new(),
            writer: self.writer,
            progress: TransferProgress::default(),
            on_progress: self.on_progress,
        };
        // One state of the data, until the end.
        let state = self.scope.state(&self.session).await?;
        pass(&state, &mut lines).await?;
        Ok(lines.progress.documents)
    }
}

impl<'w> IntoFuture for Export<'w> {
    type Output = Result<u64>;
    type IntoFuture = BoxFuture<'w, Result<u64>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Export<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").finish_non_exhaustive()
    }
}

/// The destination of the documents of a database, each after the documents that it refers to.
#[async_trait]
pub(super) trait Sink: Send {
    /// Takes the description of the whole.
    async fn begin(&mut self, head: Head) -> Result<()>;

    /// Takes a document with its cold parts.
    async fn add(&mut self, collection: &str, document: &RawDocument) -> Result<()>;

    /// Takes the counter of a sequence within a parent, before the documents.
    async fn counter(&mut self, document: &RawDocument) -> Result<()>;

    /// Takes the end.
    async fn end(&mut self) -> Result<()>;
}

/// Passes all documents of a state.
pub(super) async fn pass<S: Sink>(state: &TransferState, sink: &mut S) -> Result<()> {
    let session = state.session.clone();
    let collections = in_order(&state.collections, &session.catalog());
    let mut exporter = Exporter {
        ahead: collections.iter().map(|_| HashSet::new()).collect(),
        passed: None,
        session,
        collections,
        sink,
    };
    exporter.head(&state.databases).await?;
    // An import numbers the documents that have no number after the last ones.
    exporter.counters().await?;
    for at in 0..exporter.collections.len() {
        exporter.collection(at).await?;
    }
    exporter.sink.end().await
}

/// An export while it runs.
struct Exporter<'s, S> {
    session: Session,
    collections: Vec<Exported>,
    /// The keys of the documents of each collection that are written before their turn, since others refer to them.
    ahead: Vec<HashSet<Vec<u8>>>,
    /// The current collection, and the key of the current document in it.
    passed: Option<(usize, Vec<u8>)>,
    sink: &'s mut S,
}

/// Writes documents as lines.
struct LineWriter<'w> {
    lines: Vec<u8>,
    writer: Box<dyn AsyncWrite + Unpin + Send + 'w>,
    progress: TransferProgress,
    on_progress: Box<OnTransferProgress>,
}

impl LineWriter<'_> {
    async fn write(&mut self) -> Result<()> {
        self.writer
            .write_all(&self.lines)
            .await
            .map_err(unwritable)?;
        self.lines.clear();
        (self.on_progress)(self.progress);
        Ok(())
    }
}

#[async_trait]
impl Sink for LineWriter<'_> {
    async fn begin(&mut self, head: Head) -> Result<()> {
        self.progress.of = head.documents;
        head.write(&mut self.lines)
    }

    async fn add(&mut self, collection: &str, document: &RawDocument) -> Result<()> {
        check_read_back(collection, document)?;
        write_document(collection, document, &mut self.lines)?;
        self.progress.documents += 1;
        match self.lines.len() < PORTION {
            true => Ok(()),
            false => self.write().await,
        }
    }

    async fn counter(&mut self, document: &RawDocument) -> Result<()> {
        write_document(COUNTERS, document, &mut self.lines)?;
        match self.lines.len() < PORTION {
            true => Ok(()),
            false => self.write().await,
        }
    }

    async fn end(&mut self) -> Result<()> {
        self.write().await?;
        self.writer.flush().await.map_err(unwritable)
    }
}

/// A document that is written after the documents that it names.
struct WaitingDocument {
    collection: usize,
    id: RawBson,
    named: Vec<(usize, RawBson)>,
}

impl<S: Sink> Exporter<'_, S> {
    /// Counts the documents.
    async fn head(&mut self, databases: &[(String, u32)]) -> Result<()> {
        let operation = Operation::begin("export", "");
        let view = self.session.reader("", &[]).await?;
        let mut sequences = BTreeMap::new();
        let mut cost = Default::default();
        let mut documents = 0;
        for collection in &self.collections {
            let all = Find {
                collection: collection.name.clone(),
                ..Find::default()
            };
            let (count, counting) = operation.observe(view.count(&all).await)?;
            documents += count;
            cost += counting;
            if let Some(last) = last_number(&*view, &collection.name).await? {
                sequences.insert(collection.name.clone(), last);
            }
        }
        drop(view);
        self.session.record(operation, cost);
        let head = Head::new(databases, documents, sequences);
        self.sink.begin(head).await
    }

    /// Exports a collection in the order of `_id`s.
    async fn collection(&mut self, at: usize) -> Result<()> {
        let mut after = None;
        let mut limit = MOST.min(100);
        loop {
            let of = &self.collections[at];
            let documents = chunk(&self.session, &of.name, &of.cold(), after, limit).await?;
            let Some(last) = documents.last() else {
                return Ok(());
            };
            after = Some(vec![id(last)?]);
            let bytes: usize = documents.iter().map(|of| of.as_bytes().len()).sum();
            limit = (PORTION * documents.len() / bytes.max(1)) as u64;
            limit = limit.clamp(1, MOST);
            for document in documents {
                let key = key::of(id(&document)?.as_raw_bson_ref());
                let is_written = self.ahead[at].remove(&key);
                self.passed = Some((at, key));
                if !is_written {
                    self.with_named(at, document).await?;
                }
            }
        }
    }

    /// Exports the counters of the collections.
    async fn counters(&mut self) -> Result<()> {
        let catalog = self.session.catalog();
        let names = self.collections.iter().map(|collection| &collection.name);
        let sequences = names.flat_map(|name| catalog.sequences_in(name));
        let sequences: HashSet<String> = sequences.collect();
        if sequences.is_empty() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let counters = chunk(&self.session, COUNTERS, &[], after, MOST).await?;
            let Some(last) = counters.last() else {
                return Ok(());
            };
            after = Some(vec![id(last)?]);
            for counter in counters {
                let field = SequenceCounter::read(&counter).map(|(field, ..)| field);
                if field.is_some_and(|field| sequences.contains(field)) {
                    self.sink.counter(&counter).await?;
                }
            }
        }
    }

    /// Writes a document after all unwritten documents that it names, recursively. In a cycle of documents one is first.
    async fn with_named(&mut self, at: usize, document: RawDocumentBuf) -> Result<()> {
        let named = self.unwritten(at, &document);
        if named.is_empty() {
            return self.document(at, &document).await;
        }
        let mut waiting = vec![WaitingDocument {
            collection: at,
            id: id(&document)?,
            named,
        }];
        drop(document);
        while let Some(last) = waiting.last_mut() {
            let Some((collection, id)) = last.named.pop() else {
                let (collection, id) = (last.collection, last.id.clone());
                waiting.pop();
                if let Some(document) = self.get(collection, &id).await? {
                    self.document(collection, &document).await?;
                }
                continue;
            };
            // It may have been written since, for another document that names it.
            if self.is_written(collection, &id) {
                continue;
            }
            let Some(document) = self.get(collection, &id).await? else {
                continue;
            };
            self.ahead[collection].insert(key::of(id.as_raw_bson_ref()));
            let named = self.unwritten(collection, &document);
            match named.is_empty() {
                true => self.document(collection, &document).await?,
                false => waiting.push(WaitingDocument {
                    collection,
                    id,
                    named,
                }),
            }
        }
        Ok(())
    }

    async fn get(&mut self, at: usize, id: &RawBson) -> Result<Option<RawDocumentBuf>> {
        let of = &self.collections[at];
        let operation = Operation::begin("export", &of.name);
        let view = self.session.reader(&of.name, &of.cold()).await?;
        let (document, cost) = operation.observe(view.get_one(&of.name, id).await)?;
        drop(view);
        self.session.record(operation, cost);
        Ok(document)
    }

    /// The documents that a document names and that are neither written nor waiting.
    fn unwritten(&self, at: usize, document: &RawDocument) -> Vec<(usize, RawBson)> {
        let mut named = Vec::new();
        for (path, to) in &self.collections[at].references {
            if self.passed.as_ref().is_some_and(|(passed, _)| to >= passed) {
                let targets = targets(document, path).into_iter();
                let targets = targets.filter(|id| !self.is_written(*to, id));
                named.extend(targets.map(|id| (*to, id)));
            }
        }
        named
    }

    /// Whether a document is written, or waits for documents that it names.
    fn is_written(&self, at: usize, id: &RawBson) -> bool {
        let key = key::of(id.as_raw_bson_ref());
        let is_passed = self
            .passed
            .as_ref()
            .is_some_and(|(passed, last)| at < *passed || (at == *passed && key <= *last));
        is_passed || self.ahead[at].contains(&key)
    }

    async fn document(&mut self, at: usize, document: &RawDocument) -> Result<()> {
        self.sink.add(&self.collections[at].name, document).await
    }
}

/// The next documents of a collection in the order of `_id`s.
async fn chunk(
    session: &Session,
    name: &str,
    cold: &[&str],
    after: Option<Vec<RawBson>>,
    limit: u64,
) -> Result<Vec<RawDocumentBuf>> {
    let operation = Operation::begin("export", name).of(limit as usize);
    let find = Find {
        collection: name.to_owned(),
        limit: Some(limit),
        after,
        ..Find::default()
    };
    let view = session.reader(name, cold).await?;
    let (documents, cost) = operation.observe(view.find_all(&find).await)?;
    drop(view);
    session.record(operation, cost);
    Ok(documents)
}

fn id(document: &RawDocument) -> Result<RawBson> {
    let id = path::get(document, "_id").map(RawBson::from);
    id.ok_or_else(|| Error::new(ErrorKind::Corrupt, "a stored document has no `_id`"))
}

fn unwritable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write the export: {error}")).with_source(error)
}
