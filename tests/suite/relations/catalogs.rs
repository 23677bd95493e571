//! Several programs on one store: each maintains the derived fields of the others.

mod kinds;

use std::time::Duration;

use odm::{DerivedKind, ErrorKind, Problem, prelude::*};
use odm_store_suite::MapStore;
use serde::{Deserialize, Serialize};
use tests::{on_every_store, run};

use super::{Works, assert_right, maker, part, product};

/// A program that knows only parts, and not the holders of their copies.
mod alone {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "parts")]
    pub(super) struct Part {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
    }

    #[derive(Database)]
    #[database(name = "stock", version = 1)]
    pub(super) struct Stock {
        pub(super) parts: Repository<Part>,
    }
}

on_every_store! {
    async fn a_program_that_knows_only_parts_renames_one_and_the_copies_change(store: AnyStore) {
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        stock.parts.insert(alone::Part { id: 1, name: "old".into() }).await.unwrap();
        // Opened after the other database, whose repositories are in use already.
        let db = Works::open(store.clone()).await.unwrap();
        db.makers.insert(maker(1)).await.unwrap();
        db.repair().await.unwrap();
        db.parts.insert(part(2)).await.unwrap();
        db.products.insert(product(1, Some(1), &[1, 2])).await.unwrap();
        let name = alone::Part::fields().name;
        stock.parts.update(1).set(name, "new").await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.products[&1].parts[0].name, "new");
        stock.transaction(async |stock| {
            stock.parts.update(2).set(name, "newer").await?;
            stock.parts.delete(1).await.map(drop)
        }).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!((all.products[&1].parts.len(), all.products[&1].parts[0].name.as_str()), (1, "newer"));
        let error = stock.parts.update(2).raw(odm::bson::doc! { "$set": { "product_names": [] } }).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidQuery, "it is kept, also by those who do not know it");
        stock.parts.replace(alone::Part { id: 2, name: "whole".into() }).await.unwrap();
        assert_right(&db).await;
    }

    async fn a_process_that_starts_anew_still_follows_what_others_declared(store: AnyStore) {
        let db = Works::open(store.clone()).await.unwrap();
        db.parts.insert_many((1..=2).map(part)).await.unwrap();
        db.products.insert(product(1, None, &[1, 2])).await.unwrap();
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        assert!(stock.pending_backfills().is_empty(), "it declares nothing");
        stock.parts.update_where(Filter::all()).set(alone::Part::fields().name, "x").await.unwrap();
        assert_right(&db).await;
        assert_eq!(stock.audit().await.unwrap(), []);
    }

    async fn what_is_declared_over_older_documents_is_reported_and_rebuilt(store: AnyStore) {
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        let parts = (0..450).map(|id| alone::Part { id, name: format!("part {id}") });
        stock.parts.insert_many(parts).await.unwrap();
        let db = Works::open(store.clone()).await.unwrap();
        assert_eq!(db.pending_backfills(), ["parts.product_names"]);
        assert_eq!(Works::open(store.clone()).await.unwrap().pending_backfills().len(), 1, "until it is rebuilt");
        let mut rebuild = db.backfill();
        let mut repaired = 0;
        while let Some(finding) = rebuild.next().await {
            let finding = finding.unwrap();
            assert_eq!((finding.problem, finding.repaired), (Problem::Derived(DerivedKind::Copy), true));
            repaired += 1;
        }
        assert_eq!((repaired, rebuild.progress().checked, rebuild.progress().total), (450, 450, 450));
        assert!(db.pending_backfills().is_empty());
        let again = Works::open(store).await.unwrap();
        assert!(again.pending_backfills().is_empty());
        assert_eq!(again.backfill().await.unwrap(), []);
        assert_eq!(again.audit().await.unwrap(), []);
    }

    async fn an_older_version_cannot_come_after_a_newer_one(store: AnyStore) {
        newer::Stock::open(store.clone()).await.unwrap();
        let error = alone::Stock::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("version 2") && error.to_string().contains("`stock`"), "{error}");
        newer::Stock::open(store).await.unwrap();
    }

    async fn two_that_contradict_each_other_are_refused(store: AnyStore) {
        let db = Works::open(store.clone()).await.unwrap();
        db.makers.insert(maker(1)).await.unwrap();
        let error = contrary::Shop::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`products.maker`"), "{error}");
        // The refused program has left nothing.
        db.products.insert(product(1, Some(1), &[])).await.unwrap();
        assert_right(&db).await;
        Works::open(store).await.unwrap();
    }
}

#[test]
fn updates_without_a_transaction_are_in_what_a_program_derives_that_is_declared_meanwhile() {
    run(async {
        let store =
            MapStore::with_single_writes(Duration::from_millis(400), Duration::from_millis(150));
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        let part = |id| alone::Part { id, name: "old".into() };
        stock.parts.insert_many((1..=9).map(part)).await.unwrap();
        // Some begin before the announcement of the other program, some while it waits, and some after its declaration.
        let updates = (1..=9).map(async |id| {
            tokio::time::sleep(Duration::from_millis(id as u64 * 60)).await;
            let update = stock.parts.update(id);
            update.set(alone::Part::fields().name, "new").await.unwrap();
        });
        let declare = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let db = Works::open(store.clone()).await.unwrap();
            let parts: Vec<i32> = (1..=9).collect();
            db.products.insert(product(1, None, &parts)).await.unwrap();
            db
        };
        let (_, db) = tokio::join!(futures_util::future::join_all(updates), declare);
        let parts = db.products.get(1).await.unwrap().parts;
        assert_eq!(parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["new"; 9]);
        db.backfill().await.unwrap();
        assert_right(&db).await;
    });
}

#[test]
fn inserts_without_a_transaction_have_what_a_program_derives_in_them_that_is_declared_meanwhile() {
    run(async {
        let store =
            MapStore::with_single_writes(Duration::from_millis(400), Duration::from_millis(150));
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        let inserts = (1..=9).map(async |id| {
            tokio::time::sleep(Duration::from_millis(id as u64 * 60)).await;
            let part = alone::Part { id, name: "new".into() };
            stock.parts.insert(part).await.unwrap();
        });
        let declare = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let db = Works::open(store.clone()).await.unwrap();
            // Documents that are inserted from now on are right by themselves.
            db.backfill().await.unwrap();
            db
        };
        let (_, db) = tokio::join!(futures_util::future::join_all(inserts), declare);
        assert_eq!(assert_right(&db).await.parts.len(), 9);
    });
}

#[test]
fn what_an_open_has_announced_that_was_dropped_harms_nobody() {
    run(async {
        let store = MapStore::with_single_writes(Duration::from_millis(100), Duration::ZERO);
        let stock = alone::Stock::open(store.clone()).await.unwrap();
        let part = alone::Part { id: 1, name: "old".into() };
        stock.parts.insert(part).await.unwrap();
        let open = Works::open(store.clone());
        assert!(tokio::time::timeout(Duration::from_millis(20), open).await.is_err());
        let name = alone::Part::fields().name;
        stock.parts.update(1).set(name, "new").await.unwrap();
        let db = Works::open(store.clone()).await.unwrap();
        db.products.insert(product(1, None, &[1])).await.unwrap();
        stock.parts.update(1).set(name, "newer").await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().parts[0].name, "newer");
    });
}

mod newer {
    use super::*;

    #[derive(Database)]
    #[database(name = "stock", version = 2)]
    pub(super) struct Stock {
        #[allow(dead_code, reason = "it is declared, and never used")]
        parts: Repository<super::alone::Part>,
    }
}

/// It declares another delete rule for a product whose maker is deleted.
mod contrary {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "makers")]
    struct Maker {
        #[serde(rename = "_id")]
        id: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[reference(parent, on_delete = "cascade")]
        maker: Option<Ref<Maker>>,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    pub(super) struct Shop {
        #[allow(dead_code, reason = "it is declared, and never used")]
        makers: Repository<Maker>,
        #[allow(dead_code, reason = "it is declared, and never used")]
        products: Repository<Product>,
    }
}

#[test]
fn the_relations_can_be_drawn() {
    let drawn = Works::catalog().unwrap().mermaid();
    assert!(drawn.starts_with("flowchart LR\n"), "{drawn}");
    for line in [
        "c0[\"makers\"]",
        "c1 -->|\"maker\"| c0",
        "c0 -.->|\"name to maker_name\"| c1",
        "c3 ==>|\"shown in reviews\"| c1",
        "c3 -.->|\"counted in good_reviews\"| c1",
    ] {
        assert!(drawn.contains(line), "{line} is not in {drawn}");
    }
}
