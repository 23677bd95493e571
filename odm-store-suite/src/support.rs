//! Helpers of the promises: documents, queries and writes on the collection `things`.

use std::ops::ControlFlow;

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Direction, Filter, Sort, Update};
use odm_store::{
    Change, CollectionSpec, CollectionWrites, DocumentWrite, Error, ErrorKind, Find, FindByKey,
    IndexFilter, IndexSpec, Reader, Result, Store, Transaction, TransactionOptions, UpdateWrite,
    Updated,
};

pub(super) const THINGS: &str = "things";

pub(super) fn raw(document: Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(&document).expect("the document is BSON")
}

pub(super) fn value(value: impl Into<Bson>) -> RawBson {
    value.into().try_into().expect("the value is BSON")
}

pub(super) fn filter(filter: Document) -> Filter {
    Filter::parse(&filter).expect("the filter is valid")
}

pub(super) fn sort(sort: Document) -> Sort {
    Sort::parse(&sort).expect("the sort is valid")
}

/// The collections of a store, and `None` if it does not list them.
pub(super) async fn listed(store: &impl Store) -> Option<Vec<CollectionSpec>> {
    match store.collections().await {
        Err(error) if error.kind() == ErrorKind::InvalidQuery => None,
        collections => Some(collections.expect("they are listed")),
    }
}

/// A query of `things`.
pub(super) fn query(matching: Document) -> Find {
    Find {
        collection: THINGS.to_owned(),
        filter: filter(matching),
        ..Find::default()
    }
}

/// A query of `things` for each of several keys.
pub(super) fn by_key(path: &str, keys: impl IntoIterator<Item = Bson>, find: Find) -> FindByKey {
    FindByKey {
        find,
        path: path.to_owned(),
        keys: keys.into_iter().map(value).collect(),
    }
}

/// An index; `-` before a path means descending.
pub(super) fn index(name: &str, paths: &[&str]) -> IndexSpec {
    let keys = paths.iter().map(|path| match path.strip_prefix('-') {
        Some(path) => (path.to_owned(), Direction::Descending),
        None => ((*path).to_owned(), Direction::Ascending),
    });
    IndexSpec {
        name: name.to_owned(),
        keys: keys.collect(),
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}

pub(super) fn unique(name: &str, paths: &[&str]) -> IndexSpec {
    IndexSpec {
        unique: true,
        ..index(name, paths)
    }
}

/// The index, ignoring case.
pub(super) fn case_insensitive(index: IndexSpec) -> IndexSpec {
    IndexSpec {
        case_insensitive: true,
        ..index
    }
}

/// The index, as a partial index of the documents that match.
pub(super) fn partial(index: IndexSpec, filter: Document) -> IndexSpec {
    let filter = Filter::parse(&filter).expect("a filter");
    IndexSpec {
        filter: Some(IndexFilter::new(&filter).expect("a filter of an index")),
        ..index
    }
}

pub(super) fn things(indexes: Vec<IndexSpec>) -> CollectionSpec {
    CollectionSpec {
        name: THINGS.to_owned(),
        indexes,
        ..CollectionSpec::default()
    }
}

/// `things` with the first indexes, and with the second as obsolete ones.
pub(super) fn things_without(indexes: Vec<IndexSpec>, obsolete: Vec<IndexSpec>) -> CollectionSpec {
    CollectionSpec {
        obsolete,
        ..things(indexes)
    }
}

pub(super) async fn ensure(store: &impl Store, indexes: Vec<IndexSpec>) {
    let ensured = store.ensure(&[things(indexes)]).await;
    ensured.expect("the indexes are created");
}

/// The write of one document.
#[derive(Debug, Clone)]
pub(super) enum Write {
    Insert(RawDocumentBuf),
    Replace(RawDocumentBuf, RawDocumentBuf),
    Remove(RawDocumentBuf),
}

pub(super) fn insert(document: Document) -> Write {
    Write::Insert(raw(document))
}

pub(super) fn replace(before: Document, after: Document) -> Write {
    Write::Replace(raw(before), raw(after))
}

pub(super) fn remove(before: Document) -> Write {
    Write::Remove(raw(before))
}

/// The part of a batch that is about one collection.
pub(super) fn writes_to<'a>(collection: &'a str, writes: &'a [Write]) -> CollectionWrites<'a> {
    let writes = writes.iter().map(|write| match write {
        Write::Insert(document) => DocumentWrite::Insert(document),
        Write::Replace(before, after) => DocumentWrite::Replace { before, after },
        Write::Remove(before) => DocumentWrite::Remove(before),
    });
    CollectionWrites {
        collection,
        writes: writes.collect(),
    }
}

/// Applies a batch to `things`.
pub(super) async fn apply(transaction: &mut dyn Transaction, writes: &[Write]) -> Result<()> {
    let batch = [writes_to(THINGS, writes)];
    transaction.apply(&batch).await.map(drop)
}

pub(super) async fn begin(store: &impl Store) -> Box<dyn Transaction> {
    let begun = store.begin(TransactionOptions::default()).await;
    begun.expect("a transaction begins")
}

/// Applies a batch to `things` in a transaction of its own. A transaction whose write fails is rolled
/// back.
pub(super) async fn write(store: &impl Store, writes: &[Write]) -> Result<()> {
    let mut transaction = begin(store).await;
    match apply(&mut *transaction, writes).await {
        Ok(()) => transaction.commit().await,
        Err(error) => {
            transaction.rollback().await?;
            Err(error)
        }
    }
}

pub(super) async fn insert_all(store: &impl Store, documents: impl IntoIterator<Item = Document>) {
    let writes: Vec<Write> = documents.into_iter().map(insert).collect();
    let written = loop {
        match write(store, &writes).await {
            // Another transaction has not ended yet.
            Err(error) if error.is_retryable() => {}
            written => break written,
        }
    };
    written.expect("the documents are inserted");
}

pub(super) fn update_of(matching: Document, update: Document) -> UpdateWrite {
    let update = Update::parse(&update, &[]).expect("the update is valid");
    UpdateWrite {
        collection: THINGS.to_owned(),
        filter: filter(matching),
        change: Change::Update(update),
        upsert: false,
        check: None,
    }
}

/// Updates documents in a transaction of its own.
pub(super) async fn update(store: &impl Store, write: &UpdateWrite) -> Result<Updated> {
    let mut transaction = begin(store).await;
    match transaction.update(write).await {
        Ok(updated) => transaction.commit().await.map(|()| updated),
        Err(error) => {
            transaction.rollback().await?;
            Err(error)
        }
    }
}

/// The documents that a query finds. Their positions are checked.
pub(super) async fn found(reader: &(impl Reader + ?Sized), find: &Find) -> Vec<RawDocumentBuf> {
    let mut documents = Vec::new();
    let each = &mut |position, document: &RawDocument| {
        assert_eq!(position, documents.len(), "positions are in order");
        documents.push(document.to_owned());
        Ok(ControlFlow::Continue(()))
    };
    let read = reader.find(find, each).await;
    read.expect("the query runs");
    documents
}

/// The `_id`s of the documents that a query finds.
pub(super) async fn ids(reader: &(impl Reader + ?Sized), find: &Find) -> Vec<i32> {
    let documents = found(reader, find).await;
    documents.iter().map(|document| id_of(document)).collect()
}

pub(super) fn id_of(document: &RawDocument) -> i32 {
    document.get_i32("_id").expect("the `_id` is a number")
}

/// The documents that a get passes, with their positions, in the order of the positions.
pub(super) async fn got(
    reader: &(impl Reader + ?Sized),
    wanted: impl IntoIterator<Item = Bson>,
) -> Vec<(usize, RawDocumentBuf)> {
    let wanted: Vec<RawBson> = wanted.into_iter().map(value).collect();
    let mut documents = Vec::new();
    let each = &mut |position, document: &RawDocument| {
        documents.push((position, document.to_owned()));
        Ok(ControlFlow::Continue(()))
    };
    let read = reader.get(THINGS, &wanted, each).await;
    read.expect("the documents are read");
    documents.sort_by_key(|(position, _)| *position);
    documents
}

/// The `_id`s of the documents that are found for each key.
pub(super) async fn ids_by_key(reader: &(impl Reader + ?Sized), find: &FindByKey) -> Vec<Vec<i32>> {
    let mut by_key = vec![Vec::new(); find.keys.len()];
    let each = &mut |position: usize, document: &RawDocument| {
        by_key[position].push(id_of(document));
        Ok(ControlFlow::Continue(()))
    };
    let read = reader.find_by_key(find, each).await;
    read.expect("the query runs");
    by_key
}

/// All committed documents of `things`, in the order of `_id`.
pub(super) async fn stored(store: &impl Store) -> Vec<RawDocumentBuf> {
    let reader = store.reader().expect("the store can be read");
    found(&*reader, &query(Document::new())).await
}

/// Asserts that these documents are committed, byte for byte, and no others.
pub(super) async fn assert_stored(
    store: &impl Store,
    expected: impl IntoIterator<Item = Document>,
) {
    let expected: Vec<RawDocumentBuf> = expected.into_iter().map(raw).collect();
    assert_eq!(stored(store).await, expected);
}

/// Asserts that an operation failed with an error of a class.
#[track_caller]
pub(super) fn assert_fails<T>(result: Result<T>, kind: ErrorKind) -> Error {
    match result {
        Ok(_) => panic!("the operation succeeded, and {kind:?} was expected"),
        Err(error) => {
            assert_eq!(error.kind(), kind, "{error:?}");
            error
        }
    }
}
