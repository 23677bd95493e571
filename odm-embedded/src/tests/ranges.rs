//! Ranges of entries through all layers of a state, compared with a map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    disk::Disk,
    engine::{Engine, KeyChange},
    layout::{END, Tree},
    memtable::{Memtable, Memtables},
    overlay::Overlay,
    schema::Schema,
    view::View,
};

const TREE: Tree = 1;

/// A new value for each of some keys, or a removal. There are more keys than the base reads at once. No key is that of `END`.
type LayerChanges = BTreeMap<u8, Option<u8>>;

fn changes(len: usize) -> impl Strategy<Value = LayerChanges> {
    prop::collection::btree_map(0..u8::MAX, prop::option::weighted(0.7, any::<u8>()), 0..len)
}

fn overlay(changes: &LayerChanges) -> Overlay {
    let mut overlay = Overlay::default();
    for (key, value) in changes {
        overlay.set(TREE, &[*key], value.as_ref().map(std::slice::from_ref));
    }
    overlay
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_range_has_the_newest_entry_of_each_key(
        base in changes(200),
        frozen in changes(20),
        present in changes(20),
        later in changes(20),
        uncommitted in changes(20),
        layers in 0..5_usize,
        bounds in (any::<u8>(), prop_oneof![any::<u8>(), Just(END[0])]),
        backward in any::<bool>(),
    ) {
        let mut engine = Engine::open(Disk::default().file(), "test".into(), 1 << 20).expect("an engine");
        let entries: Vec<(u8, u8)> = base.iter().filter_map(|(key, value)| Some((*key, (*value)?))).collect();
        let written = entries.iter().map(|(key, value)| -> KeyChange<'_> {
            (TREE, std::slice::from_ref(key), Some(std::slice::from_ref(value)))
        });
        engine.commit(written, true).expect("a commit");
        let base = engine.newest().expect("a state");
        let (mut old, mut new) = (Memtable::default(), Memtable::default());
        let mut expected: BTreeMap<u8, u8> = entries.into_iter().collect();
        let mut apply = |changes: &LayerChanges| {
            for (key, value) in changes {
                match value {
                    Some(value) => expected.insert(*key, *value),
                    None => expected.remove(key),
                };
            }
        };
        if layers > 0 {
            old.add(1, &overlay(&frozen));
            apply(&frozen);
        }
        if layers > 1 {
            new.add(2, &overlay(&present));
            apply(&present);
        }
        if layers > 2 {
            // The state that is read does not have this commit.
            new.add(3, &overlay(&later));
        }
        let uncommitted = (layers > 3).then(|| {
            apply(&uncommitted);
            overlay(&uncommitted)
        });
        let memtables = new.state(&old.state(&Memtables::default(), 2), 2);
        let view = View {
            overlay: uncommitted.as_ref(),
            memtables: &memtables,
            base: &base,
            schema: &Schema::default(),
            reads: None,
        };
        let (lower, upper) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
        let mut expected: Vec<(u8, u8)> = expected.range(lower..upper).map(|(key, value)| (*key, *value)).collect();
        if backward {
            expected.reverse();
        }
        let mut range = view.range(TREE, &[lower], &[upper], backward).expect("a range");
        let mut found = Vec::new();
        while let Some((key, value)) = range.next().expect("an entry") {
            found.push((key[0], value[0]));
        }
        prop_assert_eq!(found, expected);
        prop_assert!(!range.advance().expect("the end"));
    }
}
