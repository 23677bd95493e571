//! The definition of a copy.

use std::collections::{BTreeMap, HashMap, HashSet};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use odm_mql::{Projection, key, path};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{
    super::{Inputs, value},
    held::{CopyAt, Held},
};
use crate::{
    catalog::{Along, CopyDefinition, join, references},
    maintain::{
        long_lists::warn_if_long,
        places::{FieldValues, each_embedded},
        unit::{Doc, id},
    },
};

/// The copies of these sources in a document that differ from them, with their right values.
pub(super) fn followed(
    copies: &[&CopyDefinition],
    document: &RawDocument,
    sources: &BTreeMap<Vec<u8>, Doc>,
) -> FieldValues {
    let mut fields = FieldValues::new();
    for copy in copies {
        let Along::Local(reference) = &copy.along else {
            continue;
        };
        let mut key = Vec::new();
        each_embedded(document, &copy.within, &mut |place, inner| {
            let Some(id) = path::get(inner, reference) else {
                return;
            };
            key.clear();
            key::encode(id, &mut key);
            let Some(source) = sources.get(&key) else {
                return;
            };
            let stored = path::get(inner, &copy.name);
            // A frozen copy that is filled in stays.
            if copy.frozen && stored.is_some() {
                return;
            }
            let wanted = copied(copy, source, stored);
            let is_left = mutant("second copy in a list") && !fields.is_empty();
            if !is_same(stored, wanted.as_ref()) && !is_left {
                fields.push((place.path_of(&copy.name), wanted));
            }
        });
    }
    fields
}

/// For each document the copies that differ from their definitions, with their right values.
///
/// A copy has the value of its source, if the source exists. If it does not exist, or if the copy is frozen, the copy keeps the
/// value that was beside the same reference before. A frozen copy that is missing takes the first value that it can get.
pub(super) async fn wrong(
    lookup: &mut dyn Inputs,
    copies: &[&CopyDefinition],
    documents: &[Doc],
    before: &[Option<Doc>],
) -> Result<Vec<FieldValues>> {
    let sources = sources(lookup, copies, documents).await?;
    let mut wrong = vec![FieldValues::new(); documents.len()];
    for copy in copies {
        match &copy.along {
            Along::Local(reference) => {
                let documents = documents.iter().zip(before);
                for ((document, before), fields) in documents.zip(&mut wrong) {
                    let before = before.as_ref().map(|before| &***before);
                    compare(copy, reference, document, before, &sources, fields);
                }
            }
            Along::Reverse(path) => {
                let wanted = reverse_copies(lookup, copy, path, documents).await?;
                for ((document, wanted), fields) in documents.iter().zip(wanted).zip(&mut wrong) {
                    if !is_same(path::get(document, &copy.name), Some(&wanted)) {
                        fields.push((join(&copy.within, &copy.name), Some(wanted)));
                    }
                }
            }
        }
    }
    Ok(wrong)
}

/// Equality in the order of BSON, so that the same number in another type is no change.
fn is_same(stored: Option<RawBsonRef<'_>>, wanted: Option<&RawBson>) -> bool {
    match (stored, wanted) {
        (Some(stored), Some(wanted)) => {
            let wanted = wanted.as_raw_bson_ref();
            stored == wanted || key::of(stored) == key::of(wanted)
        }
        (stored, wanted) => stored.is_none() && wanted.is_none(),
    }
}

/// The sources of some documents, by collection and `_id`.
type Sources = HashMap<String, HashMap<Vec<u8>, Doc>>;

async fn sources(
    lookup: &mut dyn Inputs,
    copies: &[&CopyDefinition],
    documents: &[Doc],
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
        if !ids.is_empty() {
            let found = lookup.get(collection, ids.into_values().collect()).await?;
            sources.insert(collection.to_owned(), found);
        }
    }
    Ok(sources)
}

/// Adds the wrong copies in all structs of a document.
fn compare(
    copy: &CopyDefinition,
    reference: &str,
    document: &RawDocument,
    before: Option<&RawDocument>,
    sources: &Sources,
    fields: &mut FieldValues,
) {
    let mut copies = Vec::new();
    each_embedded(document, &copy.within, &mut |place, inner| {
        copies.push(CopyAt {
            place: place.to_string(),
            key: match path::get(inner, reference) {
                None | Some(RawBsonRef::Null) => None,
                Some(id) => Some(key::of(id)),
            },
            stored: path::get(inner, &copy.name),
        });
    });
    let held = Held::new(copy, reference, before).take_all(&copies);
    let sources = sources.get(&copy.source);
    for (at, held) in copies.iter().zip(held) {
        if mutant("second copy of a written list") && !fields.is_empty() {
            break;
        }
        let absent = || absent(copy, at.stored);
        let wanted = match &at.key {
            None => absent(),
            Some(key) => match sources.and_then(|sources| sources.get(key)) {
                Some(source) if copy.frozen && !mutant("frozen copy") => {
                    held.or_else(|| copied(copy, source, at.stored))
                }
                Some(source) => copied(copy, source, at.stored),
                None if mutant("copy of what is gone") => absent(),
                None => held.or_else(absent),
            },
        };
        // A frozen copy of an absent value is null, not missing, since a missing copy counts as never filled in.
        let is_frozen = copy.frozen && copy.optional && at.key.is_some();
        let wanted = wanted.or(is_frozen.then_some(RawBson::Null));
        if !is_same(at.stored, wanted.as_ref()) {
            fields.push((join(&at.place, &copy.name), wanted));
        }
    }
}

/// The copy of a source that exists.
fn copied(
    copy: &CopyDefinition,
    source: &RawDocument,
    stored: Option<RawBsonRef<'_>>,
) -> Option<RawBson> {
    match value(source, &copy.value) {
        None | Some(RawBsonRef::Null) => absent(copy, stored),
        Some(value) => Some(value.into()),
    }
}

/// The copy of an absent value: null if an optional copy is stored already, else missing, as serde writes either. The caller
/// makes a frozen copy null.
fn absent(copy: &CopyDefinition, stored: Option<RawBsonRef<'_>>) -> Option<RawBson> {
    stored.filter(|_| copy.optional).map(|_| RawBson::Null)
}

/// For each document the distinct values of all sources that reference it, in the order of the sources' `_id`s.
async fn reverse_copies(
    lookup: &mut dyn Inputs,
    copy: &CopyDefinition,
    path: &str,
    documents: &[Doc],
) -> Result<Vec<RawBson>> {
    // A source is read once for each document that it names, so the projection leaves out its list of names.
    let value_alone = Projection::include([copy.value.clone()])?;
    let find = FindByKey {
        find: Find {
            collection: copy.source.clone(),
            projection: Some(value_alone),
            ..Find::default()
        },
        path: path.to_owned(),
        keys: documents
            .iter()
            .map(|document| id(document).into())
            .collect(),
    };
    let found = lookup.find_by_key(&find).await?;
    let values = found.into_iter().map(|sources| {
        warn_if_long(&copy.holder, &join(&copy.within, &copy.name), sources.len());
        let mut seen = HashSet::new();
        let mut values = RawArrayBuf::new();
        for source in &sources {
            match value(source, &copy.value) {
                None | Some(RawBsonRef::Null) => {}
                Some(value) if !seen.insert(key::of(value)) && !mutant("same value twice") => {}
                Some(value) => values.push(value),
            }
        }
        RawBson::Array(values)
    });
    Ok(values.collect())
}
