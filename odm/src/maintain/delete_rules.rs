//! What a delete means for the documents that refer to what was deleted.

use bson::RawBson;

use super::{Effect, unit::Unit};
use crate::{
    catalog::{Edge, OnDelete},
    error::{Error, ErrorKind, Result, show},
    store::{Find, FindByKey, Flow, Transaction},
};

/// Applies the rule of each reference that leads to a deleted document.
///
/// What was deleted in the same unit is gone by now, and so does not restrict.
pub(super) async fn apply(unit: &mut Unit<'_>) -> Result<()> {
    for collection in unit.changes.collections() {
        if unit.catalog.edges_into(collection).next().is_none() {
            continue;
        }
        let deleted: Vec<RawBson> = unit
            .changes
            .of(collection)
            .iter()
            .filter_map(Effect::deleted)
            .collect();
        if deleted.is_empty() {
            continue;
        }
        for edge in unit.catalog.edges_into(collection) {
            match edge.on_delete {
                OnDelete::Restrict => restrict(unit.transaction, edge, &deleted).await?,
                OnDelete::Keep => {}
            }
        }
    }
    Ok(())
}

async fn restrict(transaction: &dyn Transaction, edge: &Edge, deleted: &[RawBson]) -> Result<()> {
    let referrers = FindByKey {
        find: Find {
            collection: edge.from.clone(),
            limit: Some(1),
            ..Find::default()
        },
        path: edge.path.clone(),
        keys: deleted.to_vec(),
    };
    let mut found = None;
    transaction
        .find_by_key(&referrers, &mut |key, document| {
            let referrer = document.get("_id").ok().flatten().map(RawBson::from);
            found = Some((key, referrer.unwrap_or(RawBson::Null)));
            Ok(Flow::Stop)
        })
        .await?;
    match found {
        None => Ok(()),
        Some((key, referrer)) => Err(Error::new(
            ErrorKind::Restricted,
            format!(
                "the document with the `_id` {} in `{}` cannot be deleted: `{}` of the document \
                 with the `_id` {} in `{}` refers to it",
                show(&deleted[key]),
                edge.to,
                edge.path,
                show(&referrer),
                edge.from,
            ),
        )
        .at(&edge.from, Some(&edge.path), Some(referrer))),
    }
}
