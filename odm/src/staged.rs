//! A store that reads and writes staged collections under the names of the collections that they replace.
//!
//! Its users need not know about staging: names are exchanged in each call. A write to another collection is refused, and
//! [`missing`](Staged::missing) names that collection.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::RawBson;
use odm_mql::Collation;

use odm_store::{
    Aggregate, Capabilities, CollectionSpec, CollectionWrites, Cost, DeleteWrite, Deleted,
    Durability, Each, Error, ErrorKind, Explain, Find, FindByKey, Locks, Reader, Result, Store,
    Transaction, TransactionOptions, UnitOfWork, UpdateWrite, Updated,
};

/// The prefix of the name of a staged collection.
const PREFIX: &str = "_odm_staged.";

/// The name of the staged version of a collection.
pub(crate) fn staged_name(collection: &str) -> String {
    format!("{PREFIX}{collection}")
}

/// A store with staged collections.
#[derive(Clone)]
pub(crate) struct Staged {
    store: Arc<dyn Store>,
    names: Arc<Mutex<Names>>,
}

#[derive(Debug, Clone, Default)]
struct Names {
    staged: Arc<BTreeSet<String>>,
    missing: Option<String>,
}

impl Names {
    fn of(&self, collection: &str) -> String {
        match self.staged.contains(collection) {
            true => staged_name(collection),
            false => collection.to_owned(),
        }
    }

    fn of_find(&self, find: &Find) -> Find {
        Find {
            collection: self.of(&find.collection),
            ..find.clone()
        }
    }

    fn of_find_by_key(&self, find: &FindByKey) -> FindByKey {
        FindByKey {
            find: self.of_find(&find.find),
            ..find.clone()
        }
    }
}

impl Staged {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Staged {
            store,
            names: Arc::default(),
        }
    }

    /// Reads and writes the staged version of a collection from now on.
    pub(crate) fn add(&self, collection: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut names.staged).insert(collection.to_owned());
    }

    /// Whether a collection is staged.
    pub(crate) fn has(&self, collection: &str) -> bool {
        self.names().staged.contains(collection)
    }

    /// The collection for which a write was refused, since it is not staged.
    pub(crate) fn missing(&self) -> Option<String> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.missing.take()
    }

    fn names(&self) -> Names {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.clone()
    }

    /// The name by which a collection is written.
    fn written(&self, collection: &str) -> Result<String> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.staged.contains(collection) {
            return Ok(staged_name(collection));
        }
        names.missing = Some(collection.to_owned());
        let message = format!("`{collection}` is not staged: stage it, and write again");
        Err(Error::new(ErrorKind::Migrating, message))
    }
}

/// Restores the original names of collections in an error.
fn named(error: Error) -> Error {
    error.without_prefix(PREFIX)
}

#[async_trait]
impl Store for Staged {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        Ok(Arc::new(StagedReader {
            reader: self.store.reader()?,
            names: self.names(),
        }))
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        let names = self.names();
        let staged = collections.iter().map(|spec| CollectionSpec {
            name: names.of(&spec.name),
            ..spec.clone()
        });
        let staged: Vec<CollectionSpec> = staged.collect();
        self.store.ensure(&staged).await.map_err(named)
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let unit = StagedUnit {
            unit,
            store: self.clone(),
        };
        let ran = self.store.run(Arc::new(unit), durability).await;
        ran.map_err(named)
    }

    async fn begin(&self, _: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let message = "transactions of callers cannot be staged: run a unit";
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

struct StagedReader<R> {
    reader: R,
    names: Names,
}

struct StagedUnit {
    unit: Arc<dyn UnitOfWork>,
    store: Staged,
}

#[async_trait]
impl UnitOfWork for StagedUnit {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut staged = StagedTransaction {
            transaction,
            names: self.store.names(),
            store: &self.store,
        };
        self.unit.run(&mut staged).await
    }

    fn documents(&self) -> u64 {
        self.unit.documents()
    }
}

struct StagedTransaction<'t> {
    transaction: &'t mut dyn Transaction,
    names: Names,
    store: &'t Staged,
}

/// Implements `Reader` with exchanged names.
macro_rules! reads {
    ($type:ty, $self:ident, $reader:expr) => {
        #[async_trait]
        impl Reader for $type {
        async fn get(&$self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
            $reader.get(&$self.names.of(collection), ids, each).await
        }

        async fn find(&$self, find: &Find, each: Each<'_>) -> Result<Cost> {
            $reader.find(&$self.names.of_find(find), each).await
        }

        async fn find_by_key(&$self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
            $reader.find_by_key(&$self.names.of_find_by_key(find), each).await
        }

        async fn count(&$self, find: &Find) -> Result<(u64, Cost)> {
            $reader.count(&$self.names.of_find(find)).await
        }

        async fn count_by_key(&$self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
            $reader.count_by_key(&$self.names.of_find_by_key(find)).await
        }

        async fn aggregate(&$self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
            let aggregate = Aggregate {
                find: $self.names.of_find(&aggregate.find),
                ..aggregate.clone()
            };
            $reader.aggregate(&aggregate, each).await
        }

        async fn explain(&$self, find: &Find) -> Result<Explain> {
            $reader.explain(&$self.names.of_find(find)).await
        }

        async fn index_of(&$self, find: &Find) -> Result<Option<String>> {
            $reader.index_of(&$self.names.of_find(find)).await
        }

        async fn default_collation(&$self, collection: &str) -> Result<Option<Collation>> {
            $reader.default_collation(&$self.names.of(collection)).await
        }
        }
    };
}

reads!(StagedReader<Arc<dyn Reader>>, self, self.reader);
reads!(StagedTransaction<'_>, self, self.transaction);

#[async_trait]
impl Transaction for StagedTransaction<'_> {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let names = batch
            .iter()
            .map(|writes| self.store.written(writes.collection));
        let names: Vec<String> = names.collect::<Result<_>>()?;
        let staged = batch
            .iter()
            .zip(&names)
            .map(|(writes, collection)| CollectionWrites {
                collection,
                writes: writes.writes.clone(),
            });
        let staged: Vec<CollectionWrites<'_>> = staged.collect();
        self.transaction.apply(&staged).await
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        let collection = self.store.written(&write.collection)?;
        let write = UpdateWrite {
            collection,
            ..write.clone()
        };
        self.transaction.update(&write).await
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        let collection = self.store.written(&write.collection)?;
        let write = DeleteWrite {
            collection,
            ..write.clone()
        };
        self.transaction.delete(&write).await
    }

    fn locks(&mut self) -> Option<&mut Locks> {
        self.transaction.locks()
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "a unit cannot end its transaction",
        ))
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "a unit cannot end its transaction",
        ))
    }
}
