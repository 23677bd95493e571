//! The tables of redb, and the form of their values.

use redb::{ReadableTable, TableDefinition};
use serde::{Serialize, de::DeserializeOwned};

pub(super) type Documents = TableDefinition<'static, i64, &'static [u8]>;
/// An owner, the sort key of its documents, and the id of one.
pub(super) type Index = TableDefinition<'static, (i64, i64, i64), ()>;

pub(super) const PRODUCTS: Documents = TableDefinition::new("products");
pub(super) const BY_CATALOG_NUMBER: TableDefinition<'_, &str, i64> =
    TableDefinition::new("by_catalog_number");
pub(super) const PARTS: Documents = TableDefinition::new("parts");
pub(super) const PRODUCTS_WITH_PARTS: Documents = TableDefinition::new("products_with_parts");
pub(super) const PRODUCTS_WITH_COPIES: Documents = TableDefinition::new("products_with_copies");
/// Pairs of a part and a product that holds a copy of its name.
pub(super) const HOLDERS: TableDefinition<'_, (i64, i64), ()> = TableDefinition::new("holders");
pub(super) const REVIEWS: Documents = TableDefinition::new("reviews");
pub(super) const NEWEST_REVIEWS: Index = TableDefinition::new("newest_reviews");
pub(super) const PAGES: Documents = TableDefinition::new("pages");
pub(super) const PAGE_REVIEWS: Documents = TableDefinition::new("page_reviews");
pub(super) const NEWEST_PAGE_REVIEWS: Index = TableDefinition::new("newest_page_reviews");
pub(super) const MESSAGES: Documents = TableDefinition::new("messages");
pub(super) const NEWEST_MESSAGES: Index = TableDefinition::new("newest_messages");
pub(super) const ACCOUNTS: Documents = TableDefinition::new("accounts");

pub(super) fn encode<T: Serialize>(document: &T) -> anyhow::Result<Vec<u8>> {
    Ok(bson::serialize_to_vec(document)?)
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    Ok(bson::deserialize_from_slice(bytes)?)
}

/// The document with an id.
pub(super) fn get<T: DeserializeOwned>(
    documents: &impl ReadableTable<i64, &'static [u8]>,
    id: i64,
) -> anyhow::Result<T> {
    match documents.get(id)? {
        Some(bytes) => decode(bytes.value()),
        None => anyhow::bail!("there is no document {id}"),
    }
}

/// The last documents of an owner in the order of an index, the last first.
pub(super) fn newest<T: DeserializeOwned>(
    documents: &impl ReadableTable<i64, &'static [u8]>,
    index: &impl ReadableTable<(i64, i64, i64), ()>,
    owner: i64,
    limit: usize,
) -> anyhow::Result<Vec<T>> {
    let mut newest = Vec::with_capacity(limit);
    let all = (owner, i64::MIN, i64::MIN)..=(owner, i64::MAX, i64::MAX);
    for entry in index.range(all)?.rev().take(limit) {
        let (_, _, id) = entry?.0.value();
        newest.push(get(documents, id)?);
    }
    Ok(newest)
}
