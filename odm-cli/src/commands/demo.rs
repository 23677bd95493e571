//! `demo`: the shop of the guides, a small one, or one of many documents.

mod many;
mod shop;

use odm::{
    Collections, Database, Embedded,
    bson::{RawDocumentBuf, doc, raw::cstr},
    mql::Filter,
    prelude::Ref,
    store::{
        Durability,
        contract::{CollectionWrites, DocumentWrite, Store, TransactionOptions},
    },
};

use self::shop::{Customer, Line, Order, Product, Review, Shop};
use crate::{
    arguments::Demo,
    error::{Exit, Failure, Result},
    output::Output,
    source::NewStore,
};

pub(super) async fn run(demo: &Demo, output: &mut Output) -> Result<Exit> {
    let new = NewStore::begin(&demo.file)?;
    let store = Embedded::builder()
        // It is nothing before it is closed.
        .durability(Durability::Eventual)
        .open(new.file())
        .await?;
    let shop = Shop::open(store.clone()).await?;
    fill(&shop).await?;
    if let Some(documents) = demo.documents {
        many::add(&shop, documents).await?;
    }
    if demo.wrong {
        make_wrong(&shop, &store).await?;
    }
    shop.close().await?;
    new.put_in_place()?;
    let file = demo.file.display();
    output.note(&format!(
        "{file} has a shop of customers, products, reviews and orders. Try:\n\
         \n\
         \x20 odm info {file}\n\
         \x20 odm collections {file}\n\
         \x20 odm find {file} products 'price<50' --sort -price\n\
         \x20 odm show {file} orders 1\n\
         \x20 odm explain {file} orders customer=ann\n\
         \x20 odm audit {file}\n\
         \x20 odm stats {file}\n\
         \x20 odm diagram {file}"
    ))?;
    Ok(Exit::Done)
}

async fn fill(shop: &Shop) -> Result<()> {
    let customer = |id: &str, name: &str, city: &str| Customer {
        id: id.into(),
        name: name.into(),
        city: city.into(),
        orders: 0,
    };
    let customers = [
        customer("ann", "Ann Archer", "Leeds"),
        customer("ben", "Ben Baker", "York"),
        customer("kim", "Kim Cooper", "Leeds"),
    ];
    let product = |id, name: &str, price, tags: &[&str]| Product {
        id,
        name: name.into(),
        price,
        tags: tags.iter().map(|&tag| tag.into()).collect(),
        review_count: 0,
        reviews: Default::default(),
    };
    let products = [
        product(1, "shelf", 49.0, &["wood", "wall"]),
        product(2, "lamp", 19.5, &["light"]),
        product(3, "table", 120.0, &["wood"]),
        product(4, "chair", 45.0, &["wood", "new"]),
        product(5, "rug", 80.0, &[]),
    ];
    let review = |id, product, stars, text: &str, published: &str| {
        Ok::<_, odm::Error>(Review {
            id,
            product: Ref::new(product),
            stars,
            text: text.into(),
            published: published.parse()?,
        })
    };
    let reviews = [
        review(1, 1, 5, "Solid", "2026-03-01")?,
        review(2, 1, 3, "Wobbles on an old floor", "2026-03-05")?,
        review(3, 1, 4, "Good", "2026-03-09")?,
        review(4, 2, 5, "Bright", "2026-03-02")?,
        review(5, 4, 2, "Creaks", "2026-03-11")?,
    ];
    let line = |product, quantity| Line {
        product: Ref::new(product),
        product_name: String::new(),
        quantity,
    };
    let order = |id, customer: &str, lines: &[(i64, i64)], total, placed: &str| {
        Ok::<_, odm::Error>(Order {
            id,
            customer: Ref::new(customer.to_owned()),
            customer_name: String::new(),
            lines: lines
                .iter()
                .map(|&(product, quantity)| line(product, quantity))
                .collect(),
            total,
            placed: placed.parse()?,
        })
    };
    let orders = [
        order(1, "ann", &[(1, 2), (2, 1)], 117.5, "2026-03-01T10:00:00Z")?,
        order(2, "ann", &[(2, 3)], 58.5, "2026-03-01T12:30:00Z")?,
        order(3, "ben", &[(1, 1)], 49.0, "2026-04-02T09:00:00Z")?,
        order(
            4,
            "kim",
            &[(3, 1), (4, 4), (5, 1)],
            380.0,
            "2026-04-03T17:45:00Z",
        )?,
    ];
    let writes = (
        shop.customers.insert_many(customers),
        shop.products.insert_many(products),
        shop.reviews.insert_many(reviews),
        shop.orders.insert_many(orders),
    );
    shop.bulk(writes).await?;
    Ok(())
}

/// Writes a wrong count past the library, as another program might on a server, so that an audit has something to find.
async fn make_wrong(shop: &Shop, store: &Embedded) -> Result<()> {
    let lamp = Filter::parse(&doc! { "_id": 2 }).map_err(odm::Error::from)?;
    let before = Collections::of(shop)
        .collection("products")
        .find(lamp)
        .one()
        .await?;
    let before = before.ok_or_else(|| Failure::not_found("the demo has no product 2"))?;
    let mut after = RawDocumentBuf::new();
    for (name, value) in before.iter().flatten() {
        match name.as_str() {
            "review_count" => after.append(cstr!("review_count"), 7_i64),
            _ => after.append(name, value),
        }
    }
    let write = DocumentWrite::Replace {
        before: &before,
        after: &after,
    };
    let batch = [CollectionWrites {
        collection: "products",
        writes: vec![write],
    }];
    let mut transaction = store.begin(TransactionOptions::default()).await?;
    transaction.apply(&batch).await?;
    transaction.commit().await?;
    Ok(())
}
