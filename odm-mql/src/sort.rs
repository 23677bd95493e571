//! Sorts: the order of documents.

use std::{borrow::Cow, cmp::Ordering, fmt};

use bson::{Bson, Document, RawBson, RawBsonRef, RawDocument};

use crate::{
    Error, decimal,
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
/// A sort that [ignores case](Sort::ignoring_case) compares texts as if they were written in one case, except in `_id`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sort {
    keys: Vec<(Cow<'static, str>, Direction)>,
    ignores_case: bool,
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

    /// Adds the keys of another sort as tie-breakers. The sort ignores case if one of the two does.
    pub fn then(self, other: &Sort) -> Self {
        let ignores_case = self.ignores_case || other.ignores_case;
        let keys = other.keys.iter();
        let sort = keys.fold(self, |sort, (path, direction)| {
            sort.by(path.clone(), *direction)
        });
        Sort {
            ignores_case,
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

    /// Returns the keys in the form that [`parse`](Sort::parse) accepts. The form does not contain whether case is ignored.
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
        self.clone().by("_id", Direction::Ascending)
    }

    /// The opposite order.
    pub fn reversed(&self) -> Sort {
        let reversed = |(path, direction): &(Cow<'static, str>, Direction)| {
            (path.clone(), direction.reversed())
        };
        Sort {
            keys: self.keys.iter().map(reversed).collect(),
            ignores_case: self.ignores_case,
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
            match self.folds(path) {
                true => key::encode_folded(value, *direction, &mut out),
                false => key::encode_directed(value, *direction, &mut out),
            }
        }
        out
    }

    /// Whether the texts at a path are compared without their case. The `_id` is compared with case, so that the order stays total.
    fn folds(&self, path: &str) -> bool {
        self.ignores_case && path != "_id"
    }

    fn compare_at(
        &self,
        (path, direction): &(Cow<'static, str>, Direction),
        a: RawBsonRef<'_>,
        b: RawBsonRef<'_>,
    ) -> Ordering {
        direction.apply(match self.folds(path) {
            true => order::compare_folded(a, b),
            false => order::compare(a, b),
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
        let case = match self.ignores_case {
            true => ", ignoring case",
            false => "",
        };
        write!(f, "{}{case}", self.to_document())
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
mod tests {
    use bson::doc;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        path::compound_index_values,
        testing::{document, index_values, raw},
    };

    fn sorted(sort: Document, documents: Vec<Document>) -> Vec<i32> {
        let sort = Sort::parse(&sort).expect("a sort");
        let mut documents: Vec<_> = documents.into_iter().map(raw).collect();
        documents.sort_by(|a, b| {
            let order = sort.compare(a, b);
            assert_eq!(order, sort.compare_keys(&sort.key(a), &sort.key(b)));
            assert_eq!(order, sort.encode_key(a).cmp(&sort.encode_key(b)));
            order
        });
        documents
            .iter()
            .map(|document| document.get_i32("_id").expect("an id"))
            .collect()
    }

    #[test]
    fn an_array_stands_by_its_least_element_or_its_greatest() {
        let documents = vec![
            doc! { "_id": 1, "a": [1, 9] },
            doc! { "_id": 2, "a": 5 },
            doc! { "_id": 3, "a": [] },
            doc! { "_id": 4 },
        ];
        assert_eq!(sorted(doc! { "a": 1 }, documents.clone()), [3, 4, 1, 2]);
        assert_eq!(sorted(doc! { "a": -1 }, documents), [1, 2, 4, 3]);
    }

    #[test]
    fn fields_of_one_array_are_taken_from_the_same_element() {
        let documents = vec![
            doc! { "_id": 1, "a": [{ "b": 1, "c": 5 }, { "b": 2, "c": 0 }] },
            doc! { "_id": 2, "a": [{ "b": 1, "c": 4 }] },
        ];
        assert_eq!(sorted(doc! { "a.b": 1, "a.c": 1 }, documents), [2, 1]);
    }

    #[test]
    fn two_arrays_side_by_side_are_ordered_each_alone() {
        let documents = vec![
            doc! { "_id": 1, "a": [2, 3], "b": [5, 6] },
            doc! { "_id": 2, "a": [2, 9], "b": [4] },
            doc! { "_id": 3, "a": [1], "b": [7, 8] },
        ];
        assert_eq!(sorted(doc! { "a": 1, "b": -1 }, documents), [3, 1, 2]);
    }

    #[test]
    fn a_position_in_a_path_selects_the_element() {
        let documents = vec![
            doc! { "_id": 1, "a": [{ "b": 3 }, { "b": 1 }] },
            doc! { "_id": 2, "a": [{ "b": 2 }, { "b": 9 }] },
        ];
        assert_eq!(sorted(doc! { "a.0.b": 1 }, documents), [2, 1]);
    }

    #[test]
    fn the_total_order_ends_with_the_id() {
        let sort = Sort::new().by("a", Direction::Descending).total();
        assert_eq!(sort.to_document(), doc! { "a": -1, "_id": 1 });
        assert_eq!(sort.total(), sort);
        assert_eq!(Sort::parse(&sort.to_document()), Ok(sort));
    }

    #[test]
    fn a_double_in_place_of_a_direction_is_cut_and_a_decimal_is_rounded() {
        let direction =
            |value: Bson| Sort::parse(&doc! { "a": value }).map(|sort| sort.keys()[0].1);
        let decimal = |text: &str| Bson::Decimal128(text.parse().expect("a decimal"));
        assert_eq!(direction(1.999.into()), Ok(Direction::Ascending));
        assert_eq!(direction((-1.5).into()), Ok(Direction::Descending));
        assert_eq!(direction(decimal("0.51")), Ok(Direction::Ascending));
        assert_eq!(direction(decimal("-1.49")), Ok(Direction::Descending));
        for wrong in [0.5.into(), f64::NAN.into(), decimal("1.5"), Bson::Int32(2)] {
            assert_eq!(direction(wrong).map_err(|error| error.code()), Err(15_975));
        }
        assert_eq!(
            direction("asc".into()).map_err(|error| error.code()),
            Err(15_974)
        );
    }

    #[test]
    fn a_sort_has_at_most_32_fields_none_of_which_begins_with_a_dollar() {
        let fields = |count: usize| {
            (0..count)
                .map(|at| (format!("f{at}"), Bson::Int32(1)))
                .collect()
        };
        assert!(Sort::parse(&fields(32)).is_ok());
        let code = |sort| Sort::parse(&sort).expect_err("no sort").code();
        assert_eq!(code(fields(33)), 13_103);
        for path in ["$a", "$", "$$", "a.$b"] {
            assert_eq!(code(doc! { path: 1 }), 16_410, "{path}");
        }
        let meta = Sort::parse(&doc! { "a": { "$meta": "textScore" } }).expect_err("no metadata");
        assert!(meta.to_string().contains("`$meta`"), "{meta}");
    }

    #[test]
    fn an_order_can_ignore_case_but_not_that_of_an_id() {
        let plain = Sort::parse(&doc! { "a": 1, "_id": 1 }).expect("a sort");
        let folded = plain.clone().ignoring_case();
        let documents = [("b", "y"), ("B", "x"), ("Ä", "X"), ("ä", "Y"), ("_", "1")];
        let documents = documents.map(|(a, id)| raw(doc! { "_id": id, "a": a }));
        let ids = |sort: &Sort| {
            let mut documents = documents.to_vec();
            documents.sort_by(|a, b| {
                let order = sort.compare(a, b);
                assert_eq!(order, sort.compare_keys(&sort.key(a), &sort.key(b)));
                assert_eq!(order, sort.encode_key(a).cmp(&sort.encode_key(b)));
                assert_eq!(sort.encode_key(a), sort.encode_values(&sort.key(a)));
                order
            });
            documents
                .iter()
                .map(|document| document.get_str("_id").expect("an id").to_owned())
                .collect::<String>()
        };
        assert_eq!(ids(&plain), "x1yXY");
        assert_eq!(ids(&folded), "1xyXY");
        assert_eq!(ids(&folded.reversed()), "YXyx1");
        assert!(
            plain.clone().then(&folded).ignores_case()
                && folded.clone().then(&plain).ignores_case()
        );
        assert!(folded.total().ignores_case() && !plain.ignores_case());
    }

    #[test]
    fn the_natural_order_is_that_of_the_ids() {
        let sort = Sort::parse(&doc! { "$natural": -1 }).expect("a sort");
        assert_eq!(sort, Sort::new().by("_id", Direction::Descending));
        assert!(Sort::parse(&doc! { "$natural": 1, "a": 1 }).is_err());
    }

    #[test]
    fn a_direction_is_one_or_minus_one_in_any_numeric_type() {
        assert!(Sort::parse(&doc! { "a": 1.0, "b": -1_i64 }).is_ok());
        for wrong in [
            doc! { "a": 2 },
            doc! { "a": "asc" },
            doc! { "": 1 },
            doc! { "a..b": 1 },
        ] {
            assert!(Sort::parse(&wrong).is_err(), "{wrong}");
        }
    }
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn an_index_gives_the_order_of_a_sort(
            document in document(),
            path in "[abc](\\.[abc]){0,2}",
            descending in any::<bool>(),
        ) {
            let document = raw(document);
            let direction =
                if descending { Direction::Descending } else { Direction::Ascending };
            let keys = |value| {
                let mut out = Vec::new();
                key::encode_directed(value, direction, &mut out);
                out
            };
            let first = index_values(&document, &path).0.into_iter().map(keys).min();
            prop_assert_eq!(Sort::new().by(path, direction).encode_key(&document), first.unwrap());
        }

        #[test]
        fn a_compound_index_gives_the_order_of_a_sort(
            document in document(),
            paths in prop::array::uniform2("[abc](\\.[abc]){0,1}"),
        ) {
            let document = raw(document);
            let sort = Sort::new()
                .by(paths[0].clone(), Direction::Ascending)
                .by(paths[1].clone(), Direction::Descending);
            let paths: Vec<&str> = sort.keys().iter().map(|(path, _)| path.as_ref()).collect();
            if let Ok(index) = compound_index_values(&document, &paths) {
                let encode = |values: Vec<RawBsonRef<'_>>| {
                    let mut out = Vec::new();
                    for (value, (_, direction)) in values.into_iter().zip(sort.keys()) {
                        key::encode_directed(value, *direction, &mut out);
                    }
                    out
                };
                let first = index.keys.into_iter().map(encode).min();
                prop_assert_eq!(Some(sort.encode_key(&document)), first);
            }
        }
    }
}
