//! One-to-many by reference: a product's array of parts. Parts are shared, so it is many-to-many.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query, refused};

/// A replacement part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
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

/// A product of replacement parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
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
    #[reference(child)]
    pub parts: Vec<Ref<Part>>,
}

/// The summary of a product in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Product")]
pub struct ProductName {
    /// The name.
    pub name: String,
    /// Its number in the catalog.
    pub catalog_number: i32,
}

/// The product catalog.
#[derive(Database)]
#[database(name = "catalog", version = 1)]
pub struct Catalog {
    /// Products.
    pub products: Repository<Product>,
    /// Their parts.
    pub parts: Repository<Part>,
}

/// An id by its last two bytes, as the guides write ids.
pub fn short_id(bytes: u16) -> ObjectId {
    let [high, low] = bytes.to_be_bytes();
    ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low])
}

/// The parts that the guides name.
pub fn parts() -> [Part; 3] {
    let part = |id, partno: &str, name: &str, qty, cost, price| Part {
        id: short_id(id),
        partno: partno.into(),
        name: name.into(),
        qty,
        cost,
        price,
    };
    [
        part(0xAAAA, "123-aff-456", "#4 grommet", 94, 0.94, 3.99),
        part(0xF17C, "123-aff-457", "fan blade assembly", 12, 7.5, 19.99),
        part(0xD2AA, "123-aff-458", "power switch", 40, 1.2, 4.99),
    ]
}

/// Stores the guides' documents, and a second product that shares a part.
pub async fn load(db: &Catalog) -> odm::Result<()> {
    let parts = db.parts.insert_many(parts()).await?;
    let product = |name: &str, catalog_number, parts: &[Part]| Product {
        id: ObjectId::new(),
        name: name.into(),
        manufacturer: "Acme Corp".into(),
        catalog_number,
        parts: parts.iter().map(Ref::from).collect(),
    };
    db.products
        .insert(product("left-handed smoke shifter", 1234, &parts))
        .await?;
    db.products
        .insert(product("right-handed smoke shifter", 1235, &parts[..1]))
        .await?;
    Ok(())
}

/// S6: the parts of a product, and the products of a part.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Catalog::open(screen.store()).await?;
    load(&db).await?;
    screen.model(include_str!("products.rs"), &["Product"]);
    screen.stored(["products", "parts"]).await?;

    let product = query!(
        screen,
        "the product with this number in the catalog",
        db.products
            .find(Product::fields().catalog_number.eq(1234))
            .one()
    );
    let parts = query!(
        screen,
        "its parts, by one more query",
        db.parts.fetch(&product.parts)
    );
    let grommet = &parts[0];
    query!(
        screen,
        "the other way: the products that share a part",
        db.products
            .find(Product::fields().parts.contains(grommet))
            .select::<ProductName>()
    );
    refused!(
        screen,
        "a part that products have is not deleted",
        db.parts.delete(grommet)
    );
    change!(
        screen,
        "a product gives up a part",
        db.products
            .update(&product)
            .pull(Product::fields().parts, grommet)
    );
    db.audit().await
}
