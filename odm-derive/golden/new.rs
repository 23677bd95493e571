//! The struct of a new document.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tickets", new(name = "NewTicket", derive(Debug)))]
pub struct Ticket {
    #[id(sequence)]
    #[serde(rename = "_id")]
    pub number: i64,
    pub title: String,
    #[serde(default)]
    pub urgent: bool,
    #[version]
    pub revision: i32,
}
