//! Backfills of deferred fields.

use std::{future::IntoFuture, sync::Arc, task::Poll};

use async_trait::async_trait;
use odm::{
    Embedded, Result,
    prelude::*,
    store::{
        Durability,
        contract::{
            Capabilities, CollectionSpec, Reader, Store, Transaction, TransactionOptions,
            UnitOfWork,
        },
    },
};
use odm_store_suite::MapStore;
use tests::{TestStore, poll_once};

use super::by_hand;

macro_rules! version {
    ($module:ident, $version:literal, $($worth:tt)*) => {
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "makers", new = "NewMaker")]
            pub(super) struct Maker {
                #[serde(rename = "_id")]
                #[id(sequence)]
                pub(super) id: i64,
                $($worth)*
            }

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "parts", new = "NewPart")]
            pub(super) struct Part {
                #[serde(rename = "_id")]
                #[id(sequence)]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) maker: Ref<Maker>,
                pub(super) price: i64,
            }

            #[derive(Debug, Database)]
            #[database(name = "shop", version = $version)]
            pub(super) struct Shop {
                pub(super) makers: Repository<Maker>,
                pub(super) parts: Repository<Part>,
            }
        }
    };
}

version!(plain, 1,);
version!(summed, 2, #[sum(of = "Part.price", refresh = "later")] pub(super) worth: i64,);

/// A store whose caller waits after each unit.
#[derive(Clone)]
struct Yielding<S>(S);

#[async_trait]
impl<S: TestStore> Store for Yielding<S> {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.0.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.0.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        self.0.run(unit, durability).await?;
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.0.begin(options).await
    }

    async fn close(&self) -> Result<()> {
        self.0.close().await
    }
}

async fn plain_shop(store: &impl TestStore) {
    let shop = plain::Shop::open_with(store.clone(), by_hand()).await.unwrap();
    let maker = shop.makers.insert(plain::NewMaker {}).await.unwrap();
    shop.parts.insert(plain::NewPart { maker: Ref::new(maker.id), price: 5 }).await.unwrap();
}

/// Runs a backfill with a write after each of its units, so also between a repair and its check.
async fn backfill_beside_writes(store: impl TestStore) {
    plain_shop(&store).await;
    let shop = summed::Shop::open_with(Yielding(store), by_hand()).await.unwrap();
    assert_eq!(shop.pending_backfills(), ["makers.worth"]);
    let mut backfill = shop.backfill().into_future();
    let mut price = 0;
    let findings = loop {
        match poll_once(&mut backfill).await {
            Poll::Ready(findings) => break findings.unwrap(),
            Poll::Pending => {
                price += 1;
                let part = summed::NewPart { maker: Ref::new(1), price };
                shop.parts.insert(part).await.unwrap();
            }
        }
    };
    assert!(price > 0, "no write came between");
    assert!(findings.iter().all(|finding| finding.repaired), "{price} writes: {findings:?}");
    assert_eq!(shop.pending_backfills(), [""; 0]);
    shop.wait_for_refreshes().await.unwrap();
    let worth = shop.makers.get(1).await.unwrap().worth;
    assert_eq!(worth, 5 + (1..=price).sum::<i64>());
    assert_eq!(shop.audit().await.unwrap(), []);
}

// Not on a server, where the repair would lose each conflict to the writes.
#[test]
fn a_field_that_waits_again_when_it_is_checked_is_complete() {
    tests::run(async {
        let files = tests::NewFiles::new();
        backfill_beside_writes(files.open().await).await;
        backfill_beside_writes(Embedded::memory().await.unwrap()).await;
        backfill_beside_writes(MapStore::new()).await;
    });
}
