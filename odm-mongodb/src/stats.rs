//! What a collection takes, and how often its indexes were used.

use std::collections::BTreeMap;

use ::mongodb::{Database, options::ReadConcern};
use bson::{DateTime, Document, doc};
use futures_util::TryStreamExt;
use odm_store::{CollectionStats, IndexStats, Result};

use super::{
    error::{About, driver},
    reply::number,
    schema::{declared_name, listed},
};

const ID_INDEX: &str = "_id_";

/// Measures a collection. A sharded one answers by a document for each shard.
pub(super) async fn of(database: &Database, name: &str) -> Result<Option<CollectionStats>> {
    let all = listed(database).await?;
    let is_asked = |one: &Document| one.get_str("name").is_ok_and(|other| other == name);
    if !all.iter().any(is_asked) {
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
    let mut indexes: BTreeMap<String, IndexStats> = BTreeMap::new();
    for shard in rows(database, name, doc! { "$indexStats": {} }).await? {
        let index = shard.get_str("name").unwrap_or_default();
        let empty = Document::new();
        let accesses = shard.get_document("accesses").unwrap_or(&empty);
        let since = accesses.get_datetime("since").copied();
        let since = since.unwrap_or_else(|_| DateTime::now());
        let found = indexes
            .entry(index.to_owned())
            .or_insert_with(|| IndexStats {
                name: declared_name(index).to_owned(),
                entries: None,
                bytes: sizes.get(index).copied().unwrap_or_default(),
                uses: 0,
                since,
            });
        found.uses += number(accesses, "ops");
        found.since = found.since.min(since);
    }
    stats.indexes = indexes.into_values().collect();
    let order = |index: &IndexStats| (index.name != ID_INDEX, index.name.clone());
    stats.indexes.sort_by_key(order);
    Ok(Some(stats))
}

async fn rows(database: &Database, collection: &str, stage: Document) -> Result<Vec<Document>> {
    let about = About::collection(collection);
    let rows = database.collection::<Document>(collection);
    // These stages have no other one, and the client may.
    let rows = rows.aggregate([stage]).read_concern(ReadConcern::local());
    let rows = driver(rows.await, about)?;
    driver(rows.try_collect().await, about)
}
