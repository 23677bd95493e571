//! One-to-many with copies from the one: parts that have the name of their product. A part either
//! refers to the one product that it is for, or several products refer to it.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use super::products;
use crate::show::{Screen, change, query};

/// A product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products_of_parts")]
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
}

/// A replacement part of one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts_with_product")]
pub struct Part {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The manufacturer's number.
    #[index(unique)]
    pub partno: String,
    /// The name.
    pub name: String,
    /// The product that it belongs to.
    #[reference(parent)]
    pub product: Ref<Product>,
    /// The name of the product.
    #[denormalize(from = "Product.name")]
    pub product_name: String,
    /// Its number in the catalog.
    #[denormalize(from = "Product.catalog_number")]
    pub product_catalog_number: i32,
    /// The quantity on hand.
    pub qty: i32,
    /// The purchase price.
    pub cost: f64,
    /// The selling price.
    pub price: f64,
}

/// A product of shared parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products_of_shared_parts")]
pub struct SharingProduct {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The name.
    pub name: String,
    /// Its parts.
    #[reference(child)]
    pub parts: Vec<Ref<SharedPart>>,
}

/// A part that knows the names of the products that share it, without a reference to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shared_parts")]
pub struct SharedPart {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The name.
    pub name: String,
    /// The names of the products.
    #[denormalize(from = "SharingProduct.name", via = "SharingProduct.parts")]
    #[index]
    pub product_names: Vec<String>,
}

/// Parts with the names of their products.
#[derive(Database)]
#[database(name = "product_names", version = 1)]
pub struct ProductNames {
    /// Products.
    pub products: Repository<Product>,
    /// Parts, each of one product.
    pub parts: Repository<Part>,
    /// Products of shared parts.
    pub sharing_products: Repository<SharingProduct>,
    /// Parts, each of several products.
    pub shared_parts: Repository<SharedPart>,
}

/// Stores a product with the guides' parts and one without parts, then two products that share a part.
pub async fn load(db: &ProductNames) -> odm::Result<[Product; 2]> {
    let product = |name: &str, catalog_number| Product {
        id: ObjectId::new(),
        name: name.into(),
        manufacturer: "Acme Corp".into(),
        catalog_number,
    };
    let left = product("left-handed smoke shifter", 1234);
    let left = db.products.insert(left).await?;
    let right = product("right-handed smoke shifter", 1235);
    let right = db.products.insert(right).await?;
    let parts = products::parts().map(|part| Part {
        id: part.id,
        partno: part.partno,
        name: part.name,
        product: Ref::from(&left),
        // The library copies them.
        product_name: String::new(),
        product_catalog_number: 0,
        qty: part.qty,
        cost: part.cost,
        price: part.price,
    });
    db.parts.insert_many(parts).await?;

    let parts = products::parts().map(|part| SharedPart {
        id: part.id,
        name: part.name,
        product_names: Vec::new(),
    });
    let parts = db.shared_parts.insert_many(parts).await?;
    for (product, parts) in [(&left, &parts[..]), (&right, &parts[..1])] {
        let product = SharingProduct {
            id: product.id,
            name: product.name.clone(),
            parts: parts.iter().map(Ref::from).collect(),
        };
        db.sharing_products.insert(product).await?;
    }
    Ok([left, right])
}

/// S10: a product is renamed, and a part moves to another product.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = ProductNames::open(screen.store()).await?;
    let [left, right] = load(&db).await?;
    screen.model(include_str!("product_names.rs"), &["Part", "SharedPart"]);
    screen
        .stored(["parts_with_product", "shared_parts"])
        .await?;

    let grommet = query!(
        screen,
        "a part and what it is for, by one query",
        db.parts.find(Part::fields().partno.eq("123-aff-456")).one()
    );
    change!(
        screen,
        "a product of three parts is renamed",
        db.products
            .update(&left)
            .set(Product::fields().name, "smoke bender")
    );
    change!(
        screen,
        "a part moves to another product",
        db.parts
            .update(&grommet)
            .set(Part::fields().product, &right)
    );
    change!(
        screen,
        "many-to-many: a product of shared parts is renamed",
        db.sharing_products
            .update(left.id)
            .set(SharingProduct::fields().name, "smoke bender")
    );
    db.audit().await
}
