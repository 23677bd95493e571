use std::sync::Arc;

use mongodb::bson::{Document, doc};
use odm::{Database, Embedded, derive::examples::Shop};

use crate::{Served, assert_right, client_of, product, review};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn derived_data_is_right_after_writes_of_many_clients() {
    let shop = Shop::open(Embedded::memory().await.unwrap()).await.unwrap();
    let served = Arc::new(Served::new(&shop).await);
    for id in 1..=5_i64 {
        served
            .collection("products")
            .insert_one(product(id))
            .await
            .unwrap();
        let warranty = doc! { "_id": id, "product": id, "product_name": "", "months": 12 };
        served
            .collection("warranties")
            .insert_one(warranty)
            .await
            .unwrap();
    }
    let clients = (0..8).map(|client| {
        let served = served.clone();
        tokio::spawn(async move { write_randomly(&served, client).await })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    assert_right(&shop).await;
    let counted: i64 = (shop.products.all().await.unwrap().iter())
        .map(|product| product.review_count)
        .sum();
    assert_eq!(counted, shop.reviews.all().count().await.unwrap() as i64);
}

async fn write_randomly(served: &Served, client: i64) {
    let mut random = fastrand::Rng::with_seed(client.unsigned_abs());
    let database = client_of(&served.server).await.database("shop");
    let reviews = database.collection::<Document>("reviews");
    let products = database.collection::<Document>("products");
    for step in 0..60 {
        let product = random.i64(1..=5);
        let done = match random.u8(0..6) {
            0 | 1 => {
                let new =
                    (0..random.i64(1..4)).map(|at| review(client * 1_000 + step * 4 + at, product));
                reviews.insert_many(new).await.map(drop)
            }
            2 => {
                let moved = doc! { "$set": { "product": random.i64(1..=5) } };
                reviews
                    .update_many(doc! { "product": product }, moved)
                    .await
                    .map(drop)
            }
            3 => reviews
                .delete_one(doc! { "product": product })
                .await
                .map(drop),
            4 => {
                let text =
                    doc! { "$set": { "text": format!("by {client}"), "stars": random.i32(1..=5) } };
                reviews
                    .find_one_and_update(doc! { "product": product }, text)
                    .await
                    .map(drop)
            }
            _ => {
                let name = doc! { "$set": { "name": format!("named by {client} in {step}") } };
                products
                    .update_one(doc! { "_id": product }, name)
                    .await
                    .map(drop)
            }
        };
        done.unwrap();
    }
}
