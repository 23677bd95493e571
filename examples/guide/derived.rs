//! The program of the guide's page on derived fields.

use examples::shop::{NewPart, NewProduct, NewReview, Part, PartLink, Product, Shop};
use odm::{Embedded, prelude::*};

#[tokio::main]
async fn main() -> odm::Result<()> {
    let shop = Shop::open(Embedded::memory().await?).await?;
    let part = |name: &str, cents| NewPart { name: name.into(), cents, stock: 100 };
    let seat = shop.parts.insert(part("seat", 2_500)).await?;
    let bolt = shop.parts.insert(part("bolt", 20)).await?;

    let parts = vec![PartLink::from(&seat), PartLink::from(&bolt), PartLink::from(&bolt)];
    let chair = NewProduct { name: "Garden chair".into(), parts };
    let chair = shop.products.insert(chair).await?;
    println!("{} cents, {:?}", chair.cents, chair.rating);

    let review =
        |stars, text: &str| NewReview { product: Ref::from(&chair), stars, text: text.into() };
    let reviews = [review(3, "it creaks"), review(5, "comfortable"), review(1, "it broke")];
    shop.reviews.insert_many(reviews).await?;
    shop.reviews.insert_many([review(4, "solid"), review(4, "light")]).await?;
    shop.parts.update(bolt.id).set(Part::fields().cents, 30).await?;

    let chair = shop.products.get(chair.id).await?; // one read
    let best: Vec<_> = chair.best.iter().map(|review| &*review.text).collect();
    println!("{} cents, {:?}, best: {}", chair.cents, chair.rating, best.join(", "));

    let top = Product::fields().rating.gte(3.0) & Product::fields().words.matches("CHAIR");
    println!("{} found", shop.products.find(top).count().await?);
    let rest = shop.reviews.after_subset(&chair, Product::fields().best).await?;
    println!("{:?}", rest.await?.iter().map(|review| &*review.text).collect::<Vec<_>>());

    let lie = odm::bson::doc! { "$set": { "reviews": 1_000_000 } };
    println!("{}", shop.products.update(chair.id).raw(lie).await.unwrap_err());
    println!("audit: {:?}", shop.audit().await?);
    Ok(())
}
