use std::collections::BTreeMap;

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::*;
use crate::testing::raw;

mod errors;
mod kept;
mod lookups;
mod properties;
mod runs;
mod stages;
mod unions;
mod updates;

/// The collections that a `$lookup` or `$unionWith` can name.
type Collections = BTreeMap<&'static str, Vec<RawDocumentBuf>>;

fn parse(stages: &[Document]) -> Result<Pipeline, Error> {
    Pipeline::parse(stages, &Variables::default())
}

fn parsed(stages: &[Document]) -> Pipeline {
    parse(stages).unwrap_or_else(|error| panic!("{stages:?}: {error}"))
}

fn code(stages: &[Document]) -> i32 {
    let error = parse(stages).expect_err("no pipeline");
    error.code()
}

/// The documents that leave a pipeline, whose documents are read in chunks.
fn run_in_chunks(
    pipeline: Pipeline,
    documents: &[RawDocumentBuf],
    chunk: usize,
    collections: &Collections,
) -> Result<Vec<RawDocumentBuf>, Error> {
    let mut chunks = documents.chunks(chunk);
    let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    let mut results = Vec::new();
    let mut union = Vec::new().into_iter();
    loop {
        match run.step()? {
            PipelineStep::Read => match chunks.next() {
                Some(chunk) => run.push(chunk.to_vec()),
                None => run.end(),
            },
            PipelineStep::Lookup(request) => run.answer(answer(request, collections)?),
            PipelineStep::Union(request) => {
                union = answer(request, collections)?.into_iter();
                run.answer(union.by_ref().take(chunk).collect());
            }
            PipelineStep::MoreOfUnion => run.answer(union.by_ref().take(chunk).collect()),
            PipelineStep::Documents(documents) => results.extend(documents),
            PipelineStep::Done => return Ok(results),
        }
    }
}

fn answer(request: SourceRequest, collections: &Collections) -> Result<Vec<RawDocumentBuf>, Error> {
    let documents = collections.get(request.from.as_str());
    let documents = documents.map_or(&[][..], Vec::as_slice);
    run_in_chunks(request.pipeline, documents, 2, collections)
}

fn raws(documents: Vec<Document>) -> Vec<RawDocumentBuf> {
    documents.into_iter().map(raw).collect()
}

fn plain(documents: Vec<RawDocumentBuf>) -> Vec<Document> {
    let document = |document: RawDocumentBuf| Document::try_from(&document).expect("valid BSON");
    documents.into_iter().map(document).collect()
}

fn aggregate(stages: &[Document], documents: Vec<Document>) -> Vec<Document> {
    let results = run_in_chunks(parsed(stages), &raws(documents), 3, &Collections::new());
    plain(results.unwrap_or_else(|error| panic!("{stages:?}: {error}")))
}

/// The documents with one integer field.
fn numbered(name: &str, numbers: impl IntoIterator<Item = i32>) -> Vec<Document> {
    numbers
        .into_iter()
        .map(|number| doc! { name: number })
        .collect()
}

fn integers(documents: &[Document], name: &str) -> Vec<i32> {
    let integer = |document: &Document| document.get_i32(name).expect("an integer");
    documents.iter().map(integer).collect()
}

#[test]
fn the_first_stages_that_are_one_query_are_split_off() {
    let (matches, more) = (doc! { "$match": { "a": 1 } }, doc! { "$match": { "b": 2 } });
    let (sort, other_sort) = (doc! { "$sort": { "a": 1 } }, doc! { "$sort": { "b": 1 } });
    let skip = |skip: i32| doc! { "$skip": skip };
    let limit = |limit: i32| doc! { "$limit": limit };
    let unset = doc! { "$unset": "a" };
    let query = |filter: Document, sort: Option<Document>, skip: u64, limit: Option<u64>| {
        let parsed = |sort| Sort::parse(&sort).expect("a sort");
        QueryPrefix {
            filter: Filter::parse(&filter).expect("a filter"),
            sort: sort.map(parsed),
            skip,
            limit,
        }
    };
    let by_a = || Some(doc! { "a": 1 });
    // The stages, the query, and the number of the stages in it.
    let cases = [
        (vec![], query(doc! {}, None, 0, None), 0),
        (
            vec![unset.clone(), matches.clone()],
            query(doc! {}, None, 0, None),
            0,
        ),
        (
            vec![
                matches.clone(),
                sort.clone(),
                more.clone(),
                skip(1),
                limit(2),
            ],
            query(doc! { "a": 1, "b": 2 }, by_a(), 1, Some(2)),
            5,
        ),
        (
            vec![sort.clone(), other_sort.clone()],
            query(doc! {}, by_a(), 0, None),
            1,
        ),
        (
            vec![skip(1), matches.clone()],
            query(doc! {}, None, 1, None),
            1,
        ),
        (
            vec![limit(1), matches.clone()],
            query(doc! {}, None, 0, Some(1)),
            1,
        ),
        (
            vec![limit(1), sort.clone()],
            query(doc! {}, None, 0, Some(1)),
            1,
        ),
        (
            vec![limit(9), skip(2), limit(5), skip(1), limit(8), unset],
            query(doc! {}, None, 3, Some(4)),
            5,
        ),
        // No documents are no limit of a query.
        (vec![limit(2), skip(2)], query(doc! {}, None, 0, Some(2)), 1),
    ];
    for (stages, expected, split) in cases {
        let (query, rest) = parsed(&stages).split_query();
        assert_eq!(query, expected, "{stages:?}");
        assert_eq!(rest, parsed(&stages[split..]), "{stages:?}");
        assert_eq!(rest.is_empty(), split == stages.len());
    }
}

#[test]
fn stages_have_the_variables_of_the_caller() {
    let variables = Variables::parse(&doc! { "least": 2, "name": "x" }).expect("variables");
    let stages = [
        doc! { "$match": { "$expr": { "$gte": ["$a", "$$least"] } } },
        doc! { "$set": { "b": "$$name" } },
        doc! { "$group": { "_id": "$$name", "all": { "$push": { "a": "$a", "least": "$$least" } } } },
        doc! { "$project": { "all": 1, "c": "$$least" } },
        doc! { "$replaceWith": { "is": ["$c", "$$least"], "all": "$all" } },
        doc! { "$facet": { "one": [{ "$set": { "d": "$$name" } }] } },
    ];
    let pipeline = Pipeline::parse(&stages, &variables).expect("a pipeline");
    let documents = raws(numbered("a", 1..4));
    let results = run_in_chunks(pipeline, &documents, 1, &Collections::new());
    assert_eq!(
        plain(results.expect("documents")),
        [
            doc! { "one": [{ "is": [2, 2], "all": [{ "a": 2, "least": 2 }, { "a": 3, "least": 2 }], "d": "x" }] }
        ]
    );
    assert_eq!(parse(&stages).expect_err("no variables").code(), 17_276);
}

#[test]
fn all_stages_together_have_a_bounded_number_of_bytes_of_variables() {
    let mut variables = Variables::default();
    let text = Bson::String("x".repeat(1 << 20));
    variables
        .bind("text", Some(text.try_into().expect("valid BSON")))
        .expect("a name");
    let stages = vec![doc! { "$set": { "a": "$$text" } }; 65];
    let inner = doc! { "$lookup": { "from": "b", "pipeline": stages[25..].to_vec(), "as": "c" } };
    let facet = doc! { "$facet": { "one": stages.clone() } };
    assert!(Pipeline::parse(&stages[1..], &variables).is_ok());
    for stages in [stages, vec![inner.clone(), inner], vec![facet]] {
        let error = Pipeline::parse(&stages, &variables).expect_err("too much");
        assert_eq!(error.code(), 10_334);
    }
}
