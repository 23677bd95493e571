//! Groups, which are computed here, from the fields that they read.

use std::ops::ControlFlow;

use odm_mql::Projection;
use odm_store::{Aggregate, Cost, Each, Find, Reader, Result};

use super::session::MongoTransaction;

impl MongoTransaction {
    pub(super) async fn group(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        let mut grouping = aggregate.group.begin()?;
        let paths = aggregate.group.paths();
        // The whole top-level fields, since the paths of a group go through arrays in their own way.
        let names = paths.map(|path| path.split('.').next().unwrap_or(path).to_owned());
        let names: Vec<String> = names.collect();
        let find = Find {
            projection: Some(Projection::include(names)?),
            ..aggregate.find.clone()
        };
        let add: Each<'_> = &mut |_, document| {
            aggregate.add(&mut grouping, document)?;
            Ok(ControlFlow::Continue(()))
        };
        let mut cost = self.find(&find, add).await?;
        cost.documents_returned = aggregate.pass_rows(grouping, each)?;
        Ok(cost)
    }
}
