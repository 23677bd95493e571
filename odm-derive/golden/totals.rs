//! Totals of children, and fields computed from them.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.cents")]
    cents: i64,
    #[max(of = "Line.cents")]
    dearest: Option<i64>,
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

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    cents: i64,
}
