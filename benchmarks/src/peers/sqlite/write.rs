//! The writes, in a transaction that the caller commits.

use rusqlite::{Connection, params};

use crate::peers::{
    data::{PartCopy, Review, ShownReview, show},
    system::Write,
};

pub(in crate::peers) const INSERT_REVIEW: &str =
    "INSERT INTO reviews VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(in crate::peers) const INSERT_PAGE_REVIEW: &str =
    "INSERT INTO page_reviews VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(in crate::peers) const CHANGE_BALANCE: &str =
    "UPDATE accounts SET balance = balance + ?2 WHERE id = ?1";

/// Whether the write is one statement, which needs no transaction around it.
pub(in crate::peers) fn is_one_statement(write: &Write) -> bool {
    matches!(write, Write::Review(_) | Write::Visit { .. })
}

/// Returns the number of changed rows. A rename counts the copies of the name, but not the part.
pub(super) fn apply(connection: &Connection, write: &Write) -> anyhow::Result<u64> {
    match write {
        Write::Review(review) => insert(connection, INSERT_REVIEW, review),
        Write::PageReview(review) => {
            insert(connection, INSERT_PAGE_REVIEW, review)?;
            keep_newest(connection, review)
        }
        Write::Rename { part, name } => {
            rename_part(connection, *part, name)?;
            let rename = "UPDATE product_parts SET part_name = ?2 WHERE part = ?1";
            let mut rename = connection.prepare_cached(rename)?;
            Ok(rename.execute(params![part, name])? as u64)
        }
        Write::RenameInJson { part, name } => rename_in_json(connection, *part, name),
        Write::Visit { account } => {
            let visit = "UPDATE accounts SET visits = visits + 1 WHERE id = ?1";
            Ok(connection.prepare_cached(visit)?.execute([account])? as u64)
        }
        Write::Transfer { from, to, amount } => {
            let mut change = connection.prepare_cached(CHANGE_BALANCE)?;
            let changed = change.execute([*from, -amount])? + change.execute([*to, *amount])?;
            Ok(changed as u64)
        }
    }
}

fn insert(connection: &Connection, insert: &str, review: &Review) -> anyhow::Result<u64> {
    let inserted = connection.prepare_cached(insert)?.execute(params![
        review.id,
        review.product,
        review.author,
        review.text,
        review.published,
        review.rating
    ])?;
    Ok(inserted as u64)
}

fn keep_newest(connection: &Connection, review: &Review) -> anyhow::Result<u64> {
    let get = "SELECT reviews FROM newest_reviews WHERE product = ?1";
    let json: String = connection
        .prepare_cached(get)?
        .query_row([review.product], |row| row.get(0))?;
    let mut newest: Vec<ShownReview> = serde_json::from_str(&json)?;
    if show(&mut newest, review) {
        let set = "UPDATE newest_reviews SET reviews = ?2 WHERE product = ?1";
        let json = serde_json::to_string(&newest)?;
        connection
            .prepare_cached(set)?
            .execute(params![review.product, json])?;
    }
    Ok(1)
}

fn rename_part(connection: &Connection, part: i64, name: &str) -> anyhow::Result<()> {
    let rename = "UPDATE parts SET name = ?2 WHERE id = ?1";
    connection
        .prepare_cached(rename)?
        .execute(params![part, name])?;
    Ok(())
}

fn rename_in_json(connection: &Connection, part: i64, name: &str) -> anyhow::Result<u64> {
    rename_part(connection, part, name)?;
    let holders = "SELECT product FROM product_parts WHERE part = ?1";
    let mut holders = connection.prepare_cached(holders)?;
    let holders = holders.query_map([part], |row| row.get(0))?;
    let holders: Vec<i64> = holders.collect::<Result<_, _>>()?;
    let get = "SELECT parts FROM product_copies WHERE product = ?1";
    let mut get = connection.prepare_cached(get)?;
    let set = "UPDATE product_copies SET parts = ?2 WHERE product = ?1";
    let mut set = connection.prepare_cached(set)?;
    for holder in &holders {
        let json: String = get.query_row([holder], |row| row.get(0))?;
        let mut copies: Vec<PartCopy> = serde_json::from_str(&json)?;
        for copy in copies.iter_mut().filter(|copy| copy.id == part) {
            name.clone_into(&mut copy.name);
        }
        set.execute(params![holder, serde_json::to_string(&copies)?])?;
    }
    Ok(holders.len() as u64)
}
