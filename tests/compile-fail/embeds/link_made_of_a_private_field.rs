use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod parts {
    use super::*;

    #[derive(Serialize, Deserialize, Document)]
    #[document(collection = "parts")]
    pub struct Part {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
    }
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<parts::Part>,
    #[denormalize(from = "parts::Part.name")]
    name: String,
}

fn main() {}

//   id: i64,
// - name: String,
// + pub name: String,
