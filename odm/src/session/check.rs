//! Audits of documents as they are stored.

use bson::{RawBson, RawDocumentBuf};
use odm_store::{Cost, Find, Reader, ReaderExt, Result};

use super::Session;
use crate::{
    maintain::{self, AuditScope, Checked},
    trace::Operation,
};

impl Session {
    /// Reads the next documents of a collection in the order of their `_id`s, and checks them, on one
    /// state of the data.
    pub(crate) async fn check_chunk(
        &self,
        scope: AuditScope,
        collection: &str,
        after: Option<RawBson>,
        limit: u64,
    ) -> Result<(Vec<RawDocumentBuf>, Checked)> {
        let operation = Operation::begin("audit", collection).of_all();
        let source = self.source().await?;
        let find = Find {
            collection: collection.to_owned(),
            limit: Some(limit),
            after: after.map(|id| vec![id]),
            ..Find::default()
        };
        let (documents, cost) = operation.observe(source.reader().find_all(&find).await)?;
        let checked = self
            .check(
                scope,
                source.reader(),
                operation,
                collection,
                &documents,
                cost,
            )
            .await?;
        Ok((documents, checked))
    }

    /// Checks the documents with these `_id`s, on one state of the data.
    pub(crate) async fn check_documents(
        &self,
        scope: AuditScope,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<Checked> {
        let operation = Operation::begin("audit", collection).of_all();
        let source = self.source().await?;
        let (documents, cost) =
            operation.observe(source.reader().get_all(collection, ids).await)?;
        self.check(
            scope,
            source.reader(),
            operation,
            collection,
            &documents,
            cost,
        )
        .await
    }

    /// Checks documents, and records the cost of this and of reading them.
    async fn check(
        &self,
        scope: AuditScope,
        reader: &dyn Reader,
        operation: Operation<'_>,
        collection: &str,
        documents: &[RawDocumentBuf],
        mut cost: Cost,
    ) -> Result<Checked> {
        let catalog = self.catalog();
        let found = maintain::check(&catalog, scope, reader, collection, documents).await;
        let checked = operation.observe(found)?;
        cost += checked.cost;
        self.record(operation, cost);
        Ok(checked)
    }
}
