use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    title: String,
    #[version]
    revision: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i64,
    title: String,
}

#[derive(Deserialize, Patch)]
#[patch(of = "Note")]
struct NotePatch {
    title: Option<String>,
}

fn main() {
    let patch = NotePatch { title: None };
    let _ = Update::<Task>::new().set_all(patch);
}

// - let _ = Update::<Task>::new().set_all(patch);
// + let _ = Update::<Note>::new().set_all(patch);
