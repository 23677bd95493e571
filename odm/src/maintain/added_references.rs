//! References that a write adds must lead somewhere.

use std::collections::HashSet;

use bson::RawBson;

use super::Effect;
use crate::{
    catalog::{Catalog, Edge, references},
    error::{Error, ErrorKind, Result, show},
    mql::key,
    store::{Flow, Transaction},
};

/// Looks up what the added references lead to, with one request for each kind of reference.
///
/// What a document referred to before is not asked for again: a reference that was allowed to
/// dangle does not make its holder unchangeable.
pub(super) async fn check(
    catalog: &Catalog,
    transaction: &dyn Transaction,
    collection: &str,
    effects: &[Effect],
) -> Result<()> {
    for edge in catalog
        .edges_from(collection)
        .filter(|edge| !edge.unchecked)
    {
        let added = added(edge, effects);
        if added.is_empty() {
            continue;
        }
        let mut exists = vec![false; added.len()];
        transaction
            .get(&edge.to, &added, &mut |position, _| {
                exists[position] = true;
                Ok(Flow::More)
            })
            .await?;
        if let Some(missing) = exists.iter().position(|exists| !exists) {
            let id = &added[missing];
            return Err(Error::new(
                ErrorKind::DanglingReference,
                format!(
                    "`{}` of a document in `{}` refers to the `_id` {}, which `{}` does not have",
                    edge.path,
                    edge.from,
                    show(id),
                    edge.to
                ),
            )
            .at(&edge.from, Some(&edge.path), Some(id.clone())));
        }
    }
    Ok(())
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
