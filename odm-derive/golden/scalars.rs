//! Scalars, with the names, defaults and times of a document.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A task.
#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
#[serde(rename_all = "camelCase")]
pub struct Task {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The title in one line.
    pub title_text: String,
    pub due: Option<DateTime>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[public(rename = "weight")]
    pub priority: i32,
    #[public(skip)]
    pub note: Option<String>,
    #[version]
    pub revision: i64,
    #[created_at]
    pub created: DateTime,
    #[updated_at]
    pub updated: Option<DateTime>,
}
