//! Commands about databases and whole collections.

use odm::bson::{RawArrayBuf, RawDocumentBuf, raw::cstr, rawdoc};

use super::{
    Access, Command, Context, VIRTUAL,
    count::number_of,
    create,
    cursors::{self, FirstBatch},
    indexes, namespace, stats,
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("listDatabases", Access::User, |context, arguments| {
        Box::pin(list_databases(context, arguments))
    }),
    Command::new("listCollections", Access::User, |context, arguments| {
        Box::pin(list_collections(context, arguments))
    }),
    Command::new("drop", Access::Write, |context, arguments| {
        Box::pin(drop_collection(context, arguments))
    }),
    Command::new("dropDatabase", Access::WriteAll, |context, arguments| {
        Box::pin(drop_database(context, arguments))
    }),
    Command::new("renameCollection", Access::Rename, |context, arguments| {
        Box::pin(rename(context, arguments))
    }),
];

pub(super) fn check_admin(context: Context<'_>, command: &str) -> Result<()> {
    match context.database {
        "admin" => Ok(()),
        _ => {
            let message = format!("{command} may only be run against the admin database.");
            Err(CommandError::new(code::UNAUTHORIZED, message))
        }
    }
}

async fn list_databases(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    check_admin(context, "listDatabases")?;
    arguments.ignore("listDatabases");
    arguments.ignore("authorizedDatabases");
    let filter = arguments.filter("filter")?;
    let only_names = arguments.flag("nameOnly")?;
    arguments.end()?;
    let mut names: Vec<&str> = context.state.databases.keys().map(String::as_str).collect();
    names.extend(VIRTUAL);
    names.sort_unstable();
    let (mut databases, mut total) = (RawArrayBuf::new(), 0_i64);
    let is_shown = |name: &&str| {
        let caller = context.caller;
        caller.is_none_or(|caller| caller.user.database == **name)
    };
    for name in names.into_iter().filter(is_shown) {
        if !has_collections(context, name).await? {
            continue;
        }
        if only_names {
            let row = rawdoc! { "name": name };
            if filter.matches(&row)? {
                databases.push(row);
            }
            continue;
        }
        let bytes = size_of(context, name).await?;
        let size = i64::try_from(bytes).unwrap_or(i64::MAX);
        let is_empty = VIRTUAL.contains(&name);
        let row = rawdoc! { "name": name, "sizeOnDisk": size, "empty": is_empty };
        if filter.matches(&row)? {
            databases.push(row);
            total = size.saturating_add(total);
        }
    }
    if only_names {
        return Ok(rawdoc! { "databases": databases });
    }
    Ok(rawdoc! { "databases": databases, "totalSize": total, "totalSizeMb": total / (1024 * 1024) })
}

/// Whether a database has collections, or views. MongoDB has no database without.
async fn has_collections(context: Context<'_>, database: &str) -> Result<bool> {
    match context.state.databases.get(database) {
        // Drivers expect them.
        None => Ok(true),
        Some(all) => Ok(!all.list().await?.is_empty() || !all.views().await?.is_empty()),
    }
}

/// The bytes of the collections and indexes of a database that the user may read.
async fn size_of(context: Context<'_>, database: &str) -> Result<u64> {
    let Some(collections) = context.state.databases.get(database) else {
        return Ok(0);
    };
    let mut bytes = 0;
    for collection in collections.list().await? {
        let caller = context.caller;
        if caller.is_some_and(|caller| !caller.can_read(database, &collection.name)) {
            continue;
        }
        if let Some(stats) = collections.collection(collection.name).stats().await? {
            bytes += stats.storage_bytes + stats::index_bytes(&stats);
        }
    }
    Ok(bytes)
}

async fn list_collections(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    arguments.ignore("listCollections");
    arguments.ignore("authorizedCollections");
    let filter = arguments.filter("filter")?;
    let only_names = arguments.flag("nameOnly")?;
    let batch = FirstBatch::take(&mut arguments)?.unwrap_or_default();
    arguments.end()?;
    let (all, views) = match context.collections() {
        Some(collections) => (collections.list().await?, collections.views().await?),
        None => (Vec::new(), Vec::new()),
    };
    let mut listed = Vec::new();
    for (name, view) in views {
        let full = create::listed_view(&name, &view)?;
        if context.can_read(&name) && filter.matches(&full)? {
            let row = if only_names {
                rawdoc! { "name": name.as_str(), "type": "view" }
            } else {
                full
            };
            listed.push((name, row));
        }
    }
    for collection in all {
        if !context.can_read(&collection.name) {
            continue;
        }
        let options = create::options(&collection)?;
        let full = rawdoc! {
            "name": collection.name.as_str(),
            "type": "collection",
            "options": options,
            "info": { "readOnly": false },
            "idIndex": { "v": 2, "key": { "_id": 1 }, "name": "_id_" },
        };
        if filter.matches(&full)? {
            let row = if only_names {
                rawdoc! { "name": collection.name.as_str(), "type": "collection" }
            } else {
                full
            };
            listed.push((collection.name, row));
        }
    }
    listed.sort_by(|(a, _): &(String, _), (b, _)| a.cmp(b));
    let listed = listed.into_iter().map(|(_, row)| row).collect();
    cursors::listed(context, "$cmd.listCollections", listed, batch).await
}

async fn drop_collection(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    let name = namespace::take(context, &mut arguments, "drop")?;
    arguments.end()?;
    let Some(collections) = context.collections() else {
        return Ok(rawdoc! {});
    };
    let Some(info) = indexes::info(context, name).await? else {
        // A view, or one of the library, which is refused and not listed.
        collections.collection(name).drop().await?;
        return Ok(rawdoc! {});
    };
    collections.collection(name).drop().await?;
    let mut reply = rawdoc! { "nIndexesWas": number_of(info.indexes.len() as u64 + 1) };
    reply.append(cstr!("ns"), format!("{}.{name}", context.database));
    Ok(reply)
}

/// Removes all collections, unless models need one of them.
async fn drop_database(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
) -> Result<RawDocumentBuf> {
    arguments.ignore("dropDatabase");
    arguments.end()?;
    let Some(collections) = context.collections() else {
        return Ok(rawdoc! {});
    };
    let all = collections.list().await?;
    let declared = all
        .iter()
        .find_map(|one| Some((&one.name, one.databases.first()?)));
    if let Some((name, models)) = declared {
        let message = format!(
            "database '{}' has collections that models need, such as `{name}` of the database `{models}`: drop the others one by one",
            context.database
        );
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    collections.drop_all().await?;
    Ok(rawdoc! { "dropped": context.database })
}

async fn rename(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    check_admin(context, "renameCollection")?;
    let from: &str = arguments.required("renameCollection")?;
    let to: &str = arguments.required("to")?;
    let replaces = arguments.flag("dropTarget")?;
    arguments.ignore("stayTemp");
    arguments.end()?;
    let invalid = |message: String| CommandError::new(code::INVALID_NAMESPACE, message);
    let split = |namespace: &str| match namespace.split_once('.') {
        Some((database, name)) => Ok((database.to_owned(), name.to_owned())),
        None => Err(invalid(format!(
            "Invalid namespace specified '{namespace}'"
        ))),
    };
    let ((database, from), (to_database, to)) = (split(from)?, split(to)?);
    if database != to_database {
        let message = format!(
            "cannot rename a collection of the database '{database}' into '{to_database}': copy its documents"
        );
        return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
    }
    let context = Context {
        database: &database,
        restricted: None,
        ..context
    };
    namespace::check(context, &from)?;
    namespace::check(context, &to)?;
    let collections = context.writable()?;
    if !namespace::exists(collections, &from).await? {
        let message = format!("Source collection {database}.{from} does not exist");
        return Err(CommandError::new(code::NAMESPACE_NOT_FOUND, message));
    }
    if !replaces && namespace::exists(collections, &to).await? {
        let message = "target namespace exists";
        return Err(CommandError::new(code::NAMESPACE_EXISTS, message));
    }
    collections.collection(from).rename(&to, replaces).await?;
    Ok(rawdoc! {})
}
