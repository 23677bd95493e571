//! Backfills of deferred fields.

use std::{future::IntoFuture, task::Poll};

use odm::prelude::*;
use tests::{TestStore, on_every_store, poll_once};

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

async fn plain_shop(store: &impl TestStore) {
    let shop = plain::Shop::open_with(store.clone(), by_hand()).await.unwrap();
    let maker = shop.makers.insert(plain::NewMaker {}).await.unwrap();
    shop.parts.insert(plain::NewPart { maker: Ref::new(maker.id), price: 5 }).await.unwrap();
}

on_every_store! {
    async fn a_field_that_waits_again_when_it_is_checked_is_complete(store: AnyStore) {
        plain_shop(&store).await;
        let shop = summed::Shop::open_with(store.clone(), by_hand()).await.unwrap();
        assert_eq!(shop.pending_backfills(), ["makers.worth"]);
        let mut backfill = shop.backfill().into_future();
        let mut price = 0;
        let findings = loop {
            // Whenever the backfill waits for the store, also between a repair and its check, a write leaves the field to the worker.
            match poll_once(&mut backfill).await {
                Poll::Ready(findings) => break findings.unwrap(),
                Poll::Pending => {
                    price += 1;
                    shop.parts.insert(summed::NewPart { maker: Ref::new(1), price }).await.unwrap();
                }
            }
        };
        assert!(findings.iter().all(|finding| finding.repaired), "after {price} writes: {findings:?}");
        assert_eq!(shop.pending_backfills(), [""; 0]);
        shop.wait_for_refreshes().await.unwrap();
        let worth = shop.makers.get(1).await.unwrap().worth;
        assert_eq!(worth, 5 + (1..=price).sum::<i64>());
        assert_eq!(shop.audit().await.unwrap(), []);
    }
}
