use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::*;
use crate::testing::{index_values, raw};

fn seen(document: Document, path: &str, leaf: Leaf) -> Vec<Option<Bson>> {
    let document = raw(document);
    let mut seen = Vec::new();
    visit(&document, path, leaf, &mut |value| {
        seen.push(value.map(|value| Bson::try_from(value).expect("valid BSON")));
        false
    });
    seen
}

fn indexed(document: Document, path: &str) -> (Vec<Bson>, bool) {
    let document = raw(document);
    let (values, multikey) = index_values(&document, path);
    (values.into_iter().map(to_bson).collect(), multikey)
}

fn compound(document: Document, paths: &[&str]) -> Result<(Vec<Vec<Bson>>, Vec<bool>), Error> {
    let document = raw(document);
    let index = compound_index_values(&document, paths)?;
    let keys = index
        .keys
        .into_iter()
        .map(|key| key.into_iter().map(to_bson).collect())
        .collect();
    Ok((keys, index.multikey))
}

fn to_bson(value: RawBsonRef<'_>) -> Bson {
    RawBson::from(value).try_into().expect("valid BSON")
}

#[test]
fn a_path_leads_through_documents() {
    assert_eq!(
        seen(doc! { "a": { "b": 1 } }, "a.b", Leaf::Elements),
        [Some(Bson::Int32(1))]
    );
    assert_eq!(
        seen(doc! { "a": { "b": 1 } }, "a.c", Leaf::Elements),
        [None]
    );
    assert_eq!(seen(doc! { "a": 1 }, "a.b", Leaf::Elements), [None]);
}

#[test]
fn an_array_at_the_end_is_seen_by_element_and_then_as_a_whole() {
    let document = doc! { "a": [1, [2]] };
    let array = document.get("a").cloned();
    let nested = Some(Bson::Array(vec![Bson::Int32(2)]));
    assert_eq!(
        seen(document.clone(), "a", Leaf::Elements),
        [Some(Bson::Int32(1)), nested, array.clone()]
    );
    assert_eq!(seen(document, "a", Leaf::Whole), [array]);
}

#[test]
fn an_array_on_the_way_is_seen_through_its_documents_only() {
    let document = doc! { "a": [{ "b": 1 }, 5, {}, [{ "b": 2 }]] };
    assert_eq!(
        seen(document, "a.b", Leaf::Elements),
        [Some(Bson::Int32(1)), None]
    );
    assert_eq!(seen(doc! { "a": [1, 2] }, "a.b", Leaf::Elements), []);
}

#[test]
fn a_number_is_a_position_or_a_name() {
    let document = doc! { "a": [{ "0": "name" }, 2] };
    assert_eq!(
        seen(document, "a.0", Leaf::Elements),
        [
            Some(Bson::String("name".into())),
            Some(Bson::Document(doc! { "0": "name" }))
        ]
    );
    assert_eq!(
        seen(doc! { "a": [7, 8] }, "a.1", Leaf::Elements),
        [Some(Bson::Int32(8))]
    );
    assert_eq!(seen(doc! { "a": [7, 8] }, "a.01", Leaf::Elements), []);
    assert_eq!(
        seen(doc! { "a": [[5, 6]] }, "a.0.1", Leaf::Elements),
        [Some(Bson::Int32(6))]
    );
}

#[test]
fn an_index_opens_an_array_by_one_level() {
    assert_eq!(
        indexed(doc! { "a": [1, [2]] }, "a"),
        (
            vec![Bson::Int32(1), Bson::Array(vec![Bson::Int32(2)])],
            true
        )
    );
    assert_eq!(
        indexed(doc! { "a": [] }, "a"),
        (vec![Bson::Undefined], true)
    );
    assert_eq!(indexed(doc! { "b": 1 }, "a"), (vec![Bson::Null], false));
    assert_eq!(
        indexed(doc! { "a": [{ "b": 1 }, 2, { "b": [3, 4] }] }, "a.b"),
        (
            vec![Bson::Int32(1), Bson::Null, Bson::Int32(3), Bson::Int32(4)],
            true
        )
    );
}

#[test]
fn a_compound_index_takes_values_from_the_same_element() {
    let document = doc! { "k": 0, "parts": [{ "id": 1, "name": "x" }, { "id": 2 }] };
    let (keys, multikey) = compound(document, &["parts.id", "k", "parts.name"]).expect("one array");
    assert_eq!(
        keys,
        [
            [Bson::Int32(1), Bson::Int32(0), Bson::String("x".into())],
            [Bson::Int32(2), Bson::Int32(0), Bson::Null],
        ]
    );
    assert_eq!(multikey, [true, false, true]);
}

#[test]
fn a_compound_index_pairs_an_element_with_a_field_of_it() {
    let document = doc! { "a": [{ "b": 1 }, { "b": 2 }] };
    let (keys, _) = compound(document, &["a", "a.b"]).expect("one array");
    let element = |value| Bson::Document(doc! { "b": value });
    assert_eq!(
        keys,
        [[element(1), Bson::Int32(1)], [element(2), Bson::Int32(2)]]
    );
}

#[test]
fn an_empty_array_is_undefined_at_the_end_and_missing_on_the_way() {
    let (keys, _) = compound(doc! { "a": [] }, &["a", "a.b"]).expect("one array");
    assert_eq!(keys, [[Bson::Undefined, Bson::Null]]);
}

#[test]
fn two_arrays_side_by_side_cannot_be_indexed() {
    assert_eq!(
        compound(doc! { "a": [1], "b": [2] }, &["a", "b"]),
        Err(Error::ParallelArrays {
            first: "a".into(),
            second: "b".into()
        })
    );
    let nested = doc! { "a": [{ "b": [1], "c": [2] }] };
    assert!(compound(nested, &["a.b", "a.c"]).is_err());
}

#[test]
fn positions_in_a_compound_index_are_combined() {
    let (keys, _) = compound(doc! { "a": [1, 2] }, &["a.0", "a.1"]).expect("one array");
    assert_eq!(keys, [[Bson::Int32(1), Bson::Int32(2)]]);
}

#[test]
fn paths_overlap_by_whole_parts() {
    assert!(overlap("a", "a.b") && overlap("a.b", "a") && overlap("a", "a"));
    assert!(!overlap("a.b", "a.bc") && !overlap("ab", "a"));
}

#[test]
fn lookup_stops_at_an_array() {
    let document = raw(doc! { "a": { "b": [1] }, "c": { "d": 1 } });
    assert!(matches!(
        lookup(&document, "a.b.c"),
        Lookup::Array(_, Some("c"))
    ));
    assert!(matches!(
        lookup(&document, "c.d"),
        Lookup::Value(RawBsonRef::Int32(1))
    ));
    assert_eq!(lookup(&document, "c.d.e"), Lookup::Missing);
}

/// Documents in lists and documents, whose fields have few names and values.
fn nested() -> impl Strategy<Value = Document> {
    let value = prop_oneof![Just(Bson::Null), (0..2).prop_map(Bson::Int32)];
    let value = value.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
            fields(inner).prop_map(Bson::Document),
        ]
    });
    fields(value)
}

fn fields(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    prop::collection::vec(("[abc]", value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

/// The document with another value in some place.
fn changed(document: &Document, at: usize, to: &Bson) -> Document {
    fn change(value: &mut Bson, at: &mut Option<usize>, to: &Bson) {
        let Some(left) = *at else { return };
        *at = left.checked_sub(1);
        match value {
            _ if left == 0 => *value = to.clone(),
            Bson::Document(inner) => inner
                .iter_mut()
                .for_each(|(_, value)| change(value, at, to)),
            Bson::Array(list) => list.iter_mut().for_each(|value| change(value, at, to)),
            _ => {}
        }
    }
    let (mut document, mut at) = (document.clone(), Some(at));
    let fields = document.iter_mut();
    fields.for_each(|(_, value)| change(value, &mut at, to));
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn documents_that_are_the_same_at_a_path_have_the_same_entries_and_values(
        document in nested(),
        at in 0..8_usize,
        to in fields(Just(Bson::Int32(7))).prop_map(Bson::Document),
        path in "[abc](\\.[abc01]){0,2}",
    ) {
        let other = changed(&document, at, &to);
        if is_same(&raw(document.clone()), &raw(other.clone()), &path) {
            let entries = |document| compound(document, &[&path]);
            prop_assert_eq!(entries(document.clone()), entries(other.clone()));
            for leaf in [Leaf::Elements, Leaf::Whole] {
                let values = |document| seen(document, &path, leaf);
                prop_assert_eq!(values(document.clone()), values(other.clone()));
            }
        }
    }
}

#[test]
fn what_changes_beside_a_path_leaves_it_the_same_and_what_changes_on_it_does_not() {
    let document = |id: i32, name: &str| {
        raw(doc! { "parts": [{ "id": 1, "name": "a" }, { "id": id, "name": name }] })
    };
    let before = document(2, "b");
    assert!(is_same(&before, &document(2, "c"), "parts.id"));
    assert!(!is_same(&before, &document(2, "c"), "parts.name"));
    assert!(!is_same(&before, &document(3, "b"), "parts.id"));
    assert!(!is_same(&before, &document(2, "c"), "parts.1.id"));
    let shorter = raw(doc! { "parts": [{ "id": 1, "name": "a" }] });
    assert!(!is_same(&before, &shorter, "parts.id"));
    assert!(is_same(&before, &shorter, "others.id"));
}

/// An array in a document in an array, and so on.
fn deep_array(levels: usize) -> RawDocumentBuf {
    let mut value = Bson::Array(vec![1.into(), 2.into()]);
    for _ in 0..levels {
        value = Bson::Array(vec![Bson::Document(doc! { "0": value })]);
    }
    raw(doc! { "a": value })
}

#[test]
fn numbers_that_are_names_and_positions_take_no_more_steps_than_there_are_values_and_parts() {
    // Each part may be the name of a field or a position: there are more than 2^40 ways.
    let document = deep_array(80);
    for parts in [80, 100, 120, 160] {
        let path = format!("a{}", ".0".repeat(parts));
        let mut calls = 0;
        let found = visit(&document, &path, Leaf::Elements, &mut |_| {
            calls += 1;
            false
        });
        assert!(!found && calls < 2_000, "{calls}");
        assert!(compound_index_values(&document, &[&path]).is_ok());
        assert!(sort_values(&document, &[&path]).is_ok());
    }
    let deep = format!("a{}", ".0".repeat(81));
    assert!(visit(&document, &deep, Leaf::Elements, &mut |value| {
        value == Some(RawBsonRef::Int32(1))
    }));
}

#[test]
fn a_sort_by_positions_looks_at_one_element_of_each_array() {
    let mut value = Bson::Array(vec![1.into(), 2.into()]);
    for _ in 0..80 {
        value = Bson::Array(vec![value, 3.into(), 4.into()]);
    }
    let document = raw(doc! { "a": value, "b": 1 });
    let path = format!("a{}", ".0".repeat(81));
    let keys = sort_values(&document, &[&path, "b"]).expect("one array");
    assert_eq!(keys, [[RawBsonRef::Int32(1), RawBsonRef::Int32(1)]]);
}

#[test]
fn a_zero_and_its_negative_are_not_the_same() {
    let [zero, negative] = [
        bson::rawdoc! { "a": { "b": 0.0 } },
        bson::rawdoc! { "a": { "b": -0.0 } },
    ];
    for path in ["a", "a.b"] {
        assert!(!is_same(&zero, &negative, path), "{path}");
        assert!(is_same(&negative, &negative, path), "{path}");
    }
}
