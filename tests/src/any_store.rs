//! A store of any kind.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use odm::{
    Result,
    bson::Bson,
    store::{
        Durability,
        contract::{
            Capabilities, CollectionSpec, CollectionStats, CollectionValidator, CommitTime,
            CommitWatch, IndexUses, Reader, SingleWriteRequest, Store, StoreSession, StoreWatch,
            Transaction, TransactionOptions, UnitOfWork, Updated, WatchRequest,
        },
        embedded::Embedded,
        mongodb::MongoDb,
    },
};

use odm_store_suite::MapStore;

/// A store of any kind, so that a test is compiled once for all of them.
#[derive(Clone)]
pub struct AnyStore {
    store: Arc<dyn Store>,
    pub(crate) is_server: bool,
}

impl fmt::Debug for AnyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyStore").finish_non_exhaustive()
    }
}

impl From<Embedded> for AnyStore {
    fn from(store: Embedded) -> Self {
        AnyStore {
            store: Arc::new(store),
            is_server: false,
        }
    }
}

impl From<MapStore> for AnyStore {
    fn from(store: MapStore) -> Self {
        AnyStore {
            store: Arc::new(store),
            is_server: false,
        }
    }
}

impl From<MongoDb> for AnyStore {
    fn from(store: MongoDb) -> Self {
        AnyStore {
            store: Arc::new(store),
            is_server: true,
        }
    }
}

#[async_trait]
impl Store for AnyStore {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    async fn snapshot(&self) -> Result<Arc<dyn Reader>> {
        self.store.snapshot().await
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        self.store.collections().await
    }

    async fn collection_stats(&self, collection: &str) -> Result<Option<CollectionStats>> {
        self.store.collection_stats(collection).await
    }

    async fn index_uses(&self, collection: &str) -> Result<Option<Vec<IndexUses>>> {
        self.store.index_uses(collection).await
    }

    async fn validate(&self, validations: &[CollectionValidator]) -> Result<()> {
        self.store.validate(validations).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        self.store.run(unit, durability).await
    }

    async fn write_single(
        &self,
        write: &SingleWriteRequest,
        durability: Durability,
    ) -> Result<Option<Updated>> {
        self.store.write_single(write, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.store.begin(options).await
    }

    async fn session(&self) -> Result<Option<Box<dyn StoreSession>>> {
        self.store.session().await
    }

    async fn kill_session(&self, id: &Bson) -> Result<()> {
        self.store.kill_session(id).await
    }

    async fn watch(&self, request: &WatchRequest) -> Result<StoreWatch> {
        self.store.watch(request).await
    }

    async fn watch_commits(&self, after: Option<CommitTime>) -> Result<CommitWatch> {
        self.store.watch_commits(after).await
    }

    fn forget_commits(&self) {
        self.store.forget_commits();
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}
