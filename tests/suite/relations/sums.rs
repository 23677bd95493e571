//! `#[sum]`: the sum of a number in the children that pass a filter.

use odm::{
    DerivedKind, ErrorKind, Problem,
    bson::{Decimal128, doc},
    prelude::*,
};
use tests::{TestStore, behind_the_back, on_every_store};

macro_rules! version {
    ($module:ident = $version:literal, $(#[$paid:meta])* $paid_name:ident, $(#[$weight:meta])* $weight_name:ident) => {
        mod $module {
            use odm::{bson::Decimal128, prelude::*};
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "orders")]
            pub(super) struct Order {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $(#[$paid])*
                pub(super) $paid_name: i64,
                $(#[$weight])*
                pub(super) $weight_name: Decimal128,
                #[sum(of = "Line.share", recompute)]
                pub(super) shares: f64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "lines")]
            pub(super) struct Line {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) order: Ref<Order>,
                pub(super) is_paid: bool,
                #[embed]
                pub(super) price: Price,
                pub(super) share: Option<f64>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            pub(super) struct Price {
                pub(super) cents: i64,
                pub(super) weight: Option<Decimal128>,
            }

            #[allow(dead_code)]
            pub(super) fn paid() -> Filter<Line> {
                Line::fields().is_paid.eq(true)
            }

            #[derive(Database)]
            #[database(name = "sales", version = $version)]
            pub(super) struct Sales {
                pub(super) orders: Repository<Order>,
                pub(super) lines: Repository<Line>,
            }
        }
    };
}
version!(before = 1, is_kept, weight_is_kept);
version!(
    now = 2,
    #[sum(of = "Line.price.cents", filter = paid)]
    paid,
    #[sum(of = "Line.price.weight")]
    weight
);

use now::{Line, Order, Price, Sales};

mod later {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "accounts")]
    pub(super) struct Account {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[sum(of = "Booking.amount", refresh = "later")]
        pub(super) balance: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "bookings")]
    pub(super) struct Booking {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[reference(parent)]
        pub(super) account: Ref<Account>,
        pub(super) amount: i64,
    }

    #[derive(Database)]
    #[database(name = "bank", version = 1)]
    pub(super) struct Bank {
        pub(super) accounts: Repository<Account>,
        pub(super) bookings: Repository<Booking>,
    }
}

mod native {
    use chrono::{DateTime, Utc};
    use odm::prelude::{Database, Document, Ref, Repository};
    use rust_decimal::Decimal;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "invoices")]
    pub(super) struct Invoice {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[sum(of = "Entry.amount")]
        #[serde(with = "odm::native")]
        pub(super) total: Decimal,
        #[sum(of = "Entry.pieces")]
        #[serde(with = "odm::native")]
        pub(super) pieces: Decimal,
        #[max(of = "Entry.at")]
        #[serde(default, with = "odm::native")]
        pub(super) last: Option<DateTime<Utc>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "entries")]
    pub(super) struct Entry {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[reference(parent)]
        pub(super) invoice: Ref<Invoice>,
        #[serde(with = "odm::native")]
        pub(super) amount: Decimal,
        pub(super) pieces: i64,
        #[serde(with = "odm::native")]
        pub(super) at: DateTime<Utc>,
    }

    #[derive(Database)]
    #[database(name = "books", version = 1)]
    pub(super) struct Books {
        pub(super) invoices: Repository<Invoice>,
        pub(super) entries: Repository<Entry>,
    }
}

fn decimal(text: &str) -> Decimal128 {
    text.parse().unwrap()
}

fn line(id: i64, order: i64, cents: i64) -> Line {
    let price = Price { cents, weight: Some(decimal("0.10")) };
    Line { id, order: Ref::new(order), is_paid: true, price, share: Some(0.1) }
}

fn order(id: i64) -> Order {
    // What the caller sends is no value.
    Order { id, paid: 77, weight: decimal("7.50"), shares: f64::NAN }
}

/// Two orders without lines.
async fn sales(store: impl TestStore) -> Sales {
    let db = Sales::open(store).await.unwrap();
    db.orders.insert_many([order(1), order(2)]).await.unwrap();
    db
}

/// What both have paid, and their weights.
async fn sums(db: &Sales) -> [(i64, String); 2] {
    assert_eq!(db.audit().await.unwrap(), []);
    let orders = db.orders.all().await.unwrap();
    let sums = orders.into_iter().map(|order| (order.paid, order.weight.to_string()));
    sums.collect::<Vec<_>>().try_into().unwrap()
}

fn both(one: (i64, &str), other: (i64, &str)) -> [(i64, String); 2] {
    [(one.0, one.1.to_owned()), (other.0, other.1.to_owned())]
}

on_every_store! {
    async fn a_sum_follows_each_write_of_a_child(store: AnyStore) {
        let db = sales(store).await;
        assert_eq!(sums(&db).await, both((0, "0"), (0, "0")));
        db.lines.insert_many([line(1, 1, 100), line(2, 1, -30), line(3, 2, 5)]).await.unwrap();
        assert_eq!(sums(&db).await, both((70, "0.2"), (5, "0.1")));
        let fields = Line::fields();
        db.lines.update(1).inc(fields.price.cents, 1).await.unwrap();
        db.lines.update(1).set(fields.price.weight, decimal("1.25")).await.unwrap();
        assert_eq!(sums(&db).await, both((71, "1.35"), (5, "0.1")));
        db.lines.update(2).set(fields.is_paid, false).await.unwrap();
        db.lines.update(3).set(fields.order, Ref::new(1)).await.unwrap();
        assert_eq!(sums(&db).await, both((106, "1.45"), (0, "0")));
        db.lines.update(1).set(fields.price.weight, None).await.unwrap();
        db.bulk((db.lines.delete(3), db.lines.insert(line(4, 2, 8)))).await.unwrap();
        assert_eq!(sums(&db).await, both((101, "0.1"), (8, "0.1")));
        db.lines.delete_where(Filter::all()).await.unwrap();
        assert_eq!(sums(&db).await, both((0, "0"), (0, "0")));
    }

    async fn a_sum_cannot_be_written(store: AnyStore) {
        let db = sales(store).await;
        db.lines.insert(line(1, 2, 9)).await.unwrap();
        for id in [1, 2] {
            db.orders.replace(order(id)).await.unwrap();
        }
        assert_eq!(sums(&db).await, both((0, "0"), (9, "0.1")));
    }

    async fn a_sum_of_floats_is_the_exact_one_rounded_once_in_any_order(store: AnyStore) {
        let db = sales(store).await;
        let shares = [1e16, 1.0, -1e16, f64::NAN, 1.0];
        for (id, share) in (1..).zip(shares) {
            db.lines.insert(Line { share: Some(share), ..line(id, 1, 0) }).await.unwrap();
        }
        db.lines.insert(Line { share: None, ..line(9, 1, 0) }).await.unwrap();
        assert_eq!(db.orders.get(1).await.unwrap().shares, 2.0);
        db.lines.delete(1).await.unwrap();
        assert_eq!(db.orders.get(1).await.unwrap().shares, -1e16 + 2.0);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_sum_past_its_type_refuses_the_write_and_names_the_field(store: AnyStore) {
        let db = sales(store).await;
        db.lines.insert_many([line(1, 1, i64::MAX), line(2, 1, -5)]).await.unwrap();
        let refused = [
            db.lines.insert(line(3, 1, 6)).await.map(drop),
            db.lines.update(2).set(Line::fields().price.cents, 1).await.map(drop),
            db.lines.delete(2).await.map(drop),
        ];
        for (refused, sum) in refused.into_iter().zip(["9223372036854775808", "9223372036854775808", ""]) {
            // A delete leaves the greatest number.
            let Err(error) = refused else {
                assert_eq!(sum, "");
                continue;
            };
            assert_eq!(error.kind(), ErrorKind::Uncomputable, "{error}");
            let text = error.to_string();
            let wanted = format!("uncomputable value: `orders.paid` of the document with `_id` = 1 would be {sum}, which");
            assert!(text.starts_with(&wanted), "{text}");
            let location = error.location().unwrap();
            assert_eq!((&*location.collection, location.path.as_deref()), ("orders", Some("paid")));
        }
        assert_eq!(sums(&db).await[0].0, i64::MAX);
        // One call that takes and gives stays within the type.
        db.lines.insert_many([line(3, 1, 6), line(4, 1, -6)]).await.unwrap();
        assert_eq!(sums(&db).await[0].0, i64::MAX);
        let many = Some(decimal("1E+34"));
        let price = Price { cents: 0, weight: many };
        let error = db.lines.insert(Line { price, ..line(5, 1, 0) }).await.unwrap_err();
        assert!(error.to_string().contains("`orders.weight`"), "{error}");
        let infinite = Line { share: Some(f64::INFINITY), ..line(6, 2, 0) };
        let error = db.lines.insert(infinite).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncomputable, "{error}");
        assert!(error.to_string().contains("`lines.share` of the document with `_id` = 6, which is"), "{error}");
        assert_eq!(sums(&db).await[1].0, 0);
    }

    async fn a_sum_past_its_type_is_a_finding_until_a_child_is_changed(store: AnyStore) {
        let db = sales(store.clone()).await;
        db.lines.insert_many([line(1, 1, 1), line(2, 1, 2), line(3, 2, 3)]).await.unwrap();
        behind_the_back(&store, "lines", doc! { "_id": 1 }, doc! { "$set": { "price.cents": i64::MAX } }).await;
        behind_the_back(&store, "orders", doc! { "_id": 2 }, doc! { "$set": { "paid": 4_i64 } }).await;
        for findings in [db.audit().await.unwrap(), db.repair().await.unwrap()] {
            let [first, second] = &findings[..] else { panic!("{findings:?}") };
            assert!(matches!(&first.problem, Problem::CheckFailed(text) if text.contains("9223372036854775809")), "{first:?}");
            assert_eq!((&*first.path, first.repaired), ("paid", false));
            assert_eq!(second.problem, Problem::Derived(DerivedKind::Sum));
        }
        db.lines.update(1).set(Line::fields().price.cents, 5).await.unwrap();
        db.repair().await.unwrap();
        assert_eq!(sums(&db).await, both((7, "0.2"), (3, "0.1")));
    }

    async fn a_sum_over_old_documents_is_pending_until_the_backfill(store: AnyStore) {
        let old = before::Sales::open(store.clone()).await.unwrap();
        let kept = |id| before::Order { id, is_kept: 5, weight_is_kept: decimal("1"), shares: 0.0 };
        old.orders.insert_many([kept(1), kept(2)]).await.unwrap();
        let line = |id, order, cents| before::Line {
            id,
            order: Ref::new(order),
            is_paid: true,
            price: before::Price { cents, weight: None },
            share: None,
        };
        old.lines.insert_many([line(1, 1, 10), line(2, 1, 20), line(3, 2, 30)]).await.unwrap();
        drop(old);
        let db = Sales::open(store).await.unwrap();
        db.backfill().await.unwrap();
        assert_eq!(sums(&db).await, both((30, "0"), (30, "0")));
    }

    async fn a_sum_that_is_wrong_is_found_and_repaired(store: AnyStore) {
        let db = sales(store.clone()).await;
        db.lines.insert(line(1, 1, 10)).await.unwrap();
        // A value of another type is none of this one.
        for update in [doc! { "$set": { "paid": 11_i64 } }, doc! { "$set": { "paid": 10.0 } }, doc! { "$unset": { "paid": "" } }] {
            behind_the_back(&store, "orders", doc! { "_id": 1 }, update).await;
            let found = db.audit().await.unwrap();
            let wrong = Problem::Derived(DerivedKind::Sum);
            assert!(matches!(&found[..], [found] if found.problem == wrong && found.path == "paid"), "{found:?}");
            db.repair().await.unwrap();
            assert_eq!(sums(&db).await[0].0, 10);
        }
    }

    async fn a_sum_reads_no_other_children(store: AnyStore) {
        let db = sales(store).await;
        db.lines.insert_many((1..=1_000).map(|id| line(id, 1, id))).await.unwrap();
        let changes = [
            odm::measure(db.lines.insert(line(2_000, 2, 1)).into_future()).await.1,
            odm::measure(db.lines.update(500).inc(Line::fields().price.cents, 1).into_future()).await.1,
        ];
        assert_eq!(sums(&db).await[0].0, 500_501);
        for change in changes {
            // A store of maps has no indexes.
            let is_indexed = change.documents_scanned == 0;
            assert!(!is_indexed || change.documents_examined <= 4, "{change:?}");
        }
    }

    async fn native_types_have_sums_and_extremes(store: AnyStore) {
        let db = native::Books::open(store).await.unwrap();
        let invoice = native::Invoice { id: 1, total: Default::default(), pieces: Default::default(), last: None };
        db.invoices.insert(invoice).await.unwrap();
        let at = |second| chrono::DateTime::from_timestamp(second, 0).unwrap();
        for (id, amount) in (1..).zip(["0.10", "12.5", "-2.600"]) {
            let entry = native::Entry { id, invoice: Ref::new(1), amount: amount.parse().unwrap(), pieces: id * 2, at: at(id) };
            db.entries.insert(entry).await.unwrap();
        }
        db.entries.delete(3).await.unwrap();
        let invoice = db.invoices.get(1).await.unwrap();
        assert_eq!((invoice.total.to_string(), invoice.pieces.to_string()), ("12.6".to_owned(), "6".to_owned()));
        assert_eq!(invoice.last, Some(at(2)));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_deferred_sum_past_its_type_is_parked_until_a_child_is_changed(store: AnyStore) {
        let db = later::Bank::open(store).await.unwrap();
        db.accounts.insert(later::Account { id: 1, balance: 0 }).await.unwrap();
        let booking = |id, amount| later::Booking { id, account: Ref::new(1), amount };
        db.bookings.insert_many([booking(1, i64::MAX), booking(2, 5)]).await.unwrap();
        db.wait_for_refreshes().await.unwrap();
        let refreshes = db.deferred_refreshes().await.unwrap();
        let [failed] = &refreshes.failed[..] else { panic!("{refreshes:?}") };
        assert_eq!((&*failed.path, &*failed.kind), ("balance", "Uncomputable"));
        assert!(failed.error.contains("would be 9223372036854775812"), "{failed:?}");
        let findings = db.audit().await.unwrap();
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert!(matches!(&finding.problem, Problem::CheckFailed(error) if *error == failed.error), "{finding}");
        db.bookings.delete(1).await.unwrap();
        db.wait_for_refreshes().await.unwrap();
        assert_eq!(db.accounts.get(1).await.unwrap().balance, 5);
        assert_eq!(db.deferred_refreshes().await.unwrap().failed, []);
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
