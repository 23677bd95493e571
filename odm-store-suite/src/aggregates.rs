//! Groups of documents.

use std::ops::ControlFlow;

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use odm_mql::{
    Group,
    group::{Accumulator, DateUnit, GroupKey},
    order,
};
use odm_store::{Aggregate, Cost, Error, ErrorKind, Find, Reader, Result, Store};

use super::support::*;

/// Documents with values of several types, in which `a` and `b` are not arrays.
fn some() -> Vec<Document> {
    let mut documents = vec![
        doc! { "_id": 100, "a": "text", "b": "x", "c": [{ "d": 1 }, { "d": 7 }, 7] },
        doc! { "_id": 101, "a": true, "b": "y", "c": { "d": 7 } },
        doc! { "_id": 102, "a": 3.0, "b": null, "c": null },
        doc! { "_id": 103, "b": "x", "c": [[5], { "d": 2 }] },
    ];
    documents.extend((0..30).map(|id| {
        let mut document = doc! { "_id": id, "a": id % 5, "b": (["x", "y", "z"][id as usize % 3]) };
        if id % 4 > 0 {
            document.insert("c", vec![doc! { "d": id % 2 }; id as usize % 4 - 1]);
        }
        if id % 7 == 0 {
            document.insert("a", i64::from(id % 5));
        }
        document
    }));
    documents
}

async fn reader_of_some(store: &impl Store) -> std::sync::Arc<dyn Reader> {
    let indexes = vec![
        index("by a", &["a"]),
        index("by b and a", &["-b", "a"]),
        index("by d", &["c.d"]),
    ];
    ensure(store, indexes).await;
    insert_all(store, some()).await;
    store.reader().expect("the store can be read")
}

fn group(
    unwind: Option<&'static str>,
    keys: &[&'static str],
    accumulators: Vec<Accumulator>,
) -> Group {
    let key = |path: &&'static str| GroupKey {
        path: (*path).into(),
        start_of: None,
    };
    Group {
        unwind: unwind.map(Into::into),
        keys: keys.iter().map(key).collect(),
        accumulators,
    }
}

fn groups() -> Vec<Group> {
    use Accumulator::{Avg, Count, Max, Min, Sum};
    vec![
        group(None, &[], vec![Count]),
        group(None, &[], vec![Min("a".into())]),
        group(None, &[], vec![Max("a".into())]),
        group(None, &[], vec![Max("_id".into())]),
        group(
            None,
            &[],
            vec![Sum("a".into()), Avg("a".into()), Min("c.d".into())],
        ),
        group(None, &["a"], vec![Count]),
        group(None, &["b"], vec![Count]),
        group(None, &["a", "b"], vec![Count]),
        group(None, &["a"], vec![]),
        group(None, &["c.d"], vec![Count]),
        group(None, &["b"], vec![Count, Sum("a".into()), Max("a".into())]),
        group(Some("c"), &["b"], vec![Count, Sum("c.d".into())]),
        group(Some("c"), &["c.d", "a"], vec![Count]),
    ]
}

fn aggregate(find: Find, group: Group) -> Aggregate {
    Aggregate {
        find,
        group,
        ..Aggregate::default()
    }
}

async fn rows(
    reader: &(impl Reader + ?Sized),
    aggregate: &Aggregate,
) -> Result<(Vec<RawDocumentBuf>, Cost)> {
    let mut rows = Vec::new();
    let each = &mut |position, row: &RawDocument| {
        assert_eq!(position, rows.len(), "positions are in order");
        rows.push(row.to_owned());
        Ok(ControlFlow::Continue(()))
    };
    let cost = reader.aggregate(aggregate, each).await?;
    Ok((rows, cost))
}

/// The rows by their definition.
async fn definition(reader: &(impl Reader + ?Sized), aggregate: &Aggregate) -> Vec<RawDocumentBuf> {
    let mut grouping = aggregate.group.begin().expect("the paths are valid");
    for document in found(reader, &aggregate.find).await {
        grouping.add(&document).expect("the keys are valid");
    }
    let mut rows: Vec<_> = grouping
        .into_rows()
        .map(|row| row.expect("a row"))
        .collect();
    rows.retain(|row| aggregate.having.matches(row).expect("a match"));
    if !aggregate.sort.is_empty() {
        rows.sort_by(|a, b| aggregate.sort.compare(a, b));
    }
    let rows = rows.into_iter().skip(aggregate.skip as usize);
    rows.take(aggregate.limit.unwrap_or(100) as usize).collect()
}

/// Asserts that rows are equal. The store chooses among equal numbers.
async fn assert_defined(reader: &(impl Reader + ?Sized), aggregate: &Aggregate) {
    let (rows, _) = rows(reader, aggregate).await.expect("the query runs");
    let expected = definition(reader, aggregate).await;
    let equal = |a: &RawDocumentBuf, b: &RawDocumentBuf| {
        order::equal(RawBsonRef::Document(a), RawBsonRef::Document(b))
    };
    let are_equal =
        rows.len() == expected.len() && rows.iter().zip(&expected).all(|(a, b)| equal(a, b));
    assert!(are_equal, "{aggregate:?}\n{rows:?}\n{expected:?}");
}

pub async fn groups_are_those_of_the_documents_that_the_query_finds(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let filters = [
        doc! {},
        doc! { "a": 3 },
        doc! { "a": { "$gt": 1 } },
        doc! { "a": { "$ne": 2 }, "b": "x" },
        doc! { "b": "x", "a": { "$lte": 3 } },
        doc! { "b": { "$in": ["x", "y"] } },
        doc! { "c.d": 1 },
        doc! { "$or": [{ "a": 3 }, { "b": "z" }] },
        doc! { "_id": { "$gt": 99 } },
        doc! { "_id": -1 },
    ];
    for filter in filters {
        for group in groups() {
            assert_defined(&*reader, &aggregate(query(filter.clone()), group.clone())).await;
            let part = Find {
                sort: sort(doc! { "b": -1 }),
                skip: 2,
                limit: Some(9),
                ..query(filter.clone())
            };
            assert_defined(&*reader, &aggregate(part, group)).await;
        }
    }
}

pub async fn rows_are_filtered_sorted_skipped_and_limited(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let accumulators = vec![Accumulator::Count, Accumulator::Sum("_id".into())];
    for having in [
        doc! {},
        doc! { "0": { "$gt": 6 } },
        doc! { "$nor": [{ "1": { "$lt": 70 } }] },
    ] {
        for order in [
            doc! {},
            doc! { "0": -1 },
            doc! { "_id.0": -1 },
            doc! { "0": 1, "1": -1 },
        ] {
            for (skip, limit) in [
                (0, None),
                (1, None),
                (0, Some(2)),
                (2, Some(3)),
                (0, Some(0)),
                (50, None),
            ] {
                let aggregate = Aggregate {
                    having: filter(having.clone()),
                    sort: sort(order.clone()),
                    skip,
                    limit,
                    ..aggregate(query(doc! {}), group(None, &["a"], accumulators.clone()))
                };
                assert_defined(&*reader, &aggregate).await;
            }
        }
    }
}

pub async fn groups_of_nothing_have_a_row_only_without_keys(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let nowhere = Find {
        collection: "nowhere".to_owned(),
        ..Find::default()
    };
    for find in [nowhere, query(doc! { "_id": -1 })] {
        for group in groups() {
            let keys = group.keys.len();
            let (rows, cost) = rows(&*reader, &aggregate(find.clone(), group))
                .await
                .unwrap();
            assert_eq!(rows.len(), usize::from(keys == 0));
            assert_eq!(cost.documents_returned, rows.len() as u64);
        }
    }
}

pub async fn groups_see_the_transaction_they_are_in(store: impl Store) {
    let before = reader_of_some(&store).await;
    let mut transaction = begin(&store).await;
    let writes = [
        remove(doc! { "_id": 102, "a": 3.0, "b": null, "c": null }),
        insert(doc! { "_id": 200, "a": 70, "b": "new", "c": [{ "d": 70 }] }),
        insert(doc! { "_id": 201, "a": 3, "b": "x" }),
    ];
    apply(&mut *transaction, &writes).await.unwrap();
    for group in groups() {
        assert_defined(&*transaction, &aggregate(query(doc! {}), group.clone())).await;
        assert_defined(&*before, &aggregate(query(doc! {}), group)).await;
    }
    let newest = aggregate(
        query(doc! {}),
        group(None, &[], vec![Accumulator::Max("_id".into())]),
    );
    let (rows, _) = rows(&*transaction, &newest).await.unwrap();
    assert_eq!(rows, [raw(doc! { "_id": {}, "0": 201 })]);
    transaction.rollback().await.unwrap();
}

pub async fn a_key_that_is_no_date_is_an_error_that_names_the_document(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let mut group = group(None, &["a"], vec![Accumulator::Count]);
    group.keys[0].start_of = Some(DateUnit::Month);
    let result = rows(&*reader, &aggregate(query(doc! { "_id": 101 }), group)).await;
    let error = assert_fails(result, ErrorKind::InvalidQuery);
    assert_eq!(error.location().unwrap().id, Some(value(101)));
}

pub async fn an_aggregate_ends_when_its_callback_breaks_or_fails(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let aggregate = aggregate(
        query(doc! {}),
        group(None, &["b"], vec![Accumulator::Count]),
    );
    let mut passed = 0;
    let each = &mut |_, _: &RawDocument| {
        passed += 1;
        Ok(ControlFlow::Break(()))
    };
    reader.aggregate(&aggregate, each).await.unwrap();
    assert_eq!(passed, 1);
    let failing = &mut |_, _: &RawDocument| Err(Error::new(ErrorKind::NotFound, "enough"));
    assert_fails(
        reader.aggregate(&aggregate, failing).await,
        ErrorKind::NotFound,
    );
}
