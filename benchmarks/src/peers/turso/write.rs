//! The writes, in a transaction that the caller commits.

use turso::{Connection, params, params::IntoParams};

use super::read::one;
use crate::peers::{
    data::{Review, ShownReview, show},
    sqlite::write::{CHANGE_BALANCE, INSERT_PAGE_REVIEW, INSERT_REVIEW},
    system::{Write, missing},
};

/// Returns the number of changed rows. A rename counts the copies of the name, but not the part.
pub(super) async fn apply(connection: &Connection, write: &Write) -> anyhow::Result<u64> {
    match write {
        Write::Review(review) => insert(connection, INSERT_REVIEW, review).await,
        Write::PageReview(review) => {
            insert(connection, INSERT_PAGE_REVIEW, review).await?;
            keep_newest(connection, review).await
        }
        Write::Rename { part, name } => {
            let new = (*part, name.as_str());
            run(connection, "UPDATE parts SET name = ?2 WHERE id = ?1", new).await?;
            let copies = "UPDATE product_parts SET part_name = ?2 WHERE part = ?1";
            run(connection, copies, new).await
        }
        Write::RenameInJson { .. } => missing(),
        Write::Visit { account } => {
            let visit = "UPDATE accounts SET visits = visits + 1 WHERE id = ?1";
            run(connection, visit, [*account]).await
        }
        Write::Transfer { from, to, amount } => {
            let given = run(connection, CHANGE_BALANCE, [*from, -amount]).await?;
            Ok(given + run(connection, CHANGE_BALANCE, [*to, *amount]).await?)
        }
    }
}

pub(super) async fn run(
    connection: &Connection,
    statement: &str,
    params: impl IntoParams,
) -> anyhow::Result<u64> {
    let mut statement = connection.prepare_cached(statement).await?;
    Ok(statement.execute(params).await?)
}

pub(super) async fn insert(
    connection: &Connection,
    statement: &str,
    review: &Review,
) -> anyhow::Result<u64> {
    let values = params![
        review.id,
        review.product,
        review.author.as_str(),
        review.text.as_str(),
        review.published,
        review.rating
    ];
    run(connection, statement, values).await
}

async fn keep_newest(connection: &Connection, review: &Review) -> anyhow::Result<u64> {
    let get = "SELECT reviews FROM newest_reviews WHERE product = ?1";
    let json = one(connection, get, [review.product], |row| {
        row.get::<String>(0)
    });
    let mut newest: Vec<ShownReview> = serde_json::from_str(&json.await?)?;
    if show(&mut newest, review) {
        let set = "UPDATE newest_reviews SET reviews = ?2 WHERE product = ?1";
        let json = serde_json::to_string(&newest)?;
        run(connection, set, (review.product, json)).await?;
    }
    Ok(1)
}
