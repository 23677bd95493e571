//! The equality of values in a schema, which ignores the order of fields.

use std::cmp::Ordering;

use bson::{RawBsonRef, RawDocument};

use crate::order::{self, Class, MAX_DEPTH};

/// Compares in a total order. Values that differ only in the order of fields are equal.
pub(super) fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    compare_at(a, b, 0)
}

fn compare_at(a: RawBsonRef<'_>, b: RawBsonRef<'_>, depth: usize) -> Ordering {
    match (a, b) {
        _ if depth >= MAX_DEPTH => order::compare(a, b),
        (RawBsonRef::Document(a), RawBsonRef::Document(b)) => compare_documents(a, b, depth),
        (RawBsonRef::Array(a), RawBsonRef::Array(b)) => {
            let (mut a, mut b) = (a.into_iter().flatten(), b.into_iter().flatten());
            loop {
                let order = match (a.next(), b.next()) {
                    (None, None) => return Ordering::Equal,
                    (None, Some(_)) => Ordering::Less,
                    (Some(_), None) => Ordering::Greater,
                    (Some(a), Some(b)) => compare_at(a, b, depth + 1),
                };
                if order.is_ne() {
                    return order;
                }
            }
        }
        _ => Class::of(a)
            .cmp(&Class::of(b))
            .then_with(|| order::compare(a, b)),
    }
}

fn compare_documents(a: &RawDocument, b: &RawDocument, depth: usize) -> Ordering {
    let (a, b) = (sorted(a), sorted(b));
    let by_length = a.len().cmp(&b.len());
    let mut pairs = a.iter().zip(&b);
    let by_fields = pairs.find_map(|((a_name, a), (b_name, b))| {
        let order = a_name
            .cmp(b_name)
            .then_with(|| compare_at(*a, *b, depth + 1));
        order.is_ne().then_some(order)
    });
    by_fields.unwrap_or(by_length)
}

fn sorted(document: &RawDocument) -> Vec<(&str, RawBsonRef<'_>)> {
    let fields = document.iter().flatten();
    let mut fields: Vec<_> = fields.map(|(name, value)| (name.as_str(), value)).collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}
