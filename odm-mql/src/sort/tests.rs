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
    let direction = |value: Bson| Sort::parse(&doc! { "a": value }).map(|sort| sort.keys()[0].1);
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
        plain.clone().then(&folded).ignores_case() && folded.clone().then(&plain).ignores_case()
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
