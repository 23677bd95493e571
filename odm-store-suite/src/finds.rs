//! Queries.

use std::ops::ControlFlow;

use bson::{Bson, Document, RawDocumentBuf, doc};
use odm_mql::{Collation, Projection};
use odm_store::{DeleteWrite, Error, ErrorKind, Find, IndexSpec, Reader, Store};

use super::support::*;

/// Documents with values of several types, arrays, and equal values.
fn some() -> Vec<Document> {
    vec![
        doc! { "_id": 1, "a": 3, "b": "x", "c": [1, 5] },
        doc! { "_id": 2, "a": 1.5, "b": "y", "c": [] },
        doc! { "_id": 3, "a": null, "b": "x" },
        doc! { "_id": 4, "b": "z", "c": [{ "d": 1 }, { "d": 7 }] },
        doc! { "_id": 5, "a": "text", "b": "x", "c": 5 },
        doc! { "_id": 6, "a": [2, 9], "b": "y", "c": { "d": 7 } },
        doc! { "_id": 7, "a": 3.0, "b": "z", "c": null },
        doc! { "_id": 8, "a": [], "b": "x", "c": [[5]] },
        doc! { "_id": 9, "a": true, "b": "y", "c": "5" },
        doc! { "_id": 10, "a": 3_i64, "b": "x", "c": [5, 1] },
    ]
}

/// A reader of `things`, filled with [`some`] documents. Half of the fields have an index.
async fn reader_of_some(store: &impl Store) -> std::sync::Arc<dyn Reader> {
    let indexes = vec![index("by a", &["a"]), index("by b and a", &["-b", "a"])];
    ensure(store, indexes).await;
    insert_all(store, some()).await;
    store.reader().expect("the store can be read")
}

fn filters() -> Vec<Document> {
    vec![
        doc! {},
        doc! { "a": 3 },
        doc! { "a": null },
        doc! { "a": { "$ne": null } },
        doc! { "a": { "$gt": 1, "$lt": 9 } },
        doc! { "a": { "$gte": 3.0 } },
        doc! { "a": { "$in": [3, "text", null] } },
        doc! { "a": { "$nin": [3, "text"] } },
        doc! { "a": { "$exists": true } },
        doc! { "a": [2, 9] },
        doc! { "b": "x", "a": { "$lte": 3 } },
        doc! { "b": { "$gte": "y" } },
        doc! { "b": { "$regex": "^[xy]$" } },
        doc! { "c": 5 },
        doc! { "c.d": 7 },
        doc! { "c": { "$elemMatch": { "d": { "$gt": 5 } } } },
        doc! { "c": { "$size": 2 } },
        doc! { "c": { "$type": "array" } },
        doc! { "$or": [{ "a": 3 }, { "c.d": 7 }] },
        doc! { "$nor": [{ "b": "x" }, { "a": { "$gt": 1 } }] },
        doc! { "a": { "$not": { "$gt": 1 } } },
        doc! { "_id": { "$gt": 3, "$lte": 6 } },
        doc! { "_id": 4.0 },
    ]
}

fn sorts() -> Vec<Document> {
    vec![
        doc! {},
        doc! { "_id": -1 },
        doc! { "a": 1 },
        doc! { "a": -1 },
        doc! { "b": -1, "a": 1 },
        doc! { "b": 1, "_id": -1 },
        doc! { "b": 1, "c": -1 },
        doc! { "c.d": 1 },
    ]
}

/// The result of a query by its definition.
fn definition(find: &Find) -> Vec<RawDocumentBuf> {
    let mut documents: Vec<RawDocumentBuf> = some().into_iter().map(raw).collect();
    documents.retain(|document| find.filter.matches(document).expect("a match"));
    documents.sort_by(|a, b| find.sort.total().compare(a, b));
    documents
}

pub async fn a_query_returns_the_documents_that_its_filter_matches_in_the_total_order_of_its_sort(
    store: impl Store,
) {
    let reader = reader_of_some(&store).await;
    for filter in filters() {
        for order in sorts() {
            let find = Find {
                sort: sort(order.clone()),
                ..query(filter.clone())
            };
            assert_eq!(
                found(&*reader, &find).await,
                definition(&find),
                "{filter} by {order}"
            );
        }
    }
}

pub async fn a_filter_and_an_order_can_have_a_collation(store: impl Store) {
    if !store.capabilities().collations {
        return;
    }
    let collation = Collation::parse(&doc! { "locale": "en", "strength": 2 });
    let collation = collation.expect("a collation");
    let indexes = vec![
        index("b", &["b"]),
        IndexSpec {
            collation: collation.clone(),
            ..index("a", &["a", "-b"])
        },
    ];
    ensure(&store, indexes).await;
    let words = ["b", "A", "é", "a", "B", "É", "ß", "ss", "_"];
    let documents = words.iter().zip(1..);
    let documents: Vec<Document> = documents
        .map(|(word, id)| doc! { "_id": id, "a": *word, "b": [*word, id] })
        .collect();
    insert_all(&store, documents.clone()).await;
    let reader = store.reader().expect("an open store");
    for tests in [
        doc! { "a": "A" },
        doc! { "a": { "$gt": "a", "$lte": "É" } },
        doc! { "a": { "$in": ["SS", "B", 7] } },
        doc! { "b": { "$ne": "É" } },
        doc! { "$or": [{ "b": 4 }, { "a": "ß" }] },
    ] {
        for order in [
            doc! { "a": 1, "b": -1 },
            doc! { "b": -1 },
            doc! { "_id": 1 },
        ] {
            let find = Find {
                sort: sort(order.clone()).collated(collation.as_ref()),
                ..query(tests.clone())
            };
            let find = Find {
                filter: find.filter.collated(collation.as_ref()),
                ..find
            };
            let mut expected: Vec<RawDocumentBuf> = documents.iter().cloned().map(raw).collect();
            expected.retain(|document| find.filter.matches(document).expect("a match"));
            expected.sort_by(|a, b| find.sort.total().compare(a, b));
            assert_eq!(found(&*reader, &find).await, expected, "{tests} by {order}");
        }
    }
}

pub async fn a_filter_and_an_order_can_ignore_case(store: impl Store) {
    if !store.capabilities().ignores_case {
        return;
    }
    let indexes = vec![
        case_insensitive(index("a", &["a", "-b"])),
        index("b", &["b"]),
    ];
    ensure(&store, indexes).await;
    let words = ["b", "A", "é", "a", "B", "É", "ß", "ss", "_"];
    let documents = words.iter().zip(1..);
    insert_all(
        &store,
        documents.map(|(word, id)| doc! { "_id": id, "a": word, "b": word }),
    )
    .await;
    let reader = store.reader().expect("the store can be read");
    let equal = |path: &str, text: &str| {
        query(doc! { path: { "$regex": format!(r"^{text}\z"), "$options": "i" } })
    };
    for path in ["a", "b"] {
        assert_eq!(ids(&*reader, &equal(path, "É")).await, [3, 6]);
        assert_eq!(ids(&*reader, &equal(path, "SS")).await, [8]);
        let sort = sort(doc! { path: -1, "_id": 1 }).ignoring_case();
        let mut find = Find {
            sort: sort.clone(),
            ..query(doc! {})
        };
        assert_eq!(ids(&*reader, &find).await, [3, 6, 7, 8, 1, 5, 2, 4, 9]);
        find.after = Some(sort.key(&raw(doc! { "_id": 1, path: "B" })));
        assert_eq!(ids(&*reader, &find).await, [5, 2, 4, 9]);
    }
    // An index that ignores case also answers queries that respect it.
    assert_eq!(ids(&*reader, &query(doc! { "a": "A" })).await, [2]);
    assert_eq!(
        ids(&*reader, &query(doc! { "a": { "$gt": "b" } })).await,
        [3, 6, 7, 8]
    );
}

pub async fn a_query_skips_and_limits(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for order in sorts() {
        for (skip, limit) in [
            (0, Some(3)),
            (2, None),
            (2, Some(4)),
            (9, Some(5)),
            (20, None),
            (0, Some(0)),
        ] {
            let find = Find {
                sort: sort(order.clone()),
                skip,
                limit,
                ..query(doc! { "b": { "$ne": "z" } })
            };
            let all = definition(&find).into_iter().skip(skip as usize);
            let expected: Vec<_> = all.take(limit.unwrap_or(100) as usize).collect();
            assert_eq!(
                found(&*reader, &find).await,
                expected,
                "{skip}, {limit:?} by {order}"
            );
            assert_eq!(reader.count(&find).await.unwrap().0, expected.len() as u64);
        }
    }
}

pub async fn a_query_returns_the_fields_of_its_projection(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for fields in [
        doc! { "b": 1 },
        doc! { "b": 1, "_id": 0 },
        doc! { "a": 0 },
        doc! { "c.d": 1 },
        doc! { "b": 1, "c.x": { "$type": "$a" }, "y": "$b" },
    ] {
        let projection = Projection::parse(&fields).expect("the projection is valid");
        let find = Find {
            // By a field that the projection leaves out.
            sort: sort(doc! { "a": -1 }),
            projection: Some(projection.clone()),
            ..query(doc! { "a": { "$ne": "text" } })
        };
        let expected = definition(&find).into_iter();
        let expected = expected.map(|document| projection.apply(&document).expect("fields"));
        assert_eq!(
            found(&*reader, &find).await,
            expected.collect::<Vec<_>>(),
            "{fields}"
        );
    }
}

pub async fn a_position_in_a_projection_is_the_element_by_which_the_filter_matches(
    store: impl Store,
) {
    let documents = [
        doc! { "_id": 1, "a": [1, 5, 9] },
        doc! { "_id": 2, "a": [7, 2] },
    ];
    let documents = documents.map(|document| Write::Insert(raw(document)));
    write(&store, &documents)
        .await
        .expect("the batch is applied");
    let find = Find {
        projection: Some(Projection::parse(&doc! { "a.$": 1 }).expect("the projection is valid")),
        ..query(doc! { "a": { "$gt": 4 } })
    };
    let expected = [doc! { "_id": 1, "a": [5] }, doc! { "_id": 2, "a": [7] }];
    let reader = store.reader().expect("the store is open");
    assert_eq!(found(&*reader, &find).await, expected.map(raw));
}

pub async fn null_on_a_dotted_path_does_not_match_an_array_without_documents(store: impl Store) {
    let values: [Option<Bson>; 9] = [
        None,
        Some(Bson::Null),
        Some(1.into()),
        Some(Bson::Array(vec![])),
        Some(Bson::Array(vec![1.into()])),
        Some(Bson::Array(vec![Bson::Array(vec![1.into()])])),
        Some(Bson::Array(vec![doc! {}.into(), 1.into()])),
        Some(Bson::Array(vec![doc! { "b": 1 }.into(), 1.into()])),
        Some(doc! { "b": 1 }.into()),
    ];
    let documents = values.into_iter().zip(0..).map(|(value, id)| {
        let mut document = doc! { "_id": id, "k": 1 };
        document.extend(value.map(|value| ("a".to_owned(), value)));
        document
    });
    insert_all(&store, documents).await;
    let reader = store.reader().expect("the store is open");
    let (nulls, others) = ([0, 1, 2, 6], [3, 4, 5, 7, 8]);
    for (test, expected) in [
        (doc! { "a.b": null }, &nulls[..]),
        (doc! { "a.b": { "$in": [null, 7] } }, &nulls),
        (doc! { "a.b": { "$ne": null } }, &others),
        (doc! { "$nor": [{ "a.b": null }] }, &others),
    ] {
        let find = query(test.clone());
        assert_eq!(ids(&*reader, &find).await, expected, "{test}");
        let (count, _) = reader.count(&find).await.expect("a count");
        assert_eq!(count, expected.len() as u64, "{test}");
        let by_key = ids_by_key(&*reader, &by_key("k", [1.into()], find)).await;
        assert_eq!(by_key, [expected], "{test}");
    }
    let removed = DeleteWrite {
        collection: THINGS.to_owned(),
        filter: filter(doc! { "a.b": null }),
    };
    let mut transaction = begin(&store).await;
    let removed = transaction.delete(&removed).await.expect("the removal");
    assert_eq!(removed.removed, nulls.len() as u64);
    transaction.rollback().await.expect("the rollback");
}

pub async fn a_filter_that_fails_on_a_document_is_an_error_of_the_query(store: impl Store) {
    let documents = [doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": "text" }];
    let documents = documents.map(|document| Write::Insert(raw(document)));
    write(&store, &documents)
        .await
        .expect("the batch is applied");
    let reader = store.reader().expect("the store is open");
    let sum = |more: i32| query(doc! { "$expr": { "$gt": [{ "$add": ["$a", more] }, 0] } });
    let error = reader.count(&sum(1)).await.expect_err("a text has no sum");
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::FailedFilter, Some(14))
    );
    let one = Find {
        filter: filter(doc! { "_id": 1 }).and(sum(1).filter),
        ..query(doc! {})
    };
    assert_eq!(found(&*reader, &one).await.len(), 1);
}

pub async fn pages_after_a_position_have_every_document_once_in_both_directions(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for order in sorts() {
        for sort in [sort(order.clone()), sort(order).reversed()] {
            let whole = Find {
                sort: sort.clone(),
                ..query(doc! { "b": { "$in": ["x", "y"] } })
            };
            let mut pages = Vec::new();
            let mut after = None;
            loop {
                let find = Find {
                    limit: Some(3),
                    after,
                    ..whole.clone()
                };
                let page = found(&*reader, &find).await;
                let Some(last) = page.last() else { break };
                after = Some(sort.total().key(last));
                pages.extend(page);
                assert!(pages.len() <= some().len(), "the pages do not end");
            }
            assert_eq!(pages, definition(&whole), "{}", sort.to_document());
        }
    }
}

pub async fn a_position_need_not_be_that_of_a_document(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let find = Find {
        sort: sort(doc! { "b": -1 }),
        after: Some(vec![value("y"), value(6)]),
        ..query(doc! {})
    };
    assert_eq!(ids(&*reader, &find).await, [9, 1, 3, 5, 8, 10]);
    assert_eq!(reader.count(&find).await.unwrap().0, 6);
    let between = Find {
        after: Some(vec![value("xx"), value(Bson::MaxKey)]),
        ..find
    };
    assert_eq!(ids(&*reader, &between).await, [1, 3, 5, 8, 10]);
}

pub async fn a_position_with_another_number_of_values_than_the_order_is_refused(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for after in [vec![], vec![value(1)], vec![value(1), value(2), value(3)]] {
        let find = Find {
            sort: sort(doc! { "a": 1 }),
            after: Some(after),
            ..query(doc! {})
        };
        let read = reader
            .find(&find, &mut |_, _| Ok(ControlFlow::Continue(())))
            .await;
        assert_fails(read, ErrorKind::InvalidQuery);
    }
}

pub async fn a_count_is_the_number_of_documents_that_the_query_returns(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for filter in filters() {
        let find = query(filter.clone());
        let expected = definition(&find).len() as u64;
        assert_eq!(reader.count(&find).await.unwrap().0, expected, "{filter}");
    }
}

pub async fn a_query_ends_when_its_callback_breaks_or_fails(store: impl Store) {
    let reader = reader_of_some(&store).await;
    for order in sorts() {
        let find = Find {
            sort: sort(order),
            ..query(doc! {})
        };
        let mut calls = 0;
        let broken = reader
            .find(&find, &mut |position, _| {
                calls += 1;
                Ok(match position {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                })
            })
            .await;
        broken.expect("a break is no error");
        assert_eq!(calls, 2);
        let failed = reader
            .find(&find, &mut |_, _| {
                calls += 1;
                Err(Error::new(ErrorKind::Decode, "no document: pass another"))
            })
            .await;
        assert_fails(failed, ErrorKind::Decode);
        assert_eq!(calls, 3);
    }
}

pub async fn explain_runs_the_query(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let explain = reader.explain(&query(doc! { "a": 3 })).await;
    let explain = explain.expect("the query runs");
    // A store that does not know the number reports 0.
    let returned = explain.cost.documents_returned;
    assert!(returned == 3 || returned == 0, "{explain:?}");
}
