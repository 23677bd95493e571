//! What compares texts: with a collation that ignores case, everything gives what it gives without one for texts in one case.

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::parse;
use crate::{
    Collation, Error, Expr, Filter, Pipeline, PipelineStep, Projection, Sort, Update,
    UpdatePipeline, Variables,
};

fn ignoring_case() -> Collation {
    parse(doc! { "locale": "en", "strength": 2 })
}

fn raw(document: &Document) -> RawDocumentBuf {
    document.try_into().expect("a document")
}

/// The value with all texts in lower case, except paths and patterns.
fn lowered(value: &Bson) -> Bson {
    match value {
        Bson::String(text) if !text.starts_with('$') => text.to_lowercase().into(),
        Bson::Document(document) => Bson::Document(lowered_fields(document)),
        Bson::Array(array) => array.iter().map(lowered).collect::<Vec<_>>().into(),
        value => value.clone(),
    }
}

fn lowered_fields(document: &Document) -> Document {
    let fields = document.iter();
    fields
        .map(|(name, value)| (name.clone(), lowered(value)))
        .collect()
}

fn text() -> impl Strategy<Value = Bson> {
    "[abAB]{0,2}".prop_map(Bson::String)
}

fn value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        4 => text(),
        1 => (0..3).prop_map(Bson::Int32),
        1 => Just(Bson::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
            inner.prop_map(|value| doc! { "x": value }.into()),
        ]
    })
}

fn values() -> impl Strategy<Value = Vec<Bson>> {
    prop_oneof![
        prop::collection::vec(value(), 1..4),
        prop::collection::vec(text(), 9..15),
    ]
}

fn document() -> impl Strategy<Value = Document> {
    (value(), value()).prop_map(|(a, b)| doc! { "_id": 1, "a": a, "b": b })
}

fn filter() -> impl Strategy<Value = Document> {
    let comparison = prop_oneof!["\\$eq", "\\$ne", "\\$gt", "\\$gte", "\\$lt", "\\$lte"];
    let test = prop_oneof![
        (comparison.clone(), value()).prop_map(|(operator, value)| doc! { operator: value }),
        (prop_oneof!["\\$in", "\\$nin", "\\$all"], values())
            .prop_map(|(operator, values)| doc! { operator: values }),
        value().prop_map(|value| doc! { "$elemMatch": { "$gte": value } }),
        value().prop_map(|value| doc! { "$elemMatch": { "x": value } }),
        value().prop_map(|value| doc! { "$not": { "$lt": value } }),
    ];
    let path = prop_oneof!["a", "b", "a\\.x"];
    prop_oneof![
        3 => (path, test).prop_map(|(path, test)| doc! { path: test }),
        1 => (comparison, value()).prop_map(|(operator, value)| {
            doc! { "$expr": { operator: ["$a", { "$literal": value }] } }
        }),
    ]
}

/// Operators on arrays, of `$a` and a list, or of lists if `$a` is no array.
fn of_arrays() -> impl Strategy<Value = Document> {
    let list = doc! { "$cond": [{ "$isArray": ["$a"] }, "$a", ["$b", "A", "a", "B"]] };
    let sets = prop_oneof![
        Just("$setUnion"),
        Just("$setIntersection"),
        Just("$setDifference"),
        Just("$setEquals"),
        Just("$setIsSubset"),
    ];
    let some = prop_oneof![Just("$maxN"), Just("$minN")];
    let extreme = prop_oneof![Just("$min"), Just("$max")];
    let (of_sets, of_some, sorted) = (list.clone(), list.clone(), list.clone());
    prop_oneof![
        (sets, values(), any::<bool>()).prop_map(move |(operator, values, swapped)| {
            let values = Bson::from(doc! { "$literal": values });
            let mut operands = vec![of_sets.clone().into(), values];
            if swapped {
                operands.reverse();
            }
            doc! { operator: operands }
        }),
        (some, 1..4)
            .prop_map(move |(operator, n)| doc! { operator: { "n": n, "input": of_some.clone() } }),
        (extreme, value())
            .prop_map(|(operator, value)| doc! { operator: ["$a", { "$literal": value }, "$b"] }),
        any::<bool>().prop_map(move |down| {
            let by = if down { -1 } else { 1 };
            doc! { "$sortArray": { "input": sorted.clone(), "sortBy": by } }
        }),
        Just(
            doc! { "$sortArray": { "input": [{ "x": "$a" }, { "x": "$b" }], "sortBy": { "x": 1 } } }
        ),
        value()
            .prop_map(move |value| doc! { "$indexOfArray": [list.clone(), { "$literal": value }] }),
    ]
}

fn stage() -> impl Strategy<Value = Document> {
    let accumulator = prop_oneof!["\\$min", "\\$max", "\\$addToSet"];
    prop_oneof![
        filter().prop_map(|filter| doc! { "$match": filter }),
        Just(doc! { "$sort": { "a": 1, "b": -1 } }),
        accumulator.prop_map(|one| doc! { "$group": { "_id": "$a", "of": { one: "$b" } } }),
        Just(doc! { "$group": { "_id": "$a", "of": { "$setUnion": ["$b", "A", "a"] } } }),
        Just(doc! { "$sortByCount": "$a" }),
        of_arrays().prop_map(|expr| doc! { "$set": { "a": expr } }),
        Just(doc! { "$set": { "a": { "$cmp": ["$a", "$b"] } } }),
        Just(
            doc! { "$replaceWith": { "a": "$b", "b": { "$in": ["a", { "$ifNull": ["$c", ["A"]] }] } } }
        ),
        Just(doc! { "$bucket": { "groupBy": "$a", "boundaries": ["", "B"], "default": 0 } }),
        Just(
            doc! { "$lookup": { "from": "all", "localField": "a", "foreignField": "b", "as": "b" } }
        ),
        Just(doc! { "$lookup": {
            "from": "all", "let": { "a": "$a" }, "pipeline": [{ "$match": { "$expr": { "$eq": ["$b", "$$a"] } } }], "as": "b",
        } }),
        Just(doc! { "$facet": { "a": [{ "$sortByCount": "$a" }] } }),
    ]
}

fn update() -> impl Strategy<Value = (Document, Vec<Document>)> {
    let operator = prop_oneof!["\\$min", "\\$max", "\\$pull", "\\$addToSet"];
    prop_oneof![
        (operator, value())
            .prop_map(|(operator, value)| (doc! { operator: { "a": value } }, vec![])),
        values().prop_map(|values| (doc! { "$pullAll": { "a": values } }, vec![])),
        values().prop_map(|values| (doc! { "$addToSet": { "a": { "$each": values } } }, vec![])),
        value().prop_map(|value| (doc! { "$pull": { "a": { "$gte": value } } }, vec![])),
        value().prop_map(|value| (
            doc! { "$push": { "a": { "$each": [value], "$sort": 1 } } },
            vec![]
        )),
        value().prop_map(|value| {
            (
                doc! { "$set": { "a.$[one]": 9 } },
                vec![doc! { "one": { "$gt": value } }],
            )
        }),
    ]
}

fn run(
    stages: &[Document],
    documents: &[Document],
    collation: Option<&Collation>,
) -> Result<Vec<Document>, Error> {
    let pipeline = Pipeline::parse_collated(stages, &Variables::default(), collation)?;
    run_parsed(pipeline, documents)
}

fn run_parsed(pipeline: Pipeline, documents: &[Document]) -> Result<Vec<Document>, Error> {
    let all: Vec<RawDocumentBuf> = documents.iter().map(raw).collect();
    let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    run.push(all);
    run.end();
    let mut results = Vec::new();
    loop {
        match run.step()? {
            PipelineStep::Read => unreachable!("the documents have ended"),
            PipelineStep::Lookup(request) | PipelineStep::Union(request) => {
                let answer = run_parsed(request.pipeline, documents)?;
                run.answer(answer.iter().map(raw).collect());
            }
            PipelineStep::MoreOfUnion => run.answer(Vec::new()),
            PipelineStep::Documents(more) => {
                results.extend(
                    more.iter()
                        .map(|one| Document::try_from(&**one).expect("a document")),
                );
            }
            PipelineStep::Done => return Ok(results),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filter_compares_texts_by_the_collation(filter in filter(), documents in prop::collection::vec(document(), 1..6)) {
        let collated = Filter::parse(&filter).expect("a filter").collated(Some(&ignoring_case()));
        let plain = Filter::parse(&lowered_fields(&filter)).expect("a filter");
        for document in documents {
            let expected = plain.matches(&raw(&lowered_fields(&document)));
            prop_assert_eq!(collated.matches(&raw(&document)), expected, "{} {}", filter, document);
        }
    }

    #[test]
    fn a_sort_orders_texts_by_the_collation(a in document(), b in document(), descending in any::<bool>()) {
        let keys = doc! { "a": if descending { -1 } else { 1 }, "b": 1 };
        let plain = Sort::parse(&keys).expect("a sort");
        let collated = plain.clone().collated(Some(&ignoring_case()));
        let expected = plain.compare(&raw(&lowered_fields(&a)), &raw(&lowered_fields(&b)));
        let (a, b) = (raw(&a), raw(&b));
        prop_assert_eq!(collated.compare(&a, &b), expected);
        prop_assert_eq!(collated.compare_keys(&collated.key(&a), &collated.key(&b)), expected);
        prop_assert_eq!(collated.encode_key(&a).cmp(&collated.encode_key(&b)), expected);
    }

    #[test]
    fn an_update_compares_texts_by_the_collation((update, filters) in update(), document in document()) {
        let apply = |update: &Document, filters: &[Document], document: &Document, collation: Option<&Collation>| {
            let update = Update::parse(update, filters).expect("an update").collated(collation);
            let document = raw(document);
            let after = update.apply(&document, false, DateTime::from_millis(0))?;
            Ok::<_, Error>(Document::try_from(&*after.unwrap_or(document)).expect("a document"))
        };
        let lowered_filters: Vec<Document> = filters.iter().map(lowered_fields).collect();
        let plain = apply(&lowered_fields(&update), &lowered_filters, &lowered_fields(&document), None);
        let collated = apply(&update, &filters, &document, Some(&ignoring_case()));
        prop_assert_eq!(collated.map(|after| lowered_fields(&after)), plain, "{} {}", update, document);
    }

    #[test]
    fn a_pipeline_compares_texts_by_the_collation(
        stages in prop::collection::vec(stage(), 1..4),
        documents in prop::collection::vec(document(), 1..6),
    ) {
        let lowered_stages: Vec<Document> = stages.iter().map(lowered_fields).collect();
        let lowered_documents: Vec<Document> = documents.iter().map(lowered_fields).collect();
        let plain = run(&lowered_stages, &lowered_documents, None);
        let collated = run(&stages, &documents, Some(&ignoring_case()));
        let collated = collated.map(|all| all.iter().map(lowered_fields).collect::<Vec<_>>());
        prop_assert_eq!(collated, plain, "{:?}", stages);
    }
}

#[test]
fn a_part_of_a_filter_can_have_a_collation_of_its_own() {
    let name = |text: &str| Filter::parse(&doc! { "name": text }).expect("a filter");
    let collated = name("A").collated(Some(&ignoring_case()));
    let both = collated.clone().and(name("a"));
    for (document, expected) in [("a", true), ("A", false), ("b", false)] {
        let document = raw(&doc! { "name": document });
        assert_eq!(both.matches(&document), Ok(expected));
    }
    assert_eq!(collated.to_document(), doc! { "name": "A" });
    assert_eq!(collated.paths(), ["name"]);
}

#[test]
fn ids_that_are_equal_have_an_order() {
    let by_id = Sort::parse(&doc! { "_id": -1 }).expect("a sort");
    let by_id = by_id.collated(Some(&ignoring_case()));
    let by_name = Sort::parse(&doc! { "name": 1 }).expect("a sort");
    let by_name = by_name.collated(Some(&ignoring_case())).total();
    let compare = |sort: &Sort, a: &str, b: &str| {
        let (a, b) = (raw(&doc! { "_id": a }), raw(&doc! { "_id": b }));
        let order = sort.compare(&a, &b);
        assert_eq!(sort.encode_key(&a).cmp(&sort.encode_key(&b)), order);
        order
    };
    assert!(compare(&by_id, "a", "B").is_gt());
    assert!(compare(&by_id, "a", "A").is_lt());
    assert!(
        compare(&by_name, "a", "B").is_gt(),
        "the last key is of bytes"
    );
}

#[test]
fn patterns_and_names_of_fields_have_no_collation() {
    let collation = ignoring_case();
    for (filter, expected) in [
        (doc! { "a": { "$regex": "^A" } }, false),
        (
            doc! { "a": { "$in": [Bson::RegularExpression(bson::Regex { pattern: "^A".try_into().unwrap(), options: "".try_into().unwrap() })] } },
            false,
        ),
        (doc! { "A": "a" }, false),
        (doc! { "b": { "X": "a" } }, false),
        (doc! { "b": { "x": "A" } }, true),
    ] {
        let document = raw(&doc! { "a": "a", "b": { "x": "a" } });
        let filter = Filter::parse(&filter)
            .expect("a filter")
            .collated(Some(&collation));
        assert_eq!(filter.matches(&document), Ok(expected), "{filter:?}");
    }
}

#[test]
fn the_position_of_an_element_is_that_of_the_collation() {
    let filter = Filter::parse(&doc! { "a": "X" })
        .expect("a filter")
        .collated(Some(&ignoring_case()));
    let document = raw(&doc! { "_id": 1, "a": ["w", "x"] });
    let update = Update::parse(&doc! { "$set": { "a.$": "y" } }, &[]).expect("an update");
    let after = update.apply_matched(&filter, &document, DateTime::from_millis(0));
    assert_eq!(after, Ok(Some(raw(&doc! { "_id": 1, "a": ["w", "y"] }))));
    let projection = Projection::parse(&doc! { "a.$": 1 }).expect("a projection");
    assert_eq!(
        projection.apply_matched(&filter, &document),
        Ok(raw(&doc! { "_id": 1, "a": ["x"] }))
    );
}

#[test]
fn expressions_projections_and_updates_by_a_pipeline_have_a_collation() {
    let collation = ignoring_case();
    let document = raw(&doc! { "_id": 1, "a": "X", "list": ["w", "x"] });
    let expr = Expr::parse(&doc! { "$eq": ["$a", "x"] }.into()).expect("an expression");
    assert_eq!(expr.holds(&document), Ok(false));
    assert_eq!(expr.collated(Some(&collation)).holds(&document), Ok(true));
    let projection =
        doc! { "is": { "$in": ["$a", "$list"] }, "list": { "$elemMatch": { "$eq": "X" } } };
    let projection = Projection::parse(&projection)
        .expect("a projection")
        .collated(Some(&collation));
    let projected = projection
        .apply(&document)
        .map(|document| Document::try_from(&*document).unwrap());
    assert_eq!(projected, Ok(doc! { "_id": 1, "is": true, "list": ["x"] }));
    let stages = [doc! { "$set": { "a": { "$cond": [{ "$eq": ["$a", "x"] }, 1, 2] } } }];
    let update = UpdatePipeline::parse_collated(&stages, &Variables::default(), Some(&collation));
    let after = update
        .expect("an update")
        .apply(&document)
        .expect("it is valid");
    assert_eq!(after.get_i32("a").ok(), Some(1));
}

#[test]
fn searches_in_texts_compare_their_bytes() {
    let document = raw(&doc! { "_id": 1, "a": "xX" });
    let evaluate = |expr: Document| {
        let projection = Projection::parse(&doc! { "is": expr }).expect("a projection");
        let projected = projection
            .collated(Some(&ignoring_case()))
            .apply(&document)
            .expect("a document");
        Document::try_from(&*projected)
            .expect("a document")
            .remove("is")
    };
    for (expr, expected) in [
        (doc! { "$indexOfCP": ["$a", "X"] }, Bson::Int32(1)),
        (doc! { "$indexOfBytes": ["$a", "X"] }, Bson::Int32(1)),
        (doc! { "$strcasecmp": ["é", "É"] }, Bson::Int32(1)),
        (doc! { "$split": ["$a", "X"] }, vec!["x", ""].into()),
        (
            doc! { "$replaceOne": { "input": "$a", "find": "X", "replacement": "y" } },
            "xy".into(),
        ),
        (
            doc! { "$replaceAll": { "input": "$a", "find": "X", "replacement": "y" } },
            "xy".into(),
        ),
        (
            doc! { "$trim": { "input": "$a", "chars": "X" } },
            "x".into(),
        ),
        (
            doc! { "$regexMatch": { "input": "$a", "regex": "^X" } },
            false.into(),
        ),
        (
            doc! { "$regexFind": { "input": "$a", "regex": "X" } },
            doc! { "match": "X", "idx": 1, "captures": [] }.into(),
        ),
        (doc! { "$toLower": "$a" }, "xx".into()),
    ] {
        assert_eq!(evaluate(expr.clone()), Some(expected), "{expr}");
    }
}
