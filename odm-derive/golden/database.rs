//! A database of two models, with migrations.

use odm::{migration::Migrations, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    #[reference(child)]
    pub parts: Vec<Ref<Part>>,
}

#[derive(Database)]
#[database(name = "shop", version = 2, migrations = migrations)]
pub struct Shop {
    pub products: Repository<Product>,
    pub parts: Repository<Part>,
}

fn migrations() -> Migrations {
    Migrations::new()
}
