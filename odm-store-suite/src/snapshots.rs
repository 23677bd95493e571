//! The state that a reader sees.

use bson::{Bson, doc};
use odm_store::{Find, Store};

use super::support::*;

pub async fn a_reader_sees_what_was_committed_before_it_and_nothing_later(store: impl Store) {
    insert_all(
        &store,
        [doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 1 }],
    )
    .await;
    let reader = store.reader().expect("the store can be read");
    // The first read may fix the state.
    assert_eq!(ids(&*reader, &query(doc! {})).await, [1, 2]);
    let changes = [
        replace(doc! { "_id": 1, "a": 1 }, doc! { "_id": 1, "a": 2 }),
        remove(doc! { "_id": 2, "a": 1 }),
        insert(doc! { "_id": 3, "a": 1 }),
    ];
    write(&store, &changes).await.expect("the batch is applied");

    let of_a = by_key("a", [Bson::Int32(1), Bson::Int32(2)], query(doc! {}));
    assert_eq!(ids(&*reader, &query(doc! { "a": 1 })).await, [1, 2]);
    assert_eq!(
        got(&*reader, [2.into(), 3.into()]).await,
        [(0, raw(doc! { "_id": 2, "a": 1 }))]
    );
    assert_eq!(ids_by_key(&*reader, &of_a).await, [vec![1, 2], vec![]]);
    assert_eq!(reader.count(&query(doc! {})).await.unwrap().0, 2);
    assert_eq!(reader.count_by_key(&of_a).await.unwrap().0, [2, 0]);

    let newer = store.reader().expect("the store can be read");
    assert_eq!(ids(&*newer, &query(doc! {})).await, [1, 3]);
    assert_eq!(ids_by_key(&*newer, &of_a).await, [vec![3], vec![1]]);
}

pub async fn a_reader_sees_nothing_of_a_transaction_before_its_commit(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let mut transaction = begin(&store).await;
    let writes = [remove(doc! { "_id": 1 }), insert(doc! { "_id": 2 })];
    apply(&mut *transaction, &writes)
        .await
        .expect("the batch is applied");
    assert_stored(&store, [doc! { "_id": 1 }]).await;
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 2 }]).await;
}

pub async fn a_collection_that_does_not_exist_is_empty(store: impl Store) {
    let reader = store.reader().expect("the store can be read");
    let keys = by_key("a", [Bson::Null], query(doc! {}));
    assert!(found(&*reader, &query(doc! {})).await.is_empty());
    assert!(got(&*reader, [Bson::Null]).await.is_empty());
    assert_eq!(reader.count(&query(doc! {})).await.unwrap().0, 0);
    assert_eq!(ids_by_key(&*reader, &keys).await, [Vec::<i32>::new()]);
    assert_eq!(reader.count_by_key(&keys).await.unwrap().0, [0]);
}

pub async fn collections_do_not_share_documents(store: impl Store) {
    let (a, b) = (
        [insert(doc! { "_id": 1, "a": 1 })],
        [insert(doc! { "_id": 1, "b": 1 })],
    );
    let mut transaction = begin(&store).await;
    let batch = [writes_to(THINGS, &a), writes_to("others", &b)];
    transaction
        .apply(&batch)
        .await
        .expect("the batch is applied");
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 1, "a": 1 }]).await;
    let others = Find {
        collection: "others".to_owned(),
        ..Find::default()
    };
    let reader = store.reader().expect("the store can be read");
    assert_eq!(
        found(&*reader, &others).await,
        [raw(doc! { "_id": 1, "b": 1 })]
    );
}
