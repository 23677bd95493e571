//! Whether the entries that a transaction has read have changed since it began.
//!
//! The memtables have the changes of all commits since the oldest open transaction began: the present memtable, the frozen one, and the
//! memtables that checkpoints have written into the engine since then.

use std::{
    collections::{BTreeSet, VecDeque},
    ptr,
    sync::Arc,
};

use bson::{RawBson, RawDocument};
use odm_store::{Error, ErrorKind, show_briefly};

use super::super::{
    layout::Tree,
    memtable::{CommitNumber, Memtables},
    overlay::Overlay,
    reads::{ReadEntries, TreeReads},
    reservations::{Lost, LostReads},
    schema::{Collection, Schema},
    snapshot::Snapshot,
    work::Work,
};

/// How many memtables are held for open transactions. An older transaction counts as one whose reads have changed.
const MAX_HELD: usize = 4;

/// The memtables that were written into the engine, and that open transactions do not have.
#[derive(Default)]
pub(super) struct History {
    held: VecDeque<Memtables>,
    /// The changes of all later commits are known.
    known_since: CommitNumber,
}

impl History {
    /// Adds a memtable that is in the engine now. `oldest` is the commit of the oldest open transaction.
    pub(super) fn add(&mut self, written: Memtables, oldest: Option<CommitNumber>) {
        self.held.push_back(written);
        let is_needed = |table: &Memtables| oldest.is_some_and(|oldest| table.commit > oldest);
        while let Some(first) = self.held.front()
            && (!is_needed(first) || self.held.len() > MAX_HELD)
        {
            self.known_since = first.commit;
            self.held.pop_front();
        }
    }

    /// Forgets all: the changes of a commit are in no memtable.
    pub(super) fn forget(&mut self, commit: CommitNumber) {
        self.held.clear();
        self.known_since = commit;
    }

    fn knows(&self, since: CommitNumber) -> bool {
        since >= self.known_since
    }
}

/// The state on which a transaction commits.
pub(super) struct CommitState<'a> {
    pub(super) history: &'a History,
    /// The memtables of the newest state.
    pub(super) newest: &'a Memtables,
    /// The changes of the units before it in its group.
    pub(super) group: &'a Overlay,
    pub(super) schema: &'a Arc<Schema>,
}

impl CommitState<'_> {
    /// Whether some of these entries have changed since a transaction began on a state.
    pub(super) fn has_changed(&self, reads: &ReadEntries, began: &Snapshot) -> bool {
        let since = began.memtables.commit;
        if reads.trees.is_empty() && reads.absent.is_empty() {
            return false;
        }
        let is_there = |name: &String| self.schema.collection(name).is_some();
        !self.history.knows(since)
            || !Arc::ptr_eq(self.schema, &began.schema)
                && (reads.absent.iter().any(is_there) || self.has_other_indexes(reads, began))
            || reads
                .trees
                .iter()
                .any(|(tree, reads)| self.has_changed_in(*tree, reads, since))
    }

    /// Whether the changes of a transaction would be others under the schema of now: other index entries, or another record of the schema.
    pub(super) fn has_other_entries(&self, work: &Work) -> bool {
        let began = &work.base.schema;
        if Arc::ptr_eq(self.schema, began) {
            return false;
        }
        let changed: BTreeSet<Tree> = work.overlay.trees().map(|(tree, ..)| tree).collect();
        // A collection that is unchanged is shared by both.
        let is_same = |before: &Collection| {
            let now = self.schema.collection(&before.name);
            now.is_some_and(|now| ptr::eq(before, &**now))
        };
        !Arc::ptr_eq(&work.schema, began)
            || began
                .collections()
                .any(|before| has_tree_of(before, &changed) && !is_same(before))
    }

    fn has_changed_in(&self, tree: Tree, reads: &TreeReads, since: CommitNumber) -> bool {
        let TreeReads { keys, ranges } = reads;
        keys.iter()
            .any(|key| self.has_changed_key(tree, key, since))
            || ranges
                .iter()
                .any(|range| self.has_changed_range(tree, range, since))
    }

    fn tables(&self) -> impl Iterator<Item = &Memtables> {
        self.history.held.iter().chain([self.newest])
    }

    fn has_changed_key(&self, tree: Tree, key: &[u8], since: CommitNumber) -> bool {
        self.tables()
            .any(|table| table.has_changed(tree, key, since))
            || self.group.get(tree, key).is_some()
    }

    fn has_changed_range(
        &self,
        tree: Tree,
        (lower, upper): &(Vec<u8>, Vec<u8>),
        since: CommitNumber,
    ) -> bool {
        let mut tables = self.tables();
        let changes = self.group.range(tree, lower, upper);
        tables.any(|table| table.has_changed_in(tree, (lower, upper), since))
            || changes.is_some_and(|mut changes| changes.next().is_some())
    }

    /// The entries that have changed since a transaction began on a state, as far as they are known.
    pub(super) fn changed(&self, reads: &ReadEntries, began: &Snapshot) -> ReadEntries {
        let since = began.memtables.commit;
        let trees = reads.trees.iter().filter_map(|(&tree, reads)| {
            let keys = reads.keys.iter();
            let keys = keys.filter(|key| self.has_changed_key(tree, key, since));
            let ranges = reads.ranges.iter();
            let ranges = ranges.filter(|range| self.has_changed_range(tree, range, since));
            let changed = TreeReads {
                keys: keys.cloned().collect(),
                ranges: ranges.cloned().collect(),
            };
            let is_changed = !changed.keys.is_empty() || !changed.ranges.is_empty();
            is_changed.then_some((tree, changed))
        });
        ReadEntries {
            trees: trees.collect(),
            absent: BTreeSet::new(),
        }
    }

    /// Whether queries of a collection that was read by its documents or an index now find their documents in another way.
    fn has_other_indexes(&self, reads: &ReadEntries, began: &Snapshot) -> bool {
        let read: BTreeSet<Tree> = reads.trees.keys().copied().collect();
        let mut collections = began.schema.collections();
        collections.any(|before| {
            has_tree_of(before, &read)
                && self
                    .schema
                    .collection(&before.name)
                    .is_none_or(|now| !has_same_paths(before, now))
        })
    }
}

/// The error of a transaction that began on a state, and has read entries that others have changed since.
pub(super) fn lost(changed: ReadEntries, last: Option<&LostReads>, began: &Snapshot) -> Error {
    let at = located(&changed, began);
    let what = match &at {
        None => "documents".to_owned(),
        Some((collection, None)) => format!("documents of `{collection}`"),
        Some((collection, Some(id))) => {
            let id = show_briefly(id.as_raw_bson_ref());
            format!("the document of `{collection}` with `_id` {id}")
        }
    };
    let message =
        format!("transaction lost: another one has changed {what} that it has read; run it again");
    let error = Error::new(ErrorKind::TransactionAborted, message).retryable();
    let lost = Lost(Arc::new(LostReads::after(last, changed)));
    let error = error.with_source(lost);
    match at {
        None => error,
        Some((collection, id)) => error.at(&collection, None, id),
    }
}

/// The collection of the first of some entries, and the `_id` of its document, if it is one.
fn located(changed: &ReadEntries, began: &Snapshot) -> Option<(String, Option<RawBson>)> {
    let mut collections = began.schema.collections();
    let (collection, tree, reads) = collections.find_map(|collection| {
        let mut trees = changed.trees.iter();
        let (tree, reads) = trees.find(|(tree, _)| has_tree_of(collection, &[**tree].into()))?;
        Some((collection, *tree, reads))
    })?;
    let documents = reads.keys.iter().filter(|_| tree == collection.tree);
    let id = documents.into_iter().find_map(|key| {
        let document = began.view().get(tree, key).ok()??;
        let document = RawDocument::from_bytes(&*document).ok()?;
        document.get("_id").ok()?.map(RawBson::from)
    });
    Some((collection.name.clone(), id))
}

/// Whether the documents or an index of a collection are in one of these trees.
fn has_tree_of(collection: &Collection, trees: &BTreeSet<Tree>) -> bool {
    let indexes = collection.indexes.iter().map(|index| index.tree);
    indexes
        .chain([collection.tree])
        .any(|tree| trees.contains(&tree))
}

fn has_same_paths(before: &Collection, now: &Collection) -> bool {
    let paths = |collection: &Collection| -> Vec<(Tree, Vec<bool>)> {
        let in_force = collection.in_force();
        in_force
            .map(|index| (index.tree, index.multikey.clone()))
            .collect()
    };
    before.tree == now.tree && paths(before) == paths(now)
}
