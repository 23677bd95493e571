//! The documents of the service. The rules for values stand here, so that they hold for every write.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A replacement part, as a client gets it. A client sends [`NewPart`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "parts",
    new(name = "NewPart", derive(Debug, Clone, Deserialize))
)]
pub struct Part {
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The manufacturer's number.
    #[index(unique)]
    #[validate(pattern = "^[0-9A-Za-z-]{1,40}$")]
    pub partno: String,
    /// The name.
    #[validate(max_length = 200, pattern = r"\S")]
    pub name: String,
    /// The name, case-folded: parts are found and sorted by it.
    #[computed(fold_case(&name))]
    #[index]
    pub name_folded: String,
    /// The quantity on hand.
    #[validate(max = 1_000_000)]
    pub qty: u32,
    /// The purchase price.
    #[validate(min = 0, max = 1_000_000)]
    pub cost: f64,
    /// The selling price.
    #[validate(min = 0, max = 1_000_000)]
    pub price: f64,
    /// Counts the changes, for the `ETag` of the part.
    #[version]
    pub revision: i64,
}

/// The changes of a part that a client asks for.
#[derive(Debug, Clone, Deserialize, Patch)]
#[patch(of = "Part")]
#[serde(deny_unknown_fields)]
pub struct PartPatch {
    /// The name.
    pub name: Option<String>,
    /// The quantity on hand.
    pub qty: Option<u32>,
    /// The purchase price.
    pub cost: Option<f64>,
    /// The selling price.
    pub price: Option<f64>,
}

/// A product of replacement parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products", new = "NewProduct")]
pub struct Product {
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name.
    #[validate(max_length = 200, pattern = r"\S")]
    pub name: String,
    /// The name, case-folded.
    #[computed(fold_case(&name))]
    #[index]
    pub name_folded: String,
    /// Who makes it.
    #[validate(max_length = 200, pattern = r"\S")]
    pub manufacturer: String,
    /// Its number in the catalog.
    #[index(unique)]
    #[validate(min = 1)]
    pub catalog_number: i32,
    /// Its parts, with their names: a list of products takes no join.
    #[embed]
    #[validate(max_items = 500)]
    pub parts: Vec<PartLink>,
    /// Counts the changes, for the `ETag` of the product. The rename of a part does not count.
    #[version]
    pub revision: i64,
}

/// A part in a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct PartLink {
    /// The part.
    #[reference(child)]
    pub id: Ref<Part>,
    /// The name. The rename of a part changes it.
    #[denormalize(from = "Part.name")]
    pub name: String,
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
