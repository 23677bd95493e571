//! Fields computed from those beside them.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    cents: i64,
    #[serde(default)]
    discount: i64,
    #[embed]
    notes: Vec<Note>,
    #[computed(cents - discount.min(cents / 2))]
    due: i64,
    #[computed(notes.iter().any(|note| note.urgent && note.text != "done"))]
    urgent: bool,
}

#[derive(Serialize, Deserialize, Embed)]
struct Note {
    text: String,
    #[computed(text.starts_with("!"))]
    urgent: bool,
}
