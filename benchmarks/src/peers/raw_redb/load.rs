//! Fills a new file in one transaction. No reference is checked.

use std::path::Path;

use redb::WriteTransaction;

use super::tables::{
    ACCOUNTS, BY_CATALOG_NUMBER, Documents, HOLDERS, Index, MESSAGES, NEWEST_MESSAGES,
    NEWEST_PAGE_REVIEWS, NEWEST_REVIEWS, PAGE_REVIEWS, PAGES, PARTS, PRODUCTS,
    PRODUCTS_WITH_COPIES, PRODUCTS_WITH_PARTS, REVIEWS, encode,
};
use crate::peers::data::{self, ProductPage, ProductWithCopies, ProductWithParts, ShownReview};

pub(in crate::peers) fn load(path: &Path) -> anyhow::Result<()> {
    let database = super::create(path)?;
    let transaction = database.begin_write()?;
    let mut parts = transaction.open_table(PARTS)?;
    for id in 1..=data::PARTS {
        parts.insert(id, encode(&data::part(id))?.as_slice())?;
    }
    drop(parts);
    load_reviews(&transaction, REVIEWS, NEWEST_REVIEWS)?;
    let newest = load_reviews(&transaction, PAGE_REVIEWS, NEWEST_PAGE_REVIEWS)?;
    load_products(&transaction, newest)?;
    let mut messages = transaction.open_table(MESSAGES)?;
    let mut index = transaction.open_table(NEWEST_MESSAGES)?;
    for id in 1..=data::MESSAGES {
        let message = data::message(id);
        messages.insert(id, encode(&message)?.as_slice())?;
        index.insert((message.host, message.time, id), ())?;
    }
    drop((messages, index));
    let mut accounts = transaction.open_table(ACCOUNTS)?;
    for id in 1..=data::ACCOUNTS {
        accounts.insert(id, encode(&data::account(id))?.as_slice())?;
    }
    drop(accounts);
    transaction.commit()?;
    Ok(())
}

/// Returns the newest reviews of each product.
fn load_reviews(
    transaction: &WriteTransaction,
    documents: Documents,
    index: Index,
) -> anyhow::Result<Vec<Vec<ShownReview>>> {
    let mut reviews = transaction.open_table(documents)?;
    let mut index = transaction.open_table(index)?;
    let mut newest = vec![Vec::new(); data::PRODUCTS as usize];
    for id in 1..=data::REVIEWS {
        let review = data::review(id);
        reviews.insert(id, encode(&review)?.as_slice())?;
        index.insert((review.product, review.published, id), ())?;
        data::show(&mut newest[review.product as usize - 1], &review);
    }
    Ok(newest)
}

fn load_products(
    transaction: &WriteTransaction,
    newest: Vec<Vec<ShownReview>>,
) -> anyhow::Result<()> {
    let mut products = transaction.open_table(PRODUCTS)?;
    let mut by_catalog_number = transaction.open_table(BY_CATALOG_NUMBER)?;
    let mut with_parts = transaction.open_table(PRODUCTS_WITH_PARTS)?;
    let mut with_copies = transaction.open_table(PRODUCTS_WITH_COPIES)?;
    let mut holders = transaction.open_table(HOLDERS)?;
    let mut pages = transaction.open_table(PAGES)?;
    for (id, newest_reviews) in (1..=data::PRODUCTS).zip(newest) {
        let product = data::product(id);
        products.insert(id, encode(&product)?.as_slice())?;
        by_catalog_number.insert(product.catalog_number.as_str(), id)?;
        let parts = data::parts_of(id);
        for &part in &parts {
            holders.insert((part, id), ())?;
        }
        let product_with_copies = ProductWithCopies {
            id,
            catalog_number: product.catalog_number.clone(),
            name: product.name.clone(),
            parts: data::copies_of(id),
        };
        with_copies.insert(id, encode(&product_with_copies)?.as_slice())?;
        let product_with_parts = ProductWithParts {
            id,
            catalog_number: product.catalog_number.clone(),
            name: product.name.clone(),
            description: product.description.clone(),
            price_cents: product.price_cents,
            created_at: product.created_at,
            parts,
        };
        with_parts.insert(id, encode(&product_with_parts)?.as_slice())?;
        let page = ProductPage {
            id,
            catalog_number: product.catalog_number,
            name: product.name,
            description: product.description,
            price_cents: product.price_cents,
            created_at: product.created_at,
            newest_reviews,
        };
        pages.insert(id, encode(&page)?.as_slice())?;
    }
    Ok(())
}
