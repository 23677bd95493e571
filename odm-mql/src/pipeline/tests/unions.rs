//! `$unionWith`.

use bson::{Bson, Document, doc};

use super::{
    Collections, Pipeline, PipelineStep, SourceRequest, code, integers, numbered, parse, parsed,
    plain, raws, run_in_chunks,
};

/// The values of a field in the documents that leave a pipeline, which are the same in portions of any size.
fn united(stages: &[Document], documents: impl IntoIterator<Item = i32>, field: &str) -> Vec<i32> {
    let collections = Collections::from([
        ("many", raws(numbered("a", 100..1_000))),
        ("one", raws(numbered("a", [-1]))),
    ]);
    let documents = raws(numbered("a", documents));
    let results = [1, 7, 2_000].map(|chunk| {
        let results = run_in_chunks(parsed(stages), &documents, chunk, &collections);
        let results = results.unwrap_or_else(|error| panic!("{stages:?}: {error}"));
        integers(&plain(results), field)
    });
    assert!(results.iter().all(|other| *other == results[0]));
    results[0].clone()
}

#[test]
fn the_documents_of_a_collection_follow_those_of_the_stage_before() {
    let all: Vec<i32> = (0..3).chain(100..1_000).chain([-1]).collect();
    let stages = [
        doc! { "$unionWith": "many" },
        doc! { "$unionWith": { "coll": "one", "pipeline": null } },
    ];
    assert_eq!(united(&stages, 0..3, "a"), all);
    assert_eq!(
        united(&[doc! { "$unionWith": "none" }], 0..3, "a"),
        [0, 1, 2]
    );
    assert_eq!(united(&[doc! { "$unionWith": "one" }], [], "a"), [-1]);
}

#[test]
fn the_documents_of_a_union_pass_its_pipeline_and_then_the_stages_after_it() {
    let some = vec![
        doc! { "$match": { "a": { "$lt": 103 } } },
        doc! { "$unionWith": { "coll": "one" } },
    ];
    let stages = [
        doc! { "$skip": 1 },
        doc! { "$unionWith": { "coll": "many", "pipeline": some } },
        doc! { "$set": { "a": { "$add": ["$a", 1] } } },
    ];
    assert_eq!(united(&stages, 0..3, "a"), [2, 3, 101, 102, 103, 0]);
    let count = [
        doc! { "$unionWith": "many" },
        doc! { "$unionWith": "many" },
        doc! { "$group": { "_id": null, "n": { "$sum": 1 } } },
    ];
    assert_eq!(united(&count, 0..3, "n"), [1_803]);
}

#[test]
fn unions_are_in_facets_and_joins() {
    let union = doc! { "$unionWith": { "coll": "many", "pipeline": [{ "$limit": 300 }] } };
    let stages = [
        doc! { "$facet": {
            // The first one ends within its union.
            "x": [union.clone(), { "$limit": 4 }, { "$count": "n" }],
            "y": [union, { "$count": "n" }],
        } },
        doc! { "$set": { "n": { "$sum": ["$x.n", "$y.n"] } } },
        doc! { "$replaceWith": { "n": { "$add": [{ "$first": "$x.n" }, { "$first": "$y.n" }] } } },
    ];
    assert_eq!(united(&stages, 0..3, "n"), [307]);
    let pipeline = vec![
        doc! { "$unionWith": { "coll": "many", "pipeline": [{ "$match": { "$expr": { "$eq": ["$a", "$$x"] } } }] } },
    ];
    let join = doc! { "$lookup": { "from": "one", "let": { "x": { "$add": ["$a", 100] } }, "pipeline": pipeline, "as": "all" } };
    let stages = [
        join,
        doc! { "$unwind": "$all" },
        doc! { "$replaceWith": "$all" },
    ];
    assert_eq!(united(&stages, [5, 6], "a"), [-1, 105, -1, 106]);
    assert_eq!(parsed(&stages).sources(), ["one", "many"]);
    let union = doc! { "$unionWith": { "coll": "b", "pipeline": [{ "$unionWith": "c" }] } };
    assert_eq!(parsed(&[union]).sources(), ["b", "c"]);
}

#[test]
fn a_limit_comes_before_a_union_and_ends_it() {
    let stages = [doc! { "$unionWith": "b" }, doc! { "$limit": 3 }];
    let mut run = parsed(&stages).begin(Pipeline::MEMORY_LIMIT);
    run.push(raws(numbered("a", 0..2)));
    assert_eq!(
        run.step(),
        Ok(PipelineStep::Documents(raws(numbered("a", 0..2))))
    );
    assert_eq!(run.step(), Ok(PipelineStep::Read));
    run.end();
    let request = PipelineStep::Union(SourceRequest {
        from: "b".to_owned(),
        pipeline: Pipeline::default(),
    });
    // It is made again until it is answered.
    for _ in 0..2 {
        assert_eq!(run.step().as_ref(), Ok(&request));
    }
    run.answer(raws(numbered("a", 5..9)));
    assert_eq!(
        run.step(),
        Ok(PipelineStep::Documents(raws(numbered("a", [5]))))
    );
    assert_eq!(run.step(), Ok(PipelineStep::Done));
}

#[test]
fn a_union_asks_for_more_until_there_are_none() {
    let mut run = parsed(&[doc! { "$unionWith": "b" }]).begin(Pipeline::MEMORY_LIMIT);
    run.end();
    assert!(matches!(run.step(), Ok(PipelineStep::Union(_))));
    for number in 0..3 {
        run.answer(raws(numbered("a", [number])));
        let documents = raws(numbered("a", [number]));
        assert_eq!(run.step(), Ok(PipelineStep::Documents(documents)));
        assert_eq!(run.step(), Ok(PipelineStep::MoreOfUnion));
    }
    run.answer(Vec::new());
    assert_eq!(run.step(), Ok(PipelineStep::Done));
}

#[test]
fn the_codes_of_errors_in_unions_are_those_of_mongodb() {
    for (union, expected) in [
        (Bson::from(1), 9),
        (Bson::Null, 9),
        (doc! {}.into(), 9),
        (doc! { "coll": null }.into(), 9),
        (doc! { "pipeline": [] }.into(), 9),
        (doc! { "coll": 1 }.into(), 14),
        (doc! { "coll": "" }.into(), 73),
        (Bson::from(""), 73),
        (doc! { "coll": "b", "pipeline": 1 }.into(), 14),
        (doc! { "coll": "b", "pipeline": [1] }.into(), 14),
        (doc! { "coll": "b", "x": 1 }.into(), 40_415),
        (
            doc! { "coll": "b", "pipeline": [{ "$merge": {} }] }.into(),
            40_324,
        ),
        (
            doc! { "coll": "b", "pipeline": [{ "$skip": -1 }] }.into(),
            5_107_200,
        ),
    ] {
        assert_eq!(
            code(&[doc! { "$unionWith": union.clone() }]),
            expected,
            "{union}"
        );
    }
    let facet = doc! { "$unionWith": { "coll": "b", "pipeline": [{ "$facet": { "a": [] } }] } };
    assert!(parse(std::slice::from_ref(&facet)).is_ok());
    assert_eq!(code(&[doc! { "$facet": { "a": [facet] } }]), 40_600);
}
