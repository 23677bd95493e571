//! The values that copies had before, by the references beside them.

use std::collections::HashMap;

use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{key, path};

use crate::{catalog::CopyDefinition, maintain::places::each_embedded};

/// A copy in a struct of a document.
pub(super) struct CopyAt<'a> {
    /// The location of the struct.
    pub(super) place: String,
    /// The key of the reference; `None` if it is empty.
    pub(super) key: Option<Vec<u8>>,
    pub(super) stored: Option<RawBsonRef<'a>>,
}

/// The earlier values that a copy can take.
#[derive(Clone, Copy)]
enum Fit {
    /// A value equal to its own.
    Value,
    /// The value at its location.
    Location,
    Any,
}

/// The copies of a document before a change. Each can be taken once.
pub(super) struct Held {
    /// By the location of the struct, with the key of the reference.
    at: HashMap<String, (Vec<u8>, RawBson)>,
    /// The locations by the reference, in their order.
    by_reference: HashMap<Vec<u8>, Vec<String>>,
}

impl Held {
    pub(super) fn new(
        copy: &CopyDefinition,
        reference: &str,
        before: Option<&RawDocument>,
    ) -> Self {
        let mut held = Held {
            at: HashMap::new(),
            by_reference: HashMap::new(),
        };
        if let Some(before) = before {
            each_embedded(before, &copy.within, &mut |place, inner| {
                // A missing copy was never filled in.
                if let (Some(id), Some(value)) =
                    (path::get(inner, reference), path::get(inner, &copy.name))
                {
                    let places = held.by_reference.entry(key::of(id)).or_default();
                    let place = place.to_string();
                    places.push(place.clone());
                    held.at.insert(place, (key::of(id), value.into()));
                }
            });
        }
        held
    }

    /// Takes for each copy an earlier value that was beside the same reference.
    ///
    /// First come the copies that have one of these values, as in a reordered list; then copies at the location of such a value;
    /// then all others.
    pub(super) fn take_all(&mut self, copies: &[CopyAt<'_>]) -> Vec<Option<RawBson>> {
        let mut taken = vec![None; copies.len()];
        for fit in [Fit::Value, Fit::Location, Fit::Any] {
            for (copy, taken) in copies.iter().zip(&mut taken) {
                if let (None, Some(key)) = (&taken, &copy.key) {
                    *taken = self.take(&copy.place, key, |at, value| match fit {
                        Fit::Value => copy.stored == Some(value),
                        Fit::Location => copy.place == at,
                        Fit::Any => true,
                    });
                }
            }
        }
        taken
    }

    /// Takes a value that fits, preferably from this location.
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
