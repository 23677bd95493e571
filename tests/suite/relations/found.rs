//! Errors that reviews have found, so that they stay fixed.

use odm::{ErrorKind, bson::doc, prelude::*, store::embedded::Embedded};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_embedded_stores, on_every_store, on_serializable_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "goods")]
struct Good {
    #[serde(rename = "_id")]
    id: i32,
    price: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    #[reference(child)]
    good: Ref<Good>,
    #[denormalize(from = "Good.price", freeze)]
    price_then: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "bills")]
struct Bill {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    lines: Vec<Line>,
    #[reference(child, on_delete = "keep")]
    best: Option<Ref<Good>>,
    #[denormalize(from = "Good.price", via = "best")]
    best_price: Option<i32>,
}

#[derive(Database)]
#[database(name = "bills", version = 2)]
struct Bills {
    goods: Repository<Good>,
    bills: Repository<Bill>,
}

/// The bills from before lines had a price.
mod old {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(super) struct Line {
        #[reference(child)]
        pub(super) good: Ref<Good>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "bills")]
    pub(super) struct Bill {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[embed]
        pub(super) lines: Vec<Line>,
    }

    #[derive(Database)]
    #[database(name = "bills", version = 1)]
    pub(super) struct Bills {
        pub(super) goods: Repository<Good>,
        pub(super) bills: Repository<Bill>,
    }
}

fn line(good: i32) -> Line {
    Line { good: Ref::new(good), price_then: -1 }
}

async fn prices(db: &Bills) -> Vec<i32> {
    let bill = db.bills.get(1).await.unwrap();
    bill.lines.iter().map(|line| line.price_then).collect()
}

async fn bills(store: impl TestStore, lines: &[i32]) -> Bills {
    let db = Bills::open(store).await.unwrap();
    db.goods.insert_many((1..=2).map(|id| Good { id, price: 10 * id })).await.unwrap();
    let lines = lines.iter().map(|good| line(*good)).collect();
    db.bills.insert(Bill { id: 1, lines, best: None, best_price: None }).await.unwrap();
    db
}

on_every_store! {
    async fn each_frozen_line_keeps_its_own_value(store: AnyStore) {
        let db = bills(store, &[1, 2]).await;
        let price = Good::fields().price;
        let lines = Bill::fields().lines;
        db.goods.update(1).set(price, 11).await.unwrap();
        db.bills.update(1).push(lines, line(1)).await.unwrap();
        assert_eq!(prices(&db).await, [10, 20, 11]);
        db.goods.update(1).set(price, 12).await.unwrap();
        db.bills.modify(1, |bill| bill.lines.reverse()).await.unwrap();
        assert_eq!(prices(&db).await, [11, 20, 10]);
        db.bills.modify(1, |bill| bill.lines.insert(0, line(1))).await.unwrap();
        assert_eq!(prices(&db).await.iter().filter(|price| **price == 12).count(), 1);
        db.bills.modify(1, |bill| { bill.lines.truncate(1); }).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_frozen_line_that_stays_in_its_place_keeps_its_value(store: AnyStore) {
        let db = bills(store, &[2, 1]).await;
        db.goods.update(1).set(Good::fields().price, 11).await.unwrap();
        let lines = vec![line(1), line(1)];
        db.bills.replace(Bill { id: 1, lines, best: None, best_price: None }).await.unwrap();
        assert_eq!(prices(&db).await, [11, 10]);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_frozen_copy_over_older_documents_is_filled_before_open_returns(store: AnyStore) {
        let before = old::Bills::open(store.clone()).await.unwrap();
        before.goods.insert(Good { id: 1, price: 10 }).await.unwrap();
        let lines = vec![old::Line { good: Ref::new(1) }];
        before.bills.insert(old::Bill { id: 1, lines }).await.unwrap();
        let db = Bills::open(store).await.unwrap();
        assert!(!db.pending_backfills().contains(&"bills.lines.price_then".to_owned()));
        assert_eq!(prices(&db).await, [10]);
        assert!(db.backfill().await.unwrap().iter().all(|found| found.repaired));
    }

    async fn a_kept_reference_follows_what_comes_back(store: AnyStore) {
        let db = bills(store, &[]).await;
        db.bills.update(1).set(Bill::fields().best, 2).await.unwrap();
        db.goods.delete(2).await.unwrap();
        assert_eq!(db.bills.get(1).await.unwrap().best_price, Some(20));
        db.goods.insert(Good { id: 2, price: 99 }).await.unwrap();
        assert_eq!(db.bills.get(1).await.unwrap().best_price, Some(99));
        let result: odm::Result<()> = db.transaction(async |db| {
            db.goods.delete(2).await?;
            db.goods.insert(Good { id: 2, price: 7 }).await.map(drop)
        }).await;
        result.unwrap();
        assert_eq!(db.bills.get(1).await.unwrap().best_price, Some(7));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn the_same_version_cannot_declare_less(store: AnyStore) {
        bills(store.clone(), &[1]).await;
        let error = less::Bills::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("increase `version`"), "{error}");
        Bills::open(store).await.unwrap();
    }
}

on_embedded_stores! {
    async fn references_in_a_pair_are_there_once(store: AnyStore) {
        let db = Crew::open(store.clone()).await.unwrap();
        db.bosses.insert(Boss { id: 1, jobs: Vec::new() }).await.unwrap();
        db.jobs.insert_many((0..600).map(|id| Job { id, boss: Some(Ref::new(1)) })).await.unwrap();
        assert_eq!(db.bosses.get(1).await.unwrap().jobs.len(), 600);
        let error = db.bosses.update(1).push(Boss::fields().jobs, 5).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidUpdate);
        let twice = doc! { "$push": { "jobs": 3 } };
        tests::behind_the_back(&store, "bosses", doc! {}, twice).await;
        assert_eq!(db.audit().await.unwrap().len(), 1);
        assert!(db.repair().await.unwrap()[0].repaired);
        tests::behind_the_back(&store, "bosses", doc! {}, doc! { "$unset": { "jobs": "" } }).await;
        db.repair().await.unwrap();
        assert_eq!(db.bosses.get(1).await.unwrap().jobs.len(), 600);
        db.jobs.update_where(Filter::all()).set(Job::fields().boss, None).await.unwrap();
        assert!(db.bosses.get(1).await.unwrap().jobs.is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
    }
}

on_serializable_stores! {
    async fn a_database_is_not_opened_inside_a_transaction_of_its_store(store: AnyStore) {
        let db = bills(store.clone(), &[]).await;
        let result = db.transaction(async |db| {
            db.goods.delete(2).await?;
            old::Bills::open(store.clone()).await.map(drop)
        }).await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::OutsideTransaction);
    }
}

mod less {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "bills")]
    struct Bill {
        #[serde(rename = "_id")]
        id: i32,
    }

    #[derive(Database)]
    #[database(name = "bills", version = 2)]
    pub(super) struct Bills {
        #[allow(dead_code, reason = "it is declared, and never used")]
        bills: Repository<Bill>,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "bosses")]
struct Boss {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, inverse = "boss")]
    jobs: Vec<Ref<Job>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "jobs")]
struct Job {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, inverse = "jobs")]
    boss: Option<Ref<Boss>>,
}

#[derive(Database)]
#[database(name = "crew", version = 1)]
struct Crew {
    bosses: Repository<Boss>,
    jobs: Repository<Job>,
}

/// Variants that are stored in one place, only one of which holds a copy.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Mixed {
    Of(#[embed] Sold),
    Free(#[embed] Gift),
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Sold {
    #[reference(child)]
    good: Ref<Good>,
    #[denormalize(from = "Good.price")]
    price: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Gift {
    price: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    what: Mixed,
}

#[derive(Database)]
#[database(name = "sales", version = 1)]
struct Sales {
    #[allow(dead_code, reason = "it is declared, and never used")]
    goods: Repository<Good>,
    #[allow(dead_code, reason = "it is declared, and never used")]
    sales: Repository<Sale>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "moves")]
struct Move {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    before: Option<Ref<Move>>,
    #[count(of = "Move", filter = dull)]
    dull: i32,
}

fn dull() -> Filter<Move> {
    Move::fields().dull.eq(0)
}

#[derive(Database)]
#[database(name = "moves", version = 1)]
struct Moves {
    #[allow(dead_code, reason = "it is declared, and never used")]
    moves: Repository<Move>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Group {
    title: String,
    #[embed]
    maybe: Option<Pulled>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Pulled {
    #[reference(child, on_delete = "pull")]
    good: Ref<Good>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "boxes")]
struct Box_ {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    groups: Vec<Group>,
}

#[derive(Database)]
#[database(name = "boxes", version = 1)]
struct Boxes {
    #[allow(dead_code, reason = "it is declared, and never used")]
    goods: Repository<Good>,
    #[allow(dead_code, reason = "it is declared, and never used")]
    boxes: Repository<Box_>,
}

#[test]
fn what_could_not_be_kept_right_is_refused_when_it_is_opened() {
    async fn refused<D: Database>(about: &str) {
        let error = D::open(Embedded::memory().await.unwrap()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains(about), "{error}");
    }
    tests::run(async {
        refused::<Sales>("`Sale.what.price`").await;
        refused::<Moves>("moves.dull <- moves.dull").await;
        refused::<Boxes>("`groups.maybe.good`").await;
    });
}
