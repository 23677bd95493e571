//! A store implemented outside of the library, with errors of its own.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use odm::{
    Embedded, Error, ErrorKind, Result,
    bson::RawBson,
    prelude::*,
    store::{
        Durability,
        contract::{
            Capabilities, CollectionSpec, Reader, Store, Transaction, TransactionOptions,
            UnitOfWork,
        },
    },
};

use super::items::{Items, item};

/// A store that can lose the connection to the store behind it.
struct Remote {
    store: Embedded,
    is_lost: Arc<AtomicBool>,
}

impl Remote {
    fn check(&self) -> Result<()> {
        if !self.is_lost.load(Ordering::Relaxed) {
            return Ok(());
        }
        let cause = std::io::Error::other("connection reset");
        let message = "connection lost: call again when the server is up";
        Err(Error::new(ErrorKind::Io, message)
            .with_source(cause)
            .at("items", Some("_id"), Some(RawBson::Int32(1)))
            .retryable())
    }
}

#[async_trait]
impl Store for Remote {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.check()?;
        self.store.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        self.check()?;
        self.store.run(unit, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.check()?;
        self.store.begin(options).await
    }

    async fn close(&self) -> Result<()> {
        Store::close(&self.store).await
    }
}

#[test]
fn the_errors_of_a_store_reach_the_caller_as_they_are() {
    tests::run(async {
        let store = Embedded::memory().await.unwrap();
        let is_lost = Arc::new(AtomicBool::new(false));
        let remote = Remote { store, is_lost: is_lost.clone() };
        let db = Items::open(remote).await.unwrap();
        db.items.insert(item(1, "a", "nut", 1)).await.unwrap();
        is_lost.store(true, Ordering::Relaxed);
        for error in [
            db.items.get(1).await.unwrap_err(),
            db.items.insert(item(2, "b", "nut", 1)).await.unwrap_err(),
            db.begin().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Io);
            assert!(error.is_retryable());
            assert_eq!(error.source().unwrap().to_string(), "connection reset");
            let location = error.location().unwrap();
            assert_eq!(location.collection, "items");
            assert_eq!(location.path.as_deref(), Some("_id"));
            assert_eq!(location.id, Some(RawBson::Int32(1)));
        }
        is_lost.store(false, Ordering::Relaxed);
        assert_eq!(db.items.get(1).await.unwrap().code, "a");
    });
}
