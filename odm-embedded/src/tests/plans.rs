//! The plans of queries, and their costs.

use bson::{Bson, Document, doc};
use odm_store::{ErrorKind, Find, IndexSpec, Store, Transaction, TransactionOptions};
use std::ops::ControlFlow;

use super::support::*;
use crate::Embedded;

#[test]
fn a_limit_is_pushed_into_an_index_that_gives_the_order() {
    block_on(async {
        let store = things(vec![index("by_date", &[("product", 1), ("date", -1)])]).await;
        let documents = (0..1000).map(|i| doc! { "_id": i, "product": i % 2, "date": i / 10 });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let find = Find {
            filter: filter(doc! { "product": 1 }),
            sort: sort(doc! { "date": -1 }),
            limit: Some(10),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(explain.index.as_deref(), Some("by_date"));
        assert!(explain.sorted_by_index);
        assert_eq!(explain.cost.documents_examined, 10);
        let ids: Vec<_> = found(&*reader, &find)
            .await
            .iter()
            .map(|d| d.get_i32("_id").ok())
            .collect();
        assert_eq!(
            ids,
            [991, 993, 995, 997, 999, 981, 983, 985, 987, 989].map(Some)
        );

        // Read backward, equal dates still come in the order of `_id`.
        let find = Find {
            sort: sort(doc! { "date": 1 }),
            ..find
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert!(explain.sorted_by_index);
        assert!(explain.cost.documents_examined <= 10);
        let ids: Vec<_> = found(&*reader, &find)
            .await
            .iter()
            .map(|d| d.get_i32("_id").ok())
            .collect();
        assert_eq!(ids, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19].map(Some));
    });
}

/// The `_id`s that a query finds, and how many keys and documents it reads for them.
async fn read(store: &Embedded, find: &Find) -> (Vec<i32>, u64, u64) {
    let reader = store.reader().expect("an open store");
    let explain = reader.explain(find).await.expect("a plan");
    assert!(explain.sorted_by_index);
    let ids = found(&*reader, find).await;
    let ids = ids.iter().map(|found| found.get_i32("_id").expect("an id"));
    let cost = explain.cost;
    (ids.collect(), cost.keys_examined, cost.documents_examined)
}

#[test]
fn the_ranges_of_several_values_are_merged_in_order_up_to_the_limit() {
    block_on(async {
        let store = things(vec![
            index("of_author", &[("author", 1), ("date", -1)]),
            index("of_editor", &[("editor", 1), ("date", -1)]),
        ])
        .await;
        let documents = (0..1000).map(
            |i| doc! { "_id": i, "author": i % 20, "editor": i % 7, "date": i / 10, "tags": [1, 2] },
        );
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let feed = Find {
            filter: filter(doc! { "author": { "$in": [3, 4, 5] } }),
            sort: sort(doc! { "date": -1 }),
            limit: Some(4),
            ..find_all()
        };
        // One more entry of each range than is passed on.
        assert_eq!(
            read(&store, &feed).await,
            (vec![983, 984, 985, 963], 3 + 4, 4)
        );
        // The document at the position is read, and left out.
        let next = Find {
            after: Some(vec![value(98), value(984)]),
            ..feed.clone()
        };
        assert_eq!(
            read(&store, &next).await,
            (vec![985, 963, 964, 965], 3 + 5, 5)
        );

        // Read backward, equal dates still come in the order of `_id`.
        let oldest = Find {
            sort: sort(doc! { "date": 1 }),
            ..feed.clone()
        };
        assert_eq!(read(&store, &oldest).await.0, [3, 4, 5, 23]);

        // In the order of `_id` alone, with a limit.
        let by_id = Find {
            sort: sort(doc! {}),
            ..feed.clone()
        };
        let store_by_id = things(vec![index("author", &[("author", 1)])]).await;
        let documents = (0..100).map(|i| doc! { "_id": i, "author": i % 20 });
        insert(&store_by_id, documents.collect())
            .await
            .expect("an insert");
        let (ids, keys, documents) = read(&store_by_id, &by_id).await;
        assert_eq!((ids, keys, documents), (vec![3, 4, 5, 23], 3 + 4, 4));

        // The branches of a disjunction, by two indexes; a document of both is found once.
        let any = Find {
            filter: filter(doc! { "$or": [{ "author": 3 }, { "editor": { "$in": [1, 3] } }] }),
            ..feed
        };
        let (ids, keys, _) = read(&store, &any).await;
        assert_eq!(ids, [990, 995, 997, 981]);
        assert!(keys <= 8, "{keys}");
    });
}

#[test]
fn a_position_is_found_by_the_index() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        let documents = (0..1000).map(|i| doc! { "_id": i, "n": i / 100 });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let find = Find {
            sort: sort(doc! { "n": 1 }),
            after: Some(vec![value(5), value(550)]),
            limit: Some(5),
            ..find_all()
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert!(explain.cost.documents_examined <= 6, "{explain:?}");
        let ids: Vec<_> = found(&*reader, &find)
            .await
            .iter()
            .map(|d| d.get_i32("_id").ok())
            .collect();
        assert_eq!(ids, [551, 552, 553, 554, 555].map(Some));

        let find = Find {
            sort: sort(doc! { "_id": -1 }),
            after: Some(vec![value(500)]),
            ..find
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert!(explain.cost.documents_examined <= 6, "{explain:?}");
        let ids: Vec<_> = found(&*reader, &find)
            .await
            .iter()
            .map(|d| d.get_i32("_id").ok())
            .collect();
        assert_eq!(ids, [499, 498, 497, 496, 495].map(Some));
    });
}

#[test]
fn exact_bounds_are_counted_without_a_look_at_documents() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        insert(
            &store,
            (0..100).map(|i| doc! { "_id": i, "n": i }).collect(),
        )
        .await
        .expect("an insert");
        let reader = store.reader().expect("an open store");
        let find = Find {
            filter: filter(doc! { "n": { "$gte": 10, "$lt": 30 } }),
            ..find_all()
        };
        let (count, cost) = reader.count(&find).await.expect("a count");
        assert_eq!(
            (count, cost.documents_examined, cost.keys_examined),
            (20, 0, 20)
        );
    });
}

#[test]
fn all_documents_are_counted_without_a_walk_but_where_a_transaction_has_changed_some() {
    block_on(async {
        let store = things(vec![]).await;
        let documents = (0..100).map(|i| doc! { "_id": i }).collect();
        insert(&store, documents).await.expect("an insert");
        let all = |skip, limit| Find {
            skip,
            limit,
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        for (skip, limit, counted) in [
            (0, None, 100),
            (30, None, 70),
            (30, Some(50), 50),
            (90, Some(50), 10),
            (200, Some(5), 0),
        ] {
            let (count, cost) = reader.count(&all(skip, limit)).await.expect("a count");
            assert_eq!((count, cost.documents_examined), (counted, 0));
        }
        let options = TransactionOptions::default();
        let mut transaction = store.begin(options).await.expect("a transaction");
        let count = async |transaction: &dyn Transaction| {
            let counted = transaction.count(&all(0, None)).await;
            counted.expect("a count").0
        };
        assert_eq!(count(&*transaction).await, 100);
        for (write, counted) in [
            (Write::Insert(vec![doc! { "_id": 100 }]), 101),
            (Write::Delete(doc! { "_id": { "$lt": 3 } }), 98),
            (
                Write::Update(doc! { "_id": 50 }, doc! { "$set": { "n": 1 } }),
                98,
            ),
        ] {
            apply(&mut *transaction, &write).await.expect("a write");
            assert_eq!(count(&*transaction).await, counted);
        }
        transaction.commit().await.expect("a commit");
        let reader = store.reader().expect("an open store");
        let (count, cost) = reader.count(&all(0, None)).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (98, 0));
    });
}

#[test]
fn the_best_index_is_chosen_by_the_rules() {
    block_on(async {
        let store = things(vec![
            index("a", &[("a", 1)]),
            index("a_b", &[("a", 1), ("b", 1)]),
            index("a_c", &[("a", 1), ("c", 1)]),
            unique("u", &[("u", 1)]),
            IndexSpec {
                present_only: true,
                ..index("p", &[("p", 1)])
            },
        ])
        .await;
        let reader = store.reader().expect("an open store");
        let chosen = async |query: Document, order: Document| {
            let find = Find {
                filter: filter(query),
                sort: sort(order),
                ..find_all()
            };
            reader.explain(&find).await.expect("a plan").index
        };
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            chosen(doc! { "a": 1, "b": 2, "u": 3 }, doc! {}).await,
            name("u")
        );
        assert_eq!(
            chosen(doc! { "a": 1, "b": 2 }, doc! { "c": 1 }).await,
            name("a_b")
        );
        assert_eq!(chosen(doc! { "a": 1 }, doc! { "c": 1 }).await, name("a_c"));
        assert_eq!(
            chosen(doc! { "a": { "$gt": 1 } }, doc! { "u": 1 }).await,
            name("a")
        );
        assert_eq!(chosen(doc! {}, doc! { "u": -1 }).await, name("u"));
        assert_eq!(
            chosen(doc! { "_id": 1, "a": 1 }, doc! {}).await,
            name("_id")
        );
        assert_eq!(chosen(doc! { "x": 1 }, doc! {}).await, None);
        assert_eq!(chosen(doc! { "p": null }, doc! {}).await, None);
        assert_eq!(chosen(doc! { "p": { "$gt": 1 } }, doc! {}).await, name("p"));
        assert_eq!(chosen(doc! {}, doc! { "p": 1 }).await, None);
        assert_eq!(
            chosen(doc! { "$or": [{ "a": 1 }, { "u": 1 }] }, doc! {}).await,
            name("a, u")
        );
        assert_eq!(
            chosen(doc! { "$or": [{ "a": 1 }, { "x": 1 }] }, doc! {}).await,
            None
        );
    });
}

#[test]
fn an_index_on_an_array_gives_no_order() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        insert(&store, vec![doc! { "_id": 1, "n": 2 }])
            .await
            .expect("an insert");
        let find = Find {
            sort: sort(doc! { "n": 1 }),
            ..find_all()
        };
        let sorted = async || {
            let reader = store.reader().expect("an open store");
            reader.explain(&find).await.expect("a plan").sorted_by_index
        };
        assert!(sorted().await);
        insert(&store, vec![doc! { "_id": 2, "n": [1, 3] }])
            .await
            .expect("an insert");
        assert!(!sorted().await);
    });
}

#[test]
fn a_result_that_is_too_large_to_be_sorted_is_an_error() {
    block_on(async {
        let store = Embedded::builder()
            .sort_memory(2000)
            .memory()
            .await
            .expect("a store");
        insert(
            &store,
            (0..100).map(|i| doc! { "_id": i, "n": -i }).collect(),
        )
        .await
        .expect("an insert");
        let reader = store.reader().expect("an open store");
        let find = Find {
            sort: sort(doc! { "n": 1 }),
            ..find_all()
        };
        let error = reader
            .find(&find, &mut |_, _| Ok(ControlFlow::Continue(())))
            .await
            .expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains("2000"), "{error}");
        // The first few of many need little memory.
        let find = Find {
            limit: Some(3),
            ..find
        };
        assert_eq!(
            ids(&found(&*reader, &find).await),
            [&Bson::Int32(99), &Bson::Int32(98), &Bson::Int32(97)]
        );
    });
}

#[test]
fn ids_are_looked_up_by_value_and_repeated_ids_twice() {
    block_on(async {
        let store = things(vec![]).await;
        insert(
            &store,
            vec![doc! { "_id": 1, "n": "one" }, doc! { "_id": "x" }],
        )
        .await
        .expect("an insert");
        let reader = store.reader().expect("an open store");
        let ids = [value("x"), value(1.0), value(7), value(1_i64), value("x")];
        let mut positions = Vec::new();
        let cost = reader
            .get("things", &ids, &mut |position, _| {
                positions.push(position);
                Ok(ControlFlow::Continue(()))
            })
            .await
            .expect("a result");
        positions.sort_unstable();
        assert_eq!(positions, [0, 1, 3, 4]);
        assert_eq!(cost.documents_returned, 4);
        let none = reader
            .get("nothing", &ids, &mut |_, _| Ok(ControlFlow::Continue(())))
            .await
            .expect("a result");
        assert_eq!(none.documents_returned, 0);
    });
}

#[test]
fn conditions_on_one_array_may_hold_for_different_elements() {
    block_on(async {
        let present = IndexSpec {
            present_only: true,
            ..index("present", &[("c.x", 1), ("c.y", 1)])
        };
        for indexes in [
            vec![index("both", &[("c.x", 1), ("c.y", 1)])],
            vec![present],
        ] {
            let store = things(indexes).await;
            let documents = vec![
                doc! { "_id": 1, "c": [{ "x": 1, "y": 5 }, { "x": 3, "y": 2 }] },
                doc! { "_id": 2, "c": [{ "x": 1 }, { "y": 2 }] },
            ];
            insert(&store, documents).await.expect("an insert");
            let find = Find {
                filter: filter(doc! { "c.x": 1, "c.y": 2 }),
                ..find_all()
            };
            let found = found(&*store.reader().expect("an open store"), &find).await;
            assert_eq!(ids(&found), [&Bson::Int32(1), &Bson::Int32(2)]);
        }
    });
}

#[test]
fn a_position_does_not_hide_what_the_filter_fixes() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1), ("m", 1)])]).await;
        let documents = (0..9).map(|i| doc! { "_id": i, "n": 5, "m": i / 3 });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let count = async |query: Document, order: Document, after: Vec<i32>| {
            let find = Find {
                filter: filter(query),
                sort: sort(order),
                after: Some(after.into_iter().map(value).collect()),
                ..find_all()
            };
            found(&*reader, &find).await.len()
        };
        assert_eq!(count(doc! { "_id": 5 }, doc! {}, vec![3]).await, 1);
        assert_eq!(count(doc! { "_id": 5 }, doc! {}, vec![5]).await, 0);
        assert_eq!(
            count(doc! { "_id": 5 }, doc! { "_id": -1 }, vec![7]).await,
            1
        );
        assert_eq!(
            count(doc! { "_id": 5 }, doc! { "_id": -1 }, vec![3]).await,
            0
        );
        // All found documents have one value of the first key: the position is before, at, or after it.
        let order = doc! { "n": 1, "m": -1 };
        assert_eq!(
            count(doc! { "n": 5 }, order.clone(), vec![4, 0, 0]).await,
            9
        );
        assert_eq!(
            count(doc! { "n": 5 }, order.clone(), vec![5, 1, 4]).await,
            4
        );
        assert_eq!(count(doc! { "n": 5 }, order, vec![6, 9, 0]).await, 0);
    });
}

#[test]
fn an_array_that_holds_the_value_is_still_sorted_by_all_of_its_elements() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        let documents = vec![
            doc! { "_id": 1, "n": [1, 3] },
            doc! { "_id": 2, "n": [1, 5] },
        ];
        insert(&store, documents).await.expect("an insert");
        let find = Find {
            filter: filter(doc! { "n": 1 }),
            sort: sort(doc! { "n": -1 }),
            ..find_all()
        };
        let found = found(&*store.reader().expect("an open store"), &find).await;
        assert_eq!(ids(&found), [&Bson::Int32(2), &Bson::Int32(1)]);
    });
}

#[test]
fn an_index_on_a_position_is_not_asked_for_elements_of_elements() {
    block_on(async {
        let store = things(vec![index("first", &[("n.0", 1)])]).await;
        insert(&store, vec![doc! { "_id": 1, "n": [[5]] }])
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        for query in [
            doc! { "n.0": { "$elemMatch": { "$gte": 4, "$lte": 6 } } },
            doc! { "n": { "$elemMatch": { "0": 5 } } },
        ] {
            let find = Find {
                filter: filter(query.clone()),
                ..find_all()
            };
            assert_eq!(found(&*reader, &find).await.len(), 1, "{query}");
        }
    });
}

#[test]
fn a_document_with_several_entries_is_counted_once() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1), ("tags", 1)])]).await;
        insert(
            &store,
            vec![doc! { "_id": 1, "n": 1, "tags": ["a", "b", "c"] }],
        )
        .await
        .expect("an insert");
        let find = Find {
            filter: filter(doc! { "n": 1 }),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        let (count, cost) = reader.count(&find).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (1, 0));
        assert_eq!(found(&*reader, &find).await.len(), 1);
    });
}

#[test]
fn the_bounds_are_told_in_words() {
    block_on(async {
        let store = things(vec![index("a_b", &[("a", 1), ("b", 1)])]).await;
        let find = Find {
            filter: filter(doc! { "a": "x", "b": { "$gte": 3 }, "c": 1 }),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(explain.bounds, ["`a` = \"x\"", "`b` >= 3"]);
    });
}

#[test]
fn an_index_without_nulls_is_not_asked_for_them() {
    block_on(async {
        let present = IndexSpec {
            present_only: true,
            ..index("present", &[("n", 1)])
        };
        let store = things(vec![present]).await;
        insert(&store, vec![doc! { "_id": 1, "n": [null, 0] }])
            .await
            .expect("an insert");
        let find = Find {
            filter: filter(doc! { "$and": [{ "n": null }, { "n": { "$in": [0] } }] }),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        assert_eq!(found(&*reader, &find).await.len(), 1);
    });
}

#[test]
fn branches_are_not_merged_by_an_index_that_goes_on_with_the_id() {
    block_on(async {
        let store = things(vec![index("a_id", &[("a", 1), ("_id", 1)])]).await;
        let documents = vec![doc! { "_id": 1, "a": 2 }, doc! { "_id": 2, "a": 1 }];
        insert(&store, documents).await.expect("an insert");
        let find = Find {
            filter: filter(doc! { "$or": [{ "a": 1 }, { "a": 2 }] }),
            sort: sort(doc! { "a": 1 }),
            limit: Some(5),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        let found = found(&*reader, &find).await;
        assert_eq!(ids(&found), ids(&[doc! { "_id": 2 }, doc! { "_id": 1 }]));
    });
}
