//! Cold parts of split documents.
//!
//! A caller writes whole documents, and paths into them. Here they are divided: the fields of a cold part go to its own
//! collection, in the same unit, and the hot document holds no trace of them.

mod parts;
mod update;

use std::collections::{BTreeMap, HashMap};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Result, mutants::mutant};

use super::{
    unit::{Doc, Unit, id},
    versions,
};
use crate::{
    catalog::{Split, value_of},
    model::ObjectId,
};
pub(super) use parts::UpdateParts;
pub(super) use update::{MatchedPages, matching, pages_of, update};

/// Queues whole new documents with their cold parts, and returns their positions.
///
/// # Errors
///
/// `Invalid` if a document lacks a cold part that is not optional, unless it is of another store.
pub(super) async fn insert(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &[Doc],
) -> Result<Vec<usize>> {
    let catalog = unit.catalog;
    let mut positions = Vec::with_capacity(documents.len());
    if catalog.splits_of(collection).next().is_none() {
        for document in documents {
            positions.push(unit.insert(collection, document.clone()).await?);
        }
        return Ok(positions);
    }
    let mut values: BTreeMap<&str, Values<'_>> = BTreeMap::new();
    for document in documents {
        let (hot, cold) = catalog.split_document(collection, document)?;
        let given = cold
            .into_iter()
            .filter_map(|(split, value)| Some((split, value?)));
        let given: Vec<_> = given.collect();
        let is_given = |split: &Split| given.iter().any(|(of, _)| of.path == split.path);
        let mut splits = catalog.splits_of(collection);
        let missing = splits.find(|split| !split.optional && !is_given(split));
        if let Some(split) = missing.filter(|_| unit.policy.requires_cold_parts) {
            return Err(missing_part(split, id(&hot)));
        }
        for (split, value) in given {
            let (_, values) = values.entry(&split.path).or_insert((split, Vec::new()));
            values.push((id(&hot).into(), value));
        }
        positions.push(unit.insert(collection, Doc::new(hot.into_owned())).await?);
    }
    for (split, values) in values.into_values() {
        put(unit, split, values).await?;
    }
    Ok(positions)
}

fn missing_part(split: &Split, of: RawBsonRef<'_>) -> Error {
    let message = format!(
        "missing cold part: a new document of `{}` needs a value of `{}`, which is stored in `{}`; give it one, \
         or mark the split as `optional`",
        split.hot, split.path, split.cold
    );
    Error::new(ErrorKind::Invalid, message).at(&split.hot, Some(&split.path), Some(of.into()))
}

/// The values of one split field of several documents, with the `_id` of each.
type Values<'c> = (&'c Split, Vec<(RawBson, RawDocumentBuf)>);

/// Queues the values of split fields of replacing documents, each with the `_id` of its document. A cold part without a value
/// stays as it is.
pub(super) async fn replace(
    unit: &mut Unit<'_>,
    parts: Vec<(&Split, RawBson, RawDocumentBuf)>,
) -> Result<()> {
    let mut values: BTreeMap<&str, Values<'_>> = BTreeMap::new();
    for (split, owner, value) in parts {
        let (_, values) = values.entry(&split.path).or_insert((split, Vec::new()));
        values.push((owner, value));
    }
    for (split, values) in values.into_values() {
        let changed = put(unit, split, values).await?;
        touch(unit, split, &changed).await?;
    }
    Ok(())
}

/// Divides documents that hold a cold part inline, since they are from before the split. A cold part that is stored already is
/// right, and the inline value is dropped.
pub(super) async fn divide_stored(
    unit: &mut Unit<'_>,
    collection: &str,
    positions: &[usize],
) -> Result<()> {
    for split in unit.catalog.splits_of(collection) {
        let mut inline = Vec::new();
        for &at in positions {
            if let Some(document) = unit.document(collection, at)
                && let Some(value) = path::get(document, &split.path)
            {
                inline.push((at, RawBson::from(id(document)), value_of(split, value)?));
            }
        }
        if inline.is_empty() {
            continue;
        }
        let owners = inline.iter().map(|(_, id, _)| id.clone()).collect();
        let parts = parts_of(unit, split, owners).await?;
        for (at, id, value) in inline {
            let has_part = parts.contains_key(&key::of(id.as_raw_bson_ref()));
            if let Some(value) = value.filter(|_| !has_part) {
                divide_off(unit, split, &id, &value).await?;
            }
            let fields = vec![(split.path.clone(), None)];
            unit.set(collection, at, fields).await?;
        }
    }
    Ok(())
}

/// Stores an inline value of a document as its cold part. The document must not have one yet.
pub(super) async fn divide_off(
    unit: &mut Unit<'_>,
    split: &Split,
    owner: &RawBson,
    value: &RawDocument,
) -> Result<()> {
    let id = if split.own_id {
        own_id(split, value)?
    } else {
        ObjectId::new().into()
    };
    exclude_owner(unit, split, owner);
    let part = split.cold_part(owner.as_raw_bson_ref(), id, value)?;
    unit.insert_with_origin(&split.cold, Doc::new(part)).await
}

/// Excludes other units from a document that gets a cold part, unless it is new: no other unit knows a new document.
fn exclude_owner(unit: &mut Unit<'_>, split: &Split, owner: &RawBson) {
    let images = unit.images(&split.hot);
    let at = images.position(&key::of(owner.as_raw_bson_ref()));
    if at.is_none_or(|at| images.at(at).before().is_some()) {
        unit.exclude(&split.hot, [owner]);
    }
}

/// The positions of the cold parts of documents, by the keys of these documents' `_id`s, in the order
/// in which they are found.
pub(super) fn parts_of<'f>(
    unit: &'f mut Unit<'_>,
    split: &'f Split,
    owners: Vec<RawBson>,
) -> BoxFuture<'f, Result<HashMap<Vec<u8>, Vec<usize>>>> {
    Box::pin(async move {
        let mut parts: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        let found = unit.search_images(&split.cold_parts_of(owners)).await?;
        for at in found {
            let owner = unit.document(&split.cold, at);
            if let Some(owner) = owner.and_then(|part| path::get(part, &split.key)) {
                parts.entry(key::of(owner)).or_default().push(at);
            }
        }
        Ok(parts)
    })
}

/// Stores values as the cold parts of documents, and returns the `_id`s of the documents whose cold part is different now.
async fn put(
    unit: &mut Unit<'_>,
    split: &Split,
    values: Vec<(RawBson, RawDocumentBuf)>,
) -> Result<Vec<RawBson>> {
    let owners = values.iter().map(|(id, _)| id.clone()).collect();
    let stored = parts_of(unit, split, owners).await?;
    let mut changed = Vec::new();
    for (owner, value) in values {
        let own = split.own_id.then(|| own_id(split, &value)).transpose()?;
        let held = stored.get(&key::of(owner.as_raw_bson_ref()));
        let held = held.filter(|_| !mutant("second cold part"));
        let held = held.and_then(|parts| parts.first().copied());
        let held = held.and_then(|at| {
            let part = unit.document(&split.cold, at)?;
            Some((at, RawBson::from(id(part))))
        });
        match held {
            Some((at, id)) if own.as_ref().is_none_or(|own| *own == id) => {
                let part = split.cold_part(owner.as_raw_bson_ref(), id, &value)?;
                unit.change(&split.cold, at, part).await?;
                // A derived field that the value lacks is recomputed later, and is no change.
                let image = unit.images(&split.cold).at(at);
                if !versions::is_base_changed(unit.catalog, &split.cold, image)? {
                    continue;
                }
            }
            held => {
                if let Some((at, _)) = held {
                    unit.remove(&split.cold, at).await?;
                }
                exclude_owner(unit, split, &owner);
                let id = own.unwrap_or_else(|| ObjectId::new().into());
                let part = split.cold_part(owner.as_raw_bson_ref(), id, &value)?;
                unit.insert(&split.cold, Doc::new(part)).await?;
            }
        }
        changed.push(owner);
    }
    Ok(changed)
}

/// The `_id` that the value of a cold part brings itself.
fn own_id(split: &Split, value: &RawDocument) -> Result<RawBson> {
    match path::get(value, "_id") {
        None | Some(RawBsonRef::Null) => {
            let message = format!(
                "missing `_id`: the `_id` of a document of `{}` is null; give it one",
                split.cold
            );
            Err(Error::new(ErrorKind::Encode, message))
        }
        Some(id) => Ok(id.into()),
    }
}

/// Records a change in documents whose cold part alone has changed.
pub(super) async fn touch(unit: &mut Unit<'_>, split: &Split, changed: &[RawBson]) -> Result<()> {
    for at in unit.load_existing(&split.hot, changed).await? {
        unit.touch(&split.hot, at).await?;
    }
    Ok(())
}

/// Removes the cold parts of the documents that a unit has removed.
pub(super) fn follow_deletes<'f>(unit: &'f mut Unit<'_>) -> BoxFuture<'f, Result<()>> {
    Box::pin(async move {
        for split in unit.catalog.splits() {
            let images = unit.images(&split.hot);
            let removed = images.changed().filter_map(|(_, image)| {
                let before = image.before().filter(|_| image.now().is_none())?;
                Some(RawBson::from(id(before)))
            });
            let removed: Vec<RawBson> = removed.collect();
            if !removed.is_empty() && !mutant("cold part of a delete") {
                unit.exclude(&split.hot, &removed);
                let parts = unit.search_images(&split.cold_parts_of(removed)).await?;
                for at in parts {
                    unit.remove(&split.cold, at).await?;
                }
            }
        }
        Ok(())
    })
}

/// Makes hot documents whole, as they are stored, with the cold parts for which the caller has sent values.
pub(super) async fn whole_documents(
    unit: &mut Unit<'_>,
    collection: &str,
    sent: &[Doc],
    mut documents: Vec<Doc>,
) -> Result<Vec<Doc>> {
    let catalog = unit.catalog;
    let splits: Vec<&Split> = catalog.splits_of(collection).collect();
    if splits.is_empty() {
        return Ok(documents);
    }
    let mut values = Vec::with_capacity(splits.len());
    for &split in &splits {
        values.push(stored_values(unit, split, sent, &documents).await?);
    }
    for (at, (document, sent)) in documents.iter_mut().zip(sent).enumerate() {
        let value = |name: &str| {
            let of = splits.iter().position(|split| split.path == name)?;
            Some(values[of][at].as_deref())
        };
        *document = Doc::new(whole_document(document, sent, &value)?);
    }
    Ok(documents)
}

/// The stored values of one split field of documents, where the caller has sent one.
async fn stored_values(
    unit: &mut Unit<'_>,
    split: &Split,
    sent: &[Doc],
    documents: &[Doc],
) -> Result<Vec<Option<RawDocumentBuf>>> {
    let is_sent = |sent: &Doc| {
        let value = path::get(sent, &split.path);
        value.is_some_and(|value| value != RawBsonRef::Null)
    };
    let pairs = sent.iter().zip(documents);
    let owners = pairs.filter(|(sent, _)| is_sent(sent));
    let owners: Vec<RawBson> = owners.map(|(_, document)| id(document).into()).collect();
    if owners.is_empty() {
        return Ok(vec![None; documents.len()]);
    }
    let mut parts = held_parts(unit, split);
    let is_unread = |owner: &RawBson| !parts.contains_key(&key::of(owner.as_raw_bson_ref()));
    let unread: Vec<RawBson> = owners.into_iter().filter(is_unread).collect();
    if !unread.is_empty() {
        parts.extend(parts_of(unit, split, unread).await?);
    }
    let images = unit.images(&split.cold);
    let values = sent.iter().zip(documents).map(|(sent, document)| {
        if !is_sent(sent) {
            return Ok(None);
        }
        let held = parts.get(&key::of(id(document)));
        let part = held.and_then(|held| images.at(*held.first()?).now());
        match (part, path::get(document, &split.path)) {
            (Some(part), _) => split.value(part).map(Some),
            // The document is from before the split.
            (None, Some(inline)) => value_of(split, inline),
            (None, None) => Ok(None),
        }
    });
    values.collect()
}

/// The positions of the cold parts that the unit holds, by the keys of their documents' `_id`s.
fn held_parts(unit: &Unit<'_>, split: &Split) -> HashMap<Vec<u8>, Vec<usize>> {
    let mut parts: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (at, part) in unit.images(&split.cold).existing() {
        if let Some(owner) = path::get(part, &split.key) {
            parts.entry(key::of(owner)).or_default().push(at);
        }
    }
    parts
}

/// A hot document with the values of cold parts, which `value` returns by the names of their fields: `Some(None)` where
/// none is loaded.
fn whole_document<'v>(
    hot: &RawDocument,
    sent: &RawDocument,
    value: &dyn Fn(&str) -> Option<Option<&'v RawDocument>>,
) -> Result<RawDocumentBuf> {
    let hot = hot.iter().collect::<Result<Vec<_>, _>>();
    let mut hot = hot.map_err(Error::malformed)?;
    hot.retain(|(name, _)| value(name.as_str()).is_none());
    let mut hot = hot.into_iter();
    let mut whole = RawDocumentBuf::new();
    // The fields that were stored are in the order in which they were sent.
    for element in sent {
        let (name, _) = element.map_err(Error::malformed)?;
        if let Some(value) = value(name.as_str()) {
            whole.append(name, value.map_or(RawBsonRef::Null, RawBsonRef::Document));
        } else if let Some((name, value)) = hot.next() {
            whole.append(name, value);
        }
    }
    for (name, value) in hot {
        whole.append(name, value);
    }
    Ok(whole)
}
