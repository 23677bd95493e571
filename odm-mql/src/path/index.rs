//! The keys of a document in an index.

use bson::{RawArray, RawBsonRef, RawDocument};

use super::{Leaf, Lookup, Visitor, lookup, position, split};
use crate::Error;
use crate::steps;

/// The keys of a document in an index.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct CompoundIndexValues<'a> {
    /// The keys, each a value for each path. There is at least one; the same key may occur twice.
    pub keys: Vec<Vec<RawBsonRef<'a>>>,
    /// For each path, whether it met an array. An index with such a document can tell which documents
    /// have some value within a bound, but not whether one value is within two bounds.
    pub multikey: Vec<bool>,
}

/// The keys of a document in an index.
///
/// The values at a path are the elements of an array, one level deep, undefined for an empty array at
/// the end of the path, and null for a missing value. Every value that a filter on the path matches,
/// except an array as a whole or the absence of all values, is among them. An array in an array is one
/// value.
///
/// Paths through one array take their values from the same element. Two arrays side by side are an
/// error, since their keys would multiply.
#[doc(hidden)]
pub fn compound_index_values<'a>(
    document: &'a RawDocument,
    paths: &[&str],
) -> Result<CompoundIndexValues<'a>, Error> {
    let (mut keys, mut multikey) = (Vec::with_capacity(1), vec![false; paths.len()]);
    Expansion {
        paths,
        positions: Positions::All,
        key: &mut |key| keys.push(key),
        multikey: &mut multikey,
    }
    .expand(paths.iter().map(|path| place(document, path)).collect())?;
    Ok(CompoundIndexValues { keys, multikey })
}

/// The keys of a document in a sort. The least key counts.
pub(crate) fn sort_values<'a>(
    document: &'a RawDocument,
    paths: &[&str],
) -> Result<Vec<Vec<RawBsonRef<'a>>>, Error> {
    let mut keys = Vec::new();
    Expansion {
        paths,
        positions: Positions::One,
        key: &mut |key| keys.push(key),
        multikey: &mut vec![false; paths.len()],
    }
    .expand(paths.iter().map(|path| place(document, path)).collect())?;
    Ok(keys)
}

/// The progress on one path.
#[derive(Clone, Copy)]
enum ArrayPlace<'a, 'p> {
    /// The value at the end of the path.
    Value(RawBsonRef<'a>),
    /// An array, and the rest of the path.
    Array(&'a RawArray, Option<&'p str>),
}

fn place<'a, 'p>(document: &'a RawDocument, path: &'p str) -> ArrayPlace<'a, 'p> {
    match lookup(document, path) {
        Lookup::Missing => ArrayPlace::Value(RawBsonRef::Null),
        Lookup::Value(value) => ArrayPlace::Value(value),
        Lookup::Array(array, rest) => ArrayPlace::Array(array, rest),
    }
}

/// The values that a position in a path stands for.
#[derive(Clone, Copy, PartialEq)]
enum Positions {
    /// All values that a filter may see: the element at that position, and the field of that name in
    /// each element. An index needs all of them, since a value that it lacks is not found.
    All,
    /// The element at that position, if it exists. A sort needs only that.
    One,
}

/// The expansion of the arrays on the paths into keys.
struct Expansion<'e, 'a> {
    paths: &'e [&'e str],
    positions: Positions,
    key: &'e mut dyn FnMut(Vec<RawBsonRef<'a>>),
    multikey: &'e mut [bool],
}

impl<'a> Expansion<'_, 'a> {
    fn expand(&mut self, places: Vec<ArrayPlace<'a, '_>>) -> Result<(), Error> {
        let Some(array) = self.shared_array(&places)? else {
            let value = |place| match place {
                ArrayPlace::Value(value) => value,
                ArrayPlace::Array(array, _) => RawBsonRef::Array(array),
            };
            (self.key)(places.into_iter().map(value).collect());
            return Ok(());
        };
        let mut by_position = vec![None; places.len()];
        for (i, place) in places.iter().enumerate() {
            let &ArrayPlace::Array(_, Some(rest)) = place else {
                continue;
            };
            let (name, rest_of_rest) = split(rest);
            let Some(at) = position(name) else {
                continue;
            };
            if self.positions == Positions::All {
                // This path may see other elements than the other paths, so each of its values is combined with each of theirs.
                for value in seen(array, rest) {
                    let mut places = places.clone();
                    places[i] = ArrayPlace::Value(value);
                    self.expand(places)?;
                }
                return Ok(());
            }
            by_position[i] = array
                .into_iter()
                .flatten()
                .nth(at)
                .map(|element| match element {
                    RawBsonRef::Array(inner) if rest_of_rest.is_some() => {
                        ArrayPlace::Array(inner, rest_of_rest)
                    }
                    element => place_in(element, rest_of_rest),
                });
        }
        if array.into_iter().flatten().next().is_none() {
            let empty = |place: &ArrayPlace<'a, '_>| match place {
                ArrayPlace::Array(_, None) => RawBsonRef::Undefined,
                ArrayPlace::Array(_, Some(_)) => RawBsonRef::Null,
                ArrayPlace::Value(value) => *value,
            };
            (self.key)(places.iter().map(empty).collect());
            return Ok(());
        }
        let is_fixed = |(place, by_position): (&ArrayPlace<'a, '_>, &Option<_>)| {
            by_position.is_some() || matches!(place, ArrayPlace::Value(_))
        };
        // If no path looks at the elements, one element gives the same keys as all.
        let number = match places.iter().zip(&by_position).all(is_fixed) {
            true => 1,
            false => usize::MAX,
        };
        for element in array.into_iter().flatten().take(number) {
            steps::step();
            let next = places.iter().zip(&by_position).map(|places| match places {
                (_, Some(place)) => *place,
                (ArrayPlace::Array(_, rest), None) => place_in(element, *rest),
                (ArrayPlace::Value(value), None) => ArrayPlace::Value(*value),
            });
            self.expand(next.collect())?;
        }
        Ok(())
    }

    /// The array that all paths with an array meet.
    fn shared_array(
        &mut self,
        places: &[ArrayPlace<'a, '_>],
    ) -> Result<Option<&'a RawArray>, Error> {
        let mut shared: Option<(usize, &'a RawArray)> = None;
        for (i, place) in places.iter().enumerate() {
            let &ArrayPlace::Array(array, _) = place else {
                continue;
            };
            self.multikey[i] = true;
            match shared {
                None => shared = Some((i, array)),
                Some((_, other)) if std::ptr::eq(array, other) => {}
                Some((first, _)) => {
                    return Err(Error::ParallelArrays {
                        first: self.paths[first].to_owned(),
                        second: self.paths[i].to_owned(),
                    });
                }
            }
        }
        Ok(shared.map(|(_, array)| array))
    }
}

/// The rest of a path in an element of an array. An array in an array is one value.
fn place_in<'a, 'p>(element: RawBsonRef<'a>, rest: Option<&'p str>) -> ArrayPlace<'a, 'p> {
    match (element, rest) {
        (element, None) => ArrayPlace::Value(element),
        (RawBsonRef::Document(document), Some(rest)) => place(document, rest),
        (_, Some(_)) => ArrayPlace::Value(RawBsonRef::Null),
    }
}

/// The values that a filter on the rest of a path sees in an array.
fn seen<'a>(array: &'a RawArray, rest: &str) -> Vec<RawBsonRef<'a>> {
    let mut values = Vec::new();
    let mut each = |value: Option<RawBsonRef<'a>>, _: Option<usize>| {
        values.push(match value {
            None => RawBsonRef::Null,
            // An empty array is seen only as a whole.
            Some(RawBsonRef::Array(array)) if array.is_empty() => RawBsonRef::Undefined,
            Some(value) => value,
        });
        false
    };
    Visitor::new(Leaf::Elements, &mut each).array(array, rest, None);
    if values.is_empty() {
        values.push(RawBsonRef::Null);
    }
    values
}
