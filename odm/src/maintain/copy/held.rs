//! The values that copies had before, by the references beside them.

use std::collections::HashMap;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::super::places::structs;
use crate::{
    catalog::Copied,
    mql::{key, path},
};

/// The copies of a document before a change, to be taken once each.
pub(super) struct Held {
    /// By the location of the struct, with the key of the reference.
    at: HashMap<String, (Vec<u8>, RawBson)>,
    /// The locations by the reference, in their order.
    by_reference: HashMap<Vec<u8>, Vec<String>>,
}

impl Held {
    pub(super) fn new(copy: &Copied, reference: &str, before: Option<&RawDocument>) -> Self {
        let mut held = Held {
            at: HashMap::new(),
            by_reference: HashMap::new(),
        };
        if let Some(before) = before {
            structs(before, &copy.within, &mut |place, inner| {
                // A missing copy was never filled in.
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

    /// Takes for each struct, given by its location, the key of its reference and its copy, a value
    /// that was beside the same reference before.
    ///
    /// First come the structs whose copy is one of these values, as in a list in another order; then
    /// those at the location where the value was; then all others.
    pub(super) fn take_all<'a>(
        &mut self,
        structs: impl Iterator<Item = (&'a str, Option<&'a [u8]>, Option<RawBsonRef<'a>>)> + Clone,
    ) -> Vec<Option<RawBson>> {
        let mut taken: Vec<Option<RawBson>> = structs.clone().map(|_| None).collect();
        let mut pass =
            |fits: &dyn Fn(&str, Option<RawBsonRef<'_>>, &str, RawBsonRef<'_>) -> bool| {
                for ((place, key, stored), taken) in structs.clone().zip(&mut taken) {
                    if let (None, Some(key)) = (&taken, key) {
                        *taken = self.take(place, key, |at, value| fits(place, stored, at, value));
                    }
                }
            };
        pass(&|_, stored, _, value| stored == Some(value));
        pass(&|place, _, at, _| at == place);
        pass(&|_, _, _, _| true);
        taken
    }

    /// Takes a value that fits: the one at this location if it is among them.
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
