//! The copy of a database into another store: an import of the documents of an export, without lines between them.
//!
//! Cold parts are passed as they are stored. The documents of an earlier attempt are found in the target by their base data.

use std::{collections::HashMap, fmt, future::IntoFuture};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Find, ReaderExt, Result, show};

use super::{
    OnTransferProgress, TransferProgress,
    export::{Sink, pass},
    import::{Importer, UNIT, UNIT_BYTES},
    input_position::{At, InputPosition},
    line::Head,
    scope::{TransferScope, TransferState, TransferredCollection, shown},
};
use crate::{
    catalog::Catalog,
    database::lock_of,
    maintain::{AuditScope, Doc, ImportOrigin, Imported, SequenceCounter, importable},
    repository::{Audit, AuditMode},
    session::Session,
    trace::Operation,
};

/// How many stored documents are compared at once.
const CHUNK: u64 = 200;

/// A copy of a database into another store, from [`Database::copy_to`](crate::Database::copy_to). Awaiting it copies, and returns the
/// [`TransferProgress`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let copy = Shop::open(Embedded::memory().await?).await?;
/// let done = shop.copy_to(&copy).await?;
/// assert_eq!(done.documents, done.of);
/// # Ok(()) });
/// ```
#[must_use = "a copy does nothing until it is awaited"]
pub struct CopyTo {
    source: Session,
    target: Session,
    scope: TransferScope,
    on_progress: Box<OnTransferProgress>,
}

impl CopyTo {
    pub(crate) fn new(source: &Session, target: &Session, scope: TransferScope) -> Self {
        CopyTo {
            source: source.clone(),
            target: target.clone(),
            scope,
            on_progress: Box::new(|_| {}),
        }
    }

    /// Calls a function after each unit that is stored, and after each chunk of the audit.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let copy = Shop::open(Embedded::memory().await?).await?;
    /// shop.copy_to(&copy).on_progress(|progress| println!("{} of {}", progress.documents, progress.of)).await?;
    /// # Ok(()) });
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(TransferProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<TransferProgress> {
        if self.target.has_own_state() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "copy into a transaction or a snapshot: it has units of its own; call it outside",
            ));
        }
        // One state of the data, until the end.
        let state = self.scope.state(&self.source).await?;
        let source = &state.session;
        let catalog = source.catalog();
        let collections = stored_collections(&catalog, &state.collections);
        let is_own = |field: &&String| collections.contains(&catalog.holder_of(field).to_owned());
        if let Some(field) = catalog.pending().iter().find(is_own) {
            let message = format!(
                "pending field: `{field}` is not computed in all documents of the source; run `backfill()` there"
            );
            return Err(Error::new(ErrorKind::Schema, message));
        }
        if matches!(self.scope, TransferScope::Store) {
            declare(&state, &self.target, &collections).await?;
        }
        let mut importer =
            Importer::new(self.target.clone(), ImportOrigin::Library, self.on_progress);
        let mut last_there = None;
        loop {
            for collection in &collections {
                check_stored(source, &self.target, collection).await?;
            }
            let mut copier = Copier {
                source: source.clone(),
                importer,
                fresh: Vec::new(),
                bytes: 0,
                number: 0,
            };
            let copied = pass(&state, &mut copier).await;
            importer = copier.importer;
            match copied {
                // The last unit of a dropped call may be stored after the check above, and so may units of another call.
                Err(error) if error.kind() == ErrorKind::DuplicateKey => {
                    let there = count(&self.target, &collections).await?;
                    if last_there.replace(there) == Some(there) {
                        return Err(error);
                    }
                    importer = importer.again();
                }
                copied => break copied?,
            }
        }
        self.target.wait_for_refreshes().await?;
        let mut audit = Audit::of_models(&self.target, AuditMode::Report);
        let mut checked = 0;
        while let Some(finding) = audit.try_next().await? {
            let of = audit.progress().checked;
            if of > checked {
                checked = of;
                importer.progress.checked = of;
                (importer.on_progress)(importer.progress);
            }
            if !collections.contains(&finding.collection) {
                continue;
            }
            let ids = [finding.id.clone()];
            let of_source = source.check_documents(AuditScope::MODELS, &finding.collection, &ids);
            let of_source = of_source.await?;
            // A field that waits for its refresh is as wrong in the source.
            if !of_source.findings.contains(&finding) && !of_source.deferred.contains(&finding) {
                let message = format!(
                    "copy of `{}` is wrong where its source is not, by the audit at its end: {finding}; repair the copy",
                    self.target.database()
                );
                let error = Error::new(ErrorKind::InvalidImport, message);
                return Err(error.at(
                    &finding.collection,
                    Some(&finding.path),
                    Some(finding.id.clone()),
                ));
            }
        }
        importer.progress.checked = audit.progress().checked;
        (importer.on_progress)(importer.progress);
        Ok(importer.progress)
    }
}

impl IntoFuture for CopyTo {
    type Output = Result<TransferProgress>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for CopyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyTo").finish_non_exhaustive()
    }
}

/// Declares the databases of the source on the target, unless databases were opened there, which must be the same in the same versions.
async fn declare(state: &TransferState, target: &Session, collections: &[String]) -> Result<()> {
    if target.databases().await?.is_empty() {
        // Nothing is declared if the copy would be refused.
        for collection in collections {
            check_stored(&state.session, target, collection).await?;
        }
        let lock = lock_of(target.store());
        let _opening = lock.lock().await;
        state.session.declare_on(target.store()).await?;
    }
    let there = target.databases().await?;
    if there != state.databases {
        let message = format!(
            "target has {}, and the source {}: copy into a new store, or open the same versions there",
            shown(&there),
            shown(&state.databases)
        );
        return Err(Error::new(ErrorKind::InvalidImport, message));
    }
    target.current_catalog().await.map(drop)
}

/// The collections in which documents are stored, with the collections of their cold parts.
fn stored_collections(catalog: &Catalog, collections: &[TransferredCollection]) -> Vec<String> {
    let collections = collections.iter().flat_map(|of| {
        let cold = catalog.splits_of(&of.name);
        std::iter::once(of.name.clone()).chain(cold.map(|split| split.cold.clone()))
    });
    collections.collect()
}

fn id_of(document: &RawDocument) -> RawBson {
    path::get(document, "_id").map_or(RawBson::Null, RawBson::from)
}

/// How many documents there are in all of some collections.
async fn count(session: &Session, collections: &[String]) -> Result<u64> {
    let mut documents = 0;
    for collection in collections {
        let operation = Operation::begin("copy", collection);
        let view = session.reader("", &[]).await?;
        let all = Find {
            collection: collection.clone(),
            ..Find::default()
        };
        let (count, cost) = operation.observe(view.count(&all).await)?;
        drop(view);
        session.record(operation, cost);
        documents += count;
    }
    Ok(documents)
}

/// Checks that each document of a collection in the target is the document of the source, from an earlier copy. Derived fields may differ,
/// since they may follow from documents that the copy has not passed yet. Numbers within parents and frozen copies must be equal.
async fn check_stored(source: &Session, target: &Session, collection: &str) -> Result<()> {
    let [of_source, of_target] = [source.catalog(), target.catalog()];
    // A field that is pending in the source has a value in the target.
    let compared = |document: &RawDocument| {
        let document = importable(&of_source, collection, document)?;
        importable(&of_target, collection, &document)
    };
    let mut after = None;
    loop {
        let find = Find {
            collection: collection.to_owned(),
            limit: Some(CHUNK),
            after,
            ..Find::default()
        };
        let operation = Operation::begin("copy", collection).of(CHUNK as usize);
        let view = target.reader("", &[]).await?;
        let (stored, cost) = operation.observe(view.find_all(&find).await)?;
        drop(view);
        target.record(operation, cost);
        let Some(last) = stored.last() else {
            return Ok(());
        };
        after = Some(vec![id_of(last)]);
        let ids: Vec<RawBson> = stored.iter().map(|document| id_of(document)).collect();
        let operation = Operation::begin("copy", collection).of(ids.len());
        let view = source.reader("", &[]).await?;
        let read = |document: &RawDocument| Ok(document.to_owned());
        let (originals, cost) = operation.observe(view.get_with(collection, &ids, read).await)?;
        drop(view);
        source.record(operation, cost);
        for ((stored, original), id) in stored.iter().zip(originals).zip(ids) {
            let is_same = match &original {
                None => false,
                Some(original) if original.as_bytes() == stored.as_bytes() => true,
                Some(original) => compared(stored)? == compared(original)?,
            };
            if !is_same {
                return Err(foreign(collection, id, original));
            }
        }
    }
}

fn foreign(collection: &str, id: RawBson, original: Option<RawDocumentBuf>) -> Error {
    let what = match original {
        None => "is not in the source",
        Some(_) => "is another one in the source",
    };
    let message = format!(
        "target has other documents: that of `{collection}` with `_id` = {} {what}; copy into a new store, or go on with \
         a copy of the same data",
        show(&id)
    );
    Error::new(ErrorKind::InvalidImport, message).at(collection, None, Some(id))
}

/// Imports the documents of the source that the target lacks.
struct Copier {
    /// The state of the source.
    source: Session,
    importer: Importer,
    /// The documents that were passed since the target was last read.
    fresh: Vec<(String, RawDocumentBuf)>,
    bytes: usize,
    /// How many documents were passed before.
    number: u64,
}

impl Copier {
    /// Imports the fresh documents that the target lacks.
    async fn import_fresh(&mut self) -> Result<()> {
        self.bytes = 0;
        let mut fresh = std::mem::take(&mut self.fresh).into_iter().peekable();
        while let Some((collection, first)) = fresh.next() {
            let mut documents = vec![first];
            while let Some((_, document)) = fresh.next_if(|(other, _)| *other == collection) {
                documents.push(document);
            }
            self.import(collection, documents).await?;
        }
        Ok(())
    }

    async fn import(&mut self, collection: String, documents: Vec<RawDocumentBuf>) -> Result<()> {
        let ids: Vec<RawBson> = documents.iter().map(|document| id_of(document)).collect();
        let operation = Operation::begin("copy", &collection).of(ids.len());
        let target = &self.importer.session;
        let view = target.reader("", &[]).await?;
        let (exist, cost) = operation.observe(view.exist(&collection, &ids).await)?;
        drop(view);
        target.record(operation, cost);
        let missing = ids.iter().zip(&exist).filter(|(_, exists)| !**exists);
        let missing: Vec<RawBson> = missing.map(|(id, _)| id.clone()).collect();
        if missing.len() < ids.len() {
            self.importer.found((ids.len() - missing.len()) as u64);
        }
        let mut parts = parts(&self.source, &collection, missing).await?;
        for ((document, id), exists) in documents.into_iter().zip(ids).zip(exist) {
            self.number += 1;
            if exists {
                continue;
            }
            let imported = Imported {
                collection: collection.clone(),
                document: Doc::new(document),
                parts: parts
                    .remove(&key::of(id.as_raw_bson_ref()))
                    .unwrap_or_default(),
            };
            let place = InputPosition {
                file: None,
                at: At::Document(self.number),
            };
            self.importer.add(place, imported).await?;
        }
        Ok(())
    }
}

/// The cold parts of documents as they are stored, each with its collection, by the keys of their documents.
async fn parts(
    source: &Session,
    collection: &str,
    ids: Vec<RawBson>,
) -> Result<HashMap<Vec<u8>, Vec<(String, Doc)>>> {
    let mut parts: HashMap<Vec<u8>, Vec<(String, Doc)>> = HashMap::new();
    for split in source.catalog().splits_of(collection) {
        let operation = Operation::begin("copy", &split.cold).of(ids.len());
        let view = source.reader("", &[]).await?;
        let find = split.cold_parts_of(ids.clone());
        let (found, cost) = operation.observe(view.find_all(&find).await)?;
        drop(view);
        source.record(operation, cost);
        for part in found {
            if let Some(owner) = path::get(&part, &split.key).map(key::of) {
                let of_owner = parts.entry(owner).or_default();
                of_owner.push((split.cold.clone(), Doc::new(part)));
            }
        }
    }
    Ok(parts)
}

#[async_trait]
impl Sink for Copier {
    async fn begin(&mut self, head: Head) -> Result<()> {
        self.importer.progress.of = head.documents;
        for (name, last) in head.sequences {
            let counter = SequenceCounter::of_ids(&name);
            self.importer.last_number(counter, last).await?;
        }
        Ok(())
    }

    async fn add(&mut self, collection: &str, document: &RawDocument) -> Result<()> {
        self.bytes += document.as_bytes().len();
        self.fresh
            .push((collection.to_owned(), document.to_owned()));
        match self.fresh.len() < UNIT && self.bytes < UNIT_BYTES {
            true => Ok(()),
            false => self.import_fresh().await,
        }
    }

    async fn counter(&mut self, document: &RawDocument) -> Result<()> {
        match SequenceCounter::read(document) {
            Some((_, counter, last)) => self.importer.last_number(counter, last).await,
            None => Ok(()),
        }
    }

    async fn end(&mut self) -> Result<()> {
        self.import_fresh().await?;
        self.importer.end().await
    }
}
