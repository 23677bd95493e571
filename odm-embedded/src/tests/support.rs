//! Helpers of the tests.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use odm_mql::{Collation, Direction, Filter, Sort, Update};
use odm_store::{
    Change, CollectionSpec, CollectionWrites, DeleteWrite, DocumentWrite, Durability, Find,
    IndexFilter, IndexSpec, Reader, Result, Store, Transaction, UnitOfWork, UpdateWrite,
};

use crate::{Embedded, schema::Schema, wait};

/// Runs a future on this thread, without a runtime.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    wait::block_on(future, None).expect("there is no deadline")
}

pub(super) fn raw(document: Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(&document).expect("a document")
}

pub(super) fn value(value: impl Into<Bson>) -> RawBson {
    value.into().try_into().expect("a value")
}

pub(super) fn document(raw: &bson::RawDocument) -> Document {
    raw.try_into().expect("a document")
}

pub(super) fn filter(filter: Document) -> Filter {
    Filter::parse(&filter).expect("a filter")
}

pub(super) fn sort(sort: Document) -> Sort {
    Sort::parse(&sort).expect("a sort")
}

pub(super) fn index(name: &str, keys: &[(&str, i32)]) -> IndexSpec {
    let direction = |sign| {
        if sign > 0 {
            Direction::Ascending
        } else {
            Direction::Descending
        }
    };
    IndexSpec {
        name: name.to_owned(),
        keys: keys
            .iter()
            .map(|(path, sign)| ((*path).to_owned(), direction(*sign)))
            .collect(),
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}

pub(super) fn unique(name: &str, keys: &[(&str, i32)]) -> IndexSpec {
    IndexSpec {
        unique: true,
        ..index(name, keys)
    }
}

/// The index, ignoring case.
pub(super) fn folded(index: IndexSpec) -> IndexSpec {
    IndexSpec {
        case_insensitive: true,
        ..index
    }
}

/// The index, as a partial index of the documents that match.
pub(super) fn partial(index: IndexSpec, query: Document) -> IndexSpec {
    IndexSpec {
        filter: Some(IndexFilter::new(&filter(query)).expect("a filter of an index")),
        ..index
    }
}

pub(super) fn collection(name: &str, indexes: Vec<IndexSpec>) -> CollectionSpec {
    CollectionSpec {
        name: name.to_owned(),
        indexes,
        ..CollectionSpec::default()
    }
}

/// A store in memory with one collection, `things`.
pub(super) async fn things(indexes: Vec<IndexSpec>) -> Embedded {
    let store = Embedded::memory().await.expect("a store");
    store
        .ensure(&[collection("things", indexes)])
        .await
        .expect("a collection");
    store
}

/// The schema, once the remains of removed indexes are gone.
pub(super) fn without_garbage(store: &Embedded) -> Arc<Schema> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let state = store.handle.published.get().expect("a state");
        if state.schema.garbage.is_empty() {
            return state.schema.clone();
        }
        assert!(
            Instant::now() < end,
            "garbage stays: {:?}",
            state.schema.garbage
        );
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// One write of a unit.
#[derive(Debug, Clone)]
pub(super) enum Write {
    Insert(Vec<Document>),
    Update(Document, Document),
    Replace(Document, Document),
    Delete(Document),
    /// Ends the unit with a panic.
    Panic,
}

pub(super) fn update(query: Document, change: Document) -> UpdateWrite {
    UpdateWrite {
        collection: "things".to_owned(),
        filter: filter(query),
        change: Change::Update(Update::parse(&change, &[]).expect("an update")),
        upsert: false,
        check: None,
    }
}

pub(super) fn delete(query: Document) -> DeleteWrite {
    DeleteWrite {
        collection: "things".to_owned(),
        filter: filter(query),
    }
}

/// Inserts documents as one batch.
pub(super) async fn insert_all(
    transaction: &mut dyn Transaction,
    collection: &str,
    documents: &[RawDocumentBuf],
) -> Result<()> {
    let writes = documents
        .iter()
        .map(|document| DocumentWrite::Insert(document));
    let batch = CollectionWrites {
        collection,
        writes: writes.collect(),
    };
    transaction.apply(&[batch]).await.map(drop)
}

pub(super) async fn apply(transaction: &mut dyn Transaction, write: &Write) -> Result<()> {
    match write.clone() {
        Write::Insert(documents) => {
            let documents: Vec<_> = documents.into_iter().map(raw).collect();
            insert_all(transaction, "things", &documents).await
        }
        Write::Update(query, change) => transaction.update(&update(query, change)).await.map(drop),
        Write::Replace(query, document) => {
            let write = UpdateWrite {
                change: Change::Replace(raw(document)),
                ..update(query, Document::new())
            };
            transaction.update(&write).await.map(drop)
        }
        Write::Delete(query) => transaction.delete(&delete(query)).await.map(drop),
        Write::Panic => panic!("as it was told"),
    }
}

/// A unit of several writes, which fails with the first failing one.
pub(super) struct Writes(pub(super) Vec<Write>);

#[async_trait]
impl UnitOfWork for Writes {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for write in &self.0 {
            apply(transaction, write).await?;
        }
        Ok(())
    }
}

pub(super) async fn run(store: &Embedded, writes: Vec<Write>) -> Result<()> {
    store
        .run(Arc::new(Writes(writes)), Durability::Immediate)
        .await
}

pub(super) async fn insert(store: &Embedded, documents: Vec<Document>) -> Result<()> {
    run(store, vec![Write::Insert(documents)]).await
}

pub(super) fn find_all() -> Find {
    Find {
        collection: "things".to_owned(),
        ..Find::default()
    }
}

pub(super) async fn found(reader: &(impl Reader + ?Sized), find: &Find) -> Vec<Document> {
    let found = Mutex::new(Vec::new());
    reader
        .find(find, &mut |position, raw| {
            let mut found = found.lock().expect("no panic");
            assert_eq!(position, found.len());
            found.push(document(raw));
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .await
        .expect("a result");
    found.into_inner().expect("no panic")
}

/// All documents of `things`, by `_id`.
pub(super) async fn all(store: &Embedded) -> Vec<Document> {
    found(&*store.reader().expect("an open store"), &find_all()).await
}

pub(super) fn ids(documents: &[Document]) -> Vec<&Bson> {
    documents.iter().map(|document| &document["_id"]).collect()
}

/// The collation of English with a strength.
pub(super) fn collation(strength: i32) -> Collation {
    let collation = Collation::parse(&doc! { "locale": "en", "strength": strength });
    collation
        .expect("a collation")
        .expect("it is not the one of bytes")
}

/// The same index with a collation.
pub(super) fn collated(index: IndexSpec, strength: i32) -> IndexSpec {
    IndexSpec {
        collation: Some(collation(strength)),
        ..index
    }
}
