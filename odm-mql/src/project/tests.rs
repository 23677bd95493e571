use bson::{Document, doc};
use proptest::prelude::*;

use super::*;
use crate::testing::{document, path, raw};

mod stages;

fn project(projection: Document, document: Document) -> Document {
    let parsed = Projection::parse(&projection).expect("a projection");
    assert_eq!(Projection::parse(&parsed.to_document()), Ok(parsed.clone()));
    let projected = parsed.apply(&raw(document)).expect("a document");
    Document::try_from(&projected).expect("valid BSON")
}

fn refused(projection: Document) -> Error {
    Projection::parse(&projection).expect_err("no projection")
}

#[test]
fn a_projection_of_absurd_depth_is_refused() {
    let nested = |levels: usize| {
        (0..levels).fold(bson::Bson::from(1), |inner, _| doc! { "a": inner }.into())
    };
    let sum = |levels: usize| {
        (0..levels).fold(bson::Bson::from("$b"), |inner, _| {
            doc! { "$add": [inner] }.into()
        })
    };
    assert!(Projection::parse(&doc! { "x": nested(100) }).is_ok());
    assert!(Projection::parse(&doc! { "x": sum(80) }).is_ok());
    for levels in [180, 400] {
        assert_eq!(refused(doc! { "x": nested(levels) }), Error::TooDeep(180));
        assert_eq!(refused(doc! { "x": sum(levels) }), Error::TooDeep(180));
    }
}

#[test]
fn included_fields_keep_the_order_of_the_document() {
    let document = doc! { "b": 1, "_id": 2, "a": 3, "c": 4 };
    assert_eq!(
        project(doc! { "a": 1, "b": true }, document.clone()),
        doc! { "b": 1, "_id": 2, "a": 3 }
    );
    assert_eq!(
        project(doc! { "a": 1, "_id": 0 }, document.clone()),
        doc! { "a": 3 }
    );
    assert_eq!(project(doc! { "_id": 1 }, document), doc! { "_id": 2 });
}

#[test]
fn all_but_the_excluded_fields_are_returned() {
    let document = doc! { "_id": 1, "a": 2, "b": 3 };
    assert_eq!(
        project(doc! { "a": 0 }, document.clone()),
        doc! { "_id": 1, "b": 3 }
    );
    assert_eq!(
        project(doc! { "_id": 0 }, document.clone()),
        doc! { "a": 2, "b": 3 }
    );
    assert_eq!(
        project(doc! { "_id": 1, "a": 0 }, document.clone()),
        doc! { "_id": 1, "b": 3 }
    );
    assert_eq!(project(doc! {}, document.clone()), document);
}

#[test]
fn a_path_leads_through_arrays() {
    let document = doc! { "_id": 1, "a": [{ "b": 1, "c": 2 }, 5, [{ "b": 3 }, 6], {}] };
    assert_eq!(
        project(doc! { "a.b": 1 }, document.clone()),
        doc! { "_id": 1, "a": [{ "b": 1 }, [{ "b": 3 }], {}] }
    );
    assert_eq!(
        project(doc! { "a": { "b": 0 } }, document),
        doc! { "_id": 1, "a": [{ "c": 2 }, 5, [{}, 6], {}] }
    );
}

#[test]
fn a_path_through_a_value_without_fields_returns_nothing_of_it() {
    let document = doc! { "_id": 1, "a": 5 };
    assert_eq!(
        project(doc! { "a.b": 1 }, document.clone()),
        doc! { "_id": 1 }
    );
    assert_eq!(project(doc! { "a.b": 0 }, document.clone()), document);
}

#[test]
fn slice_returns_a_part_of_an_array_and_all_other_fields() {
    let document = doc! { "_id": 1, "a": [1, 2, 3, 4], "b": 5 };
    let sliced = |slice: Bson| {
        let projected = project(doc! { "a": { "$slice": slice } }, document.clone());
        assert_eq!(projected.get("b"), Some(&Bson::Int32(5)));
        projected
            .get_array("a")
            .expect("an array")
            .iter()
            .filter_map(Bson::as_i32)
            .collect::<Vec<_>>()
    };
    assert_eq!(sliced(Bson::Int32(2)), [1, 2]);
    assert_eq!(sliced(Bson::Int64(-3)), [2, 3, 4]);
    assert_eq!(sliced(Bson::Int32(0)), Vec::<i32>::new());
    assert_eq!(sliced(bson::bson!([1, 2])), [2, 3]);
    assert_eq!(sliced(bson::bson!([-3, 2])), [2, 3]);
    assert_eq!(sliced(bson::bson!([-9, 2])), [1, 2]);
    assert_eq!(sliced(bson::bson!([9, 2])), Vec::<i32>::new());
}

#[test]
fn slice_goes_with_included_fields() {
    let document = doc! { "_id": 1, "a": { "x": [1, 2], "y": 0 }, "b": 5, "c": 6 };
    assert_eq!(
        project(doc! { "b": 1, "a.x": { "$slice": -1 } }, document),
        doc! { "_id": 1, "a": { "x": [2] }, "b": 5 }
    );
}

#[test]
fn elem_match_returns_the_first_element_after_the_other_fields() {
    let document = doc! { "_id": 1, "games": [{ "s": 3 }, { "s": 8 }, { "s": 9 }], "joined": 2 };
    assert_eq!(
        project(
            doc! { "games": { "$elemMatch": { "s": { "$gt": 5 } } }, "joined": 1 },
            document.clone()
        ),
        doc! { "_id": 1, "joined": 2, "games": [{ "s": 8 }] }
    );
    assert_eq!(
        project(doc! { "games": { "$elemMatch": { "s": 0 } } }, document),
        doc! { "_id": 1 }
    );
    assert_eq!(
        project(
            doc! { "_id": 0, "a": { "$elemMatch": { "$gte": 2 } } },
            doc! { "_id": 1, "a": [1, 2] }
        ),
        doc! { "a": [2] }
    );
}

#[test]
fn what_is_no_projection_is_refused() {
    assert_eq!(
        refused(doc! { "a": 1, "b": 0 }),
        Error::MixedProjection {
            path: "b".into(),
            included: false
        }
    );
    assert_eq!(
        refused(doc! { "a": 1, "a.b": 1 }),
        Error::ConflictingPaths {
            path: "a.b".into(),
            other: "a".into(),
            code: 31_249
        }
    );
    for (wrong, code) in [
        (doc! { "a": { "$x": 1 } }, 31_325),
        (doc! { "a": 1, "b": 0 }, 31_254),
        (doc! { "a": 0, "b": 1 }, 31_253),
        (doc! { "a.b": 1, "a": 1 }, 31_250),
        (doc! { "a.$": 0 }, 31_254),
        (doc! { "a.$.b": 1 }, 31_394),
        (doc! { "a.$": 1, "b.$": 1 }, 31_276),
        (doc! { "a.$": 1, "a": { "$slice": 1 } }, 28_667),
        (doc! { "a.$": 1, "a": { "$slice": [1, 1] } }, 31_250),
        (doc! { "a": { "$slice": 1 }, "a.$": 1 }, 31_250),
        (doc! { "a": 1, "a.b": { "$slice": 1 } }, 28_667),
        (doc! { "a": 1, "a.b": { "$slice": [1, 1] } }, 31_249),
        (doc! { "a": 0, "a.b": { "$slice": [1, 1] } }, 31_252),
        (doc! { "a": 0, "a.b": 1 }, 31_249),
        (doc! { "_id": 0, "_id.a": 1 }, 31_249),
        (doc! { "a.$": 1, "b": { "$elemMatch": { "c": 1 } } }, 31_255),
        (doc! { "$a": 1 }, 16_410),
        (doc! { "a": { "$slice": "x" } }, 28_667),
        (doc! { "a": { "$slice": [1, 0.9] } }, 28_724),
        (doc! { "a": { "$elemMatch": 1 } }, 31_274),
        (doc! { "a": {} }, 51_270),
        (doc! { "a": 0, "b": "$a" }, 31_310),
        (doc! { "a": 0, "b": { "$add": ["$a", 1] } }, 31_252),
        (doc! { "a": "$b", "b": 0 }, 31_254),
        (doc! { "a": "$b", "a.c": 1 }, 31_249),
        (doc! { "a": "$" }, 16_872),
        (doc! { "a": { "$add": [1, { "$x": 1 }] } }, 168),
        (doc! { "a": { "$divide": [1, 0] } }, 2),
        (doc! { "a": { "$slice": [[1], -1, 0] } }, 28_729),
        (doc! { "a.$": 1, "a.b": "$c" }, 31_249),
        (doc! { "a.b.$": 1, "a.c": "$d" }, 238),
    ] {
        assert_eq!(refused(wrong.clone()).code(), code, "{wrong}");
    }
    assert!(
        refused(doc! { "a": { "$meta": "x" } })
            .to_string()
            .contains("`$meta` is not supported")
    );
    for wrong in [
        doc! { "a": {} },
        doc! { "": 1 },
        doc! { "a": { "$slice": [1, 0] } },
        doc! { "a": { "$slice": "x" } },
        doc! { "a": { "$elemMatch": 1 } },
        doc! { "a.b": { "$elemMatch": {} } },
    ] {
        refused(wrong);
    }
}

#[test]
fn include_needs_no_path_beside_one_that_covers_it() {
    let projection = Projection::include(["a.b", "c", "a", "a.d"]).expect("a projection");
    assert_eq!(projection.to_document(), doc! { "c": 1, "a": 1 });
    let none = Projection::include([""; 0]).expect("a projection");
    assert_eq!(none.to_document(), doc! { "_id": 1 });
}

#[test]
fn an_id_that_is_included_beside_a_slice_excludes_the_other_fields() {
    let document = || doc! { "_id": 1, "a": { "b": [1, 2, 3], "c": 1 }, "d": 2 };
    assert_eq!(
        project(doc! { "a.b": { "$slice": 2 }, "_id": 1 }, document()),
        doc! { "_id": 1, "a": { "b": [1, 2] } }
    );
    assert_eq!(
        project(doc! { "a.b": { "$slice": 2 }, "_id": 0 }, document()),
        doc! { "a": { "b": [1, 2], "c": 1 }, "d": 2 }
    );
}

#[test]
fn a_slice_is_cut_towards_zero() {
    let sliced = |slice: Bson| {
        project(
            doc! { "_id": 0, "a": { "$slice": slice } },
            doc! { "a": [1, 2, 3] },
        )
    };
    assert_eq!(sliced(1.5.into()), doc! { "a": [1] });
    assert_eq!(sliced(vec![-1.5, 2.0].into()), doc! { "a": [3] });
    assert_eq!(sliced(f64::INFINITY.into()), doc! { "a": [1, 2, 3] });
    assert_eq!(sliced(f64::NAN.into()), doc! { "a": [] });
    assert_eq!(
        sliced(Bson::Decimal128("-1.9".parse().expect("a decimal"))),
        doc! { "a": [3] }
    );
}

#[test]
fn a_position_returns_the_element_by_which_the_filter_matches() {
    let matched = |filter: Document, projection: Document, document: Document| {
        let filter = Filter::parse(&filter).expect("a filter");
        let projection = Projection::parse(&projection).expect("a projection");
        assert_eq!(
            Projection::parse(&projection.to_document()).as_ref(),
            Ok(&projection)
        );
        let document = projection.apply_matched(&filter, &raw(document))?;
        Ok::<_, Error>(Document::try_from(document).expect("a document"))
    };
    let document =
        || doc! { "_id": 1, "g": [80, 85, 90], "x": 1, "d": { "e": [{ "f": 1, "g": 2 }] } };
    assert_eq!(
        matched(doc! { "g": { "$gt": 80 } }, doc! { "g.$": 1 }, document()),
        Ok(doc! { "_id": 1, "g": [85] })
    );
    assert_eq!(
        matched(
            doc! { "d.e.f": 1 },
            doc! { "d.e.f.$": 1, "x": 1 },
            document()
        ),
        Ok(doc! { "_id": 1, "x": 1, "d": { "e": [{ "f": 1, "g": 2 }] } })
    );
    // Without an array, no element is chosen.
    assert_eq!(
        matched(doc! {}, doc! { "x.$": 1 }, document()),
        Ok(doc! { "_id": 1, "x": 1 })
    );
    let code = |filter, projection| matched(filter, projection, document()).unwrap_err().code();
    assert_eq!(code(doc! { "x": 1 }, doc! { "g.$": 1 }), 51_246);
    assert_eq!(code(doc! { "g": 90 }, doc! { "d.e.$": 1 }), 51_247);
    assert_eq!(code(doc! { "$expr": true }, doc! { "g.$": 1 }), 224);
    let projection = Projection::parse(&doc! { "g.$": 1 }).expect("a projection");
    assert!(projection.apply(&raw(document())).is_err());
}

#[test]
fn a_computed_field_comes_after_those_of_the_document() {
    let document = || doc! { "_id": 1, "a": 2, "b": [3, 4], "c": "x" };
    let sum = doc! { "$add": ["$a", { "$size": "$b" }] };
    assert_eq!(
        project(doc! { "a": &sum, "c": 1 }, document()),
        doc! { "_id": 1, "c": "x", "a": 4 }
    );
    assert_eq!(
        project(doc! { "x": "$c", "_id": 0, "y": "c" }, document()),
        doc! { "x": "x", "y": "c" }
    );
    // An expression that has no value makes no field.
    assert_eq!(
        project(doc! { "x": "$d", "y": "$$REMOVE", "_id": "$a" }, document()),
        doc! { "_id": 2 }
    );
    assert_eq!(
        project(
            doc! { "x": { "$literal": 1 }, "y": { "$expr": { "z": "$a" } }, "_id": 0 },
            document()
        ),
        doc! { "x": 1, "y": { "z": 2 } }
    );
    let values = doc! { "n": Bson::Null, "l": ["$a", 1, "c"], "e": [], "_id": 0 };
    let shown = doc! { "n": Bson::Null, "l": [2, 1, "c"], "e": [] };
    assert_eq!(project(values, document()), shown);
    assert_eq!(
        project(
            doc! { "x": "$a", "b": { "$elemMatch": { "$gt": 3 } }, "y": "$a", "_id": 0 },
            document()
        ),
        doc! { "x": 2, "b": [4], "y": 2 }
    );
}

#[test]
fn a_computed_field_in_a_document_is_added_to_its_fields() {
    let inner = |projection: Document, a: Bson| {
        let document = doc! { "a": a, "b": 7 };
        project(projection, document).remove("a")
    };
    let both = || doc! { "a.x": 1, "a": { "y": "$b" }, "_id": 0 };
    let computed = || Some(Bson::from(doc! { "y": 7 }));
    assert_eq!(
        inner(both(), doc! { "x": 1, "y": 2, "z": 3 }.into()),
        Some(doc! { "x": 1, "y": 7 }.into())
    );
    // A value without fields is replaced, in an array as well.
    assert_eq!(inner(both(), 5.into()), computed());
    let array = bson::bson!([{ "x": 1 }, 5, [{ "y": 2 }, 6], {}]);
    assert_eq!(
        inner(both(), array),
        Some(bson::bson!([{ "x": 1, "y": 7 }, { "y": 7 }, [{ "y": 7 }, { "y": 7 }], { "y": 7 }]))
    );
    assert_eq!(
        project(doc! { "a.x.y": "$b", "c": 1 }, doc! { "c": 1, "b": 7 }),
        doc! { "c": 1, "a": { "x": { "y": 7 } } }
    );
    assert_eq!(
        project(doc! { "a.x": "$none" }, doc! { "b": 1 }),
        doc! { "a": {} }
    );
}

#[test]
fn a_slice_of_other_operands_than_numbers_is_computed() {
    let sliced = |operand: Bson| {
        let document = doc! { "a": [1, 2, 3], "n": 2 };
        project(doc! { "a": { "$slice": operand }, "_id": 0 }, document)
    };
    let first = |a: Bson| doc! { "a": a };
    assert_eq!(
        sliced(bson::bson!([["x", "y"], 1])),
        first(bson::bson!(["x"]))
    );
    assert_eq!(
        sliced(bson::bson!(["$a", "$n"])),
        first(bson::bson!([1, 2]))
    );
    assert_eq!(sliced(bson::bson!(["$a", 1, 1])), first(bson::bson!([2])));
    assert_eq!(sliced(bson::bson!([null, 2])), first(Bson::Null));
    assert_eq!(sliced(bson::bson!([0, null])), first(Bson::Null));
}

#[test]
fn a_computed_field_fails_on_a_document_whose_values_it_cannot_take() {
    let projection = Projection::parse(&doc! { "x": { "$add": ["$a", 1] } }).expect("one");
    let code = |a: Bson| {
        let shown = projection.apply(&raw(doc! { "a": a }));
        shown.map_err(|error| error.code())
    };
    assert_eq!(code(1.into()), Ok(raw(doc! { "x": 2 })));
    assert_eq!(code("text".into()), Err(14));
}

proptest! {
    #[test]
    fn a_computed_field_is_its_expression_beside_what_is_included_alone(
        document in document(),
        included in "[ab]",
        path in "[abc01]",
    ) {
        let document = raw(document);
        let shown = |projection: Document| {
            let projection = Projection::parse(&projection).expect("a projection");
            let shown = projection.apply(&document).expect("a document");
            Document::try_from(&shown).expect("valid BSON")
        };
        let mut expected = shown(doc! { &included: 1 });
        if let Some(value) = Expr::parse(&format!("${path}").into()).unwrap().evaluate(&document).unwrap() {
            expected.insert("x", crate::types::from_raw(&value));
        }
        let computed = shown(doc! { &included: 1, "x": format!("${path}") });
        prop_assert_eq!(raw(computed), raw(expected));
    }

    #[test]
    fn what_is_included_and_what_is_excluded_make_the_whole(
        document in document(),
        path in "[abc01]",
    ) {
        let document = raw(document);
        let fields = |value: i32| {
            let projection = Projection::parse(&doc! { &path: value, "_id": 0 }).expect("one");
            let projected = projection.apply(&document).expect("a document");
            projected.iter().count()
        };
        prop_assert_eq!(fields(1) + fields(0), document.iter().count());
    }

    #[test]
    fn a_projection_applied_twice_changes_no_more(
        document in document(),
        paths in prop::collection::vec(path(), 0..3),
    ) {
        let projection = Projection::include(paths).expect("a projection");
        let once = projection.apply(&raw(document)).expect("a document");
        prop_assert_eq!(projection.apply(&once).expect("a document"), once);
    }
}

#[test]
fn a_computed_field_is_not_nested_without_bound() {
    let nested = |input: Document| {
        let reduce = doc! { "input": input, "initialValue": [], "in": ["$$value"] };
        doc! { "a": { "$reduce": reduce }, "b": [["$$ROOT"]] }
    };
    let deep = Projection::parse(&nested(doc! { "$range": [0, "$n"] })).expect("a projection");
    assert!(deep.apply(&raw(doc! { "n": 100 })).is_ok());
    for n in [200, 20_000] {
        let refused = deep.apply(&raw(doc! { "n": n }));
        assert_eq!(refused, Err(Error::ResultTooDeep(200)), "{n}");
    }
    let wrapped = Projection::parse(&doc! { "x": [["$a"]] }).expect("a projection");
    let inner = (0..197).fold(Bson::Array(Vec::new()), |inner, _| Bson::Array(vec![inner]));
    let refused = wrapped.apply(&raw(doc! { "a": inner }));
    assert_eq!(refused, Err(Error::ResultTooDeep(200)));
}
