//! The document that an upsert starts from.

use std::{collections::BTreeMap, ops::Bound};

use bson::{Bson, Document, RawBson};

use super::{Filter, Test};
use crate::{
    Error,
    path::{overlap, split},
    steps,
    types::from_raw,
};

pub(super) fn seed(filter: &Filter) -> Result<Document, Error> {
    let mut fixed = BTreeMap::new();
    collect(filter, &mut fixed)?;
    let mut document = Document::new();
    let (id, others): (Vec<_>, Vec<_>) = fixed
        .into_iter()
        .partition(|(path, _)| overlap(path, "_id"));
    for (path, value) in id.into_iter().chain(others) {
        set(&mut document, path, from_raw(value));
    }
    Ok(document)
}

fn collect<'a>(
    filter: &'a Filter,
    fixed: &mut BTreeMap<&'a str, &'a RawBson>,
) -> Result<(), Error> {
    match filter {
        Filter::And(all) => all.iter().try_for_each(|one| collect(one, fixed)),
        Filter::Or(any) => match any.as_slice() {
            [one] => collect(one, fixed),
            _ => Ok(()),
        },
        Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => Ok(()),
        Filter::Collated(_, inner) => collect(inner, fixed),
        Filter::Path(path, test) => equalities(test).try_for_each(|value| {
            steps::step();
            if overlaps(fixed, path) {
                return Err(Error::AmbiguousSeed(path.to_string()));
            }
            fixed.insert(path, value);
            Ok(())
        }),
    }
}

/// Whether one of the paths overlaps this one.
fn overlaps(fixed: &BTreeMap<&str, &RawBson>, path: &str) -> bool {
    let mut ends = path.match_indices('.').map(|(end, _)| end);
    let within = format!("{path}.");
    let mut after = fixed.range::<str, _>((Bound::Included(&*within), Bound::Unbounded));
    fixed.contains_key(path)
        || ends.any(|end| fixed.contains_key(&path[..end]))
        || after
            .next()
            .is_some_and(|(other, _)| other.starts_with(&within))
}

fn equalities(test: &Test) -> Box<dyn Iterator<Item = &RawBson> + '_> {
    match test {
        Test::Eq(value) => Box::new(std::iter::once(value)),
        Test::In(values) if values.len() == 1 => Box::new(values.iter()),
        Test::All(tests) => Box::new(tests.iter().flat_map(equalities)),
        _ => Box::new(std::iter::empty()),
    }
}

fn set(document: &mut Document, path: &str, value: Bson) {
    match split(path) {
        (name, None) => {
            document.insert(name, value);
        }
        (name, Some(rest)) => {
            let inner = document
                .entry(name.to_owned())
                .or_insert_with(|| Document::new().into());
            // No path is a prefix of another, so an existing value is a document.
            if let Bson::Document(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}
