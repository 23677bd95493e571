//! Types of other crates are stored as BSON's own, are texts in JSON, and have the precision of BSON.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv4Addr},
};

use chrono::{DurationRound, SubsecRound, Utc};
use odm::{
    bson::{self, Bson, doc, spec::BinarySubtype},
    prelude::*,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tests::{behind_the_back, on_every_store, stored};
use uuid::Uuid;

type Date = chrono::DateTime<Utc>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Stamp {
    #[serde(with = "odm::native")]
    by: Uuid,
    #[serde(with = "odm::native")]
    at: Date,
    #[serde(with = "odm::native")]
    paid: Decimal,
    #[serde(with = "odm::native")]
    from: IpAddr,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Tagged {
    Stamped(#[embed] Stamp),
    Plain {
        #[serde(with = "odm::native")]
        at: Date,
        #[serde(with = "odm::native")]
        day: chrono::NaiveDate,
        #[serde(with = "odm::native")]
        list: Vec<Decimal>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Untagged {
    Id {
        #[serde(with = "odm::native")]
        id: Uuid,
    },
    Amount {
        #[serde(with = "odm::native")]
        amount: Decimal,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum External {
    At(#[serde(with = "odm::native")] Date),
    Both(#[serde(with = "odm::native")] Uuid, #[serde(with = "odm::native")] Decimal),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id", with = "odm::native")]
    id: Uuid,
    #[serde(with = "odm::native")]
    created: Date,
    #[serde(default, with = "odm::native", skip_serializing_if = "Option::is_none")]
    shipped: Option<Date>,
    #[serde(with = "odm::native")]
    total: Decimal,
    #[serde(with = "odm::native")]
    ip: Ipv4Addr,
    #[serde(with = "odm::native")]
    ids: Vec<Uuid>,
    #[serde(with = "odm::native")]
    rates: BTreeMap<String, Decimal>,
    #[serde(with = "odm::native")]
    seen: HashMap<String, Option<Date>>,
    #[reference(child)]
    like: Option<Ref<Order>>,
    #[embed]
    #[serde(flatten)]
    flat: Stamp,
    #[embed]
    tagged: Vec<Tagged>,
    #[embed]
    untagged: Vec<Untagged>,
    #[embed]
    external: Vec<External>,
}

#[derive(Database)]
#[database(name = "orders", version = 1)]
struct Orders {
    orders: Repository<Order>,
}

fn date() -> Date {
    "2014-03-28T09:42:41Z".parse().unwrap()
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn order(id: u128) -> Order {
    let id = Uuid::from_u128(id);
    let stamp = Stamp { by: id, at: date(), paid: decimal("12.50"), from: "::1".parse().unwrap() };
    Order {
        id,
        created: date(),
        shipped: None,
        total: decimal("-0.10"),
        ip: Ipv4Addr::LOCALHOST,
        ids: vec![id, Uuid::nil()],
        rates: [("EUR".to_owned(), decimal("1"))].into(),
        seen: [("web".to_owned(), Some(date())), ("app".to_owned(), None)].into(),
        like: None,
        flat: stamp.clone(),
        tagged: vec![
            Tagged::Stamped(stamp),
            Tagged::Plain { at: date(), day: date().date_naive(), list: vec![decimal("3")] },
        ],
        untagged: vec![Untagged::Id { id }, Untagged::Amount { amount: decimal("2.0") }],
        external: vec![External::At(date()), External::Both(id, decimal("0"))],
    }
}

fn binary(id: Uuid) -> Bson {
    Bson::Binary(bson::Binary { subtype: BinarySubtype::Uuid, bytes: id.as_bytes().to_vec() })
}

fn decimal128(text: &str) -> Bson {
    Bson::Decimal128(text.parse().unwrap())
}

on_every_store! {
    async fn values_are_stored_as_types_of_bson_wherever_serde_has_them(store: AnyStore) {
        let db = Orders::open(store.clone()).await.unwrap();
        let first = db.orders.insert(order(1)).await.unwrap();
        assert_eq!(first, order(1));
        let second = Order { like: Some(Ref::from(&first)), ..order(2) };
        assert_eq!(db.orders.insert(second.clone()).await.unwrap(), second);
        let stored = bson::Document::try_from(&stored(&store, "orders").await[1]).unwrap();
        let id = || binary(second.id);
        let at = || Bson::DateTime(bson::DateTime::from_millis(1_395_999_761_000));
        let stamp = doc! { "by": id(), "at": at(), "paid": decimal128("12.50"), "from": "::1" };
        let mut tagged = doc! { "kind": "Stamped" };
        tagged.extend(stamp.clone());
        let day = Bson::DateTime(bson::DateTime::from_millis(1_395_964_800_000));
        let mut expected = doc! {
            "_id": id(),
            "created": at(),
            "total": decimal128("-0.10"),
            "ip": "127.0.0.1",
            "ids": [id(), binary(Uuid::nil())],
            "rates": { "EUR": decimal128("1") },
            "seen": { "web": at(), "app": null },
            "like": binary(first.id),
        };
        expected.extend(stamp);
        expected.extend(doc! {
            "tagged": [
                tagged,
                { "kind": "Plain", "at": at(), "day": day, "list": [decimal128("3")] },
            ],
            "untagged": [{ "id": id() }, { "amount": decimal128("2.0") }],
            "external": [{ "At": at() }, { "Both": [id(), decimal128("0")] }],
        });
        // The entries of a hash map have no order.
        let entries = |document: &bson::Document| {
            let mut seen: Vec<_> = document.get_document("seen").unwrap().clone().into_iter().collect();
            seen.sort_by(|one, other| one.0.cmp(&other.0));
            (seen, document.iter().filter(|(name, _)| *name != "seen").map(|(name, value)| (name.clone(), value.clone())).collect::<bson::Document>())
        };
        assert_eq!(entries(&stored), entries(&expected));
        let joined = db.orders.find(Order::fields().like.eq(&first)).join(Order::fields().like).await.unwrap();
        assert_eq!(joined, [(second, Some(first))]);
    }

    async fn filters_and_updates_take_values_as_they_are_stored(store: AnyStore) {
        let db = Orders::open(store).await.unwrap();
        db.orders.insert_many([order(1), order(2)]).await.unwrap();
        let (order, now) = (Order::fields(), Utc::now());
        let id = Uuid::from_u128(2);
        let update = db.orders.update(id).set(order.created, now).set(order.shipped, now);
        let update = update.set(order.total, decimal("7")).push(order.ids, Uuid::max());
        let update = update.set(order.flat.from, IpAddr::from([10, 0, 0, 1]));
        update.set(order.external, vec![External::At(now.trunc_subsecs(3))]).await.unwrap();
        for filter in [
            order.id.eq(id),
            order.created.gt(date()),
            order.created.eq(now),
            order.shipped.lte(now),
            order.shipped.in_([now]),
            order.total.gt(Decimal::ONE),
            order.total.eq(decimal("7.00")),
            order.ids.contains(Uuid::max()),
            order.ids.len(3),
            order.flat.from.eq(IpAddr::from([10, 0, 0, 1])),
            order.external.any(|external| external.at.eq(now.trunc_subsecs(3))),
            order.untagged.any(|untagged| untagged.id.id.eq(id)),
            order.id.ne(Uuid::from_u128(1)),
        ] {
            let found = db.orders.find(filter.clone()).await.unwrap();
            let ids: Vec<Uuid> = found.iter().map(|order| order.id).collect();
            assert_eq!(ids, [id], "{filter:?}");
        }
        let totals = db.orders.all().distinct(order.total).await.unwrap();
        assert_eq!(totals, [decimal("-0.10"), decimal("7")]);
        assert_eq!(db.orders.all().sum(order.total).await.unwrap(), decimal("6.90"));
        assert_eq!(db.orders.find(order.id.eq(Uuid::max())).sum(order.total).await.unwrap(), Decimal::ZERO);
        let mean = db.orders.all().avg(order.total).await.unwrap();
        assert_eq!(mean.unwrap().to_string(), "3.45");
        assert_eq!(db.orders.all().min(order.created).await.unwrap(), Some(date()));
        let shipped = db.orders.all().max(order.shipped).await.unwrap();
        assert_eq!(shipped, Some(now.trunc_subsecs(3)), "one `Option` around what a document can lack");
        assert_eq!(db.orders.all().unwind(order.ids).max(order.ids.element()).await.unwrap(), Some(Uuid::max()));
        let hour = date().duration_trunc(chrono::TimeDelta::hours(1)).unwrap();
        let hours = db.orders.find(order.id.ne(id)).count_by(order.created.start_of_hour()).await.unwrap();
        assert_eq!(hours, [(hour, 1)]);
        let by_shipped = db.orders.all().group_by((order.shipped, order.id));
        let rows = by_shipped.select((order.total.sum(), order.created.max())).having(order.total.sum().gt(decimal("1")));
        let of_update = (decimal("7"), Some(now.trunc_subsecs(3)));
        assert_eq!(rows.await.unwrap(), [((Some(now.trunc_subsecs(3)), id), of_update)]);
        db.orders.update(id).pull(order.ids, Uuid::max()).unset(order.shipped).await.unwrap();
        assert_eq!(db.orders.get(id).await.unwrap().ids.len(), 2);
        let modified = db.orders.modify(id, |order| order.total += decimal("0.01")).await.unwrap();
        assert_eq!(modified.total, decimal("7.01"));
        db.orders.update(id).inc(order.total, decimal("-0.01")).await.unwrap();
        let halved = db.orders.update(id).mul(order.total, decimal("0.5")).returning().await.unwrap();
        assert_eq!(halved.total, decimal("3.5"));
        for refused in [
            db.orders.update(id).mul(order.total, decimal("0.3333333333333333333333333333")).await,
            db.orders.update(id).inc(order.total, Decimal::MAX).await,
        ] {
            assert!(refused.unwrap_err().is_invalid(), "more digits than a `Decimal` has");
        }
        assert!(db.orders.delete(id).await.unwrap());
    }

    async fn what_is_returned_is_what_is_stored(store: AnyStore) {
        let db = Orders::open(store).await.unwrap();
        // Below the millisecond, after 1970 and before.
        for (id, text, cut) in [
            (1, "2014-03-28T09:42:41.999999999Z", "2014-03-28T09:42:41.999Z"),
            (2, "1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999Z"),
            (3, "1969-12-31T23:59:59.000000001Z", "1969-12-31T23:59:59.000Z"),
            (4, "2016-12-31T23:59:60.500Z", "2016-12-31T23:59:59.999Z"),
        ] {
            let created: Date = text.parse().unwrap();
            let inserted = db.orders.insert(Order { created, ..order(id) }).await.unwrap();
            assert_eq!(inserted.created, cut.parse::<Date>().unwrap());
            assert_eq!(db.orders.get(inserted.id).await.unwrap(), inserted);
            let same = Order::fields().created.eq(created);
            assert_eq!(db.orders.find(same).await.unwrap(), [inserted], "{text}");
        }
    }

    async fn what_a_type_does_not_have_is_an_error_that_names_it(store: AnyStore) {
        let db = Orders::open(store.clone()).await.unwrap();
        let order = db.orders.insert(order(1)).await.unwrap();
        for (field, wrong, word) in [
            ("total", decimal128("1E-29"), "digits"),
            ("total", decimal128("1.2345678901234567890123456789012"), "digits"),
            ("created", Bson::DateTime(bson::DateTime::MAX), "years"),
            ("tagged.1.day", Bson::DateTime(bson::DateTime::from_millis(1)), "start of a day"),
            ("ip", "localhost".into(), "an IP address"),
        ] {
            let update = doc! { "$set": { field: wrong } };
            let error = db.orders.update(order.id).raw(update.clone()).await.unwrap_err();
            assert!(error.is_invalid(), "{update}: {error}");
            behind_the_back(&store, "orders", doc! {}, update).await;
            let error = db.orders.get(order.id).await.unwrap_err();
            assert_eq!(error.kind(), odm::ErrorKind::Decode);
            let named = error.location().and_then(|location| location.path.clone());
            let named = named.unwrap_or_default();
            assert!(field.starts_with(&named) && !named.is_empty(), "{named}: {error}");
            assert!(error.to_string().contains(word), "{error}");
            db.orders.upsert(order.clone()).await.unwrap();
        }
        // The schema refuses values of another type.
        for wrong in [
            doc! { "total": "1.5" },
            doc! { "total": decimal128("NaN") },
            doc! { "total": decimal128("79228162514264337593543950336") },
            doc! { "created": "2014-03-28T09:42:41Z" },
            doc! { "ip": [127, 0, 0, 1] },
            doc! { "ids.0": "00000000-0000-0000-0000-000000000000" },
        ] {
            let update = db.orders.update(order.id).raw(doc! { "$set": wrong.clone() });
            let error = update.await.expect_err(&format!("{wrong}"));
            assert!(error.is_invalid(), "{wrong}: {error}");
        }
        // Decimals with an exponent are numbers like others.
        let same = doc! { "$set": { "total": decimal128("-1.20E+3"), "rates.x": decimal128("0E-6000") } };
        db.orders.update(order.id).raw(same).await.unwrap();
        let read = db.orders.get(order.id).await.unwrap();
        assert_eq!((read.total, read.rates["x"]), (decimal("-1200"), Decimal::ZERO));
    }
}

#[test]
fn json_has_texts() {
    let order = Order { shipped: Some(date()), ..order(1) };
    let json = serde_json::to_value(&order).unwrap();
    let at = "2014-03-28T09:42:41.000Z";
    let id = "00000000-0000-0000-0000-000000000001";
    for (pointer, expected) in [
        ("/_id", json!(id)),
        ("/created", json!(at)),
        ("/shipped", json!(at)),
        ("/total", json!("-0.10")),
        ("/ip", json!("127.0.0.1")),
        ("/by", json!(id)),
        ("/seen", json!({ "app": null, "web": at })),
        ("/tagged/1/day", json!("2014-03-28")),
        ("/tagged/1/list/0", json!("3")),
        ("/untagged", json!([{ "id": id }, { "amount": "2.0" }])),
    ] {
        assert_eq!(json.pointer(pointer), Some(&expected), "{pointer}");
    }
    assert_eq!(serde_json::from_value::<Order>(json.clone()).unwrap(), order);
    let mut numbers = json;
    numbers["total"] = json!(-0.1);
    numbers["paid"] = json!(7);
    let read: Order = serde_json::from_value(numbers).unwrap();
    assert_eq!((read.total, read.flat.paid), (decimal("-0.1"), decimal("7")));
}

#[test]
fn a_schema_has_the_types_of_bson() {
    let schema = Order::json_schema();
    let properties = schema.get_document("properties").unwrap();
    let of = |name: &str| properties.get_document(name).unwrap().clone();
    assert_eq!(of("_id"), doc! { "bsonType": "binData" });
    assert_eq!(of("created"), doc! { "bsonType": "date" });
    assert_eq!(of("shipped"), doc! { "bsonType": ["date", "null"] });
    assert_eq!(of("like"), doc! { "bsonType": ["binData", "null"] });
    assert_eq!(of("ip"), doc! { "bsonType": "string" });
    assert_eq!(of("ids"), doc! { "bsonType": "array", "items": { "bsonType": "binData" } });
    assert_eq!(of("total").get("bsonType"), Some(&"decimal".into()));
    let required = schema.get_array("required").unwrap();
    assert!(required.contains(&"created".into()) && !required.contains(&"shipped".into()));
}

/// A model of a program that renames the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "renamed", crate = "renamed")]
struct Renamed {
    #[serde(rename = "_id", with = "renamed::native")]
    id: Uuid,
    #[index]
    #[serde(with = "renamed::native")]
    at: Date,
}

#[test]
fn the_module_has_the_name_of_the_library() {
    let schema = Renamed::fields().at.gt(date());
    assert!(format!("{schema:?}").contains("DateTime"), "{schema:?}");
}
