//! One-to-many with copies from the many: a product that has the names of its parts.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use super::products;
use crate::show::{Screen, change, query};

/// A replacement part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts_of_products")]
pub struct Part {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The manufacturer's number.
    #[index(unique)]
    pub partno: String,
    /// The name.
    pub name: String,
    /// The quantity on hand.
    pub qty: i32,
    /// The purchase price.
    pub cost: f64,
    /// The selling price.
    pub price: f64,
}

/// A part inside a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct PartLink {
    /// The part.
    #[reference(child)]
    pub id: Ref<Part>,
    /// The name.
    #[denormalize(from = "Part.name")]
    pub name: String,
}

/// A product of replacement parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products_with_part_names")]
pub struct Product {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The name.
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

/// S9: a part is renamed, and the products that have it follow.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = PartNames::open(screen.store()).await?;
    load(&db).await?;
    screen.model(include_str!("part_names.rs"), &["PartLink", "Product"]);
    screen
        .stored(["parts_of_products", "products_with_part_names"])
        .await?;

    let product = query!(
        screen,
        "a product with the names of its parts, by one query",
        db.products
            .find(Product::fields().catalog_number.eq(1234))
            .one()
    );
    let parts = query!(
        screen,
        "all about these parts, by one more",
        db.parts.fetch(&product.parts)
    );
    let grommet = &parts[0];
    change!(
        screen,
        "a part is renamed that two products have",
        db.parts
            .update(grommet)
            .set(Part::fields().name, "#5 grommet")
    );
    change!(
        screen,
        "one of it is sold, which no product shows",
        db.parts.update(grommet).inc(Part::fields().qty, -1)
    );
    db.audit().await
}
