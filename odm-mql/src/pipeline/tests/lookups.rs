//! `$lookup`.

use bson::{Bson, Document, Regex, doc, raw::CString};
use proptest::prelude::*;

use super::{
    Collections, Pipeline, PipelineStep, SourceRequest, parsed, plain, raws, run_in_chunks,
};
use crate::{
    Filter, Test, path,
    testing::{document, path as any_path, raw},
};

fn lookup(
    stages: &[Document],
    locals: Vec<Document>,
    foreign: &[(&'static str, Vec<Document>)],
) -> Vec<Document> {
    let collections = foreign.iter().cloned();
    let collections: Collections = collections.map(|(name, all)| (name, raws(all))).collect();
    let results = run_in_chunks(parsed(stages), &raws(locals), 2, &collections);
    plain(results.unwrap_or_else(|error| panic!("{stages:?}: {error}")))
}

fn ids(results: &[Document]) -> Vec<Vec<i32>> {
    let ids = |result: &Document| {
        let found = result.get_array("found").expect("an array").iter();
        let id = |found: &Bson| {
            found
                .as_document()
                .expect("a document")
                .get_i32("_id")
                .expect("an id")
        };
        found.map(id).collect()
    };
    results.iter().map(ids).collect()
}

fn regex(pattern: &str) -> Bson {
    let cstring = |text: &str| CString::try_from(text).expect("without NUL");
    Bson::RegularExpression(Regex {
        pattern: cstring(pattern),
        options: cstring(""),
    })
}

fn join(local: &str, foreign: &str) -> Document {
    doc! { "$lookup": { "from": "others", "localField": local, "foreignField": foreign, "as": "found" } }
}

/// The page of `$lookup`: "Perform a Single Equality Join".
#[test]
fn equal_fields_join_documents_and_a_missing_one_equals_null() {
    let orders = vec![
        doc! { "_id": 1, "item": "almonds", "price": 12 },
        doc! { "_id": 2, "item": "pecans", "price": 20 },
        doc! { "_id": 3 },
    ];
    let inventory = vec![
        doc! { "_id": 1, "sku": "almonds", "instock": 120 },
        doc! { "_id": 2, "sku": "bread", "instock": 80 },
        doc! { "_id": 4, "sku": "pecans", "instock": 70 },
        doc! { "_id": 5, "sku": null, "description": "Incomplete" },
        doc! { "_id": 6 },
    ];
    let stage = doc! {
        "$lookup": { "from": "inventory", "localField": "item", "foreignField": "sku", "as": "inventory_docs" },
    };
    let results = lookup(&[stage], orders, &[("inventory", inventory)]);
    assert_eq!(
        results,
        [
            doc! { "_id": 1, "item": "almonds", "price": 12, "inventory_docs": [{ "_id": 1, "sku": "almonds", "instock": 120 }] },
            doc! { "_id": 2, "item": "pecans", "price": 20, "inventory_docs": [{ "_id": 4, "sku": "pecans", "instock": 70 }] },
            doc! { "_id": 3, "inventory_docs": [{ "_id": 5, "sku": null, "description": "Incomplete" }, { "_id": 6 }] },
        ]
    );
}

/// The page of `$lookup`: "Use `$lookup` with an Array", and more arrays.
#[test]
fn arrays_join_by_their_elements() {
    let others = vec![
        doc! { "_id": 0, "x": 1 },
        doc! { "_id": 1, "x": [1, 2] },
        doc! { "_id": 2, "x": [[1, 2], 3] },
        doc! { "_id": 3, "x": null },
        doc! { "_id": 4 },
        doc! { "_id": 5, "x": [] },
        doc! { "_id": 6, "x": 2.0 },
        doc! { "_id": 7, "x": { "y": 1 } },
        doc! { "_id": 8, "x": "ab" },
        doc! { "_id": 9, "x": regex("^a") },
    ];
    for (local, expected) in [
        (doc! { "a": 1 }, vec![0, 1]),
        (doc! { "a": [1, 2, 1] }, vec![0, 1, 6]),
        (doc! { "a": [[1, 2]] }, vec![1, 2]),
        (doc! { "a": [] }, vec![3, 4]),
        (doc! { "a": [[]] }, vec![5]),
        (doc! { "a": [null, 3] }, vec![2, 3, 4]),
        (doc! { "b": 1 }, vec![3, 4]),
        (doc! { "a": { "y": 1.0 } }, vec![7]),
        (doc! { "a": regex("^a") }, vec![9]),
    ] {
        let results = lookup(
            &[join("a", "x")],
            vec![local.clone()],
            &[("others", others.clone())],
        );
        assert_eq!(ids(&results), [expected], "{local}");
    }
}

#[test]
fn a_path_of_a_local_field_leads_into_documents_of_arrays_and_to_positions() {
    let others = vec![
        doc! { "_id": 1, "x": 1 },
        doc! { "_id": 2, "x": 2 },
        doc! { "_id": 3 },
    ];
    for (local, path, expected) in [
        (doc! { "a": { "b": 1 } }, "a.b", vec![1]),
        (
            doc! { "a": [{ "b": 1 }, { "b": [2] }, { "c": 3 }] },
            "a.b",
            vec![1, 2],
        ),
        (doc! { "a": [{ "c": 1 }, 4] }, "a.b", vec![3]),
        (doc! { "a": [[{ "b": 1 }]] }, "a.b", vec![3]),
        (doc! { "a": [{ "b": 1 }, { "b": 2 }] }, "a.1.b", vec![2]),
        (doc! { "a": [[1, 2], 1] }, "a.0", vec![1, 2]),
        (doc! { "a": [[7, { "b": 2 }]] }, "a.0.1.b", vec![2]),
        (doc! { "a": { "0": 1 } }, "a.0", vec![1]),
        (doc! { "a": [{ "0": 1 }] }, "a.0", vec![]),
        (doc! { "a": 1 }, "a.b", vec![3]),
    ] {
        let results = lookup(
            &[join(path, "x")],
            vec![local.clone()],
            &[("others", others.clone())],
        );
        assert_eq!(ids(&results), [expected], "{path} of {local}");
    }
}

#[test]
fn the_result_is_at_a_path_through_documents() {
    let others = vec![doc! { "_id": 1 }];
    let found = |to: &str, local: Document| {
        let stage = doc! { "$lookup": { "from": "others", "localField": "x", "foreignField": "_id", "as": to } };
        lookup(&[stage], vec![local], &[("others", others.clone())]).remove(0)
    };
    let one = || doc! { "_id": 1 };
    for (to, local, expected) in [
        ("x", doc! { "x": 1, "y": 2 }, doc! { "x": [one()], "y": 2 }),
        (
            "a.b",
            doc! { "x": 1 },
            doc! { "x": 1, "a": { "b": [one()] } },
        ),
        (
            "a.b",
            doc! { "a": { "c": 2 }, "x": 1 },
            doc! { "a": { "c": 2, "b": [one()] }, "x": 1 },
        ),
        (
            "a.b",
            doc! { "a": [{ "b": 3 }], "x": 1 },
            doc! { "a": { "b": [one()] }, "x": 1 },
        ),
    ] {
        assert_eq!(found(to, local), expected, "{to}");
    }
}

/// The page of `$lookup`: "Perform Multiple Joins and a Correlated Subquery".
#[test]
fn a_pipeline_has_the_values_of_each_document_in_its_variables() {
    let orders = vec![
        doc! { "_id": 1, "item": "almonds", "ordered": 2 },
        doc! { "_id": 2, "item": "pecans", "ordered": 1 },
        doc! { "_id": 3, "item": "cookies", "ordered": 60 },
    ];
    let warehouses = vec![
        doc! { "_id": 1, "stock_item": "almonds", "warehouse": "A", "instock": 120 },
        doc! { "_id": 2, "stock_item": "pecans", "warehouse": "A", "instock": 80 },
        doc! { "_id": 3, "stock_item": "almonds", "warehouse": "B", "instock": 60 },
        doc! { "_id": 4, "stock_item": "cookies", "warehouse": "B", "instock": 40 },
        doc! { "_id": 5, "stock_item": "cookies", "warehouse": "A", "instock": 80 },
    ];
    let stage = doc! { "$lookup": {
        "from": "warehouses",
        "let": { "order_item": "$item", "order_qty": "$ordered" },
        "pipeline": [
            { "$match": { "$expr": { "$and": [
                { "$eq": ["$stock_item", "$$order_item"] },
                { "$gte": ["$instock", "$$order_qty"] },
            ] } } },
            { "$project": { "stock_item": 0, "_id": 0 } },
        ],
        "as": "stock",
    } };
    let results = lookup(&[stage], orders, &[("warehouses", warehouses)]);
    let stock: Vec<_> = results
        .iter()
        .map(|order| order.get_array("stock").expect("an array"))
        .collect();
    let of = |warehouse: &str, instock: i32| {
        Bson::from(doc! { "warehouse": warehouse, "instock": instock })
    };
    assert_eq!(
        stock,
        [
            &vec![of("A", 120), of("B", 60)],
            &vec![of("A", 80)],
            &vec![of("A", 80)]
        ]
    );
}

/// The page of `$lookup`: "Perform a Concise Correlated Subquery".
#[test]
fn equal_fields_and_a_pipeline_join_together() {
    let orders = vec![
        doc! { "_id": 1, "item": "filet", "restaurant_name": "American Steak House" },
        doc! { "_id": 2, "item": "cheese pizza", "restaurant_name": "Honest John Pizza", "drink": "lemonade" },
        doc! { "_id": 3, "item": "cheese pizza", "restaurant_name": "Honest John Pizza", "drink": "soda" },
    ];
    let restaurants = vec![
        doc! { "_id": 1, "name": "American Steak House", "beverages": ["beer", "wine"] },
        doc! { "_id": 2, "name": "Honest John Pizza", "beverages": ["soda"] },
    ];
    let stage = doc! { "$lookup": {
        "from": "restaurants",
        "localField": "restaurant_name",
        "foreignField": "name",
        "let": { "orders_drink": "$drink" },
        "pipeline": [{ "$match": { "$expr": { "$in": ["$$orders_drink", "$beverages"] } } }],
        "as": "found",
    } };
    let results = lookup(&[stage], orders, &[("restaurants", restaurants)]);
    assert_eq!(ids(&results), [vec![], vec![], vec![2]]);
}

/// The page of `$lookup`: "Perform an Uncorrelated Subquery".
#[test]
fn a_pipeline_without_variables_is_asked_for_once() {
    let stage = doc! { "$lookup": {
        "from": "holidays",
        "pipeline": [{ "$match": { "year": 2018 } }, { "$replaceWith": { "name": "$name" } }],
        "as": "holidays",
    } };
    let mut run = parsed(&[stage]).begin(Pipeline::MEMORY_LIMIT);
    let (mut requests, mut results) = (0, Vec::new());
    let mut chunks = vec![
        raws(vec![doc! { "_id": 3 }]),
        raws(vec![doc! { "_id": 2 }, doc! { "_id": 1 }]),
    ];
    loop {
        match run.step().expect("a step") {
            PipelineStep::Read => match chunks.pop() {
                Some(chunk) => run.push(chunk),
                None => run.end(),
            },
            PipelineStep::Lookup(request) => {
                requests += 1;
                assert_eq!(request.from, "holidays");
                // It is made again until it is answered.
                assert_eq!(run.step(), Ok(PipelineStep::Lookup(request)));
                run.answer(raws(vec![doc! { "name": "New Years" }]));
            }
            PipelineStep::Union(_) | PipelineStep::MoreOfUnion => unreachable!("there is no union"),
            PipelineStep::Documents(documents) => results.extend(plain(documents)),
            PipelineStep::Done => break,
        }
    }
    assert_eq!(requests, 1);
    let holidays = || vec![doc! { "name": "New Years" }];
    let expected = [2, 1, 3].map(|id| doc! { "_id": id, "holidays": holidays() });
    assert_eq!(results, expected);
}

#[test]
fn documents_of_one_chunk_join_by_one_request() {
    let mut run = parsed(&[join("a", "b")]).begin(Pipeline::MEMORY_LIMIT);
    run.push(raws(vec![doc! { "a": 2 }, doc! { "a": [1, 2.0] }, doc! {}]));
    let PipelineStep::Lookup(SourceRequest { from, pipeline }) = run.step().expect("a step") else {
        panic!("a request");
    };
    let (query, rest) = pipeline.split_query();
    let values =
        [Bson::Null, 1.into(), 2.into()].map(|value| value.try_into().expect("valid BSON"));
    assert_eq!(from, "others");
    assert_eq!(
        query.filter,
        Filter::Path("b".into(), Test::In(values.to_vec().into()))
    );
    assert!(rest.is_empty());
}

#[test]
fn a_pipeline_has_one_time() {
    let now = || doc! { "$set": { "at": "$$NOW" } };
    let stages = [
        now(),
        doc! { "$lookup": { "from": "others", "let": { "x": 1 }, "pipeline": [now()], "as": "found" } },
    ];
    let pipeline = parsed(&stages);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let collections = Collections::from([("others", raws(vec![doc! {}]))]);
    let results = run_in_chunks(pipeline, &raws(vec![doc! {}]), 1, &collections);
    let results = plain(results.expect("documents"));
    let at = results[0].get_datetime("at").expect("a date");
    assert_eq!(results, [doc! { "at": at, "found": [{ "at": at }] }]);
}

#[test]
fn lookups_are_in_facets_and_in_each_other() {
    let inner = doc! { "$lookup": {
        "from": "c",
        "let": { "own": "$x" },
        "pipeline": [{ "$match": { "$expr": { "$eq": ["$y", ["$$outer", "$$own"]] } } }],
        "as": "found",
    } };
    let outer = doc! { "$lookup": {
        "from": "b",
        "let": { "outer": "$_id" },
        "pipeline": [inner, { "$match": { "found": { "$ne": [] } } }],
        "as": "found",
    } };
    let facet = doc! { "$facet": {
        "one": [outer, { "$unwind": "$found" }, { "$limit": 2 }],
        "two": [{ "$sort": { "_id": -1 } }, { "$limit": 1 }, join("_id", "x")],
    } };
    let b = vec![doc! { "_id": 1, "x": 1 }, doc! { "_id": 2, "x": 2 }];
    let c = vec![
        doc! { "_id": 1, "y": [1, 1] },
        doc! { "_id": 2, "y": [2, 2] },
        doc! { "_id": 3, "y": [1, 2] },
    ];
    let locals = (1..5).map(|id| doc! { "_id": id }).collect();
    let results = lookup(
        &[facet],
        locals,
        &[("b", b.clone()), ("c", c), ("others", b)],
    );
    let found = |id: i32, y: [i32; 2], c: i32| doc! { "_id": id, "x": id, "found": [{ "_id": c, "y": y.to_vec() }] };
    let one = |id: i32, found: Document| doc! { "_id": id, "found": found };
    assert_eq!(
        results,
        [doc! {
            "one": [one(1, found(1, [1, 1], 1)), one(1, found(2, [1, 2], 3))],
            "two": [{ "_id": 4, "found": [] }],
        }]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_join_finds_the_documents_that_equal_a_value(
        locals in prop::collection::vec(document(), 0..4),
        others in prop::collection::vec(document(), 0..6),
        (local, foreign) in (any_path(), any_path()),
    ) {
        let stages = [join(&local, &foreign)];
        let collections = Collections::from([("others", raws(others.clone()))]);
        let results = run_in_chunks(parsed(&stages), &raws(locals.clone()), 2, &collections);
        let results = results.expect("documents");
        prop_assert_eq!(results.len(), locals.len());
        for (result, document) in results.iter().zip(&locals) {
            let document = raw(document.clone());
            // Of a path without numbers these are the values that an index has, but for an array without elements.
            let is_plain = !local.split('.').any(|part| path::position(part).is_some());
            let mut values: Vec<bson::RawBson> = Vec::new();
            path::each_value(&document, &local, &mut |value| values.push(value.into()));
            if values.is_empty() {
                values.push(bson::RawBson::Null);
            }
            let filter = Filter::Path(foreign.clone().into(), Test::In(values.into()));
            let found = collections["others"].iter();
            let found = found.filter(|other| filter.matches(other).expect("no patterns"));
            let found: Vec<_> = found.map(|other| bson::RawBsonRef::Document(other)).collect();
            let joined = result.get_array("found").expect("an array");
            let joined: Vec<_> = joined.into_iter().map(|value| value.expect("a value")).collect();
            if is_plain {
                prop_assert_eq!(joined, found);
            }
        }
    }
}
