//! The documents whose copies the changes of a unit may make wrong.

use std::collections::BTreeMap;

use bson::{RawBson, RawDocument};

use super::{
    super::unit::{Doc, Image, Unit, find_where, id},
    recompute::value,
};
use crate::{
    catalog::{Along, Copied, references},
    error::Result,
    mql::{key, path},
    store::Find,
};

/// The holders of copies that may be wrong.
#[derive(Default)]
pub(super) struct Stale<'c> {
    /// Those in which any copy may be, by the key of their `_id`.
    pub(super) whole: BTreeMap<Vec<u8>, RawBson>,
    /// Those that refer to changed sources.
    pub(super) followed: Vec<Follow<'c>>,
}

/// The copies beside one reference, whose sources changed.
pub(super) struct Follow<'c> {
    pub(super) reference: String,
    pub(super) copies: Vec<&'c Copied>,
    /// The changed sources by the key of their `_id`.
    pub(super) sources: BTreeMap<Vec<u8>, Doc>,
}

impl Stale<'_> {
    fn add(&mut self, id: RawBson) {
        let key = key::of(id.as_raw_bson_ref());
        self.whole.entry(key).or_insert(id);
    }

    /// Whether a document is compared as a whole.
    pub(super) fn is_whole(&self, document: &RawDocument) -> bool {
        !self.whole.is_empty() && self.whole.contains_key(&key::of(id(document)))
    }
}

impl Follow<'_> {
    /// The query of the holders.
    pub(super) fn holders(&self, holder: &str) -> Find {
        let sources = self.sources.values();
        let ids = sources.map(|source| id(source).into()).collect();
        find_where(holder, &self.reference, ids)
    }
}

pub(super) fn stale<'c>(unit: &Unit<'_>, holder: &str, copies: &[&'c Copied]) -> Result<Stale<'c>> {
    let mut stale = Stale::default();
    for (_, image) in unit.images(holder).changed() {
        if let Some(now) = image.now()
            && copies.iter().any(|copy| is_touched(copy, image))
        {
            stale.add(id(now).into());
        }
    }
    // The copies beside one reference follow one source.
    let mut local: BTreeMap<(&str, String), Vec<&'c Copied>> = BTreeMap::new();
    for copy in copies.iter().filter(|copy| !copy.frozen) {
        match (&copy.along, copy.reference()) {
            (Along::Local(_), Some(reference)) => {
                let key = (copy.source.as_str(), reference);
                local.entry(key).or_default().push(copy);
            }
            (Along::Local(_), None) => {}
            (Along::Reverse(path), _) => add_named(&mut stale, unit, copy, path),
        }
    }
    for ((source, reference), copies) in local {
        let may_dangle = !unit.catalog.is_certain(holder, &reference);
        let changed = unit.images(source).changed().map(|(_, image)| image);
        let changed = changed.filter(|image| {
            let mut copies = copies.iter();
            copies.any(|copy| is_source_changed(copy, image, may_dangle))
        });
        let sources: BTreeMap<Vec<u8>, Doc> = changed
            .filter_map(Image::now)
            .map(|source| (key::of(id(source)), source.clone()))
            .collect();
        if !sources.is_empty() {
            stale.followed.push(Follow {
                reference,
                copies,
                sources,
            });
        }
    }
    Ok(stale)
}

/// Adds the holders that changed sources name, or named.
fn add_named(stale: &mut Stale<'_>, unit: &Unit<'_>, copy: &Copied, path: &str) {
    for (_, image) in unit.images(&copy.source).changed() {
        let (before, now) = (image.before(), image.now());
        let seen = |source: &Doc| seen_by_holders(source, path, &copy.value);
        if before.map(seen) == now.map(seen) {
            continue;
        }
        for source in before.into_iter().chain(now) {
            references(source, path, |holder| stale.add(holder.into()));
        }
    }
}

/// Whether a write of the holder may have made a copy wrong.
fn is_touched(copy: &Copied, image: &Image) -> bool {
    let (Some(before), Some(now)) = (image.before(), image.now()) else {
        return true;
    };
    let within = match copy.within.is_empty() {
        true => None,
        false => Some(path::split(&copy.within).0.to_owned()),
    };
    let fields = match (within, &copy.along) {
        (Some(within), _) => vec![within],
        (None, Along::Local(reference)) => vec![copy.name.clone(), reference.clone()],
        (None, Along::Reverse(_)) => vec![copy.name.clone()],
    };
    fields.iter().any(|field| {
        let (first, _) = path::split(field);
        path::get(before, first) != path::get(now, first)
    })
}

/// Whether there may be holders to whose copy a change of the source matters.
fn is_source_changed(copy: &Copied, image: &Image, may_dangle: bool) -> bool {
    match (image.before(), image.now()) {
        (Some(before), Some(now)) => {
            value(before, &copy.value).map(key::of) != value(now, &copy.value).map(key::of)
        }
        (None, Some(_)) => may_dangle,
        (_, None) => false,
    }
}

/// What the holders of a reverse copy see of a source: whom it names, and its value.
fn seen_by_holders(
    source: &RawDocument,
    path: &str,
    copied: &str,
) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let mut holders = Vec::new();
    references(source, path, |holder| holders.push(key::of(holder)));
    (holders, value(source, copied).map(key::of))
}
