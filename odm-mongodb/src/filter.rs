//! Filters for a server, in addition to the filters of `mql`.

use bson::{
    Binary, Bson, Document, RawBson, Timestamp, doc,
    oid::ObjectId,
    spec::{BinarySubtype, ElementType},
};

use odm_mql::{Direction, Projection, Sort};
use odm_store::{Error, ErrorKind, Result};

use super::no_collation;

/// The types of values in their order, with the names that `$type` has for them.
const TYPES: [&[(ElementType, &str)]; 17] = [
    &[(ElementType::MinKey, "minKey")],
    // An empty array as a sort key.
    &[(ElementType::Undefined, "undefined")],
    &[(ElementType::Null, "null")],
    &[
        (ElementType::Double, "double"),
        (ElementType::Int32, "int"),
        (ElementType::Int64, "long"),
        (ElementType::Decimal128, "decimal"),
    ],
    &[
        (ElementType::String, "string"),
        (ElementType::Symbol, "symbol"),
    ],
    &[(ElementType::EmbeddedDocument, "object")],
    &[(ElementType::Array, "array")],
    &[(ElementType::Binary, "binData")],
    &[(ElementType::ObjectId, "objectId")],
    &[(ElementType::Boolean, "bool")],
    &[(ElementType::DateTime, "date")],
    &[(ElementType::Timestamp, "timestamp")],
    &[(ElementType::RegularExpression, "regex")],
    &[(ElementType::DbPointer, "dbPointer")],
    &[(ElementType::JavaScriptCode, "javascript")],
    &[(ElementType::JavaScriptCodeWithScope, "javascriptWithScope")],
    &[(ElementType::MaxKey, "maxKey")],
];

const EMPTY_ARRAY: usize = 1;
const NULL: usize = 2;
const NUMBER: usize = 3;
const TIMESTAMP: usize = 11;

/// A field with a value other than null and an empty array, or an array with such an element. The values of the common types are ranges,
/// since the server uses a partial index only if it sees that the condition of a query is within its filter.
pub(super) fn is_present(path: &str) -> Document {
    let least: [Bson; 7] = [
        f64::NEG_INFINITY.into(),
        "".into(),
        Document::new().into(),
        Binary {
            subtype: BinarySubtype::Generic,
            bytes: Vec::new(),
        }
        .into(),
        ObjectId::from_bytes([0; 12]).into(),
        false.into(),
        Timestamp {
            time: 0,
            increment: 0,
        }
        .into(),
    ];
    let mut ways: Vec<Document> = least
        .into_iter()
        .map(|least| doc! { path: { "$gte": least } })
        .collect();
    // Not every driver of a server supports the least date.
    let others = [
        "date",
        "symbol",
        "regex",
        "dbPointer",
        "javascript",
        "javascriptWithScope",
        "minKey",
        "maxKey",
    ];
    ways.push(doc! { path: f64::NAN });
    ways.push(doc! { path: { "$type": others.to_vec() } });
    doc! { "$or": ways }
}

/// A filter that matches each document after a position in a total order. It may match other documents as well: with an array in a field of
/// the order, one element of which is its sort key.
pub(super) fn after(total: &Sort, position: &[RawBson]) -> Document {
    let mut ways: Vec<Document> = Vec::new();
    let mut equal_so_far: Vec<Document> = Vec::new();
    for ((path, direction), value) in total.keys().iter().zip(position) {
        let mut way = equal_so_far.clone();
        way.extend(beyond(path, *direction, value));
        ways.push(all(way));
        equal_so_far.extend(equal(path, value));
    }
    doc! { "$or": ways }
}

/// The conjunction of some filters.
pub(super) fn all(mut filters: Vec<Document>) -> Document {
    filters.retain(|filter| !filter.is_empty());
    match filters.len() {
        0 => Document::new(),
        1 => filters.remove(0),
        _ => doc! { "$and": filters },
    }
}

fn rank(value: &RawBson) -> Option<usize> {
    let of_type = |types: &&[(ElementType, &str)]| {
        types
            .iter()
            .any(|(element, _)| *element == value.element_type())
    };
    TYPES.iter().position(of_type)
}

/// A field whose sort key is greater or less than a value. `None` if no filter expresses that.
fn beyond(path: &str, direction: Direction, value: &RawBson) -> Option<Document> {
    let rank = rank(value)?;
    let bson = Bson::try_from(value.clone()).ok()?;
    let is_nan = matches!(bson, Bson::Double(number) if number.is_nan());
    let (operator, others) = match direction {
        Direction::Ascending => ("$gt", rank + 1..TYPES.len()),
        Direction::Descending => ("$lt", 0..rank),
    };
    let mut ways = Vec::new();
    let mut names: Vec<&str> = TYPES[others.clone()]
        .iter()
        .copied()
        .flatten()
        .map(|(_, name)| *name)
        .collect();
    match rank {
        NUMBER if is_nan && direction == Direction::Ascending => {
            names.extend(TYPES[NUMBER].iter().map(|(_, name)| *name));
        }
        NUMBER..=TIMESTAMP => {
            ways.push(doc! { path: { operator: bson } });
            if rank == NUMBER && direction == Direction::Descending {
                ways.push(doc! { path: f64::NAN });
            }
        }
        // The values of the other types are not compared.
        _ if rank > TIMESTAMP => names.extend(TYPES[rank].iter().map(|(_, name)| *name)),
        _ => {}
    }
    if !names.is_empty() {
        ways.push(doc! { path: { "$type": names } });
    }
    if others.contains(&NULL) {
        ways.extend(null(path));
    }
    if others.contains(&EMPTY_ARRAY) {
        ways.push(doc! { path: { "$size": 0 } });
    }
    Some(any(ways))
}

/// A field whose sort key is a value. `None` if no filter expresses that.
fn equal(path: &str, value: &RawBson) -> Option<Document> {
    Some(match rank(value)? {
        EMPTY_ARRAY => any(vec![
            doc! { path: { "$size": 0 } },
            doc! { path: { "$type": "undefined" } },
        ]),
        NULL => any(null(path)),
        rank if rank > TIMESTAMP => return None,
        _ => doc! { path: { "$eq": Bson::try_from(value.clone()).ok()? } },
    })
}

/// A field whose sort key is null, or may be null because of an array on the path.
fn null(path: &str) -> Vec<Document> {
    let mut ways = vec![
        doc! { path: Bson::Null },
        doc! { path: { "$exists": false } },
    ];
    let outer = path.match_indices('.').map(|(end, _)| &path[..end]);
    ways.extend(outer.map(|outer| doc! { outer: { "$type": "array" } }));
    ways
}

/// The disjunction of some filters.
fn any(mut filters: Vec<Document>) -> Document {
    match filters.len() {
        // A server refuses an empty `$or`.
        0 => doc! { "_id": { "$in": [] } },
        1 => filters.remove(0),
        _ => doc! { "$or": filters },
    }
}

/// The order of a query. The server has no order by Unicode's simple case folding.
pub(super) fn total(sort: &Sort) -> Result<Sort> {
    if sort.collation().is_some() {
        return Err(no_collation());
    }
    match sort.ignores_case() {
        true => Err(Error::new(
            ErrorKind::InvalidQuery,
            "an order that ignores case is not supported on MongoDB: sort by a field with the folded text, `odm::fold_case(&name)`",
        )),
        false => Ok(sort.total()),
    }
}

/// The form of a projection.
pub(super) fn shown(projection: &Projection) -> Result<Document> {
    match projection.collation() {
        Some(_) => Err(no_collation()),
        None => Ok(projection.to_document()),
    }
}

#[cfg(test)]
mod tests {
    use odm_mql::Collation;

    use super::*;

    #[test]
    fn an_order_and_a_projection_with_a_collation_are_refused() {
        let collation = Collation::parse(&doc! { "locale": "en" }).expect("a collation");
        let sort = Sort::parse(&doc! { "a": 1 }).expect("a sort");
        assert!(total(&sort).is_ok());
        let error = total(&sort.collated(collation.as_ref())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        let form = doc! { "a": { "$elemMatch": { "$eq": "x" } } };
        let projection = Projection::parse(&form).expect("a projection");
        assert_eq!(shown(&projection).expect("it is supported"), form);
        let error = shown(&projection.collated(collation.as_ref())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("collation"), "{error}");
    }
}
