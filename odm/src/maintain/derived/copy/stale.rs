//! The documents whose copies the changes of a unit may make stale.

use std::collections::BTreeMap;

use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{Filter, Update, key, path};
use odm_store::{Find, Result, mutants::mutant};

use super::super::value;
use crate::{
    catalog::{Along, CopyDefinition, FieldDefinition, join, references},
    maintain::{
        outbox::Target,
        remote,
        unit::{Doc, Image, Unit, id},
    },
};

/// The holders with copies beside one reference that may be wrong.
#[derive(Default)]
pub(super) struct StaleCopies<'c> {
    /// The holders in which any copy may be wrong, by the key of their `_id`.
    pub(super) whole: BTreeMap<Vec<u8>, RawBson>,
    /// The holders that reference changed sources.
    pub(super) followed: Option<FollowedSources<'c>>,
    /// The targets that are left to the worker of the outbox.
    pub(super) deferred: Vec<Target>,
}

/// The copies beside one reference, whose sources changed.
pub(super) struct FollowedSources<'c> {
    pub(super) reference: String,
    /// The collection of the sources.
    pub(super) source: &'c str,
    pub(super) copies: Vec<&'c CopyDefinition>,
    /// The changed sources by the key of their `_id`.
    pub(super) sources: BTreeMap<Vec<u8>, Doc>,
}

impl StaleCopies<'_> {
    fn add(&mut self, id: RawBson) {
        let key = key::of(id.as_raw_bson_ref());
        self.whole.entry(key).or_insert(id);
    }

    /// Whether a document is compared as a whole.
    pub(super) fn is_whole(&self, document: &RawDocument) -> bool {
        !self.whole.is_empty() && self.whole.contains_key(&key::of(id(document)))
    }
}

impl FollowedSources<'_> {
    /// The query for the holders.
    pub(super) fn holders(&self, unit: &mut Unit<'_>, holder: &str) -> Find {
        let sources = self.sources.values();
        let ids = sources.map(|source| id(source).into()).collect();
        unit.find_referrers((self.source, ids), holder, &self.reference)
    }

    /// The unread updates of all holders. `None` if a holder has to be read.
    pub(super) fn updates(&self) -> Option<Vec<(Filter, Update)>> {
        let updates = self.sources.values().map(|source| {
            let copies = self.copies.iter().map(|copy| {
                let value = value(source, &copy.value);
                (
                    copy.name.clone(),
                    value.map_or(RawBson::Null, RawBson::from),
                )
            });
            remote::copies::update(&self.reference, id(source).into(), copies)
        });
        updates.collect()
    }
}

/// The holders in which these copies, all beside one reference, may be wrong.
pub(super) fn stale<'c>(
    unit: &Unit<'_>,
    holder: &str,
    copies: &[&'c CopyDefinition],
) -> Result<StaleCopies<'c>> {
    let mut stale = StaleCopies::default();
    for (_, image) in unit.images(holder).changed() {
        if let Some(now) = image.now()
            && copies.iter().any(|copy| is_touched(copy, image))
        {
            stale.add(id(now).into());
        }
    }
    for copy in copies {
        unit.outbox
            .due_fields(holder, &copy.path())
            .for_each(|id| stale.add(id));
    }
    // A frozen copy that can be null is never missing, so a change of its source never changes it.
    let copies = copies.iter().copied();
    let copies = copies.filter(|copy| !(copy.frozen && copy.optional));
    let (deferred, at_once): (Vec<_>, Vec<_>) = copies.partition(|copy| unit.defers(*copy));
    for copy in &at_once {
        if let Along::Reverse(path) = &copy.along {
            add_named(&mut stale.whole, unit, copy, path);
        }
    }
    stale.followed = followed(unit, holder, at_once);
    for copy in &deferred {
        if let Along::Reverse(path) = &copy.along {
            let mut named = BTreeMap::new();
            add_named(&mut named, unit, copy, path);
            named.retain(|key, _| !stale.whole.contains_key(key));
            let named = named.into_values();
            let targets = named.map(|id| Target::field(holder, &copy.path(), id));
            stale.deferred.extend(targets);
        }
    }
    if let Some(follow) = followed(unit, holder, deferred) {
        let sources = follow.sources.values();
        let targets = sources.map(|of| Target::along(holder, &follow.reference, id(of).into()));
        stale.deferred.extend(targets);
    }
    Ok(stale)
}

/// The changed sources of the copies beside a reference, if there are any.
fn followed<'c>(
    unit: &Unit<'_>,
    holder: &str,
    copies: Vec<&'c CopyDefinition>,
) -> Option<FollowedSources<'c>> {
    let first = copies.first()?;
    let (source, reference) = (first.source.as_str(), first.reference()?);
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
    (!sources.is_empty()).then_some(FollowedSources {
        reference,
        source,
        copies,
        sources,
    })
}

/// Adds the holders that changed sources name or named: all holders if the value changed, else the holders that are named only
/// before or only now.
fn add_named(
    stale: &mut BTreeMap<Vec<u8>, RawBson>,
    unit: &Unit<'_>,
    copy: &CopyDefinition,
    path: &str,
) {
    for (_, image) in unit.images(&copy.source).changed() {
        let seen = |source: &Doc| value(source, &copy.value).map(key::of);
        let is_same_value = image.before().map(seen) == image.now().map(seen);
        let named = |source: Option<&Doc>| {
            let mut holders = BTreeMap::new();
            if let Some(source) = source {
                references(source, path, |holder| {
                    holders.insert(key::of(holder), RawBson::from(holder));
                });
            }
            holders
        };
        let (mut before, now) = (named(image.before()), named(image.now()));
        for (key, holder) in now {
            let is_other = !is_same_value && !mutant("reverse copy of a changed value");
            if before.remove(&key).is_none() || is_other {
                stale.insert(key, holder);
            }
        }
        if !mutant("reverse copy of the old holder") {
            stale.append(&mut before);
        }
    }
}

/// Whether a write of the holder may have made a copy wrong.
fn is_touched(copy: &CopyDefinition, image: &Image) -> bool {
    let (Some(before), Some(now)) = (image.before(), image.now()) else {
        return true;
    };
    let reference = match &copy.along {
        Along::Local(reference) => Some(reference),
        Along::Reverse(_) => None,
    };
    let mut fields = [Some(&copy.name), reference].into_iter().flatten();
    fields.any(|field| !path::is_same(before, now, &join(&copy.within, field)))
        && !mutant("moved holder")
}

/// Whether a change of the source may change copies of its holders. It changes a frozen copy only if the source had no value
/// before.
fn is_source_changed(copy: &CopyDefinition, image: &Image, may_dangle: bool) -> bool {
    match (image.before(), image.now()) {
        (Some(before), Some(now)) => {
            let [before, now] = [before, now].map(|source| value(source, &copy.value));
            let was_absent = matches!(before, None | Some(RawBsonRef::Null));
            before.map(key::of) != now.map(key::of) && (was_absent || !copy.frozen)
        }
        (None, Some(_)) => may_dangle && !mutant("source that comes back"),
        (_, None) => false,
    }
}
