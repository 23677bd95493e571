use odm::prelude::*;

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop<M> {
    models: Repository<M>,
}

fn main() {}

// - struct Shop<M> {
// -     models: Repository<M>,
// + struct Shop {
// +     models: Repository<Model>,
//
//   fn main() {}
// + #[derive(serde::Serialize, serde::Deserialize, Document)]
// + #[document(collection = "models")]
// + struct Model {
// +     #[serde(rename = "_id")]
// +     id: i64,
// + }
