//! The common parts of the suites.
//!
//! A suite is written once, against the `Store` trait and the repositories, and [`on_every_store!`] runs it on each store.

mod any_store;
pub mod killed;
mod mongodb;
pub mod proxy;
pub mod told;

use std::{
    future::Future,
    ops::ControlFlow,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use odm::{
    bson::{Document, RawDocumentBuf},
    mql,
    store::{
        Durability,
        contract::{
            Change, CollectionWrites, DocumentWrite, Find, Store, Transaction, UnitOfWork,
            UpdateWrite,
        },
        embedded::Embedded,
    },
};

use odm_store_suite::MapStore;
pub use odm_store_suite::poll_once;

pub use self::any_store::AnyStore;
pub use self::mongodb::{NewDatabases, TestDatabase, on_mongodb, on_mongodb_database};

/// A future of a test, of one type for all tests, so that the code that runs it is compiled once.
pub type Test = Pin<Box<dyn Future<Output = ()>>>;

/// Turns a test of any store into a test of a store of one kind.
pub fn as_any<S: Into<AnyStore>>(test: fn(AnyStore) -> Test) -> impl FnOnce(S) -> Test {
    move |store| test(store.into())
}

/// A store that a suite can run on.
pub trait TestStore: Store + Clone {}

impl<S: Store + Clone> TestStore for S {}

/// Turns each `async fn name(store: AnyStore)` into one test for each store, `name::on_disk`, `name::in_memory`,
/// `name::in_maps`, `name::in_serializable_maps` and `name::on_mongodb`. Another store is one more line here.
#[macro_export]
macro_rules! on_every_store {
    ($($(#[$attribute:meta])* async fn $name:ident($store:ident: AnyStore) $body:block)+) => {$(
        $(#[$attribute])*
        async fn $name($store: $crate::AnyStore) $body

        mod $name {
            $crate::on_stores! { $name: on_disk in_memory in_maps in_serializable_maps }

            #[test]
            #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
            fn on_mongodb() {
                $crate::on_mongodb($crate::as_any(|store| Box::pin(super::$name(store))));
            }
        }
    )+};
}

/// Does the same as [`on_every_store!`] for the stores in this process: for tests of features that no server has. A server has no indexes
/// and orders that ignore case (see [`ignores_case`](odm::store::contract::Capabilities::ignores_case)), does not report for each query how
/// many documents it has scanned, takes other numbers of requests, which `tests/suite/calls/messages.rs` holds, and takes a match of a
/// regular expression that needs too much work for no match.
#[macro_export]
macro_rules! on_local_stores {
    ($($(#[$attribute:meta])* async fn $name:ident($store:ident: AnyStore) $body:block)+) => {$(
        $(#[$attribute])*
        async fn $name($store: $crate::AnyStore) $body

        mod $name {
            $crate::on_stores! { $name: on_disk in_memory in_maps in_serializable_maps }
        }
    )+};
}

/// Does the same as [`on_every_store!`] for the stores whose transactions are
/// [serializable](odm::store::contract::Capabilities::serializable), all of which have a feed.
#[macro_export]
macro_rules! on_serializable_stores {
    ($($(#[$attribute:meta])* async fn $name:ident($store:ident: AnyStore) $body:block)+) => {$(
        $(#[$attribute])*
        async fn $name($store: $crate::AnyStore) $body

        mod $name {
            $crate::on_stores! { $name: on_disk in_memory in_serializable_maps }
        }
    )+};
}

/// Does the same as [`on_every_store!`] for the stores whose collections can be watched.
#[macro_export]
macro_rules! on_watched_stores {
    ($($(#[$attribute:meta])* async fn $name:ident($store:ident: AnyStore) $body:block)+) => {$(
        $(#[$attribute])*
        async fn $name($store: $crate::AnyStore) $body

        mod $name {
            $crate::on_stores! { $name: on_disk in_memory in_serializable_maps }

            #[test]
            #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
            fn on_mongodb() {
                $crate::on_mongodb($crate::as_any(|store| Box::pin(super::$name(store))));
            }
        }
    )+};
}

/// Does the same as [`on_every_store!`] for the embedded store alone: for tests of its choice of indexes, of the cost of queries, and of
/// more data than a scan for each query is fit for.
#[macro_export]
macro_rules! on_embedded_stores {
    ($($(#[$attribute:meta])* async fn $name:ident($store:ident: AnyStore) $body:block)+) => {$(
        $(#[$attribute])*
        async fn $name($store: $crate::AnyStore) $body

        mod $name {
            $crate::on_stores! { $name: on_disk in_memory }
        }
    )+};
}

/// Tests of the function outside of the module, one for each of these stores.
#[doc(hidden)]
#[macro_export]
macro_rules! on_stores {
    ($name:ident: $($on_store:ident)+) => {$(
        #[test]
        fn $on_store() {
            $crate::$on_store($crate::as_any(|store| Box::pin(super::$name(store))));
        }
    )+};
}

/// How many rounds a test runs on a store: fewer on a server, where each round takes many messages.
pub fn rounds(store: &AnyStore, all: usize) -> usize {
    match store.is_server {
        true => all.div_ceil(10),
        false => all,
    }
}

/// How long a test may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(120);

/// Runs a test on a runtime with several threads.
pub fn run<F: Future>(test: F) -> F::Output {
    run_for(STUCK, test)
}

/// Runs a test on a runtime with several threads, for at most this time.
pub fn run_for<F: Future>(most: Duration, test: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime starts");
    runtime.block_on(async {
        let output = tokio::time::timeout(most, test).await;
        mongodb::end_sessions().await;
        output.expect("the test is stuck")
    })
}

/// Runs a test on a store in a file of its own.
pub fn on_disk<F: Future>(test: impl FnOnce(Embedded) -> F) {
    let directory = tempfile::tempdir().expect("there is a directory for tests");
    run(async {
        let store = Embedded::open(directory.path().join("test.odm")).await;
        test(store.expect("a new store opens")).await;
    });
}

/// A folder of stores, for tests that need many.
#[derive(Debug)]
pub struct NewFiles {
    folder: tempfile::TempDir,
    next: AtomicUsize,
}

impl NewFiles {
    /// Creates an empty folder.
    #[expect(clippy::new_without_default, reason = "it writes to the disk")]
    pub fn new() -> Self {
        NewFiles {
            folder: tempfile::tempdir().expect("there is a directory for tests"),
            next: AtomicUsize::new(0),
        }
    }

    /// Opens a store in a new file.
    pub async fn open(&self) -> Embedded {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let store = Embedded::open(self.folder.path().join(format!("{number}.odm"))).await;
        store.expect("a new store opens")
    }
}

/// Runs a test on a store without a file.
pub fn in_memory<F: Future>(test: impl FnOnce(Embedded) -> F) {
    run(async { test(Embedded::memory().await.expect("a store in memory opens")).await });
}

/// Runs a test on a store of maps, which is implemented outside of `odm`, and whose transactions have snapshots and locks.
pub fn in_maps<F: Future>(test: impl FnOnce(MapStore) -> F) {
    run(async { test(MapStore::new()).await });
}

/// Runs a test on a store of maps with serializable transactions, which conflict when they commit.
pub fn in_serializable_maps<F: Future>(test: impl FnOnce(MapStore) -> F) {
    run(async { test(MapStore::new().serializable()).await });
}

/// The stored documents of a collection, in the order of their `_id`s.
pub async fn stored(store: &impl Store, collection: &str) -> Vec<RawDocumentBuf> {
    let find = Find {
        collection: collection.to_owned(),
        ..Find::default()
    };
    let mut documents = Vec::new();
    let reader = store.reader().expect("the store can be read");
    let result = reader
        .find(&find, &mut |_, document| {
            documents.push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        })
        .await;
    result.expect("the collection can be read");
    documents
}

/// The chapter about changing models compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/changing-models.md")]
pub struct ChangingModels;

/// The chapter about the store on MongoDB compiles.
#[cfg(doctest)]
#[doc = include_str!("../../docs/mongodb.md")]
pub struct OnMongoDb;

/// A write to the store beneath, without consequences, which the library does not know of.
enum Beneath {
    Insert(RawDocumentBuf),
    Remove(RawDocumentBuf),
    Update(mql::Filter, mql::Update),
}

struct Unmaintained {
    collection: String,
    write: Beneath,
}

#[async_trait::async_trait]
impl UnitOfWork for Unmaintained {
    async fn run(&self, transaction: &mut dyn Transaction) -> odm::Result<()> {
        match &self.write {
            Beneath::Insert(document) => {
                let write = DocumentWrite::Insert(document);
                self.apply(transaction, write).await
            }
            Beneath::Remove(document) => {
                let write = DocumentWrite::Remove(document);
                self.apply(transaction, write).await
            }
            Beneath::Update(filter, update) => {
                let write = UpdateWrite {
                    collection: self.collection.clone(),
                    filter: filter.clone(),
                    change: Change::Update(update.clone()),
                    upsert: false,
                    check: None,
                };
                transaction.update(&write).await.map(drop)
            }
        }
    }
}

impl Unmaintained {
    async fn apply(
        &self,
        transaction: &mut dyn Transaction,
        write: DocumentWrite<'_>,
    ) -> odm::Result<()> {
        let batch = CollectionWrites {
            collection: &self.collection,
            writes: vec![write],
        };
        transaction.apply(&[batch]).await.map(drop)
    }
}

async fn beneath(store: &impl Store, collection: &str, write: Beneath) {
    let unit = Unmaintained {
        collection: collection.to_owned(),
        write,
    };
    store
        .run(Arc::new(unit), Durability::Immediate)
        .await
        .unwrap();
}

/// Updates documents in the store itself, as a program without the library could.
pub async fn behind_the_back(
    store: &impl Store,
    collection: &str,
    filter: Document,
    update: Document,
) {
    let filter = mql::Filter::parse(&filter).unwrap();
    let update = mql::Update::parse(&update, &[]).unwrap();
    beneath(store, collection, Beneath::Update(filter, update)).await;
}

/// Inserts a document in the store itself.
pub async fn insert_behind_the_back(store: &impl Store, collection: &str, document: Document) {
    let document = RawDocumentBuf::try_from(&document).unwrap();
    beneath(store, collection, Beneath::Insert(document)).await;
}

/// Removes a document in the store itself.
pub async fn remove_behind_the_back(
    store: &impl Store,
    collection: &str,
    document: RawDocumentBuf,
) {
    beneath(store, collection, Beneath::Remove(document)).await;
}
