//! `createIndexes`, `listIndexes` and `dropIndexes`.

use odm::{
    Collection,
    bson::{
        Bson, Document, RawArray, RawBsonRef, RawDocument, RawDocumentBuf, doc,
        raw::{CString, cstr},
        rawdoc,
    },
    collections::CollectionInfo,
    mql::Direction,
    mql::Filter,
    store::contract::{IndexFilter, IndexSpec},
};

use super::{
    Access, Command, Context,
    cursors::{self, FirstBatch},
    namespace,
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("createIndexes", Access::Write, |context, arguments| {
        Box::pin(create(context, arguments))
    }),
    Command::new("listIndexes", Access::Read, |context, arguments| {
        Box::pin(list(context, arguments))
    }),
    Command::new("dropIndexes", Access::Write, |context, arguments| {
        Box::pin(drop_indexes(context, arguments, "dropIndexes"))
    }),
    Command::new("deleteIndexes", Access::Write, |context, arguments| {
        Box::pin(drop_indexes(context, arguments, "deleteIndexes"))
    }),
];

/// The index on `_id`, which every collection has.
const ID_INDEX: &str = "_id_";

async fn create(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "createIndexes")?;
    let asked = arguments.all_nested("indexes")?;
    arguments.ignore("commitQuorum");
    arguments.ignore("ignoreUnknownIndexOptions");
    arguments.end()?;
    if asked.is_empty() {
        let message = "Must specify at least one index to create";
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    let asked: Vec<Option<IndexSpec>> = asked.into_iter().map(take_spec).collect::<Result<_>>()?;

    let before = info(context, collection.name()).await?;
    let is_new = before.is_none();
    let before = before.map(|info| info.indexes).unwrap_or_default();
    let mut after = before.clone();
    for index in asked.into_iter().flatten() {
        if check_conflict(&after, &index)? {
            continue;
        }
        collection.create_index(index.clone()).await?;
        after.push(index);
    }
    if is_new && after.is_empty() {
        collection.create().await?;
    }
    let mut reply = rawdoc! {
        "numIndexesBefore": number(before.len()),
        "numIndexesAfter": number(after.len()),
        "createdCollectionAutomatically": is_new,
    };
    if before.len() == after.len() {
        reply.append(cstr!("note"), "all indexes already exist");
    }
    Ok(reply)
}

/// The number of indexes, that on `_id` included.
fn number(others: usize) -> i32 {
    i32::try_from(others + 1).unwrap_or(i32::MAX)
}

/// Whether the index is there already.
fn check_conflict(existing: &[IndexSpec], index: &IndexSpec) -> Result<bool> {
    if let Some(other) = existing.iter().find(|other| other.name == index.name) {
        if other == index {
            return Ok(true);
        }
        let (code, what) = match other.keys == index.keys {
            true => (code::INDEX_OPTIONS_CONFLICT, "other options"),
            false => (code::INDEX_KEY_SPECS_CONFLICT, "other keys"),
        };
        let message = format!(
            "An existing index has the same name as the requested index, '{}', with {what}",
            index.name
        );
        return Err(CommandError::new(code, message));
    }
    let renamed = |other: &&IndexSpec| {
        (
            &other.keys,
            &other.filter,
            &other.collation,
            other.case_insensitive,
            other.present_only,
        ) == (
            &index.keys,
            &index.filter,
            &index.collation,
            index.case_insensitive,
            index.present_only,
        )
    };
    match existing.iter().find(renamed) {
        None => Ok(false),
        Some(other) => {
            let message = format!("Index already exists with a different name: {}", other.name);
            Err(CommandError::new(code::INDEX_OPTIONS_CONFLICT, message))
        }
    }
}

/// Takes the description of an index. `None` if it is the one on `_id`.
fn take_spec(mut fields: Arguments<'_>) -> Result<Option<IndexSpec>> {
    let keys: &RawDocument = fields.required("key")?;
    let name: &str = fields.required("name")?;
    let keys = keys_of(keys)?;
    let unique = fields.flag("unique")?;
    let sparse = fields.flag("sparse")?;
    let filter = fields.document("partialFilterExpression")?;
    fields.take_collation()?;
    let collation = fields.collation().cloned();
    for name in [
        "expireAfterSeconds",
        "weights",
        "default_language",
        "language_override",
        "bits",
        "min",
        "max",
        "wildcardProjection",
        "storageEngine",
        "prepareUnique",
    ] {
        fields.refuse(name)?;
    }
    fields.refuse_true("hidden")?;
    for name in [
        "v",
        "background",
        "dropDups",
        "ns",
        "textIndexVersion",
        "2dsphereIndexVersion",
    ] {
        fields.ignore(name);
    }
    fields.end()?;
    if name.is_empty() || name == "*" {
        let message = format!("The index name '{name}' is not valid.");
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    if let [(path, Direction::Ascending)] = &*keys
        && path == "_id"
    {
        return Ok(None);
    }
    let filter = match (sparse, filter) {
        (false, None) => None,
        (false, Some(filter)) => Some(filter),
        (true, Some(_)) => {
            let message = "cannot mix 'partialFilterExpression' and 'sparse' options";
            return Err(CommandError::new(code::CANNOT_CREATE_INDEX, message));
        }
        // The documents that have the field.
        (true, None) => match &*keys {
            [(path, _)] => Some(doc! { path: { "$exists": true } }),
            _ => {
                let message = "'createIndexes.indexes.sparse' of several fields is not supported by this server: use 'partialFilterExpression'";
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
        },
    };
    if collation.is_some()
        && let Some(filter) = &filter
        && has_text(filter)
    {
        let message = "a text in the 'partialFilterExpression' of an index with a collation is not supported by this server";
        return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
    }
    let mut index = IndexSpec::new(name, keys);
    index.unique = unique;
    index.collation = collation;
    index.filter = filter
        .map(|filter| IndexFilter::new(&Filter::parse(&filter)?))
        .transpose()
        .map_err(|error| CommandError::new(code::CANNOT_CREATE_INDEX, error.to_string()))?;
    Ok(Some(index))
}

/// Whether a text is an operand in a filter. The name of a type is none.
fn has_text(filter: &Document) -> bool {
    filter.iter().any(|(name, value)| match value {
        Bson::String(_) => name != "$type",
        Bson::Document(inner) => has_text(inner),
        Bson::Array(all) if name != "$type" => all.iter().any(|one| match one {
            Bson::Document(inner) => has_text(inner),
            one => matches!(one, Bson::String(_)),
        }),
        _ => false,
    })
}

fn keys_of(keys: &RawDocument) -> Result<Vec<(String, Direction)>> {
    let refused = |message: String| CommandError::new(code::CANNOT_CREATE_INDEX, message);
    let mut all = Vec::new();
    for key in keys {
        let (path, value) = key?;
        let direction = match value {
            RawBsonRef::Int32(number) => f64::from(number),
            RawBsonRef::Int64(number) => number as f64,
            RawBsonRef::Double(number) => number,
            RawBsonRef::String(kind) => {
                let message = format!(
                    "an index of the kind '{kind}' is not supported by this server: only 1 and -1 are"
                );
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            _ => f64::NAN,
        };
        let direction = match direction {
            number if number > 0.0 => Direction::Ascending,
            number if number < 0.0 => Direction::Descending,
            _ => {
                let message = format!(
                    "Values in the index key pattern must be numbers other than 0, and '{path}' has another one"
                );
                return Err(refused(message));
            }
        };
        if path.is_empty()
            || path
                .as_str()
                .split('.')
                .any(|part| part.is_empty() || part.starts_with('$'))
        {
            let message = format!("Index key contains an illegal field name: '{path}'");
            return Err(refused(message));
        }
        all.push((path.as_str().to_owned(), direction));
    }
    match all.is_empty() {
        true => Err(refused("Index keys cannot be an empty object.".to_owned())),
        false => Ok(all),
    }
}

/// A collection, if it exists.
pub(super) async fn info(context: Context<'_>, name: &str) -> Result<Option<CollectionInfo>> {
    let Some(collections) = context.collections() else {
        return Ok(None);
    };
    let all = collections.list().await?;
    Ok(all.into_iter().find(|collection| collection.name == name))
}

async fn existing(context: Context<'_>, name: &str) -> Result<CollectionInfo> {
    let info = info(context, name).await?;
    info.ok_or_else(|| namespace::missing(context, name))
}

async fn list(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let name = namespace::take(context, &mut arguments, "listIndexes")?;
    let batch = FirstBatch::take(&mut arguments)?.unwrap_or_default();
    arguments.end()?;
    let existing = existing(context, name).await?;
    cursors::listed(context, name, describe_all(&existing)?, batch).await
}

/// The indexes of a collection in MongoDB's form.
pub(super) fn describe_all(collection: &CollectionInfo) -> Result<Vec<RawDocumentBuf>> {
    let id = rawdoc! { "v": 2, "key": { "_id": 1 }, "name": ID_INDEX };
    let others = collection.indexes.iter().map(describe);
    std::iter::once(Ok(id)).chain(others).collect()
}

/// The keys of an index in MongoDB's form.
pub(super) fn key_pattern(index: &IndexSpec) -> RawDocumentBuf {
    let mut keys = RawDocumentBuf::new();
    for (path, direction) in &index.keys {
        let direction = match direction {
            Direction::Ascending => 1,
            Direction::Descending => -1,
        };
        if let Ok(path) = CString::try_from(path.as_str()) {
            keys.append(path, direction);
        }
    }
    keys
}

fn describe(index: &IndexSpec) -> Result<RawDocumentBuf> {
    let mut description = rawdoc! { "v": 2 };
    description.append(cstr!("key"), key_pattern(index));
    description.append(cstr!("name"), index.name.as_str());
    if index.unique {
        description.append(cstr!("unique"), true);
    }
    if let Some(filter) = &index.filter {
        let filter = filter.to_document();
        match &*index.keys {
            [(path, _)] if filter == doc! { path: { "$exists": true } } => {
                description.append(cstr!("sparse"), true);
            }
            _ => description.append(
                cstr!("partialFilterExpression"),
                RawDocumentBuf::try_from(&filter)?,
            ),
        }
    }
    if let Some(collation) = &index.collation {
        let collation = RawDocumentBuf::try_from(&collation.to_document())?;
        description.append(cstr!("collation"), collation);
    }
    // What only models declare, and MongoDB has no word for.
    if index.present_only {
        description.append(cstr!("presentOnly"), true);
    }
    if index.case_insensitive {
        description.append(cstr!("ignoresCase"), true);
    }
    Ok(description)
}

async fn drop_indexes(
    context: Context<'_>,
    mut arguments: Arguments<'_>,
    command: &str,
) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, command)?;
    let asked: RawBsonRef<'_> = arguments.required("index")?;
    let wrong_type = arguments.wrong_type("index", asked, "[string, object, array]");
    arguments.end()?;
    let indexes = existing(context, collection.name()).await?.indexes;
    let before = number(indexes.len());
    let names = match asked {
        RawBsonRef::String("*") => indexes.into_iter().map(|index| index.name).collect(),
        RawBsonRef::String(name) => vec![name.to_owned()],
        RawBsonRef::Array(names) => texts(names)?,
        RawBsonRef::Document(keys) if keys == &*rawdoc! { "_id": 1 } => vec![ID_INDEX.to_owned()],
        RawBsonRef::Document(keys) => {
            let keys = keys_of(keys)?;
            let found = indexes.into_iter().find(|index| index.keys == keys);
            vec![found.ok_or_else(|| not_found("these keys"))?.name]
        }
        _ => return Err(wrong_type),
    };
    drop_all(&collection, names).await?;
    Ok(rawdoc! { "nIndexesWas": before })
}

/// Removes indexes. Those that models declare are left, and the error is about the first of them.
async fn drop_all(collection: &Collection, names: Vec<String>) -> Result<()> {
    let mut failed = None;
    for name in names {
        if name == ID_INDEX {
            let message = "cannot drop _id index";
            return Err(CommandError::new(code::INVALID_OPTIONS, message));
        }
        match collection.drop_index(&name).await {
            Ok(true) => {}
            Ok(false) => return Err(not_found(&format!("name [{name}]"))),
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn not_found(what: &str) -> CommandError {
    CommandError::new(
        code::INDEX_NOT_FOUND,
        format!("index not found with {what}"),
    )
}

fn texts(array: &RawArray) -> Result<Vec<String>> {
    let texts = array.into_iter().map(|value| match value? {
        RawBsonRef::String(text) => Ok(text.to_owned()),
        _ => {
            let message = "dropIndexes: the names of indexes must be strings";
            Err(CommandError::new(code::TYPE_MISMATCH, message))
        }
    });
    texts.collect()
}
