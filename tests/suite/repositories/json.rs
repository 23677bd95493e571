//! Ids and dates are native in BSON and plain in JSON, at any place in serde's data model.

use std::collections::BTreeMap;

use odm::{
    bson::{Bson, Document, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tests::{on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Stamp {
    by: ObjectId,
    at: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Tagged {
    Stamped(#[embed] Stamp),
    Plain { at: DateTime, list: Vec<ObjectId> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Loose {
    Stamped(#[embed] Stamp),
    Plain { list: Vec<DateTime> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Stamped(#[embed] Stamp),
}

/// It derives neither `Embed` nor any other trait of the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Id(ObjectId),
    Date(DateTime),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "events")]
struct Event {
    #[serde(rename = "_id")]
    id: ObjectId,
    at: DateTime,
    #[reference(child)]
    next: Option<Ref<Event>>,
    #[reference(child)]
    others: Vec<Ref<Event>>,
    #[embed]
    #[serde(flatten)]
    stamp: Flat,
    #[embed]
    tagged: Vec<Tagged>,
    #[embed]
    loose: Vec<Loose>,
    #[embed]
    adjacent: Adjacent,
    #[opaque]
    either: Vec<Either>,
    dates: BTreeMap<String, DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Flat {
    flat_by: ObjectId,
    flat_at: Option<DateTime>,
    #[reference(child)]
    flat_ref: Option<Ref<Event>>,
}

#[derive(Database)]
#[database(name = "events", version = 1)]
struct Events {
    events: Repository<Event>,
}

fn event() -> Event {
    let id = ObjectId::from_bytes([7; 12]);
    let at = DateTime::from_millis(1_395_999_761_382);
    let stamp = Stamp { by: id, at };
    Event {
        id,
        at,
        next: Some(Ref::new(id)),
        others: vec![Ref::new(id)],
        stamp: Flat { flat_by: id, flat_at: Some(at), flat_ref: Some(Ref::new(id)) },
        tagged: vec![Tagged::Stamped(stamp.clone()), Tagged::Plain { at, list: vec![id] }],
        loose: vec![Loose::Stamped(stamp.clone()), Loose::Plain { list: vec![at] }],
        adjacent: Adjacent::Stamped(stamp),
        either: vec![Either::Id(id), Either::Date(at), Either::Text("text".into())],
        dates: BTreeMap::from([("first".into(), at)]),
    }
}

#[test]
fn in_json_ids_are_digits_and_dates_are_text() {
    let (id, at) = ("070707070707070707070707", "2014-03-28T09:42:41.382Z");
    let expected = json!({
        "_id": id,
        "at": at,
        "next": id,
        "others": [id],
        "flat_by": id,
        "flat_at": at,
        "flat_ref": id,
        "tagged": [
            { "kind": "Stamped", "by": id, "at": at },
            { "kind": "Plain", "at": at, "list": [id] },
        ],
        "loose": [{ "by": id, "at": at }, { "list": [at] }],
        "adjacent": { "t": "Stamped", "c": { "by": id, "at": at } },
        "either": [id, at, "text"],
        "dates": { "first": at },
    });
    assert_eq!(serde_json::to_value(event()).unwrap(), expected);
    assert_eq!(serde_json::from_value::<Event>(expected).unwrap(), event());
    let text = serde_json::to_string(&event()).unwrap();
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event());
}

#[test]
fn what_is_no_id_or_date_in_json_is_an_error() {
    for wrong in ["\"07\"", "\"zz0707070707070707070707\"", "7", "null", "{}"] {
        serde_json::from_str::<ObjectId>(wrong).unwrap_err();
    }
    for wrong in ["\"yesterday\"", "\"2014-13-28T00:00:00Z\"", "7", "null", "[]"] {
        serde_json::from_str::<DateTime>(wrong).unwrap_err();
    }
}

on_every_store! {
    async fn in_bson_ids_and_dates_are_native(store: AnyStore) {
        let db = Events::open(store.clone()).await.unwrap();
        assert_eq!(db.events.insert(event()).await.unwrap(), event());
        let read = Document::try_from(&stored(&store, "events").await[0]).unwrap();
        let id = Bson::from(event().id);
        let at = Bson::from(event().at);
        let expected = doc! {
            "_id": &id,
            "at": &at,
            "next": &id,
            "others": [&id],
            "flat_by": &id,
            "flat_at": &at,
            "flat_ref": &id,
            "tagged": [
                { "kind": "Stamped", "by": &id, "at": &at },
                { "kind": "Plain", "at": &at, "list": [&id] },
            ],
            "loose": [{ "by": &id, "at": &at }, { "list": [&at] }],
            "adjacent": { "t": "Stamped", "c": { "by": &id, "at": &at } },
            "either": [&id, &at, "text"],
            "dates": { "first": &at },
        };
        assert_eq!(read, expected);
        assert_eq!(db.events.get(event().id).await.unwrap(), event());
    }

    async fn native_values_are_found_wherever_they_are(store: AnyStore) {
        let db = Events::open(store).await.unwrap();
        db.events.insert(event()).await.unwrap();
        let fields = Event::fields();
        let (id, at) = (event().id, event().at);
        let later = DateTime::from_millis(at.timestamp_millis() + 1);
        for filter in [
            fields.id.eq(id),
            fields.at.gte(at) & fields.at.lt(later),
            fields.next.eq(id),
            fields.others.contains(id),
            fields.stamp.flat_by.eq(id),
            fields.stamp.flat_at.eq(at),
            fields.stamp.flat_ref.eq(&event()),
            fields.tagged.any(|tagged| tagged.stamped.by.eq(id)),
            fields.tagged.any(|tagged| tagged.plain.at.eq(at)),
            fields.loose.any(|loose| loose.stamped.at.eq(at)),
            fields.adjacent.stamped.by.eq(id),
        ] {
            let text = format!("{filter:?}");
            assert!(db.events.find(filter).exists().await.unwrap(), "{text}");
        }
        let later_by_1 = Update::new().set(fields.stamp.flat_at, later).set(fields.at, later);
        db.events.update(id).with(later_by_1).await.unwrap();
        let read = db.events.get(id).await.unwrap();
        assert_eq!((read.at, read.stamp.flat_at), (later, Some(later)));
    }
}
