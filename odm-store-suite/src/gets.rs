//! Reads by `_id`.

use std::ops::ControlFlow;

use bson::{Bson, doc, oid::ObjectId};
use odm_store::{Error, ErrorKind, Store};

use super::support::*;

pub async fn get_passes_the_documents_that_exist_with_the_positions_of_their_ids(
    store: impl Store,
) {
    insert_all(&store, (1..=5).map(|id| doc! { "_id": id, "n": id * 10 })).await;
    let reader = store.reader().expect("the store can be read");
    let wanted = [4, 9, 1, 5].map(Bson::Int32);
    let expected = [(0, 4), (2, 1), (3, 5)];
    let expected = expected.map(|(at, id)| (at, raw(doc! { "_id": id, "n": id * 10 })));
    assert_eq!(got(&*reader, wanted).await, expected);
    assert!(got(&*reader, []).await.is_empty());
}

pub async fn get_passes_a_document_once_for_each_time_that_its_id_occurs(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    let reader = store.reader().expect("the store can be read");
    let passed = got(&*reader, [2, 1, 2, 2].map(Bson::Int32)).await;
    let positions = passed.iter().map(|(at, document)| (*at, id_of(document)));
    assert_eq!(
        positions.collect::<Vec<_>>(),
        [(0, 2), (1, 1), (2, 2), (3, 2)]
    );
}

pub async fn get_takes_equal_numbers_of_different_types_for_one_id(store: impl Store) {
    insert_all(
        &store,
        [
            doc! { "_id": 1 },
            doc! { "_id": 2_i64 },
            doc! { "_id": 2.5 },
        ],
    )
    .await;
    let reader = store.reader().expect("the store can be read");
    let wanted = [
        Bson::Double(1.0),
        Bson::Int64(1),
        Bson::Double(2.0),
        Bson::Int32(2),
    ];
    let one = raw(doc! { "_id": 1 });
    let two = raw(doc! { "_id": 2_i64 });
    let expected = [(0, one.clone()), (1, one), (2, two.clone()), (3, two)];
    assert_eq!(got(&*reader, wanted).await, expected);
}

pub async fn ids_of_different_types_are_different(store: impl Store) {
    let some: [Bson; 8] = [
        Bson::Null,
        1.into(),
        "1".into(),
        doc! { "a": 1, "b": 2 }.into(),
        doc! { "b": 2, "a": 1 }.into(),
        ObjectId::from_bytes([1; 12]).into(),
        true.into(),
        "".into(),
    ];
    insert_all(&store, some.iter().map(|id| doc! { "_id": id })).await;
    let reader = store.reader().expect("the store can be read");
    let expected = some
        .iter()
        .enumerate()
        .map(|(at, id)| (at, raw(doc! { "_id": id })));
    assert_eq!(
        got(&*reader, some.clone()).await,
        expected.collect::<Vec<_>>()
    );
    assert!(
        got(&*reader, [Bson::Int32(0), doc! {}.into(), false.into()])
            .await
            .is_empty()
    );
}

pub async fn a_get_ends_when_its_callback_breaks_or_fails(store: impl Store) {
    insert_all(&store, (1..=3).map(|id| doc! { "_id": id })).await;
    let reader = store.reader().expect("the store can be read");
    let wanted = [1, 2, 3].map(value);
    let mut calls = 0;
    let broken = reader
        .get(THINGS, &wanted, &mut |_, _| {
            calls += 1;
            Ok(ControlFlow::Break(()))
        })
        .await;
    broken.expect("a break is no error");
    assert_eq!(calls, 1);
    let failed = reader
        .get(THINGS, &wanted, &mut |_, _| {
            calls += 1;
            Err(Error::new(ErrorKind::Decode, "no document: pass another"))
        })
        .await;
    let error = assert_fails(failed, ErrorKind::Decode);
    assert_eq!(
        (calls, error.to_string().as_str()),
        (2, "no document: pass another")
    );
}
