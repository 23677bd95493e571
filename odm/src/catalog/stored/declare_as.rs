//! The declarations of one store on another, for a copy of all that a store has by a program that knows no model.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{RawBson, RawDocumentBuf, raw::cstr};
use odm_mql::path;
use odm_store::{
    CollectionSpec, Durability, Error, ErrorKind, Find, Reader, ReaderExt, Result, Store,
    Transaction, UnitOfWork, show,
};

use super::{
    Owner, declare::RecordIndexes, documents, has_id_of, indexes, is_own, next_epoch,
    next_epoch_with_rules, owners, owners_among, put, rules::RULE, views::VIEW,
};

/// Declares the databases of a state of a store on another one that has none, with the collections, indexes,
/// rules and views of that store.
///
/// # Errors
///
/// `Migrating` if a database of the source is in a migration; `InvalidImport` if the other store has documents in a collection of the
/// databases: nobody has computed their consequences.
pub(crate) async fn declare_as(
    state: &dyn Reader,
    source: &dyn Store,
    mut collections: Vec<CollectionSpec>,
    target: &dyn Store,
) -> Result<()> {
    let mut stored = documents(state).await?;
    let owners = owners_among(&stored)?;
    if let Some(owner) = owners.iter().find(|owner| owner.migration.is_some()) {
        let message = format!("{} is in a migration: let its program end it", owner.id);
        return Err(Error::new(ErrorKind::Migrating, message));
    }
    collections.retain(|spec| !is_own(&spec.name));
    // An index is recorded before it is made, so the present record has all of them.
    let made = indexes::made(&*source.reader()?).await?;
    let record = Arc::new(RecordIndexes(made));
    target.run(record, Durability::Immediate).await?;
    target.ensure(&collections).await?;
    stored.retain(|document| has_id_of(document, RULE) || has_id_of(document, VIEW));
    let declare = DeclareAs { owners, stored };
    target.run(Arc::new(declare), Durability::Immediate).await
}

struct DeclareAs {
    owners: Vec<Owner>,
    /// The documents of the stored catalog that are the same on the other store.
    stored: Vec<RawDocumentBuf>,
}

#[async_trait]
impl UnitOfWork for DeclareAs {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        if !owners(&*transaction).await?.is_empty() {
            return Ok(());
        }
        for owner in &self.owners {
            for collection in owner.collections() {
                refuse_documents(&*transaction, collection).await?;
            }
            put(transaction, &owner.id, owner).await?;
        }
        if self.stored.is_empty() {
            return next_epoch(transaction).await;
        }
        for document in &self.stored {
            let id = document.get_str(cstr!("_id")).map_err(Error::malformed)?;
            put(transaction, id, document).await?;
        }
        next_epoch_with_rules(transaction).await
    }
}

async fn refuse_documents(reader: &dyn Reader, collection: &str) -> Result<()> {
    let find = Find {
        collection: collection.to_owned(),
        limit: Some(1),
        ..Find::default()
    };
    let (found, _) = reader.find_all(&find).await?;
    let Some(document) = found.first() else {
        return Ok(());
    };
    let id = path::get(document, "_id").map_or(RawBson::Null, RawBson::from);
    let message = format!(
        "target has other documents: `{collection}` has one with `_id` = {}, and no database was opened there before; copy into a new store",
        show(&id)
    );
    Err(Error::new(ErrorKind::InvalidImport, message).at(collection, None, Some(id)))
}
