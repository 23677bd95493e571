//! Verifies that documents and indexes agree.

use std::collections::BTreeSet;

use odm_mql::path;
use odm_store::Result;

use super::{
    entries::IndexEntries,
    layout::{END, META, Tree, damaged, document_key, id_len},
    scan::read,
    schema::{Collection, Index},
    snapshot::Snapshot,
    wait::{YieldBudget, yield_now},
};

/// Verifies that each document is valid and has the key of its `_id`, that each index has exactly the
/// entries of the documents, unless its keys are of other rules, and that no other data is stored.
pub(super) async fn verify(snapshot: &Snapshot) -> Result<()> {
    let mut budget = YieldBudget::per_chunk();
    let mut known: BTreeSet<Tree> = snapshot.schema.garbage.iter().copied().collect();
    known.insert(META);
    for collection in snapshot.schema.collections() {
        if !known.insert(collection.tree) {
            return Err(damaged(format_args!(
                "`{}` shares its tree with another collection or index",
                collection.name
            )));
        }
        let entries = documents(snapshot, collection, &mut budget).await?;
        for (index, expected) in collection.indexes.iter().zip(entries) {
            if !known.insert(index.tree) {
                return Err(damaged(format_args!(
                    "`{}` shares its tree with another collection or index",
                    index.spec.name
                )));
            }
            let found = count(snapshot, index.tree, &mut budget).await?;
            if found != expected && index.other_rules.is_none() {
                return Err(damaged(format_args!(
                    "index `{}` of `{}` has {found} entries, and the documents have {expected}",
                    index.spec.name, collection.name
                )));
            }
        }
    }
    let trees = snapshot.base.trees()?.into_iter();
    for tree in trees.chain(snapshot.memtables.trees()) {
        // The entries of a tree that was removed may still be in the base, below the changes that remove them.
        if !known.contains(&tree)
            && snapshot
                .view()
                .range(tree, &[], &END, false)?
                .next()?
                .is_some()
        {
            return Err(damaged("data that belongs to no collection is stored"));
        }
    }
    Ok(())
}

/// Verifies the documents of a collection, and that their entries exist. Returns the number of entries
/// for each index.
async fn documents(
    snapshot: &Snapshot,
    collection: &Collection,
    budget: &mut YieldBudget,
) -> Result<Vec<u64>> {
    let mut expected = vec![0; collection.indexes.len()];
    let mut range = snapshot.view().range(collection.tree, &[], &END, false)?;
    while let Some((key, document)) = range.next()? {
        if budget.is_due()? {
            yield_now().await;
        }
        let document = read(document)?;
        odm_store::check_stored(&collection.name, document)
            .map_err(|error| damaged(format_args!("an invalid document is stored: {error}")))?;
        let in_place = path::get(document, "_id").is_some_and(|id| document_key(id) == *key);
        if !in_place {
            return Err(damaged(format_args!(
                "a document of `{}` has the key of another `_id`",
                collection.name
            )));
        }
        for (index, expected) in collection.indexes.iter().zip(&mut expected) {
            if index.covers(key) && index.other_rules.is_none() {
                *expected += entries(snapshot, collection, index, document, key)?;
            }
        }
    }
    Ok(expected)
}

fn entries(
    snapshot: &Snapshot,
    collection: &Collection,
    index: &Index,
    document: &bson::RawDocument,
    id: &[u8],
) -> Result<u64> {
    let entries = IndexEntries::for_document(index, document, id)?;
    let wrong = |what: &str| {
        let name = &index.spec.name;
        Err(damaged(format_args!(
            "index `{name}` of `{}` {what}",
            collection.name
        )))
    };
    for (known, array) in index.multikey.iter().zip(&entries.multikey) {
        if *array && !known {
            return wrong("has an array at a path that is not marked multikey");
        }
    }
    if !entries.new_types.is_empty() {
        return wrong("has a value of a type that is not marked");
    }
    for key in &entries.keys {
        let value: &[u8] = if index.spec.unique { id } else { &id_len(id) };
        match snapshot.view().get(index.tree, key)? {
            Some(found) if *found == *value => {}
            Some(_) => return wrong("refers to another document"),
            None => return wrong("lacks an entry of a document"),
        }
    }
    Ok(entries.keys.len() as u64)
}

async fn count(snapshot: &Snapshot, tree: Tree, budget: &mut YieldBudget) -> Result<u64> {
    let mut count = 0;
    let mut range = snapshot.view().range(tree, &[], &END, false)?;
    while range.next()?.is_some() {
        if budget.is_due()? {
            yield_now().await;
        }
        count += 1;
    }
    Ok(count)
}
