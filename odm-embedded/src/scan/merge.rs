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
    next: BinaryHeap<NextEntry<'a>>,
}

/// The next entry of a range: the greatest comes first.
struct NextEntry<'a> {
    entry: PlanEntry<'a>,
    range: usize,
    backward: bool,
}

impl Ord for NextEntry<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.entry.ordered().cmp(other.entry.ordered());
        match self.backward {
            false => order.reverse(),
            true => order,
        }
    }
}

impl PartialOrd for NextEntry<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextEntry<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NextEntry<'_> {}

impl<'a> PlanEntries<'a> {
    /// The next entry of a plan that merges its ranges.
    pub(super) fn next_merged(&mut self, cost: &mut Cost) -> Result<Option<PlanEntry<'a>>> {
        let (access_paths, repeats) = (self.plan.access_paths(), self.repeats);
        let merged = match &mut self.merged {
            Some(merged) => merged,
            None => {
                let mut merged = Merged {
                    ranges: Vec::new(),
                    next: BinaryHeap::new(),
                };
                for (at, access) in access_paths.iter().enumerate() {
                    for range in &access.ranges {
                        let (tree, backward) = (access.source.tree, access.backward);
                        let range = self
                            .view
                            .range(tree, &range.lower, &range.upper, backward)?;
                        merged.ranges.push((at, range));
                        merged.pull(merged.ranges.len() - 1, access_paths, repeats, cost)?;
                    }
                }
                self.merged.insert(merged)
            }
        };
        let Some(NextEntry { entry, range, .. }) = merged.next.pop() else {
            return Ok(None);
        };
        merged.pull(range, access_paths, repeats, cost)?;
        Ok(Some(entry))
    }
}

impl Merged<'_> {
    /// Reads the next entry of a range.
    fn pull(
        &mut self,
        range: usize,
        access_paths: &[AccessPath<'_, '_>],
        repeats: bool,
        cost: &mut Cost,
    ) -> Result<()> {
        let (at, entries) = &mut self.ranges[range];
        let access = &access_paths[*at];
        let Some((key, value)) = entries.next()? else {
            return Ok(());
        };
        let order_start = fields_len(&access.source, &key, access.order_from)
            .ok_or_else(|| damaged("an index entry cannot be read"))?;
        let entry = entry(access, key, value, repeats, cost)?;
        self.next.push(NextEntry {
            entry: PlanEntry {
                order_start,
                ..entry
            },
            range,
            backward: access.backward,
        });
        Ok(())
    }
}
