//! Updates of documents that the caller has not read.

use bson::{Bson, Document, doc};
use odm_mql::Update;
use odm_store::{ErrorKind, Result, Store, UnreadUpdate};

use super::support::*;

fn unread(id: i32, matching: Document, update: Document) -> UnreadUpdate {
    UnreadUpdate {
        collection: THINGS.to_owned(),
        id: Some(value(id)),
        filter: filter(matching),
        update: Update::parse(&update, &[]).expect("the update is valid"),
    }
}

/// Applies a batch to `things` with updates, in a transaction of its own.
async fn apply_with(
    store: &impl Store,
    writes: &[Write],
    updates: &[UnreadUpdate],
) -> Result<Vec<usize>> {
    let mut transaction = begin(store).await;
    let batch = [writes_to(THINGS, writes)];
    match transaction.apply_with(&batch, updates).await {
        Ok((_, unmatched)) => transaction.commit().await.map(|()| unmatched),
        Err(error) => {
            transaction.rollback().await?;
            Err(error)
        }
    }
}

pub async fn an_update_of_an_unread_document_is_applied_with_the_batch_if_it_matches(
    store: impl Store,
) {
    insert_all(
        &store,
        (1..=4).map(|id| doc! { "_id": id, "n": id, "a": [{ "k": 2 }] }),
    )
    .await;
    let push = |k: i32| doc! { "$push": { "a": { "$each": [{ "k": k }], "$sort": { "k": 1 }, "$slice": 2 } } };
    let increment = || doc! { "$inc": { "n": 10 } };
    let is_number = || doc! { "n": { "$type": ["int", "long"] } };
    let other = |k: i32| doc! { "a": { "$not": { "$elemMatch": { "k": k } } } };
    let updates = [
        unread(7, is_number(), increment()),
        unread(1, is_number(), increment()),
        unread(2, other(2), push(2)),
        unread(3, other(1), push(1)),
    ];
    let batch = [
        insert(doc! { "_id": 5, "n": "text" }),
        remove(doc! { "_id": 4, "n": 4, "a": [{ "k": 2 }] }),
    ];
    let unmatched = apply_with(&store, &batch, &updates).await;
    let mut unmatched = unmatched.expect("the batch is applied");
    unmatched.sort_unstable();
    assert_eq!(unmatched, [0, 2]);
    let expected = [
        doc! { "_id": 1, "n": 11, "a": [{ "k": 2 }] },
        doc! { "_id": 2, "n": 2, "a": [{ "k": 2 }] },
        doc! { "_id": 3, "n": 3, "a": [{ "k": 1 }, { "k": 2 }] },
        doc! { "_id": 5, "n": "text" },
    ];
    assert_stored(&store, expected).await;
}

pub async fn an_update_of_unread_documents_changes_all_that_match(store: impl Store) {
    let maker = |id: i32| match id {
        5 => Bson::Array(vec![1.into()]),
        id => (id % 2).into(),
    };
    let documents = (1..=5).map(|id| doc! { "_id": id, "maker": maker(id), "name": "old" });
    insert_all(&store, documents).await;
    let rename = |maker: i32, name: &str| UnreadUpdate {
        id: None,
        ..unread(
            0,
            doc! { "maker": { "$eq": maker, "$not": { "$type": "array" } } },
            doc! { "$set": { "name": name, "more": 1 } },
        )
    };
    let updates = [rename(1, "new"), rename(7, "none")];
    let applied = apply_with(&store, &[insert(doc! { "_id": 0 })], &updates).await;
    assert_eq!(applied.expect("the updates are applied"), [0; 0]);
    let renamed = |id: i32| doc! { "_id": id, "maker": 1, "name": "new", "more": 1 };
    let old = |id: i32| doc! { "_id": id, "maker": maker(id), "name": "old" };
    let expected = [
        doc! { "_id": 0 },
        renamed(1),
        old(2),
        renamed(3),
        old(4),
        old(5),
    ];
    assert_stored(&store, expected).await;
}

pub async fn an_update_of_an_unread_document_needs_no_batch(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "n": 1_i64 }]).await;
    let mut transaction = begin(&store).await;
    let updates = [
        unread(1, doc! { "n": 1 }, doc! { "$inc": { "n": 1 } }),
        unread(2, Document::new(), doc! { "$inc": { "n": 1 } }),
    ];
    let applied = transaction.apply_with(&[], &updates).await;
    assert_eq!(applied.expect("the updates are applied").1, [1]);
    // The transaction sees its own writes.
    assert_eq!(ids(&*transaction, &query(doc! { "n": 2 })).await, [1]);
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 1, "n": 2_i64 }]).await;
}

pub async fn nothing_of_a_failed_batch_with_updates_of_unread_documents_is_stored(
    store: impl Store,
) {
    let documents = [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2 }];
    insert_all(&store, documents.clone()).await;
    let batch = [insert(doc! { "_id": 2 }), insert(doc! { "_id": 3 })];
    let updates = [unread(1, Document::new(), doc! { "$inc": { "n": 1 } })];
    let applied = apply_with(&store, &batch, &updates).await;
    assert_fails(applied, ErrorKind::DuplicateKey);
    assert_stored(&store, documents).await;
}

pub async fn of_two_transactions_that_update_one_unread_document_the_second_fails_retryably(
    store: impl Store,
) {
    if !store.capabilities().outer_writes {
        return;
    }
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    let updates = [unread(1, Document::new(), doc! { "$inc": { "n": 1 } })];
    let (mut first, mut second) = (begin(&store).await, begin(&store).await);
    // Both have a snapshot.
    for transaction in [&first, &second] {
        assert_eq!(ids(&**transaction, &query(Document::new())).await, [1]);
    }
    let applied = first.apply_with(&[], &updates).await;
    applied.expect("nobody else has written it");
    first.commit().await.expect("the transaction commits");
    let lost = match second.apply_with(&[], &updates).await {
        Ok(_) => second.commit().await.expect_err("it is lost"),
        Err(error) => error,
    };
    assert!(lost.is_retryable(), "{lost}");
    assert_stored(&store, [doc! { "_id": 1, "n": 2 }]).await;
}
