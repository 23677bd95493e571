//! The catalog in the store: the relations of each database that was opened on it, by name and
//! version, so that all that write to the store follow all of them.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use serde::{Deserialize, Serialize};

use super::{Catalog, Relations};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{Filter, Sort, Test, path},
    store::{
        Change, CollectionSpec, Durability, Find, Reader, Store, Transaction, UnitOfWork,
        UpdateWrite,
    },
};

/// Where it is stored.
const COLLECTION: &str = "_odm_catalog";

/// The `_id` of the document that counts the changes of all others.
const STAMP: &str = "stamp";

/// What one database has declared.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Owner {
    /// The name of the database, after `database `.
    #[serde(rename = "_id")]
    id: String,
    version: i64,
    relations: Relations,
    /// The places that older documents may not follow yet.
    building: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Stamp {
    #[serde(rename = "_id")]
    id: String,
    n: i64,
}

fn owner_id(name: &str) -> String {
    format!("database {name}")
}

/// The collection of the catalog itself.
pub(crate) fn spec() -> CollectionSpec {
    CollectionSpec {
        name: COLLECTION.to_owned(),
        indexes: Vec::new(),
    }
}

/// Declares the relations of a database, and gives the catalog that is in force from now on.
///
/// # Errors
///
/// `Schema` if a newer version of the database has been here, or another one has said something else.
pub(crate) async fn declare(
    store: &dyn Store,
    name: &str,
    version: u32,
    relations: Relations,
) -> Result<Catalog> {
    let declare = Arc::new(Declare {
        name: name.to_owned(),
        version: version.into(),
        relations,
        catalog: Mutex::new(None),
    });
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
    /// What came of it.
    catalog: Mutex<Option<Catalog>>,
}

#[async_trait]
impl UnitOfWork for Declare {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let id = owner_id(&self.name);
        let owners = owners(&*transaction).await?;
        let mine = owners.iter().find(|owner| owner.id == id);
        if let Some(newer) = mine.filter(|mine| mine.version > self.version) {
            return Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "version {} of the database `{}` has been opened here, and version {} is older: \
                     it could not keep what the newer one declares",
                    newer.version, self.name, self.version
                ),
            ));
        }
        if let Some(mine) = mine.filter(|mine| mine.version == self.version)
            && let Some(place) = mine.relations.beyond(&self.relations).into_iter().next()
        {
            return Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "version {} of the database `{}` has declared `{place}` here, and this one of the \
                     same version does not, or otherwise: raise its version",
                    self.version, self.name
                ),
            ));
        }
        if mine.is_none_or(|mine| mine.relations != self.relations || mine.version < self.version) {
            let before = merged(&owners)?;
            let mut building = self.new_over_old(&*transaction, &before).await?;
            // What was not complete before is not complete now.
            let places = self.relations.places();
            let left = owners.iter().flat_map(|owner| owner.building.clone());
            building.extend(left.filter(|place| places.contains(place)));
            let owner = Owner {
                id,
                version: self.version,
                relations: self.relations.clone(),
                building,
            };
            put(transaction, &owner.id, &owner).await?;
            count_change(transaction).await?;
        }
        let catalog = load(&*transaction).await?;
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
        Ok(())
    }
}

impl Declare {
    /// The places where something is declared anew over documents that are there already.
    async fn new_over_old(
        &self,
        reader: &dyn Reader,
        before: &Relations,
    ) -> Result<BTreeSet<String>> {
        let mut building = BTreeSet::new();
        for place in self.relations.beyond(before) {
            let find = Find {
                collection: self.relations.holder(&place).to_owned(),
                limit: Some(1),
                ..Find::default()
            };
            if reader.count(&find).await?.0 > 0 {
                building.insert(place);
            }
        }
        Ok(building)
    }
}

/// Takes note that all documents follow what is declared at these places.
pub(crate) async fn complete(store: &dyn Store, places: BTreeSet<String>) -> Result<()> {
    store
        .run(Arc::new(Complete(places)), Durability::Immediate)
        .await
}

struct Complete(BTreeSet<String>);

#[async_trait]
impl UnitOfWork for Complete {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for mut owner in owners(&*transaction).await? {
            let before = owner.building.len();
            owner.building.retain(|place| !self.0.contains(place));
            if owner.building.len() < before {
                put(transaction, &owner.id, &owner).await?;
            }
        }
        count_change(transaction).await
    }
}

/// The catalog that is in force.
pub(crate) async fn load(reader: &dyn Reader) -> Result<Catalog> {
    let owners = owners(reader).await?;
    let building = owners.iter().flat_map(|owner| owner.building.clone());
    let building = building.collect();
    let stamp = stamp(reader).await?;
    Catalog::of(merged(&owners)?, building, stamp)
}

/// Whether a catalog is the one that is in force.
pub(crate) async fn is_current(catalog: &Catalog, reader: &dyn Reader) -> Result<bool> {
    Ok(stamp(reader).await? == catalog.stamp)
}

async fn stamp(reader: &dyn Reader) -> Result<i64> {
    let mut stamp = 0;
    let each = &mut |_, document: &RawDocument| {
        stamp = document.get_i64("n").unwrap_or_default();
        Ok(ControlFlow::Break(()))
    };
    reader.get(COLLECTION, &[STAMP.into()], each).await?;
    Ok(stamp)
}

async fn owners(reader: &dyn Reader) -> Result<Vec<Owner>> {
    let find = Find {
        collection: COLLECTION.to_owned(),
        ..Find::default()
    };
    let mut owners = Vec::new();
    let each = &mut |_, document: &RawDocument| {
        if path::get(document, "_id") != Some(RawBson::from(STAMP).as_raw_bson_ref()) {
            let owner: Owner = bson::deserialize_from_slice(document.as_bytes()).map_err(|error| {
                let message = "the stored catalog cannot be read: a newer version of the library may \
                               have written it";
                Error::new(ErrorKind::Schema, message).with_source(error)
            })?;
            owners.push(owner);
        }
        Ok(ControlFlow::Continue(()))
    };
    reader.find(&find, each).await?;
    Ok(owners)
}

fn merged(owners: &[Owner]) -> Result<Relations> {
    let mut all = Relations::default();
    for owner in owners {
        all.add(owner.relations.clone()).map_err(|place| {
            Error::new(
                ErrorKind::Schema,
                format!(
                    "the {} declares `{place}` otherwise than another database on the same store: \
                     let them declare the same",
                    owner.id
                ),
            )
        })?;
    }
    Ok(all)
}

async fn put<T: Serialize>(transaction: &mut dyn Transaction, id: &str, value: &T) -> Result<()> {
    let document: RawDocumentBuf =
        bson::serialize_to_raw_document_buf(value).map_err(Error::malformed)?;
    let write = UpdateWrite {
        collection: COLLECTION.to_owned(),
        filter: Filter::Path("_id".into(), Test::Eq(id.into())),
        sort: Sort::default(),
        change: Change::Replace(document),
        multi: false,
        upsert: true,
    };
    transaction.update(&write).await.map(drop)
}

async fn count_change(transaction: &mut dyn Transaction) -> Result<()> {
    let n = stamp(&*transaction).await? + 1;
    let id = STAMP.to_owned();
    put(transaction, STAMP, &Stamp { id, n }).await
}
