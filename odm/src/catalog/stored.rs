//! The catalog in the store: the relations of each database that was opened on it, by name and
//! version, so that all programs that write to the store follow all of them, and the indexes that it
//! declares.
//!
//! `docs/format.md` describes the stored documents. Only to their collection does code outside of `maintain` write.

mod changing;
mod declare;
mod declare_as;
mod indexes;
mod migration;
mod rules;
mod staging;
mod versions;
mod views;
mod whole;

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use async_trait::async_trait;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, oid::ObjectId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub(crate) use self::{
    changing::Announcement,
    declare::{Prepared, declare, prepare, record_indexes},
    declare_as::declare_as,
    indexes::{OwnedIndex, restore_indexes},
    migration::{RunningMigration, advance, announce, begin, end_migration, running, withdraw},
    rules::{create_validated, set_rule},
    staging::{publish, stage},
    versions::{OwnerVersion, StoredDatabase, check_owned, declared_versions, stored},
    views::{drop_view, put_view},
    whole::{change_whole, create_in, declaring, declaring_index, drop_all},
};
use odm_mql::path;
use odm_store::{
    CollectionWrites, DocumentWrite, Durability, Error, ErrorKind, Find, Reader, ReaderExt, Result,
    Store, Transaction, UnitOfWork,
};

use self::views::views_among;
use super::{Catalog, Relations, copied::shown_fields, models::StoredModel};

/// The collection of the stored catalog.
pub(crate) const COLLECTION: &str = "_odm_catalog";

/// Whether a collection is the library's own.
pub(crate) fn is_own(collection: &str) -> bool {
    collection.starts_with("_odm")
}

/// The `_id` of the document that counts the changes of all others.
const EPOCH: &str = "epoch";

/// The format of the stored catalog. A library reads formats up to its own, and ignores fields that it does not know; a new kind of
/// relation or of document is a new format.
const FORMAT: i32 = 3;

/// The format of a catalog that has had a rule or a view: older libraries would not follow it.
const FORMAT_OF_RULES: i32 = 4;

/// The prefix of the `_id` of the document of a database.
const OWNER: &str = "database ";

/// The declarations of one database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Owner {
    /// The name of the database, after `database `.
    #[serde(rename = "_id")]
    id: String,
    version: i64,
    /// The oldest version that may be opened and go on. `None` if a library of an older format has stored the document: then no version
    /// before `version` may.
    #[serde(default)]
    oldest: Option<i64>,
    /// The fields of the models of its newest version. `None` if a library of an older format has stored
    /// the document.
    #[serde(default)]
    models: Option<Vec<StoredModel>>,
    /// The migration to a newer version that has begun.
    #[serde(default)]
    migration: Option<RunningMigration>,
    /// Whether fields are pending because of a migration, so that they are computed before the database can be used.
    #[serde(default)]
    unfinished: bool,
    #[serde(default)]
    relations: Relations,
    /// The indexes that its newest version declares, including the indexes for its relations. `None` if a library of format 1 has stored
    /// the document.
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
    /// The programs that are about to change the declarations, each by an `_id` of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changing: Vec<ObjectId>,
}

fn owner_id(name: &str) -> String {
    format!("{OWNER}{name}")
}

/// Records that all documents follow the declarations of these fields in a catalog. A field whose declaration has changed since is skipped.
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
    let documents = documents(reader).await?;
    let owners = owners_among(&documents)?;
    let pending = owners.iter().flat_map(|owner| owner.pending.clone());
    let pending = pending.collect();
    let epoch = stored_epoch(reader).await?;
    let catalog = Catalog::new(merged(&owners)?, pending, epoch.n)?;
    let catalog = catalog.with_owners(&owners)?;
    let catalog = catalog.with_rules(reader, &documents).await?;
    Ok(Catalog {
        views: views_among(&documents)?,
        is_changing: !epoch.changing.is_empty(),
        ..catalog
    })
}

impl Catalog {
    /// Whether the declarations did not change between two catalogs.
    pub(crate) fn is_same_epoch(&self, other: &Catalog) -> bool {
        self.epoch == other.epoch
    }

    /// Adds the versions of the owners that may write, the fields that their models name and show in subsets, and their unique indexes.
    fn with_owners(mut self, owners: &[Owner]) -> Result<Self> {
        self.owners = owners.iter().map(OwnerVersion::new).collect();
        for owner in owners {
            let models = owner.models.as_deref().unwrap_or_default();
            for (child, field) in shown_fields(&owner.relations, models) {
                let of = self.copied.entry(child).or_default();
                Arc::get_mut(of)
                    .expect("nobody else has it yet")
                    .push(field);
            }
        }
        for model in owners
            .iter()
            .flat_map(|owner| owner.models.iter().flatten())
        {
            let names = self.named.entry(model.collection.clone()).or_default();
            names.extend(model.top());
        }
        for index in owners
            .iter()
            .flat_map(|owner| owner.indexes.iter().flatten())
            .filter(|index| index.is_unique())
        {
            let of = self.unique.entry(index.collection.clone()).or_default();
            let spec = index.spec()?;
            if !of.contains(&spec) {
                of.push(spec);
            }
        }
        Ok(self)
    }
}

/// Lets a transaction follow a catalog. Returns whether it is in force, as far as that is known: on a store with locks, [`has_followed`]
/// checks that.
pub(crate) async fn follow(catalog: &Catalog, transaction: &mut dyn Transaction) -> Result<bool> {
    match transaction.locks() {
        Some(locks) => {
            locks.share_epoch(catalog.epoch);
            Ok(true)
        }
        None => is_current(catalog, &*transaction).await,
    }
}

/// Whether the catalog that a transaction has followed was in force. A store with locks checks that with a write, so that only a
/// transaction that wrote nothing costs a request.
pub(crate) async fn has_followed(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
) -> Result<bool> {
    match transaction.locks() {
        Some(locks) if locks.has_epoch() => is_current(catalog, &*transaction).await,
        _ => Ok(true),
    }
}

/// Whether an error may come from a catalog that is no longer in force. The transaction is lost, so a reader is used.
pub(crate) async fn is_outdated(catalog: &Catalog, store: &dyn Store, error: &Error) -> bool {
    // If the unit may be stored, or the server does not answer, no more can be found out.
    let can_ask = error.kind() != ErrorKind::Unavailable;
    if error.is_of_other_epoch() || store.capabilities().serializable || !can_ask {
        return error.is_of_other_epoch();
    }
    match store.reader() {
        Ok(reader) => is_current(catalog, &*reader)
            .await
            .is_ok_and(|is_current| !is_current),
        Err(_) => false,
    }
}

/// Begins a new epoch of a store whose own is lost: its documents were copied, and its locks were not.
pub(crate) async fn renew_epoch(store: &dyn Store) -> Result<()> {
    struct Renew;

    #[async_trait]
    impl UnitOfWork for Renew {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            next_epoch(transaction).await
        }
    }

    store.run(Arc::new(Renew), Durability::Immediate).await
}

/// Whether a catalog is in force.
pub(crate) async fn is_current(catalog: &Catalog, reader: &dyn Reader) -> Result<bool> {
    Ok(epoch(reader).await? == catalog.epoch)
}

/// Every unit of the embedded store reads the epoch, so the document is read without a copy.
async fn epoch(reader: &dyn Reader) -> Result<i64> {
    let (mut n, mut format) = (0, FORMAT);
    let each = &mut |_, document: &RawDocument| {
        n = document.get_i64("n").map_err(unreadable)?;
        format = document.get_i32("format").map_err(unreadable)?;
        Ok(ControlFlow::Break(()))
    };
    reader.get(COLLECTION, &[EPOCH.into()], each).await?;
    check_format(format)?;
    Ok(n)
}

async fn owners(reader: &dyn Reader) -> Result<Vec<Owner>> {
    owners_among(&documents(reader).await?)
}

/// All documents of the stored catalog.
async fn documents(reader: &dyn Reader) -> Result<Vec<RawDocumentBuf>> {
    // The format is checked before any other read.
    epoch(reader).await?;
    let find = Find {
        collection: COLLECTION.to_owned(),
        ..Find::default()
    };
    Ok(reader.find_all(&find).await?.0)
}

fn owners_among(documents: &[RawDocumentBuf]) -> Result<Vec<Owner>> {
    let owners = documents
        .iter()
        .filter(|document| has_id_of(document, OWNER));
    owners.map(|document| decode(document)).collect()
}

/// Whether the `_id` of a document begins with a prefix.
fn has_id_of(document: &RawDocument, prefix: &str) -> bool {
    let id = path::get(document, "_id").and_then(RawBsonRef::as_str);
    id.is_some_and(|id| id.starts_with(prefix))
}

fn decode<T: DeserializeOwned>(document: &RawDocument) -> Result<T> {
    odm_store::decode(document.as_bytes()).map_err(unreadable)
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

/// Writes a record into the stored catalog.
async fn put(
    transaction: &mut dyn Transaction,
    id: &str,
    record: &(dyn erased_serde::Serialize + Sync),
) -> Result<()> {
    let after = odm_store::encode(record).map_err(Error::malformed)?;
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

/// Removes a document of the stored catalog, and returns it.
async fn remove(transaction: &mut dyn Transaction, id: &str) -> Result<Option<RawDocumentBuf>> {
    let (stored, _) = transaction.get_one(COLLECTION, &id.into()).await?;
    let Some(stored) = stored else {
        return Ok(None);
    };
    let batch = CollectionWrites {
        collection: COLLECTION,
        writes: vec![DocumentWrite::Remove(&stored)],
    };
    transaction.apply(&[batch]).await?;
    Ok(Some(stored))
}

/// Begins a new epoch, which aborts all units that follow the previous catalog.
async fn next_epoch(transaction: &mut dyn Transaction) -> Result<()> {
    change_epoch(transaction, |_| ()).await
}

/// Begins a new epoch, in which no library goes on that does not know rules and views.
async fn next_epoch_with_rules(transaction: &mut dyn Transaction) -> Result<()> {
    change_epoch(transaction, |epoch| epoch.format = FORMAT_OF_RULES).await
}

/// Begins another epoch, with other announcements.
async fn change_epoch(
    transaction: &mut dyn Transaction,
    change: impl FnOnce(&mut Epoch) + Send,
) -> Result<()> {
    let mut epoch = stored_epoch(&*transaction).await?;
    change(&mut epoch);
    put_next_epoch(transaction, epoch).await
}

/// Begins the epoch after this one.
async fn put_next_epoch(transaction: &mut dyn Transaction, mut epoch: Epoch) -> Result<()> {
    epoch.format = epoch.format.max(FORMAT);
    // Epochs are only compared for equality.
    epoch.n = epoch.n.wrapping_add(1);
    if let Some(locks) = transaction.locks() {
        locks.begin_epoch(epoch.n);
    }
    put(transaction, EPOCH, &epoch).await
}

/// The whole document of the epoch.
async fn stored_epoch(reader: &dyn Reader) -> Result<Epoch> {
    let (stored, _) = reader.get_one(COLLECTION, &EPOCH.into()).await?;
    let Some(stored) = stored else {
        return Ok(Epoch {
            id: EPOCH.to_owned(),
            format: FORMAT,
            n: 0,
            changing: Vec::new(),
        });
    };
    check_format(stored.get_i32("format").map_err(unreadable)?)?;
    decode(&stored)
}

/// Refuses a newer format of the stored catalog, before reading it as an older one.
fn check_format(format: i32) -> Result<()> {
    if format <= FORMAT_OF_RULES {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Schema,
        format!(
            "unknown format: the stored catalog has the format {format}, and this version of the \
             library reads formats up to {FORMAT_OF_RULES}; use a newer version of the library"
        ),
    ))
}
