//! Creates collections and indexes, and removes obsolete indexes.
//!
//! An index of existing documents is built in portions, in the order of the documents, and other writes run between
//! them. The schema says how far an index is built, in the commit of each portion, so that a build goes on after a
//! crash when the index is asked for again. Queries use an index from the last commit on, which also removes the
//! obsolete ones.

use super::{
    entries::{Entries, duplicate},
    layout::{END, Tree, id_len},
    scan,
    schema::{Build, Collection, Index, Schema},
    work::Work,
};
use crate::{
    error::{Error, ErrorKind, Result},
    store::{CollectionSpec, IndexSpec},
};

/// The bytes of documents, or of entries that are removed, in one portion, where another write waits for its end.
/// In tests small indexes have several portions, too.
const PORTION: usize = if cfg!(test) { 512 } else { 512 << 10 };

/// The bytes in a portion that no other write waits for. Its entries are written in the order of their keys, so that
/// one long portion writes each page of the index once where many short ones write it again and again.
const LONG_PORTION: usize = 32 * PORTION;

/// Creates missing collections, and begins to build missing indexes. Returns the trees of the wanted indexes that
/// are not in force. Those that are `awaited` by others stay as they are.
pub(super) fn declare(
    work: &mut Work,
    collections: &[CollectionSpec],
    awaited: impl Fn(Tree) -> bool,
) -> Result<Vec<Tree>> {
    let mut schema = Schema::clone(&work.schema);
    let mut building = Vec::new();
    for spec in collections {
        declare_one(&mut schema, spec, &awaited, &mut building)?;
    }
    if schema.last_tree() != work.schema.last_tree() {
        work.set_schema(schema)?;
    }
    Ok(building)
}

fn declare_one(
    schema: &mut Schema,
    spec: &CollectionSpec,
    awaited: impl Fn(Tree) -> bool,
    building: &mut Vec<Tree>,
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
    for wanted in &spec.indexes {
        let mut indexes = collection.indexes.iter();
        if let Some(index) = indexes.find(|index| index.spec == *wanted) {
            building.extend(index.build.is_some().then_some(index.tree));
            continue;
        }
        // A build that was given up, of an index that has the name, makes place.
        let given_up = |index: &mut Index| {
            index.spec.name == wanted.name && index.build.is_some() && !awaited(index.tree)
        };
        let given_up = collection.indexes.extract_if(.., given_up);
        schema.garbage.extend(given_up.map(|index| index.tree));
        let mut others = collection.indexes.iter();
        let taken =
            others.find(|other| other.spec.name == wanted.name && !is_obsolete(other, spec));
        if let Some(other) = taken {
            return Err(differs(&spec.name, wanted, &other.spec));
        }
        check_index(&spec.name, wanted)?;
        let index = Index::new(schema.new_tree()?, wanted.clone());
        building.push(index.tree);
        collection.indexes.push(index);
    }
    schema.set(collection);
    Ok(())
}

fn is_obsolete(index: &Index, spec: &CollectionSpec) -> bool {
    spec.obsolete.contains(&index.spec) && !spec.indexes.contains(&index.spec)
}

/// Adds the entries of the next portion of documents to an index. Returns whether it has all entries then.
pub(super) fn fill(work: &mut Work, tree: Tree, is_awaited: &dyn Fn() -> bool) -> Result<bool> {
    let Some((collection, index)) = work.schema.index(tree) else {
        let message =
            "an index was removed while it was built: another database declares it obsolete";
        return Err(Error::new(ErrorKind::Schema, message));
    };
    let (collection, mut index) = (collection.clone(), index.clone());
    if index.is_built() {
        return Ok(true);
    }
    let Build { to, mut documents } = index.build.take().unwrap_or_default();
    let from = match to.is_empty() {
        true => to,
        false => [&*to, &[0]].concat(),
    };
    let mut portion: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut bytes = 0;
    let mut range = work.view().range(collection.tree, &from, &END, false)?;
    let is_last = loop {
        match range.next()? {
            None => break true,
            Some((key, document)) => {
                bytes += key.len() + document.len();
                portion.push((key.to_vec(), document.to_vec()));
            }
        }
        if is_portion(bytes, is_awaited) {
            break false;
        }
    };
    for (id, document) in &portion {
        let document = scan::read(document)?;
        let entries = Entries::for_document(&index, document, id)?;
        for key in &entries.keys {
            if !index.spec.unique {
                work.overlay.put(tree, key, &id_len(id));
            } else if work.view().get(tree, key)?.is_none() {
                work.overlay.put(tree, key, id);
            } else {
                return Err(duplicate(&collection.name, &index, document, key));
            }
        }
        for (known, array) in index.multikey.iter_mut().zip(&entries.multikey) {
            *known |= array;
        }
    }
    documents += portion.len() as u64;
    let to = match (is_last, portion.pop()) {
        (false, Some((last, _))) => last,
        _ => END.to_vec(),
    };
    index.build = Some(Build { to, documents });
    let mut schema = Schema::clone(&work.schema);
    schema.change_index(tree, |known| *known = index);
    work.set_schema(schema)?;
    Ok(is_last)
}

/// Puts the indexes in these trees in force, which have all entries, and removes the obsolete ones.
pub(super) fn finish(
    work: &mut Work,
    collections: &[CollectionSpec],
    built: &[Tree],
) -> Result<()> {
    let mut schema = Schema::clone(&work.schema);
    for &tree in built {
        schema.change_index(tree, |index| index.build = None);
    }
    let mut removed = Vec::new();
    for spec in collections {
        let indexes = schema
            .collection(&spec.name)
            .into_iter()
            .flat_map(|found| &found.indexes);
        let obsolete = indexes.filter(|index| is_obsolete(index, spec));
        removed.extend(obsolete.map(|index| index.tree));
    }
    if built.is_empty() && removed.is_empty() {
        return Ok(());
    }
    schema.remove_indexes(&removed);
    work.set_schema(schema)
}

/// Removes indexes whose build has failed.
pub(super) fn give_up(work: &mut Work, trees: &[Tree]) -> Result<()> {
    let mut schema = Schema::clone(&work.schema);
    schema.remove_indexes(trees);
    work.set_schema(schema)
}

/// Whether so many bytes are a portion, of which another write may await the end.
fn is_portion(bytes: usize, is_awaited: &dyn Fn() -> bool) -> bool {
    bytes >= LONG_PORTION || bytes >= PORTION && is_awaited()
}

/// Removes a portion of the trees that are garbage.
pub(super) fn sweep(work: &mut Work, is_awaited: &dyn Fn() -> bool) -> Result<()> {
    let Some(&tree) = work.schema.garbage.first() else {
        return Ok(());
    };
    let mut keys = Vec::new();
    let mut bytes = 0;
    let mut entries = work.view().range(tree, &[], &END, false)?;
    let is_last = loop {
        match entries.next()? {
            None => break true,
            Some((key, _)) => {
                bytes += key.len();
                keys.push(key.to_vec());
            }
        }
        if is_portion(bytes, is_awaited) {
            break false;
        }
    };
    drop(entries);
    for key in &keys {
        work.overlay.remove(tree, key);
    }
    if is_last {
        let mut schema = Schema::clone(&work.schema);
        schema.garbage.remove(0);
        work.set_schema(schema)?;
    }
    Ok(())
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
