//! All stored documents, as plain documents.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document, RawDocumentBuf};
use tests::{TestStore, stored};

pub(crate) const COLLECTIONS: [&str; 8] =
    ["regions", "shops", "persons", "items", "item_details", "reviews", "orders", "tickets"];

pub(crate) const COUNTERS: &str = "_odm_counters";

/// A value as BSON compares it: independent of the types of whole numbers, and in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// An empty array in the place of a sort key.
    Nothing,
    /// Null, or a missing value.
    Null,
    Number(i64),
    Text(String),
    Document(Vec<(String, Key)>),
    Array(Vec<Key>),
    Other(String),
}

pub(crate) fn key(value: &Bson) -> Key {
    match value {
        Bson::Null => Key::Null,
        Bson::Int32(value) => Key::Number(i64::from(*value)),
        Bson::Int64(value) => Key::Number(*value),
        Bson::String(text) => Key::Text(text.clone()),
        Bson::Array(values) => Key::Array(values.iter().map(key).collect()),
        Bson::Document(document) => {
            let fields = document.iter();
            let fields = fields.map(|(name, value)| (name.clone(), key(value)));
            Key::Document(fields.collect())
        }
        other => Key::Other(other.to_string()),
    }
}

/// The sort key of a field: the least element of an array, or the greatest.
pub(crate) fn sort_key(document: &Document, field: &str, descends: bool) -> Key {
    match get(document, field) {
        Key::Array(elements) => {
            let elements = elements.into_iter();
            let element = match descends {
                true => elements.max(),
                false => elements.min(),
            };
            element.unwrap_or(Key::Nothing)
        }
        other => other,
    }
}

/// The value of a field, or null.
pub(crate) fn get(document: &Document, field: &str) -> Key {
    document.get(field).map_or(Key::Null, key)
}

/// The value of a field that is a whole number; otherwise less than any.
pub(crate) fn number(document: &Document, field: &str) -> i64 {
    match get(document, field) {
        Key::Number(value) => value,
        _ => i64::MIN,
    }
}

/// The documents of a field that references can be in: the document itself, or the documents in the list.
pub(crate) fn places<'a>(document: &'a Document, list: &str) -> Vec<&'a Document> {
    if list.is_empty() {
        return vec![document];
    }
    let elements = document.get_array(list).map(|list| list.iter());
    let elements = elements.into_iter().flatten();
    elements.filter_map(Bson::as_document).collect()
}

/// The `_id`s that a reference names: one, several in a list, or none.
pub(crate) fn named(place: &Document, field: &str) -> Vec<Key> {
    match get(place, field) {
        Key::Null => Vec::new(),
        Key::Array(all) => all,
        one => vec![one],
    }
}

/// The bytes of a document, which differ by the order of fields, too.
pub(crate) fn bytes(document: &Document) -> Vec<u8> {
    let raw = RawDocumentBuf::try_from(document).expect("it was stored");
    raw.into_bytes()
}

/// Every document of every collection.
#[derive(Debug, Clone)]
pub(crate) struct World {
    collections: BTreeMap<&'static str, BTreeMap<Key, Document>>,
    /// The last number that the sequence of the tickets has given.
    pub(crate) last_number: i64,
    /// The counters of the numbers within parents.
    pub(crate) counters: Vec<Document>,
}

impl PartialEq for World {
    fn eq(&self, other: &World) -> bool {
        self.last_number == other.last_number
            && self.last_numbers() == other.last_numbers()
            && COLLECTIONS.iter().all(|collection| {
                let [one, other] = [self, other].map(|world| world.of(collection).values());
                one.map(bytes).eq(other.map(bytes))
            })
    }
}

impl World {
    pub(crate) async fn read(store: &impl TestStore) -> World {
        let mut collections = BTreeMap::new();
        for collection in COLLECTIONS {
            let documents = stored(store, collection).await;
            let documents = documents.iter().map(|raw| {
                let document = Document::try_from(raw).unwrap();
                (get(&document, "_id"), document)
            });
            collections.insert(collection, documents.collect());
        }
        let records = stored(store, "_odm_catalog").await;
        let is_sequence = |record: &&RawDocumentBuf| {
            record.get_str("_id").is_ok_and(|id| id == "sequence tickets")
        };
        let last_number = match records.iter().find(is_sequence) {
            Some(sequence) => sequence.get_i64("last").expect("it is a number"),
            None => 0,
        };
        let counters = stored(store, COUNTERS).await;
        let counters = counters.iter().map(|raw| Document::try_from(raw).unwrap());
        World { collections, last_number, counters: counters.collect() }
    }

    /// The last numbers within parents, by the field and the parent.
    pub(crate) fn last_numbers(&self) -> BTreeMap<(String, Key), i64> {
        let counters = self.counters.iter().map(|counter| {
            let id = counter.get_document("_id").expect("it has an `_id`");
            let field = id.get_str("field").expect("it has a field").to_owned();
            ((field, get(id, "within")), number(counter, "last"))
        });
        counters.collect()
    }

    /// The documents of a collection, to be changed.
    pub(crate) fn all_mut(
        &mut self,
        collection: &'static str,
    ) -> impl Iterator<Item = &mut Document> {
        self.collections.entry(collection).or_default().values_mut()
    }

    pub(crate) fn of(&self, collection: &str) -> &BTreeMap<Key, Document> {
        &self.collections[collection]
    }
}
