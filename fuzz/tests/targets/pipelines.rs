//! Pipelines, as pure functions.

use fuzz::{Choices, check};
use odm::{
    bson::{Document, RawDocumentBuf},
    mql::{Error, Pipeline, PipelineStep, UpdatePipeline, Variables},
};

/// Runs a pipeline on documents that come in chunks. Each other collection has the same documents.
fn run(
    pipeline: Pipeline,
    documents: &[RawDocumentBuf],
    chunk: usize,
) -> Result<Vec<RawDocumentBuf>, Error> {
    let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    let (mut passed, mut chunks) = (Vec::new(), documents.chunks(chunk));
    loop {
        match run.step()? {
            PipelineStep::Read => match chunks.next() {
                Some(chunk) => run.push(chunk.to_vec()),
                None => run.end(),
            },
            PipelineStep::Lookup(request) | PipelineStep::Union(request) => {
                run.answer(self::run(request.pipeline, documents, chunk)?);
            }
            PipelineStep::MoreOfUnion => run.answer(Vec::new()),
            PipelineStep::Documents(some) => passed.extend(some),
            PipelineStep::Done => return Ok(passed),
        }
    }
}

/// Runs the query with which a pipeline begins as a collection does, and the rest.
fn run_split(
    pipeline: Pipeline,
    documents: &[RawDocumentBuf],
) -> Result<Vec<RawDocumentBuf>, Error> {
    let (query, rest) = pipeline.split_query();
    let mut found = Vec::new();
    for document in documents {
        if query.filter.matches(document)? {
            found.push(document.clone());
        }
    }
    if let Some(sort) = &query.sort {
        found.sort_by(|one, other| sort.compare(one, other));
    }
    let limit = query.limit.unwrap_or(u64::MAX);
    let found: Vec<_> = found
        .into_iter()
        .skip(usize::try_from(query.skip).unwrap_or(usize::MAX))
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
        .collect();
    run(rest, &found, 1)
}

fn is_random(stages: &[Document]) -> bool {
    format!("{stages:?}").contains("$sample")
}

/// The pipelines of joins and unions read the documents that the query would leave out.
fn joins(stages: &[Document]) -> bool {
    let stages = format!("{stages:?}");
    stages.contains("$lookup") || stages.contains("$unionWith")
}

#[test]
fn a_pipeline_passes_the_same_documents_in_chunks_of_any_size_and_after_its_query() {
    check(400, |bytes| {
        let mut choices = Choices::new(bytes);
        let stages = choices.pipeline(2);
        let documents: Vec<_> = (0..5).map(|id| choices.stored(id)).collect();
        let Ok(pipeline) = Pipeline::parse(&stages, &Variables::default()) else {
            return;
        };
        let whole = run(pipeline.clone(), &documents, 5);
        for document in whole.iter().flatten() {
            Document::try_from(document).expect("a result is well-formed");
        }
        if is_random(&stages) {
            return;
        }
        // A run that needs fewer documents may end before the error of another one.
        let mut others = vec![run(pipeline.clone(), &documents, 1)];
        if !joins(&stages) {
            others.push(run_split(pipeline, &documents));
        }
        for other in others {
            if let (Ok(whole), Ok(other)) = (&whole, other) {
                assert_eq!(*whole, other, "{stages:?}");
            }
        }
    });
}

#[test]
fn an_update_by_stages_makes_well_formed_documents() {
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let stages = choices.pipeline(1);
        let Ok(update) = UpdatePipeline::parse(&stages, &Variables::default()) else {
            return;
        };
        for id in 0..3 {
            if let Ok(changed) = update.apply(&choices.stored(id)) {
                Document::try_from(&changed).expect("a result is well-formed");
            }
        }
    });
}
