//! Groups of the store, compared with groups of the documents that a query finds.

use std::ops::ControlFlow;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use odm_mql::{
    Group,
    group::{Accumulator, GroupKey},
    order,
};
use odm_store::{Aggregate, Cost, ErrorKind, Find, IndexSpec, Reader, Result, STORED, Store};
use proptest::prelude::*;

use super::support::*;
use crate::Embedded;

fn grouped(
    filter_of: Document,
    keys: &[&'static str],
    accumulators: Vec<Accumulator>,
) -> Aggregate {
    let key = |path: &&'static str| GroupKey {
        path: (*path).into(),
        start_of: None,
    };
    Aggregate {
        find: Find {
            filter: filter(filter_of),
            ..find_all()
        },
        group: Group {
            keys: keys.iter().map(key).collect(),
            accumulators,
            ..Group::default()
        },
        ..Aggregate::default()
    }
}

async fn rows(reader: &dyn Reader, aggregate: &Aggregate) -> Result<(Vec<RawDocumentBuf>, Cost)> {
    let mut rows = Vec::new();
    let each = &mut |_, row: &RawDocument| {
        rows.push(row.to_owned());
        Ok(ControlFlow::Continue(()))
    };
    let cost = reader.aggregate(aggregate, each).await?;
    Ok((rows, cost))
}

fn value_of() -> impl Strategy<Value = Option<Bson>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(Bson::Null)),
        4 => (0..4_i32).prop_map(|number| Some(number.into())),
        1 => (0..4_i64).prop_map(|number| Some(number.into())),
        1 => (0..4_i32).prop_map(|half| Some((f64::from(half) / 2.0).into())),
        2 => "[ab\u{0}]{0,2}".prop_map(|text| Some(text.into())),
    ]
}

/// Documents, some of them with an array, so that an index has several entries for each.
fn documents() -> impl Strategy<Value = Vec<Document>> {
    let document = (value_of(), value_of(), 0..60_u8).prop_map(|(a, b, array)| {
        let mut document = Document::new();
        document.extend(a.map(|a| ("a".to_owned(), a)));
        document.extend(b.map(|b| ("b".to_owned(), b)));
        if array == 0 {
            document.insert("a", vec![1, 2]);
        }
        document
    });
    prop::collection::vec(document, 0..25)
}

fn indexes() -> impl Strategy<Value = Vec<IndexSpec>> {
    let present = IndexSpec {
        present_only: true,
        ..index("present", &[("a", 1)])
    };
    let all = vec![
        index("a", &[("a", 1)]),
        index("b", &[("b", -1)]),
        index("ab", &[("a", -1), ("b", 1)]),
        present,
        folded(index("folded", &[("a", 1), ("b", 1)])),
    ];
    prop::sample::subsequence(all, 0..5)
}

fn filters() -> Vec<Document> {
    vec![
        doc! {},
        doc! { "a": 1 },
        doc! { "a": { "$gt": 0 } },
        doc! { "a": null },
        doc! { "a": { "$in": [1, 2, "a"] }, "b": { "$lte": 2 } },
        doc! { "b": { "$ne": 1 } },
        doc! { "b": { "$gte": "a" } },
        doc! { "$or": [{ "a": 1 }, { "b": 1 }] },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn groups_are_those_of_the_documents_by_whatever_index(
        documents in documents(),
        changed in documents(),
        indexes in indexes(),
    ) {
        block_on(async {
            let store = things(indexes).await;
            let numbered = |documents: Vec<Document>, first: i32| -> Vec<Document> {
                let numbers = documents.into_iter().zip(first..);
                numbers.map(|(document, id)| {
                    let mut numbered = doc! { "_id": id };
                    numbered.extend(document);
                    numbered
                }).collect()
            };
            insert(&store, numbered(documents, 0)).await.expect("an insert");
            let reader = store.reader().expect("an open store");
            // Uncommitted changes are seen as well.
            let mut transaction = store.begin(Default::default()).await.expect("a transaction");
            transaction.update(&update(doc! { "b": 1 }, doc! { "$set": { "a": 3 } })).await.expect("an update");
            for document in numbered(changed, 100) {
                let id = document.get_i32("_id").expect("an id");
                let mut upsert = update(doc! { "_id": id }, doc! { "$setOnInsert": document });
                upsert.upsert = true;
                transaction.update(&upsert).await.expect("an upsert");
            }
            for filter in filters() {
                for aggregate in [
                    grouped(filter.clone(), &["a"], vec![Accumulator::Count]),
                    grouped(filter.clone(), &["b"], vec![Accumulator::Count, Accumulator::Count]),
                    grouped(filter.clone(), &["b", "a"], vec![Accumulator::Count]),
                    grouped(filter.clone(), &["b"], vec![Accumulator::Count, Accumulator::Max("a".into())]),
                    grouped(filter.clone(), &[], vec![Accumulator::Min("a".into())]),
                    grouped(filter.clone(), &[], vec![Accumulator::Max("b".into())]),
                    grouped(filter.clone(), &[], vec![Accumulator::Max("_id".into())]),
                ] {
                    for reader in [&*reader, &*transaction as &dyn Reader] {
                        let (found, _) = rows(reader, &aggregate).await.expect("rows");
                        let mut expected = Vec::new();
                        let each = &mut |_, row: &RawDocument| {
                            expected.push(row.to_owned());
                            Ok(ControlFlow::Continue(()))
                        };
                        aggregate.run_by_find(reader, STORED, each).await.expect("rows");
                        let are_equal = found.len() == expected.len()
                            && found.iter().zip(&expected).all(|(a, b)| {
                                order::equal(RawBsonRef::Document(a), RawBsonRef::Document(b))
                            });
                        assert!(are_equal, "{aggregate:?}: {found:?} and {expected:?}");
                    }
                }
            }
        });
    }
}

#[test]
fn an_extreme_is_the_first_entry_of_an_index_and_null_is_none() {
    block_on(async {
        let store = things(vec![index("a", &[("a", 1)])]).await;
        let documents = (0..100).map(|id| match id % 2 {
            0 => doc! { "_id": id, "a": id },
            _ => doc! { "_id": id },
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let least = grouped(doc! {}, &[], vec![Accumulator::Min("a".into())]);
        let (found, cost) = rows(&*reader, &least).await.expect("rows");
        assert_eq!(found, [raw(doc! { "_id": {}, "0": 0 })]);
        assert_eq!((cost.keys_examined, cost.documents_examined), (51, 1));
        let greatest = grouped(
            doc! { "a": { "$lt": 50 } },
            &[],
            vec![Accumulator::Max("a".into())],
        );
        let (found, cost) = rows(&*reader, &greatest).await.expect("rows");
        assert_eq!(found, [raw(doc! { "_id": {}, "0": 48 })]);
        assert_eq!((cost.keys_examined, cost.documents_examined), (1, 1));
    });
}

#[test]
fn the_memory_of_groups_is_bounded() {
    block_on(async {
        for indexes in [vec![], vec![index("a", &[("a", 1)])]] {
            let store = Embedded::builder()
                .sort_memory(20_000)
                .memory()
                .await
                .expect("a store");
            store
                .ensure(&[collection("things", indexes)])
                .await
                .expect("a collection");
            let documents = (0..1000).map(|id| doc! { "_id": id, "a": id, "b": id % 3 });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            let reader = store.reader().expect("an open store");
            let few = grouped(doc! {}, &["b"], vec![Accumulator::Count]);
            assert_eq!(rows(&*reader, &few).await.expect("rows").0.len(), 3);
            let many = grouped(doc! {}, &["a"], vec![Accumulator::Count]);
            let error = rows(&*reader, &many).await.expect_err("too many groups");
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.to_string().contains("`things`"), "{error}");
            assert!(error.to_string().contains("sort_memory"), "{error}");
        }
    });
}
