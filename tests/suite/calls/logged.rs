//! A store that logs its calls.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use odm::{
    Result,
    bson::{RawBson, RawDocument},
    store::{
        Cost, Durability, Explain,
        contract::{
            Capabilities, CollectionSpec, CollectionWrites, DeleteWrite, Deleted, Each, Find,
            FindByKey, Locks, Reader, Store, Transaction, TransactionOptions, UnitOfWork,
            UpdateWrite, Updated,
        },
        embedded::Embedded,
    },
};

/// The calls of a store, in order, with the collections, and the bytes that a search by keys has passed.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>, pub(crate) Arc<AtomicUsize>);

impl Log {
    fn add(&self, call: &str, collection: &str) {
        if collection != "_odm_catalog" {
            self.0.lock().unwrap().push(format!("{call} {collection}"));
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A store that logs the calls of its units and transactions.
#[derive(Clone)]
pub(crate) struct Logged {
    pub(crate) store: Embedded,
    pub(crate) log: Log,
}

#[async_trait]
impl Store for Logged {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let log = self.log.clone();
        let unit = Arc::new(LoggedUnit { unit, log });
        self.store.run(unit, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let transaction = self.store.begin(options).await?;
        let log = self.log.clone();
        Ok(Box::new(LoggedTransaction { transaction, log }))
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

struct LoggedUnit {
    unit: Arc<dyn UnitOfWork>,
    log: Log,
}

#[async_trait]
impl UnitOfWork for LoggedUnit {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut logged = LoggedCalls { transaction, log: self.log.clone() };
        self.unit.run(&mut logged).await
    }

    fn documents(&self) -> u64 {
        self.unit.documents()
    }
}

/// A transaction of a caller.
struct LoggedTransaction {
    transaction: Box<dyn Transaction>,
    log: Log,
}

/// The calls of one unit.
struct LoggedCalls<'a> {
    transaction: &'a mut dyn Transaction,
    log: Log,
}

/// Both forward every call to `self.transaction`, and log it.
macro_rules! forward {
    ($($logged:ty, { $($end:tt)* };)+) => {$(
        #[async_trait]
        impl Reader for $logged {
            async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
                self.log.add("get", collection);
                self.transaction.get(collection, ids, each).await
            }

            async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
                self.log.add("find", &find.collection);
                self.transaction.find(find, each).await
            }

            async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
                self.log.add("find_by_key", &find.find.collection);
                let passed = self.log.1.clone();
                let each = &mut |at: usize, document: &RawDocument| {
                    passed.fetch_add(document.as_bytes().len(), Ordering::Relaxed);
                    each(at, document)
                };
                self.transaction.find_by_key(find, each).await
            }

            async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
                self.log.add("count", &find.collection);
                self.transaction.count(find).await
            }

            async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
                self.log.add("count_by_key", &find.find.collection);
                self.transaction.count_by_key(find).await
            }

            async fn explain(&self, find: &Find) -> Result<Explain> {
                self.transaction.explain(find).await
            }

            async fn index_of(&self, find: &Find) -> Result<Option<String>> {
                self.transaction.index_of(find).await
            }
        }

        #[async_trait]
        impl Transaction for $logged {
            async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
                let collections: Vec<&str> = batch.iter().map(|writes| writes.collection).collect();
                self.log.add("apply", &collections.join(","));
                self.transaction.apply(batch).await
            }

            async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
                self.log.add("update", &write.collection);
                self.transaction.update(write).await
            }

            async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
                self.log.add("delete", &write.collection);
                self.transaction.delete(write).await
            }

            fn locks(&mut self) -> Option<&mut Locks> {
                self.transaction.locks()
            }

            $($end)*
        }
    )+};
}

forward! {
    LoggedTransaction, {
        async fn commit(self: Box<Self>) -> Result<()> {
            self.transaction.commit().await
        }

        async fn rollback(self: Box<Self>) -> Result<()> {
            self.transaction.rollback().await
        }
    };
    LoggedCalls<'_>, {
        async fn commit(self: Box<Self>) -> Result<()> {
            unreachable!("a unit is committed by the store")
        }

        async fn rollback(self: Box<Self>) -> Result<()> {
            unreachable!("a unit is rolled back by the store")
        }
    };
}
