//! Which order an index gives, and where in it a query starts.

use super::{
    Order, Wanted,
    candidate::{Candidate, Source},
    constraint::Constraints,
};
use crate::{
    mql::{Direction, key},
    store::embedded::layout::{TREE_LEN, after_prefix},
};

/// Which order the index gives, and whether it must be read backward for it. `single` of its fields
/// have one value in all that is read.
pub(super) fn order(
    source: &Source<'_>,
    single: usize,
    constraints: &Constraints<'_>,
    wanted: &Wanted<'_>,
) -> (Order, bool) {
    let mut at = single;
    let mut backward = None;
    for (path, direction) in wanted.fields {
        if is_fixed(source, single, constraints, path) {
            continue;
        }
        if at == source.len() || source.field(at).0 != path || source.is_multikey(at) {
            return (Order::Sort, false);
        }
        let against = source.field(at).1 != *direction;
        if *backward.get_or_insert(against) != against {
            return (Order::Sort, false);
        }
        at += 1;
    }
    let descending = wanted.id == Direction::Descending;
    let id_fixed = wanted.fields.is_empty() && source.index.is_none();
    if id_fixed {
        return (Order::Native, descending);
    }
    if at == single && backward.is_none() && at < source.len() {
        // Nothing but `_id` is asked for, and the entries are in another order.
        return match source.field(at) {
            ("_id", direction) if !source.is_multikey(at) => {
                (Order::Native, direction != wanted.id)
            }
            _ => (Order::Ids, false),
        };
    }
    if at == source.len() {
        // Entries with equal fields follow each other in the order of `_id`, or there are none.
        let natural = backward.unwrap_or(descending);
        if source.is_unique() || natural == descending {
            return (Order::Native, natural);
        }
    }
    (Order::Runs { fields: at }, backward.unwrap_or(false))
}

/// Whether a field has one value in all that is read, so that it is of no account for the order.
fn is_fixed(source: &Source<'_>, single: usize, constraints: &Constraints<'_>, path: &str) -> bool {
    let by_index = (0..single).any(|at| source.field(at).0 == path && !source.is_multikey(at));
    by_index
        && constraints
            .all
            .iter()
            .any(|constraint| constraint.path == path)
}

impl Candidate<'_, '_> {
    /// Leaves out what comes before the position that the query starts after, as far as the order
    /// of the index can tell. What remains is still compared with the position.
    pub(super) fn seek(
        &mut self,
        single: usize,
        constraints: &Constraints<'_>,
        wanted: &Wanted<'_>,
    ) {
        let Some(after) = wanted.after else { return };
        if !matches!(self.order, Order::Native | Order::Runs { .. }) {
            return;
        }
        let Some(first) = self.ranges.first() else {
            return;
        };
        // The fields before those of the order have one value, which the ranges begin with.
        let Some(start) = fields_len(&self.source, &first.lower, single) else {
            return;
        };
        let mut position = first.lower[..start].to_vec();
        let mut at = single;
        let keys = wanted.fields.iter().map(|(path, _)| path).zip(after);
        for (path, value) in keys {
            let value = value.as_raw_bson_ref();
            if is_fixed(&self.source, single, constraints, path) {
                let (field, direction) =
                    match (0..single).find(|&at| self.source.field(at).0 == path) {
                        Some(field) => (field, self.source.field(field).1),
                        None => return,
                    };
                let mut key = Vec::new();
                key::encode_directed(value, direction, &mut key);
                let begin = fields_len(&self.source, &first.lower, field);
                let end = fields_len(&self.source, &first.lower, field + 1);
                match (begin, end) {
                    (Some(begin), Some(end)) if first.lower[begin..end] == key => continue,
                    // The position is not among what is read: all of it comes before, or after.
                    _ => return,
                }
            }
            key::encode_directed(value, self.source.field(at).1, &mut position);
            at += 1;
        }
        // The documents, and the entries of an index that is not unique, are ordered by `_id` next.
        let then_by_id = match self.source.index {
            None => at == 0,
            Some(index) => {
                !index.spec.unique && at == self.source.len() && self.order == Order::Native
            }
        };
        if then_by_id && let Some(id) = after.last() {
            key::encode(id.as_raw_bson_ref(), &mut position);
        }
        if self.backward {
            let end = after_prefix(&position);
            self.ranges.retain(|range| range.lower < end);
            if let Some(last) = self.ranges.last_mut() {
                last.upper = std::mem::take(&mut last.upper).min(end);
            }
        } else {
            self.ranges.retain(|range| range.upper > position);
            if let Some(first) = self.ranges.first_mut() {
                first.lower = std::mem::take(&mut first.lower).max(position);
            }
        }
    }
}

/// The length of the number of the tree and of the first fields of a key.
pub(in super::super) fn fields_len(
    source: &Source<'_>,
    key: &[u8],
    fields: usize,
) -> Option<usize> {
    let mut len = TREE_LEN;
    for at in 0..fields {
        len += key::skip(key.get(len..)?, source.field(at).1)?;
    }
    Some(len)
}
