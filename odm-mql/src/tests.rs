//! Properties of the layer as a whole.

use bson::{DateTime, RawBsonRef, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::*;
use crate::testing::{document, raw, value};

/// A document whose bytes were changed, so that some of it may be unreadable.
fn damaged() -> impl Strategy<Value = RawDocumentBuf> {
    let whole = prop_oneof![
        document(),
        prop::collection::vec(("[abc]", value()), 1..4)
            .prop_map(|fields| fields.into_iter().collect()),
    ];
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    (whole, damage).prop_map(|(document, damage)| {
        let mut bytes = raw(document).into_bytes();
        let inner = 4..bytes.len() - 1;
        for (at, byte) in damage {
            if !inner.is_empty() {
                bytes[inner.start + at.index(inner.len())] = byte;
            }
        }
        RawDocumentBuf::from_bytes(bytes).expect("the frame is sound")
    })
}

/// The operators that a row of a table in the documentation of this crate names.
fn listed(row: &str) -> Vec<&'static str> {
    let row = format!("//! | {row} |");
    let lines = include_str!("lib.rs").lines();
    let rows: Vec<&str> = lines.filter(|line| line.starts_with(&row)).collect();
    let [row] = rows.as_slice() else {
        panic!("one row begins with {row}: {rows:?}");
    };
    let names = row.split('`').filter(|name| name.starts_with('$'));
    names
        .filter(|name| !name.starts_with("$$") && *name != "$")
        .collect()
}

fn is_unknown<T>(result: Result<T, Error>, operator: &str) -> bool {
    match result {
        Err(Error::UnknownOperator {
            operator: named, ..
        })
        | Err(Error::NotSupported {
            operator: named, ..
        }) => named == operator,
        _ => false,
    }
}

#[test]
fn the_operators_that_the_documentation_lists_are_known_and_the_others_are_refused_by_name() {
    let filter = |operator: &str| {
        let (document, value) = (doc! { operator: 1 }, doc! { "a": { operator: 1 } });
        let is_unknown = |filter| is_unknown(Filter::parse(&filter), operator);
        is_unknown(document) && is_unknown(value)
    };
    let expression = |operator: &str| {
        let expression = doc! { operator: [1, 2] };
        let computed = Projection::parse(&doc! { "a": expression.clone() });
        let is_unknown_in_filter = is_unknown(Expr::parse(&expression.into()), operator);
        // A projection has `$elemMatch` beside the operators of expressions, and its own `$slice`.
        assert_eq!(
            is_unknown(computed, operator),
            is_unknown_in_filter,
            "{operator}"
        );
        is_unknown_in_filter
    };
    let update = |operator: &str| is_unknown(Update::parse(&doc! { operator: {} }, &[]), operator);
    let sort = |operator: &str| {
        is_unknown(
            Sort::parse(&doc! { "a": { operator: "textScore" } }),
            operator,
        )
    };
    let known = |row: &str| listed(row).into_iter();

    // `$options` is a part of `$regex`.
    let filters: Vec<_> = known("[filters](Filter)")
        .filter(|name| filter(name))
        .collect();
    assert_eq!(filters, [""; 0]);
    let expressions = [
        "[expressions](Expr)",
        "on arrays",
        "on texts and documents",
        "on dates and types",
    ];
    let expressions = expressions.into_iter().flat_map(known);
    let expressions: Vec<_> = expressions.filter(|name| expression(name)).collect();
    assert_eq!(expressions, [""; 0]);
    let modifiers = ["$each", "$position", "$slice", "$sort", "$[]", "$[name]"];
    let updates = known("[updates](Update)").filter(|name| !modifiers.contains(name));
    let updates: Vec<_> = updates.filter(|name| update(name)).collect();
    assert_eq!(updates, [""; 0]);

    assert_eq!(listed("filters").len(), 14);
    assert!(listed("filters").into_iter().all(filter));
    assert_eq!(listed("expressions").len(), 4);
    let refused = listed("expressions")
        .into_iter()
        .filter(|name| !expression(name));
    assert_eq!(refused.collect::<Vec<_>>(), [""; 0]);
    assert!(listed("sorts").into_iter().all(sort));
}

#[test]
fn the_stages_that_the_documentation_lists_are_known_and_the_others_are_refused_by_name() {
    let variables = Variables::default();
    let stage = |name: &str| Pipeline::parse(&[doc! { name: {} }], &variables).map(|_| ());
    let accumulator = |name: &str| {
        let group = doc! { "$group": { "_id": null, "a": { name: {} } } };
        Pipeline::parse(&[group], &variables).map(|_| ())
    };
    let code = |result: Result<(), Error>| result.map_err(|error| error.code());
    let stages = listed("[pipelines](Pipeline)");
    assert_eq!(stages.len(), 19);
    for name in stages {
        assert_ne!(code(stage(name)), Err(40_324), "{name}");
    }
    for name in listed("[updates by a pipeline](UpdatePipeline)") {
        let update = UpdatePipeline::parse(&[doc! { name: {} }], &variables);
        let code = code(update.map(|_| ()));
        assert!(![Err(72), Err(40_324)].contains(&code), "{name}");
    }
    for name in listed("[accumulators](Pipeline)") {
        assert!(!is_unknown(accumulator(name), name), "{name}");
    }
    assert_eq!(
        (listed("pipelines").len(), listed("accumulators").len()),
        (30, 1)
    );
    let is_named = |name: &str, refused: Result<(), Error>| matches!(refused, Err(Error::NotSupported { operator, .. }) if operator == name);
    assert!(
        listed("pipelines")
            .into_iter()
            .all(|name| is_named(name, stage(name)))
    );
    assert!(
        listed("accumulators")
            .into_iter()
            .all(|name| is_named(name, accumulator(name)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_damaged_document_does_no_harm(document in damaged(), other in damaged()) {
        let (a, b) = (RawBsonRef::Document(&document), RawBsonRef::Document(&other));
        prop_assert_eq!(key::of(a).cmp(&key::of(b)), order::compare(a, b));

        let filter = doc! { "a.b": { "$gt": 1 }, "b": { "$elemMatch": { "c": null } }, "c": [1] };
        let _ = Filter::parse(&filter).expect("a filter").matches(&document);
        Sort::parse(&doc! { "a.b": 1, "c": -1 }).expect("a sort").encode_key(&document);
        let _ = path::compound_index_values(&document, &["a", "b.0", "a.c"]);
        for projection in [doc! { "a.b": 1, "c": 1 }, doc! { "a.b": 0, "c": { "$slice": 1 } }] {
            let _ = Projection::parse(&projection).expect("a projection").apply(&document);
        }
        let update = doc! {
            "$set": { "a.b": 1 },
            "$push": { "b": { "$each": [1], "$sort": 1 } },
            "$rename": { "c": "x" },
        };
        let update = Update::parse(&update, &[]).expect("an update");
        let _ = update.apply(&document, false, DateTime::from_millis(0));

        let variables = Variables::default();
        for stage in [
            doc! { "$set": { "a.b": "$c" } },
            doc! { "$unwind": { "path": "$a", "includeArrayIndex": "b.c" } },
            doc! { "$group": { "_id": "$a.b", "a": { "$push": "$$ROOT" }, "b": { "$mergeObjects": "$b" } } },
            doc! { "$group": { "_id": null, "a": { "$topN": { "n": 1, "sortBy": { "a.b": 1, "c": -1 }, "output": "$a" } } } },
            doc! { "$lookup": { "from": "x", "localField": "a.b", "foreignField": "c", "as": "b.c" } },
            doc! { "$sort": { "a": 1 } },
            doc! { "$facet": { "a": [{ "$replaceWith": "$a" }] } },
        ] {
            let pipeline = Pipeline::parse(&[stage], &variables).expect("a pipeline");
            let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
            run.push(vec![document.clone()]);
            run.end();
            while let Ok(step @ (PipelineStep::Documents(_) | PipelineStep::Lookup(_))) = run.step() {
                if let PipelineStep::Lookup(_) = step {
                    run.answer(vec![other.clone()]);
                }
            }
        }
    }
}
