//! The worker of an open database.

use std::time::Duration;

use odm::{Embedded, ErrorKind, OpenOptions, prelude::*};
use odm_store_suite::MapStore;
use tests::{TestStore, on_every_store, on_serializable_stores};

use super::{Part, Shop, assert_refreshed, by_hand, deferred, maker, part, rename, shop, waiting};

async fn until(what: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(100), async {
        while !what().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    waited.await.expect("it comes to pass");
}

async fn with_parts(store: impl TestStore, options: OpenOptions, number: i32) -> Shop {
    let shop = Shop::open_with(store, options).await.unwrap();
    shop.makers.insert(maker(1, "a")).await.unwrap();
    let parts = (0..number).map(|id| part(id, Some(1)));
    shop.parts.insert_many(parts).await.unwrap();
    shop
}

on_every_store! {
    async fn a_worker_begins_at_once(store: AnyStore) {
        // Longer than the test can take.
        let options = OpenOptions::default().refresh_every(Duration::from_secs(600));
        let shop = with_parts(store, options, 700).await;
        until(async || waiting(&shop).await == 0).await;
        rename(&shop, 1, "b").await;
        until(async || waiting(&shop).await == 0).await;
        assert_eq!(shop.parts.find(Part::fields().maker_name.eq("b")).count().await.unwrap(), 700);
        shop.transaction(async |shop| {
            rename(&shop, 1, "c").await;
            Ok(())
        })
        .await
        .unwrap();
        until(async || waiting(&shop).await == 0).await;
        assert_eq!(deferred(&shop).await, 0);
    }

    async fn a_worker_finds_what_others_left(store: AnyStore) {
        let options = OpenOptions::default().refresh_every(Duration::from_millis(20));
        let working = Shop::open_with(store.clone(), options).await.unwrap();
        let shop = with_parts(store, by_hand(), 10).await;
        rename(&shop, 1, "b").await;
        until(async || waiting(&shop).await == 0).await;
        assert_eq!(deferred(&working).await, 0);
    }

    async fn two_workers_and_a_caller_share_the_work(store: AnyStore) {
        let fast = || OpenOptions::default().refresh_every(Duration::from_millis(1));
        let shop = with_parts(store.clone(), fast(), 400).await;
        let other = Shop::open_with(store.clone(), fast()).await.unwrap();
        let third = Shop::open_with(store, by_hand()).await.unwrap();
        for name in ["b", "c", "d"] {
            rename(&shop, 1, name).await;
            rename(&other, 1, &format!("{name}2")).await;
        }
        assert_refreshed(&third).await;
        assert_eq!(shop.parts.find(Part::fields().maker_name.eq("d2")).count().await.unwrap(), 400);
    }

    async fn a_worker_ends_with_the_database(store: AnyStore) {
        let options = OpenOptions::default().refresh_every(Duration::from_millis(1));
        let shop = with_parts(store, options, 300).await;
        rename(&shop, 1, "b").await;
        shop.close().await.unwrap();
        let closed = shop.deferred_refreshes().await.unwrap_err();
        assert_eq!(closed.kind(), ErrorKind::Closed);
        assert_eq!(shop.wait_for_refreshes().await.unwrap_err().kind(), ErrorKind::Closed);
    }
}

on_serializable_stores! {
    async fn a_refresh_goes_on_where_a_dropped_one_was(store: AnyStore) {
        let shop = with_parts(store, by_hand(), 3_000).await;
        rename(&shop, 1, "b").await;
        let right = async || shop.parts.find(Part::fields().maker_name.eq("b")).count().await.unwrap();
        // It continues even if it is dropped at every moment.
        let mut millis = 0;
        while waiting(&shop).await > 0 {
            millis += 2;
            let before = right().await;
            let work = tokio::time::timeout(Duration::from_millis(millis), shop.wait_for_refreshes());
            drop(work.await);
            assert!(right().await >= before);
            let found = shop.audit().await.unwrap();
            assert_eq!(found, []);
        }
        assert_eq!(right().await, 3_000);
    }

    async fn an_older_value_takes_the_place_of_no_newer_one(store: AnyStore) {
        let shop = with_parts(store.clone(), by_hand(), 1_400).await;
        rename(&shop, 1, "1").await;
        let number = async |name: &str| {
            shop.parts.find(Part::fields().maker_name.eq(name)).count().await.unwrap()
        };
        let working = tokio::spawn({
            let shop = shop.clone();
            async move { shop.wait_for_refreshes().await }
        });
        until(async || number("1").await > 0).await;
        // In the middle of the work, the source changes twice, and a holder moves to it.
        rename(&shop, 1, "2").await;
        rename(&shop, 1, "3").await;
        shop.parts.insert(part(-1, Some(1))).await.unwrap();
        let newest = async || -> u64 { number("3").await };
        let mut least = newest().await;
        while !working.is_finished() {
            let now = newest().await;
            assert!(now >= least, "{now} of {least} have the newest value");
            least = now;
        }
        working.await.unwrap().unwrap();
        assert_refreshed(&shop).await;
        assert_eq!(newest().await, 1_401);
    }
}

#[test]
fn a_store_that_is_opened_again_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.odm");
    tests::run(async {
        let shop = with_parts(Embedded::open(&path).await.unwrap(), by_hand(), 50).await;
        rename(&shop, 1, "b").await;
        drop(shop);
        let shop = Shop::open(Embedded::open(&path).await.unwrap()).await.unwrap();
        until(async || waiting(&shop).await == 0).await;
        assert_eq!(deferred(&shop).await, 0);
        assert_eq!(shop.parts.find(Part::fields().maker_name.eq("b")).count().await.unwrap(), 50);
    });
}

#[test]
fn a_source_that_changes_all_the_time_keeps_nobody_from_the_last_holders() {
    tests::run(async {
        let shop = with_parts(MapStore::new(), by_hand(), 350).await;
        rename(&shop, 1, "0").await;
        let changing = tokio::spawn({
            let shop = shop.clone();
            async move {
                for name in 1..=40 {
                    rename(&shop, 1, &name.to_string()).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        });
        let other = shop.clone();
        // It returns although later changes wait.
        other.wait_for_refreshes().await.unwrap();
        let last = shop.parts.get(349).await.unwrap();
        assert_ne!(last.maker_name.as_deref(), Some("a"));
        changing.await.unwrap();
        assert_refreshed(&shop).await;
    });
}

#[test]
fn the_lease_of_a_worker_that_is_gone_runs_out() {
    use odm::bson::{DateTime, doc, oid::ObjectId};
    tests::run(async {
        let store = MapStore::new();
        let shop = shop(store.clone()).await;
        shop.makers.insert(maker(1, "a")).await.unwrap();
        shop.parts.insert(part(1, Some(1))).await.unwrap();
        shop.wait_for_refreshes().await.unwrap();
        rename(&shop, 1, "b").await;
        let until =
            |millis: i64| DateTime::from_millis(DateTime::now().timestamp_millis() + millis);
        let lease = doc! { "_id": "outbox", "turn": ObjectId::new(), "until": until(60_000) };
        tests::insert_behind_the_back(&store, "_odm_leases", lease).await;
        let working = tokio::time::timeout(Duration::from_millis(200), shop.wait_for_refreshes());
        assert!(working.await.is_err(), "it waits for the other worker");
        assert_eq!(deferred(&shop).await, 1);
        let soon = doc! { "$set": { "until": until(100) } };
        tests::behind_the_back(&store, "_odm_leases", doc! {}, soon).await;
        assert_refreshed(&shop).await;
        assert_eq!(tests::stored(&store, "_odm_leases").await, [], "it is given back");
    });
}
