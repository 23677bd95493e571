//! Properties of pipelines on random documents.

use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::{Collections, Pipeline, QueryPrefix, Variables, parse, parsed, raws, run_in_chunks};
use crate::{
    Group, Sort, UpdatePipeline,
    group::{Accumulator, GroupKey},
    order, path,
    pipeline::nested::with_value,
    testing::{document, number, path as any_path, raw, small_nested, value},
};

/// Stages that can be run on any documents.
fn stage() -> impl Strategy<Value = Document> {
    let name = || "[abc]";
    let reference = || any_path().prop_map(|path| format!("${path}"));
    let small = || 0..6_i32;
    prop_oneof![
        (any_path(), small()).prop_map(|(path, value)| doc! { "$match": { path: { "$gte": value % 3 } } }),
        (any_path(), any::<bool>()).prop_map(|(path, up)| doc! { "$sort": { path: if up { 1 } else { -1 } } }),
        small().prop_map(|skip| doc! { "$skip": skip }),
        small().prop_map(|limit| doc! { "$limit": limit + 1 }),
        (any_path(), reference()).prop_map(|(path, value)| doc! { "$set": { path: value } }),
        (any_path(), reference()).prop_map(|(path, value)| doc! { "$project": { path: value } }),
        any_path().prop_map(|path| doc! { "$unset": path }),
        (reference(), any::<bool>()).prop_map(|(path, preserves)| {
            doc! { "$unwind": { "path": path, "preserveNullAndEmptyArrays": preserves, "includeArrayIndex": "at" } }
        }),
        (reference(), reference()).prop_map(|(id, value)| doc! { "$group": {
            "_id": id,
            "a": { "$push": value.clone() },
            "b": { "$sum": value.clone() },
            "c": { "$addToSet": value.clone() },
            "d": { "$last": value },
        } }),
        reference().prop_map(|path| doc! { "$sortByCount": path }),
        name().prop_map(|name| doc! { "$count": name }),
        reference().prop_map(|path| doc! { "$replaceWith": { "a": path, "b": "$$ROOT" } }),
        reference().prop_map(|path| doc! { "$bucket": { "groupBy": path, "boundaries": [0, 1, 2], "default": "x" } }),
        (any_path(), any_path()).prop_map(|(local, foreign)| doc! {
            "$lookup": { "from": "others", "localField": local, "foreignField": foreign, "as": "c" },
        }),
        reference().prop_map(|path| doc! { "$lookup": {
            "from": "others",
            "let": { "x": path },
            "pipeline": [{ "$match": { "$expr": { "$eq": ["$a", "$$x"] } } }, { "$limit": 2 }],
            "as": "c",
        } }),
        (any_path(), reference()).prop_map(|(path, value)| doc! { "$unionWith": {
            "coll": "others",
            "pipeline": [{ "$set": { path: value } }],
        } }),
    ]
}

fn stages() -> impl Strategy<Value = Vec<Document>> {
    let facet = (
        prop::collection::vec(stage(), 0..3),
        prop::collection::vec(stage(), 0..3),
    );
    let facet = facet.prop_map(|(a, b)| doc! { "$facet": { "a": a, "b": b } });
    prop::collection::vec(prop_oneof![12 => stage(), 1 => facet], 0..5)
}

/// The documents that a query of these documents finds.
fn find(query: QueryPrefix, documents: &[RawDocumentBuf]) -> Vec<RawDocumentBuf> {
    let matches = |document: &&RawDocumentBuf| query.filter.matches(document).expect("an answer");
    let mut found: Vec<_> = documents.iter().filter(matches).cloned().collect();
    if let Some(sort) = query.sort {
        found.sort_by(|a, b| sort.compare(a, b));
    }
    let found = found.into_iter().skip(query.skip as usize);
    found
        .take(query.limit.unwrap_or(u64::MAX) as usize)
        .collect()
}

/// A random value in which the words of pipelines are names and texts.
fn words() -> impl Strategy<Value = Bson> {
    let word = || {
        prop::sample::select(vec![
            "$match",
            "$sort",
            "$skip",
            "$limit",
            "$project",
            "$set",
            "$addFields",
            "$unset",
            "$group",
            "$count",
            "$unwind",
            "$lookup",
            "$facet",
            "$replaceRoot",
            "$replaceWith",
            "$sample",
            "$sortByCount",
            "$bucket",
            "$out",
            "_id",
            "path",
            "size",
            "newRoot",
            "from",
            "let",
            "pipeline",
            "localField",
            "foreignField",
            "as",
            "groupBy",
            "boundaries",
            "default",
            "output",
            "preserveNullAndEmptyArrays",
            "includeArrayIndex",
            "$sum",
            "$push",
            "$first",
            "$literal",
            "$add",
            "$expr",
            "a",
            "a.b",
            "$a",
            "$a.b",
            "$$ROOT",
            "$$x",
            "x",
            "",
            "$",
        ])
    };
    let leaf = prop_oneof![
        3 => word().prop_map(Bson::from),
        2 => (-1..3_i32).prop_map(Bson::from),
        1 => value(),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let field = (word(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Bson::Array),
            prop::collection::vec(field, 0..4).prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Bson::Document(fields.collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_chunks_of_documents_have_no_effect(
        stages in stages(),
        documents in prop::collection::vec(document(), 0..9),
        others in prop::collection::vec(document(), 0..4),
        chunk in 1..5_usize,
    ) {
        let (documents, pipeline) = (raws(documents), parsed(&stages));
        let collections = Collections::from([("others", raws(others))]);
        let whole = run_in_chunks(pipeline.clone(), &documents, 100, &collections);
        prop_assert_eq!(run_in_chunks(pipeline, &documents, chunk, &collections), whole);
    }

    #[test]
    fn a_query_and_the_rest_are_the_whole_pipeline(
        stages in stages(),
        documents in prop::collection::vec(document(), 0..9),
    ) {
        let (documents, pipeline) = (raws(documents), parsed(&stages));
        let whole = run_in_chunks(pipeline.clone(), &documents, 4, &Collections::new());
        let (query, rest) = pipeline.split_query();
        let found = find(query, &documents);
        prop_assert_eq!(run_in_chunks(rest, &found, 4, &Collections::new()), whole);
    }

    #[test]
    fn a_sort_and_a_limit_are_the_first_of_the_sorted_documents(
        documents in prop::collection::vec(document(), 0..12),
        (path, skip, limit) in (any_path(), 0..4_i64, 1..6_i64),
    ) {
        let sort = doc! { path: -1, "a": 1 };
        let stages = [doc! { "$sort": sort.clone() }, doc! { "$skip": skip }, doc! { "$limit": limit }];
        let mut sorted = raws(documents);
        let results = run_in_chunks(parsed(&stages), &sorted, 3, &Collections::new());
        let sort = Sort::parse(&sort).expect("a sort");
        sorted.sort_by(|a, b| sort.compare(a, b));
        let expected: Vec<_> = sorted.into_iter().skip(skip as usize).take(limit as usize).collect();
        prop_assert_eq!(results, Ok(expected));
    }

    #[test]
    fn a_group_has_the_values_of_a_group_of_paths(
        values in prop::collection::vec((0..3_i32, number()), 0..12),
    ) {
        let documents = values.into_iter().map(|(key, value)| doc! { "key": key, "value": value });
        let documents = raws(documents.collect());
        let path = || "value".into();
        let group = Group {
            unwind: None,
            keys: vec![GroupKey { path: "key".into(), start_of: None }],
            accumulators: vec![
                Accumulator::Sum(path()),
                Accumulator::Avg(path()),
                Accumulator::Min(path()),
                Accumulator::Max(path()),
            ],
        };
        let mut grouping = group.begin().expect("a group");
        documents.iter().for_each(|document| grouping.add(document).expect("a document"));
        let rows: Vec<_> = grouping.into_rows().map(|row| row.expect("a row")).collect();
        let stages = [
            doc! { "$group": {
                "_id": { "0": "$key" },
                "0": { "$sum": "$value" },
                "1": { "$avg": "$value" },
                "2": { "$min": "$value" },
                "3": { "$max": "$value" },
            } },
            doc! { "$sort": { "_id": 1 } },
        ];
        let results = run_in_chunks(parsed(&stages), &documents, 4, &Collections::new());
        prop_assert_eq!(results, Ok(rows));
    }

    #[test]
    fn a_facet_has_the_results_of_each_pipeline(
        (a, b) in (prop::collection::vec(stage(), 0..3), prop::collection::vec(stage(), 0..3)),
        documents in prop::collection::vec(document(), 0..6),
        others in prop::collection::vec(document(), 0..4),
    ) {
        let documents = raws(documents);
        let collections = Collections::from([("others", raws(others))]);
        let run = |stages: &[Document]| run_in_chunks(parsed(stages), &documents, 2, &collections);
        let facet = run(&[doc! { "$facet": { "a": a.clone(), "b": b.clone() } }]).expect("a document");
        for (name, stages) in [("a", a), ("b", b)] {
            let results = facet[0].get_array(name).expect("an array");
            let results: Vec<RawBson> = results.into_iter().map(|value| value.expect("a value").into()).collect();
            let expected = run(&stages).expect("documents").into_iter().map(RawBson::Document);
            prop_assert_eq!(results, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn elements_that_are_unwound_and_pushed_are_the_array(elements in prop::collection::vec(small_nested(), 1..6)) {
        let stages = [
            doc! { "$unwind": "$a.b" },
            doc! { "$group": { "_id": "$c", "b": { "$push": "$a.b" } } },
        ];
        let documents = raws(vec![doc! { "a": { "b": elements.clone() }, "c": 1 }]);
        let results = run_in_chunks(parsed(&stages), &documents, 1, &Collections::new());
        prop_assert_eq!(results, Ok(raws(vec![doc! { "_id": 1, "b": elements }])));
    }

    #[test]
    fn a_value_is_at_the_path_where_it_was_put(document in document(), path in any_path(), value in small_nested()) {
        let document = raw(document);
        let value: RawBson = value.try_into().expect("valid BSON");
        let with = with_value(&document, &path, Some(value.as_raw_bson_ref())).expect("a document");
        let at = |document: &RawDocumentBuf| {
            let mut names: Vec<&str> = path.split('.').collect();
            let last = names.pop().expect("a name");
            let inner = names.into_iter().try_fold(document.clone(), |document, name| {
                path::get(&document, name)?.as_document().map(|inner| inner.to_owned())
            });
            path::get(&inner?, last).map(RawBson::from)
        };
        let found = at(&with).expect("a value");
        prop_assert!(order::compare(found.as_raw_bson_ref(), value.as_raw_bson_ref()).is_eq());
        prop_assert_eq!(at(&with_value(&with, &path, None).expect("a document")), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_request_is_parsed_or_refused_and_runs_without_harm(
        stages in prop::collection::vec(words(), 1..4),
        documents in prop::collection::vec(document(), 0..4),
    ) {
        let stages = stages.into_iter().filter_map(|stage| match stage {
            Bson::Document(stage) => Some(stage),
            _ => None,
        });
        let stages: Vec<Document> = stages.collect();
        let variables = Variables::parse(&doc! { "x": [1, { "a": 2 }] }).expect("variables");
        let documents = raws(documents);
        if let Ok(pipeline) = Pipeline::parse(&stages, &variables) {
            let _ = run_in_chunks(pipeline, &documents, 2, &Collections::new());
        }
        if let Ok(update) = UpdatePipeline::parse(&stages, &variables) {
            documents.iter().for_each(|document| drop(update.apply(document)));
        }
        // The first field of each document is a stage of its own.
        for stage in stages.iter().filter_map(|stage| stage.iter().next()) {
            if let Ok(pipeline) = parse(&[doc! { stage.0: stage.1.clone() }]) {
                let _ = run_in_chunks(pipeline, &documents, 2, &Collections::new());
            }
        }
    }
}
