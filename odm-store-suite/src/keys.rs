//! Queries for each of several keys.

use std::{ops::ControlFlow, sync::Arc};

use bson::{Bson, RawDocument, doc};
use odm_mql::Projection;
use odm_store::{Error, ErrorKind, Find, FindByKey, Reader, Store};

use super::support::*;

/// A reader of `things` that belong to others: three to 1, two to 2, one to both 1 and 3, one to none.
async fn reader_of_some(store: &impl Store) -> Arc<dyn Reader> {
    ensure(store, vec![index("by owner and rank", &["owner", "-rank"])]).await;
    let things = [
        doc! { "_id": 1, "owner": 1, "rank": 5 },
        doc! { "_id": 2, "owner": 2, "rank": 1 },
        doc! { "_id": 3, "owner": 1, "rank": 7 },
        doc! { "_id": 4, "owner": 1.0, "rank": 7 },
        doc! { "_id": 5, "owner": 2, "rank": 2 },
        doc! { "_id": 6, "owner": [1, 3], "rank": 6 },
        doc! { "_id": 7, "rank": 9 },
    ];
    insert_all(store, things).await;
    store.reader().expect("the store can be read")
}

fn owners(keys: impl IntoIterator<Item = impl Into<Bson>>, find: Find) -> FindByKey {
    by_key("owner", keys.into_iter().map(Into::into), find)
}

pub async fn each_key_has_the_documents_that_equal_it_or_hold_it_in_an_array(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let find = owners([3, 1, 9, 2], query(doc! {}));
    let expected = [vec![6], vec![1, 3, 4, 6], vec![], vec![2, 5]];
    assert_eq!(ids_by_key(&*reader, &find).await, expected);
    assert_eq!(reader.count_by_key(&find).await.unwrap().0, [1, 4, 0, 2]);
    let null = owners([Bson::Null], query(doc! {}));
    assert_eq!(ids_by_key(&*reader, &null).await, [[7]]);
    let none = owners([0; 0], query(doc! {}));
    assert!(reader.count_by_key(&none).await.unwrap().0.is_empty());
}

pub async fn a_key_that_occurs_twice_has_its_documents_twice(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let find = owners([Bson::Int32(2), Bson::Double(2.0)], query(doc! {}));
    assert_eq!(ids_by_key(&*reader, &find).await, [[2, 5], [2, 5]]);
    assert_eq!(reader.count_by_key(&find).await.unwrap().0, [2, 2]);
}

pub async fn filter_sort_skip_and_limit_count_for_each_key(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let sorted = Find {
        sort: sort(doc! { "rank": -1 }),
        ..query(doc! {})
    };
    let all = owners([1, 2], sorted.clone());
    assert_eq!(
        ids_by_key(&*reader, &all).await,
        [vec![3, 4, 6, 1], vec![5, 2]]
    );
    let part = Find {
        skip: 1,
        limit: Some(2),
        ..sorted.clone()
    };
    let part = owners([2, 1], part);
    assert_eq!(ids_by_key(&*reader, &part).await, [vec![2], vec![4, 6]]);
    assert_eq!(reader.count_by_key(&part).await.unwrap().0, [1, 2]);
    let high = Find {
        filter: filter(doc! { "rank": { "$gt": 5 } }),
        sort: sort(doc! { "rank": 1, "_id": -1 }),
        limit: Some(2),
        ..sorted
    };
    let high = owners([1, 2], high);
    assert_eq!(ids_by_key(&*reader, &high).await, [vec![6, 4], vec![]]);
    assert_eq!(reader.count_by_key(&high).await.unwrap().0, [2, 0]);
}

/// A server takes a text that begins with `$` for a path in some places, and a document for an expression. No key has fields that begin
/// with `$`, since no `_id` has.
pub async fn keys_that_look_like_expressions_are_values(store: impl Store) {
    let keys = ["$a", "$$NOW", "$$REMOVE", "$", "a"].map(Bson::from);
    let keys = [&keys[..], &[doc! { "a.b": "$a" }.into()]].concat();
    ensure(&store, vec![index("by owner", &["owner"])]).await;
    let things = keys.iter().zip(1..);
    let things = things.map(|(key, id)| doc! { "_id": id, "owner": key.clone() });
    insert_all(
        &store,
        things.chain([doc! { "_id": 100 }, doc! { "_id": 101, "owner": 2 }]),
    )
    .await;
    let reader = store.reader().expect("the store can be read");
    let expected: Vec<Vec<i32>> = (1..=keys.len() as i32).map(|id| vec![id]).collect();
    for limit in [None, Some(2)] {
        let find = Find {
            limit,
            ..query(doc! {})
        };
        let find = owners(keys.clone(), find);
        assert_eq!(ids_by_key(&*reader, &find).await, expected);
        assert_eq!(
            reader.count_by_key(&find).await.unwrap().0,
            vec![1; keys.len()]
        );
    }
}

pub async fn documents_of_a_key_have_the_fields_of_the_projection(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let projection = Projection::include(["rank"]).expect("the projection is valid");
    let find = Find {
        projection: Some(projection),
        ..query(doc! {})
    };
    let mut documents = Vec::new();
    let each = &mut |position, document: &RawDocument| {
        documents.push((position, document.to_owned()));
        Ok(ControlFlow::Continue(()))
    };
    let read = reader.find_by_key(&owners([2], find), each).await;
    read.expect("the query runs");
    let expected = [doc! { "_id": 2, "rank": 1 }, doc! { "_id": 5, "rank": 2 }];
    assert_eq!(documents, expected.map(|document| (0, raw(document))));
}

pub async fn a_query_by_keys_after_a_position_is_refused(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let find = Find {
        after: Some(vec![value(1)]),
        ..query(doc! {})
    };
    let find = owners([1], find);
    let read = reader
        .find_by_key(&find, &mut |_, _| Ok(ControlFlow::Continue(())))
        .await;
    assert_fails(read, ErrorKind::InvalidQuery);
    assert_fails(reader.count_by_key(&find).await, ErrorKind::InvalidQuery);
}

pub async fn a_query_by_keys_ends_when_its_callback_breaks_or_fails(store: impl Store) {
    let reader = reader_of_some(&store).await;
    let find = owners([1, 2], query(doc! {}));
    let mut calls = 0;
    let broken = reader
        .find_by_key(&find, &mut |_, _| {
            calls += 1;
            Ok(ControlFlow::Break(()))
        })
        .await;
    broken.expect("a break is no error");
    assert_eq!(calls, 1);
    let failed = reader
        .find_by_key(&find, &mut |_, _| {
            calls += 1;
            Err(Error::new(ErrorKind::Decode, "no document: pass another"))
        })
        .await;
    assert_fails(failed, ErrorKind::Decode);
    assert_eq!(calls, 2);
}
