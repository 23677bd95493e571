//! How a run is driven.

use bson::doc;

use super::{Pipeline, PipelineRun, PipelineStep, integers, numbered, parsed, plain, raws};

fn is_send<T: Send + 'static>(_: &T) {}

#[test]
fn documents_leave_as_soon_as_the_stages_allow() {
    let mut run = parsed(&[doc! { "$match": { "a": { "$gt": 1 } } }]).begin(Pipeline::MEMORY_LIMIT);
    is_send(&run);
    assert_eq!(run.step(), Ok(PipelineStep::Read));
    run.push(raws(numbered("a", [1, 2])));
    assert_eq!(
        run.step(),
        Ok(PipelineStep::Documents(raws(numbered("a", [2]))))
    );
    assert_eq!(run.step(), Ok(PipelineStep::Read));
    run.end();
    run.push(raws(numbered("a", [3])));
    assert_eq!(run.step(), Ok(PipelineStep::Done));
    assert_eq!(run.step(), Ok(PipelineStep::Done));
}

#[test]
fn a_pipeline_without_stages_passes_all_documents() {
    let mut run = Pipeline::default().begin(Pipeline::MEMORY_LIMIT);
    run.push(raws(numbered("a", [1])));
    assert_eq!(
        run.step(),
        Ok(PipelineStep::Documents(raws(numbered("a", [1]))))
    );
    run.end();
    assert_eq!(run.step(), Ok(PipelineStep::Done));
}

/// How many documents a run reads, one by one, and those that leave it.
fn read(mut run: PipelineRun) -> (i32, Vec<bson::Document>) {
    let (mut count, mut results) = (0, Vec::new());
    loop {
        match run.step().expect("a step") {
            PipelineStep::Read if count == 1_000 => run.end(),
            PipelineStep::Read => {
                run.push(raws(numbered("a", [count])));
                count += 1;
            }
            PipelineStep::Documents(documents) => results.extend(plain(documents)),
            PipelineStep::Lookup(_) | PipelineStep::Union(_) | PipelineStep::MoreOfUnion => {
                run.answer(Vec::new())
            }
            PipelineStep::Done => return (count, results),
        }
    }
}

#[test]
fn a_limit_ends_the_reading() {
    let lookup =
        doc! { "$lookup": { "from": "b", "localField": "a", "foreignField": "b", "as": "c" } };
    let (limit, skip) = (doc! { "$limit": 3 }, doc! { "$skip": 2 });
    for (stages, expected) in [
        (vec![limit.clone()], 3),
        (
            vec![
                doc! { "$match": { "a": { "$mod": [2, 0] } } },
                limit.clone(),
            ],
            5,
        ),
        (vec![skip, lookup, limit.clone(), doc! { "$count": "n" }], 5),
        (vec![limit.clone(), doc! { "$sort": { "a": -1 } }], 3),
        (
            vec![
                doc! { "$set": { "b": [1, 2] } },
                doc! { "$unwind": "$b" },
                limit.clone(),
            ],
            2,
        ),
        (
            vec![doc! { "$facet": { "x": [limit.clone()], "y": [{ "$limit": 2 }] } }],
            3,
        ),
        (
            vec![doc! { "$facet": { "x": [limit.clone()], "y": [{ "$count": "n" }] } }],
            1_000,
        ),
        (vec![doc! { "$sort": { "a": -1 } }, limit], 1_000),
    ] {
        let (count, results) = read(parsed(&stages).begin(Pipeline::MEMORY_LIMIT));
        assert_eq!(count, expected, "{stages:?}");
        assert!(!results.is_empty());
    }
}

#[test]
fn many_documents_of_one_leave_in_portions() {
    let elements: Vec<i32> = (0..10_000).collect();
    let mut run = parsed(&[doc! { "$unwind": "$a" }]).begin(Pipeline::MEMORY_LIMIT);
    run.push(raws(vec![doc! { "a": elements.clone() }]));
    run.end();
    let (mut results, mut portions) = (Vec::new(), 0);
    while let PipelineStep::Documents(documents) = run.step().expect("a step") {
        assert!(documents.len() <= 256);
        portions += 1;
        results.extend(plain(documents));
    }
    assert_eq!(integers(&results, "a"), elements);
    assert_eq!(portions, 10_000_usize.div_ceil(256));
}

#[test]
fn all_requests_for_documents_are_made_before_more_are_read() {
    let lookup =
        doc! { "$lookup": { "from": "b", "localField": "a", "foreignField": "b", "as": "c" } };
    let facet = doc! { "$facet": { "x": [lookup.clone()], "y": [{ "$count": "n" }] } };
    for stage in [lookup, facet] {
        let mut run = parsed(&[stage]).begin(Pipeline::MEMORY_LIMIT);
        run.push(raws(numbered("a", 0..300)));
        let mut requests = 0;
        loop {
            match run.step().expect("a step") {
                PipelineStep::Lookup(_) => {
                    requests += 1;
                    run.answer(Vec::new());
                }
                PipelineStep::Documents(_) => {}
                PipelineStep::Read
                | PipelineStep::Union(_)
                | PipelineStep::MoreOfUnion
                | PipelineStep::Done => break,
            }
        }
        // Of 32, 64, 128 and 76 documents.
        assert_eq!(requests, 4);
    }
}

#[test]
fn a_join_with_large_answers_takes_fewer_documents() {
    let lookup =
        doc! { "$lookup": { "from": "b", "localField": "a", "foreignField": "a", "as": "c" } };
    let mut run = parsed(&[lookup]).begin(Pipeline::MEMORY_LIMIT);
    run.push(raws(numbered("a", 0..100)));
    let large = raws(vec![doc! { "a": 1, "text": "x".repeat(5 << 20) }]);
    let mut joined = Vec::new();
    while let Ok(step @ (PipelineStep::Lookup(_) | PipelineStep::Documents(_))) = run.step() {
        match step {
            PipelineStep::Lookup(_) => {
                joined.push(0);
                run.answer(large.clone());
            }
            PipelineStep::Documents(documents) => {
                *joined.last_mut().expect("a request") += documents.len()
            }
            PipelineStep::Read
            | PipelineStep::Union(_)
            | PipelineStep::MoreOfUnion
            | PipelineStep::Done => {}
        }
    }
    assert_eq!(joined[..7], [32, 16, 8, 4, 2, 1, 1]);
}

#[test]
fn a_limit_comes_before_a_request() {
    let lookup =
        doc! { "$lookup": { "from": "b", "localField": "a", "foreignField": "b", "as": "c" } };
    let facet = doc! { "$facet": { "x": [lookup.clone(), { "$limit": 2 }] } };
    let limit = doc! { "$limit": 32 };
    for (stages, expected) in [
        (vec![lookup.clone(), limit.clone()], 1),
        (vec![lookup.clone(), lookup.clone(), limit.clone()], 2),
        (
            vec![lookup.clone(), lookup, limit, doc! { "$sort": { "a": 1 } }],
            2,
        ),
        (vec![facet, doc! { "$unwind": "$x" }], 1),
    ] {
        let mut run = parsed(&stages).begin(Pipeline::MEMORY_LIMIT);
        run.push(raws(numbered("a", 0..300)));
        let (mut requests, mut results) = (0, 0);
        loop {
            match run.step().expect("a step") {
                PipelineStep::Lookup(_) => {
                    requests += 1;
                    run.answer(Vec::new());
                }
                PipelineStep::Documents(documents) => results += documents.len(),
                PipelineStep::Read | PipelineStep::Union(_) | PipelineStep::MoreOfUnion => {
                    panic!("it needs no more documents")
                }
                PipelineStep::Done => break,
            }
        }
        assert_eq!(requests, expected, "{stages:?}");
        assert!(results > 0);
    }
}
