//! Operators that bind variables.

use super::*;

#[test]
fn variables_hold_in_the_expression_that_binds_them_and_inner_ones_hide_outer_ones() {
    let document = || doc! { "price": 10, "tax": 0.5, "a": { "b": [{ "c": 1 }, { "c": 2 }] } };
    let total = doc! { "$let": {
        "vars": { "total": { "$add": ["$price", "$tax"] }, "twice": 2 },
        "in": { "$multiply": ["$$total", "$$twice"] },
    } };
    assert_eq!(value(total, document()), Some(21.0.into()));
    let inner = doc! { "$let": { "vars": { "x": 1 }, "in": {
        "$let": { "vars": { "x": 2, "y": "$$x" }, "in": ["$$x", "$$y"] }
    } } };
    assert_eq!(value(inner, document()), Some(vec![2, 1].into()));
    let path = doc! { "$let": { "vars": { "it": "$a" }, "in": "$$it.b.c" } };
    assert_eq!(value(path, document()), Some(vec![1, 2].into()));
    let missing = doc! { "$let": { "vars": { "it": "$x" }, "in": "$$it" } };
    assert_eq!(value(missing, document()), None);
    let current = doc! { "$let": { "vars": { "CURRENT": "$a" }, "in": "$b.c" } };
    assert_eq!(value(current, document()), Some(vec![1, 2].into()));
    let of_item = doc! { "$let": { "vars": { "x": "$$ROOT.price" }, "in": "$$x" } };
    let expr = Expr::parse(&of_item.into()).expect("an expression");
    assert_eq!(expr.paths(), ["price"]);
}

#[test]
fn a_reduction_does_not_nest_its_value_without_bound() {
    let nested = |levels: i32| {
        let input = doc! { "$range": [0, levels] };
        doc! { "$size": [{ "$reduce": { "input": input, "initialValue": [], "in": ["$$value"] } }] }
    };
    assert_eq!(value(nested(150), doc! {}), Some(1.into()));
    let deep = evaluated(nested(20_000), doc! {});
    assert_eq!(deep, Err(Error::ResultTooDeep(200)));
}

#[test]
fn elements_are_mapped_filtered_and_reduced() {
    let document = || doc! { "n": [1, 5, 2, null, 3], "by": 2, "text": "a" };
    for (expression, expected) in [
        (
            doc! { "$map": { "input": "$n", "as": "it", "in": { "$add": ["$$it", "$by"] } } },
            Bson::Array(vec![3.into(), 7.into(), 4.into(), Bson::Null, 5.into()]),
        ),
        (
            doc! { "$map": { "input": [1], "in": "$$this.x" } },
            Bson::Array(vec![Bson::Null]),
        ),
        (
            doc! { "$map": { "input": "$x", "in": "$$this" } },
            Bson::Null,
        ),
        (
            doc! { "$filter": { "input": "$n", "cond": { "$gte": ["$$this", "$by"] } } },
            vec![5, 2, 3].into(),
        ),
        (
            doc! { "$filter": { "input": "$n", "as": "it", "limit": 2, "cond": { "$gte": ["$$it", 2] } } },
            vec![5, 2].into(),
        ),
        (
            doc! { "$filter": { "input": null, "cond": true } },
            Bson::Null,
        ),
        (
            doc! { "$reduce": {
                "input": ["a", "b", "c"],
                "initialValue": "",
                "in": { "$concat": ["$$value", "$$this"] },
            } },
            "abc".into(),
        ),
        (
            doc! { "$reduce": { "input": [], "initialValue": "$by", "in": 1 } },
            2.into(),
        ),
        (
            doc! { "$reduce": { "input": "$x", "initialValue": 0, "in": 1 } },
            Bson::Null,
        ),
    ] {
        assert_eq!(
            value(expression.clone(), document()),
            Some(expected),
            "{expression}"
        );
    }
    for (expression, code) in [
        (doc! { "$map": { "input": "$text", "in": 1 } }, 16_883),
        (doc! { "$filter": { "input": "$text", "cond": 1 } }, 28_651),
        (
            doc! { "$filter": { "input": "$n", "cond": 1, "limit": 0 } },
            327_392,
        ),
        (
            doc! { "$filter": { "input": "$n", "cond": 1, "limit": 1.5 } },
            327_391,
        ),
        (
            doc! { "$reduce": { "input": "$text", "initialValue": 0, "in": 1 } },
            40_080,
        ),
    ] {
        let error = evaluated(expression.clone(), document()).expect_err("no value");
        assert_eq!(error.code(), code, "{expression}");
    }
}

#[test]
fn a_binding_that_is_not_well_formed_has_mongodbs_code() {
    for (expression, expected) in [
        (doc! { "$let": 1 }, 16_874),
        (doc! { "$let": { "vars": {}, "in": 1, "more": 1 } }, 16_875),
        (doc! { "$let": { "in": 1 } }, 16_876),
        (doc! { "$let": { "vars": {} } }, 16_877),
        (doc! { "$let": { "vars": 1, "in": 1 } }, 10_065),
        (doc! { "$let": { "vars": [], "in": 1 } }, 9),
        (doc! { "$let": { "vars": { "X": 1 }, "in": 1 } }, 9),
        (
            doc! { "$let": { "vars": { "a": 1, "b": "$$a" }, "in": 1 } },
            17_276,
        ),
        (
            doc! { "$add": [{ "$let": { "vars": { "a": 1 }, "in": 1 } }, "$$a"] },
            17_276,
        ),
        (doc! { "$map": [] }, 16_878),
        (doc! { "$map": { "in": 1 } }, 16_880),
        (doc! { "$map": { "input": [] } }, 16_882),
        (doc! { "$filter": { "input": [] } }, 28_650),
        (doc! { "$filter": { "cond": 1 } }, 28_648),
        (
            doc! { "$filter": { "input": [], "cond": "$$that" } },
            17_276,
        ),
        (doc! { "$reduce": { "input": [], "in": 1 } }, 40_078),
    ] {
        assert_eq!(code(expression.clone().into()), expected, "{expression}");
    }
}

#[test]
fn the_input_of_a_loop_is_evaluated_before_the_other_operands() {
    let document = || doc! { "zero": 0 };
    let filter =
        |input: Bson| doc! { "$filter": { "input": input, "cond": true, "limit": "$zero" } };
    assert_eq!(value(filter(Bson::Null), document()), Some(Bson::Null));
    let empty = || Bson::Array(Vec::new());
    assert_eq!(value(filter(empty()), document()), Some(empty()));
    let refused = evaluated(filter(vec![1].into()), document());
    assert_eq!(refused.expect_err("no value").code(), 327_392);
    let first = doc! { "$divide": [1, "$zero"] };
    let reduce = doc! { "$reduce": { "input": null, "initialValue": first, "in": 1 } };
    assert_eq!(value(reduce, document()), Some(Bson::Null));
}

#[test]
fn the_name_of_a_field_alone_is_of_the_bound_document() {
    let current = doc! { "$let": { "vars": { "CURRENT": "$a" }, "in": { "$getField": "b" } } };
    assert_eq!(
        value(current, doc! { "a": { "b": 1 }, "b": 2 }),
        Some(1.into())
    );
    assert_eq!(
        value(doc! { "$getField": "b" }, doc! { "b": 2 }),
        Some(2.into())
    );
}
