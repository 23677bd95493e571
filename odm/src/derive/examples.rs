//! The shop of the examples in the documentation: its models, a few documents, and a function that runs an example on them.
//!
//! It is compiled only with the feature `__examples`, which the crate's own tests enable.

mod migration;
mod models;

pub use migration::{migrated, migrated_of};
pub use models::*;

pub use bson;
pub use odm_embedded::Embedded;
use odm_store::Result;

pub use crate::prelude::*;

/// Runs an example on a shop of its own, in memory.
pub fn example(run: impl AsyncFnOnce(Shop) -> Result<()>) {
    run_async(async { run(filled().await?).await });
}

fn run_async(future: impl Future<Output = Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(future).expect("the example succeeds");
}

async fn filled() -> Result<Shop> {
    let shop = Shop::open(Embedded::memory().await?).await?;

    let part = |id, name: &str, qty, price, tags: &[&str], note: Option<&str>| Part {
        id,
        name: name.into(),
        qty,
        price,
        tags: tags.iter().map(|&tag| tag.into()).collect(),
        note: note.map(Into::into),
    };
    let parts = [
        part(1, "bolt", 90, 0.1, &["new", "steel"], None),
        part(2, "nut", 5, 0.05, &["steel"], Some("M4")),
        part(3, "washer", 300, 0.02, &[], None),
    ];

    let product = |id, name: &str, value, names: &[(&str, &str)], parts: &[i64]| NewProduct {
        id,
        name: name.into(),
        price: Money {
            value,
            currency: "EUR".into(),
        },
        names: names
            .iter()
            .map(|&(language, name)| (language.into(), name.into()))
            .collect(),
        parts: parts.iter().map(|&id| Ref::new(id)).collect(),
        manual: Cold::new(Manual {
            text: format!("How to use the {name}."),
            pages: 2,
        }),
    };
    let products = [
        product(1, "shelf", 49.0, &[("de", "Regal")], &[1, 2]),
        product(2, "lamp", 19.5, &[], &[2]),
        product(3, "table", 120.0, &[("de", "Tisch")], &[1]),
    ];

    let review = |id, product, stars, text: &str, published: &str| {
        Ok::<_, odm_store::Error>(Review {
            id,
            product: Ref::new(product),
            stars,
            text: text.into(),
            published: published.parse()?,
        })
    };
    let reviews = [
        review(1, 1, 5, "Solid", "2026-03-01")?,
        review(2, 1, 3, "Wobbles", "2026-03-05")?,
        review(3, 1, 4, "Good", "2026-03-09")?,
        review(4, 2, 5, "Bright", "2026-03-02")?,
    ];
    let warranty = Warranty {
        id: 1,
        product: Ref::new(1),
        product_name: String::new(),
        months: 24,
    };

    let order = |customer: &str, lines: &[(i64, i64)], total, placed: &str| {
        Ok::<_, odm_store::Error>(NewOrder {
            customer: customer.into(),
            lines: lines
                .iter()
                .map(|&(product, quantity)| Line {
                    product: Ref::new(product),
                    quantity,
                })
                .collect(),
            total,
            placed: placed.parse()?,
            shipped: None,
        })
    };
    let orders = [
        order("kate", &[(1, 2), (2, 1)], 117.5, "2026-03-01T10:00:00Z")?,
        order("kate", &[(2, 3)], 58.5, "2026-03-01T12:30:00Z")?,
        order("joe", &[(1, 1)], 49.0, "2026-04-02T09:00:00Z")?,
    ];
    let writes = (
        shop.parts.insert_many(parts),
        shop.products.insert_many(products),
        shop.reviews.insert_many(reviews),
        shop.warranties.insert(warranty),
        shop.orders.insert_many(orders),
    );
    shop.bulk(writes).await?;
    Ok(shop)
}
