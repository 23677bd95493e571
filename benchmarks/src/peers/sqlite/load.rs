//! Fills a new file in one transaction, with the indexes made afterwards. No reference is checked.

use std::path::Path;

use rusqlite::{Connection, Transaction, params};

use crate::peers::data::{self, ShownReview};

pub(in crate::peers) const TABLES: &str = "
CREATE TABLE products (
    id INTEGER PRIMARY KEY, catalog_number TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    description TEXT NOT NULL, price_cents INTEGER NOT NULL, created_at INTEGER NOT NULL
);
CREATE TABLE parts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, number TEXT NOT NULL,
    price_cents INTEGER NOT NULL, weight INTEGER NOT NULL
);
CREATE TABLE product_parts (
    product INTEGER NOT NULL REFERENCES products (id), position INTEGER NOT NULL,
    part INTEGER NOT NULL REFERENCES parts (id), part_name TEXT NOT NULL,
    PRIMARY KEY (product, position)
) WITHOUT ROWID;
CREATE TABLE product_copies (
    product INTEGER PRIMARY KEY REFERENCES products (id), parts TEXT NOT NULL
);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, product INTEGER NOT NULL REFERENCES products (id),
    author TEXT NOT NULL, text TEXT NOT NULL, published INTEGER NOT NULL, rating INTEGER NOT NULL
);
CREATE TABLE page_reviews (
    id INTEGER PRIMARY KEY, product INTEGER NOT NULL REFERENCES products (id),
    author TEXT NOT NULL, text TEXT NOT NULL, published INTEGER NOT NULL, rating INTEGER NOT NULL
);
CREATE TABLE newest_reviews (
    product INTEGER PRIMARY KEY REFERENCES products (id), reviews TEXT NOT NULL
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, time INTEGER NOT NULL,
    level INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, balance INTEGER NOT NULL, visits INTEGER NOT NULL
);
";

pub(in crate::peers) const INDEXES: &str = "
CREATE INDEX product_parts_by_part ON product_parts (part);
CREATE INDEX reviews_by_product ON reviews (product, published);
CREATE INDEX page_reviews_by_product ON page_reviews (product, published);
CREATE INDEX messages_by_host ON messages (host, time);
ANALYZE;
";

pub(in crate::peers) fn load(path: &Path) -> anyhow::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;",
    )?;
    connection.execute_batch(TABLES)?;
    let transaction = connection.transaction()?;
    load_products(&transaction)?;
    load_reviews(
        &transaction,
        "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    let insert = "INSERT INTO page_reviews VALUES (?, ?, ?, ?, ?, ?)";
    let newest = load_reviews(&transaction, insert)?;
    load_newest(&transaction, &newest)?;
    load_messages(&transaction)?;
    load_accounts(&transaction)?;
    transaction.commit()?;
    connection.execute_batch(INDEXES)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn load_products(transaction: &Transaction<'_>) -> anyhow::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO parts VALUES (?, ?, ?, ?, ?)")?;
    for id in 1..=data::PARTS {
        let part = data::part(id);
        insert.execute(params![
            id,
            part.name,
            part.number,
            part.price_cents,
            part.weight
        ])?;
    }
    let mut insert = transaction.prepare("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut insert_part = transaction.prepare("INSERT INTO product_parts VALUES (?, ?, ?, ?)")?;
    let mut insert_copies = transaction.prepare("INSERT INTO product_copies VALUES (?, ?)")?;
    for id in 1..=data::PRODUCTS {
        let product = data::product(id);
        insert.execute(params![
            id,
            product.catalog_number,
            product.name,
            product.description,
            product.price_cents,
            product.created_at
        ])?;
        let copies = data::copies_of(id);
        for (position, copy) in (0_i64..).zip(&copies) {
            insert_part.execute(params![id, position, copy.id, copy.name])?;
        }
        insert_copies.execute(params![id, serde_json::to_string(&copies)?])?;
    }
    Ok(())
}

/// Returns the newest reviews of each product.
fn load_reviews(
    transaction: &Transaction<'_>,
    insert: &str,
) -> anyhow::Result<Vec<Vec<ShownReview>>> {
    let mut insert = transaction.prepare(insert)?;
    let mut newest = vec![Vec::new(); data::PRODUCTS as usize];
    for id in 1..=data::REVIEWS {
        let review = data::review(id);
        insert.execute(params![
            id,
            review.product,
            review.author,
            review.text,
            review.published,
            review.rating
        ])?;
        data::show(&mut newest[review.product as usize - 1], &review);
    }
    Ok(newest)
}

fn load_newest(transaction: &Transaction<'_>, newest: &[Vec<ShownReview>]) -> anyhow::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO newest_reviews VALUES (?, ?)")?;
    for (id, newest) in (1..=data::PRODUCTS).zip(newest) {
        insert.execute(params![id, serde_json::to_string(newest)?])?;
    }
    Ok(())
}

fn load_messages(transaction: &Transaction<'_>) -> anyhow::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO messages VALUES (?, ?, ?, ?, ?)")?;
    for id in 1..=data::MESSAGES {
        let message = data::message(id);
        insert.execute(params![
            id,
            message.host,
            message.time,
            message.level,
            message.text
        ])?;
    }
    Ok(())
}

fn load_accounts(transaction: &Transaction<'_>) -> anyhow::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO accounts VALUES (?, ?, ?, ?)")?;
    for id in 1..=data::ACCOUNTS {
        let account = data::account(id);
        insert.execute(params![id, account.owner, account.balance, account.visits])?;
    }
    Ok(())
}
