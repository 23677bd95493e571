//! Changes of whole collections that no database declares.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use odm_store::{
    CollectionChange, Durability, Error, ErrorKind, Find, Reader, Result, Store, Transaction,
    UnitOfWork,
};

use super::{OWNER, Owner, is_own, next_epoch, owners};

/// The name of a database, without the prefix of its document.
fn name_of(owner: &Owner) -> &str {
    owner.id.strip_prefix(OWNER).unwrap_or(&owner.id)
}

impl Owner {
    /// Whether the models of the database need a collection.
    fn declares(&self, collection: &str) -> bool {
        let relations = &self.relations;
        let declared = relations.collections.iter().map(|of| &of.name);
        let referenced = relations.edges.iter().map(|edge| &edge.to);
        let cold = relations.splits.iter().map(|split| &split.cold);
        let mut all = declared.chain(referenced).chain(cold);
        all.any(|name| name == collection)
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
            let declared = declaring(&*transaction, &names).await?;
            for (name, databases) in names.iter().zip(declared) {
                if let Some(database) = databases.first() {
                    let message = format!(
                        "collection `{name}` belongs to the models of the database `{database}`: only they can remove or rename it"
                    );
                    return Err(Error::new(ErrorKind::InvalidQuery, message).at(name, None, None));
                }
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

/// Changes whole collections, and tells those who watch all collections. A collection that a migration has built beside is not one that
/// was renamed: for them the one that it replaces is removed.
pub(super) async fn change_collections(
    transaction: &mut dyn Transaction,
    all: &[CollectionChange],
) -> Result<()> {
    transaction.change_collections(all).await?;
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
