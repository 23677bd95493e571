//! The indexes, with their sizes and how often they were used.

use std::collections::BTreeMap;

use mongodb::{
    Collection,
    bson::{Bson, Document, RawDocumentBuf, doc},
};
use odm::store::contract::IndexStats;

use crate::{error::Result, source::Opened};

/// The index on `_id`, which every collection has.
const ID_INDEX: &str = "_id_";

/// The indexes of a collection but that on `_id`, as rows.
pub(super) async fn rows(
    opened: &Opened,
    collection: &Collection<RawDocumentBuf>,
) -> Result<Vec<Document>> {
    let mut sizes = match opened {
        Opened::File(file) => {
            let collection = file.collections.collection(collection.name());
            let stats = collection.stats().await?;
            let indexes = stats.map(|stats| stats.indexes).unwrap_or_default();
            indexes
                .into_iter()
                .map(|index| (index.name.clone(), size(&index)))
                .collect()
        }
        Opened::Served(_) | Opened::MongoDb(_) => sizes(collection).await?,
    };
    let mut rows = Vec::new();
    let mut stats = collection.aggregate([doc! { "$indexStats": {} }]).await?;
    while stats.advance().await? {
        let index: Document = stats.deserialize_current()?;
        let name = index.get_str("name").unwrap_or_default();
        if name == ID_INDEX {
            continue;
        }
        let mut row = doc! { "index": format!("{}.{name}", collection.name()) };
        if let Ok(keys) = index.get_document("key") {
            let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
            row.insert("fields", keys.join(", "));
        }
        row.extend(sizes.remove(name).unwrap_or_default());
        // A file that this process alone has open was used by nobody.
        if !matches!(opened, Opened::File(_)) {
            row.extend(uses(&index));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn size(index: &IndexStats) -> Document {
    let mut size = Document::new();
    if let Some(entries) = index.entries {
        size.insert("entries", entries as i64);
    }
    size.insert("bytes", index.bytes as i64);
    size
}

/// The bytes of each index, as a server tells them.
async fn sizes(collection: &Collection<RawDocumentBuf>) -> Result<BTreeMap<String, Document>> {
    let asked = [doc! { "$collStats": { "storageStats": {} } }];
    let mut stats = collection.aggregate(asked).await?;
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    // One row for each shard.
    while stats.advance().await? {
        let row: Document = stats.deserialize_current()?;
        let storage = row.get_document("storageStats");
        let indexes = storage.and_then(|storage| storage.get_document("indexSizes"));
        for (name, bytes) in indexes.into_iter().flatten() {
            *sizes.entry(name.clone()).or_default() += number(bytes);
        }
    }
    let sizes = sizes.into_iter();
    Ok(sizes
        .map(|(name, bytes)| (name, doc! { "bytes": bytes }))
        .collect())
}

/// How often an index was used, with a mark if nobody needs it: a unique one is needed by writes.
fn uses(index: &Document) -> Document {
    let Ok(accesses) = index.get_document("accesses") else {
        return Document::new();
    };
    let uses = accesses.get("ops").map_or(0, number);
    let mut row = doc! { "uses": uses };
    let is_unique = index
        .get_document("spec")
        .and_then(|spec| spec.get_bool("unique"));
    if uses == 0
        && !is_unique.unwrap_or(false)
        && let Ok(since) = accesses.get_datetime("since")
    {
        row.insert("unused_since", *since);
    }
    row
}

fn number(value: &Bson) -> i64 {
    match value {
        Bson::Int32(number) => (*number).into(),
        Bson::Int64(number) => *number,
        Bson::Double(number) => *number as i64,
        _ => 0,
    }
}
