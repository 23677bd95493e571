//! The versions of a database, and the check that several may be open on a store at once.
//!
//! A version that only makes additions which older programs may ignore keeps the *oldest version that may open*; any other version raises
//! it to itself. So a program of the version before goes on in a rolling deployment, or gets an error, and never misreads or overwrites
//! data of the new version.

use std::collections::BTreeSet;

use odm_store::{Error, ErrorKind, Reader, Result};

use super::{OWNER, Owner, RunningMigration, owner_id, owners};
use crate::catalog::{
    Declaration, Relations, join,
    models::{StoredModel, is_readable_by},
};

/// The stored state of a database.
#[derive(Debug, Clone)]
pub(crate) struct StoredDatabase {
    /// Its newest version.
    pub(crate) version: u32,
    /// The fields of its models, unless a library of an older format has stored them.
    pub(crate) models: Option<Vec<StoredModel>>,
    pub(crate) relations: Relations,
    pub(crate) migration: Option<RunningMigration>,
    /// Whether fields are pending because of a migration.
    pub(crate) is_unfinished: bool,
}

/// A database on the store, with the versions and collections that decide who may write.
#[derive(Debug, Clone)]
pub(crate) struct OwnerVersion {
    id: String,
    version: i64,
    oldest: i64,
    /// The collections that a migration changes.
    migrating: BTreeSet<String>,
}

/// Returns the stored state of a database.
pub(crate) async fn stored(reader: &dyn Reader, name: &str) -> Result<Option<StoredDatabase>> {
    let id = owner_id(name);
    let all = owners(reader).await?;
    let Some(mine) = all.into_iter().find(|owner| owner.id == id) else {
        return Ok(None);
    };
    let version = u32::try_from(mine.version).map_err(super::unreadable)?;
    Ok(Some(StoredDatabase {
        version,
        models: mine.models,
        relations: mine.relations,
        migration: mine.migration,
        is_unfinished: mine.unfinished,
    }))
}

/// The databases that were opened on the store, each with its newest version.
pub(crate) async fn declared_versions(reader: &dyn Reader) -> Result<Vec<(String, u32)>> {
    let all = owners(reader).await?.into_iter().map(|owner| {
        let version = u32::try_from(owner.version).map_err(super::unreadable)?;
        let name = owner.id.strip_prefix(OWNER).unwrap_or_default();
        Ok((name.to_owned(), version))
    });
    all.collect()
}

impl StoredDatabase {
    /// Whether documents have a field under its old name, and not under its new one. A document by an older library does not tell.
    pub(crate) fn is_before(&self, collection: &str, from: &str, to: &str) -> bool {
        let Some(models) = &self.models else {
            return true;
        };
        let mut models = models.iter().filter(|model| model.collection == collection);
        models.any(|model| model.has_field(from) && !model.has_field(to))
    }
}

/// Refuses a change of fields, each a collection and a path, that other databases declare as well.
///
/// # Errors
///
/// `Schema` that names the database.
pub(crate) async fn check_owned(
    reader: &dyn Reader,
    name: &str,
    touched: &[(String, String)],
) -> Result<()> {
    let id = owner_id(name);
    for other in owners(reader).await?.iter().filter(|owner| owner.id != id) {
        for field in touched {
            let (collection, path) = field;
            let mut models = other.models.iter().flatten();
            let is_named = models.any(|model| model.collection == *collection && model.names(path));
            if is_named
                || !other
                    .relations
                    .fields_about(std::slice::from_ref(field))
                    .is_empty()
            {
                return Err(Error::new(
                    ErrorKind::Schema,
                    format!(
                        "shared field: a step of `{name}` changes `{}`, which the {} declares as well; let that give it up for a version, or change what both know",
                        join(collection, path),
                        other.id
                    ),
                ));
            }
        }
    }
    Ok(())
}

impl OwnerVersion {
    pub(super) fn new(owner: &Owner) -> Self {
        OwnerVersion {
            id: owner.id.clone(),
            version: owner.version,
            oldest: owner.oldest(),
            migrating: match &owner.migration {
                Some(migration) => {
                    let names = owner.relations.collections.iter();
                    let names = names.map(|collection| collection.name.clone());
                    names.chain(migration.collections.clone()).collect()
                }
                None => BTreeSet::new(),
            },
        }
    }

    /// Refuses a program of a version that must not go on.
    ///
    /// # Errors
    ///
    /// `Schema` if it is older than the oldest version that may open.
    pub(crate) fn check_program(&self, name: &str, version: u32) -> Result<()> {
        if self.id != owner_id(name) || self.oldest <= version.into() {
            return Ok(());
        }
        Err(outdated(name, version, self.version.max(self.oldest)))
    }

    /// Refuses a write to a collection that is being migrated.
    ///
    /// # Errors
    ///
    /// `Migrating`.
    pub(crate) fn check_write(&self, collection: &str) -> Result<()> {
        if !self.migrating.contains(collection) {
            return Ok(());
        }
        let message = format!(
            "migration under way: the {} is being migrated to a newer version, and `{collection}` is one of \
             its collections; write again when the newer program has opened it",
            self.id
        );
        Err(Error::new(ErrorKind::Migrating, message).at(collection, None, None))
    }
}

impl Owner {
    /// The oldest version that may open.
    pub(super) fn oldest(&self) -> i64 {
        self.oldest.unwrap_or(self.version)
    }

    /// Whether a program of this older version may go on beside the newest.
    ///
    /// # Errors
    ///
    /// `Schema` if it may not.
    pub(super) fn admits_older(&self, declaration: &Declaration) -> Result<bool> {
        let version = i64::from(declaration.version);
        if self.version.max(self.oldest()) <= version {
            return Ok(false);
        }
        let knows_all = declaration
            .relations
            .fields_not_in(&self.relations)
            .is_empty();
        if version >= self.oldest() && knows_all {
            return Ok(true);
        }
        let newest = self.version.max(self.oldest());
        Err(outdated(&declaration.name, declaration.version, newest))
    }

    /// The oldest version that may open once a declaration replaces this owner's newest version.
    pub(super) fn oldest_beside(&self, declaration: &Declaration, next: &Owner) -> i64 {
        let version = i64::from(declaration.version);
        let is_readable = |models: &Vec<StoredModel>| is_readable_by(models, &declaration.models);
        let adds_only = self.models.as_ref().is_some_and(is_readable)
            && self.relations.fields_not_in(&next.relations).is_empty()
            && next.relations.splits == self.relations.splits
            && has_same_versions(&self.relations, &next.relations)
            && !has_new_unique_index(self, next);
        match adds_only {
            true => self.oldest(),
            false => version,
        }
    }
}

fn has_same_versions(before: &Relations, after: &Relations) -> bool {
    before.collections.iter().all(|collection| {
        let mut others = after.collections.iter();
        others.any(|other| {
            other.name == collection.name && other.write_fields == collection.write_fields
        })
    })
}

/// A new unique index can refuse writes of an older program.
fn has_new_unique_index(before: &Owner, after: &Owner) -> bool {
    let known = before.indexes.iter().flatten();
    let known: BTreeSet<_> = known.collect();
    let mut all = after.indexes.iter().flatten();
    all.any(|index| index.is_unique() && !known.contains(index))
}

fn outdated(name: &str, version: u32, newest: i64) -> Error {
    Error::new(
        ErrorKind::Schema,
        format!(
            "outdated models: version {newest} of the database `{name}` has been opened on this store, \
             and version {version} does not know what it declares; run the newer program"
        ),
    )
}
