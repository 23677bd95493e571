//! `collStats` and `dbStats`: the sizes of collections and their indexes.

use odm::{
    bson::{RawBson, RawDocumentBuf, raw::CString, raw::cstr, rawdoc},
    mql::Filter,
    store::contract::CollectionStats,
};

use super::{Access, Command, Context, count::number_of, indexes, namespace};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("dbStats", Access::ReadAll, |context, arguments| {
        Box::pin(database_stats(context, arguments))
    }),
    Command::new("dbstats", Access::ReadAll, |context, arguments| {
        Box::pin(database_stats(context, arguments))
    }),
    Command::new("collStats", Access::Read, |context, arguments| {
        Box::pin(collection_stats(context, arguments, "collStats"))
    }),
    Command::new("collstats", Access::Read, |context, arguments| {
        Box::pin(collection_stats(context, arguments, "collstats"))
    }),
];

/// The bytes of indexes together.
pub(super) fn index_bytes(stats: &CollectionStats) -> u64 {
    stats.indexes.iter().map(|index| index.bytes).sum()
}

/// The scale of the sizes of a command.
pub(super) fn check_scale(scale: i64, path: &str) -> Result<u64> {
    match u64::try_from(scale) {
        Ok(scale) if scale > 0 => Ok(scale),
        Ok(_) | Err(_) => {
            let message = format!("BSON field '{path}' value must be >= 1, actual value '{scale}'");
            Err(CommandError::new(code::BAD_VALUE, message))
        }
    }
}

fn take_scale(arguments: &mut Arguments<'_>) -> Result<u64> {
    let scale = arguments.optional("scale")?.unwrap_or(1);
    check_scale(scale, &format!("{}.scale", arguments.name()))
}

/// The sizes of a collection. `None` if it is not there.
pub(super) async fn measured(context: Context<'_>, name: &str) -> Result<Option<CollectionStats>> {
    match context.collections() {
        Some(collections) => Ok(collections.collection(name).stats().await?),
        None => Ok(None),
    }
}

async fn database_stats(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    for name in ["dbStats", "dbstats", "freeStorage"] {
        arguments.ignore(name);
    }
    let scale = take_scale(&mut arguments)?;
    arguments.end()?;
    let (all, views) = match context.collections() {
        Some(collections) => (collections.list().await?, collections.views().await?.len()),
        None => (Vec::new(), 0),
    };
    let (mut objects, mut indexes) = (0, 0);
    let (mut data, mut storage, mut index) = (0, 0, 0);
    for collection in &all {
        indexes += collection.indexes.len() as u64 + 1;
        if let Some(stats) = measured(context, &collection.name).await? {
            objects += stats.documents;
            data += stats.bytes;
            storage += stats.storage_bytes;
            index += index_bytes(&stats);
        }
    }
    let scaled = |bytes: u64| RawBson::Double((bytes / scale) as f64);
    let average = match objects {
        0 => 0.0,
        _ => data as f64 / objects as f64,
    };
    let mut reply = rawdoc! { "db": context.database };
    reply.append(cstr!("collections"), number_of(all.len() as u64));
    reply.append(cstr!("views"), number_of(views as u64));
    reply.append(cstr!("objects"), number_of(objects));
    reply.append(cstr!("avgObjSize"), average);
    reply.append(cstr!("dataSize"), scaled(data));
    reply.append(cstr!("storageSize"), scaled(storage));
    reply.append(cstr!("indexes"), number_of(indexes));
    reply.append(cstr!("indexSize"), scaled(index));
    reply.append(cstr!("totalSize"), scaled(storage + index));
    reply.append(cstr!("scaleFactor"), number_of(scale));
    Ok(reply)
}

async fn collection_stats(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
    command: &str,
) -> Result<RawDocumentBuf> {
    let name = namespace::take(context, &mut arguments, command)?;
    let scale = take_scale(&mut arguments)?;
    arguments.end()?;
    let mut reply = rawdoc! { "ns": format!("{}.{name}", context.database) };
    for field in &storage_stats(context, name, scale).await? {
        let (name, value) = field?;
        reply.append(name, value);
    }
    Ok(reply)
}

/// The number of documents of a collection.
pub(super) async fn count(context: Context<'_>, name: &str) -> Result<u64> {
    match context.collections() {
        Some(collections) => {
            let all = collections.collection(name).find(Filter::default());
            Ok(all.count().await?)
        }
        None => Ok(0),
    }
}

/// The numbers of a collection, whose sizes are divided by a scale.
pub(super) async fn storage_stats(
    context: Context<'_>,
    name: &str,
    scale: u64,
) -> Result<RawDocumentBuf> {
    let info = indexes::info(context, name).await?;
    let number = info.map_or(0, |info| info.indexes.len() as u64 + 1);
    let stats = measured(context, name).await?;
    let mut by_index = RawDocumentBuf::new();
    let (mut documents, mut bytes, mut storage, mut index) = (0, 0, 0, 0);
    if let Some(stats) = &stats {
        (documents, bytes, storage) = (stats.documents, stats.bytes, stats.storage_bytes);
        index = index_bytes(stats);
        for one in &stats.indexes {
            if let Ok(name) = CString::try_from(one.name.as_str()) {
                by_index.append(name, number_of(one.bytes / scale));
            }
        }
    }
    let mut reply = RawDocumentBuf::new();
    reply.append(cstr!("size"), number_of(bytes / scale));
    reply.append(cstr!("count"), number_of(documents));
    let average = bytes.checked_div(documents).unwrap_or_default();
    reply.append(cstr!("avgObjSize"), number_of(average));
    reply.append(cstr!("storageSize"), number_of(storage / scale));
    reply.append(cstr!("freeStorageSize"), 0);
    reply.append(cstr!("capped"), false);
    reply.append(cstr!("nindexes"), number_of(number));
    reply.append(cstr!("totalIndexSize"), number_of(index / scale));
    reply.append(cstr!("totalSize"), number_of((storage + index) / scale));
    reply.append(cstr!("indexSizes"), by_index);
    reply.append(cstr!("scaleFactor"), number_of(scale));
    Ok(reply)
}
