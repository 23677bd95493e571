//! The second program of the README.

use odm::{Embedded, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "products", new = "NewProduct")]
struct Product {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[embed]
    parts: Vec<PartLink>,
    #[subset(limit = 2, sort = "-stars")] // the two best of any number of reviews
    best: Subset<Review>,
    #[count(of = "Review")]
    reviews: i64,
}

#[derive(Debug, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")] // a copy, so that a product is shown without a join
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "reviews", new = "NewReview")]
struct Review {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    stars: i32,
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
    reviews: Repository<Review>,
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let shop = Shop::open(Embedded::memory().await?).await?;
    let bolt = shop.parts.insert(NewPart { name: "bolt".into() }).await?;
    let parts = vec![PartLink::from(&bolt)];
    let chair = shop.products.insert(NewProduct { parts }).await?;
    let review = |stars| NewReview { product: Ref::from(&chair), stars };
    shop.reviews.insert_many([3, 5, 1, 4].map(review)).await?;

    shop.parts.update(bolt.id).set(Part::fields().name, "hex bolt").await?;
    let chair = shop.products.get(chair.id).await?; // one read, no join
    let best: Vec<_> = chair.best.iter().map(|review| review.stars).collect();
    println!("{:?}, {best:?} of {} reviews", chair.parts, chair.reviews);

    println!("{}", shop.parts.delete(bolt.id).await.unwrap_err());
    shop.products.delete(&chair).await?; // and its reviews with it
    println!("{} reviews, audit: {:?}", shop.reviews.all().count().await?, shop.audit().await?);
    Ok(())
}
