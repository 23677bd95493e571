//! Models with relations and derived fields of all kinds, also to themselves and to each other.

use odm::{Embedded, bson::RawDocumentBuf, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, stored};

/// A tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "categories")]
pub(crate) struct Category {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[index(unique)]
    pub(crate) name: String,
    #[reference(parent)]
    pub(crate) parent: Option<Ref<Category>>,
    #[count(of = "Category")]
    pub(crate) children: i64,
    #[sum(of = "Item.stars")]
    pub(crate) stars: i64,
    #[max(of = "Item.price")]
    pub(crate) dearest: Option<f64>,
    #[created_at]
    pub(crate) created_at: DateTime,
    #[updated_at]
    pub(crate) updated_at: Option<DateTime>,
    #[version]
    pub(crate) revision: i64,
}

/// Persons and tasks are inverse references, and so are friends; persons and items refer to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "persons")]
pub(crate) struct Person {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
    #[reference(child, inverse = "owner")]
    pub(crate) tasks: Vec<Ref<Task>>,
    #[reference(child, inverse = "friends")]
    pub(crate) friends: Vec<Ref<Person>>,
    #[reference(child, on_delete = "nullify")]
    pub(crate) favourite: Option<Ref<Item>>,
    #[reference(parent)]
    pub(crate) lead: Option<Ref<Person>>,
    #[ancestors(via = "lead")]
    pub(crate) leads: Ancestors<Person>,
    #[count(of = "Person", via = "leads")]
    pub(crate) led: i64,
    #[version]
    pub(crate) revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub(crate) struct Task {
    #[serde(rename = "_id")]
    pub(crate) id: ObjectId,
    pub(crate) text: String,
    #[reference(child, inverse = "tasks")]
    pub(crate) owner: Option<Ref<Person>>,
    #[denormalize(from = "Person.name", freeze)]
    pub(crate) owner_then: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "items", new = "NewItem")]
pub(crate) struct Item {
    #[serde(rename = "_id")]
    #[id(sequence)]
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) price: f64,
    #[reference(parent)]
    pub(crate) category: Ref<Category>,
    #[denormalize(from = "Category.name")]
    pub(crate) category_name: String,
    #[reference(child)]
    pub(crate) seller: Ref<Person>,
    #[count(of = "Review")]
    pub(crate) reviews: i64,
    #[exists(of = "Review")]
    pub(crate) is_reviewed: bool,
    #[sum(of = "Review.stars")]
    pub(crate) stars: i64,
    #[min(of = "Review.stars")]
    pub(crate) fewest: Option<i32>,
    #[computed(if reviews == 0 { None } else { Some(stars / reviews) })]
    pub(crate) mean: Option<i64>,
    #[computed(words(&name))]
    #[index]
    pub(crate) words: Vec<String>,
    #[subset(limit = 2, sort = "-stars")]
    pub(crate) best: Subset<ReviewLine>,
    #[split(collection = "item_details", key = "item")]
    pub(crate) detail: Cold<Detail>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Detail {
    pub(crate) text: String,
    #[reference(child)]
    pub(crate) inspector: Option<Ref<Person>>,
    #[denormalize(from = "Person.name", freeze)]
    pub(crate) inspector_then: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub(crate) struct Review {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) stars: i32,
    /// It stays when the item is deleted.
    #[reference(parent, on_delete = "keep")]
    pub(crate) item: Ref<Item>,
    #[sequence(within = "item")]
    pub(crate) number: i64,
    #[denormalize(from = "Item.name", freeze)]
    pub(crate) item_then: Option<String>,
    #[denormalize(from = "Item.name")]
    pub(crate) item_name: Option<String>,
    #[reference(child, unchecked)]
    pub(crate) by: Option<Ref<Person>>,
    #[denormalize(from = "Person.name")]
    pub(crate) by_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub(crate) struct ReviewLine {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) stars: i32,
}

#[derive(Database)]
#[database(name = "market", version = 1)]
pub(crate) struct Market {
    pub(crate) reviews: Repository<Review>,
    pub(crate) tasks: Repository<Task>,
    pub(crate) items: Repository<Item>,
    pub(crate) persons: Repository<Person>,
    pub(crate) categories: Repository<Category>,
}

pub(crate) fn category(id: i32, parent: Option<i32>) -> Category {
    Category {
        id,
        name: format!("category {id}"),
        parent: parent.map(Ref::new),
        children: 0,
        stars: 0,
        dearest: None,
        created_at: DateTime::now(),
        updated_at: None,
        revision: 0,
    }
}

pub(crate) fn person(id: i32) -> Person {
    Person {
        id,
        name: format!("person {id}"),
        tasks: Vec::new(),
        friends: Vec::new(),
        favourite: None,
        lead: None,
        leads: Ancestors::new(),
        led: 0,
        revision: 0,
    }
}

pub(crate) fn task(number: u8, owner: Option<i32>) -> Task {
    let mut bytes = [0; 12];
    bytes[0] = number;
    Task {
        id: ObjectId::from_bytes(bytes),
        text: "paint".to_owned(),
        owner: owner.map(Ref::new),
        owner_then: None,
    }
}

pub(crate) fn item(category: i32, seller: i32, inspector: Option<i32>) -> NewItem {
    NewItem {
        name: "a fence".to_owned(),
        price: 0.1 + 0.2,
        category: Ref::new(category),
        seller: Ref::new(seller),
        detail: Cold::new(Detail {
            text: "of wood".to_owned(),
            inspector: inspector.map(Ref::new),
            inspector_then: None,
        }),
    }
}

pub(crate) fn review(id: i32, stars: i32, item: i64, by: Option<i32>) -> Review {
    Review {
        id,
        stars,
        item: Ref::new(item),
        number: 0,
        item_then: None,
        item_name: None,
        by: by.map(Ref::new),
        by_name: None,
    }
}

pub(crate) async fn exported(market: &Market) -> String {
    let mut lines = Vec::new();
    market.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}

/// A new database in memory with the documents of an export.
pub(crate) async fn imported(lines: &str) -> odm::Result<Market> {
    let market = Market::open(Embedded::memory().await?).await?;
    market.import(lines.as_bytes()).await?;
    Ok(market)
}

/// All stored documents of the market, and the last numbers of its sequences.
pub(crate) async fn all_stored(store: &impl TestStore) -> Vec<Vec<RawDocumentBuf>> {
    let mut all = Vec::new();
    for collection in
        ["categories", "persons", "items", "item_details", "tasks", "reviews", "_odm_counters"]
    {
        all.push(stored(store, collection).await);
    }
    let mut numbers = stored(store, "_odm_catalog").await;
    numbers.retain(|record| record.get_str("_id").is_ok_and(|id| id.starts_with("sequence ")));
    all.push(numbers);
    all
}

/// A document with values of any type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "anything")]
pub(crate) struct Anything {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[opaque]
    pub(crate) value: odm::bson::Document,
}

#[derive(Database)]
#[database(name = "things", version = 7)]
pub(crate) struct Things {
    pub(crate) anything: Repository<Anything>,
}
