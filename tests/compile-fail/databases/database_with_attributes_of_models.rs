use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "roles")]
struct Role {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
#[serde(rename_all = "camelCase")]
struct Shop {
    #[split(collection = "more", key = "movie")]
    #[serde(rename = "role")]
    roles: Repository<Role>,
}

fn main() {}

// - #[serde(rename_all = "camelCase")]
//   struct Shop {
// -     #[split(collection = "more", key = "movie")]
// -     #[serde(rename = "role")]
//       roles: Repository<Role>,
