//! What `deferred_refreshes`, an audit and a repair say about waiting refreshes.

use odm::{bson::doc, prelude::*};
use tests::{behind_the_back, on_every_store};

use super::{assert_refreshed, deferred, maker, part, rename, shop, waiting};

on_every_store! {
    async fn the_lag_tells_the_time_of_the_oldest_write(store: AnyStore) {
        let shop = shop(store).await;
        let before = DateTime::now();
        shop.makers.insert(maker(1, "a")).await.unwrap();
        shop.parts.insert(part(1, Some(1))).await.unwrap();
        rename(&shop, 1, "b").await;
        let after = DateTime::now();
        let oldest = shop.deferred_refreshes().await.unwrap().oldest.unwrap();
        assert!(before <= oldest && oldest <= after);
        assert_refreshed(&shop).await;
    }

    async fn what_is_wrong_for_another_reason_is_a_finding(store: AnyStore) {
        let shop = shop(store.clone()).await;
        shop.makers.insert_many([maker(1, "a"), maker(2, "b")]).await.unwrap();
        shop.parts.insert_many([part(1, Some(1)), part(2, Some(2))]).await.unwrap();
        rename(&shop, 1, "a2").await;
        behind_the_back(&store, "parts", doc! { "_id": 2 }, doc! { "$set": { "maker_name": "x" } }).await;
        let mut audit = shop.audit();
        let finding = audit.try_next().await.unwrap().unwrap();
        assert_eq!((finding.path.as_str(), finding.id), ("maker_name", 2.into()));
        assert_eq!(audit.try_next().await.unwrap(), None);
        assert_eq!(audit.progress().deferred, 1);
    }

    async fn a_repair_does_not_wait(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert(maker(1, "a")).await.unwrap();
        shop.parts.insert(part(1, Some(1))).await.unwrap();
        rename(&shop, 1, "b").await;
        let repaired = shop.repair().await.unwrap();
        assert_eq!(repaired.len(), 1);
        assert!(repaired[0].repaired);
        assert_eq!(deferred(&shop).await, 0);
        let part = shop.parts.get(1).await.unwrap();
        assert_eq!(part.maker_name.as_deref(), Some("b"));
        // The record has no work left.
        assert!(waiting(&shop).await > 0);
        assert_refreshed(&shop).await;
    }
}
