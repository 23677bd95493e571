//! Creates collections and indexes, fills the indexes, and removes obsolete ones.

use std::{ops::ControlFlow, sync::Arc};

use super::{
    entries::{Entries, duplicate},
    layout::{END, Tree, id_len},
    scan,
    schema::{Collection, Index, Schema},
    work::Work,
};
use crate::{
    error::{Error, ErrorKind, Result},
    store::{CollectionSpec, IndexSpec},
};

/// The memory that a part of an index may take before it is committed, in bytes. In tests small indexes
/// have parts, too.
const CHUNK: usize = if cfg!(test) { 8 << 10 } else { 16 << 20 };

/// A function that commits the changes of the work so far, and leaves the work empty.
pub(super) type Spill<'s> = &'s mut dyn FnMut(&mut Work) -> Result<()>;

/// Creates missing collections and indexes, and removes obsolete indexes. All of that is visible when
/// the work is committed, and nothing before.
///
/// The stored schema lists the tree of an unfinished index as garbage, from the first spill until the
/// commit that makes the index visible, and from that commit on the trees of the indexes that it
/// removes. So [`sweep`] finds their entries, also after an error or a crash.
pub(super) fn ensure(
    work: &mut Work,
    collections: &[CollectionSpec],
    spill: Spill<'_>,
) -> Result<()> {
    let mut schema = Schema::clone(&work.schema);
    let mut building = Vec::new();
    for spec in collections {
        plan(&mut schema, spec, &mut building)?;
    }
    let is_as_wanted = building.is_empty()
        && schema.garbage.len() == work.schema.garbage.len()
        && schema.collections().count() == work.schema.collections().count();
    if is_as_wanted {
        return Ok(());
    }
    // The finished schema is stored last. Until then the stored one lists the trees as garbage.
    let mut unfinished = Schema::clone(&work.schema);
    unfinished.adopt_trees(&schema);
    unfinished
        .garbage
        .extend(building.iter().map(|(_, index)| index.tree));
    work.set_schema(unfinished)?;
    for (name, index) in &mut building {
        if let Some(collection) = work.schema.collection(name).cloned() {
            fill(work, &collection, index, spill)?;
        }
    }
    for (name, index) in building {
        schema.set_multikey(&name, index);
    }
    work.set_schema(schema)
}

/// Adds a collection and its indexes to the schema, unless they exist, and takes its obsolete indexes
/// out of it.
fn plan(
    schema: &mut Schema,
    spec: &CollectionSpec,
    building: &mut Vec<(String, Index)>,
) -> Result<()> {
    let mut collection = match schema.collection(&spec.name) {
        Some(collection) => Collection::clone(collection),
        None => {
            check_name(&spec.name)?;
            let tree = schema.new_tree()?;
            Collection {
                name: spec.name.clone(),
                tree,
                indexes: Vec::new(),
            }
        }
    };
    let is_obsolete = |index: &mut Index| {
        spec.obsolete.contains(&index.spec) && !spec.indexes.contains(&index.spec)
    };
    let removed = collection.indexes.extract_if(.., is_obsolete);
    schema.garbage.extend(removed.map(|index| index.tree));
    for index in &spec.indexes {
        match collection
            .indexes
            .iter()
            .find(|other| other.spec.name == index.name)
        {
            Some(other) if other.spec == *index => {}
            Some(other) => return Err(differs(&spec.name, index, &other.spec)),
            None => {
                check_index(&spec.name, index)?;
                let index = Index {
                    tree: schema.new_tree()?,
                    spec: index.clone(),
                    multikey: vec![false; index.keys.len()],
                };
                collection.indexes.push(index.clone());
                building.push((spec.name.clone(), index));
            }
        }
    }
    schema.set(collection);
    Ok(())
}

/// Fills an index with the entries of the existing documents.
fn fill(
    work: &mut Work,
    collection: &Arc<Collection>,
    index: &mut Index,
    spill: Spill<'_>,
) -> Result<()> {
    let mut from = Vec::new();
    loop {
        // The documents are read in portions, since entries cannot be added during a read.
        let mut portion: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut bytes = 0;
        let mut documents = work.view().range(collection.tree, &from, &END, false)?;
        while bytes < CHUNK / 4
            && let Some((key, document)) = documents.next()?
        {
            bytes += key.len() + document.len();
            portion.push((key.to_vec(), document.to_vec()));
        }
        let Some((last, _)) = portion.last() else {
            return Ok(());
        };
        from = last.clone();
        from.push(0);
        for (key, document) in &portion {
            let (id, document) = (&**key, scan::read(document)?);
            let entries = Entries::for_document(index, document, id)?;
            for key in &entries.keys {
                if !index.spec.unique {
                    work.overlay.put(index.tree, key, &id_len(id));
                } else if work.view().get(index.tree, key)?.is_none() {
                    work.overlay.put(index.tree, key, id);
                } else {
                    return Err(duplicate(&collection.name, index, document, key));
                }
            }
            for (known, array) in index.multikey.iter_mut().zip(&entries.multikey) {
                *known |= array;
            }
        }
        work.overlay.forget();
        if work.overlay.bytes() > CHUNK {
            spill(work)?;
        }
    }
}

/// Removes the trees that are garbage.
pub(super) fn sweep(work: &mut Work, spill: Spill<'_>) -> Result<()> {
    for tree in work.schema.garbage.clone() {
        while remove_some(work, tree)?.is_continue() {
            spill(work)?;
        }
    }
    let mut schema = Schema::clone(&work.schema);
    schema.garbage.clear();
    work.set_schema(schema)
}

/// Removes a bounded number of keys of a tree. Continues if the tree may have more.
fn remove_some(work: &mut Work, tree: Tree) -> Result<ControlFlow<()>> {
    let mut keys = Vec::new();
    let mut bytes = 0;
    let mut entries = work.view().range(tree, &[], &END, false)?;
    while bytes < CHUNK / 4 {
        let Some((key, _)) = entries.next()? else {
            break;
        };
        bytes += key.len();
        keys.push(key.to_vec());
    }
    drop(entries);
    for key in &keys {
        work.overlay.remove(tree, key);
    }
    work.overlay.forget();
    Ok(if keys.is_empty() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    })
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.contains('\0') {
        let message = format!(
            "invalid collection name {name:?}: use a name that is not empty and has no NUL"
        );
        return Err(Error::new(ErrorKind::Schema, message));
    }
    Ok(())
}

fn check_index(collection: &str, index: &IndexSpec) -> Result<()> {
    let refuse = |why: &str| {
        let message = format!("index `{}` of `{collection}` {why}", index.name);
        Err(Error::new(ErrorKind::Schema, message).at(collection, Some(&index.name), None))
    };
    if index.name.is_empty() || index.name == "_id" {
        return refuse("has a reserved name: choose one that is not empty and not `_id`");
    }
    if index.keys.is_empty() {
        return refuse("has no fields: name at least one");
    }
    for (at, (path, _)) in index.keys.iter().enumerate() {
        if path.is_empty() || path.split('.').any(str::is_empty) || path.contains('\0') {
            return refuse(&format!(
                "has the invalid path `{path}`: no part of it may be empty or contain NUL"
            ));
        }
        if index.keys[..at].iter().any(|(other, _)| other == path) {
            return refuse(&format!("has the field `{path}` twice: remove one of them"));
        }
    }
    Ok(())
}

fn differs(collection: &str, wanted: &IndexSpec, exists: &IndexSpec) -> Error {
    let show = |index: &IndexSpec| {
        let keys: Vec<String> = index
            .keys
            .iter()
            .map(|(path, direction)| match direction {
                crate::store::Direction::Ascending => path.clone(),
                crate::store::Direction::Descending => format!("-{path}"),
            })
            .collect();
        let unique = if index.unique { ", unique" } else { "" };
        let present = if index.present_only {
            ", present only"
        } else {
            ""
        };
        format!("({}{unique}{present})", keys.join(", "))
    };
    let message = format!(
        "index `{}` of `{collection}` exists as {} and is declared as {}: give the new one another name",
        wanted.name,
        show(exists),
        show(wanted)
    );
    Error::new(ErrorKind::Schema, message).at(collection, Some(&wanted.name), None)
}
