use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct Secret(#[public(skip)] String);

#[derive(Serialize, Deserialize, Embed)]
enum Contact {
    Mail(#[public(skip)] String),
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[public(skip)]
    secret: Secret,
    #[embed]
    contact: Contact,
}

fn main() {}

// - struct Secret(#[public(skip)] String);
// + struct Secret(String);
//
// - Mail(#[public(skip)] String),
// + Mail(String),
