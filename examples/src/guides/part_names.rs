//! One-to-many with copies from the many: a product that has the names of its parts.

use odm::{Embedded, measure, prelude::*};
use serde::{Deserialize, Serialize};

use super::{found, products, stored, title, written};

/// A replacement part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts_of_products")]
pub struct Part {
    /// Made by chance.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The manufacturer's number.
    #[index(unique)]
    pub partno: String,
    /// What it is called.
    pub name: String,
    /// How many are on hand.
    pub qty: i32,
    /// What it costs to buy.
    pub cost: f64,
    /// What it is sold for.
    pub price: f64,
}

/// A part inside a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct PartLink {
    /// Which part.
    #[reference(child)]
    pub id: Ref<Part>,
    /// What it is called.
    #[denormalize(from = "Part.name")]
    pub name: String,
}

/// A product of replacement parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products_with_part_names")]
pub struct Product {
    /// Made by chance.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// What it is called.
    pub name: String,
    /// Who makes it.
    pub manufacturer: String,
    /// Its number in the catalog.
    #[index(unique)]
    pub catalog_number: i32,
    /// Its parts.
    #[embed]
    pub parts: Vec<PartLink>,
}

/// Products with the names of their parts.
#[derive(Database)]
#[database(name = "part_names", version = 1)]
pub struct PartNames {
    /// Products.
    pub products: Repository<Product>,
    /// Their parts.
    pub parts: Repository<Part>,
}

/// Stores the guides' documents, and a second product that shares a part.
pub async fn load(db: &PartNames) -> odm::Result<()> {
    let parts = products::parts().map(|part| Part {
        id: part.id,
        partno: part.partno,
        name: part.name,
        qty: part.qty,
        cost: part.cost,
        price: part.price,
    });
    let parts = db.parts.insert_many(parts).await?;
    let product = |name: &str, catalog_number, parts: &[Part]| Product {
        id: ObjectId::new(),
        name: name.into(),
        manufacturer: "Acme Corp".into(),
        catalog_number,
        parts: parts.iter().map(PartLink::from).collect(),
    };
    db.products
        .insert(product("left-handed smoke shifter", 1234, &parts))
        .await?;
    db.products
        .insert(product("right-handed smoke shifter", 1235, &parts[..1]))
        .await?;
    Ok(())
}

/// Runs the guides' queries and updates.
pub async fn run(store: &Embedded) -> odm::Result<()> {
    let db = PartNames::open(store.clone()).await?;
    load(&db).await?;

    title("S9: one-to-many, the names of the parts copied into the product");
    stored(store, "products_with_part_names").await?;
    let (product, cost) = measure(async {
        db.products
            .find(Product::fields().catalog_number.eq(1234))
            .one()
            .await
    })
    .await;
    let product = product?;
    found(
        "the names of the parts of a product, by one query:",
        &product.parts,
        cost,
    );
    let (parts, cost) = measure(async { db.parts.fetch(&product.parts).await }).await;
    let parts = parts?;
    found("all about these parts, by one more:", &parts, cost);

    let grommet = &parts[0];
    let (result, cost) = measure(async {
        db.parts
            .update(grommet)
            .set(Part::fields().name, "#5 grommet")
            .await
    })
    .await;
    result?;
    written("a part is renamed that two products have:", cost);
    stored(store, "products_with_part_names").await?;
    let (result, cost) =
        measure(async { db.parts.update(grommet).inc(Part::fields().qty, -1).await }).await;
    result?;
    written("one of it is sold, which no product shows:", cost);
    Ok(())
}
