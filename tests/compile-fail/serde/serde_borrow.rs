use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(borrow)]
    name: std::borrow::Cow<'static, str>,
}

fn main() {}

// - #[serde(borrow)]
// - name: std::borrow::Cow<'static, str>,
// + name: String,
