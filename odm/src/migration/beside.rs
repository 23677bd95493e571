//! The copy of a collection into a staged one.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{RawBson, RawDocumentBuf, oid::ObjectId};
use odm_mql::path;
use odm_store::{
    CollectionWrites, DocumentWrite, Durability, Result, Store, Transaction, UnitOfWork,
};

use super::run::documents_after;
use crate::{
    catalog,
    staged::{Staged, staged_name},
};

/// Copies a collection, unless it is staged already, and lets a staged store read and write the copy.
pub(crate) async fn stage(
    store: &dyn Store,
    staged: &Staged,
    name: &str,
    announced: ObjectId,
    collection: &str,
) -> Result<()> {
    if staged.has(collection) {
        return Ok(());
    }
    catalog::stage(store, name, announced, collection).await?;
    let mut after = None;
    loop {
        let documents = documents_after(&*store.reader()?, collection, after).await?;
        let Some(last) = documents.last() else { break };
        after = path::get(last, "_id").map(RawBson::from);
        let copy = Arc::new(Copy {
            to: staged_name(collection),
            documents,
        });
        store.run(copy, Durability::Eventual).await?;
    }
    staged.add(collection);
    Ok(())
}

struct Copy {
    to: String,
    documents: Vec<RawDocumentBuf>,
}

#[async_trait]
impl UnitOfWork for Copy {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let inserts = self
            .documents
            .iter()
            .map(|document| DocumentWrite::Insert(document));
        let batch = CollectionWrites {
            collection: &self.to,
            writes: inserts.collect(),
        };
        transaction.apply(&[batch]).await.map(drop)
    }
}
