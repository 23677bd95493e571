//! Groups of documents and their aggregates: MongoDB's `$unwind` and `$group`.

mod date;
mod encoded;
mod quantiles;
mod state;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashMap};

use bson::{
    RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CString, cstr},
};

use self::encoded::EncodedKey;
use super::{
    Error,
    error::code,
    expr, key,
    path::{self, FieldFinder, Lookup, check_strictly, overlap, split},
    types,
    write::malformed,
};

pub use date::DateUnit;
pub(crate) use quantiles::{QuantileKind, Quantiles};
pub(crate) use state::{Deviation, KeptValue, State, Total, bytes};

/// Groups of documents with equal keys, and the aggregates of each group: the stages `$unwind` and `$group`.
///
/// Each group has a *row*: a document with the keys in `_id`, by position, and the values of the accumulators, by position too, as `{ _id:
/// { 0: "bolt" }, 0: 12, 1: 3.5 }`. [`key_path`](Group::key_path) and [`value_path`](Group::value_path) name the fields, for a filter and a
/// sort of rows.
///
/// A path has the same meaning as in an [expression](super::Expr): an array on it gives the array of the values in its elements, which is
/// not a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The path of an array: each of its elements is grouped, as if it stood in the place of the array. A missing field, null or an empty
    /// array gives no element; any other value counts as one element.
    pub unwind: Option<Cow<'static, str>>,
    /// The keys. Without keys all documents are one group, which has a row even if there are no documents.
    pub keys: Vec<GroupKey>,
    /// The aggregates of each group.
    pub accumulators: Vec<Accumulator>,
}

/// A key of groups. A missing value is null.
///
/// Keys that are equal in the order of [`compare`](super::order::compare), such as 1 and 1.0, are one group. Its key is any of them.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupKey {
    /// The path of the value.
    pub path: Cow<'static, str>,
    /// The unit to whose start, in UTC, a date is truncated.
    pub start_of: Option<DateUnit>,
}

/// An aggregate of a group.
#[derive(Debug, Clone, PartialEq)]
pub enum Accumulator {
    /// The number of documents, or of elements of the unwound array: an `Int64`.
    Count,
    /// The sum of the numbers at a path; other values are ignored, and the sum of no numbers is 0.
    ///
    /// Its type is the widest type of the numbers. Whole numbers are added exactly: a sum of `Int32` that needs more bits is an `Int64`,
    /// and a sum that needs more than 64 is a double. Doubles are added with compensation for rounding.
    Sum(Cow<'static, str>),
    /// The mean of the numbers at a path: a double, or a decimal if one of them is, or null if there are none.
    Avg(Cow<'static, str>),
    /// The least value at a path, in the order of [`compare`](super::order::compare). Null and missing values are
    /// ignored; null if there are no others.
    Min(Cow<'static, str>),
    /// The greatest value; see [`Min`](Accumulator::Min).
    Max(Cow<'static, str>),
}

impl Accumulator {
    /// Returns the path of the values that it reads.
    pub fn path(&self) -> Option<&str> {
        match self {
            Accumulator::Count => None,
            Accumulator::Sum(path)
            | Accumulator::Avg(path)
            | Accumulator::Min(path)
            | Accumulator::Max(path) => Some(path),
        }
    }
}

impl Group {
    /// Returns the path of a key in a row.
    pub fn key_path(at: usize) -> String {
        format!("_id.{at}")
    }

    /// Returns the path of the value of an accumulator in a row.
    pub fn value_path(at: usize) -> String {
        at.to_string()
    }

    /// Returns all paths that it reads.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().map(|key| &*key.path);
        let values = self.accumulators.iter().filter_map(Accumulator::path);
        self.unwind.as_deref().into_iter().chain(keys).chain(values)
    }

    /// Begins to group documents.
    ///
    /// # Errors
    ///
    /// [`BadPath`](Error::BadPath) for a path that names no field, or a path that leads to the unwound array as a whole.
    pub fn begin(&self) -> Result<Grouping<'_>, Error> {
        for path in self.paths() {
            check_strictly(path)?;
        }
        let unwind = self.unwind.as_deref();
        let mut fields = FieldFinder::default();
        let mut location = |path| ValueLocation::new(path, unwind, &mut fields);
        let keys = self.keys.iter().map(|key| location(&key.path));
        let keys = keys.collect::<Result<_, _>>()?;
        let values = self.accumulators.iter();
        let values = values.map(|accumulator| accumulator.path().map(&mut location).transpose());
        let values = values.collect::<Result<_, _>>()?;
        let names = (0..self.keys.len().max(self.accumulators.len())).map(|at| at.to_string());
        let names = names.map(|name| CString::try_from(name).map_err(malformed));
        let mut grouping = Grouping {
            group: self,
            keys,
            values,
            fields,
            names: names.collect::<Result<_, _>>()?,
            found: HashMap::default(),
            key_values: Vec::new(),
            states: Vec::new(),
            key: Vec::new(),
            memory: 0,
        };
        if self.keys.is_empty() {
            grouping.found.insert(EncodedKey::new(&[]), 0);
            grouping.begin_states();
        }
        Ok(grouping)
    }
}

/// Where the value of a path is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ValueLocation<'g> {
    /// In the document: the path, the number of its first part among the fields that are found, and the rest of it.
    Document(&'g str, usize, Option<&'g str>),
    /// In the element of the unwound array: at a path, or the element itself.
    Element(Option<&'g str>),
}

impl<'g> ValueLocation<'g> {
    fn new(
        path: &'g str,
        unwind: Option<&str>,
        fields: &mut FieldFinder<'g>,
    ) -> Result<Self, Error> {
        let mut in_document = || {
            let (name, rest) = split(path);
            ValueLocation::Document(path, fields.add(name), rest)
        };
        let Some(rest) = unwind.and_then(|unwind| path.strip_prefix(unwind)) else {
            return match unwind {
                Some(unwind) if overlap(path, unwind) => Err(path::bad(
                    path,
                    "the array that is unwound is a part of it; name a field beside the array, or in it",
                    code::BAD_VALUE,
                )),
                _ => Ok(in_document()),
            };
        };
        match rest.strip_prefix('.') {
            Some(inner) => Ok(ValueLocation::Element(Some(inner))),
            None if rest.is_empty() => Ok(ValueLocation::Element(None)),
            None => Ok(in_document()),
        }
    }
}

/// A document, and the element of the unwound array.
#[derive(Clone, Copy)]
struct Item<'a> {
    document: &'a RawDocument,
    element: Option<RawBsonRef<'a>>,
}

impl<'a> Item<'a> {
    /// Passes the value at a location. `fields` are the fields of the document.
    fn with<T>(
        &self,
        fields: &FieldFinder<'_>,
        location: ValueLocation<'_>,
        then: impl FnOnce(Option<RawBsonRef<'_>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (document, path, found) = match (location, self.element) {
            (ValueLocation::Document(path, field, rest), _) => {
                let value = fields.value(field, self.document);
                (self.document, path, path::lookup_from(value, rest))
            }
            (ValueLocation::Element(None), element) => return then(element),
            (ValueLocation::Element(Some(path)), Some(RawBsonRef::Document(element))) => {
                (element, path, path::lookup(element, path))
            }
            (ValueLocation::Element(Some(path)), Some(RawBsonRef::Array(array))) => {
                return then(Some(
                    expr::in_elements(array, path, &mut 0).as_raw_bson_ref(),
                ));
            }
            (ValueLocation::Element(Some(_)), _) => return then(None),
        };
        match found {
            Lookup::Missing => then(None),
            Lookup::Value(value) => then(Some(value)),
            Lookup::Array(array, None) => then(Some(RawBsonRef::Array(array))),
            Lookup::Array(_, Some(_)) => {
                let value = expr::at_path(document, path, &mut 0);
                then(value.as_ref().map(RawBson::as_raw_bson_ref))
            }
        }
    }
}

/// Documents that are being grouped.
///
/// It takes memory for each group: its keys twice, and about 100 bytes for each accumulator. See
/// [`memory`](Grouping::memory).
#[derive(Debug)]
pub struct Grouping<'g> {
    group: &'g Group,
    keys: Vec<ValueLocation<'g>>,
    values: Vec<Option<ValueLocation<'g>>>,
    fields: FieldFinder<'g>,
    /// The names of the fields of rows.
    names: Vec<CString>,
    /// The groups by their encoded keys.
    found: HashMap<EncodedKey, usize, ahash::RandomState>,
    /// The keys of all groups, one group after another.
    key_values: Vec<RawBson>,
    /// The states of the accumulators of all groups, one group after another.
    states: Vec<State>,
    /// The encoded keys of the current document.
    key: Vec<u8>,
    memory: usize,
}

impl Grouping<'_> {
    /// Adds a document.
    ///
    /// # Errors
    ///
    /// [`Expression`](Error::Expression) if a key is the start of a unit and its value is not a date.
    pub fn add(&mut self, document: &RawDocument) -> Result<(), Error> {
        self.fields.find(document);
        let item = |element| Item { document, element };
        let Some(unwind) = &self.group.unwind else {
            return self.add_item(item(None));
        };
        match path::lookup(document, unwind) {
            Lookup::Array(array, None) => {
                for element in array.into_iter().flatten() {
                    self.add_item(item(Some(element)))?;
                }
                Ok(())
            }
            Lookup::Missing | Lookup::Array(_, Some(_)) => Ok(()),
            Lookup::Value(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(()),
            Lookup::Value(value) => self.add_item(item(Some(value))),
        }
    }

    /// Adds to the count of the group with an encoded key. Returns whether there is such a group.
    #[doc(hidden)]
    pub fn count(&mut self, key: &[u8], more: u64) -> bool {
        let Some(at) = self.found.get(key) else {
            return false;
        };
        let len = self.values.len();
        for state in &mut self.states[at * len..(at + 1) * len] {
            state.count(more);
        }
        true
    }

    /// Begins the group with an encoded key, which has no values yet. The keys of the group are fields, and these are their values.
    #[doc(hidden)]
    pub fn begin(&mut self, key: &[u8], values: impl IntoIterator<Item = RawBson>) {
        self.key_values.extend(values);
        self.insert(key);
    }

    /// Returns the memory that the groups take, in bytes, about.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether there are no groups yet.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn add_item(&mut self, item: Item<'_>) -> Result<(), Error> {
        let at = match self.keys.is_empty() {
            // The one group is not looked for.
            true => 0,
            false => self.group_of(item)?,
        };
        let len = self.values.len();
        let states = &mut self.states[at * len..(at + 1) * len];
        for (location, state) in self.values.iter().zip(states) {
            match location {
                None => state.count(1),
                Some(location) => item.with(&self.fields, *location, |value| {
                    if let Some(value) = value {
                        self.memory += state.add(value);
                    }
                    Ok(())
                })?,
            }
        }
        Ok(())
    }

    /// The group of an item, which begins with its first item.
    fn group_of(&mut self, item: Item<'_>) -> Result<usize, Error> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for (location, spec) in self.keys.iter().zip(&self.group.keys) {
            item.with(&self.fields, *location, |value| {
                key::encode(spec.value_of(value)?, &mut key);
                Ok(())
            })?;
        }
        let at = match self.found.get(&*key) {
            Some(at) => *at,
            None => self.begin_group(&key, item)?,
        };
        self.key = key;
        Ok(at)
    }

    fn begin_group(&mut self, key: &[u8], item: Item<'_>) -> Result<usize, Error> {
        for (location, spec) in self.keys.iter().zip(&self.group.keys) {
            let value = item.with(&self.fields, *location, |value| {
                Ok(RawBson::from(spec.value_of(value)?))
            })?;
            self.key_values.push(value);
        }
        Ok(self.insert(key))
    }

    /// Inserts a group whose key values were pushed.
    fn insert(&mut self, key: &[u8]) -> usize {
        let at = self.found.len();
        self.found.insert(EncodedKey::new(key), at);
        // The values take about as much as their keys, and the buckets of the map about as much again.
        self.memory += 2 * key.len()
            + self.keys.len() * size_of::<RawBson>()
            + 2 * size_of::<(EncodedKey, usize)>();
        self.begin_states();
        at
    }

    fn begin_states(&mut self) {
        self.memory += self.values.len() * size_of::<State>();
        let accumulators = self.group.accumulators.iter();
        self.states.extend(accumulators.map(State::new));
    }

    /// Returns the rows, in the order of their keys.
    pub fn into_rows(self) -> impl Iterator<Item = Result<RawDocumentBuf, Error>> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_unstable_by(|(a, _), (b, _)| a.bytes().cmp(b.bytes()));
        let (keys, values) = (self.keys.len(), self.values.len());
        found.into_iter().map(move |(_, at)| {
            let mut id = RawDocumentBuf::new();
            for (name, key) in self.names.iter().zip(&self.key_values[at * keys..][..keys]) {
                id.append(name, key.as_raw_bson_ref());
            }
            let mut row = RawDocumentBuf::new();
            row.append(cstr!("_id"), id);
            for (name, state) in self.names.iter().zip(&self.states[at * values..][..values]) {
                row.append(name, state.value());
            }
            Ok(row)
        })
    }
}

impl GroupKey {
    /// The key of a value.
    fn value_of<'a>(&self, value: Option<RawBsonRef<'a>>) -> Result<RawBsonRef<'a>, Error> {
        let value = value.unwrap_or(RawBsonRef::Null);
        match (self.start_of, value) {
            (None, value) => Ok(value),
            (Some(_), RawBsonRef::Null | RawBsonRef::Undefined) => Ok(RawBsonRef::Null),
            (Some(unit), RawBsonRef::DateTime(date)) => {
                Ok(RawBsonRef::DateTime(unit.start_of(date)))
            }
            (Some(_), other) => Err(Error::Expression {
                operator: "$dateTrunc",
                reason: format!(
                    "`{}` must be a date, not {}",
                    self.path,
                    types::name(other.element_type())
                )
                .into(),
                code: 5_439_012,
            }),
        }
    }
}
