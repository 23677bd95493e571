//! What a delete means for the documents that refer to what was deleted.

use std::{
    collections::{BTreeMap, HashSet},
    ops::ControlFlow,
};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};

use super::{
    places::{Fields, lists, structs},
    splits,
    unit::{Unit, id},
};
use crate::{
    catalog::{Edge, OnDelete, join, references},
    error::{Error, ErrorKind, Result, show},
    mql::{Filter, Test, key, path},
    store::{DeleteWrite, Find, FindByKey},
};

/// How many referrers are changed at once.
const CHUNK: usize = 500;

/// Applies the rule of each reference that leads to a deleted document, and to what is deleted for
/// that reason, until nothing follows any more.
///
/// What forbids a delete is asked at the end: a referrer that is deleted in the same unit is gone by
/// then, and so does not restrict.
pub(super) async fn apply(unit: &mut Unit<'_>) -> Result<()> {
    let catalog = unit.catalog;
    let mut known = 0;
    let mut restricting: Vec<(&Edge, Vec<RawBson>)> = Vec::new();
    loop {
        let mut deleted: BTreeMap<String, Vec<RawBson>> = BTreeMap::new();
        let removed = unit.changes.removed_since(known);
        known += removed.len();
        for (collection, id) in removed {
            let ids = deleted.entry(collection.clone()).or_default();
            ids.push(id.clone());
        }
        if deleted.is_empty() {
            break;
        }
        for (collection, ids) in &deleted {
            for edge in catalog.edges_into(collection) {
                match edge.on_delete {
                    OnDelete::Restrict => restricting.push((edge, ids.clone())),
                    OnDelete::Keep => {}
                    OnDelete::Cascade => cascade(unit, edge, ids).await?,
                    OnDelete::Nullify | OnDelete::Pull => let_go(unit, edge, ids).await?,
                }
            }
        }
    }
    // What a half refers to is held by its document.
    splits::follow_deletes(unit).await?;
    for (edge, ids) in restricting {
        restrict(unit, edge, &ids).await?;
    }
    Ok(())
}

/// Deletes the documents that refer to what is deleted.
async fn cascade(unit: &mut Unit<'_>, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    let filter = Filter::Path(edge.path.clone().into(), Test::In(deleted.to_vec()));
    // Of a half that is stored apart, the whole document goes.
    let half = unit.catalog.split_in(&edge.from);
    let write = match half {
        None => DeleteWrite {
            collection: edge.from.clone(),
            filter,
            multi: true,
        },
        Some(split) => {
            let mut owners = Vec::new();
            let find = Find {
                collection: split.cold.clone(),
                filter,
                ..Find::default()
            };
            let each = &mut |_, half: &RawDocument| {
                owners.extend(path::get(half, &split.key).map(RawBson::from));
                Ok(ControlFlow::Continue(()))
            };
            unit.transaction.find(&find, each).await?;
            DeleteWrite {
                collection: split.hot.clone(),
                filter: Filter::Path("_id".into(), Test::In(owners)),
                multi: true,
            }
        }
    };
    unit.delete(&write).await?;
    Ok(())
}

/// Empties the references to what is deleted, or takes them out of their lists.
async fn let_go(unit: &mut Unit<'_>, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    let gone: HashSet<Vec<u8>> = deleted
        .iter()
        .map(|id| key::of(id.as_raw_bson_ref()))
        .collect();
    let filter = Filter::Path(edge.path.clone().into(), Test::In(deleted.to_vec()));
    let referrers = unit.ids(&edge.from, filter).await?;
    for ids in referrers.chunks(CHUNK) {
        for document in unit.get_many(&edge.from, ids).await? {
            let fields = match (&edge.on_delete, &edge.list) {
                (OnDelete::Pull, Some(list)) => pulled(&document, edge, list, &gone),
                _ => nullified(&document, edge, &gone),
            };
            unit.set_facts(&edge.from, &id(&document).into(), fields)
                .await?;
        }
    }
    Ok(())
}

/// The references to what is gone as null.
pub(super) fn nullified(document: &RawDocument, edge: &Edge, gone: &HashSet<Vec<u8>>) -> Fields {
    let (within, name) = edge.path.rsplit_once('.').unwrap_or(("", &edge.path));
    let mut fields = Fields::new();
    structs(document, within, &mut |place, inner| {
        if path::get(inner, name).is_some_and(|id| gone.contains(&key::of(id))) {
            fields.push((join(&place, name), Some(RawBson::Null)));
        }
    });
    fields
}

/// The lists without the elements that are, or hold, references to what is gone.
pub(super) fn pulled(
    document: &RawDocument,
    edge: &Edge,
    list: &str,
    gone: &HashSet<Vec<u8>>,
) -> Fields {
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
    let mut fields = Fields::new();
    lists(document, list, &mut |place, elements| {
        let mut left = RawArrayBuf::new();
        let mut all = true;
        for element in elements.into_iter().flatten() {
            if refers(element) {
                all = false;
            } else {
                left.push(element);
            }
        }
        if !all {
            fields.push((place, Some(RawBson::Array(left))));
        }
    });
    fields
}

async fn restrict(unit: &Unit<'_>, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    let referrers = FindByKey {
        find: Find {
            collection: edge.from.clone(),
            limit: Some(1),
            ..Find::default()
        },
        path: edge.path.clone(),
        keys: deleted.to_vec(),
    };
    let half = unit.catalog.split_in(&edge.from);
    let mut found = None;
    unit.transaction
        .find_by_key(&referrers, &mut |key, document| {
            let owner = half.map_or("_id", |split| &split.key);
            let owner = path::get(document, owner).map(RawBson::from);
            found = Some((key, owner.unwrap_or(RawBson::Null)));
            Ok(ControlFlow::Break(()))
        })
        .await?;
    match found {
        None => Ok(()),
        Some((key, referrer)) => {
            let (collection, path) = unit.catalog.shown_as(&edge.from, &edge.path);
            let message = format!(
                "the document with the `_id` {} in `{}` cannot be deleted: `{path}` of the document \
                 with the `_id` {} in `{collection}` refers to it",
                show(&deleted[key]),
                edge.to,
                show(&referrer),
            );
            Err(Error::new(ErrorKind::Restricted, message).at(
                &collection,
                Some(&path),
                Some(referrer),
            ))
        }
    }
}
