//! Inserts, updates, replacements, upserts, deletes, and the indexes that follow them.

use bson::{Bson, Document, doc, rawdoc};
use odm_store::{
    Change, CollectionSpec, Error, ErrorKind, IndexSpec, Store, TransactionOptions, UpdateWrite,
    Updated,
};
use proptest::prelude::*;

use super::support::*;
use crate::Embedded;

async fn update_one(store: &Embedded, write: UpdateWrite) -> Result<Updated, Error> {
    let mut transaction = store.begin(TransactionOptions::default()).await?;
    let updated = transaction.update(&write).await?;
    transaction.commit().await?;
    Ok(updated)
}

fn place(error: &Error) -> (String, Option<String>, Option<Bson>) {
    let place = error.location().expect("a place");
    let id = place
        .id
        .clone()
        .map(|id| Bson::try_from(id).expect("a value"));
    let index = place.index.clone().or(place.path.clone());
    (place.collection.clone(), index, id)
}

#[test]
fn a_taken_id_is_an_error_that_names_it_whatever_its_numeric_type() {
    block_on(async {
        let store = things(vec![]).await;
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
        let error = insert(&store, vec![doc! { "_id": 2 }, doc! { "_id": 1.0 }])
            .await
            .expect_err("taken");
        assert!(error.is_duplicate_key());
        assert_eq!(
            place(&error),
            ("things".into(), Some("_id".into()), Some(1.0.into()))
        );
        assert_eq!(all(&store).await, [doc! { "_id": 1 }]);
    });
}

#[test]
fn a_taken_key_of_a_unique_index_is_an_error_that_names_index_and_value() {
    block_on(async {
        let store = things(vec![
            unique("by_n", &[("n", 1)]),
            unique("by_a_b", &[("a", 1), ("b", -1)]),
        ])
        .await;
        insert(&store, vec![doc! { "_id": 1, "n": 5, "a": 1, "b": "x" }])
            .await
            .expect("an insert");
        let error = insert(&store, vec![doc! { "_id": 2, "n": [4, 5], "a": 2 }])
            .await
            .expect_err("taken");
        assert!(error.is_duplicate_key());
        assert_eq!(
            place(&error),
            ("things".into(), Some("by_n".into()), Some(5.into()))
        );
        assert!(error.to_string().contains("`n` = 5"), "{error}");
        let error = insert(&store, vec![doc! { "_id": 2, "a": 1, "b": "x" }])
            .await
            .expect_err("taken");
        let key = doc! { "a": 1, "b": "x" };
        assert_eq!(
            place(&error),
            ("things".into(), Some("by_a_b".into()), Some(key.into()))
        );
        // One document may have the same element twice, and a key that it gives up is free at once.
        insert(&store, vec![doc! { "_id": 3, "n": [7, 7, 8] }])
            .await
            .expect("an insert");
        run(
            &store,
            vec![
                Write::Update(doc! { "_id": 3 }, doc! { "$set": { "n": 8 } }),
                Write::Insert(vec![doc! { "_id": 4, "n": 7, "a": 9 }]),
            ],
        )
        .await
        .expect("an update");
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn null_and_missing_are_one_value_of_a_unique_index_unless_only_present_ones_count() {
    block_on(async {
        let present = IndexSpec {
            present_only: true,
            ..unique("present", &[("n", 1)])
        };
        let store = things(vec![present]).await;
        let documents = vec![
            doc! { "_id": 1 },
            doc! { "_id": 2, "n": null },
            doc! { "_id": 3 },
            doc! { "_id": 4, "n": [] },
            doc! { "_id": 5, "n": [] },
            doc! { "_id": 6, "n": 1 },
        ];
        insert(&store, documents).await.expect("an insert");
        let error = insert(&store, vec![doc! { "_id": 7, "n": 1 }])
            .await
            .expect_err("taken");
        assert!(error.is_duplicate_key());

        let store = things(vec![unique("all", &[("n", 1)])]).await;
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
        let error = insert(&store, vec![doc! { "_id": 2, "n": null }])
            .await
            .expect_err("taken");
        assert!(error.is_duplicate_key());
    });
}

#[test]
fn what_cannot_be_stored_is_refused_and_nothing_of_the_unit_is_stored() {
    block_on(async {
        let store = things(vec![]).await;
        let mut malformed = rawdoc! { "_id": 1, "text": "abc" }.into_bytes();
        let at = malformed
            .windows(3)
            .position(|text| text == b"abc")
            .expect("the text");
        malformed[at] = 0xff;
        let malformed = bson::RawDocumentBuf::from_bytes(malformed).expect("a sound frame");
        let mut transaction = store
            .begin(TransactionOptions::default())
            .await
            .expect("a transaction");
        for (document, kind) in [
            (malformed, ErrorKind::Encode),
            (rawdoc! { "n": 1 }, ErrorKind::Encode),
            (rawdoc! { "_id": [1] }, ErrorKind::Encode),
            (
                rawdoc! { "_id": 1, "x": "y".repeat(16 << 20) },
                ErrorKind::Limit,
            ),
        ] {
            let error = insert_all(
                &mut *transaction,
                "things",
                &[rawdoc! { "_id": 9 }, document],
            )
            .await;
            assert_eq!(error.expect_err("refused").kind(), kind);
        }
        let error = insert_all(&mut *transaction, "", &[rawdoc! { "_id": 1 }])
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Schema);
        transaction.commit().await.expect("a commit");
        assert_eq!(all(&store).await, Vec::<Document>::new());
    });
}

#[test]
fn an_update_tells_what_each_document_was_and_became() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        insert(
            &store,
            vec![
                doc! { "_id": 1, "n": 1 },
                doc! { "_id": 2, "n": 5 },
                doc! { "_id": 3, "n": 1 },
            ],
        )
        .await
        .expect("an insert");
        let updated = update_one(&store, update(doc! {}, doc! { "$max": { "n": 3 } }))
            .await
            .expect("an update");
        assert_eq!(updated.matched, 3);
        assert_eq!(updated.modified, 2);
        assert_eq!(
            all(&store).await,
            [
                doc! { "_id": 1, "n": 3 },
                doc! { "_id": 2, "n": 5 },
                doc! { "_id": 3, "n": 3 },
            ]
        );
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn an_update_that_moves_documents_along_its_own_index_meets_each_once() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        insert(&store, (0..50).map(|i| doc! { "_id": i, "n": i }).collect())
            .await
            .expect("an insert");
        let write = update(doc! { "n": { "$gte": 0 } }, doc! { "$inc": { "n": 7 } });
        let updated = update_one(&store, write).await.expect("an update");
        assert_eq!(updated.modified, 50);
        assert_eq!(all(&store).await[49], doc! { "_id": 49, "n": 56 });
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn a_replacement_keeps_the_id_and_has_it_first() {
    block_on(async {
        let store = things(vec![]).await;
        insert(&store, vec![doc! { "_id": 1, "n": 1 }])
            .await
            .expect("an insert");
        let replace = |document: Document| UpdateWrite {
            change: Change::Replace(raw(document)),
            ..update(doc! { "n": { "$exists": true } }, doc! {})
        };
        let updated = update_one(&store, replace(doc! { "n": 2, "_id": 1.0 }))
            .await
            .expect("a replacement");
        assert_eq!(updated.modified, 1);
        assert_eq!(all(&store).await, [doc! { "_id": 1, "n": 2 }]);
        let updated = update_one(&store, replace(doc! { "n": 2 }))
            .await
            .expect("a replacement");
        assert_eq!((updated.matched, updated.modified), (1, 0));
        let error = update_one(&store, replace(doc! { "_id": 2, "n": 3 }))
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidUpdate);
        let error = update_one(&store, update(doc! {}, doc! { "$set": { "_id": 2 } })).await;
        assert_eq!(error.expect_err("refused").kind(), ErrorKind::InvalidUpdate);
        assert_eq!(all(&store).await, [doc! { "_id": 1, "n": 2 }]);
    });
}

#[test]
fn an_upsert_makes_a_document_of_the_filter_where_none_matches() {
    block_on(async {
        let store = things(vec![unique("by_n", &[("n", 1)])]).await;
        let upsert = |query: Document, change: Document| UpdateWrite {
            upsert: true,
            ..update(query, change)
        };
        let write = upsert(
            doc! { "n": 7 },
            doc! { "$set": { "a": 1 }, "$setOnInsert": { "b": 2 } },
        );
        let updated = update_one(&store, write.clone()).await.expect("an upsert");
        assert!(updated.inserted);
        let stored = all(&store).await.remove(0);
        assert!(stored.get_object_id("_id").is_ok());
        assert_eq!(stored.keys().next().map(String::as_str), Some("_id"));
        assert_eq!(
            (stored.get("n"), stored.get("a"), stored.get("b")),
            (Some(&7.into()), Some(&1.into()), Some(&2.into()))
        );
        let again = update_one(&store, write).await.expect("an upsert");
        assert_eq!(
            (again.matched, again.modified, again.inserted),
            (1, 0, false)
        );

        let replace = UpdateWrite {
            upsert: true,
            change: Change::Replace(raw(doc! { "n": 8 })),
            ..update(doc! { "_id": 5, "x": 1 }, doc! {})
        };
        let updated = update_one(&store, replace).await.expect("an upsert");
        assert!(updated.inserted);
        assert_eq!(all(&store).await[0], doc! { "_id": 5, "n": 8 });
        let taken = upsert(doc! { "_id": 6 }, doc! { "$set": { "n": 8 } });
        assert!(
            update_one(&store, taken)
                .await
                .expect_err("taken")
                .is_duplicate_key()
        );
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn a_delete_returns_how_many_documents_it_removed() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        insert(
            &store,
            (0..6).map(|i| doc! { "_id": i, "n": i % 2 }).collect(),
        )
        .await
        .expect("an insert");
        let mut transaction = store
            .begin(TransactionOptions::default())
            .await
            .expect("a transaction");
        for removed in [3, 0] {
            let write = delete(doc! { "n": 1 });
            let deleted = transaction.delete(&write).await.expect("a delete");
            assert_eq!(deleted.removed, removed);
            assert_eq!(deleted.cost.documents_written, removed);
        }
        transaction.commit().await.expect("a commit");
        assert_eq!(all(&store).await.len(), 3);
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn a_unit_that_writes_too_many_documents_is_refused_with_the_number() {
    block_on(async {
        let store = Embedded::builder()
            .unit_limit(10)
            .memory()
            .await
            .expect("a store");
        let documents =
            |range: std::ops::Range<i32>| range.map(|i| doc! { "_id": i }).collect::<Vec<_>>();
        insert(&store, documents(0..10))
            .await
            .expect("as many as allowed");
        let error = insert(&store, documents(10..21))
            .await
            .expect_err("one too many");
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains("10"), "{error}");
        insert(&store, documents(10..15)).await.expect("an insert");
        let error = run(&store, vec![Write::Delete(doc! {})])
            .await
            .expect_err("too many");
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(all(&store).await.len(), 15);
    });
}

#[test]
fn an_index_is_built_from_the_documents_that_exist() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        insert(
            &store,
            (0..500)
                .map(|i| doc! { "_id": i, "n": [i, i + 1], "u": i })
                .collect(),
        )
        .await
        .expect("an insert");
        let specs = |indexes| [collection("things", indexes), collection("others", vec![])];
        store
            .ensure(&specs(vec![
                index("by_n", &[("n", 1)]),
                unique("by_u", &[("u", -1)]),
            ]))
            .await
            .expect("indexes");
        store.check_integrity().await.expect("sound indexes");
        let reader = store.reader().expect("an open store");
        let find = odm_store::Find {
            filter: filter(doc! { "n": 7 }),
            ..find_all()
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(explain.index.as_deref(), Some("by_n"));
        assert_eq!(explain.cost.documents_returned, 2);
        // An existing index is left alone, and an index cannot become another.
        store
            .ensure(&specs(vec![index("by_n", &[("n", 1)])]))
            .await
            .expect("nothing to do");
        let error = store
            .ensure(&specs(vec![index("by_n", &[("n", -1)])]))
            .await
            .expect_err("differs");
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("by_n"), "{error}");
        // A unique index that cannot be built says why, and leaves nothing behind.
        insert(
            &store,
            vec![
                doc! { "_id": -1, "u": -1, "v": 5 },
                doc! { "_id": -2, "u": -2, "v": 5 },
            ],
        )
        .await
        .expect("an insert");
        let specs = [
            collection("new", vec![]),
            collection(
                "things",
                vec![IndexSpec {
                    present_only: true,
                    ..unique("by_v", &[("v", 1)])
                }],
            ),
        ];
        let error = store.ensure(&specs).await.expect_err("not unique");
        assert_eq!(
            place(&error),
            ("things".into(), Some("by_v".into()), Some(5.into()))
        );
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn an_index_that_is_too_large_for_one_commit_is_built_in_parts() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        let text = "x".repeat(200);
        for portion in 0..5 {
            let documents = (0..100)
                .map(|i| doc! { "_id": portion * 100 + i, "n": format!("{text}{i}-{portion}") });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
        }
        insert(
            &store,
            vec![doc! { "_id": 5000, "n": format!("{text}0-0") }],
        )
        .await
        .expect("an insert");
        let error = store
            .ensure(&[collection("things", vec![unique("by_n", &[("n", 1)])])])
            .await;
        assert!(error.expect_err("not unique").is_duplicate_key());
        // The entries that were written of the index are gone.
        store.check_integrity().await.expect("nothing left behind");
        run(&store, vec![Write::Delete(doc! { "_id": 5000 })])
            .await
            .expect("a delete");
        store
            .ensure(&[collection("things", vec![unique("by_n", &[("n", 1)])])])
            .await
            .expect("an index");
        store.check_integrity().await.expect("sound indexes");
        let again = || vec![doc! { "_id": 5000, "n": format!("{text}0-0") }];
        let error = insert(&store, again()).await;
        assert!(error.expect_err("taken").is_duplicate_key());
        // Another index of its name takes its place, and its entries are gone.
        let plain = CollectionSpec {
            obsolete: vec![unique("by_n", &[("n", 1)])],
            ..collection("things", vec![index("by_n", &[("n", 1)])])
        };
        store.ensure(&[plain]).await.expect("an index");
        insert(&store, again()).await.expect("it is not unique");
        store.check_integrity().await.expect("sound indexes");
        without_garbage(&store);
    });
}

fn a_write() -> impl Strategy<Value = Write> {
    let value = || {
        prop_oneof![
            3 => (0..5i32).prop_map(Bson::Int32),
            1 => Just(Bson::Null),
            1 => prop::collection::vec((0..5i32).prop_map(Bson::Int32), 0..3).prop_map(Bson::Array),
        ]
    };
    let id = || 0..8i32;
    prop_oneof![
        4 => (id(), value(), value()).prop_map(|(id, a, b)| Write::Insert(vec![doc! { "_id": id, "a": a, "b": b }])),
        2 => (value(), value()).prop_map(|(a, b)| Write::Update(doc! { "a": a }, doc! { "$set": { "b": b } })),
        1 => id().prop_map(|id| Write::Update(doc! { "_id": id }, doc! { "$push": { "a": 9 } })),
        1 => id().prop_map(|id| Write::Update(doc! { "_id": { "$gte": id } }, doc! { "$unset": { "a": 1 } })),
        2 => (id(), value()).prop_map(|(id, a)| Write::Replace(doc! { "_id": id }, doc! { "a": a })),
        2 => id().prop_map(|id| Write::Delete(doc! { "_id": id })),
        1 => value().prop_map(|a| Write::Delete(doc! { "a": a })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn indexes_agree_with_the_documents_after_any_history(
        units in prop::collection::vec(prop::collection::vec(a_write(), 1..4), 1..12),
    ) {
        block_on(async {
            let store = things(vec![
                index("a", &[("a", 1)]),
                index("a_b", &[("a", -1), ("b", 1)]),
                IndexSpec { present_only: true, ..unique("b", &[("b", 1)]) },
            ])
            .await;
            for unit in units {
                let before = all(&store).await;
                if run(&store, unit).await.is_err() {
                    assert_eq!(all(&store).await, before);
                }
                store.check_integrity().await.expect("sound indexes");
            }
        });
    }
}
