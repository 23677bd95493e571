//! The consequences of a delete for the referrers of the deleted documents.

use std::collections::{BTreeMap, HashSet, VecDeque};

use bson::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Find, FindByKey, Result, mutants::mutant, show};

use super::{
    cold,
    places::{FieldValues, each_embedded},
    unit::{DocumentPages, Unit, id},
};
use crate::catalog::{Edge, OnDelete, join, references};

/// The rules of the references to the documents that a unit has removed, including documents that are removed by these rules.
#[derive(Default)]
pub(super) struct DeleteRules<'c> {
    tasks: VecDeque<ReferrerTask<'c>>,
    /// The removed documents that no reference along the edge may name at the end of the unit: a referrer that is removed in the
    /// same unit is gone by then.
    restricting: Vec<(&'c Edge, Vec<RawBson>)>,
    rounds: usize,
}

/// The referrers by one edge, which are changed or removed page by page.
struct ReferrerTask<'c> {
    edge: &'c Edge,
    removed: HashSet<Vec<u8>>,
    referrers: DocumentPages,
}

impl<'c> DeleteRules<'c> {
    /// Applies the rules until no task is left or, if the unit is paged, the page is full. Returns whether tasks may be left.
    pub(super) fn apply<'f>(
        &'f mut self,
        unit: &'f mut Unit<'c>,
        is_paged: bool,
    ) -> BoxFuture<'f, Result<bool>> {
        Box::pin(async move {
            loop {
                while let Some(task) = self.tasks.front_mut() {
                    if !task.next_page(unit).await? {
                        self.tasks.pop_front();
                    }
                    if is_paged && unit.is_page_full() {
                        cold::follow_deletes(unit).await?;
                        return Ok(true);
                    }
                }
                if !self.add_removed(unit).await? {
                    // The references in a cold part belong to its document, and go with it.
                    cold::follow_deletes(unit).await?;
                    return Ok(false);
                }
            }
        })
    }

    /// Adds the rules for the documents that were removed since the last call. Returns whether there are any.
    async fn add_removed(&mut self, unit: &mut Unit<'c>) -> Result<bool> {
        let mut removed: BTreeMap<String, Vec<RawBson>> = BTreeMap::new();
        for (collection, id) in unit.take_removed() {
            removed.entry(collection).or_default().push(id);
        }
        if removed.is_empty() {
            return Ok(false);
        }
        self.rounds += 1;
        if mutant("cascade of a cascade") && self.rounds > 1 {
            return Ok(false);
        }
        let catalog = unit.catalog;
        for (collection, ids) in removed {
            for edge in catalog.edges_into(&collection) {
                if edge.on_delete == OnDelete::Keep {
                    continue;
                }
                divide_referrers(unit, edge, &ids).await?;
                if edge.on_delete == OnDelete::Restrict {
                    self.restricting.push((edge, ids.clone()));
                    continue;
                }
                let keys = ids.iter().map(|id| key::of(id.as_raw_bson_ref()));
                let referrers =
                    unit.find_referrers((&edge.to, ids.clone()), &edge.from, &edge.path);
                self.tasks.push_back(ReferrerTask {
                    edge,
                    removed: keys.collect(),
                    referrers: DocumentPages::new(referrers),
                });
            }
        }
        Ok(true)
    }

    /// Refuses the unit if a reference that restricts deletes names a removed document.
    pub(super) fn restrict<'f>(self, unit: &'f mut Unit<'c>) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            for (edge, ids) in self.restricting {
                if mutant("restrict") {
                    break;
                }
                restrict(unit, edge, &ids).await?;
            }
            Ok(())
        })
    }
}

impl ReferrerTask<'_> {
    /// Applies the rule to the next referrers. Returns whether there may be more.
    async fn next_page(&mut self, unit: &mut Unit<'_>) -> Result<bool> {
        let ReferrerTask {
            edge,
            removed,
            referrers,
        } = self;
        let page = unit.next_page(referrers).await?;
        let is_cut;
        if edge.on_delete == OnDelete::Cascade {
            remove(unit, edge, page).await?;
            is_cut = mutant("second page of a cascade");
        } else {
            is_cut = mutant("second page to nullify");
            for at in page {
                if mutant("one reference to nullify") && at == 1 {
                    continue;
                }
                if let Some(document) = unit.document(&edge.from, at) {
                    let fields = cleared(document, edge, removed);
                    set_references(unit, edge, at, fields).await?;
                }
            }
        }
        Ok(referrers.has_more() && !is_cut)
    }
}

/// Stores inline values of older documents as cold parts if they reference deleted documents, so that the rule finds them.
async fn divide_referrers(unit: &mut Unit<'_>, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    let split = unit.catalog.split_in(&edge.from);
    let Some(split) = split.filter(|split| unit.catalog.is_pending(&split.hot, &split.path)) else {
        return Ok(());
    };
    let path = join(&split.path, &edge.path);
    let referred = (edge.to.as_str(), deleted.to_vec());
    let mut pages = DocumentPages::new(unit.find_referrers(referred, &split.hot, &path));
    while pages.has_more() {
        let page = unit.next_page(&mut pages).await?;
        cold::divide_stored(unit, &split.hot, &page).await?;
    }
    Ok(())
}

/// Removes referrers. If a referrer is a cold part, its whole document is removed.
async fn remove(unit: &mut Unit<'_>, edge: &Edge, page: Vec<usize>) -> Result<()> {
    let Some(split) = unit.catalog.split_in(&edge.from) else {
        for at in page {
            unit.remove(&edge.from, at).await?;
        }
        return Ok(());
    };
    let images = unit.images(&split.cold);
    let owners = page.into_iter().filter_map(|at| {
        let part = images.at(at).now()?;
        path::get(part, &split.key).map(RawBson::from)
    });
    let owners: Vec<RawBson> = owners.collect();
    for at in unit.load_existing(&split.hot, &owners).await? {
        unit.remove(&split.hot, at).await?;
    }
    Ok(())
}

/// Changes references along an edge in a document. References in a cold part are base data of its document, whose version counts
/// the change.
pub(super) async fn set_references(
    unit: &mut Unit<'_>,
    edge: &Edge,
    at: usize,
    fields: FieldValues,
) -> Result<()> {
    if !unit.set(&edge.from, at, fields).await? {
        return Ok(());
    }
    let Some(split) = unit.catalog.split_in(&edge.from) else {
        return Ok(());
    };
    let part = unit.document(&edge.from, at);
    let owner = part.and_then(|part| path::get(part, &split.key));
    match owner.map(RawBson::from) {
        Some(_) if mutant("version of a cleared cold part") => Ok(()),
        Some(owner) => cold::touch(unit, split, &[owner]).await,
        None => Ok(()),
    }
}

/// The references of a document to gone documents, cleared by the rule of the edge.
pub(super) fn cleared(document: &RawDocument, edge: &Edge, gone: &HashSet<Vec<u8>>) -> FieldValues {
    match (&edge.on_delete, &edge.list) {
        (OnDelete::Pull, Some(_)) if mutant("pull") => FieldValues::new(),
        (OnDelete::Pull, Some(list)) => pulled(document, edge, list, gone),
        _ => nullified(document, edge, gone),
    }
}

/// The references to gone documents as null, or removed from an array that a raw update has put in the place of a reference.
fn nullified(document: &RawDocument, edge: &Edge, gone: &HashSet<Vec<u8>>) -> FieldValues {
    let (within, name) = edge.path.rsplit_once('.').unwrap_or(("", &edge.path));
    let is_gone = |id: RawBsonRef<'_>| gone.contains(&key::of(id));
    let mut fields = FieldValues::new();
    each_embedded(document, within, &mut |place, inner| {
        let left = match path::get(inner, name) {
            Some(RawBsonRef::Array(ids)) => without(ids, is_gone),
            Some(id) if is_gone(id) => Some(RawArrayBuf::new()),
            _ => None,
        };
        if let Some(left) = left {
            let value = if left.is_empty() {
                RawBson::Null
            } else {
                RawBson::Array(left)
            };
            fields.push((place.path_of(name), Some(value)));
        }
    });
    fields
}

/// The lists without the elements that are, or contain, references to gone documents. A value that a raw update has put in the
/// place of a list counts as one element.
fn pulled(document: &RawDocument, edge: &Edge, list: &str, gone: &HashSet<Vec<u8>>) -> FieldValues {
    let rest = edge.path[list.len()..].trim_start_matches('.');
    let refers = |element: RawBsonRef<'_>| match element {
        _ if rest.is_empty() => gone.contains(&key::of(element)),
        RawBsonRef::Document(element) => {
            let mut found = false;
            references(element, rest, |id| found |= gone.contains(&key::of(id)));
            found
        }
        _ => false,
    };
    let (within, name) = list.rsplit_once('.').unwrap_or(("", list));
    let mut fields = FieldValues::new();
    each_embedded(document, within, &mut |place, inner| {
        let left = match path::get(inner, name) {
            Some(RawBsonRef::Array(elements)) => without(elements, refers),
            Some(element) if refers(element) => Some(RawArrayBuf::new()),
            _ => None,
        };
        if let Some(left) = left {
            fields.push((place.path_of(name), Some(RawBson::Array(left))));
        }
    });
    fields
}

/// An array without the elements that `leaves` selects; `None` if it selects no element.
fn without(array: &RawArray, leaves: impl Fn(RawBsonRef<'_>) -> bool) -> Option<RawArrayBuf> {
    let mut left = RawArrayBuf::new();
    let mut is_same = true;
    for element in array.into_iter().flatten() {
        if leaves(element) {
            is_same = false;
        } else {
            left.push(element);
        }
    }
    (!is_same).then_some(left)
}

async fn restrict(unit: &mut Unit<'_>, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    for keys in deleted.chunks(unit.bounds.chunk) {
        let referrers = FindByKey {
            find: Find {
                collection: edge.from.clone(),
                limit: Some(1),
                ..Find::default()
            },
            path: edge.path.clone(),
            keys: keys.to_vec(),
        };
        let found = unit.search_by_key(&referrers).await?;
        for (deleted, referrers) in keys.iter().zip(found) {
            if let Some(referrer) = referrers.first() {
                return Err(restricted(unit, edge, deleted, referrer));
            }
        }
    }
    Ok(())
}

fn restricted(unit: &Unit<'_>, edge: &Edge, deleted: &RawBson, referrer: &RawDocument) -> Error {
    let referrer = match unit.catalog.split_in(&edge.from) {
        Some(split) => path::get(referrer, &split.key).map(RawBson::from),
        None => Some(id(referrer).into()),
    };
    let referrer = referrer.unwrap_or(RawBson::Null);
    let (collection, path) = unit.catalog.whole_path(&edge.from, &edge.path);
    let message = format!(
        "restricted delete: `{}` with `_id` = {} is referred to by `{collection}.{path}` of the \
         document with `_id` = {}; delete or change that one first",
        edge.to,
        show(deleted),
        show(&referrer),
    );
    Error::new(ErrorKind::Restricted, message).at(&collection, Some(&path), Some(referrer))
}

#[cfg(test)]
mod tests;
