//! The program of the guide's page on references.

use odm::{Embedded, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
    cents: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "products", new = "NewProduct")]
struct Product {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
    #[embed]
    size: Size,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
}

#[derive(Debug, Serialize, Deserialize, Embed)]
struct Size {
    width: i32,
    height: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "reviews", new = "NewReview")]
struct Review {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    #[validate(min = 1, max = 5)]
    stars: i32,
    text: String,
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
    let bolt = shop.parts.insert(NewPart { name: "bolt".into(), cents: 20 }).await?;
    let seat = shop.parts.insert(NewPart { name: "seat".into(), cents: 2_500 }).await?;
    let chair = shop
        .products
        .insert(NewProduct {
            name: "chair".into(),
            size: Size { width: 45, height: 90 },
            parts: vec![Ref::from(&seat), Ref::from(&bolt)],
        })
        .await?;
    for (stars, text) in [(5, "comfortable"), (2, "it creaks")] {
        let product = Ref::from(&chair);
        shop.reviews.insert(NewReview { product, stars, text: text.into() }).await?;
    }

    let product = Product::fields();
    let rows: Vec<(Product, Vec<Part>)> =
        shop.products.find(product.size.width.lt(50)).join(product.parts).await?;
    for (product, parts) in rows {
        let names: Vec<_> = parts.iter().map(|part| &*part.name).collect();
        println!("{}: {}", product.name, names.join(", "));
    }

    let review = Review::fields();
    let best = shop.reviews.of(&chair).sort(review.stars.desc()).page(10).await?;
    println!("{}", best.items[0].text);
    let loved = shop.products.all().any_referrer(review.product, review.stars.eq(5));
    println!("{} products are loved", loved.count().await?);

    let product = Ref::new(7);
    let nothing = NewReview { product, stars: 3, text: "where is it?".into() };
    println!("{}", shop.reviews.insert(nothing).await.unwrap_err());
    println!("{}", shop.parts.delete(bolt.id).await.unwrap_err());

    println!("{}", shop.products.delete(chair.id).plan().await?);
    shop.products.delete(chair.id).await?;
    println!("{} reviews are left", shop.reviews.all().count().await?);
    Ok(())
}
