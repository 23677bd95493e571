//! The check that each model of a database has a collection of its own.

use super::{
    cycle::{MessageText, ModelEntry},
    projection::same,
};

/// Whether no two collections have the same hash, as far as a table of the hashes tells: the compiler would spend time on a comparison of
/// each model with each other one.
pub const fn are_distinct(models: &[ModelEntry]) -> bool {
    match models.len() {
        0..=64 => have_distinct_hashes::<128>(models),
        65..=1024 => have_distinct_hashes::<2048>(models),
        _ => false,
    }
}

/// The table has at least twice as many places as there are models.
const fn have_distinct_hashes<const T: usize>(models: &[ModelEntry]) -> bool {
    let mut table = [None; T];
    let mut i = 0;
    while i < models.len() {
        let hash = models[i].hash;
        let mut at = hash as usize % T;
        while let Some(other) = table[at] {
            if hash == other {
                return false;
            }
            at = (at + 1) % T;
        }
        table[at] = Some(hash);
        i += 1;
    }
    true
}

/// Checks that no model before this one is stored in its collection.
#[track_caller]
pub const fn assert_own_collection(models: &[ModelEntry], names: &[&str], position: usize) {
    let model = &models[position];
    let mut i = 0;
    while i < position {
        let other = &models[i];
        if model.hash == other.hash
            && !model.collection.is_empty()
            && same(model.collection, other.collection)
        {
            let mut text = MessageText::EMPTY;
            text.push("`");
            text.push(names[i]);
            text.push("` and `");
            text.push(names[position]);
            text.push("` are both stored in the collection `");
            text.push(model.collection);
            text.push("`: give each its own");
            panic!("{}", text.as_str());
        }
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Outline, fnv1a};

    fn entries(collections: &[&'static str]) -> Vec<ModelEntry> {
        let entry = |&collection: &&'static str| ModelEntry {
            collection,
            hash: fnv1a(collection),
            outline: Outline::EMPTY,
        };
        collections.iter().map(entry).collect()
    }

    #[test]
    fn a_collection_of_two_models_is_found_among_few_and_among_many() {
        assert!(are_distinct(&[]));
        for count in [2_usize, 64, 65, 1024] {
            let names = (0..count).map(|number| &*format!("c{number}").leak());
            let mut names: Vec<&'static str> = names.collect();
            assert!(are_distinct(&entries(&names)), "{count}");
            names[0] = names[count - 1];
            assert!(!are_distinct(&entries(&names)), "{count}");
        }
    }

    #[test]
    fn models_that_the_table_cannot_hold_are_compared_one_by_one() {
        let names = (0..1025).map(|number| &*format!("c{number}").leak());
        assert!(!are_distinct(&entries(&names.collect::<Vec<_>>())));
    }
}
