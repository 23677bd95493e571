//! The declaration of a version of a database in the stored catalog.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::oid::ObjectId;
use odm_store::{
    CollectionSpec, Durability, Error, ErrorKind, Find, IndexSpec, Reader, Result, Store,
    Transaction, UnitOfWork,
};

use super::{
    Owner, RunningMigration, changing::Announcement, documents, epoch, indexes,
    indexes::OwnedIndex, load, merged, migration::withdrawn, owner_id, owners, owners_among, put,
    put_next_epoch, stored_epoch, views::refuse_views,
};
use crate::catalog::{
    Catalog, Declaration, Relations, Split, graph, pending::unreadable_pending,
    relations::DeclaredField,
};

/// The collections and indexes that a store needs before a database is declared on it.
pub(crate) enum Prepared {
    /// None: a newer version is in force, beside which this one may go on.
    Older,
    /// The declarations of this version.
    Newest {
        /// The collections, with all indexes in force and all obsolete ones, for [`Store::ensure`].
        collections: Vec<CollectionSpec>,
        /// The obsolete indexes that the database itself has declared until now.
        retired: BTreeSet<OwnedIndex>,
        /// The indexes that no database has declared until now, each with its collection.
        new_indexes: Vec<(String, IndexSpec)>,
        /// Whether it declares indexes that are not recorded as made.
        has_unrecorded: bool,
        /// Whether documents cannot be read before derived fields are computed in them.
        must_backfill: bool,
        /// Whether its declarations differ from the ones in force, while other programs may write.
        is_change: bool,
    },
}

/// Checks whether the declarations of a database are compatible with the declarations on a store, and returns the collections and indexes
/// that the store needs. Nothing is written.
///
/// # Errors
///
/// `Schema`, as [`declare`] finds it, before anything is stored, and unless it may backfill, if documents cannot
/// be read before fields are computed in them.
pub(crate) async fn prepare(
    reader: &dyn Reader,
    declaration: &Declaration,
    may_backfill: bool,
) -> Result<Prepared> {
    let Some(Fitting { owners, mine }) = check_declaration(reader, declaration).await? else {
        return Ok(Prepared::Older);
    };
    let has_others = owners.len() > 1 || mine.is_some();
    let own = owners.last();
    let is_change = has_others && own.is_some_and(|own| own.differs_from(mine.as_ref()));
    let mut backfilled = BTreeSet::new();
    if is_change || !may_backfill {
        let mut before = owners.clone();
        before.pop();
        before.extend(mine.clone());
        let declare = Declare::new(declaration.clone(), Vec::new());
        let pending = declare.pending(reader, &before).await?;
        backfilled = unreadable_pending(&declaration.relations, &pending);
    }
    if !may_backfill {
        refuse_unreadable(&backfilled)?;
    }
    let made = indexes::made(reader).await?;
    let in_force = indexes::in_force(&owners)?;
    let others = owners.iter().take(owners.len() - 1);
    let has_unrecorded = !indexes::all_of(&declaration.specs).is_subset(&made);
    let new_indexes = indexes::new(&in_force, others.chain(&mine))?;
    let mut retired = indexes::obsolete(&owners, &in_force, &made);
    let collections = indexes::wanted(&declaration.specs, &in_force, &retired)?;
    let declared = mine.and_then(|mine| mine.indexes).unwrap_or_default();
    retired.retain(|index| declared.contains(index));
    Ok(Prepared::Newest {
        collections,
        retired,
        new_indexes,
        has_unrecorded,
        must_backfill: is_change && !backfilled.is_empty(),
        is_change,
    })
}

/// Records the indexes of a declaration as made, before the store makes them.
pub(crate) async fn record_indexes(store: &dyn Store, declaration: &Declaration) -> Result<()> {
    let record = Arc::new(RecordIndexes(indexes::all_of(&declaration.specs)));
    store.run(record, Durability::Immediate).await
}

impl Owner {
    /// Whether its declarations have changed.
    fn differs_from(&self, before: Option<&Owner>) -> bool {
        before.is_none_or(|before| {
            let pending = self.pending.clone();
            Owner {
                pending,
                ..before.clone()
            } != *self
        })
    }
}

fn refuse_unreadable(fields: &BTreeSet<String>) -> Result<()> {
    if fields.is_empty() {
        return Ok(());
    }
    let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    Err(Error::new(
        ErrorKind::Schema,
        format!(
            "backfill refused: documents from before cannot be read until {} are computed in them; nothing \
             has changed: open the database without `refuse_backfill`, or make the fields `Option`s",
            fields.join(", ")
        ),
    ))
}

/// The declarations on a store, with a compatible new one.
struct Fitting {
    /// All databases; this one, with its new declaration, is the last.
    owners: Vec<Owner>,
    /// The declaration of the database until now.
    mine: Option<Owner>,
}

/// Checks whether the declarations of a database are compatible with the declarations on a store. `None` if a newer version is in force,
/// beside which this one may go on.
///
/// # Errors
///
/// `Schema`, as [`declare`] finds it.
async fn check_declaration(
    reader: &dyn Reader,
    declaration: &Declaration,
) -> Result<Option<Fitting>> {
    let declare = Declare::new(declaration.clone(), Vec::new());
    let documents = documents(reader).await?;
    let mut owners = owners_among(&documents)?;
    let id = owner_id(&declaration.name);
    let own = owners.iter().position(|owner| owner.id == id);
    let mine = own.map(|at| owners.swap_remove(at));
    if let Some(mine) = &mine
        && mine.admits_older(declaration)?
    {
        return Ok(None);
    }
    declare.check_same_version(mine.as_ref())?;
    let own = declare.owner(mine.as_ref());
    refuse_views(&documents, &own)?;
    owners.push(own);
    Catalog::new(merged(&owners)?, BTreeSet::new(), 0)?;
    indexes::in_force(&owners)?;
    Ok(Some(Fitting { owners, mine }))
}

/// Records indexes as made before they are, so that an index whose declaration fails, by an error or a crash, is known to be obsolete.
pub(super) struct RecordIndexes(pub(super) BTreeSet<OwnedIndex>);

#[async_trait]
impl UnitOfWork for RecordIndexes {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        // No unit depends on it, so no new epoch begins; the format is checked before any other read.
        epoch(&*transaction).await?;
        let mut made = indexes::made(&*transaction).await?;
        made.extend(self.0.iter().cloned());
        indexes::put_made(transaction, made).await
    }
}

/// Declares the relations of a database and its indexes, which the store has now, and returns the catalog that is in force from now on.
/// Fields derived from the fields `touched`, each a collection and a path, are pending: a migration has changed them.
///
/// # Errors
///
/// `Migrating` if the migration that it has `announced`, and that has not begun, was withdrawn; `Schema` if a newer version of the database has been opened here, or another database declares a
/// field or an index differently.
pub(crate) async fn declare(
    store: &dyn Store,
    declaration: Declaration,
    touched: Vec<(String, String)>,
    announcement: &mut Option<Announcement>,
    announced: Option<ObjectId>,
) -> Result<Catalog> {
    let must_announce = store.capabilities().single_document_writes.is_some();
    loop {
        let declare = Arc::new(Declare {
            announcement: *announcement,
            must_announce,
            announced,
            ..Declare::new(declaration.clone(), touched.clone())
        });
        store.run(declare.clone(), Durability::Immediate).await?;
        let catalog = declare.catalog.lock();
        if let Some(catalog) = catalog.unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(catalog);
        }
        if !must_announce {
            return Err(Error::new(
                ErrorKind::Closed,
                "the store did not run the unit",
            ));
        }
        // Another program has declared its database since, on a store without databases, or the announcement was taken for an old one.
        *announcement = Announcement::make(store).await?;
    }
}

struct Declare {
    declaration: Declaration,
    indexes: BTreeSet<OwnedIndex>,
    touched: Vec<(String, String)>,
    announcement: Option<Announcement>,
    /// Whether other programs run single writes, so that a change is announced before.
    must_announce: bool,
    /// The migration that it has announced, and that has not begun.
    announced: Option<ObjectId>,
    /// The result of the last run; `None` if a change was not announced.
    catalog: Mutex<Option<Catalog>>,
}

#[async_trait]
impl UnitOfWork for Declare {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let id = owner_id(&self.declaration.name);
        let owners = owners(&*transaction).await?;
        let mine = owners.iter().find(|owner| owner.id == id);
        let is_older = match mine {
            Some(mine) => mine.admits_older(&self.declaration)?,
            None => false,
        };
        let mut is_changed = false;
        if !is_older {
            self.check_same_version(mine)?;
            let migration = mine.and_then(|mine| mine.migration.as_ref());
            if self.announced.is_some() && migration.and_then(|of| of.announced) != self.announced {
                return Err(withdrawn(&self.declaration.name));
            }
            let mut owner = self.owner(mine);
            let is_new = owner.differs_from(mine);
            if is_new && !owners.is_empty() && !self.is_announced(&*transaction).await? {
                return Ok(());
            }
            if is_new {
                owner.pending = self.pending(&*transaction, &owners).await?;
                put(transaction, &owner.id, &owner).await?;
            }
            let has_forgotten = indexes::forget_obsolete(transaction).await?;
            is_changed = is_new || has_forgotten;
        }
        let mut epoch = stored_epoch(&*transaction).await?;
        let announced = epoch.changing.len();
        Announcement::end(self.announcement, &mut epoch);
        if is_changed || epoch.changing.len() < announced {
            put_next_epoch(transaction, epoch).await?;
        }
        let catalog = load(&*transaction).await?;
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
        Ok(())
    }
}

impl Declare {
    fn new(declaration: Declaration, touched: Vec<(String, String)>) -> Self {
        Declare {
            indexes: indexes::all_of(&declaration.specs),
            declaration,
            touched,
            announcement: None,
            must_announce: false,
            announced: None,
            catalog: Mutex::new(None),
        }
    }

    async fn is_announced(&self, reader: &dyn Reader) -> Result<bool> {
        match self.announcement {
            Some(announcement) => announcement.stands(reader).await,
            None => Ok(!self.must_announce),
        }
    }

    /// The database as it is stored, without its pending fields.
    fn owner(&self, mine: Option<&Owner>) -> Owner {
        let declaration = &self.declaration;
        let migration = mine.and_then(|mine| mine.migration.as_ref());
        let is_migrated = migration.is_some_and(RunningMigration::has_begun);
        let mut owner = Owner {
            id: owner_id(&declaration.name),
            version: declaration.version.into(),
            oldest: Some(declaration.version.into()),
            models: Some(declaration.models.clone()),
            migration: None,
            unfinished: is_migrated || mine.is_some_and(|mine| mine.unfinished),
            relations: declaration.relations.clone(),
            indexes: Some(self.indexes.clone()),
            pending: BTreeSet::new(),
        };
        if let Some(mine) = mine {
            owner.oldest = Some(mine.oldest_beside(declaration, &owner));
        }
        owner
    }

    /// Refuses models that differ from the ones that their version has declared.
    fn check_same_version(&self, mine: Option<&Owner>) -> Result<()> {
        let Some(mine) = mine else {
            return Ok(());
        };
        let Declaration {
            name,
            version,
            relations,
            ..
        } = &self.declaration;
        let fields = mine.relations.fields_not_in(relations);
        let is_filter = fields
            .first()
            .is_some_and(|field| is_filter_other(&mine.relations, relations, field));
        let fields = fields.into_iter();
        let indexes = mine.indexes.iter().flatten();
        let indexes = indexes.filter(|index| !self.indexes.contains(index));
        let (before, now) = (mine.relations.deferred(), relations.deferred());
        let is_in_both = |field: &&String| {
            mine.relations.derived(field).is_some() && relations.derived(field).is_some()
        };
        let timed = before.symmetric_difference(&now).filter(is_in_both);
        let mut gone = fields
            .chain(timed.cloned())
            .map(|field| format!("`{field}`"))
            .chain(indexes.map(|index| format!("the {index}")));
        match gone.next() {
            Some(gone) if mine.version == i64::from(*version) => Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "the models of `{name}` changed without a new version: version {version} has \
                     declared {gone} on this store differently; {}",
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

    /// The fields that older documents may not follow: new fields over existing documents, fields that were pending before, fields that a
    /// migration has changed, and all fields computed from one of them.
    async fn pending(&self, reader: &dyn Reader, owners: &[Owner]) -> Result<BTreeSet<String>> {
        let relations = &self.declaration.relations;
        let declared = relations.fields();
        let left = owners.iter().flat_map(|owner| owner.pending.clone());
        let mut pending: BTreeSet<String> = left.filter(|field| declared.contains(field)).collect();
        let mut new = relations.fields_not_in(&merged(owners)?);
        new.extend(relations.fields_about(&self.touched));
        let (in_cold_parts, others): (Vec<String>, Vec<String>) = new
            .into_iter()
            .partition(|field| self.split_of(field).is_some());
        // Fields in cold parts come last: documents that are not divided yet hold them inline.
        for field in others.into_iter().chain(in_cold_parts) {
            let find = Find {
                collection: relations.holder_of(&field).to_owned(),
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
        graph::close_over_dependents(&relations.derived, &mut pending);
        Ok(pending)
    }

    /// The split in whose cold parts a field is.
    fn split_of(&self, field: &str) -> Option<&Split> {
        let relations = &self.declaration.relations;
        let holder = relations.holder_of(field);
        let mut splits = relations.splits.iter();
        splits.find(|split| split.cold == holder)
    }
}

/// Whether two declarations of a field have different filters.
fn is_filter_other(one: &Relations, other: &Relations, field: &str) -> bool {
    let filter = |relations: &Relations| relations.derived(field)?.filter().cloned();
    let filters = (filter(one), filter(other));
    matches!(filters, (Some(one), Some(other)) if one != other)
}
