//! Fills a new file in transactions of many rows, with the indexes and the counts made afterwards. No reference is checked.

use std::path::Path;

use turso::{Connection, params};

use super::write::{insert, run};
use crate::peers::{
    data::{self, ShownReview, chunks},
    sqlite::{
        load::{INDEXES, TABLES},
        write::{INSERT_PAGE_REVIEW, INSERT_REVIEW},
    },
};

/// The number of rows in a transaction, of products the number of products.
const CHUNK: i64 = 10_000;

const COUNTS: &str = "
CREATE TABLE review_counts (product INTEGER PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO review_counts
    SELECT products.id, count(reviews.id) FROM products LEFT JOIN reviews ON reviews.product = products.id GROUP BY products.id;
CREATE TRIGGER count_review AFTER INSERT ON reviews BEGIN
    UPDATE review_counts SET number = number + 1 WHERE product = new.product;
END;
";

pub(in crate::peers) async fn load(path: &Path) -> anyhow::Result<()> {
    let database = super::open(path).await?;
    let connection = &database.connect()?;
    connection.pragma_update("synchronous", "OFF").await?;
    // A table without row ids is experimental.
    let tables = TABLES.replace("WITHOUT ROWID", "");
    connection.execute_batch(tables).await?;
    let mut newest = vec![Vec::new(); data::PRODUCTS as usize];
    for ids in chunks(data::PARTS, CHUNK) {
        begin(connection).await?;
        for id in ids {
            let part = data::part(id);
            let values = params![id, part.name, part.number, part.price_cents, part.weight];
            run(
                connection,
                "INSERT INTO parts VALUES (?, ?, ?, ?, ?)",
                values,
            )
            .await?;
        }
        commit(connection).await?;
    }
    for ids in chunks(data::PRODUCTS, CHUNK / 10) {
        begin(connection).await?;
        for id in ids {
            load_product(connection, id).await?;
        }
        commit(connection).await?;
    }
    for ids in chunks(data::REVIEWS, CHUNK) {
        begin(connection).await?;
        for id in ids {
            let review = data::review(id);
            insert(connection, INSERT_REVIEW, &review).await?;
            insert(connection, INSERT_PAGE_REVIEW, &review).await?;
            data::show(&mut newest[review.product as usize - 1], &review);
        }
        commit(connection).await?;
    }
    load_newest(connection, &newest).await?;
    for ids in chunks(data::MESSAGES, CHUNK) {
        begin(connection).await?;
        for id in ids {
            let message = data::message(id);
            let values = params![id, message.host, message.time, message.level, message.text];
            run(
                connection,
                "INSERT INTO messages VALUES (?, ?, ?, ?, ?)",
                values,
            )
            .await?;
        }
        commit(connection).await?;
    }
    begin(connection).await?;
    for id in 1..=data::ACCOUNTS {
        let account = data::account(id);
        let values = params![id, account.owner, account.balance, account.visits];
        run(
            connection,
            "INSERT INTO accounts VALUES (?, ?, ?, ?)",
            values,
        )
        .await?;
    }
    commit(connection).await?;
    connection.execute_batch(INDEXES).await?;
    connection.execute_batch(COUNTS).await?;
    connection
        .pragma_query("wal_checkpoint(TRUNCATE)", |_| Ok(()))
        .await?;
    Ok(())
}

async fn begin(connection: &Connection) -> anyhow::Result<()> {
    run(connection, "BEGIN IMMEDIATE", ()).await?;
    Ok(())
}

async fn commit(connection: &Connection) -> anyhow::Result<()> {
    run(connection, "COMMIT", ()).await?;
    Ok(())
}

async fn load_product(connection: &Connection, id: i64) -> anyhow::Result<()> {
    let product = data::product(id);
    let values = params![
        id,
        product.catalog_number,
        product.name,
        product.description,
        product.price_cents,
        product.created_at
    ];
    run(
        connection,
        "INSERT INTO products VALUES (?, ?, ?, ?, ?, ?)",
        values,
    )
    .await?;
    for (position, copy) in (0_i64..).zip(data::copies_of(id)) {
        let values = (id, position, copy.id, copy.name);
        run(
            connection,
            "INSERT INTO product_parts VALUES (?, ?, ?, ?)",
            values,
        )
        .await?;
    }
    Ok(())
}

async fn load_newest(connection: &Connection, newest: &[Vec<ShownReview>]) -> anyhow::Result<()> {
    begin(connection).await?;
    for (id, newest) in (1..=data::PRODUCTS).zip(newest) {
        let values = (id, serde_json::to_string(newest)?);
        run(
            connection,
            "INSERT INTO newest_reviews VALUES (?, ?)",
            values,
        )
        .await?;
    }
    commit(connection).await
}
