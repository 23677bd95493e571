//! The order in which an access path finds documents, and the position in it at which a query starts.

use bson::RawBsonRef;
use odm_mql::{Direction, key};

use super::{
    OrderSpec, SortStrategy,
    access_path::{AccessPath, Source},
    constraint::{Constraint, Constraints},
    texts::Texts,
};
use crate::layout::after_prefix;

/// Returns the order that an access path gives by its fields from `from` on, and whether it must be read backward for it. The first
/// `single` of its fields have one value in all keys that are read. The fields between have several if ranges are merged.
pub(super) fn order(
    source: &Source<'_>,
    from: usize,
    single: usize,
    constraints: &Constraints<'_>,
    wanted: &OrderSpec<'_>,
) -> (SortStrategy, bool) {
    let mut at = from;
    let mut backward = None;
    for (path, direction) in wanted.fields {
        if is_fixed(source, single, constraints, path, wanted.texts) {
            continue;
        }
        if at == source.len() || source.field(at).0 != path || source.is_multikey(at) {
            return (SortStrategy::FullSort, false);
        }
        if source.texts() != wanted.texts && !is_without_texts(constraints, path) {
            return (SortStrategy::FullSort, false);
        }
        let against = source.field(at).1 != *direction;
        if *backward.get_or_insert(against) != against {
            return (SortStrategy::FullSort, false);
        }
        at += 1;
    }
    let descending = wanted.id == Direction::Descending;
    let id_fixed = wanted.fields.is_empty() && source.index.is_none();
    if id_fixed {
        return (SortStrategy::IndexOrder, descending);
    }
    if at == from && backward.is_none() && at < source.len() {
        // Only the order of `_id` is requested, and the entries are in another order.
        return match source.field(at) {
            ("_id", direction) if !source.is_multikey(at) && source.texts() == Texts::AsTheyAre => {
                (SortStrategy::IndexOrder, direction != wanted.id)
            }
            _ => (SortStrategy::SortById, false),
        };
    }
    if at == source.len() {
        // Entries with equal fields are in the order of `_id`, or no two entries have equal fields.
        let natural = backward.unwrap_or(descending);
        let is_unique = source.is_unique() && from == single;
        if is_unique || natural == descending {
            return (SortStrategy::IndexOrder, natural);
        }
    }
    (
        SortStrategy::PartialSort { fields: at },
        backward.unwrap_or(false),
    )
}

/// Whether a field has one value in all keys that are read, without an effect on the order.
fn is_fixed(
    source: &Source<'_>,
    single: usize,
    constraints: &Constraints<'_>,
    path: &str,
    texts: Texts<'_>,
) -> bool {
    // Texts with the same key are ordered by what the key does not tell, unless the order does not, either.
    let tells_all = source.texts() == Texts::AsTheyAre || source.texts() == texts;
    let by_index = (0..single).any(|at| source.field(at).0 == path && !source.is_multikey(at));
    by_index
        && (tells_all || is_without_texts(constraints, path))
        && constraints
            .all
            .iter()
            .any(|constraint| constraint.path == path)
}

/// Whether a constraint leaves values at a path that are in one order, however texts are compared. Each document has one value there.
fn is_without_texts(constraints: &Constraints<'_>, path: &str) -> bool {
    let mut on_path = constraints.all.iter().filter(|one| one.path == path);
    on_path.any(Constraint::is_without_texts)
}

impl AccessPath<'_, '_> {
    /// Whether the part of the keys that gives the order has exactly the requested fields. Fields that have one value in all keys are not
    /// in it.
    pub(super) fn gives_all(&self, wanted: &OrderSpec<'_>) -> bool {
        let given = (self.order_from..self.source.len()).map(|at| self.source.field(at).0);
        given.eq(wanted.fields.iter().map(|(path, _)| &**path))
    }

    /// Leaves out the keys before the position after which the query starts, as far as the order of the index allows. The remaining
    /// documents are still compared with the position.
    pub(super) fn seek(
        &mut self,
        single: usize,
        constraints: &Constraints<'_>,
        wanted: &OrderSpec<'_>,
    ) {
        if !matches!(
            self.order,
            SortStrategy::IndexOrder | SortStrategy::PartialSort { .. }
        ) {
            return;
        }
        let Some(after) = self.position(single, constraints, wanted) else {
            return;
        };
        let (source, from, backward) = (&self.source, self.order_from, self.backward);
        self.ranges.retain_mut(|range| {
            let Some(start) = fields_len(source, &range.lower, from) else {
                return true;
            };
            let position = [&range.lower[..start], &after].concat();
            if backward {
                let end = after_prefix(&position);
                range.upper = std::mem::take(&mut range.upper).min(end);
            } else {
                range.lower = std::mem::take(&mut range.lower).max(position);
            }
            range.lower < range.upper
        });
    }

    /// The beginning of the part of the keys that gives the order, at the position after which the query starts, or `None` if no key that
    /// is read has the position.
    fn position(
        &self,
        single: usize,
        constraints: &Constraints<'_>,
        wanted: &OrderSpec<'_>,
    ) -> Option<Vec<u8>> {
        let after = wanted.after?;
        let first = self.ranges.first()?;
        let mut position = Vec::new();
        let mut at = self.order_from;
        let keys = wanted.fields.iter().map(|(path, _)| path).zip(after);
        for (path, value) in keys {
            let value = value.as_raw_bson_ref();
            if is_fixed(&self.source, single, constraints, path, wanted.texts) {
                let field = (0..single).find(|&at| self.source.field(at).0 == path)?;
                if self.fixed_key(&first.lower, field)?
                    != directed_key(value, self.source.field(field).1, self.source.texts())
                {
                    // All keys come before the position, or all after it.
                    return None;
                }
                continue;
            }
            let direction = self.source.field(at).1;
            self.source.texts().encode(value, direction, &mut position);
            at += 1;
        }
        // The documents, and the entries of an index that is not unique, are ordered by `_id` next.
        let then_by_id = match self.source.index {
            None => at == 0,
            Some(index) => {
                !index.spec.unique
                    && at == self.source.len()
                    && self.order == SortStrategy::IndexOrder
            }
        };
        if then_by_id && let Some(id) = after.last() {
            key::encode(id.as_raw_bson_ref(), &mut position);
        }
        Some(position)
    }

    /// The key of a field that has one value in all keys that are read.
    fn fixed_key<'k>(&self, key: &'k [u8], field: usize) -> Option<&'k [u8]> {
        let begin = fields_len(&self.source, key, field)?;
        let end = fields_len(&self.source, key, field + 1)?;
        key.get(begin..end)
    }
}

fn directed_key(value: RawBsonRef<'_>, direction: Direction, texts: Texts<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    texts.encode(value, direction, &mut key);
    key
}

/// The length of the first fields of a key.
pub(in super::super) fn fields_len(
    source: &Source<'_>,
    key: &[u8],
    fields: usize,
) -> Option<usize> {
    let mut len = 0;
    for at in 0..fields {
        len += key::skip(key.get(len..)?, source.field(at).1)?;
    }
    Some(len)
}
