//! The catalog in the store: the relations of each database that was opened on it, by name and
//! version, so that all programs that write to the store follow all of them, and the indexes that it
//! declares.
//!
//! `docs/format.md` describes the stored documents. Their collection is the only one to which anything
//! but `maintain` writes.

mod indexes;

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub(crate) use self::indexes::OwnedIndex;
use super::{Catalog, Relations, Split, graph, relations::DeclaredField};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::path,
    store::{
        CollectionSpec, CollectionWrites, DocumentWrite, Durability, Find, Reader, ReaderExt,
        Store, Transaction, UnitOfWork,
    },
};

/// The collection of the stored catalog.
const COLLECTION: &str = "_odm_catalog";

/// The `_id` of the document that counts the changes of all others.
const EPOCH: &str = "epoch";

/// The format of the stored catalog. A library reads formats up to its own, and fields that it does
/// not know are ignored; a new kind of relation or of document is a new format.
const FORMAT: i32 = 2;

/// What the `_id` of the document of a database begins with.
const OWNER: &str = "database ";

/// What one database has declared.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Owner {
    /// The name of the database, after `database `.
    #[serde(rename = "_id")]
    id: String,
    version: i64,
    #[serde(default)]
    relations: Relations,
    /// The indexes that its newest version declares, those that its relations need among them. `None`
    /// if a library of format 1 has stored the document.
    #[serde(default)]
    indexes: Option<BTreeSet<OwnedIndex>>,
    /// The fields that older documents may not follow yet, as `collection.path`.
    #[serde(default)]
    pending: BTreeSet<String>,
}

/// The epoch of the catalog: it grows with each change.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Epoch {
    #[serde(rename = "_id")]
    id: String,
    format: i32,
    n: i64,
}

fn owner_id(name: &str) -> String {
    format!("{OWNER}{name}")
}

/// What a store has to have when a database is declared on it.
pub(crate) struct Prepared {
    /// The collections, with all indexes in force and those that are obsolete, for [`Store::ensure`].
    pub(crate) collections: Vec<CollectionSpec>,
    /// The obsolete ones that the database itself has declared until now.
    pub(crate) retired: BTreeSet<OwnedIndex>,
}

/// Checks whether what a database declares fits together with what is declared on a store, and returns
/// what the store has to have for it.
///
/// # Errors
///
/// `Schema`, as [`declare`] finds it, before anything is stored.
pub(crate) async fn prepare(
    store: &dyn Store,
    name: &str,
    version: u32,
    relations: &Relations,
    specs: &[CollectionSpec],
) -> Result<Prepared> {
    let declare = Declare::new(name, version, relations.clone(), specs);
    let reader = store.reader()?;
    let mut owners = owners(&*reader).await?;
    let own = owners.iter().position(|owner| owner.id == owner_id(name));
    let mine = own.map(|at| owners.swap_remove(at));
    declare.check_version(mine.as_ref())?;
    owners.push(declare.owner(BTreeSet::new()));
    Catalog::new(merged(&owners)?, BTreeSet::new(), 0)?;
    let made = indexes::made(&*reader).await?;
    let in_force = indexes::in_force(&owners)?;
    let mut retired = indexes::obsolete(&owners, &in_force, &made);
    let collections = indexes::wanted(specs, &in_force, &retired);
    let declared = mine.and_then(|mine| mine.indexes).unwrap_or_default();
    retired.retain(|index| declared.contains(index));
    if !declare.indexes.is_subset(&made) {
        let announce = Arc::new(Announce(declare.indexes));
        store.run(announce, Durability::Immediate).await?;
    }
    Ok(Prepared {
        collections,
        retired,
    })
}

/// Records indexes as made before they are, so that one whose declaration comes to nothing, by an
/// error or a crash, is known to be obsolete.
struct Announce(BTreeSet<OwnedIndex>);

#[async_trait]
impl UnitOfWork for Announce {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut made = indexes::made(&*transaction).await?;
        made.extend(self.0.iter().cloned());
        indexes::put_made(transaction, made).await?;
        next_epoch(transaction).await
    }
}

/// Declares the relations of a database and its indexes, which the store has now, and returns the
/// catalog that is in force from now on.
///
/// # Errors
///
/// `Schema` if a newer version of the database has been opened here, or another database declares a
/// field or an index differently.
pub(crate) async fn declare(
    store: &dyn Store,
    name: &str,
    version: u32,
    relations: Relations,
    specs: &[CollectionSpec],
) -> Result<Catalog> {
    let declare = Arc::new(Declare::new(name, version, relations, specs));
    store.run(declare.clone(), Durability::Immediate).await?;
    let catalog = declare
        .catalog
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    catalog.ok_or_else(|| Error::new(ErrorKind::Closed, "the store did not run the unit"))
}

struct Declare {
    name: String,
    version: i64,
    relations: Relations,
    indexes: BTreeSet<OwnedIndex>,
    /// The result of the last run.
    catalog: Mutex<Option<Catalog>>,
}

#[async_trait]
impl UnitOfWork for Declare {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let id = owner_id(&self.name);
        let owners = owners(&*transaction).await?;
        let mine = owners.iter().find(|owner| owner.id == id);
        self.check_version(mine)?;
        let is_new = mine.is_none_or(|mine| {
            mine.relations != self.relations
                || mine.version < self.version
                || mine.indexes.as_ref() != Some(&self.indexes)
        });
        if is_new {
            let pending = self.pending(&*transaction, &owners).await?;
            let owner = self.owner(pending);
            put(transaction, &owner.id, &owner).await?;
        }
        let has_forgotten = indexes::forget_obsolete(transaction).await?;
        if is_new || has_forgotten {
            next_epoch(transaction).await?;
        }
        let catalog = load(&*transaction).await?;
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
        Ok(())
    }
}

impl Declare {
    fn new(name: &str, version: u32, relations: Relations, specs: &[CollectionSpec]) -> Self {
        Declare {
            name: name.to_owned(),
            version: version.into(),
            relations,
            indexes: indexes::all_of(specs),
            catalog: Mutex::new(None),
        }
    }

    /// The database as it is stored.
    fn owner(&self, pending: BTreeSet<String>) -> Owner {
        Owner {
            id: owner_id(&self.name),
            version: self.version,
            relations: self.relations.clone(),
            indexes: Some(self.indexes.clone()),
            pending,
        }
    }

    fn check_version(&self, mine: Option<&Owner>) -> Result<()> {
        let Some(mine) = mine else {
            return Ok(());
        };
        if mine.version > self.version {
            return Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "outdated models: version {} of the database `{}` has been opened on this store, \
                     and version {} does not know what it declares; run the newer program",
                    mine.version, self.name, self.version
                ),
            ));
        }
        let fields = mine.relations.fields_not_in(&self.relations);
        let is_filter = fields
            .first()
            .is_some_and(|field| is_filter_other(&mine.relations, &self.relations, field));
        let fields = fields.into_iter();
        let indexes = mine.indexes.iter().flatten();
        let indexes = indexes.filter(|index| !self.indexes.contains(index));
        let mut gone = fields
            .map(|field| format!("`{field}`"))
            .chain(indexes.map(|index| format!("the {index}")));
        match gone.next() {
            Some(gone) if mine.version == self.version => Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "the models of `{}` changed without a new version: version {} has declared \
                     {gone} on this store differently; {}",
                    self.name,
                    self.version,
                    match is_filter {
                        true =>
                            "increase `version` if its filter changed. If it did not: a filter has to be \
                             a constant, and what holds the time is another filter at each open",
                        false => "increase `version`",
                    }
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The fields that older documents may not follow: those that are declared anew over documents
    /// that exist, those that were pending before, and all that follow from one of them.
    async fn pending(&self, reader: &dyn Reader, owners: &[Owner]) -> Result<BTreeSet<String>> {
        let declared = self.relations.fields();
        let left = owners.iter().flat_map(|owner| owner.pending.clone());
        let mut pending: BTreeSet<String> = left.filter(|field| declared.contains(field)).collect();
        let (in_cold_parts, others): (Vec<String>, Vec<String>) = self
            .relations
            .fields_not_in(&merged(owners)?)
            .into_iter()
            .partition(|field| self.split_of(field).is_some());
        // What is in cold parts comes last: documents that are not divided yet hold theirs inline.
        for field in others.into_iter().chain(in_cold_parts) {
            let find = Find {
                collection: self.relations.holder_of(&field).to_owned(),
                limit: Some(1),
                ..Find::default()
            };
            let is_inline = self
                .split_of(&field)
                .is_some_and(|split| pending.contains(&split.name()));
            if is_inline || reader.count(&find).await?.0 > 0 {
                pending.insert(field);
            }
        }
        graph::close_over_dependents(&self.relations.derived, &mut pending);
        Ok(pending)
    }

    /// The split in whose cold parts a field is.
    fn split_of(&self, field: &str) -> Option<&Split> {
        let holder = self.relations.holder_of(field);
        let mut splits = self.relations.splits.iter();
        splits.find(|split| split.cold == holder)
    }
}

/// Whether two declarations of a field have different filters.
fn is_filter_other(one: &Relations, other: &Relations, field: &str) -> bool {
    let filter = |relations: &Relations| relations.derived(field)?.filter().cloned();
    let filters = (filter(one), filter(other));
    matches!(filters, (Some(one), Some(other)) if one != other)
}

/// Records that all documents follow what a catalog declares of these fields. A field that is declared
/// otherwise by now stays as it is.
pub(crate) async fn complete(
    store: &dyn Store,
    catalog: &Catalog,
    fields: BTreeSet<String>,
) -> Result<()> {
    let complete = Complete {
        fields,
        declared: catalog.relations.clone(),
    };
    store.run(Arc::new(complete), Durability::Immediate).await
}

struct Complete {
    fields: BTreeSet<String>,
    declared: Relations,
}

#[async_trait]
impl UnitOfWork for Complete {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let owners = owners(&*transaction).await?;
        let changed = merged(&owners)?.fields_not_in(&self.declared);
        let is_complete = |field: &String| self.fields.contains(field) && !changed.contains(field);
        for mut owner in owners {
            let before = owner.pending.len();
            owner.pending.retain(|field| !is_complete(field));
            if owner.pending.len() < before {
                put(transaction, &owner.id, &owner).await?;
            }
        }
        next_epoch(transaction).await
    }
}

/// Reads the catalog that is in force.
pub(crate) async fn load(reader: &dyn Reader) -> Result<Catalog> {
    let owners = owners(reader).await?;
    let pending = owners.iter().flat_map(|owner| owner.pending.clone());
    let pending = pending.collect();
    let epoch = epoch(reader).await?;
    Catalog::new(merged(&owners)?, pending, epoch)
}

/// Whether a catalog is the one that is in force.
pub(crate) async fn is_current(catalog: &Catalog, reader: &dyn Reader) -> Result<bool> {
    Ok(epoch(reader).await? == catalog.epoch)
}

/// Every unit asks for the epoch, so the document is read without a copy.
async fn epoch(reader: &dyn Reader) -> Result<i64> {
    let (mut n, mut format) = (0, FORMAT);
    let each = &mut |_, document: &RawDocument| {
        n = document.get_i64("n").map_err(unreadable)?;
        format = document.get_i32("format").map_err(unreadable)?;
        Ok(ControlFlow::Break(()))
    };
    reader.get(COLLECTION, &[EPOCH.into()], each).await?;
    if format <= FORMAT {
        return Ok(n);
    }
    Err(Error::new(
        ErrorKind::Schema,
        format!(
            "unknown format: the stored catalog has the format {format}, and this version of the \
             library reads formats up to {FORMAT}; use a newer version of the library"
        ),
    ))
}

async fn owners(reader: &dyn Reader) -> Result<Vec<Owner>> {
    // The format is checked before anything is read by it.
    epoch(reader).await?;
    let find = Find {
        collection: COLLECTION.to_owned(),
        ..Find::default()
    };
    let (documents, _) = reader.find_all(&find).await?;
    let is_owner = |document: &&RawDocumentBuf| {
        let id = path::get(document, "_id").and_then(RawBsonRef::as_str);
        id.is_some_and(|id| id.starts_with(OWNER))
    };
    let owners = documents.iter().filter(is_owner);
    owners.map(|document| decode(document)).collect()
}

fn decode<T: DeserializeOwned>(document: &RawDocument) -> Result<T> {
    bson::deserialize_from_slice(document.as_bytes()).map_err(unreadable)
}

fn unreadable(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    let message = "unreadable catalog: a document of `_odm_catalog` is not what this version of the \
                   library writes; use a newer version of the library";
    Error::new(ErrorKind::Schema, message).with_source(source)
}

fn merged(owners: &[Owner]) -> Result<Relations> {
    let mut all = Relations::default();
    for owner in owners {
        all.merge(owner.relations.clone()).map_err(|conflict| {
            let message = format!("conflicting declarations: the {} {conflict}", owner.id);
            Error::new(ErrorKind::Schema, message)
        })?;
    }
    Ok(all)
}

async fn put<T: Serialize>(transaction: &mut dyn Transaction, id: &str, value: &T) -> Result<()> {
    let after: RawDocumentBuf =
        bson::serialize_to_raw_document_buf(value).map_err(Error::malformed)?;
    let (before, _) = transaction.get_one(COLLECTION, &id.into()).await?;
    let write = match &before {
        None => DocumentWrite::Insert(&after),
        Some(before) => DocumentWrite::Replace {
            before,
            after: &after,
        },
    };
    let batch = CollectionWrites {
        collection: COLLECTION,
        writes: vec![write],
    };
    transaction.apply(&[batch]).await.map(drop)
}

async fn next_epoch(transaction: &mut dyn Transaction) -> Result<()> {
    let epoch = Epoch {
        id: EPOCH.to_owned(),
        format: FORMAT,
        n: epoch(&*transaction).await? + 1,
    };
    put(transaction, EPOCH, &epoch).await
}
