//! The unread updates of lists of inverse references.
//!
//! An added reference adds its holder to the list of the document that it names, and a removed reference removes its holder from
//! that list. The updates are queued after all other steps, if the unit has not read the document meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use bson::{RawBson, spec::ElementType};
use odm_mql::{Filter, Operation, Push, Test, Update, is_scalar, key};
use odm_store::Result;

use super::unread::DocumentKey;
use crate::{
    catalog::{Cardinality, Edge},
    maintain::{
        derived::is_number,
        inverse::{ReferenceChanges, Sides},
        long_lists::LONG,
        unit::Unit,
    },
};

/// Above this many changes of one list, reading the document is cheaper than a long update.
const CHANGES: usize = 16;

/// The changes of lists in unread documents.
#[derive(Default)]
pub(super) struct ListUpdates<'c> {
    documents: BTreeMap<DocumentKey, UnreadDocument<'c>>,
}

struct UnreadDocument<'c> {
    id: RawBson,
    lists: BTreeMap<&'c str, ListChanges<'c>>,
}

/// The changes of one list.
struct ListChanges<'c> {
    /// The references whose inverse is the list.
    edge: &'c Edge,
    list: &'c Edge,
    /// The documents that the list gets, since they reference its document now, and the documents that it loses.
    added: Vec<RawBson>,
    removed: Vec<RawBson>,
}

/// Whether unread updates can change the lists of an edge: no other field depends on the lists, and nothing else refreshes their
/// documents.
pub(super) fn can_update(unit: &mut Unit<'_>, edge: &Edge, list: &Edge) -> bool {
    if list.cardinality != Cardinality::Many || list.from == edge.from || !unit.has_unread_updates()
    {
        return false;
    }
    let catalog = unit.catalog;
    !catalog.is_list_read(list)
        && !is_refreshed(unit, &list.from, &edge.from)
        && catalog.tries_unread(&list.from)
}

/// Whether the refresh may change documents of `holder`, if the inverses of the references in `from` have changed.
fn is_refreshed(unit: &Unit<'_>, holder: &str, from: &str) -> bool {
    let catalog = unit.catalog;
    let inverses = catalog.edges_from(from);
    let inverses = inverses.filter(|edge| catalog.inverse_of(edge).is_some());
    let inverses: BTreeSet<&str> = inverses.map(|edge| &*edge.to).collect();
    let following = catalog.following(
        |field| {
            let source = field.source();
            inverses.contains(source) || unit.images(source).changed().next().is_some()
        },
        |field| !unit.defers(&**field),
    );
    let mut holders = following.iter().map(|field| field.ordered.field.holder());
    holders.any(|of| of == holder)
}

impl<'c> ListUpdates<'c> {
    pub(super) fn add(&mut self, edge: &'c Edge, list: &'c Edge, changes: ReferenceChanges) {
        for (own, target) in changes.claims {
            self.list(edge, list, target).added.push(own);
        }
        for (own, target) in changes.lost {
            self.list(edge, list, target).removed.push(own);
        }
    }

    fn list(&mut self, edge: &'c Edge, list: &'c Edge, id: RawBson) -> &mut ListChanges<'c> {
        let key = (list.from.clone(), key::of(id.as_raw_bson_ref()));
        let document = self.documents.entry(key);
        let document = document.or_insert_with(|| UnreadDocument {
            id,
            lists: BTreeMap::new(),
        });
        let lists = document.lists.entry(&list.path);
        lists.or_insert_with(|| ListChanges {
            edge,
            list,
            added: Vec::new(),
            removed: Vec::new(),
        })
    }

    /// Queues the updates of the documents, and changes the documents that the unit has read, or has to read.
    pub(super) async fn queue(&mut self, unit: &mut Unit<'c>) -> Result<()> {
        let mut read = BTreeSet::new();
        for (key, document) in &self.documents {
            let (collection, id_key) = key;
            let update = match unit.images(collection).position(id_key) {
                Some(_) => None,
                None => update(unit, collection, document),
            };
            match update {
                Some(update) => {
                    unit.check_right(collection)?;
                    unit.unread.update(collection, document.id.clone(), update);
                }
                None => drop(read.insert(key.clone())),
            }
        }
        self.change_read(unit, &read).await
    }

    /// Reads and changes the documents whose updates have not matched, and removes them from `unmatched`.
    pub(super) async fn read_unmatched(
        &mut self,
        unit: &mut Unit<'c>,
        unmatched: &mut BTreeSet<DocumentKey>,
    ) -> Result<()> {
        let all = std::mem::take(unmatched).into_iter();
        let (own, others) = all.partition(|key| self.documents.contains_key(key));
        *unmatched = others;
        self.change_read(unit, &own).await
    }

    async fn change_read(
        &mut self,
        unit: &mut Unit<'c>,
        keys: &BTreeSet<DocumentKey>,
    ) -> Result<()> {
        let documents = keys.iter().filter_map(|key| self.documents.remove(key));
        let documents: Vec<UnreadDocument<'c>> = documents.collect();
        let mut sides = Sides::default();
        let mut loaded: BTreeMap<(&str, &str), (&Edge, Vec<RawBson>)> = BTreeMap::new();
        for document in &documents {
            for changes in document.lists.values() {
                let list = changes.list;
                let (_, ids) = loaded
                    .entry((&list.from, &list.path))
                    .or_insert((list, Vec::new()));
                ids.push(document.id.clone());
            }
        }
        for (list, ids) in loaded.into_values() {
            sides.load(unit, list, ids).await?;
        }
        for UnreadDocument { id, lists } in &documents {
            for changes in lists.values() {
                for own in &changes.added {
                    let (edge, list) = (changes.edge, changes.list);
                    sides.attach(unit, edge, list, own, id).await?;
                }
                for own in &changes.removed {
                    sides.detach(unit, changes.list, id, own).await?;
                }
            }
        }
        sides.store(unit).await
    }
}

/// The update of a document, and the filter with its premise; `None` if no filter can state the premise.
fn update(
    unit: &Unit<'_>,
    collection: &str,
    document: &UnreadDocument<'_>,
) -> Option<(Filter, Update)> {
    let mut update = Update::default();
    let mut conditions = Vec::new();
    for (path, changes) in &document.lists {
        let path = (*path).to_owned();
        let mut matches = |test| conditions.push(Filter::Path(path.clone().into(), test));
        let ids = || changes.added.iter().chain(&changes.removed);
        if ids().count() > CHANGES || !ids().all(is_scalar) {
            return None;
        }
        matches(Test::Type(vec![ElementType::Array]));
        match (&changes.added[..], &changes.removed[..]) {
            (added, []) => {
                matches(Test::Nin(added.to_vec().into()));
                let last = format!("{path}.{}", LONG - added.len());
                conditions.push(Filter::Path(last.into(), Test::Exists(false)));
                let push = Push {
                    each: added.to_vec(),
                    ..Push::default()
                };
                update.push(path, Operation::Push(push));
            }
            ([], removed) => {
                removed
                    .iter()
                    .for_each(|own| matches(Test::Eq(own.clone())));
                update.push(path, Operation::PullAll(removed.to_vec()));
            }
            // One update cannot add to and remove from the same list.
            _ => return None,
        }
    }
    if let Some(fields) = unit.catalog.write_fields(collection) {
        if let Some(version) = &fields.version {
            conditions.push(is_number(version));
            update.push(version.clone(), Operation::Inc(RawBson::Int32(1)));
        }
        if let Some(updated_at) = &fields.updated_at {
            update.push(updated_at.clone(), Operation::Set(unit.time().into()));
        }
    }
    Some((Filter::And(conditions), update))
}
