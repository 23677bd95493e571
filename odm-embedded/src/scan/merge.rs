//! Ranges of entries that are read at the same time, and merged in order.

use std::{cmp::Ordering, collections::BinaryHeap};

use odm_store::{Cost, Result};

use super::{
    super::{
        layout::damaged,
        plan::{AccessPath, fields_len},
        view::EntryRange,
    },
    PlanEntries, PlanEntry, entry,
};

/// Ranges that are read at the same time.
pub(super) struct Merged<'a> {
    /// Each range, with the access path that it belongs to.
    ranges: Vec<(usize, EntryRange<'a>)>,
    /// The next entry of each range that has one.
    next: BinaryHeap<NextEntry>,
    /// The entry that was returned.
    present: Option<NextEntry>,
}

/// The next entry of a range: the greatest comes first. A copy, since ranges keep only their present entry, which they have passed when
/// this one is returned.
struct NextEntry {
    key: Vec<u8>,
    value: Vec<u8>,
    /// The position of the part of the key that gives the order.
    order_start: usize,
    range: usize,
    backward: bool,
}

impl NextEntry {
    /// The part of the key that gives the order.
    fn ordered(&self) -> &[u8] {
        &self.key[self.order_start..]
    }
}

impl Ord for NextEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.ordered().cmp(other.ordered());
        match self.backward {
            false => order.reverse(),
            true => order,
        }
    }
}

impl PartialOrd for NextEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NextEntry {}

impl<'a> PlanEntries<'a> {
    /// The next entry of a plan that merges its ranges.
    pub(super) fn next_merged(&mut self, cost: &mut Cost) -> Result<Option<PlanEntry<'_>>> {
        let access_paths = self.plan.access_paths();
        if self.merged.is_none() {
            let mut merged = Merged {
                ranges: Vec::new(),
                next: BinaryHeap::new(),
                present: None,
            };
            for (at, access) in access_paths.iter().enumerate() {
                for range in &access.ranges {
                    let (tree, backward) = (access.source.tree, access.backward);
                    let range = self
                        .view
                        .range(tree, &range.lower, &range.upper, backward)?;
                    merged.ranges.push((at, range));
                    merged.pull(merged.ranges.len() - 1, access_paths, cost)?;
                }
            }
            self.merged = Some(merged);
        }
        let Some(merged) = &mut self.merged else {
            return Ok(None);
        };
        let Some(next) = merged.next.pop() else {
            return Ok(None);
        };
        merged.pull(next.range, access_paths, cost)?;
        let present = merged.present.insert(next);
        let access = &access_paths[merged.ranges[present.range].0];
        let entry = entry(access, &present.key, &present.value, self.repeats)?;
        Ok(Some(PlanEntry {
            order_start: present.order_start,
            ..entry
        }))
    }
}

impl Merged<'_> {
    /// Reads the next entry of a range.
    fn pull(
        &mut self,
        range: usize,
        access_paths: &[AccessPath<'_, '_>],
        cost: &mut Cost,
    ) -> Result<()> {
        let (at, entries) = &mut self.ranges[range];
        let access = &access_paths[*at];
        let Some((key, value)) = entries.next()? else {
            return Ok(());
        };
        access.count(cost);
        let order_start = fields_len(&access.source, key, access.order_from)
            .ok_or_else(|| damaged("an index entry cannot be read"))?;
        self.next.push(NextEntry {
            key: key.to_vec(),
            value: value.to_vec(),
            order_start,
            range,
            backward: access.backward,
        });
        Ok(())
    }
}
