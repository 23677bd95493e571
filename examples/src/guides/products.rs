//! One-to-many by reference: a product's array of parts. Parts are shared, so it is many-to-many.

use odm::{Embedded, measure, prelude::*};
use serde::{Deserialize, Serialize};

use super::{found, stored, title};

/// A replacement part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
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

/// A product of replacement parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
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
    #[reference(child)]
    pub parts: Vec<Ref<Part>>,
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

/// The guides write two bytes of an id.
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

/// Runs the guides' queries.
pub async fn run(store: &Embedded) -> odm::Result<()> {
    let db = Catalog::open(store.clone()).await?;
    load(&db).await?;

    title("S6: one-to-many, a product's array of references to parts");
    stored(store, "products").await?;
    stored(store, "parts").await?;
    let (parts, cost) = measure(async {
        let product = db
            .products
            .find(Product::fields().catalog_number.eq(1234))
            .one()
            .await?;
        db.parts.fetch(&product.parts).await
    })
    .await;
    let parts = parts?;
    found(
        "the parts of the product with catalog number 1234:",
        &parts,
        cost,
    );

    title("S6: many-to-many, the products that share a part");
    let grommet = &parts[0];
    let (rows, cost) = measure(async {
        db.products
            .find(Product::fields().parts.contains(grommet))
            .await
    })
    .await;
    found("the products with the part `#4 grommet`:", &rows?, cost);
    let (rows, cost) = measure(async {
        let products = Product::fields()
            .parts
            .referrers()
            .sort(Product::fields().name.asc())
            .limit(10);
        db.parts.all().join(products).await
    })
    .await;
    found("all parts, each joined with its products:", &rows?, cost);
    match db.parts.delete(grommet).await {
        Err(error) if error.is_restricted() => {
            println!("\ndeleting `#4 grommet` is refused:\n  {error}")
        }
        other => println!("\ndeleting `#4 grommet`: {other:?}"),
    }
    Ok(())
}
