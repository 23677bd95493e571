//! Documents in shapes that their models do not state: references that a raw update has reshaped, and values that serde leaves out.

use odm::{
    ErrorKind, Problem,
    bson::{self, Bson, bson, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_embedded_stores, on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", validation(level = "off"))]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, unchecked)]
    part: Option<Ref<Part>>,
    #[denormalize(from = "Part.note", via = "part", freeze)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note_then: Option<String>,
    #[reference(child, on_delete = "nullify")]
    spare: Option<Ref<Part>>,
    #[reference(child, on_delete = "pull")]
    bare: Vec<Ref<Part>>,
    #[embed]
    links: Vec<Link>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child, on_delete = "pull")]
    id: Ref<Part>,
}

#[derive(Database)]
#[database(name = "orders", version = 1)]
struct Orders {
    parts: Repository<Part>,
    orders: Repository<Order>,
}

fn order(id: i32, part: Option<i32>) -> Order {
    Order {
        id,
        part: part.map(Ref::new),
        note_then: None,
        spare: None,
        bare: Vec::new(),
        links: Vec::new(),
    }
}

async fn orders(store: impl TestStore) -> Orders {
    let db = Orders::open(store).await.unwrap();
    db.parts.insert_many((1..=3).map(|id| Part { id, note: None })).await.unwrap();
    db
}

on_every_store! {
    async fn a_frozen_copy_of_what_was_absent_stays_absent(store: AnyStore) {
        let db = orders(store).await;
        db.orders.insert_many([order(1, Some(1)), order(2, Some(9)), order(3, None)]).await.unwrap();
        db.parts.update(1).set(Part::fields().note, "later").await.unwrap();
        db.parts.insert(Part { id: 9, note: Some("later".into()) }).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
        for id in 1..=3 {
            let held = db.orders.get(id).await.unwrap();
            assert_eq!(db.orders.replace(held.clone()).await.unwrap(), held);
            assert_eq!(held.note_then, None);
        }
        assert_eq!(db.audit().await.unwrap(), []);
        // Another reference is another copy.
        db.orders.update(3).set(Order::fields().part, 1).await.unwrap();
        assert_eq!(db.orders.get(3).await.unwrap().note_then.as_deref(), Some("later"));
    }

    async fn a_rule_clears_each_reference_that_it_finds_in_any_shape(store: AnyStore) {
        let db = orders(store.clone()).await;
        db.orders.insert_many((1..=6).map(|id| order(id, None))).await.unwrap();
        for (id, reshaped) in [
            (1, doc! { "spare": [2, 3] }),
            (2, doc! { "spare": [2, 2] }),
            (3, doc! { "bare": 2, "links": { "id": 2 } }),
            (4, doc! { "links": [{ "id": [2, 3] }, { "id": 3 }, 2] }),
            (5, doc! { "links": { "id": [2] } }),
            (6, doc! { "bare": [[2], 2] }),
        ] {
            db.orders.update(id).raw(doc! { "$set": reshaped }).await.unwrap();
        }
        db.parts.delete(2).await.unwrap();
        let mut findings = db.audit().await.unwrap();
        // Only the model's own shape can be read.
        findings.retain(|finding| !matches!(finding.problem, Problem::Unreadable(_)));
        assert_eq!(findings, []);
        let stored = stored(&store, "orders").await;
        let stored = stored.iter().map(|stored| bson::Document::try_from(stored).unwrap());
        let left: Vec<bson::Document> = stored.map(|mut stored| {
            ["_id", "part", "note_then"].iter().for_each(|name| drop(stored.remove(name)));
            stored
        }).collect();
        let order = |spare: Bson, bare: Bson, links: Bson| doc! { "spare": spare, "bare": bare, "links": links };
        let none = || Bson::Array(Vec::new());
        assert_eq!(left, [
            order(bson!([3]), none(), none()),
            order(Bson::Null, none(), none()),
            order(Bson::Null, none(), none()),
            order(Bson::Null, none(), bson!([{ "id": 3 }, 2])),
            order(Bson::Null, none(), none()),
            order(Bson::Null, bson!([[2]]), none()),
        ]);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "sources")]
struct Source {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "holders")]
struct Holder {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    source: Ref<Source>,
    #[denormalize(from = "Source.n")]
    #[index(unique)]
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "keyed")]
struct Keyed {
    #[serde(rename = "_id")]
    id: Bson,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "keepers")]
struct Keeper {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    keyed: Ref<Keyed>,
    #[denormalize(from = "Keyed.name", via = "keyed")]
    name: String,
    #[reference(child)]
    others: Vec<Ref<Keyed>>,
}

#[derive(Database)]
#[database(name = "odd", version = 1)]
struct Odd {
    sources: Repository<Source>,
    holders: Repository<Holder>,
    keyed: Repository<Keyed>,
    keepers: Repository<Keeper>,
}

on_embedded_stores! {
    async fn unique_copies_exchange_their_values_in_one_update(store: AnyStore) {
        let db = Odd::open(store).await.unwrap();
        let ids = || (-20..=20).filter(|id| *id != 0);
        db.sources.insert_many(ids().map(|id| Source { id, n: id })).await.unwrap();
        let holder = |id| Holder { id, source: Ref::new(id), n: 0 };
        db.holders.insert_many(ids().map(holder)).await.unwrap();
        let all = db.sources.update_where(Filter::all());
        assert_eq!(all.mul(Source::fields().n, -1).await.unwrap().modified, 40);
        let holders = db.holders.all().await.unwrap();
        assert!(holders.iter().all(|holder| holder.n == -holder.id));
        assert_eq!(db.audit().await.unwrap(), []);
    }
}

on_every_store! {
    async fn a_reference_to_what_is_no_id_is_dangling(store: AnyStore) {
        let db = Odd::open(store.clone()).await.unwrap();
        let keeper = |id: &Bson, keys: Vec<Bson>| Keeper {
            id: 1,
            keyed: Ref::new(id.clone()),
            name: String::new(),
            others: keys.into_iter().map(Ref::new).collect(),
        };
        let document = bson!({});
        for id in [Bson::Null, bson!([]), bson!([[1]]), bson!([null])] {
            let error = db.keyed.insert(Keyed { id: id.clone(), name: "x".into() }).await;
            assert!(error.is_err(), "{id:?} is no `_id`");
            let error = db.keepers.insert(keeper(&id, Vec::new())).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DanglingReference, "{id:?}: {error}");
        }
        db.keyed.insert(Keyed { id: document.clone(), name: "x".into() }).await.unwrap();
        let error = db.keepers.insert(keeper(&document, vec![document.clone(), Bson::Null])).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::DanglingReference);
        db.keepers.insert(keeper(&document, vec![document.clone()])).await.unwrap();
        let error = db.keepers.replace(keeper(&Bson::Null, Vec::new())).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DanglingReference);
        assert_eq!(stored(&store, "keepers").await.len(), 1);
        assert_eq!(db.audit().await.unwrap(), []);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "stays")]
struct Stay {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "keep")]
    room: Ref<Room>,
    #[denormalize(from = "Room.name", freeze)]
    #[serde(default)]
    name: String,
}

#[derive(Database)]
#[database(name = "stays", version = 2)]
struct Stays {
    rooms: Repository<Room>,
    stays: Repository<Stay>,
}

/// From before a stay kept the name of its room.
mod before {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "stays")]
    pub(super) struct Stay {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent, on_delete = "keep")]
        pub(super) room: Ref<Room>,
    }

    #[derive(Database)]
    #[database(name = "stays", version = 1)]
    pub(super) struct Stays {
        pub(super) rooms: Repository<Room>,
        pub(super) stays: Repository<Stay>,
    }
}

on_every_store! {
    async fn a_frozen_copy_that_a_backfill_could_not_fill_takes_the_first_value(store: AnyStore) {
        let old = before::Stays::open(store.clone()).await.unwrap();
        let room = |name: &str| Room { id: 1, name: name.to_owned() };
        old.rooms.insert(room("lost")).await.unwrap();
        old.stays.insert(before::Stay { id: 1, room: Ref::new(1) }).await.unwrap();
        old.rooms.delete(1).await.unwrap();
        let db = Stays::open(store).await.unwrap();
        db.backfill().await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
        db.rooms.insert(room("first")).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
        db.rooms.update(1).set(Room::fields().name, "second").await.unwrap();
        db.rooms.delete(1).await.unwrap();
        db.rooms.insert(room("third")).await.unwrap();
        assert_eq!(db.stays.get(1).await.unwrap().name, "first");
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
