//! Groups of documents, from the stored bytes, or from an index alone if it has all required values.

use std::ops::ControlFlow;

use bson::RawBson;
use odm_mql::{
    Direction, Sort,
    group::{Accumulator, Grouping},
    key,
};
use odm_store::{Aggregate, Cost, Each, Result};

use super::{
    execute::{self, ExecContext, Query},
    ids::too_many_groups,
    layout::damaged,
    plan::{Plan, fields_len},
    read::Reading,
    scan::{Documents, PlanEntry},
    schema::Collection,
    wait::yield_now,
};

impl Reading<'_> {
    pub(super) async fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        each: Each<'_>,
    ) -> Result<Cost> {
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let mut grouping = aggregate.group.begin()?;
        if let Some(collection) = self.view.collection(&aggregate.find.collection) {
            self.group(collection, aggregate, &mut grouping, &mut cost)
                .await?;
        }
        cost.documents_returned = aggregate.pass_rows(grouping, each)?;
        Ok(cost)
    }

    async fn group(
        &mut self,
        collection: &Collection,
        aggregate: &Aggregate,
        grouping: &mut Grouping<'_>,
        cost: &mut Cost,
    ) -> Result<()> {
        let find = &aggregate.find;
        let is_whole = find.skip == 0 && find.limit.is_none() && find.after.is_none();
        // The order matters only for a part of the documents.
        let unsorted = Sort::new();
        let query = Query {
            filters: &[&find.filter],
            sort: if is_whole { &unsorted } else { &find.sort },
            skip: find.skip,
            limit: find.limit,
            after: find.after.as_deref(),
        };
        if is_whole && let Some((path, direction)) = extreme(aggregate) {
            let sort = Sort::new().by(path.to_owned(), direction);
            let sorted = Query {
                sort: &sort,
                ..query
            };
            if let Some(plan) = sorted.covering(collection, &[path])
                && plan.is_sorted()
            {
                return self
                    .first(collection, plan, path, aggregate, grouping, cost)
                    .await;
            }
        }
        if is_whole
            && let Some(paths) = counted(aggregate)
            && let Some(plan) = query.covering(collection, &paths)
        {
            return self
                .count_entries(collection, plan, &paths, aggregate, grouping, cost)
                .await;
        }
        let memory = self.settings.sort_memory;
        let mut context = ExecContext {
            budget: &mut self.budget,
            cost,
            memory,
        };
        let add: execute::Emit<'_> = &mut |_, document| {
            aggregate.add(grouping, document)?;
            match grouping.memory() > memory {
                true => Err(too_many_groups(&find.collection, memory)),
                false => Ok(ControlFlow::Continue(())),
            }
        };
        let _ = execute::find(self.view, collection, &query, &mut context, add).await?;
        Ok(())
    }

    /// Adds the document of the first entry with a value at a path that is neither null nor undefined.
    async fn first(
        &mut self,
        collection: &Collection,
        plan: Plan<'_, '_>,
        path: &str,
        aggregate: &Aggregate,
        grouping: &mut Grouping<'_>,
        cost: &mut Cost,
    ) -> Result<()> {
        let documents = Documents::new(self.view, collection);
        let mut entries = Box::new(plan.entries(self.view));
        let mut value = Vec::new();
        while let Some(entry) = entries.next(cost)? {
            value.clear();
            append(&entry, path, &mut value)?;
            if entry.passes && !key::is_absent(&value) {
                cost.documents_examined += 1;
                let _ = documents.with(&entry, |_, document| {
                    aggregate.add(grouping, document)?;
                    Ok(ControlFlow::Break(()))
                })?;
                return Ok(());
            }
            if self.budget.is_due()? {
                yield_now().await;
            }
        }
        Ok(())
    }

    /// Counts the entries with each key. Reads one document for each key whose values cannot be decoded from an entry.
    async fn count_entries(
        &mut self,
        collection: &Collection,
        plan: Plan<'_, '_>,
        paths: &[&str],
        aggregate: &Aggregate,
        grouping: &mut Grouping<'_>,
        cost: &mut Cost,
    ) -> Result<()> {
        let memory = self.settings.sort_memory;
        let documents = Documents::new(self.view, collection);
        let mut entries = Box::new(plan.entries(self.view));
        // The types of values are not among the reads of a transaction: a document is.
        let can_decode = self.view.reads.is_none();
        let mut key = Vec::new();
        // The bytes of an entry up to the last of the fields. An entry that begins with the same bytes has the same key.
        let mut fields = Vec::new();
        // The number of entries with the key that are not counted yet.
        let mut run = 0;
        while let Some(entry) = entries.next(cost)? {
            if self.budget.is_due()? {
                yield_now().await;
            }
            if !entry.passes {
                continue;
            }
            if !fields.is_empty() && entry.key.starts_with(&fields) {
                run += 1;
                continue;
            }
            if run > 0 {
                grouping.count(&key, run);
                run = 0;
            }
            key.clear();
            for path in paths {
                append(&entry, path, &mut key)?;
            }
            fields.clear();
            fields.extend_from_slice(up_to(&entry, paths)?);
            if grouping.count(&key, 1) {
                continue;
            }
            let values = can_decode.then(|| decoded(&entry, paths, &key));
            if let Some(values) = values.flatten() {
                grouping.begin(&key, values);
                run = 1;
            } else {
                cost.documents_examined += 1;
                let _ = documents.with(&entry, |_, document| {
                    aggregate.add(grouping, document)?;
                    Ok(ControlFlow::Continue(()))
                })?;
                if !grouping.count(&key, 0) {
                    return Err(damaged("an index entry is not that of its document"));
                }
            }
            if grouping.memory() > memory {
                return Err(too_many_groups(&aggregate.find.collection, memory));
            }
        }
        grouping.count(&key, run);
        Ok(())
    }
}

/// The path and the order, if the aggregate only requests the first value in it.
fn extreme(aggregate: &Aggregate) -> Option<(&str, Direction)> {
    let group = &aggregate.group;
    match group.accumulators.as_slice() {
        _ if group.unwind.is_some() || !group.keys.is_empty() => None,
        [Accumulator::Min(path)] => Some((path, Direction::Ascending)),
        [Accumulator::Max(path)] => Some((path, Direction::Descending)),
        _ => None,
    }
}

/// The paths of the keys, if the aggregate only counts documents by key.
fn counted(aggregate: &Aggregate) -> Option<Vec<&str>> {
    let group = &aggregate.group;
    let counts = |accumulator: &Accumulator| *accumulator == Accumulator::Count;
    let is_counted = group.unwind.is_none()
        && !group.keys.is_empty()
        && group.keys.iter().all(|key| key.start_of.is_none())
        && group.accumulators.iter().all(counts);
    is_counted.then(|| group.keys.iter().map(|key| &*key.path).collect())
}

/// The bytes of an entry up to the last of its fields at these paths.
fn up_to<'e>(entry: &PlanEntry<'e>, paths: &[&str]) -> Result<&'e [u8]> {
    let last = paths.iter().filter_map(|path| entry.source.position(path));
    let len = last
        .max()
        .and_then(|last| fields_len(entry.source, entry.key, last + 1));
    let fields = len.and_then(|len| entry.key.get(..len));
    fields.ok_or_else(|| damaged("an index entry cannot be read"))
}

/// The values of an entry at these paths, if all can be decoded. `keys` are their keys.
fn decoded(entry: &PlanEntry<'_>, paths: &[&str], mut keys: &[u8]) -> Option<Vec<RawBson>> {
    let values = paths.iter().map(|path| {
        let len = key::skip(keys, Direction::Ascending)?;
        let (key, rest) = keys.split_at_checked(len)?;
        keys = rest;
        entry.source.types(entry.source.position(path)?).decode(key)
    });
    values.collect()
}

/// Appends the key of the value that an entry has at a path, in ascending order.
fn append(entry: &PlanEntry<'_>, path: &str, out: &mut Vec<u8>) -> Result<()> {
    let source = entry.source;
    let at = source.position(path);
    let span = at.and_then(|at| {
        let begin = fields_len(source, entry.key, at)?;
        let len = key::skip(entry.key.get(begin..)?, source.field(at).1)?;
        Some((entry.key.get(begin..begin + len)?, source.field(at).1))
    });
    let (value, direction) = span.ok_or_else(|| damaged("an index entry cannot be read"))?;
    match direction {
        Direction::Ascending => out.extend_from_slice(value),
        Direction::Descending => out.extend(value.iter().map(|byte| !byte)),
    }
    Ok(())
}
