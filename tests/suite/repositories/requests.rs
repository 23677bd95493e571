//! Sorts and filters in a request.

use std::collections::BTreeMap;

use odm::{Error, ErrorKind, bson::oid, prelude::*};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::on_every_store;
use uuid::Uuid;

use crate::repositories::items::{Item, ids, with_five};

mod properties;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Embed)]
enum Priority {
    #[serde(rename = "1-low")]
    Low,
    #[serde(rename = "2-high")]
    High,
}

/// An enum without an order, since its names have another order than its variants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Embed)]
enum Color {
    Red,
    Green,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Price {
    value: f64,
    #[serde(rename = "cur")]
    currency: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: i64 },
    Square { side: i64 },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Node {
    weight: i64,
    #[embed(recursive)]
    next: Option<Box<Node>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Audit {
    author: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

mod hidden {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id", with = "odm::native")]
    id: Uuid,
    name: String,
    size: i8,
    stock: u64,
    weight: f64,
    #[serde(rename = "new")]
    is_new: bool,
    made: DateTime,
    note: Option<String>,
    tags: Vec<String>,
    #[embed]
    priority: Priority,
    color: Option<Color>,
    #[embed]
    price: Price,
    #[embed]
    offers: Vec<Price>,
    #[embed]
    by_name: BTreeMap<String, Price>,
    #[embed]
    shape: Shape,
    #[embed]
    node: Node,
    #[serde(flatten)]
    #[embed]
    audit: Audit,
    #[reference(child)]
    item: Option<Ref<Item>>,
    #[reference(child)]
    related: Vec<Ref<Thing>>,
    #[serde(with = "odm::native")]
    total: rust_decimal::Decimal,
    #[serde(with = "odm::native")]
    address: std::net::Ipv4Addr,
    external: oid::ObjectId,
    #[serde(with = "hidden")]
    secret: i64,
    #[serde(skip)]
    _memory: i64,
    #[opaque]
    any: odm::bson::Bson,
    #[split(collection = "thing_details", key = "thing")]
    details: Cold<Details>,
    #[version]
    revision: i64,
}

const ID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

fn filter(json: &Value) -> Result<Filter<Thing>, Error> {
    Thing::filter_from_json(json)
}

fn query(pairs: &[(&str, &str)]) -> Result<Filter<Thing>, Error> {
    Thing::filter_from_query(pairs.iter().copied())
}

/// The message of a refused request.
fn refusal<T: std::fmt::Debug>(made: Result<T, Error>) -> String {
    let error = made.unwrap_err();
    assert!(error.is_invalid_request(), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    error.to_string()
}

fn assert_same(made: Result<Filter<Thing>, Error>, typed: Filter<Thing>) {
    assert_eq!(format!("{:?}", made.unwrap()), format!("{typed:?}"));
}

/// Asserts the same for JSON and for a query string.
fn assert_both(json: Value, pairs: &[(&str, &str)], typed: Filter<Thing>) {
    assert_same(filter(&json), typed.clone());
    assert_same(query(pairs), typed);
}

#[test]
fn a_filter_of_a_request_is_the_typed_one_for_each_type_of_field() {
    let thing = Thing::fields();
    let id: Uuid = ID.parse().unwrap();
    let made: DateTime = "2014-03-28".parse().unwrap();
    let external = oid::ObjectId::parse_str("507f1f77bcf86cd799439011").unwrap();
    assert_both(json!({ "_id": ID }), &[("_id", ID)], thing.id.eq(id));
    assert_both(json!({ "name": "10" }), &[("name", "10")], thing.name.eq("10"));
    assert_both(json!({ "size": -3 }), &[("size", "-3")], thing.size.eq(-3));
    assert_both(json!({ "stock": { "gt": 3 } }), &[("stock[gt]", "3")], thing.stock.gt(3_u64));
    assert_both(json!({ "weight": 2 }), &[("weight", "2")], thing.weight.eq(2.0));
    assert_both(json!({ "new": true }), &[("new", "true")], thing.is_new.eq(true));
    let date = "2014-03-28T00:00:00Z";
    assert_both(json!({ "made": { "lte": date } }), &[("made[lte]", date)], thing.made.lte(made));
    assert_both(json!({ "note": { "ne": "" } }), &[("note[ne]", "")], thing.note.ne(""));
    assert_same(filter(&json!({ "note": null })), thing.note.eq(None::<String>));
    assert_both(
        json!({ "priority": { "gte": "2-high" } }),
        &[("priority[gte]", "2-high")],
        thing.priority.gte(Priority::High),
    );
    assert_both(json!({ "color": "Red" }), &[("color", "Red")], thing.color.eq(Color::Red));
    assert_both(
        json!({ "price.cur": ["EUR", "USD"] }),
        &[("price.cur[in]", "EUR,USD")],
        thing.price.currency.in_(["EUR", "USD"]),
    );
    assert_both(json!({ "node.weight": 1 }), &[("node.weight", "1")], thing.node.weight.eq(1));
    assert_both(json!({ "author": "a" }), &[("author", "a")], thing.audit.author.eq("a"));
    assert_both(json!({ "item": 7 }), &[("item", "7")], thing.item.eq(Ref::new(7)));
    assert_both(json!({ "related": ID }), &[("related", ID)], thing.related.contains(id));
    assert_both(json!({ "tags": "a" }), &[("tags", "a")], thing.tags.contains("a"));
    assert_both(
        json!({ "total": { "lt": "12.50" } }),
        &[("total[lt]", "12.50")],
        thing.total.lt("12.50".parse::<rust_decimal::Decimal>().unwrap()),
    );
    assert_both(
        json!({ "address": "127.0.0.1" }),
        &[("address", "127.0.0.1")],
        thing.address.eq(std::net::Ipv4Addr::LOCALHOST),
    );
    assert_both(
        json!({ "external": "507f1f77bcf86cd799439011" }),
        &[("external", "507f1f77bcf86cd799439011")],
        thing.external.eq(external),
    );
    assert_both(
        json!({ "note": { "exists": false } }),
        &[("note[exists]", "false")],
        thing.note.exists(false),
    );
    assert_both(json!({ "name": [] }), &[("name[in]", "")], thing.name.in_([] as [&str; 0]));
    assert_both(json!({}), &[], Filter::all());
    assert_same(filter(&Value::Null), Filter::all());
    assert_both(
        json!({ "size": { "gte": 1, "lt": 5 }, "name": "x" }),
        &[("name", "x"), ("size[gte]", "1"), ("size[lt]", "5")],
        thing.name.eq("x") & thing.size.gte(1) & thing.size.lt(5),
    );
}

#[test]
fn a_request_cannot_inject_an_operator() {
    let injections = [
        json!({ "name": { "$gt": "" } }),
        json!({ "name": { "eq": { "$gt": "" } } }),
        json!({ "name": { "in": [{ "$gt": "" }] } }),
        json!({ "name": [{ "$regex": ".*" }] }),
        json!({ "name": { "$where": "1" } }),
        json!({ "price.cur": { "ne": ["EUR"] } }),
        json!({ "total": { "$numberDecimal": "1" } }),
        json!({ "external": { "$oid": "507f1f77bcf86cd799439011" } }),
    ];
    for injection in injections {
        let message = refusal(filter(&injection));
        let name = injection.as_object().unwrap().keys().next().unwrap();
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
    for name in ["$where", "$or", "$expr", "name.$gt", "$$ROOT", "", "name[$gt]"] {
        refusal(filter(&json!({ name: "x" })));
        refusal(query(&[(name, "x")]));
        refusal(Thing::sort_by(&format!("{name},")));
    }
    // A text that looks like an operator is a text.
    let text = "{\"$gt\": \"\"}";
    assert_same(query(&[("name", text)]), Thing::fields().name.eq(text));
}

#[test]
fn a_path_of_any_length_through_a_type_within_itself_is_refused() {
    let path = |nexts: usize| format!("node.{}weight", "next.".repeat(nexts));
    let name = path(150);
    assert!(query(&[(&name, "1")]).is_ok() && Thing::sort_by(&name).is_ok());
    for nexts in [200, 200_000] {
        let name = path(nexts);
        refusal(query(&[(&name, "1")]));
        refusal(query(&[(&format!("{name}[gt]"), "1")]));
        refusal(filter(&json!({ &*name: 1 })));
        refusal(Thing::sort_by(&name));
        let allowed = Thing::allow(["node"]);
        refusal(allowed.filter_from_query([(&name, "1")]));
    }
}

#[test]
fn what_is_wrong_with_a_request_is_named() {
    let cases = [
        (
            json!({ "nane": 1 }),
            "request: `things` cannot be filtered by `nane`: use `_id`, `name`, `size`",
        ),
        (
            json!({ "name": { "like": "x" } }),
            "request: `name` has no operator `like`: use `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `exists`",
        ),
        (json!({ "name": 7 }), "request: `name`: expected a string, found integer `7`"),
        (json!({ "name": null }), "request: `name`: expected a string, found null"),
        (json!({ "size": 200 }), "request: `size`: expected i8, found integer `200`"),
        (json!({ "size": "x" }), "request: `size`: expected i8, found string \"x\""),
        (json!({ "size": 1.5 }), "request: `size`: expected i8, found floating point `1.5`"),
        (json!({ "stock": u64::MAX }), "request: `stock`: a value cannot be written as BSON"),
        (json!({ "priority": "High" }), "request: `priority`: expected one of `1-low`, `2-high`"),
        (json!({ "color": { "gt": "Red" } }), "request: `color` has no order, and so no `gt`"),
        (json!({ "tags": { "gt": "a" } }), "request: `tags` has no order, and so no `gt`"),
        (json!({ "note": { "gt": null } }), "request: `note` is compared by its order with null"),
        (json!({ "name": { "in": "a" } }), "request: `in` of `name` takes a list, not a value"),
        (json!({ "name": { "eq": ["a"] } }), "request: `name` takes a value here, not a list"),
        (json!({ "name": {} }), "request: `name` has an empty object in place of a value"),
        (
            json!({ "name": { "exists": "x" } }),
            "request: `exists` of `name`: expected a boolean, found string \"x\"",
        ),
        (json!({ "made": "yesterday" }), "request: `made`: "),
        (
            json!({ "name": vec!["x"; 1001] }),
            "request: `name` has a list of 1001 values, and at most 1000 are allowed",
        ),
        (json!([1]), "request: filter is a list, and not an object of fields"),
        (json!("x"), "request: filter is a value, and not an object of fields"),
    ];
    for (json, expected) in cases {
        let message = refusal(filter(&json));
        assert!(message.starts_with(expected), "{json}: {message}");
    }
    let text = r#"{ "size": 1, "size": { "eq": 2 } }"#;
    let twice = Thing::filter_from_json(&mut serde_json::Deserializer::from_str(text));
    assert_eq!(refusal(twice), "request: `size` has `eq` twice");
    let broken = Thing::filter_from_json(&mut serde_json::Deserializer::from_str("{"));
    assert!(refusal(broken).starts_with("request: filter is no JSON object: EOF"));
    let pairs = [
        ("size", "ten", "request: `size`: expected a whole number, found string \"ten\""),
        (
            "stock",
            "-1",
            "request: `stock`: expected a whole number that is not negative, found string \"-1\"",
        ),
        ("size", "300", "request: `size`: expected i8, found integer `300`"),
        ("new", "yes", "request: `new`: expected true or false, found string \"yes\""),
        ("size[gte", "1", "request: `things` cannot be filtered by `size[gte`"),
        ("size[]", "1", "request: `size` has no operator ``"),
    ];
    for (name, value, expected) in pairs {
        let message = refusal(query(&[(name, value)]));
        assert!(message.starts_with(expected), "{message}");
    }
    let long = "x".repeat(10_000);
    assert!(refusal(filter(&json!({ &long: 1 }))).len() < 1000);
    assert!(refusal(query(&[("size", &long)])).len() < 1000);
}

#[test]
fn a_request_names_only_fields_that_are_stored_and_seen() {
    // A whole map, in a cold part, stored in another form, not stored, not visible.
    let unnamed = [
        "offers.x",
        "offers.0.value",
        "by_name",
        "by_name.a",
        "details.plot",
        "secret",
        "_memory",
        "any",
        "is_new",
        "currency",
        "audit.author",
        "price",
        "shape",
        "offers",
        "node.next",
    ];
    for name in unnamed {
        refusal(filter(&json!({ name: 1 })));
        refusal(Thing::sort_by(name));
    }
    // These can be compared, and have no order.
    for name in ["color", "tags", "related", "address"] {
        assert!(!refusal(Thing::sort_by(name)).contains(&format!("use `{name}`")));
    }
    let sortable = "request: `things` cannot be sorted by `x`: use `_id`, `name`, `size`, `stock`, `weight`, `new`, \
                    `made`, `note`, `priority`, `price.value`, `price.cur`, `shape.kind`, `shape.radius`, \
                    `shape.side`, `node.weight`, `author`, `item`, `total`, `external`, `revision`";
    assert_eq!(refusal(Thing::sort_by("x")), sortable);
    assert!(Thing::sort_by("node.next.next.weight").is_ok());
    // A document has no place in the order of a field with several values.
    for name in ["offers.value", "offers.cur", "by_name.a.value"] {
        assert!(filter(&json!({ name: [] })).is_ok());
        refusal(Thing::sort_by(name));
    }
    let allowed = Thing::allow(["offers.value"]);
    assert!(allowed.filter_from_query([("offers.value[gt]", "2.5")]).is_ok());
    refusal(allowed.filter_from_query([("offers.cur", "EUR")]));
}

#[test]
fn a_sort_of_a_request_is_the_typed_one() {
    let thing = Thing::fields();
    let same = |names: &str, typed: Sort<Thing>| {
        let made = Thing::sort_by(names).unwrap();
        assert_eq!(format!("{made:?}"), format!("{typed:?}"), "{names}");
    };
    same("-price.value,name", thing.price.value.desc().then(thing.name.asc()));
    same(" name , -_id ", thing.name.asc().then(thing.id.desc()));
    assert_eq!(format!("{:?}", Thing::sort_by("").unwrap()), "Sort({})");
    for wrong in [",", "name,", "-", "--name", "name,-name", "name asc", "+", "na\u{0}me", "name.x"]
    {
        refusal(Thing::sort_by(wrong));
    }
    assert_eq!(refusal(Thing::sort_by("name,-name")), "request: `name` stands twice in the sort");
}

#[test]
fn a_list_of_allowed_fields_hides_the_others() {
    let thing = Thing::fields();
    let allowed = Thing::allow([thing.name.path(), "price"]);
    assert!(allowed.sort_by("-price.value,name").is_ok());
    assert!(allowed.filter_from_json(json!({ "price.cur": "EUR" })).is_ok());
    assert!(allowed.filter_from_query([("name", "x")]).is_ok());
    for name in ["weight", "_id", "names", "pric", "price.x"] {
        let message = refusal(allowed.sort_by(name));
        let expected = "`: use `name`, `price.value`, `price.cur`";
        assert!(message.ends_with(expected), "{message}");
        refusal(allowed.filter_from_json(json!({ name: 1 })));
        refusal(allowed.filter_from_query([(name, "1")]));
    }
    let nothing = Thing::allow([]);
    assert_eq!(refusal(nothing.sort_by("name")), "request: `things` cannot be sorted by any field");
    // A mistake of the program, and not of the request.
    for path in ["nane", "secret", ""] {
        let error = Thing::allow(["name", path]).sort_by("name").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains(&format!("`{path}`")), "{error}");
    }
}

on_every_store! {
    async fn a_request_finds_and_sorts_documents_and_pages_through_them(store: AnyStore) {
        let db = with_five(store).await;
        let find = |json: Value| db.items.find(Item::filter_from_json(&json).unwrap());
        assert_eq!(ids(find(json!({ "count": { "gte": 5, "lt": 9 }, "tags": ["red", "x"] }))).await, [2, 3]);
        assert_eq!(ids(find(json!({ "tags": { "ne": "red" } }))).await, [1, 5]);
        assert_eq!(ids(find(json!({ "note": null }))).await, [1, 5]);
        assert_eq!(ids(find(json!({ "note": { "exists": false } }))).await, [5]);
        assert_eq!(ids(find(json!({ "origin.country": "NO" }))).await, [3]);
        assert_eq!(ids(find(json!({ "stock.place": "north" }))).await, [2, 3]);
        assert_eq!(ids(find(json!({ "stock.place": { "ne": "north" } }))).await, [1, 4, 5]);
        // Any element may fulfill each condition.
        assert_eq!(ids(find(json!({ "stock.place": "south", "stock.qty": { "gte": 3 } }))).await, [3, 4]);
        let pairs = [("kind[in]", "bolt,nut"), ("count[ne]", "5")];
        let found = db.items.find(Item::filter_from_query(pairs).unwrap());
        assert_eq!(ids(found).await, [2, 4]);

        let sorted = || db.items.all().sort(Item::sort_by("-count,code").unwrap());
        let order = ids(sorted()).await;
        assert_eq!(order, [4, 2, 5, 1, 3]);
        let mut paged = Vec::new();
        let mut next = None;
        loop {
            let query = sorted();
            let page = match &next {
                None => query.page(2).await.unwrap(),
                Some(cursor) => query.after(cursor).page(2).await.unwrap(),
            };
            paged.extend(page.items.into_iter().map(|item| item.id));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(paged, order);
    }
}
