use bson::{Bson, Document, RawDocumentBuf, Timestamp, doc};
use proptest::prelude::*;

use super::*;
use crate::{
    Filter, Projection,
    testing::{document, path, raw, raw_value},
};

fn variables(document: Document) -> Variables {
    Variables::parse(&document).expect("variables")
}

/// The value of an expression on no document.
fn value(expression: impl Into<Bson>, variables: &Variables) -> Option<RawBson> {
    let expression = Expr::parse_with(&expression.into(), variables).expect("an expression");
    expression
        .evaluate(&RawDocumentBuf::new())
        .expect("a value")
}

#[test]
fn a_variable_stands_for_its_value_and_a_path_in_it_goes_through_arrays() {
    let inner = [doc! { "c": 1 }, doc! { "d": 2 }, doc! { "c": [3] }];
    let variables = variables(doc! {
        "a": { "b": 5 },
        "list": { "$literal": inner.to_vec() },
        "text": { "$literal": "$a" },
        "none": "$$REMOVE",
    });
    assert_eq!(value("$$a", &variables), Some(raw_value(doc! { "b": 5 })));
    assert_eq!(value("$$a.b", &variables), Some(raw_value(5)));
    assert_eq!(value("$$a.x", &variables), None);
    let cs: Bson = vec![Bson::from(1), vec![3].into()].into();
    assert_eq!(value("$$list.c", &variables), Some(raw_value(cs)));
    // A value is no expression.
    assert_eq!(value("$$text", &variables), Some(raw_value("$a")));
    assert_eq!(value("$$text.x", &variables), None);
    assert_eq!(value("$$none", &variables), None);
    assert_eq!(
        value(doc! { "x": "$$none" }, &variables),
        Some(raw_value(doc! {}))
    );
}

/// A value that grows by a level with each element of a range.
fn nested(levels: i32) -> Document {
    doc! { "$reduce": { "input": { "$range": [0, levels] }, "initialValue": [], "in": ["$$value"] } }
}

#[test]
fn a_value_that_is_nested_too_deeply_is_refused() {
    let deep = Variables::parse(&doc! { "x": nested(20_000) });
    assert_eq!(deep, Err(Error::ResultTooDeep(200)));
    let wrapped = doc! { "x": nested(150), "y": nested(150), "z": [["$$x"]] };
    let variables = variables(wrapped);
    let filter = doc! { "$expr": { "$eq": ["$a", "$$z"] } };
    Filter::parse_with(&filter, &variables)
        .expect("a filter")
        .to_document();
    let chain = doc! { "x": nested(199), "y": ["$$x"], };
    assert_eq!(Variables::parse(&chain), Err(Error::ResultTooDeep(200)));
    let mut value = RawBson::Array(bson::RawArrayBuf::new());
    for _ in 0..300 {
        value = RawBson::Array(bson::RawArrayBuf::from_iter([value]));
    }
    let bound = Variables::default().bind("x", Some(value));
    assert_eq!(bound, Err(Error::ResultTooDeep(200)));
}

#[test]
fn a_variable_has_the_variables_before_it() {
    let variables = variables(doc! { "a": 2, "b": { "$multiply": ["$$a", 3] } });
    assert_eq!(value("$$b", &variables), Some(raw_value(6)));
    let later = Variables::parse(&doc! { "a": "$$b", "b": 1 });
    assert_eq!(later.expect_err("a later variable").code(), 17_276);
}

/// The codes are those of MongoDB's `variable_validation.cpp` and `variables.cpp`.
#[test]
fn names_and_values_that_mongodb_refuses_are_refused() {
    let code = |name: &str, value: Bson| {
        let parsed = Variables::parse(&Document::from_iter([(name.to_owned(), value)]));
        parsed.map_or_else(|error| error.code(), |_| 0)
    };
    for name in ["a", "aB_9", "é", "aé", "日本"] {
        assert_eq!(code(name, 1.into()), 0, "{name}");
        assert_eq!(Variables::default().bind(name, None), Ok(()), "{name}");
    }
    for (name, expected) in [
        ("", 9),
        ("A", 9),
        ("_a", 9),
        ("1a", 9),
        ("$a", 9),
        ("a.b", 9),
        ("a b", 9),
        ("a\0", 9),
        ("ROOT", 9),
        ("REMOVE", 9),
        ("NOW", 4_738_901),
        ("CLUSTER_TIME", 4_738_901),
        ("CURRENT", 238),
    ] {
        assert_eq!(code(name, 1.into()), expected, "{name}");
        let bound = Variables::default().bind(name, Some(raw_value(1)));
        assert_eq!(bound.expect_err("no name").code(), expected, "{name}");
    }
    assert_eq!(code("a", "$b".into()), 4_890_500);
    assert_eq!(code("a", "$$ROOT".into()), 4_890_500);
    assert_eq!(code("a", doc! { "b": ["$$CURRENT.c"] }.into()), 4_890_500);
    assert_eq!(code("a", "$$b".into()), 17_276);
    assert_eq!(code("a", doc! { "$divide": [1, 0] }.into()), 2);
    assert_eq!(code("a", doc! { "$nothing": 1 }.into()), 168);
}

#[test]
fn variables_of_the_system_that_are_not_here_are_refused_by_name() {
    for name in ["$$CLUSTER_TIME", "$$USER_ROLES", "$$USER_ROLES.role"] {
        let error = Expr::parse(&name.into()).expect_err("no variable");
        assert_eq!(error.code(), 51_144, "{name}");
        let (variable, _) = name.split_once('.').unwrap_or((name, ""));
        assert!(error.to_string().contains(variable), "{error}");
    }
}

#[test]
fn the_time_of_a_cluster_is_a_value_that_nobody_can_bind_by_its_name() {
    let time = Timestamp {
        time: 7,
        increment: 3,
    };
    let given = Variables::default().with_cluster_time(time);
    let later = doc! { "a": { "$add": [1, 1] }, "b": "$$CLUSTER_TIME" };
    let variables = given.clone().then(&later, None).expect("variables");
    for (expr, value) in [
        ("$$CLUSTER_TIME", Some(RawBson::Timestamp(time))),
        ("$$CLUSTER_TIME.t", None),
        ("$$b", Some(RawBson::Timestamp(time))),
        ("$$a", Some(raw_value(2))),
    ] {
        let expr = Expr::parse_with(&expr.into(), &variables).expect("an expression");
        assert_eq!(expr.evaluate(&RawDocumentBuf::new()), Ok(value), "{expr:?}");
    }
    let error = given.then(&doc! { "CLUSTER_TIME": 1 }, None);
    assert_eq!(error.expect_err("no name").code(), 4_738_901);
}

#[test]
fn a_name_that_is_not_bound_is_no_variable() {
    let error = Expr::parse_with(&"$$b".into(), &variables(doc! { "a": 1 }));
    assert_eq!(error.expect_err("no variable").code(), 17_276);
    let filter = doc! { "$expr": { "$eq": ["$x", "$$a"] } };
    assert_eq!(
        Filter::parse(&filter).expect_err("no variable").code(),
        17_276
    );
}

#[test]
fn filters_and_projections_have_literals_in_the_place_of_variables() {
    let mut variables = variables(doc! { "a": 1 });
    variables
        .bind("text", Some(raw_value("$b")))
        .expect("a name");
    variables.bind("none", None).expect("a name");
    let filter = doc! { "$or": [{ "$expr": { "$eq": ["$x", "$$a"] } }, { "y": "$$a" }] };
    let filter = Filter::parse_with(&filter, &variables).expect("a filter");
    // A filter on a value has no expressions.
    let form = doc! { "$or": [{ "$expr": { "$eq": ["$x", 1] } }, { "y": "$$a" }] };
    assert_eq!(filter.to_document(), form);
    assert_eq!(filter.matches(&raw(doc! { "x": 1 })), Ok(true));

    let projection = doc! { "p": "$$text", "q": { "$add": ["$$a", 1] }, "r": "$$none" };
    let projection = Projection::parse_with(&projection, &variables).expect("a projection");
    let form = projection.to_document();
    assert_eq!(form.get("p"), Some(&doc! { "$literal": "$b" }.into()));
    let shown = projection.apply(&raw(doc! { "x": 1 })).expect("a document");
    assert_eq!(shown, raw(doc! { "p": "$b", "q": 2 }));
    assert_eq!(Projection::parse(&form), Ok(projection));
}

#[test]
fn the_values_in_the_place_of_variables_are_bounded() {
    let large = "x".repeat(20 << 20);
    let mut variables = Variables::default();
    variables.bind("a", Some(raw_value(large))).expect("a name");
    let uses = |times: usize| {
        let uses = vec![doc! { "$expr": { "$eq": ["$$a", "$x"] } }; times];
        Filter::parse_with(&doc! { "$or": uses }, &variables)
    };
    assert!(uses(3).is_ok());
    assert_eq!(uses(4).expect_err("too large").code(), 10_334);
    // A value grows no more by those that refer to it.
    let twice = |name: &str| Bson::from(vec![format!("$${name}"); 30]);
    let grows = doc! { "a": "x".repeat(1 << 20), "b": twice("a"), "c": twice("b") };
    assert_eq!(
        Variables::parse(&grows).expect_err("too large").code(),
        10_334
    );
}

proptest! {
    #[test]
    fn a_path_in_a_variable_has_the_value_of_the_path_in_a_document(
        document in document(),
        path in path(),
    ) {
        let document = raw(document);
        let mut variables = Variables::default();
        variables.bind("v", Some(RawBson::Document(document.clone()))).expect("a name");
        let in_document = Expr::parse(&format!("${path}").into()).expect("a path");
        let in_variable = Expr::parse_with(&format!("$$v.{path}").into(), &variables);
        let in_variable = in_variable.expect("a path").evaluate(&RawDocumentBuf::new());
        // Compared as text, in which NaN equals NaN.
        prop_assert_eq!(
            format!("{in_variable:?}"),
            format!("{:?}", in_document.evaluate(&document))
        );
    }
}

#[cfg(feature = "collation")]
#[test]
fn the_values_of_variables_are_compared_by_the_collation() {
    let collation = crate::Collation::parse(&doc! { "locale": "en", "strength": 2 });
    let collation = collation.expect("a collation");
    let document = doc! { "x": { "$eq": ["a", "A"] } };
    let collated = Variables::parse_collated(&document, collation.as_ref()).expect("variables");
    assert_eq!(value("$$x", &collated), Some(raw_value(true)));
    assert_eq!(value("$$x", &variables(document)), Some(raw_value(false)));
}
