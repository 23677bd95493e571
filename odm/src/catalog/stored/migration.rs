//! How far the migration of a database has come.
//!
//! The record of a step changes in the unit that changes the documents, so that each document is changed once,
//! whenever the process ends.

use std::sync::Arc;

use async_trait::async_trait;
use bson::RawBson;
use serde::{Deserialize, Serialize};

use super::{Owner, next_epoch, owner_id, owners, put};
use crate::{
    error::{Error, ErrorKind, Result},
    store::{Durability, Reader, Store, Transaction, UnitOfWork},
};

/// A migration that has begun and has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunningMigration {
    /// The version that it leads to.
    pub(crate) to: u32,
    /// The steps that are done.
    pub(crate) done: Vec<String>,
    /// The `_id` of the last document that the next step has gone through.
    pub(crate) after: Option<RawBson>,
}

/// Returns the migration of a database that has begun.
pub(crate) async fn running(reader: &dyn Reader, name: &str) -> Result<Option<RunningMigration>> {
    Ok(own(reader, name).await?.and_then(|owner| owner.migration))
}

/// Records that the migration of a database begins, or leads to a newer version than before: older programs
/// and writes to its collections are refused from now on.
pub(crate) async fn begin(transaction: &mut dyn Transaction, name: &str, to: u32) -> Result<()> {
    let Some(mut owner) = own(&*transaction, name).await? else {
        return Ok(());
    };
    let begun = owner.migration.take();
    owner.migration = Some(RunningMigration {
        to,
        ..begun.unwrap_or(RunningMigration {
            to,
            done: Vec::new(),
            after: None,
        })
    });
    owner.oldest = Some(to.into());
    put(transaction, &owner.id, &owner).await?;
    next_epoch(transaction).await
}

/// Records how far a migration has come.
///
/// # Errors
///
/// `Migrating` if it is not where this program has left it: another one carries it on.
pub(crate) async fn advance(
    transaction: &mut dyn Transaction,
    name: &str,
    from: &RunningMigration,
    to: RunningMigration,
) -> Result<()> {
    let owner = own(&*transaction, name).await?;
    match owner {
        Some(mut owner) if owner.migration.as_ref() == Some(from) => {
            owner.migration = Some(to);
            put(transaction, &owner.id, &owner).await
        }
        _ => Err(Error::new(
            ErrorKind::Migrating,
            format!(
                "another program migrates the database `{name}`; open it again when that has ended"
            ),
        )),
    }
}

/// Records that what follows from a migration of a database is computed.
pub(crate) async fn end_migration(store: &dyn Store, name: &str) -> Result<()> {
    let end = End(name.to_owned());
    store.run(Arc::new(end), Durability::Immediate).await
}

struct End(String);

#[async_trait]
impl UnitOfWork for End {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        match own(&*transaction, &self.0).await? {
            Some(mut owner) if owner.unfinished => {
                owner.unfinished = false;
                put(transaction, &owner.id, &owner).await
            }
            _ => Ok(()),
        }
    }
}

async fn own(reader: &dyn Reader, name: &str) -> Result<Option<Owner>> {
    let id = owner_id(name);
    Ok(owners(reader)
        .await?
        .into_iter()
        .find(|owner| owner.id == id))
}
