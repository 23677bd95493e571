//! Creates collections and indexes, and removes obsolete indexes.
//!
//! An index of existing documents is built in portions, in the order of the documents, and other writes run between them. The schema
//! contains the progress of the build, in the commit of each portion, so that a build continues after a crash when the index is requested
//! again. Queries use an index from the last commit on, which also removes the obsolete ones.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use odm_mql::steps;
use odm_store::{CollectionSpec, Error, ErrorKind, IndexFilter, IndexSpec, Result};

use super::{
    entries::{IndexEntries, duplicate},
    layout::{END, Tree, id_len},
    scan,
    schema::{Build, Collection, Index, Schema},
    uses::Uses,
    work::Work,
};

/// The size of a portion, in bytes, if others wait for its end. In tests small indexes have several portions, too.
const PORTION: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// A portion ends at this many bytes, and may exceed them by the entries of one document. Its entries are written in the order of their
/// keys, so that one long portion writes each page of an index once where many short ones write it again and again.
const LONG_PORTION: usize = 16 * PORTION;

/// The memory of an entry in addition to its key, in bytes.
const ENTRY: usize = 64;

/// The part of a build, or of a removal, that is done before other writes have their turn.
pub(super) struct Portion<'a> {
    bytes: usize,
    began: Instant,
    /// The duration of the last turn of the other writes. If they wait again, a portion takes as long: a build must not be slower than
    /// concurrent inserts.
    turn: Duration,
    is_awaited: &'a dyn Fn() -> bool,
}

impl<'a> Portion<'a> {
    pub(super) fn new(turn: Duration, is_awaited: &'a dyn Fn() -> bool) -> Self {
        Portion {
            bytes: 0,
            began: Instant::now(),
            turn,
            is_awaited,
        }
    }

    fn is_full(&self) -> bool {
        let may_end = || (self.is_awaited)() && self.began.elapsed() >= self.turn;
        self.bytes >= LONG_PORTION || self.bytes >= PORTION && may_end()
    }
}

/// Creates missing collections, and begins to build missing indexes. Returns the trees of the wanted indexes that
/// are not in force. Trees that are `awaited` by others stay as they are.
pub(super) fn declare(
    work: &mut Work,
    collections: &[CollectionSpec],
    awaited: impl Fn(Tree) -> bool,
) -> Result<BTreeSet<Tree>> {
    let mut schema = Schema::clone(&work.schema);
    let mut building = BTreeSet::new();
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
    building: &mut BTreeSet<Tree>,
) -> Result<()> {
    let mut collection = match schema.collection(&spec.name) {
        Some(collection) => {
            check_collation(collection, spec)?;
            Collection::clone(collection)
        }
        None => {
            check_name(&spec.name)?;
            let tree = schema.new_tree()?;
            Collection {
                name: spec.name.clone(),
                tree,
                indexes: Vec::new(),
                collation: spec.collation.clone(),
                uses: Uses::default(),
            }
        }
    };
    let obsolete = Obsolete::of(spec);
    let mut named: HashMap<String, Vec<Index>> = HashMap::new();
    for index in collection.indexes {
        steps::step();
        let indexes = named.entry(index.spec.name.clone()).or_default();
        indexes.push(index);
    }
    for wanted in &spec.indexes {
        let indexes = named.entry(wanted.name.clone()).or_default();
        steps::many(1 + indexes.len());
        let is_wanted = |index: &Index| index.spec == *wanted && index.other_rules.is_none();
        let known = indexes.iter().find(|index| is_wanted(index));
        let known = known.map(|index| (index.tree, index.build.is_some()));
        if let Some((_, false)) = known {
            continue;
        }
        // An abandoned build of another index with this name is removed.
        let is_in_the_way = |index: &mut Index| {
            !is_wanted(index)
                && index.build.is_some()
                && !building.contains(&index.tree)
                && !awaited(index.tree)
        };
        let in_the_way = indexes.extract_if(.., is_in_the_way);
        schema.garbage.extend(in_the_way.map(|index| index.tree));
        let mut others = indexes.iter().filter(|other| other.spec != *wanted);
        if let Some(other) = others.find(|other| !obsolete.has(other)) {
            return Err(differs(&spec.name, wanted, &other.spec));
        }
        if let Some((tree, _)) = known {
            building.insert(tree);
            continue;
        }
        check_index(&spec.name, wanted)?;
        let index = Index::new(schema.new_tree()?, wanted.clone());
        building.insert(index.tree);
        indexes.push(index);
    }
    collection.indexes = named.into_values().flatten().collect();
    // The oldest comes first.
    collection.indexes.sort_unstable_by_key(|index| index.tree);
    schema.set(collection);
    Ok(())
}

/// Refuses another default collation than that of an existing collection.
fn check_collation(collection: &Collection, spec: &CollectionSpec) -> Result<()> {
    if spec.collation.is_none() || spec.collation == collection.collation {
        return Ok(());
    }
    let show = |collation: &Option<odm_mql::Collation>| match collation {
        Some(collation) => format!("with the default collation {collation}"),
        None => "without a default collation".to_owned(),
    };
    let message = format!(
        "collection `{}` exists {}, and is declared {}: it keeps its own",
        spec.name,
        show(&collection.collation),
        show(&spec.collation)
    );
    Err(Error::new(ErrorKind::Schema, message).at(&spec.name, None, None))
}

/// The indexes of a collection that are to be removed, by their names.
struct Obsolete<'a> {
    obsolete: HashMap<&'a str, Vec<&'a IndexSpec>>,
    wanted: HashMap<&'a str, Vec<&'a IndexSpec>>,
}

impl<'a> Obsolete<'a> {
    fn of(spec: &'a CollectionSpec) -> Self {
        let by_name = |specs: &'a [IndexSpec]| {
            let mut named: HashMap<_, Vec<_>> = HashMap::new();
            for spec in specs {
                named.entry(&*spec.name).or_default().push(spec);
            }
            named
        };
        Obsolete {
            obsolete: by_name(&spec.obsolete),
            wanted: by_name(&spec.indexes),
        }
    }

    fn has(&self, index: &Index) -> bool {
        let is_in = |named: &HashMap<&str, Vec<&IndexSpec>>| {
            let specs = named.get(&*index.spec.name).into_iter().flatten();
            specs
                .inspect(|_| steps::step())
                .any(|spec| **spec == index.spec)
        };
        is_in(&self.obsolete) && !is_in(&self.wanted)
    }
}

/// Adds entries to the indexes in these trees. Returns whether they have all entries then, or the error of one of them.
pub(super) fn fill(
    work: &mut Work,
    trees: &BTreeSet<Tree>,
    mut portion: Portion<'_>,
) -> Result<bool, (Tree, Error)> {
    let indexes = work.schema.indexes();
    let wanted = indexes.filter(|(_, index)| trees.contains(&index.tree));
    let mut wanted: BTreeMap<Tree, (Arc<Collection>, Index)> = wanted
        .map(|(collection, index)| (index.tree, (collection.clone(), index.clone())))
        .collect();
    let mut filled = BTreeMap::new();
    let mut is_last = true;
    for &tree in trees {
        let Some((collection, mut index)) = wanted.remove(&tree) else {
            let message =
                "an index was removed while it was built: another database declares it obsolete";
            return Err((tree, Error::new(ErrorKind::Schema, message)));
        };
        if !index.is_complete() {
            let result = fill_one(work, &collection, &mut index, &mut portion);
            is_last = result.map_err(|error| (tree, error))?;
            filled.insert(tree, index);
        }
        if !is_last {
            break;
        }
    }
    // In one record of the schema for all of them.
    if let Some((&tree, _)) = filled.first_key_value() {
        let mut schema = Schema::clone(&work.schema);
        schema.change_indexes(&filled.keys().copied().collect(), |index| {
            if let Some(filled) = filled.remove(&index.tree) {
                *index = filled;
            }
        });
        work.set_schema(schema).map_err(|error| (tree, error))?;
    }
    Ok(is_last)
}

/// Adds the entries of the next documents to an index. Returns whether it has all entries then.
fn fill_one(
    work: &mut Work,
    collection: &Collection,
    index: &mut Index,
    portion: &mut Portion<'_>,
) -> Result<bool> {
    let tree = index.tree;
    let Build { mut to, documents } = index.build.take().unwrap_or_default();
    let from = match to.is_empty() {
        true => Vec::new(),
        false => [&*to, &[0]].concat(),
    };
    let mut read: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    steps::step();
    let mut range = work.view().range(collection.tree, &from, &END, false)?;
    let is_last = loop {
        let Some((id, document)) = range.next()? else {
            break true;
        };
        let entries = IndexEntries::for_document(index, scan::read(document)?, id)?;
        index.note(&entries);
        portion.bytes += document.len();
        portion.bytes += entries
            .keys
            .iter()
            .map(|key| key.len() + ENTRY)
            .sum::<usize>();
        read.push((id.to_vec(), entries.keys));
        if portion.is_full() {
            break false;
        }
    };
    drop(range);
    for (id, keys) in &read {
        for key in keys {
            if !index.spec.unique {
                work.overlay.insert(tree, key, &id_len(id));
            } else if work.view().get(tree, key)?.is_none() {
                work.overlay.insert(tree, key, id);
            } else {
                let document = work.view().get(collection.tree, id)?;
                let document = scan::read(document.as_deref().unwrap_or_default())?;
                return Err(duplicate(&collection.name, index, document, key));
            }
        }
    }
    let documents = documents + read.len() as u64;
    match (is_last, read.pop()) {
        (false, Some((last, _))) => to = last,
        _ => to = END.to_vec(),
    }
    index.build = Some(Build { to, documents });
    Ok(is_last)
}

/// Puts the indexes in these trees in force, once they have all entries, and removes the obsolete ones, and the indexes of other rules,
/// which are built anew.
pub(super) fn finish(
    work: &mut Work,
    collections: &[CollectionSpec],
    built: &BTreeSet<Tree>,
) -> Result<()> {
    let mut schema = Schema::clone(&work.schema);
    schema.change_indexes(built, |index| index.build = None);
    let mut removed = BTreeSet::new();
    for spec in collections {
        let obsolete = Obsolete::of(spec);
        let indexes = schema
            .collection(&spec.name)
            .into_iter()
            .flat_map(|found| &found.indexes);
        let indexes = indexes.filter(|index| obsolete.has(index) || index.other_rules.is_some());
        removed.extend(indexes.map(|index| index.tree));
    }
    if built.is_empty() && removed.is_empty() {
        return Ok(());
    }
    schema.remove_indexes(&removed);
    work.set_schema(schema)
}

/// Removes an index.
pub(super) fn remove(work: &mut Work, tree: Tree) -> Result<()> {
    let mut schema = Schema::clone(&work.schema);
    schema.remove_indexes(&BTreeSet::from([tree]));
    work.set_schema(schema)
}

/// Removes the next entries of the trees that are garbage. Trees without entries cease to be garbage, in one record of the schema for all
/// of them.
pub(super) fn sweep(work: &mut Work, mut portion: Portion<'_>) -> Result<()> {
    let garbage = work.schema.garbage.clone();
    let (mut keys, mut empty) = (Vec::new(), 0);
    'trees: for &tree in &garbage {
        let mut entries = work.view().range(tree, &[], &END, false)?;
        while let Some((key, _)) = entries.next()? {
            portion.bytes += key.len() + ENTRY;
            keys.push((tree, key.to_vec()));
            if portion.is_full() {
                break 'trees;
            }
        }
        empty += 1;
    }
    for (tree, key) in &keys {
        work.overlay.remove(*tree, key);
    }
    if empty > 0 {
        let mut schema = Schema::clone(&work.schema);
        schema.garbage.drain(..empty);
        work.set_schema(schema)?;
    }
    Ok(())
}

pub(super) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.contains('\0') {
        let message = format!(
            "invalid collection name {name:?}: use a name that is not empty and has no NUL"
        );
        return Err(Error::new(ErrorKind::Schema, message));
    }
    Ok(())
}

pub(super) fn check_index(collection: &str, index: &IndexSpec) -> Result<()> {
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
    if index.collation.is_some() {
        if index.case_insensitive {
            return refuse("ignores case beside a collation: choose a collation that ignores it");
        }
        if index
            .filter
            .as_ref()
            .is_some_and(IndexFilter::compares_texts)
        {
            return refuse(
                "has a collation, and a filter that compares texts by their bytes: compare other values",
            );
        }
    }
    let mut paths = BTreeSet::new();
    for (path, _) in &index.keys {
        if path.is_empty() || path.split('.').any(str::is_empty) || path.contains('\0') {
            return refuse(&format!(
                "has the invalid path `{path}`: no part of it may be empty or contain NUL"
            ));
        }
        if !paths.insert(path) {
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
                odm_store::Direction::Ascending => path.clone(),
                odm_store::Direction::Descending => format!("-{path}"),
            })
            .collect();
        let unique = if index.unique { ", unique" } else { "" };
        let present = if index.present_only {
            ", present only"
        } else {
            ""
        };
        let case = if index.case_insensitive {
            ", case-insensitive"
        } else {
            ""
        };
        let collation = match &index.collation {
            Some(collation) => format!(", with the collation {collation}"),
            None => String::new(),
        };
        let filter = match &index.filter {
            Some(filter) => format!(", of `{filter}`"),
            None => String::new(),
        };
        format!(
            "({}{unique}{present}{case}{collation}{filter})",
            keys.join(", ")
        )
    };
    let message = format!(
        "index `{}` of `{collection}` exists as {} and is declared as {}: give the new one another name",
        wanted.name,
        show(exists),
        show(wanted)
    );
    Error::new(ErrorKind::Schema, message).at(collection, Some(&wanted.name), None)
}
