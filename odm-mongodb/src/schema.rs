//! Collections and indexes.

use ::mongodb::Database;
use bson::{Bson, Document, doc};
use futures_util::TryStreamExt;
use odm_mql::{Direction, Filter};
use odm_store::{
    CollectionSpec, CollectionValidator, Error, ErrorKind, IndexFilter, IndexSpec, Result,
};

use super::{
    Connection,
    error::{About, code_of, driver, translate},
    filter::{all, is_present},
    null,
};

/// Separates the declared name of an index from a number, if an obsolete index has that name.
const MARK: char = '~';

/// The server's code of a missing index, of a missing collection and of an existing one.
const INDEX_NOT_FOUND: i32 = 27;
const NAMESPACE_NOT_FOUND: i32 = 26;
const NAMESPACE_EXISTS: i32 = 48;
const UNAUTHORIZED: i32 = 13;

/// The title of a schema that the library has set.
const TITLE: &str = "checked by odm";

/// The name by which an index was declared.
pub(super) fn declared_name(name: &str) -> &str {
    name.rsplit_once(MARK)
        .map_or(name, |(declared, _)| declared)
}

/// An index on the server.
struct Stored {
    name: String,
    options: Document,
}

impl Stored {
    /// The index in the form of the contract; `None` for a kind that the contract does not have.
    fn spec(&self) -> Option<IndexSpec> {
        let keys = self.options.get_document("key").ok()?.iter();
        let keys = keys.map(|(path, direction)| match direction {
            Bson::Int32(1) => Some((path.clone(), Direction::Ascending)),
            Bson::Int32(-1) => Some((path.clone(), Direction::Descending)),
            _ => None,
        });
        let keys = keys.collect::<Option<Vec<_>>>()?;
        let expression = self.options.get_document("partialFilterExpression").ok();
        let mut filters = match expression.map(|filter| (filter, filter.get_array("$and"))) {
            None => Vec::new(),
            Some((_, Ok(all))) => all.iter().filter_map(Bson::as_document).cloned().collect(),
            Some((one, Err(_))) => vec![one.clone()],
        };
        let mut present = keys.iter().map(|(path, _)| bytes(&is_present(path)));
        let mut first = filters.iter().map(bytes);
        let present_only = present.all(|present| first.next() == Some(present));
        if present_only {
            filters.drain(..keys.len());
        }
        let filter = match filters.is_empty() {
            true => None,
            false => Some(IndexFilter::new(&Filter::parse(&all(filters)).ok()?).ok()?),
        };
        let spec = IndexSpec {
            name: declared_name(&self.name).to_owned(),
            keys,
            unique: self.options.get_bool("unique").unwrap_or(false),
            present_only,
            case_insensitive: false,
            collation: None,
            filter,
        };
        self.is(&spec).then_some(spec)
    }

    /// Whether it has the keys and the options of a declared one.
    fn is(&self, index: &IndexSpec) -> bool {
        bytes(&self.options) == bytes(&options(index))
    }
}

/// A document for a comparison: documents are equal as values in any order of their fields, and a NaN is not equal to itself.
fn bytes(document: &Document) -> Option<Vec<u8>> {
    bson::serialize_to_vec(document).ok()
}

/// The collections with their indexes, in the order of the names of both, without indexes of kinds that the contract does not have.
pub(super) async fn specs(database: &Database) -> Result<Vec<CollectionSpec>> {
    let mut specs = Vec::new();
    for collection in listed(database).await? {
        let (Ok(name), Ok("collection")) = (collection.get_str("name"), collection.get_str("type"))
        else {
            continue;
        };
        let stored = stored(database, name).await?;
        let mut indexes: Vec<IndexSpec> = stored.iter().filter_map(Stored::spec).collect();
        indexes.sort_by(|a, b| a.name.cmp(&b.name));
        specs.push(CollectionSpec {
            name: name.to_owned(),
            indexes,
            ..CollectionSpec::default()
        });
    }
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(specs)
}

/// The collections as the server lists them: the driver's form of a collection does not know all actions that a server has.
pub(super) async fn listed(database: &Database) -> Result<Vec<Document>> {
    let list = database.run_cursor_command(doc! { "listCollections": 1 });
    let list = driver(list.await, About::collection(""))?;
    driver(list.try_collect().await, About::collection(""))
}

/// Creates missing collections and indexes, and removes obsolete indexes.
pub(super) async fn ensure(connection: &Connection, collections: &[CollectionSpec]) -> Result<()> {
    let database = &connection.database;
    let mut obsolete = Vec::new();
    for spec in collections {
        check_name(&spec.name)?;
        if spec.collation.is_some() {
            let message = format!(
                "`{}` has a default collation, which is not supported on MongoDB by this library",
                spec.name
            );
            return Err(Error::new(ErrorKind::Schema, message).at(&spec.name, None, None));
        }
        for index in &spec.indexes {
            check_name(&index.name)?;
            for (path, _) in &index.keys {
                check_name(path)?;
            }
            if index.keys.is_empty() {
                let message = format!("index `{}` of `{}` has no fields", index.name, spec.name);
                return Err(Error::new(ErrorKind::Schema, message));
            }
        }
        create_collection(database, &spec.name).await?;
        let stored = stored(database, &spec.name).await?;
        let is_obsolete = |index: &Stored| {
            let declares =
                |spec: &IndexSpec| spec.name == declared_name(&index.name) && index.is(spec);
            spec.obsolete.iter().any(declares) && !spec.indexes.iter().any(declares)
        };
        let (gone, left): (Vec<_>, Vec<_>) = stored.into_iter().partition(is_obsolete);
        let mut missing: Vec<Document> = Vec::new();
        for index in &spec.indexes {
            check_case(&spec.name, index)?;
            if connection.has_null_in_arrays {
                check_null(&spec.name, index)?;
            }
            let same_name = left
                .iter()
                .find(|other| declared_name(&other.name) == index.name);
            match same_name {
                Some(other) if other.is(index) => continue,
                Some(_) => return Err(other_options(&spec.name, index)),
                // The server has no two indexes of one form. An index of another program serves as well.
                None if left.iter().any(|other| other.is(index)) => continue,
                None => {}
            }
            let mut create = options(index);
            create.insert("name", free_name(&index.name, &gone));
            missing.push(create);
        }
        obsolete.extend(
            gone.into_iter()
                .map(|index| (spec.name.clone(), index.name)),
        );
        if !missing.is_empty() {
            create(database, spec, missing).await?;
        }
    }
    for (collection, index) in obsolete {
        let drop = doc! { "dropIndexes": &collection, "index": index };
        match database.run_command(drop).await {
            Err(error) if code_of(&error) == Some(INDEX_NOT_FOUND) => {}
            result => {
                driver(result, About::collection(&collection))?;
            }
        }
    }
    Ok(())
}

async fn create_collection(database: &Database, name: &str) -> Result<()> {
    match database.run_command(doc! { "create": name }).await {
        Err(error) if code_of(&error) == Some(NAMESPACE_EXISTS) => Ok(()),
        result => driver(result, About::collection(name)).map(drop),
    }
}

/// Sets the validators of collections, and removes validators of the library that are no longer wanted. Returns whether writes of the
/// library can bypass the validators of the database: there are no others, and the user may.
///
/// The level is `moderate`, so that without a bypass, the consequences of a write never fail because of an old document.
pub(super) async fn validate(
    database: &Database,
    validations: &[CollectionValidator],
) -> Result<bool> {
    let mut is_alone = true;
    for collection in &listed(database).await? {
        let Ok(name) = collection.get_str("name") else {
            continue;
        };
        let stored = collection.get_document("options").ok();
        let current = stored.and_then(|options| options.get_document("validator").ok());
        let current = current.cloned().unwrap_or_default();
        let schema = current.get_document("$jsonSchema");
        let title = schema.and_then(|schema| schema.get_str("title"));
        let is_own = title.is_ok_and(|title| title == TITLE);
        let wanted = validations.iter().find(|of| of.collection == name);
        let (validator, is_warning) = match wanted {
            None if is_own => (Document::new(), false),
            None => {
                is_alone &= current.is_empty();
                continue;
            }
            Some(_) if !is_own && !current.is_empty() => {
                is_alone = false;
                tracing::warn!(
                    target: "odm",
                    collection = name,
                    "the validator of the collection was set by another program, and stays: the schema of the model is \
                     not set on the server"
                );
                continue;
            }
            Some(wanted) => {
                let schema = doc! { "title": TITLE, "allOf": &wanted.schemas };
                (doc! { "$jsonSchema": schema }, wanted.is_warning)
            }
        };
        let action = stored.and_then(|options| options.get_str("validationAction").ok());
        let is_set = action == Some("warn");
        if validator == current && is_warning == is_set {
            continue;
        }
        let action = if is_warning { "warn" } else { "error" };
        let change = doc! {
            "collMod": name,
            "validator": validator,
            "validationLevel": "moderate",
            "validationAction": action,
        };
        match database.run_command(change).await {
            Err(error) if code_of(&error) == Some(UNAUTHORIZED) => tracing::warn!(
                target: "odm",
                collection = name,
                "the user of the MongoDB server may not set validators, which takes the privilege `collMod`: the \
                 documents of other programs are not validated"
            ),
            result => {
                driver(result, About::collection(name))?;
            }
        }
    }
    Ok(is_alone && !validations.is_empty() && may_bypass(database).await)
}

/// Whether the user may write documents that violate a validator.
async fn may_bypass(database: &Database) -> bool {
    let ask = doc! { "connectionStatus": 1, "showPrivileges": true };
    let Ok(status) = database.run_command(ask).await else {
        return false;
    };
    let documents = |name: &str| {
        let list = status
            .get_document("authInfo")
            .and_then(|of| of.get_array(name));
        list.into_iter().flatten().filter_map(Bson::as_document)
    };
    let allows = |privilege: &Document| {
        let resource = privilege.get_document("resource");
        let is_of_database = resource.is_ok_and(|resource| {
            let is = |name: &str, value: &str| resource.get_str(name).is_ok_and(|of| of == value);
            let is_of_all = resource.get_bool("anyResource").unwrap_or(false);
            is_of_all || (is("collection", "") && (is("db", "") || is("db", database.name())))
        });
        let bypass = Bson::from("bypassDocumentValidation");
        let actions = privilege.get_array("actions");
        is_of_database && actions.is_ok_and(|actions| actions.contains(&bypass))
    };
    // A server without access control has no users.
    documents("authenticatedUsers").next().is_none()
        || documents("authenticatedUserPrivileges").any(allows)
}

async fn create(database: &Database, spec: &CollectionSpec, missing: Vec<Document>) -> Result<()> {
    let command = doc! { "createIndexes": &spec.name, "indexes": missing };
    match database.run_command(command).await {
        Ok(_) => Ok(()),
        Err(error) => match error.server_response() {
            Some(reply) if code_of(&error) == Some(11_000) => {
                Err(super::error::of_statement(&spec.name, reply))
            }
            _ => Err(translate(error, Some(About::collection(&spec.name)))),
        },
    }
}

async fn stored(database: &Database, collection: &str) -> Result<Vec<Stored>> {
    let list = database.run_cursor_command(doc! { "listIndexes": collection });
    let cursor = match list.await {
        Err(error) if code_of(&error) == Some(NAMESPACE_NOT_FOUND) => return Ok(Vec::new()),
        result => driver(result, About::collection(collection))?,
    };
    let listed: Vec<Document> = driver(cursor.try_collect().await, About::collection(collection))?;
    let stored = listed.into_iter().filter_map(|index| {
        let name = index.get_str("name").ok()?.to_owned();
        let mut options = doc! { "key": in_integers(index.get_document("key").ok()?) };
        if index.get_bool("unique").unwrap_or(false) {
            options.insert("unique", true);
        }
        // Some servers list the default collation of an index without one.
        let is_default = |name: &str, value: &Bson| {
            let of = value.as_document().map(|of| of.get_str("locale"));
            name == "collation" && of.is_some_and(|locale| locale.is_ok_and(|it| it == "simple"))
        };
        for name in ["partialFilterExpression", "collation", "sparse"] {
            if let Some(value) = index.get(name).filter(|value| !is_default(name, value)) {
                options.insert(name, value.clone());
            }
        }
        (name != "_id_").then_some(Stored { name, options })
    });
    Ok(stored.collect())
}

/// The directions of keys as integers. A server may return other numbers.
fn in_integers(key: &Document) -> Document {
    let directions = key.iter().map(|(path, direction)| {
        let direction = match direction {
            Bson::Int64(number) => Bson::Int32(number.signum() as i32),
            Bson::Double(number) => Bson::Int32(number.signum() as i32),
            other => other.clone(),
        };
        (path.clone(), direction)
    });
    directions.collect()
}

/// The options of an index on the server, without its name.
fn options(index: &IndexSpec) -> Document {
    let keys = index.keys.iter().map(|(path, direction)| {
        let direction = match direction {
            Direction::Ascending => 1,
            Direction::Descending => -1,
        };
        (path.clone(), Bson::Int32(direction))
    });
    let mut options = doc! { "key": keys.collect::<Document>() };
    if index.unique {
        options.insert("unique", true);
    }
    let mut filters: Vec<Document> = Vec::new();
    if index.present_only {
        filters.extend(index.keys.iter().map(|(path, _)| is_present(path)));
    }
    filters.extend(index.filter.as_ref().map(|filter| filter.to_document()));
    if !filters.is_empty() {
        options.insert("partialFilterExpression", all(filters));
    }
    options
}

/// A name that no index in `others` has.
fn free_name(declared: &str, others: &[Stored]) -> String {
    let is_taken = |name: &str| others.iter().any(|other| other.name == name);
    if !is_taken(declared) {
        return declared.to_owned();
    }
    let mut names = (2..).map(|number| format!("{declared}{MARK}{number}"));
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

pub(super) fn check_name(name: &str) -> Result<()> {
    match name.is_empty() || name.contains('\0') {
        true => Err(Error::new(
            ErrorKind::Schema,
            format!(
                "invalid name of a collection, an index or a field: {name:?} is empty or has a NUL"
            ),
        )),
        false => Ok(()),
    }
}

/// Refuses a partial index whose filter would match other documents on this server.
fn check_null(collection: &str, index: &IndexSpec) -> Result<()> {
    let filter = index.filter.as_ref().map(|filter| filter.to_document());
    let filter = filter.map(|filter| Filter::parse(&filter)).transpose()?;
    if !filter.is_some_and(|filter| null::is_other_index(&filter)) {
        return Ok(());
    }
    let message = format!(
        "index `{}` of `{collection}` compares a dotted path with null in its filter, which from MongoDB 9.0 on also matches where the \
         path ends at an array: leave this condition out, or compare a field at the root of the document",
        index.name
    );
    Err(Error::new(ErrorKind::Schema, message)
        .at(collection, None, None)
        .of_index(&index.name))
}

fn check_case(collection: &str, index: &IndexSpec) -> Result<()> {
    if index.case_insensitive {
        return Err(ignores_case(collection, index));
    }
    if index.collation.is_some() {
        let message = format!(
            "index `{}` of `{collection}` has a collation, which is not supported on MongoDB by this library",
            index.name
        );
        return Err(Error::new(ErrorKind::Schema, message).of_index(&index.name));
    }
    Ok(())
}

#[cold]
fn ignores_case(collection: &str, index: &IndexSpec) -> Error {
    let unique = if index.unique { "unique, " } else { "" };
    let paths: Vec<&str> = index.keys.iter().map(|(path, _)| path.as_str()).collect();
    let change = match paths[..] {
        [path] => {
            let name = path.rsplit('.').next().unwrap_or(path);
            let options = if index.unique { "(unique)" } else { "" };
            format!(
                "    - #[index({unique}case_insensitive)]\n      {name}: String,\n    + #[computed(fold_case(&{name}))]\n    + #[index{options}]\n    \
                 + {name}_folded: String,\n    - .{name}.eq_ignore_case(text)\n    + .{name}_folded.eq(odm::fold_case(text))"
            )
        }
        _ => {
            let folded: Vec<String> = paths.iter().map(|path| format!("{path}_folded")).collect();
            let [old, new] = [paths.join(", "), folded.join(", ")];
            format!(
                "    - index(fields = \"{old}\", {unique}case_insensitive)\n    + index(fields = \"{new}\"{})\nwhere each text has a \
                 field `#[computed(fold_case(&name))] name_folded: String` beside it",
                if index.unique { ", unique" } else { "" }
            )
        }
    };
    let message = format!(
        "index `{}` of `{collection}` ignores case, which a MongoDB server does by other rules; index a field with the folded text, \
         which opens on every store:\n{change}",
        index.name
    );
    Error::new(ErrorKind::Schema, message)
}

#[cold]
fn other_options(collection: &str, index: &IndexSpec) -> Error {
    let message = format!(
        "index `{}` of `{collection}` exists with other keys or options: remove it, or give the new one another name",
        index.name
    );
    Error::new(ErrorKind::Schema, message)
        .at(collection, None, None)
        .of_index(&index.name)
}
