//! Sums, means, extremes, counts and groups, compared with the same over decoded documents.

use std::{collections::BTreeMap, future::IntoFuture};

use odm::{
    ErrorKind,
    bson::{Decimal128, doc},
    measure,
    prelude::*,
    query::count,
};
use proptest::{prelude::*, strategy::ValueTree};
use serde::{Deserialize, Serialize};
use tests::{on_embedded_stores, on_every_store};

use crate::repositories::items::{Item, five, with_five};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
enum Status {
    Open,
    Paid,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    product: String,
    quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Address {
    city: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", index(fields = "customer, -total"))]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    status: Status,
    customer: String,
    total: i64,
    weight: f64,
    fee: Option<Decimal128>,
    placed: DateTime,
    paid: Option<DateTime>,
    #[embed]
    address: Option<Address>,
    #[embed]
    lines: Vec<Line>,
    #[index]
    tags: Vec<String>,
}

#[derive(Database)]
#[database(name = "sales", version = 1)]
struct Sales {
    orders: Repository<Order>,
}

const DAY: i64 = 86_400_000;

fn order() -> impl Strategy<Value = Order> {
    let line = ("[ab]", 0..9_i32).prop_map(|(product, quantity)| Line { product, quantity });
    let places =
        (prop::option::of("[XY]"), prop::option::of(-400..400_i64), prop::option::of(0..99_i32));
    let lists = (prop::collection::vec(line, 0..3), prop::collection::vec("[xyz]", 0..3));
    (any::<bool>(), "[abc]", -9..9_i64, -9..9_i32, -900..900_i64, places, lists).prop_map(
        |(paid, customer, total, half, hours, (city, paid_at, fee), (lines, tags))| Order {
            id: 0,
            status: if paid { Status::Paid } else { Status::Open },
            customer,
            total,
            weight: f64::from(half) / 2.0,
            fee: fee.map(|cents| format!("0.{cents:02}").parse().expect("a decimal")),
            placed: DateTime::from_millis(hours * 3_600_000 + 1),
            paid: paid_at.map(|days| DateTime::from_millis(days * DAY)),
            address: city.map(|city| Address { city }),
            lines,
            tags,
        },
    )
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    prop::collection::vec(order(), 0..20).prop_map(|orders| {
        let numbered = orders.into_iter().zip(1..);
        numbered.map(|(order, id)| Order { id, ..order }).collect()
    })
}

/// The orders by a key, in its order.
fn by<K: Ord>(orders: &[Order], key: impl Fn(&Order) -> K) -> BTreeMap<K, Vec<&Order>> {
    let mut groups = BTreeMap::<K, Vec<&Order>>::new();
    for order in orders {
        groups.entry(key(order)).or_default().push(order);
    }
    groups
}

fn fees<'o>(orders: impl IntoIterator<Item = &'o Order>) -> f64 {
    let fees = orders.into_iter().filter_map(|order| order.fee);
    fees.map(|fee| fee.to_string().parse::<f64>().expect("a number")).sum()
}

fn as_double(decimal: Decimal128) -> f64 {
    decimal.to_string().parse().expect("a number")
}

/// Compares all aggregates over the orders that a filter finds with their definitions.
async fn compare(db: &Sales, filter: Filter<Order>, found: &[Order]) {
    let order = Order::fields();
    let find = || db.orders.find(filter.clone());
    let totals = || found.iter().map(|order| order.total);
    assert_eq!(find().sum(order.total).await.unwrap(), totals().sum::<i64>());
    assert_eq!(find().min(order.total).await.unwrap(), totals().min());
    assert_eq!(find().max(order.total).await.unwrap(), totals().max());
    let mean = totals().sum::<i64>() as f64 / found.len() as f64;
    assert_eq!(find().avg(order.total).await.unwrap(), (!found.is_empty()).then_some(mean));
    let weight: f64 = found.iter().map(|order| order.weight).sum();
    assert_eq!(find().sum(order.weight).await.unwrap(), weight);
    let fee = as_double(find().sum(order.fee).await.unwrap());
    assert!((fee - fees(found)).abs() < 1e-9, "{fee}");
    let latest: Option<DateTime> = find().max(order.paid).await.unwrap();
    assert_eq!(latest, found.iter().filter_map(|order| order.paid).max());
    let last: Option<i64> = find().max(order.id).await.unwrap();
    assert_eq!(last, found.iter().map(|order| order.id).max());

    let per_status = find().count_by(order.status).await.unwrap();
    let expected = by(found, |order| format!("{:?}", order.status));
    let expected: Vec<_> =
        expected.values().map(|group| (group[0].status, group.len() as u64)).collect();
    assert_eq!(per_status, expected);
    let per_customer = find().count_by(order.customer).await.unwrap();
    let expected = by(found, |order| order.customer.clone());
    let expected: Vec<_> =
        expected.into_iter().map(|(customer, group)| (customer, group.len() as u64)).collect();
    assert_eq!(per_customer, expected);
    let cities = find().count_by(order.address.city.optional()).await.unwrap();
    let expected = by(found, |order| order.address.as_ref().map(|at| at.city.clone()));
    let expected: Vec<_> =
        expected.into_iter().map(|(city, group)| (city, group.len() as u64)).collect();
    assert_eq!(cities, expected);

    let rows = find()
        .group_by((order.customer, order.placed.start_of_day()))
        .select((count(), order.total.sum(), order.weight.avg(), order.placed.max()))
        .await
        .unwrap();
    let day = |order: &Order| order.placed.timestamp_millis().div_euclid(DAY) * DAY;
    let expected = by(found, |order| (order.customer.clone(), day(order)));
    let expected: Vec<_> = expected
        .into_iter()
        .map(|((customer, day), group)| {
            let number = group.len() as u64;
            let total = group.iter().map(|order| order.total).sum::<i64>();
            let weight = group.iter().map(|order| order.weight).sum::<f64>() / number as f64;
            let last = group.iter().map(|order| order.placed).max();
            ((customer, DateTime::from_millis(day)), (number, total, Some(weight), last))
        })
        .collect();
    assert_eq!(rows, expected);

    // An unwound document counts once for each element.
    let lines = || find().unwind(order.lines);
    let all = || found.iter().flat_map(|order| &order.lines);
    assert_eq!(lines().count().await.unwrap(), all().count() as u64);
    let line = Line::fields();
    let quantity: i64 = all().map(|line| i64::from(line.quantity)).sum();
    assert_eq!(lines().sum(line.quantity).await.unwrap(), quantity);
    let sold = lines()
        .group_by((line.product, order.status))
        .select((line.quantity.max(), order.total.sum()))
        .await
        .unwrap();
    let mut expected = BTreeMap::<_, (Option<i32>, i64)>::new();
    for order in found {
        for line in &order.lines {
            let key = (line.product.clone(), format!("{:?}", order.status));
            let row = expected.entry(key).or_default();
            *row = (row.0.max(Some(line.quantity)), row.1 + order.total);
        }
    }
    let sold: Vec<_> = sold
        .into_iter()
        .map(|((product, status), row)| ((product, format!("{status:?}")), row))
        .collect();
    assert_eq!(sold, expected.into_iter().collect::<Vec<_>>());
    let tags = find().unwind(order.tags).count_by(order.tags.element()).await.unwrap();
    let mut expected = BTreeMap::<_, u64>::new();
    for tag in found.iter().flat_map(|order| &order.tags) {
        *expected.entry(tag.clone()).or_default() += 1;
    }
    assert_eq!(tags, expected.into_iter().collect::<Vec<_>>());
}

on_every_store! {
    async fn aggregates_are_those_of_the_decoded_documents(store: AnyStore) {
        let db = Sales::open(store).await.unwrap();
        let order = Order::fields();
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..30 {
            let orders = orders().new_tree(&mut runner).unwrap().current();
            db.orders.delete_where(Filter::all()).await.unwrap();
            db.orders.insert_many(orders.clone()).await.unwrap();
            compare(&db, Filter::all(), &orders).await;
            let of = |test: &dyn Fn(&Order) -> bool| -> Vec<Order> {
                orders.iter().filter(|order| test(order)).cloned().collect()
            };
            compare(&db, order.customer.eq("a"), &of(&|order| order.customer == "a")).await;
            let some = order.customer.gte("b") & order.total.gt(0);
            compare(&db, some, &of(&|order| order.customer.as_str() >= "b" && order.total > 0)).await;
            compare(&db, order.tags.contains("x"), &of(&|order| order.tags.contains(&"x".into()))).await;
            compare(&db, order.id.lt(0), &[]).await;
            // A transaction sees its own writes.
            let inside = &orders;
            let rolled_back = db.transaction(async |db| {
                db.orders.delete_where(Order::fields().total.gt(2)).await?;
                db.orders.update_where(Order::fields().customer.eq("b")).set(Order::fields().customer, "a").await?;
                let left = inside.iter().filter(|order| order.total <= 2).cloned().map(|mut order| {
                    if order.customer == "b" {
                        order.customer = "a".into();
                    }
                    order
                });
                compare(&db, Filter::all(), &left.collect::<Vec<_>>()).await;
                Err::<(), _>(odm::Error::new(ErrorKind::InvalidQuery, "enough"))
            });
            assert!(rolled_back.await.is_err());
            compare(&db, Filter::all(), &orders).await;
        }
    }

    async fn groups_are_filtered_sorted_and_limited_by_what_is_computed(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let by_kind = || db.items.all().group_by(item.kind).select(count());
        let kinds = |rows: Vec<(String, u64)>| rows.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(
            by_kind().await.unwrap(),
            [("bolt".to_owned(), 2), ("nut".to_owned(), 2), ("washer".to_owned(), 1)]
        );
        assert_eq!(kinds(by_kind().having(count().gt(1)).await.unwrap()), ["bolt", "nut"]);
        assert_eq!(kinds(by_kind().having(!count().gt(1)).await.unwrap()), ["washer"]);
        // Weights: bolts 1.5 and 2.0, nuts 2.5 and -1.0, washers 0.0.
        let heavy = || item.weight.sum().gte(1.5);
        assert_eq!(kinds(by_kind().having(heavy()).await.unwrap()), ["bolt", "nut"]);
        assert_eq!(kinds(by_kind().having(heavy() & item.weight.min().lt(0.0)).await.unwrap()), ["nut"]);
        let either = item.weight.max().eq(0.0) | item.weight.avg().eq(1.75);
        assert_eq!(kinds(by_kind().having(either).await.unwrap()), ["bolt", "washer"]);
        let twice = by_kind().having(count().gte(2)).having(item.count.sum().lt(13));
        assert_eq!(kinds(twice.await.unwrap()), ["bolt"]);

        assert_eq!(kinds(by_kind().sort(item.kind.desc()).await.unwrap()), ["washer", "nut", "bolt"]);
        // The keys are the last tie-breaker.
        assert_eq!(kinds(by_kind().sort(count().desc()).await.unwrap()), ["bolt", "nut", "washer"]);
        let sorted = by_kind().sort(count().desc().then(item.kind.desc()));
        assert_eq!(kinds(sorted.await.unwrap()), ["nut", "bolt", "washer"]);
        let sorted = by_kind().sort(count().asc()).sort(item.weight.sum().asc());
        assert_eq!(kinds(sorted.await.unwrap()), ["washer", "nut", "bolt"]);
        assert_eq!(kinds(by_kind().sort(item.kind.desc()).skip(1).limit(1).await.unwrap()), ["nut"]);
        assert_eq!(kinds(by_kind().limit(0).await.unwrap()), [""; 0]);
        let last = db.items.all().count_by(item.made.start_of_day()).sort(item.made.start_of_day().desc());
        assert_eq!(last.await.unwrap(), [(DateTime::from_millis(0), 5)]);

        let error = by_kind().sort(item.weight.asc()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("`weight` is no key"), "{error}");
    }

    async fn aggregates_are_over_what_the_query_finds_within_its_limits(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let counts: Vec<i32> = five().iter().map(|item| item.count).collect();
        let first = || db.items.all().sort(item.id.desc()).skip(1).limit(2);
        assert_eq!(first().sum(item.count).await.unwrap(), i64::from(counts[2] + counts[3]));
        assert_eq!(first().max(item.id).await.unwrap(), Some(4));
        assert_eq!(first().count_by(item.kind).await.unwrap(), [("nut".to_owned(), 2)]);
        assert_eq!(first().min(item.id).await.unwrap(), Some(3));
        assert_eq!(db.items.all().limit(0).sum(item.weight).await.unwrap(), 0.0);
        assert_eq!(db.items.all().limit(0).avg(item.weight).await.unwrap(), None);
    }

    async fn a_sum_that_needs_more_than_64_bits_is_an_error(store: AnyStore) {
        let db = Sales::open(store).await.unwrap();
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let one = order().new_tree(&mut runner).unwrap().current();
        let with = |id, total| Order { id, total, ..one.clone() };
        db.orders.insert_many([with(1, i64::MAX), with(2, 1)]).await.unwrap();
        let error = db.orders.all().sum(Order::fields().total).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert!(error.to_string().contains("`sum(total)` in `orders`"), "{error}");
        // An intermediate sum may be greater.
        db.orders.insert(with(3, -1)).await.unwrap();
        assert_eq!(db.orders.all().sum(Order::fields().total).await.unwrap(), i64::MAX);
    }

    async fn a_key_that_documents_can_lack_is_an_option(store: AnyStore) {
        let db = Sales::open(store.clone()).await.unwrap();
        let city = Order::fields().address.city;
        // Even if no document lacks it.
        let error = db.orders.all().count_by(city).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("`address.city`") && error.to_string().contains(".optional()"), "{error}");
        assert_eq!(db.orders.all().count_by(city.optional()).await.unwrap(), []);
    }

    async fn values_of_other_types_are_no_numbers_and_keys_of_them_are_errors(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let item = Item::fields();
        let documents = [
            doc! { "_id": 6_i64, "code": "six", "kind": "nut", "count": "many", "weight": null, "made": "yesterday" },
            doc! { "_id": 7_i64, "code": "seven", "kind": 5, "weight": [1.0] },
        ];
        for document in documents {
            tests::insert_behind_the_back(&store, "items", document).await;
        }
        let counts: i32 = five().iter().map(|item| item.count).sum();
        assert_eq!(db.items.all().sum(item.count).await.unwrap(), i64::from(counts));
        let error = db.items.all().count_by(item.kind).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert!(error.to_string().contains("`kind` in `items`"), "{error}");
        let error = db.items.all().count_by(item.made.start_of_day()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("`made` must be a date"), "{error}");
        assert_eq!(error.location().unwrap().id, Some(odm::bson::RawBson::Int64(6)));
    }
}

on_embedded_stores! {
    async fn what_an_index_has_is_computed_from_it_alone(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let (kinds, cost) = measure(db.items.all().count_by(item.kind).into_future()).await;
        assert_eq!(kinds.unwrap().len(), 3);
        assert_eq!((cost.keys_examined, cost.documents_examined, cost.queries), (5, 0, 1));
        // By two of its fields, over the documents that a bound of it finds.
        let nuts = db.items.find(item.kind.eq("nut")).count_by((item.count, item.kind));
        let (nuts, cost) = measure(nuts.into_future()).await;
        assert_eq!(nuts.unwrap(), [((5, "nut".to_owned()), 1), ((9, "nut".to_owned()), 1)]);
        assert_eq!((cost.keys_examined, cost.documents_examined), (2, 0));
        let (most, cost) = measure(db.items.find(item.kind.eq("nut")).max(item.count)).await;
        assert_eq!(most.unwrap(), Some(9));
        assert_eq!((cost.keys_examined, cost.documents_examined), (1, 1));
        let (code, cost) = measure(db.items.all().min(item.code)).await;
        assert_eq!(code.unwrap().as_deref(), Some("a"));
        assert_eq!((cost.keys_examined, cost.documents_examined), (1, 1));
        let (last, cost) = measure(db.items.all().max(item.id)).await;
        assert_eq!(last.unwrap(), Some(5));
        assert_eq!(cost.documents_examined, 1);
        // A list has an entry for each element: the documents are read.
        let tags = db.items.all().unwind(item.tags).count_by(item.tags.element());
        let (_, cost) = measure(tags.into_future()).await;
        assert_eq!((cost.keys_examined, cost.documents_examined), (0, 5));
    }
}
