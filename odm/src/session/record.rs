//! The record of the operations of a session.

use odm_store::{Cost, Find, Result};

use super::{ReadView, Session};
use crate::{
    maintain::{PlanStep, Write, WriteOutcome},
    trace::{Operation, QueryShape, record_step},
};

impl Session {
    /// Records an operation that searches nothing.
    pub(crate) fn record(&self, operation: Operation<'_>, cost: Cost) {
        if let Some(ended) = operation.end(cost, self.warning_limits) {
            ended.emit(&QueryShape::default());
        }
    }

    /// Records an operation that ran a query on a view.
    pub(crate) async fn record_query(
        &self,
        operation: Operation<'_>,
        view: &ReadView<'_>,
        find: &Find,
        cost: Cost,
    ) -> Result<()> {
        if let Some(ended) = operation.end(cost, self.warning_limits) {
            let index = view.index_of(find).await?;
            ended.emit(&QueryShape::new(find, index));
        }
        Ok(())
    }

    /// Records an aggregate of the documents of a query, for which the store may use another index than for the query.
    pub(crate) fn record_aggregate(&self, operation: Operation<'_>, find: &Find, cost: Cost) {
        if let Some(ended) = operation.end(cost, self.warning_limits) {
            ended.emit(&QueryShape::new(find, None));
        }
    }

    /// Records a write, and its steps.
    pub(super) async fn record_written(
        &self,
        operation: Operation<'_>,
        write: &Write,
        outcome: &WriteOutcome,
    ) {
        for PlanStep { name: step, cost } in &outcome.steps {
            record_step(write.name(), write.collection(), step, *cost);
        }
        let Some(ended) = operation.end(outcome.cost, self.warning_limits) else {
            return;
        };
        let Some(filter) = write.filter() else {
            ended.emit(&QueryShape::default());
            return;
        };
        let find = Find {
            collection: write.collection().to_owned(),
            filter,
            ..Find::default()
        };
        // The write has succeeded. If the store was closed since, that is no error of the write, and only the index is left out.
        let index = match self.source().await {
            Ok(source) => source.reader().index_of(&find).await.ok().flatten(),
            Err(_) => None,
        };
        ended.emit(&QueryShape::new(&find, index));
    }
}
