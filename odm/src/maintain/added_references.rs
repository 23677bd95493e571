//! References that a write adds must lead somewhere.

use std::{collections::HashSet, ops::ControlFlow};

use bson::RawBson;

use super::{Effect, unit::Unit};
use crate::{
    catalog::{Edge, references},
    error::{Error, ErrorKind, Result, show},
    mql::key,
};

/// Looks up what the added references lead to, with one request for each kind of reference.
///
/// What a document referred to before is not asked for again: a reference that was allowed to
/// dangle does not make its holder unchangeable.
pub(super) async fn check(unit: &Unit<'_>) -> Result<()> {
    for collection in unit.changes.collections() {
        for edge in unit.catalog.edges_from(collection) {
            if !edge.unchecked {
                let added = added(edge, unit.changes.of(collection));
                exist(unit, edge, &added).await?;
            }
        }
    }
    Ok(())
}

async fn exist(unit: &Unit<'_>, edge: &Edge, added: &[RawBson]) -> Result<()> {
    if added.is_empty() {
        return Ok(());
    }
    let mut exists = vec![false; added.len()];
    unit.transaction
        .get(&edge.to, added, &mut |position, _| {
            exists[position] = true;
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    let Some(missing) = exists.iter().position(|exists| !exists) else {
        return Ok(());
    };
    let id = &added[missing];
    let (collection, path) = unit.catalog.shown_as(&edge.from, &edge.path);
    let message = format!(
        "`{path}` of a document in `{collection}` refers to the `_id` {}, which `{}` does not have",
        show(id),
        edge.to
    );
    Err(Error::new(ErrorKind::DanglingReference, message).at(
        &collection,
        Some(&path),
        Some(id.clone()),
    ))
}

/// The ids that the documents refer to now and did not before, each once.
fn added(edge: &Edge, effects: &[Effect]) -> Vec<RawBson> {
    let mut seen = HashSet::new();
    let mut added = Vec::new();
    for effect in effects {
        let Some(after) = &effect.after else { continue };
        let mut before = HashSet::new();
        if let Some(document) = &effect.before {
            references(document, &edge.path, |id| {
                before.insert(key::of(id));
            });
        }
        references(after, &edge.path, |id| {
            let key = key::of(id);
            if !before.contains(&key) && seen.insert(key) {
                added.push(id.into());
            }
        });
    }
    added
}
