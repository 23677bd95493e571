//! The documents of most tests.

use odm::{bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::TestStore;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Size {
    pub(crate) width: i32,
    pub(crate) height: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Stock {
    pub(crate) place: String,
    pub(crate) qty: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Origin {
    pub(crate) country: String,
    pub(crate) since: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "items", index(fields = "kind, -count"), index(fields = "stock.place"))]
pub(crate) struct Item {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[index(unique)]
    pub(crate) code: String,
    pub(crate) kind: String,
    pub(crate) count: i32,
    pub(crate) weight: f64,
    /// Stored as null if absent.
    pub(crate) note: Option<String>,
    /// Not stored if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[index]
    pub(crate) tags: Vec<String>,
    #[embed]
    pub(crate) size: Size,
    #[embed]
    pub(crate) stock: Vec<Stock>,
    #[embed]
    pub(crate) origin: Option<Origin>,
    pub(crate) made: DateTime,
}

/// A part of an item.
#[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
#[projection(of = "Item")]
pub(crate) struct Line {
    pub(crate) code: String,
    pub(crate) note: Option<String>,
    #[embed]
    pub(crate) stock: Vec<Stock>,
}

#[derive(Database)]
#[database(name = "items", version = 1)]
pub(crate) struct Items {
    pub(crate) items: Repository<Item>,
}

pub(crate) fn item(id: i64, code: &str, kind: &str, count: i32) -> Item {
    Item {
        id,
        code: code.into(),
        kind: kind.into(),
        count,
        weight: 1.5,
        note: None,
        label: None,
        tags: Vec::new(),
        size: Size { width: 1, height: 2 },
        stock: Vec::new(),
        origin: None,
        made: DateTime::from_millis(id * 1000),
    }
}

fn stock(place: &str, qty: i64) -> Stock {
    Stock { place: place.into(), qty }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

/// Five items. The second to the fourth have everything; the first has a null `note` and no
/// `label`; the fifth has no `note` at all.
pub(crate) fn five() -> Vec<Item> {
    vec![
        item(1, "a", "bolt", 5),
        Item {
            weight: 2.0,
            note: Some("fragile".into()),
            label: Some("x".into()),
            tags: strings(&["red"]),
            stock: vec![stock("north", 3)],
            ..item(2, "b", "bolt", 7)
        },
        Item {
            weight: 2.5,
            note: Some("Fragile!".into()),
            tags: strings(&["red", "blue"]),
            size: Size { width: 3, height: 4 },
            stock: vec![stock("north", 9), stock("south", 1)],
            origin: Some(Origin { country: "NO".into(), since: DateTime::from_millis(0) }),
            ..item(3, "c", "nut", 5)
        },
        Item {
            weight: -1.0,
            note: Some(String::new()),
            label: Some("y".into()),
            tags: strings(&["blue", "green", "red"]),
            stock: vec![stock("south", 3)],
            ..item(4, "d", "nut", 9)
        },
        Item { weight: 0.0, label: Some("x.y".into()), ..item(5, "e", "washer", 7) },
    ]
}

/// A database with the five items.
pub(crate) async fn with_five(store: impl TestStore) -> Items {
    let db = Items::open(store).await.unwrap();
    db.items.insert_many(five()).await.unwrap();
    let unset = doc! { "$unset": { "note": "" } };
    db.items.update(5).raw(unset).await.unwrap();
    db
}

/// The ids of the items that match, in the order of the query.
pub(crate) async fn ids(find: odm::repository::Query<Item>) -> Vec<i64> {
    find.await.unwrap().into_iter().map(|item| item.id).collect()
}
