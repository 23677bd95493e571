//! Queries that the keys of an index answer, without their documents.

use bson::{Document, doc};
use odm_store::{Cost, Find, Reader, Store};

use super::support::*;
use crate::Embedded;

fn find(query: Document) -> Find {
    Find {
        filter: filter(query),
        ..find_all()
    }
}

/// The number of documents, of examined keys and of examined documents.
async fn counted(reader: &dyn Reader, query: Document) -> (u64, u64, u64) {
    let (count, cost) = reader.count(&find(query)).await.expect("a count");
    let Cost {
        keys_examined,
        documents_examined,
        ..
    } = cost;
    (count, keys_examined, documents_examined)
}

/// Numbers from 0 on, with their digits.
async fn numbers(count: i32) -> Embedded {
    let store = things(vec![
        index("n_ones", &[("n", 1), ("tens", 1), ("ones", -1)]),
        index("tens", &[("tens", 1)]),
        // This index has fewer fields to test.
        index("n", &[("n", 1)]),
    ])
    .await;
    let documents =
        (0..count).map(|n| doc! { "_id": n, "n": n, "tens": n / 10, "ones": n % 10, "x": n % 2 });
    insert(&store, documents.collect())
        .await
        .expect("an insert");
    store
}

#[test]
fn a_count_by_fields_of_one_index_reads_no_documents() {
    block_on(async {
        let store = numbers(100).await;
        let reader = store.reader().expect("an open store");
        for (query, expected) in [
            // The range bounds the keys, and the digit is tested in them.
            (doc! { "n": { "$gte": 50 }, "ones": 7 }, (5, 50, 0)),
            (
                doc! { "n": { "$gte": 50 }, "ones": { "$gt": 2, "$lte": 4 } },
                (10, 50, 0),
            ),
            (
                doc! { "n": { "$lt": 50 }, "ones": { "$in": [1, 4, 9, 20] } },
                (15, 50, 0),
            ),
            // No bound: all keys have fewer bytes than all documents.
            (doc! { "ones": 7 }, (10, 100, 0)),
            // A condition on another field is tested on documents, but only on those whose keys pass.
            (
                doc! { "n": { "$gte": 50 }, "ones": { "$lt": 4 }, "x": 1 },
                (10, 50, 20),
            ),
            // A missing field counts as null.
            (doc! { "n": { "$gte": 98 }, "ones": null }, (0, 2, 0)),
        ] {
            assert_eq!(counted(&*reader, query.clone()).await, expected, "{query}");
        }
    });
}

#[test]
fn documents_whose_keys_do_not_pass_are_not_read() {
    block_on(async {
        let store = numbers(100).await;
        let reader = store.reader().expect("an open store");
        for sorted_by in [doc! {}, doc! { "n": 1 }, doc! { "x": -1 }] {
            let query = Find {
                sort: sort(sorted_by.clone()),
                ..find(doc! { "n": { "$gte": 50 }, "ones": 7 })
            };
            let cost = reader.explain(&query).await.expect("a plan").cost;
            assert_eq!(
                (cost.keys_examined, cost.documents_examined),
                (50, 5),
                "{sorted_by}"
            );
            assert_eq!(found(&*reader, &query).await.len(), 5);
        }
    });
}

#[test]
fn texts_are_tested_in_keys_by_what_they_begin_with() {
    block_on(async {
        for sign in [1, -1] {
            let store = things(vec![index("n_name", &[("n", 1), ("name", sign)])]).await;
            let names = ["A", "a", "ab", "abc", "b"].into_iter().enumerate();
            let documents = names.map(|(n, name)| doc! { "_id": n as i32, "n": 1, "name": name });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            let query = find(doc! { "n": { "$gt": 0 }, "name": { "$regex": "^a" } });
            let reader = store.reader().expect("an open store");
            let cost = reader.explain(&query).await.expect("a plan").cost;
            assert_eq!((cost.keys_examined, cost.documents_examined), (5, 3));
            let expected = [doc! { "_id": 1 }, doc! { "_id": 2 }, doc! { "_id": 3 }];
            assert_eq!(ids(&found(&*reader, &query).await), ids(&expected));
        }
    });
}

#[test]
fn a_document_with_several_keys_is_not_left_out_for_one_that_does_not_pass() {
    block_on(async {
        let store = things(vec![index("a_b", &[("a", 1), ("b", 1)])]).await;
        insert(&store, vec![doc! { "_id": 1, "a": 1, "b": [1, 9] }])
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let query = doc! { "a": { "$gt": 0 }, "b": { "$gt": 0, "$lt": 20 } };
        assert_eq!(counted(&*reader, query.clone()).await.0, 1);
        assert_eq!(found(&*reader, &find(query)).await.len(), 1);
        // Different elements fulfill the conditions.
        let apart = doc! { "a": { "$gt": 0 }, "b": { "$gt": 5, "$lt": 5 } };
        assert_eq!(counted(&*reader, apart).await.0, 1);
    });
}

#[test]
fn a_disjunction_of_bounds_is_counted_without_documents_and_each_document_once() {
    block_on(async {
        let store = numbers(100).await;
        let reader = store.reader().expect("an open store");
        for (branches, expected) in [
            (
                vec![doc! { "n": { "$lt": 10 } }, doc! { "n": { "$gte": 90 } }],
                (20, 20, 0),
            ),
            (
                vec![doc! { "n": { "$lt": 10 } }, doc! { "n": { "$lt": 5 } }],
                (10, 15, 0),
            ),
            // By two indexes.
            (
                vec![doc! { "n": { "$lt": 15 } }, doc! { "tens": 1 }],
                (20, 25, 0),
            ),
            (
                vec![doc! { "n": { "$gte": 50 } }, doc! { "tens": 7 }],
                (50, 60, 0),
            ),
            (
                vec![
                    doc! { "n": { "$lt": 15 }, "ones": 0 },
                    doc! { "_id": 10 },
                    doc! { "_id": 11 },
                ],
                (3, 15, 0),
            ),
            // One branch has a condition on another field as well.
            (vec![doc! { "n": 1 }, doc! { "n": 2, "x": 1 }], (1, 2, 2)),
        ] {
            let query = doc! { "$or": branches };
            assert_eq!(counted(&*reader, query.clone()).await, expected, "{query}");
        }
        // A condition in conjunction with the disjunction must hold as well.
        for beside in [doc! { "x": 1 }, doc! { "$nor": [{ "x": 0 }] }] {
            let mut query = doc! { "$or": [{ "n": 1 }, { "n": 2 }] };
            query.extend(beside);
            assert_eq!(counted(&*reader, query.clone()).await, (1, 2, 2), "{query}");
        }
        let two = doc! { "$and": [
            { "$or": [{ "n": 1 }, { "n": 2 }] },
            { "$or": [{ "x": 1 }, { "x": 3 }] },
        ] };
        assert_eq!(counted(&*reader, two).await.0, 1);
    });
}

#[test]
fn a_partial_index_finds_and_counts_the_documents_of_its_filter() {
    block_on(async {
        let store = things(vec![
            partial(index("active", &[("email", 1)]), doc! { "active": true }),
            index("name", &[("name", 1)]),
            partial(
                index("late", &[("late", 1)]),
                doc! { "late": { "$gte": 200 } },
            ),
        ])
        .await;
        let users = (0..300).map(
            |i| doc! { "_id": i, "email": format!("{i}"), "active": i % 30 == 0, "name": i % 7, "late": i },
        );
        insert(&store, users.collect()).await.expect("an insert");
        let reader = store.reader().expect("an open store");
        assert_eq!(
            counted(&*reader, doc! { "active": true }).await,
            (10, 10, 0)
        );
        // By a condition that is the filter of the index and a bound in it.
        assert_eq!(
            counted(&*reader, doc! { "late": { "$gte": 200 } }).await,
            (100, 100, 0)
        );
        assert_eq!(
            counted(&*reader, doc! { "late": { "$gte": 250 } }).await,
            (50, 50, 0)
        );
        assert_eq!(
            counted(&*reader, doc! { "active": { "$ne": true } }).await,
            (290, 0, 300)
        );
        let chosen = async |query: Document, by: Document, limit| {
            let find = Find {
                sort: sort(by),
                limit,
                ..find(query)
            };
            let plan = reader.explain(&find).await.expect("a plan");
            (plan.index, plan.cost.documents_examined)
        };
        let active = || doc! { "active": true };
        let partial = || Some("active".to_owned());
        assert_eq!(chosen(active(), doc! {}, None).await, (partial(), 10));
        assert_eq!(
            chosen(doc! { "active": true, "name": { "$ne": 1 } }, doc! {}, None).await,
            (partial(), 10)
        );
        // The bounds of another index are better, and so is its order if only the first documents are requested.
        assert_eq!(
            chosen(doc! { "active": true, "name": { "$gt": 5 } }, doc! {}, None)
                .await
                .0
                .as_deref(),
            Some("name")
        );
        assert_eq!(
            chosen(active(), doc! { "name": 1 }, None).await,
            (partial(), 10)
        );
        assert_eq!(
            chosen(active(), doc! { "name": 1 }, Some(2))
                .await
                .0
                .as_deref(),
            Some("name")
        );
        assert_eq!(chosen(active(), doc! {}, Some(2)).await, (None, 31));
        assert_eq!(
            chosen(active(), doc! { "x": 1 }, Some(2)).await,
            (partial(), 10)
        );
        // Each branch has bounds of its own.
        let branches = doc! { "active": true, "$or": [{ "email": "30" }, { "email": "60" }] };
        assert_eq!(chosen(branches, doc! {}, None).await, (partial(), 2));
    });
}
