//! The program of the guide's page on a new version.

use odm::{
    Embedded,
    migration::{Migrations, Step},
    prelude::*,
};
use serde::{Deserialize, Serialize};

/// The shop of last year.
mod before {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "parts")]
    pub(super) struct Part {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) name: String,
        pub(super) stock: i64,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) name: String,
        #[reference(child)]
        pub(super) parts: Vec<Ref<Part>>,
    }

    #[derive(Debug, Database)]
    #[database(name = "shop", version = 1)]
    pub(super) struct Shop {
        pub(super) parts: Repository<Part>,
        pub(super) products: Repository<Product>,
    }
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts", renamed(from = "stock", to = "on_hand"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    on_hand: i64, // it was `stock`
    currency: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
    #[computed(parts.len() as i64)]
    part_count: i64, // new, and shown in lists
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 2, migrations = steps)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
}

fn steps() -> Migrations {
    Migrations::new().to(2, [Step::add("parts", "currency", "EUR")])
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let store = Embedded::memory().await?;
    let old = before::Shop::open(store.clone()).await?;
    old.parts.insert(before::Part { id: 1, name: "bolt".into(), stock: 7 }).await?;
    let chair = before::Product { id: 1, name: "chair".into(), parts: vec![Ref::new(1)] };
    old.products.insert(chair).await?;

    println!("{}", Shop::check(&store).await?);
    let shop = Shop::open(store).await?;
    let chair = shop.products.get(1).await?;
    println!("{:?}, {} part", shop.parts.get(1).await?, chair.part_count);
    println!("audit: {:?}", shop.audit().await?);

    let sold = old.parts.update(1).inc(before::Part::fields().stock, -1).await;
    println!("{}", sold.unwrap_err());
    Ok(())
}
