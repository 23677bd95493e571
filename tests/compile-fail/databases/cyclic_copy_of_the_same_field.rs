use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "folders")]
struct Folder {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Folder>>,
    #[denormalize(from = "Folder.root_name")]
    root_name: Option<String>,
}

#[derive(Database)]
#[database(name = "files", version = 1)]
struct Files {
    folders: Repository<Folder>,
}

fn main() {}

// - #[denormalize(from = "Folder.root_name")]
// - root_name: Option<String>,
// + name: String,
// + #[denormalize(from = "Folder.name")]
// + parent_name: Option<String>,
