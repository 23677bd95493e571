//! Groups of the store, compared with groups of the documents that a query finds.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_count_by_an_index_has_a_value_of_its_documents_as_it_is(
        writes in prop::collection::vec((0..6_i32, typed()), 1..20),
        is_opened_again in any::<bool>(),
    ) {
        block_on(async {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("things.odm");
            let mut store = Embedded::open(&path).await.expect("a store");
            let indexes = vec![index("a", &[("a", -1), ("_id", 1)])];
            store.ensure(&[collection("things", indexes)]).await.expect("a collection");
            let mut present = BTreeMap::new();
            for (id, value) in writes {
                let write = if present.contains_key(&id) {
                    Write::Update(doc! { "_id": id }, doc! { "$set": { "a": value.clone() } })
                } else {
                    Write::Insert(vec![doc! { "_id": id, "a": value.clone() }])
                };
                run(&store, vec![write]).await.expect("a write");
                present.insert(id, value);
            }
            if is_opened_again {
                store.close().await.expect("a close");
                store = Embedded::open(&path).await.expect("a store");
            }
            store.check_integrity().await.expect("a sound store");
            let reader = store.reader().expect("an open store");
            let count = grouped(doc! {}, &["a"], vec![Accumulator::Count]);
            let (found, _) = rows(&*reader, &count).await.expect("rows");
            let key = |of: &Bson| odm_mql::key::of(value(of.clone()).as_raw_bson_ref());
            for row in &found {
                let row = bson::deserialize_from_slice::<Document>(row.as_bytes()).expect("a row");
                let group = row.get_document("_id").expect("a key").get("0").expect("a value");
                let equal: Vec<&Bson> = present.values().filter(|value| key(value) == key(group)).collect();
                let is_one = |value: &&Bson| format!("{value:?}") == format!("{group:?}");
                prop_assert!(equal.iter().any(is_one), "{group:?} is none of {equal:?}");
                let counted = row.get("0").and_then(Bson::as_i64).or(row.get("0").and_then(Bson::as_i32).map(i64::from));
                prop_assert_eq!(counted, Some(equal.len() as i64));
            }
            let groups: BTreeSet<Vec<u8>> = present.values().map(key).collect();
            prop_assert_eq!(found.len(), groups.len());
            Ok(())
        })?;
    }
}

/// Values with equal keys, and others.
fn typed() -> impl Strategy<Value = Bson> {
    prop::sample::select(vec![
        Bson::Int32(1),
        Bson::Int32(2),
        Bson::Int64(1),
        Bson::Double(1.0),
        Bson::Double(0.0),
        Bson::Double(-0.0),
        Bson::Double(f64::NAN),
        Bson::Decimal128("1.0".parse().expect("a decimal")),
        Bson::String("a".to_owned()),
        Bson::Symbol("a".to_owned()),
        Bson::String("b\u{1}".to_owned()),
        Bson::Null,
        Bson::Boolean(true),
    ])
}

#[test]
fn a_count_by_an_index_reads_a_document_only_for_a_value_that_no_key_tells() {
    block_on(async {
        let store = things(vec![index("a", &[("a", 1)])]).await;
        let mut next = 0;
        let mut examined = async |values: Vec<Bson>| {
            let documents = values.into_iter().map(|value| {
                next += 1;
                doc! { "_id": next, "a": value }
            });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            let reader = store.reader().expect("an open store");
            let count = grouped(doc! {}, &["a"], vec![Accumulator::Count]);
            let (found, cost) = rows(&*reader, &count).await.expect("rows");
            (found.len(), cost.documents_examined)
        };
        let texts = ["new", "paid", "sent", "paid"].map(Bson::from);
        assert_eq!(examined(texts.into()).await, (3, 0));
        let numbers = [1, 2, 3, 1].map(Bson::Int32);
        assert_eq!(examined(numbers.into()).await, (6, 0));
        // From now on a number may have two types.
        assert_eq!(examined(vec![Bson::Double(1.0)]).await, (6, 3));
        assert_eq!(examined(vec![Bson::Symbol("new".into())]).await, (6, 6));
    });
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
