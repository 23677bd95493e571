//! Changes of whole collections that no database declares.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use odm_mql::Collation;
use odm_store::{
    CollectionChange, Durability, Error, ErrorKind, Find, IndexSpec, Reader, Result, Store,
    Transaction, UnitOfWork,
};

use super::{
    OWNER, Owner, is_own, next_epoch, owners,
    rules::follow_change,
    views::{check_renamed, remove_views},
};

/// MongoDB's code of the name of a collection that exists.
pub(super) const NAMESPACE_EXISTS: i32 = 48;

/// MongoDB's code of what no transaction can do.
const NOT_IN_TRANSACTION: i32 = 263;

/// The name of a database, without the prefix of its document.
fn name_of(owner: &Owner) -> &str {
    owner.id.strip_prefix(OWNER).unwrap_or(&owner.id)
}

impl Owner {
    /// The collections that the models of the database need. One can be among them several times.
    pub(super) fn collections(&self) -> impl Iterator<Item = &str> {
        let relations = &self.relations;
        let declared = relations.collections.iter().map(|of| &of.name);
        let referenced = relations.edges.iter().map(|edge| &edge.to);
        let cold = relations.splits.iter().map(|split| &split.cold);
        let all = declared.chain(referenced).chain(cold);
        all.map(String::as_str)
    }

    /// Whether the models of the database need a collection.
    fn declares(&self, collection: &str) -> bool {
        self.collections().any(|name| name == collection)
    }
}

/// The names of the databases whose models need each of some collections.
pub(crate) async fn declaring(
    reader: &dyn Reader,
    collections: &[&str],
) -> Result<Vec<BTreeSet<String>>> {
    let owners = owners(reader).await?;
    let declaring = collections.iter().map(|collection| {
        let owners = owners.iter().filter(|owner| owner.declares(collection));
        owners.map(|owner| name_of(owner).to_owned()).collect()
    });
    Ok(declaring.collect())
}

/// The name of a database that declares an index.
pub(crate) async fn declaring_index(
    reader: &dyn Reader,
    collection: &str,
    index: &str,
) -> Result<Option<String>> {
    let owners = owners(reader).await?;
    let declares = |owner: &&Owner| {
        let mut indexes = owner.indexes.iter().flatten();
        indexes.any(|owned| owned.collection == collection && owned.name == index)
    };
    Ok(owners
        .iter()
        .find(declares)
        .map(|owner| name_of(owner).to_owned()))
}

/// Changes whole collections, and aborts all units that have read them.
///
/// # Errors
///
/// `InvalidQuery` that names the database which declares one of them, or if a collection would be replaced that has documents and must not
/// be replaced.
pub(crate) async fn change_whole(
    store: &dyn Store,
    change: CollectionChange,
    replaces: bool,
) -> Result<()> {
    struct Change {
        change: CollectionChange,
        replaces: bool,
    }

    #[async_trait]
    impl UnitOfWork for Change {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            let names = match &self.change {
                CollectionChange::Create { name, .. } | CollectionChange::Drop { name } => {
                    vec![name.as_str()]
                }
                CollectionChange::Replace { from, to } => vec![from.as_str(), to.as_str()],
            };
            refuse_needed(&*transaction, &names).await?;
            if let CollectionChange::Replace { from, to } = &self.change {
                check_renamed(&*transaction, from, to).await?;
            }
            if let (CollectionChange::Replace { from, to }, false) = (&self.change, self.replaces) {
                let find = Find {
                    collection: to.clone(),
                    limit: Some(1),
                    ..Find::default()
                };
                if transaction.count(&find).await?.0 > 0 {
                    let message = format!(
                        "collection `{to}` has documents: remove it, or let `{from}` replace it"
                    );
                    return Err(Error::new(ErrorKind::InvalidQuery, message).at(to, None, None));
                }
            }
            change_collections(transaction, std::slice::from_ref(&self.change)).await?;
            next_epoch(transaction).await
        }
    }

    let change = Change { change, replaces };
    store.run(Arc::new(change), Durability::Immediate).await
}

/// Removes all collections and views but the library's own as one unit, and tells the watches of all collections that they were all.
///
/// # Errors
///
/// `InvalidQuery` that names a collection which a database declares.
pub(crate) async fn drop_all(store: &dyn Store) -> Result<()> {
    struct DropAll;

    #[async_trait]
    impl UnitOfWork for DropAll {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            let all = transaction.collections().await?.into_iter();
            let all = all.map(|spec| spec.name).filter(|name| !is_own(name));
            let all: Vec<String> = all.collect();
            let names: Vec<&str> = all.iter().map(String::as_str).collect();
            refuse_needed(&*transaction, &names).await?;
            let drops = all
                .iter()
                .map(|name| CollectionChange::Drop { name: name.clone() });
            let drops: Vec<CollectionChange> = drops.collect();
            change_collections(transaction, &drops).await?;
            remove_views(transaction).await?;
            // Whoever watches all collections watches each.
            if let Some(changes) = transaction.changes()
                && names.iter().any(|name| changes.is_watched(name))
            {
                changes.add_drop_all();
            }
            next_epoch(transaction).await
        }
    }

    store.run(Arc::new(DropAll), Durability::Immediate).await
}

/// Refuses a change of collections that the models of a database need.
async fn refuse_needed(reader: &dyn Reader, names: &[&str]) -> Result<()> {
    let declared = declaring(reader, names).await?;
    for (name, databases) in names.iter().zip(declared) {
        if let Some(database) = databases.first() {
            let message = format!(
                "collection `{name}` belongs to the models of the database `{database}`: only they can remove or rename it"
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message).at(name, None, None));
        }
    }
    Ok(())
}

/// Makes a collection in a transaction with a default collation, if it is not there, and an index of it. Returns whether anything was made.
/// `is_new` says whether only the transaction can have made the collection.
///
/// # Errors
///
/// `InvalidQuery`, with MongoDB's code, if the index is one of a collection that others can see or that has documents; `Schema` if there is
/// another index of its name, or the collection is there with another default collation.
pub(crate) async fn create_in(
    transaction: &mut dyn Transaction,
    name: &str,
    index: Option<IndexSpec>,
    collation: Option<Collation>,
    is_new: bool,
) -> Result<bool> {
    let mut all = transaction.collections().await?.into_iter();
    let existing = all.find(|spec| spec.name == name);
    if let Some(existing) = &existing
        && collation.is_some()
        && collation != existing.collation
    {
        let message = format!("collection `{name}` exists with another default collation");
        return Err(Error::new(ErrorKind::Schema, message).at(name, None, None));
    }
    let (mut indexes, collation) = match (existing, &index) {
        (None, _) => (Vec::new(), collation),
        (Some(_), None) => return Ok(false),
        (Some(existing), Some(index)) if existing.indexes.contains(index) => return Ok(false),
        (Some(_), Some(_)) if !is_new => return Err(refused_index(name, "existing")),
        (Some(existing), Some(_)) => {
            let find = Find {
                collection: name.to_owned(),
                limit: Some(1),
                ..Find::default()
            };
            if transaction.count(&find).await?.0 > 0 {
                return Err(refused_index(name, "non-empty"));
            }
            (existing.indexes, existing.collation)
        }
    };
    indexes.extend(index);
    let create = CollectionChange::Create {
        name: name.to_owned(),
        indexes,
        collation,
    };
    transaction.change_collections(&[create]).await?;
    Ok(true)
}

fn refused_index(name: &str, what: &str) -> Error {
    let message = format!(
        "cannot create new indexes on {what} collection `{name}` in a multi-document transaction: create them outside of it"
    );
    Error::new(ErrorKind::InvalidQuery, message)
        .with_code(NOT_IN_TRANSACTION)
        .at(name, None, None)
}

/// Changes whole collections with their rules, and tells the watches of all collections. A collection that a migration has built beside is
/// not one that was renamed: for them the one that it replaces is removed.
pub(super) async fn change_collections(
    transaction: &mut dyn Transaction,
    all: &[CollectionChange],
) -> Result<()> {
    transaction.change_collections(all).await?;
    for change in all {
        follow_change(transaction, change).await?;
    }
    let Some(changes) = transaction.changes() else {
        return Ok(());
    };
    for change in all {
        let (name, shown) = match change {
            CollectionChange::Create { .. } => continue,
            CollectionChange::Replace { from, to } if is_own(from) => {
                (to, CollectionChange::Drop { name: to.clone() })
            }
            CollectionChange::Replace { to, .. } => (to, change.clone()),
            CollectionChange::Drop { name } => (name, change.clone()),
        };
        if !is_own(name) && changes.is_watched(name) {
            changes.add_whole(shown);
        }
    }
    Ok(())
}
