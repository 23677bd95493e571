//! The declarations of one store on another, for a copy of all that a store has by a program that knows no model.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use odm_store::{Durability, Error, ErrorKind, Result, Store, Transaction, UnitOfWork};

use super::{Owner, indexes, indexes::OwnedIndex, is_own, next_epoch, owners, put};

/// Declares the databases of a store on another one that has none, with all collections and indexes.
///
/// # Errors
///
/// `Migrating` if a database of the source is in a migration.
pub(crate) async fn declare_as(source: &dyn Store, target: &dyn Store) -> Result<()> {
    if !owners(&*target.reader()?).await?.is_empty() {
        return Ok(());
    }
    let reader = source.reader()?;
    let owners = owners(&*reader).await?;
    if let Some(owner) = owners.iter().find(|owner| owner.migration.is_some()) {
        let message = format!("{} is in a migration: let its program end it", owner.id);
        return Err(Error::new(ErrorKind::Migrating, message));
    }
    let made = indexes::made(&*reader).await?;
    let mut specs = source.collections().await?;
    specs.retain(|spec| !is_own(&spec.name));
    target.ensure(&specs).await?;
    let declare = DeclareAs { owners, made };
    target.run(Arc::new(declare), Durability::Immediate).await
}

struct DeclareAs {
    owners: Vec<Owner>,
    made: BTreeSet<OwnedIndex>,
}

#[async_trait]
impl UnitOfWork for DeclareAs {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        if !owners(&*transaction).await?.is_empty() {
            return Ok(());
        }
        for owner in &self.owners {
            put(transaction, &owner.id, owner).await?;
        }
        indexes::put_made(transaction, self.made.clone()).await?;
        next_epoch(transaction).await
    }
}
