//! The shop that the guide builds: products with copies of their parts, the best of their reviews, and words to find them by.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A part of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "parts",
    new(name = "NewPart", derive(Debug, Deserialize))
)]
pub struct Part {
    /// The id.
    #[serde(rename = "_id")]
    #[id(sequence)]
    #[public(rename = "id")]
    pub id: i64,
    /// The name.
    pub name: String,
    /// The price in cents.
    #[validate(min = 0)]
    pub cents: i64,
    /// How many there are.
    #[validate(min = 0)]
    pub stock: i64,
}

/// A product, as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "products",
    new(name = "NewProduct", derive(Debug, Deserialize))
)]
pub struct Product {
    /// The id.
    #[serde(rename = "_id")]
    #[id(sequence)]
    #[public(rename = "id")]
    pub id: i64,
    /// The name.
    #[validate(min_length = 1, max_length = 100)]
    pub name: String,
    /// Its parts.
    #[embed]
    pub parts: Vec<PartLink>,
    /// The cost of its parts.
    #[computed(parts.iter().map(|part| part.cents).sum::<i64>())]
    pub cents: i64,
    /// The three best reviews of any number.
    #[subset(limit = 3, sort = "-stars")]
    pub best: Subset<ReviewLine>,
    /// How many reviews there are.
    #[count(of = "Review")]
    pub reviews: i64,
    /// The sum of their stars.
    #[sum(of = "Review.stars")]
    pub stars: i64,
    /// The mean of their stars.
    #[computed(if reviews == 0 { None } else { Some(stars as f64 / reviews as f64) })]
    pub rating: Option<f64>,
    /// The words of its name, by which it is found.
    #[computed(words(&name))]
    #[index]
    #[public(skip)]
    pub words: Vec<String>,
    /// Counts the changes.
    #[version]
    pub revision: i64,
}

/// A part in a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct PartLink {
    /// The part.
    #[reference(child)]
    pub id: Ref<Part>,
    /// The name of the part.
    #[denormalize(from = "Part.name")]
    #[serde(default)]
    pub name: String,
    /// The price of the part.
    #[denormalize(from = "Part.cents")]
    #[serde(default)]
    pub cents: i64,
}

/// A review of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "reviews",
    new(name = "NewReview", derive(Debug, Deserialize))
)]
pub struct Review {
    /// The id.
    #[serde(rename = "_id")]
    #[id(sequence)]
    #[public(rename = "id")]
    pub id: i64,
    /// The product.
    #[reference(parent, on_delete = "cascade")]
    pub product: Ref<Product>,
    /// From one to five.
    #[validate(min = 1, max = 5)]
    pub stars: i32,
    /// The text.
    pub text: String,
}

/// The part of a review that the page of its product shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub struct ReviewLine {
    /// From one to five.
    pub stars: i32,
    /// The text.
    pub text: String,
}

/// The shop.
#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
pub struct Shop {
    /// The parts.
    pub parts: Repository<Part>,
    /// The products.
    pub products: Repository<Product>,
    /// The reviews.
    pub reviews: Repository<Review>,
}
