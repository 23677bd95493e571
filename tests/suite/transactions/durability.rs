//! The requested durability reaches the store.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use odm::{
    Result,
    prelude::*,
    store::{
        Durability,
        contract::{
            Capabilities, CollectionSpec, Reader, Store, Transaction, TransactionOptions,
            UnitOfWork,
        },
    },
};
use tests::{TestStore, on_every_store};

use crate::transactions::bank::{Bank, account, bank};

/// A store that records the durability of its units and transactions.
#[derive(Clone)]
struct Recorded<S> {
    store: S,
    asked: Asked,
}

#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<(&'static str, Durability)>>>);

impl Asked {
    fn add(&self, call: &'static str, durability: Durability) {
        self.0.lock().unwrap().push((call, durability));
    }

    fn take(&self) -> Vec<(&'static str, Durability)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl<S: TestStore> Store for Recorded<S> {
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
        self.asked.add("run", durability);
        self.store.run(unit, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.asked.add("begin", options.durability);
        self.store.begin(options).await
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

async fn recorded(store: impl TestStore) -> (Bank, Asked) {
    let asked = Asked::default();
    let bank = bank(Recorded { store, asked: asked.clone() }).await;
    asked.take();
    (bank, asked)
}

on_every_store! {
    async fn a_transaction_has_the_durability_of_its_database(store: AnyStore) {
        use Durability::{Eventual, Immediate};
        let (bank, asked) = recorded(store).await;
        let eventual = bank.durability(Eventual);
        eventual.transaction(async |bank| bank.add(1, -1).await).await.unwrap();
        assert_eq!(asked.take(), [("begin", Eventual)]);
        let guard = eventual.begin().await.unwrap();
        guard.add(1, -1).await.unwrap();
        guard.commit().await.unwrap();
        assert_eq!(asked.take(), [("begin", Eventual)]);
        // The database itself stays as it is, and repositories of the other one have its durability.
        bank.transaction(async |bank| bank.add(1, -1).await).await.unwrap();
        assert_eq!(asked.take(), [("begin", Immediate)]);
        eventual.durability(Immediate).transaction(async |bank| bank.add(1, -1).await).await.unwrap();
        assert_eq!(asked.take(), [("begin", Immediate)]);
        assert_eq!(bank.balance(1).await, 96);
    }

    async fn a_write_has_the_durability_of_its_database_or_repository(store: AnyStore) {
        use Durability::{Eventual, Immediate};
        let (bank, asked) = recorded(store).await;
        let eventual = bank.durability(Eventual);
        eventual.accounts.insert(account(11, 0)).await.unwrap();
        eventual.accounts.durability(Immediate).insert(account(12, 0)).await.unwrap();
        bank.accounts.delete(12).await.unwrap();
        assert_eq!(asked.take(), [("run", Eventual), ("run", Immediate), ("run", Immediate)]);
    }

    async fn a_transaction_in_another_one_has_the_durability_of_that(store: AnyStore) {
        use Durability::{Eventual, Immediate};
        let (bank, asked) = recorded(store).await;
        bank.transaction(async |bank| {
            let eventual = bank.durability(Eventual);
            eventual.transaction(async |bank| bank.add(1, -1).await).await?;
            eventual.accounts.insert(account(11, 0)).await.map(drop)
        })
        .await
        .unwrap();
        assert_eq!(asked.take(), [("begin", Immediate)]);
        assert!(bank.accounts.get(11).await.is_ok());
    }
}
