//! The sizes of a collection and its indexes, and how often these were used.

use std::collections::BTreeMap;

use ::mongodb::{Database, options::ReadConcern};
use bson::{DateTime, Document, doc};
use futures_util::TryStreamExt;
use odm_store::{CollectionStats, IndexStats, IndexUses, Result};

use super::{
    error::{About, driver},
    reply::number,
    schema::{declared_name, listed},
};

const ID_INDEX: &str = "_id_";

/// Measures a collection. A sharded one answers by a document for each shard.
pub(super) async fn of(database: &Database, name: &str) -> Result<Option<CollectionStats>> {
    if !exists(database, name).await? {
        return Ok(None);
    }
    let mut stats = CollectionStats {
        documents: 0,
        bytes: 0,
        storage_bytes: 0,
        indexes: Vec::new(),
    };
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for shard in rows(
        database,
        name,
        doc! { "$collStats": { "storageStats": {} } },
    )
    .await?
    {
        let storage = shard.get_document("storageStats").unwrap_or(&shard);
        stats.documents += number(storage, "count");
        stats.bytes += number(storage, "size");
        stats.storage_bytes += number(storage, "storageSize");
        if let Ok(indexes) = storage.get_document("indexSizes") {
            for index in indexes.keys() {
                *sizes.entry(index.clone()).or_default() += number(indexes, index);
            }
        }
    }
    let indexes = sizes.into_iter().map(|(name, bytes)| IndexStats {
        name: declared_name(&name).to_owned(),
        entries: None,
        bytes,
    });
    stats.indexes = indexes.collect();
    stats.indexes.sort_by_key(|index| order(&index.name));
    Ok(Some(stats))
}

/// How often the indexes of a collection were used. A sharded one answers by documents for each shard.
pub(super) async fn uses(database: &Database, name: &str) -> Result<Option<Vec<IndexUses>>> {
    let mut all: BTreeMap<String, IndexUses> = BTreeMap::new();
    for shard in rows(database, name, doc! { "$indexStats": {} }).await? {
        let index = declared_name(shard.get_str("name").unwrap_or_default());
        let accesses = shard.get_document("accesses").cloned();
        let accesses = accesses.unwrap_or_default();
        let since = accesses.get_datetime("since").copied();
        let since = since.unwrap_or_else(|_| DateTime::now());
        let uses = all.entry(index.to_owned()).or_insert_with(|| IndexUses {
            name: index.to_owned(),
            count: 0,
            since,
        });
        uses.count += number(&accesses, "ops");
        uses.since = uses.since.min(since);
    }
    let mut all: Vec<IndexUses> = all.into_values().collect();
    all.sort_by_key(|index| order(&index.name));
    if all.is_empty() && !exists(database, name).await? {
        return Ok(None);
    }
    Ok(Some(all))
}

/// The order by names, with that on `_id` as the first one.
fn order(name: &str) -> (bool, String) {
    (name != ID_INDEX, name.to_owned())
}

async fn exists(database: &Database, name: &str) -> Result<bool> {
    let is_asked = |one: &Document| one.get_str("name").is_ok_and(|other| other == name);
    Ok(listed(database).await?.iter().any(is_asked))
}

async fn rows(database: &Database, collection: &str, stage: Document) -> Result<Vec<Document>> {
    let about = About::collection(collection);
    let rows = database.collection::<Document>(collection);
    // These stages have no other one, and the client may.
    let rows = rows.aggregate([stage]).read_concern(ReadConcern::local());
    let rows = driver(rows.await, about)?;
    driver(rows.try_collect().await, about)
}
