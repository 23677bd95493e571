//! A reference and its inverse, with delete rules.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
pub struct Person {
    #[serde(rename = "_id")]
    pub id: i64,
    #[reference(child, inverse = "owner", on_delete = "pull")]
    pub tasks: Vec<Ref<Task>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub struct Task {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[reference(parent, inverse = "tasks", on_delete = "nullify")]
    pub owner: Option<Ref<Person>>,
    #[reference(child, unchecked)]
    pub author: Ref<Person>,
}
