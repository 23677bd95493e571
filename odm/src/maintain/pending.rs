//! Pending fields: how documents from before a declaration are read.

use std::borrow::Cow;

use bson::RawDocument;
use odm_mql::path;
use odm_store::Result;

use super::places::{FieldValues, changes, each_embedded};
use crate::{
    catalog::{Catalog, PendingField, join},
    model::{DateTime, Unreadable},
};

/// Returns a document of a collection as it is read: a pending field has its empty value if the document lacks it, or holds it in
/// an older form that the model cannot read.
///
/// The document includes the cold parts that are loaded.
pub(crate) fn as_read<'d>(
    catalog: &Catalog,
    collection: &str,
    document: &'d RawDocument,
) -> Result<Cow<'d, RawDocument>> {
    if catalog.pending().is_empty() {
        return Ok(Cow::Borrowed(document));
    }
    let fields = pending_in_whole(catalog, collection);
    if fields.is_empty() {
        return Ok(Cow::Borrowed(document));
    }
    let mut lacked = FieldValues::new();
    for (path, field) in &fields {
        let Some(empty) = &field.empty else { continue };
        each_place(document, path, &mut |place, is_lacked| {
            if is_lacked {
                lacked.push((place, Some(empty.clone())));
            }
        });
    }
    let mut read = with(Cow::Borrowed(document), lacked)?;
    // A read check names one field at a time.
    let mut emptied: Vec<String> = Vec::new();
    while let Some(why) = unreadable(catalog, collection, &read)? {
        let mut found = None;
        for (path, field) in &fields {
            each_place(&read, path, &mut |place, is_lacked| {
                if !is_lacked && !emptied.contains(&place) && holds(&place, &why.path) {
                    found = Some((place, field.empty.clone()));
                }
            });
        }
        let Some(found) = found else { break };
        emptied.push(found.0.clone());
        read = with(read, vec![found])?;
    }
    Ok(read)
}

/// Whether [`as_read`] may change the values at a path in documents of a collection.
pub(crate) fn is_read_as_pending(catalog: &Catalog, collection: &str, path: &str) -> bool {
    let pending = pending_in_whole(catalog, collection);
    pending.iter().any(|(field, _)| path::overlap(field, path))
}

/// The pending fields of the whole documents of a collection, cold parts included, with their paths there.
fn pending_in_whole<'c>(catalog: &'c Catalog, collection: &str) -> Vec<(String, &'c PendingField)> {
    let own = catalog.pending_in(collection).iter();
    let mut fields: Vec<_> = own.map(|field| (field.path.clone(), field)).collect();
    for split in catalog.splits_of(collection) {
        let inside = catalog.pending_in(&split.cold).iter();
        fields.extend(inside.map(|field| (join(&split.path, &field.path), field)));
    }
    fields
}

/// Passes each place of a path in a document, and whether the document lacks a value there.
fn each_place(document: &RawDocument, path: &str, each: &mut impl FnMut(String, bool)) {
    let (within, name) = path.rsplit_once('.').unwrap_or(("", path));
    each_embedded(document, within, &mut |place, inner| {
        each(place.path_of(name), path::get(inner, name).is_none());
    });
}

fn with<'d>(document: Cow<'d, RawDocument>, fields: FieldValues) -> Result<Cow<'d, RawDocument>> {
    if fields.is_empty() {
        return Ok(document);
    }
    let changed = changes(fields).apply(&document, false, DateTime::now().into())?;
    Ok(changed.map_or(document, Cow::Owned))
}

fn unreadable(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<Option<Box<Unreadable>>> {
    for check in catalog.read_checks(collection) {
        if let Some(why) = check.unreadable(document)? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// Whether a place is the path or encloses it.
fn holds(place: &str, path: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
