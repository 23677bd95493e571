//! Sorts: the order of documents.

use std::{borrow::Cow, cmp::Ordering, fmt};

use bson::{Bson, Document, RawBson, RawBsonRef, RawDocument};

use crate::{
    Collation, Error, decimal,
    error::code,
    key, number, order,
    path::{self, Lookup, lookup, sort_values},
    types::{as_number, bad, bad_as, unknown, whole_number},
};

/// The greatest number of fields of a sort in MongoDB's form.
const MAX_KEYS: usize = 32;

/// The direction of one key of a sort or of an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The least value first.
    #[default]
    Ascending,
    /// The greatest value first.
    Descending,
}

impl Direction {
    /// Returns the order of two values in this direction.
    pub fn apply(self, ascending: Ordering) -> Ordering {
        match self {
            Direction::Ascending => ascending,
            Direction::Descending => ascending.reverse(),
        }
    }

    /// Returns the other direction.
    pub fn reversed(self) -> Direction {
        match self {
            Direction::Ascending => Direction::Descending,
            Direction::Descending => Direction::Ascending,
        }
    }

    /// Parses 1 or -1. A double is cut towards zero, and a decimal is rounded.
    fn parse(value: &Bson) -> Result<Direction, Error> {
        let expected = |code| bad_as(code, "sort", "1 or -1 for each field");
        let sign = match value {
            Bson::Decimal128(value) => decimal::Decimal::new(*value)
                .cut(0, decimal::half_to_even)
                .truncated(),
            value => {
                let number = as_number(value).ok_or_else(|| expected(15_974))?;
                number::truncated(number)
            }
        };
        match sign {
            Some(1) => Ok(Direction::Ascending),
            Some(-1) => Ok(Direction::Descending),
            _ => Err(expected(15_975)),
        }
    }

    /// Parses 1 or -1; any other value is `None`.
    pub(super) fn parse_exactly(value: &Bson) -> Option<Direction> {
        match whole_number(value)? {
            1 => Some(Direction::Ascending),
            -1 => Some(Direction::Descending),
            _ => None,
        }
    }

    pub(super) fn to_bson(self) -> Bson {
        Bson::Int32(match self {
            Direction::Ascending => 1,
            Direction::Descending => -1,
        })
    }
}

/// The fields by which documents are ordered. The first field that differs decides.
///
/// An array counts as its least element, or as its greatest if the direction is descending. A missing
/// field counts as null, and an empty array comes before null.
///
/// All documents have an order. MongoDB refuses to sort a document in which two keys lead into different arrays, or a number in a key is
/// both a position and the name of a field in an element.
///
/// A sort that [ignores case](Sort::ignoring_case) compares texts as if they were written in one case, except in `_id`. A
/// [collation](Sort::collated) takes its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sort {
    keys: Vec<(Cow<'static, str>, Direction)>,
    ignores_case: bool,
    collation: Option<Collation>,
    /// Whether `_id` was added as the last key of a sort with a collation, to make the order total. It has no collation then.
    ends_by_id: bool,
}

/// How the texts at a path are compared.
enum TextOrder<'s> {
    Bytes,
    Folded,
    /// Texts that are equal are compared by their bytes then, if `ties` says so.
    Collated {
        collation: &'s Collation,
        ties: bool,
    },
}

impl Sort {
    /// Creates a sort without keys.
    pub fn new() -> Self {
        Sort::default()
    }

    /// Adds a key as a tie-breaker. A path that has a key keeps it, since a second key of one path has no effect.
    pub fn by(mut self, path: impl Into<Cow<'static, str>>, direction: Direction) -> Self {
        let path = path.into();
        if self.keys.iter().all(|(other, _)| *other != path) {
            self.keys.push((path, direction));
        }
        self
    }

    /// The same sort for documents that have the sorted fields at other paths.
    #[doc(hidden)]
    pub fn moved_to(self, path: &dyn Fn(&str) -> Cow<'static, str>) -> Self {
        let keys = self.keys.into_iter();
        Sort {
            keys: keys
                .map(|(inner, direction)| (path(&inner), direction))
                .collect(),
            ..self
        }
    }

    /// Adds the keys of another sort as tie-breakers. The sort ignores case if one of the two does, and has the collation of the first one
    /// that has one.
    pub fn then(self, other: &Sort) -> Self {
        let ignores_case = self.ignores_case || other.ignores_case;
        let collation = self.collation.clone().or(other.collation.clone());
        let keys = other.keys.iter();
        let sort = keys.fold(self, |sort, (path, direction)| {
            sort.by(path.clone(), *direction)
        });
        Sort {
            ignores_case,
            collation,
            ..sort
        }
    }

    /// Compares the texts of all keys except `_id` after Unicode's simple case folding, much like a collation of strength 2.
    pub fn ignoring_case(self) -> Self {
        Sort {
            ignores_case: true,
            ..self
        }
    }

    /// Whether it ignores case.
    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// Compares the texts of all keys by a collation, if there is one.
    ///
    /// Values of `_id` that are equal by it are compared by their bytes then, so that the order stays total.
    ///
    /// ```
    /// # #[cfg(feature = "collation")] {
    /// use odm_mql::{Collation, Sort, bson::{doc, rawdoc}};
    ///
    /// let collation = Collation::parse(&doc! { "locale": "en" })?;
    /// let sort = Sort::parse(&doc! { "name": 1 })?.collated(collation.as_ref());
    /// assert!(sort.compare(&rawdoc! { "name": "apple" }, &rawdoc! { "name": "Banana" }).is_lt());
    /// # }
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    pub fn collated(self, collation: Option<&Collation>) -> Self {
        Sort {
            collation: collation.cloned(),
            ..self
        }
    }

    /// The collation by which texts are compared, if there is one.
    pub fn collation(&self) -> Option<&Collation> {
        self.collation.as_ref()
    }

    /// Parses `{ path: 1, other: -1 }`.
    ///
    /// `{ $natural: 1 }` is the order of `_id`, in which the documents are stored, and `{ $natural: -1 }`
    /// the opposite.
    pub fn parse(document: &Document) -> Result<Self, Error> {
        let mut sort = Sort::new();
        if document.len() > MAX_KEYS {
            return Err(bad_as(13_103, "sort", "at most 32 fields"));
        }
        if let Some(value) = document.get("$natural") {
            return match (Direction::parse_exactly(value), document.len()) {
                (Some(direction), 1) => Ok(sort.by("_id", direction)),
                _ => Err(bad("$natural", "1 or -1, and no field beside it")),
            };
        }
        for (path, value) in document {
            let direction = match value {
                Bson::Document(meta) => return Err(no_meta(meta)),
                value => Direction::parse(value)?,
            };
            path::check_strictly(path)?;
            sort.keys.push((path.clone().into(), direction));
        }
        Ok(sort)
    }

    /// Parses the sort of the elements of an array, whose directions are exact.
    pub(super) fn parse_exactly(document: &Document) -> Result<Self, Error> {
        let mut sort = Sort::new();
        for (path, value) in document {
            let direction = Direction::parse_exactly(value);
            let valid = path::check(path).is_ok()
                && !path
                    .split('.')
                    .any(|part| part.is_empty() || part.starts_with('$'));
            match direction {
                Some(direction) if valid => sort.keys.push((path.clone().into(), direction)),
                _ => return Err(bad("$sort", "fields with 1 or -1")),
            }
        }
        Ok(sort)
    }

    /// Returns the keys in the form that [`parse`](Sort::parse) accepts. The form does not contain whether case is ignored,
    /// nor a collation.
    pub fn to_document(&self) -> Document {
        self.keys
            .iter()
            .map(|(path, direction)| (path.to_string(), direction.to_bson()))
            .collect()
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[(Cow<'static, str>, Direction)] {
        &self.keys
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the same order with `_id` as the last key, unless it has a key.
    pub fn total(&self) -> Sort {
        let total = self.clone().by("_id", Direction::Ascending);
        let is_longer = total.keys.len() > self.keys.len();
        Sort {
            ends_by_id: self.ends_by_id || is_longer && self.collation.is_some(),
            ..total
        }
    }

    /// The opposite order.
    pub fn reversed(&self) -> Sort {
        let reversed = |(path, direction): &(Cow<'static, str>, Direction)| {
            (path.clone(), direction.reversed())
        };
        Sort {
            keys: self.keys.iter().map(reversed).collect(),
            ignores_case: self.ignores_case,
            collation: self.collation.clone(),
            ends_by_id: self.ends_by_id,
        }
    }

    /// The values of a document by which it is ordered, one for each key.
    pub fn key(&self, document: &RawDocument) -> Vec<RawBson> {
        self.values(document)
            .into_iter()
            .map(RawBson::from)
            .collect()
    }

    /// Compares two keys returned by [`key`](Sort::key).
    pub fn compare_keys(&self, a: &[RawBson], b: &[RawBson]) -> Ordering {
        self.compare_each(
            a.iter().map(RawBson::as_raw_bson_ref),
            b.iter().map(RawBson::as_raw_bson_ref),
        )
    }

    /// Bytes that sort as the documents do.
    pub fn encode_key(&self, document: &RawDocument) -> Vec<u8> {
        self.encode(self.values(document).into_iter())
    }

    /// Encodes a key returned by [`key`](Sort::key), as [`encode_key`](Sort::encode_key) does for a document.
    #[doc(hidden)]
    pub fn encode_values(&self, key: &[RawBson]) -> Vec<u8> {
        self.encode(key.iter().map(RawBson::as_raw_bson_ref))
    }

    fn encode<'a>(&self, values: impl Iterator<Item = RawBsonRef<'a>>) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 * self.keys.len());
        for (value, (path, direction)) in values.zip(&self.keys) {
            match self.text_order(path) {
                TextOrder::Bytes => key::encode_directed(value, *direction, &mut out),
                TextOrder::Folded => key::encode_folded(value, *direction, &mut out),
                TextOrder::Collated { collation, ties } => {
                    key::encode_directed_by(Some(collation), value, *direction, &mut out);
                    if ties {
                        key::encode_directed(value, *direction, &mut out);
                    }
                }
            }
        }
        out
    }

    /// The `_id` is compared with case, so that the order stays total.
    fn text_order(&self, path: &str) -> TextOrder<'_> {
        let is_id = path == "_id";
        match &self.collation {
            Some(collation) if !is_id || self.collates_id() => TextOrder::Collated {
                collation,
                ties: is_id,
            },
            None if self.ignores_case && !is_id => TextOrder::Folded,
            _ => TextOrder::Bytes,
        }
    }

    /// Whether `_id` is a key whose texts are compared by a collation.
    #[doc(hidden)]
    pub fn collates_id(&self) -> bool {
        let has_id = self.keys.iter().any(|(path, _)| path == "_id");
        self.collation.is_some() && !self.ends_by_id && has_id
    }

    fn compare_at(
        &self,
        (path, direction): &(Cow<'static, str>, Direction),
        a: RawBsonRef<'_>,
        b: RawBsonRef<'_>,
    ) -> Ordering {
        direction.apply(match self.text_order(path) {
            TextOrder::Bytes => order::compare(a, b),
            TextOrder::Folded => order::compare_folded(a, b),
            TextOrder::Collated { collation, ties } => {
                let order = order::compare_by(Some(collation), a, b);
                if ties {
                    order.then_with(|| order::compare(a, b))
                } else {
                    order
                }
            }
        })
    }

    /// Compares two documents.
    pub fn compare(&self, a: &RawDocument, b: &RawDocument) -> Ordering {
        self.compare_values(&self.values(a), &self.values(b))
    }

    fn values<'a>(&self, document: &'a RawDocument) -> Vec<RawBsonRef<'a>> {
        let plain = self
            .keys
            .iter()
            .map(|(path, _)| match lookup(document, path) {
                Lookup::Value(value) => Some(value),
                Lookup::Missing => Some(RawBsonRef::Null),
                Lookup::Array(..) => None,
            });
        if let Some(values) = plain.collect() {
            return values;
        }
        let paths: Vec<&str> = self.keys.iter().map(|(path, _)| path.as_ref()).collect();
        if let Ok(keys) = sort_values(document, &paths) {
            let first = keys.into_iter().min_by(|a, b| self.compare_values(a, b));
            return first.unwrap_or_else(|| vec![RawBsonRef::Null; self.keys.len()]);
        }
        // Two arrays side by side have no common elements, so each decides alone.
        self.keys
            .iter()
            .map(|key| {
                let values = sort_values(document, &[&key.0])
                    .unwrap_or_default()
                    .into_iter();
                values
                    .filter_map(|key| key.first().copied())
                    .min_by(|a, b| self.compare_at(key, *a, *b))
                    .unwrap_or(RawBsonRef::Null)
            })
            .collect()
    }

    fn compare_values(&self, a: &[RawBsonRef<'_>], b: &[RawBsonRef<'_>]) -> Ordering {
        self.compare_each(a.iter().copied(), b.iter().copied())
    }

    fn compare_each<'a>(
        &self,
        a: impl Iterator<Item = RawBsonRef<'a>>,
        b: impl Iterator<Item = RawBsonRef<'a>>,
    ) -> Ordering {
        let keys = self.keys.iter();
        keys.zip(a.zip(b))
            .map(|(key, (a, b))| self.compare_at(key, a, b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_document().fmt(f)?;
        match &self.collation {
            None if self.ignores_case => f.write_str(", ignoring case"),
            None => Ok(()),
            Some(collation) => write!(f, ", with the collation {collation}"),
        }
    }
}

/// The error of a document in place of a direction.
fn no_meta(document: &Document) -> Error {
    const INSTEAD: &str = "there is no metadata of documents; sort by fields";
    let not_supported = |code| Error::NotSupported {
        operator: "$meta".to_owned(),
        instead: INSTEAD,
        code,
    };
    match document.get("$meta") {
        _ if document.len() > 1 && document.contains_key("$meta") => {
            unknown(code::FAILED_TO_PARSE, "$meta")
        }
        None => bad_as(17_312, "sort", "1 or -1 for each field"),
        Some(Bson::String(kind)) => match kind.as_str() {
            "textScore" | "geoNearDistance" => not_supported(40_218),
            "randVal" | "searchScore" | "vectorSearchScore" | "score" => {
                not_supported(code::NOT_IMPLEMENTED)
            }
            _ => not_supported(31_138),
        },
        Some(_) => not_supported(31_138),
    }
}

#[cfg(test)]
mod tests;
