//! Audits of documents as they are stored.

use bson::{RawBson, RawDocumentBuf};

use super::Session;
use crate::{
    error::Result,
    maintain::{self, AuditScope, Finding},
    store::{Cost, Find, Reader, ReaderExt},
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
    ) -> Result<(Vec<RawDocumentBuf>, Vec<Finding>)> {
        let operation = Operation::begin("audit", collection);
        let source = self.source().await?;
        let find = Find {
            collection: collection.to_owned(),
            limit: Some(limit),
            after: after.map(|id| vec![id]),
            ..Find::default()
        };
        let (documents, cost) = operation.observe(source.reader().find_all(&find).await)?;
        let findings = self
            .check(
                scope,
                source.reader(),
                operation,
                collection,
                &documents,
                cost,
            )
            .await?;
        Ok((documents, findings))
    }

    /// Checks the documents with these `_id`s, on one state of the data.
    pub(crate) async fn check_documents(
        &self,
        scope: AuditScope,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<Vec<Finding>> {
        let operation = Operation::begin("audit", collection);
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
    ) -> Result<Vec<Finding>> {
        let catalog = self.catalog();
        let found = maintain::check(&catalog, scope, reader, collection, documents).await;
        let (findings, checking) = operation.observe(found)?;
        cost += checking;
        self.record(operation, cost);
        Ok(findings)
    }
}
