//! Writes of imported documents.

use std::sync::Arc;

use odm_store::Result;

use super::Session;
use crate::{maintain::ImportedDocuments, trace::Operation};

impl Session {
    /// Stores imported documents as one unit, with all effects.
    pub(crate) async fn import(&self, import: ImportedDocuments) -> Result<()> {
        self.refuse_in_snapshot(|| "import".to_owned())?;
        let operation = Operation::begin("import", "").of(import.documents.len());
        let worked = self.work(&Arc::new(import), |_| false).await;
        let totals = operation.observe(worked)?;
        self.record(operation, totals.cost);
        Ok(())
    }
}
