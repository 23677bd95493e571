//! Fills a new file through the library itself, so that all relations are checked and maintained.

use std::path::Path;

use odm::store::{Durability, contract::Store};

use super::{
    Library,
    models::{
        Account, Message, PageReview, Part, Product, ProductPage, ProductWithCopies,
        ProductWithParts, Review,
    },
};
use crate::peers::data::{self, chunks};

/// The number of documents in one insert.
const CHUNK: i64 = 10_000;
/// The number of documents in one insert, if each has a hundred references.
const SMALL_CHUNK: i64 = 1_000;

pub(in crate::peers) async fn load(path: &Path) -> odm::Result<()> {
    let library = Library::open_with(path, Durability::Eventual).await?;
    let shop = &library.shop;
    for ids in chunks(data::PARTS, CHUNK) {
        let parts = ids.map(|id| Part::from(data::part(id)));
        shop.parts.insert_many(parts).await?;
    }
    for ids in chunks(data::PRODUCTS, CHUNK) {
        let products = ids.clone().map(data::product);
        shop.products
            .insert_many(products.map(Product::from))
            .await?;
        let pages = ids.map(data::product);
        shop.pages.insert_many(pages.map(ProductPage::from)).await?;
    }
    for ids in chunks(data::PRODUCTS, SMALL_CHUNK) {
        let products = ids.clone().map(data::product).map(ProductWithParts::from);
        shop.products_with_parts.insert_many(products).await?;
        let products = ids.map(data::product).map(ProductWithCopies::from);
        shop.products_with_copies.insert_many(products).await?;
    }
    for ids in chunks(data::REVIEWS, CHUNK) {
        let reviews = ids.clone().map(data::review).map(Review::from);
        shop.reviews.insert_many(reviews).await?;
        let reviews = ids.map(data::review).map(PageReview::from);
        shop.page_reviews.insert_many(reviews).await?;
    }
    for ids in chunks(data::MESSAGES, CHUNK) {
        let messages = ids.map(|id| Message::from(data::message(id)));
        shop.messages.insert_many(messages).await?;
    }
    for ids in chunks(data::ACCOUNTS, CHUNK) {
        let accounts = ids.map(|id| Account::from(data::account(id)));
        shop.accounts.insert_many(accounts).await?;
    }
    library.store.close().await
}
