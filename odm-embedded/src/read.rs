//! The reads of [`Reader`](odm_store::Reader), on any view.

use std::{borrow::Cow, ops::ControlFlow};

use bson::RawBson;
use odm_mql::{Filter, Sort, Test, key};
use odm_store::{Cost, Each, Error, ErrorKind, Explain, Find, FindByKey, Result};

use super::{
    execute::{self, Emit, ExecContext, Query},
    layout::{Tree, document_key},
    plan::{explain, index_names},
    scan,
    settings::Settings,
    view::View,
    wait::{YieldBudget, yield_now},
};

/// A view, and the resources to read it.
pub(super) struct Reading<'a> {
    pub(super) view: View<'a>,
    pub(super) settings: &'a Settings,
    pub(super) budget: YieldBudget,
}

impl Reading<'_> {
    pub(super) async fn get(
        &mut self,
        collection: &str,
        ids: &[RawBson],
        each: Each<'_>,
    ) -> Result<Cost> {
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let Some(collection) = self.view.collection(collection) else {
            return Ok(cost);
        };
        collection.uses.add();
        if let [id] = ids {
            let key = document_key(id.as_raw_bson_ref());
            let _ = self.pass(0, collection.tree, &key, &mut cost, each)?;
            return Ok(cost);
        }
        // Reads in the order of the keys visit neighbouring pages one after another.
        let mut keys = Vec::with_capacity(ids.len() * 20);
        let mut spans = Vec::with_capacity(ids.len());
        for (position, id) in ids.iter().enumerate() {
            let start = keys.len();
            key::encode(id.as_raw_bson_ref(), &mut keys);
            spans.push((start..keys.len(), position));
        }
        spans.sort_unstable_by(|(a, _), (b, _)| keys[a.clone()].cmp(&keys[b.clone()]));
        for (span, position) in spans {
            if self.pass(position, collection.tree, &keys[span], &mut cost, each)?
                == ControlFlow::Break(())
            {
                break;
            }
            if self.budget.is_due()? {
                yield_now().await;
            }
        }
        Ok(cost)
    }

    fn pass(
        &self,
        position: usize,
        tree: Tree,
        key: &[u8],
        cost: &mut Cost,
        each: &mut (dyn FnMut(usize, &bson::RawDocument) -> Result<ControlFlow<()>> + Send),
    ) -> Result<ControlFlow<()>> {
        match self.view.get(tree, key)? {
            None => Ok(ControlFlow::Continue(())),
            Some(document) => {
                cost.documents_examined += 1;
                cost.documents_returned += 1;
                each(position, scan::read(&document)?)
            }
        }
    }

    pub(super) async fn find(&mut self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let mut position = 0;
        let _ = self
            .run(find, &[&find.filter], &mut cost, &mut |_, document| {
                position += 1;
                each(position - 1, document)
            })
            .await?;
        Ok(cost)
    }

    pub(super) async fn find_by_key(&mut self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        check_by_key(find)?;
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        for (position, key) in find.keys.iter().enumerate() {
            let by_key = Filter::Path(Cow::Owned(find.path.clone()), Test::Eq(key.clone()));
            let filters = [&by_key, &find.find.filter];
            let flow = self
                .run(&find.find, &filters, &mut cost, &mut |_, document| {
                    each(position, document)
                })
                .await?;
            if flow == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(cost)
    }

    pub(super) async fn count(&mut self, find: &Find) -> Result<(u64, Cost)> {
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let count = self
            .count_matching(find, &[&find.filter], &mut cost)
            .await?;
        Ok((count, cost))
    }

    pub(super) async fn count_by_key(&mut self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        check_by_key(find)?;
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let mut counts = Vec::with_capacity(find.keys.len());
        for key in &find.keys {
            let by_key = Filter::Path(Cow::Owned(find.path.clone()), Test::Eq(key.clone()));
            let filters = [&by_key, &find.find.filter];
            counts.push(self.count_matching(&find.find, &filters, &mut cost).await?);
        }
        Ok((counts, cost))
    }

    async fn count_matching(
        &mut self,
        find: &Find,
        filters: &[&Filter],
        cost: &mut Cost,
    ) -> Result<u64> {
        let Some(collection) = self.view.collection(&find.collection) else {
            return Ok(0);
        };
        // The order matters only for a position in it.
        let unsorted = Sort::new();
        let sort = if find.after.is_some() {
            &find.sort
        } else {
            &unsorted
        };
        let query = Query {
            filters,
            sort,
            skip: find.skip,
            limit: find.limit,
            after: find.after.as_deref(),
        };
        let mut context = ExecContext {
            budget: &mut self.budget,
            cost,
            memory: self.settings.sort_memory,
        };
        let count = execute::count(self.view, collection, &query, &mut context).await?;
        cost.documents_returned = 0;
        Ok(count)
    }

    pub(super) async fn explain(&mut self, find: &Find) -> Result<Explain> {
        let cost = self
            .find(find, &mut |_, _| Ok(ControlFlow::Continue(())))
            .await?;
        let Some(collection) = self.view.collection(&find.collection) else {
            let mut explain = Explain::default();
            explain.sorted_by_index = true;
            explain.cost = cost;
            return Ok(explain);
        };
        let query = Query {
            filters: &[&find.filter],
            sort: &find.sort,
            skip: find.skip,
            limit: find.limit,
            after: find.after.as_deref(),
        };
        Ok(explain(
            &query.plan(self.view, collection),
            &find.sort,
            cost,
        ))
    }

    pub(super) fn index_of(&self, find: &Find) -> Option<String> {
        let collection = self.view.collection(&find.collection)?;
        let query = Query {
            filters: &[&find.filter],
            sort: &find.sort,
            skip: find.skip,
            limit: find.limit,
            after: find.after.as_deref(),
        };
        index_names(&query.plan(self.view, collection), &find.sort)
    }

    async fn run(
        &mut self,
        find: &Find,
        filters: &[&Filter],
        cost: &mut Cost,
        each: Emit<'_>,
    ) -> Result<ControlFlow<()>> {
        let Some(collection) = self.view.collection(&find.collection) else {
            return Ok(ControlFlow::Continue(()));
        };
        let query = Query {
            filters,
            sort: &find.sort,
            skip: find.skip,
            limit: find.limit,
            after: find.after.as_deref(),
        };
        let mut context = ExecContext {
            budget: &mut self.budget,
            cost,
            memory: self.settings.sort_memory,
        };
        match &find.projection {
            None => execute::find(self.view, collection, &query, &mut context, each).await,
            Some(projection) => {
                let mut projected = |id: &[u8], document: &bson::RawDocument| {
                    each(id, &projection.apply_matched(&find.filter, document)?)
                };
                execute::find(self.view, collection, &query, &mut context, &mut projected).await
            }
        }
    }
}

fn check_by_key(find: &FindByKey) -> Result<()> {
    match find.find.after {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ErrorKind::InvalidQuery,
            "query by keys cannot start `after` a position: each key has its own order",
        )),
    }
}
