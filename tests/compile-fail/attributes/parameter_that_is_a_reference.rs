use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Holder<T> {
    value: T,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    holder: Holder<Ref<Part>>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    uses: Repository<Use>,
}

fn main() {}

//   struct Holder<T> {
// +     #[embed]
//       value: T,
//
// - holder: Holder<Ref<Part>>,
// + holder: Holder<PartLink>,
//
// + #[derive(Serialize, Deserialize, Embed)]
// + struct PartLink {
// +     #[reference(child)]
// +     id: Ref<Part>,
// + }
//   #[derive(Database)]
