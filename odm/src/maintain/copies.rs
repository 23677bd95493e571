//! Copies of fields of other documents.
//!
//! A copy is dirty if its holder was written, or its source. A holder that was written is compared with
//! its definition as a whole. Those of a source are found by the index on their reference; if nothing
//! else has changed, only the copies of that source are looked at, and no other is read. Each dirty
//! document is written once, in the fields that differ. Groups of copies follow each other, so that
//! copies of copies are right.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    ops::ControlFlow,
};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    Effect,
    places::{Fields, changes, structs},
    unit::{Unit, id},
};
use crate::{
    catalog::{Along, Copied, join, references},
    error::{Error, ErrorKind, Result},
    model::DateTime,
    mql::{
        Filter, Test, key,
        path::{self, Lookup},
    },
    store::{Find, Reader},
};

/// How many documents are compared at once.
const CHUNK: usize = 500;

/// Brings up the copies that the changes of a unit make wrong.
pub(super) async fn apply(unit: &mut Unit<'_>) -> Result<()> {
    let catalog = unit.catalog;
    for group in catalog.copies() {
        let mut holders: BTreeMap<&str, Vec<&Copied>> = BTreeMap::new();
        for copy in group {
            holders.entry(&copy.holder).or_default().push(copy);
        }
        for (holder, copies) in holders {
            let start = unit.transaction.cost();
            let dirty = dirty(unit, holder, &copies).await?;
            let number = dirty.whole.len() + dirty.followers.len();
            let result = bring_up_all(unit, holder, &copies, dirty).await;
            result.map_err(|error| with_number(error, holder, number))?;
            unit.step(start, || {
                let paths: Vec<String> = copies
                    .iter()
                    .map(|copy| format!("`{}`", copy.path()))
                    .collect();
                format!("{} of `{holder}`", paths.join(", "))
            });
        }
    }
    Ok(())
}

async fn bring_up_all(
    unit: &mut Unit<'_>,
    holder: &str,
    copies: &[&Copied],
    dirty: Dirty,
) -> Result<()> {
    let whole: Vec<RawBson> = dirty.whole.into_values().collect();
    for ids in whole.chunks(CHUNK) {
        bring_up(unit, holder, copies, ids).await?;
    }
    for (id, fields) in dirty.followers.into_values() {
        unit.set(holder, &id, fields).await?;
    }
    Ok(())
}

/// A unit that is too large says what makes it so.
fn with_number(error: Error, holder: &str, number: usize) -> Error {
    if error.kind() != ErrorKind::Limit {
        return error;
    }
    let message = format!("{error}: copies in {number} documents of `{holder}` follow from it");
    Error::new(ErrorKind::Limit, message).with_source(error)
}

/// New documents with the copies that can be known before they are stored, so that most are written
/// once. What else changes in the unit is seen by [`apply`].
pub(super) async fn filled<'d>(
    unit: &Unit<'_>,
    collection: &str,
    mut documents: Cow<'d, [RawDocumentBuf]>,
) -> Result<Cow<'d, [RawDocumentBuf]>> {
    for group in unit.catalog.copies() {
        let here = |copy: &&Copied| copy.holder == collection && copy.reference().is_some();
        let copies: Vec<&Copied> = group.iter().filter(here).collect();
        if copies.is_empty() {
            continue;
        }
        let before = vec![None; documents.len()];
        let wrong = wrong(&*unit.transaction, &copies, &documents, &before).await?;
        for (place, mut fields) in wrong.into_iter().enumerate() {
            // The source may be stored by the same write.
            fields.retain(|(_, value)| value.is_some());
            let update = changes(fields);
            if let Some(filled) = update.apply(&documents[place], true, DateTime::now().into())? {
                documents.to_mut()[place] = filled;
            }
        }
    }
    Ok(documents)
}

async fn bring_up(
    unit: &mut Unit<'_>,
    holder: &str,
    copies: &[&Copied],
    ids: &[RawBson],
) -> Result<()> {
    let documents = unit.get_many(holder, ids).await?;
    let before: Vec<Option<RawDocumentBuf>> = documents
        .iter()
        .map(|document| unit.changes.before(holder, document))
        .collect();
    let wrong = wrong(&*unit.transaction, copies, &documents, &before).await?;
    for (document, fields) in documents.iter().zip(wrong) {
        unit.set(holder, &id(document).into(), fields).await?;
    }
    Ok(())
}

/// The documents whose copies may be wrong, by the key of their `_id`, each in one of the two.
#[derive(Default)]
struct Dirty {
    /// Any copy in them may be.
    whole: BTreeMap<Vec<u8>, RawBson>,
    /// Only copies of sources that changed are, with what these should be.
    followers: BTreeMap<Vec<u8>, (RawBson, Fields)>,
}

impl Dirty {
    fn add(&mut self, id: RawBson) {
        let key = key::of(id.as_raw_bson_ref());
        self.whole.entry(key).or_insert(id);
    }
}

async fn dirty(unit: &Unit<'_>, holder: &str, copies: &[&Copied]) -> Result<Dirty> {
    let mut dirty = Dirty::default();
    for effect in unit.changes.of(holder) {
        if let Some(after) = &effect.after
            && copies.iter().any(|copy| is_touched(copy, effect))
        {
            dirty.add(id(after).into());
        }
    }
    // The copies beside a reference follow one source.
    let mut beside: BTreeMap<(&str, String), Vec<&Copied>> = BTreeMap::new();
    for copy in copies.iter().filter(|copy| !copy.frozen) {
        match (&copy.along, copy.reference()) {
            (Along::Back(path), _) => {
                for effect in unit.changes.of(&copy.source) {
                    let (before, after) = (effect.before.as_deref(), effect.after.as_deref());
                    if before.map(|source| seen_from(source, path, &copy.value))
                        == after.map(|source| seen_from(source, path, &copy.value))
                    {
                        continue;
                    }
                    for source in before.into_iter().chain(after) {
                        references(source, path, |holder| dirty.add(holder.into()));
                    }
                }
            }
            (Along::Beside(_), reference) => {
                let key = (copy.source.as_str(), reference.unwrap_or_default());
                beside.entry(key).or_default().push(copy);
            }
        }
    }
    for ((source, reference), copies) in beside {
        let edge = unit.catalog.edge(holder, &reference);
        let may_dangle = edge.is_some_and(|edge| !edge.is_certain());
        let changed: BTreeMap<Vec<u8>, &RawDocument> = unit
            .changes
            .of(source)
            .iter()
            .filter(|effect| {
                let mut copies = copies.iter();
                copies.any(|copy| is_source_changed(copy, effect, may_dangle))
            })
            .filter_map(|effect| effect.after.as_deref())
            .map(|source| (key::of(id(source)), source))
            .collect();
        if changed.is_empty() {
            continue;
        }
        let ids = changed.values().map(|source| id(source).into()).collect();
        let filter = Filter::Path(reference.into(), Test::In(ids));
        if unit.mends {
            let holders = unit.ids(holder, filter).await?;
            holders.into_iter().for_each(|id| dirty.add(id));
            continue;
        }
        let find = Find {
            collection: holder.to_owned(),
            filter,
            ..Find::default()
        };
        let each = &mut |_, document: &RawDocument| {
            let key = key::of(id(document));
            if dirty.whole.contains_key(&key) {
                return Ok(ControlFlow::Continue(()));
            }
            let fields = followed(&copies, document, &changed);
            if !fields.is_empty() {
                let follower = dirty.followers.entry(key);
                let (_, all) = follower.or_insert_with(|| (id(document).into(), Fields::new()));
                all.extend(fields);
            }
            Ok(ControlFlow::Continue(()))
        };
        unit.transaction.find(&find, each).await?;
    }
    Ok(dirty)
}

/// The copies of these sources in a document that are not what they should be.
fn followed(
    copies: &[&Copied],
    document: &RawDocument,
    sources: &BTreeMap<Vec<u8>, &RawDocument>,
) -> Fields {
    let mut fields = Fields::new();
    for copy in copies {
        let Along::Beside(reference) = &copy.along else {
            continue;
        };
        structs(document, &copy.within, &mut |place, inner| {
            let source = path::get(inner, reference).and_then(|id| sources.get(&key::of(id)));
            let Some(source) = source else { return };
            let stored = path::get(inner, &copy.name);
            let wanted = copied(copy, source, stored);
            if !is_same(stored, wanted.as_ref()) {
                fields.push((join(&place, &copy.name), wanted));
            }
        });
    }
    fields
}

/// Whether a write of the holder may have made a copy wrong.
fn is_touched(copy: &Copied, effect: &Effect) -> bool {
    let (Some(before), Some(after)) = (&effect.before, &effect.after) else {
        return true;
    };
    let path = copy.path();
    let reference = copy.reference();
    [Some(path), reference].into_iter().flatten().any(|path| {
        let (first, _) = path::split(&path);
        path::get(before, first) != path::get(after, first)
    })
}

/// Whether holders of a copy may exist to which a change of the source matters.
fn is_source_changed(copy: &Copied, effect: &Effect, may_dangle: bool) -> bool {
    match (&effect.before, &effect.after) {
        (Some(before), Some(after)) => {
            value(before, &copy.value).map(key::of) != value(after, &copy.value).map(key::of)
        }
        (None, Some(_)) => may_dangle,
        (_, None) => false,
    }
}

/// What the holders of a backwards copy see of a source: whom it leads to, and its value.
fn seen_from(source: &RawDocument, path: &str, copied: &str) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let mut holders = Vec::new();
    references(source, path, |holder| holders.push(key::of(holder)));
    (holders, value(source, copied).map(key::of))
}

/// A value at a path that leads through no list.
fn value<'a>(document: &'a RawDocument, path: &str) -> Option<RawBsonRef<'a>> {
    match path::lookup(document, path) {
        Lookup::Value(value) => Some(value),
        Lookup::Array(list, None) => Some(RawBsonRef::Array(list)),
        Lookup::Array(_, Some(_)) | Lookup::Missing => None,
    }
}

/// The copies in documents that are not what their definitions say, with what they should be, for each
/// of the documents.
///
/// A copy is that of a source which is there. One of a source that is gone, and a frozen one, keep the
/// value that was beside the same reference before.
pub(super) async fn wrong(
    reader: &dyn Reader,
    copies: &[&Copied],
    documents: &[RawDocumentBuf],
    before: &[Option<RawDocumentBuf>],
) -> Result<Vec<Fields>> {
    let sources = sources(reader, copies, documents).await?;
    let mut wrong = Vec::with_capacity(documents.len());
    for (document, before) in documents.iter().zip(before) {
        let mut fields = Fields::new();
        for copy in copies {
            match &copy.along {
                Along::Beside(reference) => {
                    let mut held = Held::new(copy, reference, before.as_deref());
                    let mut places = Vec::new();
                    structs(document, &copy.within, &mut |place, inner| {
                        places.push(Place {
                            place,
                            reference: path::get(inner, reference),
                            stored: path::get(inner, &copy.name),
                        });
                    });
                    let wanted = wanted(copy, &places, &mut held, &sources);
                    for (at, wanted) in places.into_iter().zip(wanted) {
                        if !is_same(at.stored, wanted.as_ref()) {
                            fields.push((join(&at.place, &copy.name), wanted));
                        }
                    }
                }
                Along::Back(path) => {
                    let stored = path::get(document, &copy.name);
                    let wanted = copies_back(reader, copy, path, id(document).into()).await?;
                    if !is_same(stored, Some(&wanted)) {
                        fields.push((copy.path(), Some(wanted)));
                    }
                }
            }
        }
        wrong.push(fields);
    }
    Ok(wrong)
}

/// Equal as BSON compares, so that a value that is written as another type of number is no change.
fn is_same(stored: Option<RawBsonRef<'_>>, wanted: Option<&RawBson>) -> bool {
    match (stored, wanted) {
        (Some(stored), Some(wanted)) => key::of(stored) == key::of(wanted.as_raw_bson_ref()),
        (stored, wanted) => stored.is_none() && wanted.is_none(),
    }
}

/// The sources of these documents, by collection and `_id`.
type Sources = HashMap<String, HashMap<Vec<u8>, RawDocumentBuf>>;

async fn sources(
    reader: &dyn Reader,
    copies: &[&Copied],
    documents: &[RawDocumentBuf],
) -> Result<Sources> {
    let mut wanted: BTreeMap<&str, BTreeMap<Vec<u8>, RawBson>> = BTreeMap::new();
    for copy in copies {
        let Some(reference) = copy.reference() else {
            continue;
        };
        let ids = wanted.entry(&copy.source).or_default();
        for document in documents {
            references(document, &reference, |id| {
                ids.entry(key::of(id)).or_insert_with(|| id.into());
            });
        }
    }
    let mut sources = Sources::new();
    for (collection, ids) in wanted {
        let ids: Vec<RawBson> = ids.into_values().collect();
        let mut found = HashMap::new();
        let each = &mut |_, source: &RawDocument| {
            found.insert(key::of(id(source)), source.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        if !ids.is_empty() {
            reader.get(collection, &ids, each).await?;
        }
        sources.insert(collection.to_owned(), found);
    }
    Ok(sources)
}

/// What was beside each reference before, to be taken once each.
struct Held {
    /// By the place of the struct.
    at: HashMap<String, (Vec<u8>, RawBson)>,
    /// By the reference, with the places, in their order.
    by_reference: HashMap<Vec<u8>, Vec<String>>,
}

impl Held {
    fn new(copy: &Copied, reference: &str, before: Option<&RawDocument>) -> Self {
        let mut held = Held {
            at: HashMap::new(),
            by_reference: HashMap::new(),
        };
        if let Some(before) = before {
            structs(before, &copy.within, &mut |place, inner| {
                // What is missing there was never filled in.
                if let (Some(id), Some(value)) =
                    (path::get(inner, reference), path::get(inner, &copy.name))
                {
                    let places = held.by_reference.entry(key::of(id)).or_default();
                    places.push(place.clone());
                    held.at.insert(place, (key::of(id), value.into()));
                }
            });
        }
        held
    }

    /// Takes a value that was beside the same reference: of those that fit, the one at this place if it
    /// is among them.
    fn take(
        &mut self,
        place: &str,
        reference: &[u8],
        fits: impl Fn(&str, RawBsonRef<'_>) -> bool,
    ) -> Option<RawBson> {
        let places = self.by_reference.get(reference)?;
        let fits = |at: &&String| match self.at.get(*at) {
            Some((held, value)) => held == reference && fits(at, value.as_raw_bson_ref()),
            None => false,
        };
        let same = places.iter().find(|at| *at == place).filter(fits);
        let at = same.or_else(|| places.iter().find(fits))?.clone();
        self.at.remove(&at).map(|(_, value)| value)
    }
}

/// A copy in a struct.
struct Place<'a> {
    place: String,
    reference: Option<RawBsonRef<'a>>,
    stored: Option<RawBsonRef<'a>>,
}

/// What the copies in all structs of a document should be.
fn wanted(
    copy: &Copied,
    structs: &[Place<'_>],
    held: &mut Held,
    sources: &Sources,
) -> Vec<Option<RawBson>> {
    let keys: Vec<Option<Vec<u8>>> = structs
        .iter()
        .map(|at| match at.reference {
            None | Some(RawBsonRef::Null) => None,
            Some(id) => Some(key::of(id)),
        })
        .collect();
    // First those whose value is one of these, as in a list in another order; then those that stand
    // where they stood; then the others.
    let mut kept: Vec<Option<RawBson>> = vec![None; structs.len()];
    for round in 0..3 {
        for ((at, key), kept) in structs.iter().zip(&keys).zip(&mut kept) {
            if let (None, Some(key)) = (&kept, key) {
                *kept = held.take(&at.place, key, |place, value| match round {
                    0 => at.stored == Some(value),
                    1 => at.place == place,
                    _ => true,
                });
            }
        }
    }
    let all = structs.iter().zip(keys).zip(kept);
    all.map(|((at, key), kept)| {
        let absent = || absent(copy, at.stored);
        let Some(key) = key else { return absent() };
        let source = sources
            .get(&copy.source)
            .and_then(|sources| sources.get(&key));
        let now = |source: &RawDocument| copied(copy, source, at.stored);
        match source {
            Some(source) if copy.frozen => kept.or_else(|| now(source)),
            Some(source) => now(source),
            None => kept.or_else(absent),
        }
    })
    .collect()
}

/// The copy of a source that is there.
fn copied(copy: &Copied, source: &RawDocument, stored: Option<RawBsonRef<'_>>) -> Option<RawBson> {
    match value(source, &copy.value) {
        None | Some(RawBsonRef::Null) => absent(copy, stored),
        Some(value) => Some(value.into()),
    }
}

/// What is absent may be stored as null or not at all, as serde does it.
fn absent(copy: &Copied, stored: Option<RawBsonRef<'_>>) -> Option<RawBson> {
    stored.filter(|_| copy.optional).map(|_| RawBson::Null)
}

/// The values of all sources that lead to a document, each once, in the order of their `_id`s.
async fn copies_back(
    reader: &dyn Reader,
    copy: &Copied,
    path: &str,
    holder: RawBson,
) -> Result<RawBson> {
    let find = Find {
        collection: copy.source.clone(),
        filter: Filter::Path(path.to_owned().into(), Test::Eq(holder)),
        ..Find::default()
    };
    let mut seen = HashSet::new();
    let mut values = RawArrayBuf::new();
    let each = &mut |_, source: &RawDocument| {
        match value(source, &copy.value) {
            None | Some(RawBsonRef::Null) => {}
            Some(value) if !seen.insert(key::of(value)) => {}
            Some(value) => values.push(value),
        }
        Ok(ControlFlow::Continue(()))
    };
    reader.find(&find, each).await?;
    Ok(RawBson::Array(values))
}
