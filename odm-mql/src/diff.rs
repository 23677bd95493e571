//! The difference between two documents, as an update.

use std::collections::{HashMap, HashSet};

use bson::{RawBsonRef, RawDocument};

use super::{Operation, Update};
use crate::steps;

/// Adds to an update the changes that turn one document into the other, field by field, also in embedded documents. A field that neither
/// has, such as a field of a newer version of the model, stays as it is; the `ignored` paths are left out.
///
/// # Errors
///
/// An error of `bson` if a document is not well-formed.
#[doc(hidden)]
pub fn difference(
    update: &mut Update,
    from: &RawDocument,
    to: &RawDocument,
    ignored: &[&str],
) -> Result<(), bson::error::Error> {
    difference_at(update, "", from, to, ignored)
}

fn difference_at(
    update: &mut Update,
    prefix: &str,
    from: &RawDocument,
    to: &RawDocument,
    ignored: &[&str],
) -> Result<(), bson::error::Error> {
    // The first field of a name counts.
    let fields_before = by_name(from)?;
    let names_after: HashSet<&str> = by_name(to)?.into_keys().collect();
    for element in to {
        steps::step();
        let (name, value) = element?;
        let path = format!("{prefix}{}", name.as_str());
        let before = fields_before.get(name.as_str()).copied();
        if ignored.contains(&&*path) || before.is_some_and(|before| is_same(before, value)) {
            continue;
        }
        match (before, value) {
            (Some(RawBsonRef::Document(from)), RawBsonRef::Document(to))
                if has_paths(from) && has_paths(to) =>
            {
                difference_at(update, &format!("{path}."), from, to, ignored)?;
            }
            _ => update.push(path, Operation::Set(value.into())),
        }
    }
    for element in from {
        steps::step();
        let (name, _) = element?;
        if !names_after.contains(name.as_str()) {
            let path = format!("{prefix}{}", name.as_str());
            if !ignored.contains(&&*path) {
                update.push(path, Operation::Unset);
            }
        }
    }
    Ok(())
}

/// The fields of a document by their names.
fn by_name(document: &RawDocument) -> Result<HashMap<&str, RawBsonRef<'_>>, bson::error::Error> {
    let mut fields = HashMap::new();
    for element in document {
        let (name, value) = element?;
        fields.entry(name.as_str()).or_insert(value);
    }
    Ok(fields)
}

/// Whether two values are stored as the same bytes: 0.0 and -0.0 are equal, but differ in bytes.
fn is_same(before: RawBsonRef<'_>, after: RawBsonRef<'_>) -> bool {
    match (before, after) {
        (RawBsonRef::Double(before), RawBsonRef::Double(after)) => {
            before.to_bits() == after.to_bits()
        }
        (before, after) => before == after,
    }
}

/// Whether a path names each field of a document. The keys of a map can be anything.
fn has_paths(document: &RawDocument) -> bool {
    !document.is_empty()
        && document.iter_elements().flatten().all(|element| {
            let name = element.key().as_str();
            !name.is_empty() && !name.contains('.') && !name.starts_with('$')
        })
}

#[cfg(test)]
mod tests {
    use bson::{Bson, DateTime, RawDocumentBuf, doc};
    use proptest::prelude::*;

    use super::*;

    fn leaf() -> impl Strategy<Value = Bson> {
        const DOUBLES: &[f64] = &[0.0, -0.0, f64::NAN, 1.0];
        prop_oneof![
            3 => prop::sample::select(DOUBLES).prop_map(Bson::Double),
            1 => Just(Bson::Int32(0)),
            1 => Just(Bson::Array(vec![Bson::Double(-0.0)])),
            1 => Just(Bson::Array(vec![Bson::Double(0.0)])),
        ]
    }

    fn document() -> impl Strategy<Value = Bson> {
        let names = ["a", "b", "c.d", "$e", ""];
        let fields = move || {
            let fields = prop::collection::vec(prop::option::of(leaf()), names.len());
            fields.prop_map(move |values| {
                let fields = names.into_iter().zip(values);
                let fields = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
                Bson::Document(fields.collect())
            })
        };
        prop_oneof![
            leaf(),
            fields(),
            fields().prop_map(|inner| doc! { "a": inner }.into())
        ]
    }

    proptest! {
        #[test]
        fn a_difference_makes_one_document_of_the_other_byte_by_byte(
            from in [document(), document()],
            to in [document(), document()],
        ) {
            let raw = |[a, b]: [Bson; 2]| {
                RawDocumentBuf::try_from(&doc! { "_id": 1, "a": a, "b": b }).unwrap()
            };
            let (from, to) = (raw(from), raw(to));
            let mut update = Update::default();
            difference(&mut update, &from, &to, &[]).unwrap();
            let after = update.apply(&from, false, DateTime::from_millis(0)).unwrap();
            let after = after.unwrap_or_else(|| from.clone());
            prop_assert_eq!(sorted(&after), sorted(&to));
        }
    }

    /// The fields of a document and of its embedded documents, sorted, with the bits of each double.
    fn sorted(document: &RawDocument) -> String {
        let mut fields: Vec<String> = document
            .iter()
            .map(|element| {
                let (name, value) = element.unwrap();
                let value = match value {
                    RawBsonRef::Document(inner) => sorted(inner),
                    RawBsonRef::Double(number) => format!("{:x}", number.to_bits()),
                    other => format!("{other:?}"),
                };
                format!("{name}: {value}")
            })
            .collect();
        fields.sort();
        fields.join(", ")
    }
}
