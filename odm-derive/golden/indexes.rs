//! Indexes, rules of validation, an expiry and a rename.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(
    collection = "accounts",
    index(fields = "country, -joined", name = "by_country"),
    unique(fields = "name", case_insensitive),
    index(fields = "score", filter = active),
    expires(field = "seen", after = "30d"),
    renamed(from = "mail", to = "email"),
    validation(level = "moderate", action = "warn")
)]
pub struct Account {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[validate(min_length = 1, max_length = 40)]
    pub name: String,
    #[index(unique)]
    #[validate(pattern = "^[^@]+@[^@]+$")]
    pub email: String,
    #[validate(one_of("at", "de"))]
    pub country: String,
    #[validate(min = 0, exclusive_max = 100)]
    pub score: i32,
    #[validate(max_items = 9, unique_items)]
    pub tags: Vec<String>,
    pub joined: DateTime,
    pub seen: DateTime,
}

fn active() -> Filter<Account> {
    Account::fields().score.gt(0)
}
