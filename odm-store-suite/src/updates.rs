//! Updates and removals by a filter.

use bson::{Document, RawDocumentBuf, doc};
use odm_store::{Change, DeleteWrite, Deleted, ErrorKind, Store, UpdateWrite, Updated};

use super::support::*;

fn counts(updated: &Updated) -> (u64, u64, bool) {
    (updated.matched, updated.modified, updated.inserted)
}

fn replacement(matching: Document, document: Document) -> UpdateWrite {
    UpdateWrite {
        change: Change::Replace(raw(document)),
        ..update_of(matching, doc! {})
    }
}

fn upsert(write: UpdateWrite) -> UpdateWrite {
    UpdateWrite {
        upsert: true,
        ..write
    }
}

async fn delete(store: &impl Store, matching: Document) -> Deleted {
    let write = DeleteWrite {
        collection: THINGS.to_owned(),
        filter: filter(matching),
    };
    let mut transaction = begin(store).await;
    let deleted = transaction.delete(&write).await.expect("the removal runs");
    transaction.commit().await.expect("the transaction commits");
    deleted
}

pub async fn an_update_changes_the_documents_that_match(store: impl Store) {
    ensure(&store, vec![index("by n", &["n"])]).await;
    insert_all(
        &store,
        (1..=4).map(|id| doc! { "_id": id, "n": id % 2, "a": [1] }),
    )
    .await;
    let change = doc! { "$inc": { "n": 10 }, "$push": { "a": 2 }, "$set": { "b.c": "x" } };
    let updated = update(&store, &update_of(doc! { "n": 1 }, change)).await;
    assert_eq!(counts(&updated.expect("the update runs")), (2, 2, false));
    let expected = [
        doc! { "_id": 1, "n": 11, "a": [1, 2], "b": { "c": "x" } },
        doc! { "_id": 2, "n": 0, "a": [1] },
        doc! { "_id": 3, "n": 11, "a": [1, 2], "b": { "c": "x" } },
        doc! { "_id": 4, "n": 0, "a": [1] },
    ];
    assert_stored(&store, expected).await;
    // The indexes follow.
    let reader = store.reader().expect("the store can be read");
    assert_eq!(
        ids(&*reader, &query(doc! { "n": { "$gte": 1 } })).await,
        [1, 3]
    );
}

pub async fn an_update_that_leaves_a_document_as_it_was_counts_it_as_matched_alone(
    store: impl Store,
) {
    insert_all(
        &store,
        [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
    let set = update_of(doc! {}, doc! { "$set": { "n": 2 } });
    assert_eq!(
        counts(&update(&store, &set).await.expect("the update runs")),
        (2, 1, false)
    );
    assert_eq!(
        counts(&update(&store, &set).await.expect("the update runs")),
        (2, 0, false)
    );
    let none = update_of(doc! { "_id": 9 }, doc! { "$set": { "n": 2 } });
    assert_eq!(
        counts(&update(&store, &none).await.expect("the update runs")),
        (0, 0, false)
    );
    let elsewhere = UpdateWrite {
        collection: "others".to_owned(),
        ..none
    };
    let updated = update(&store, &elsewhere).await.expect("the update runs");
    assert_eq!(counts(&updated), (0, 0, false));
}

pub async fn an_update_sees_no_document_twice(store: impl Store) {
    ensure(&store, vec![index("by n", &["n"])]).await;
    insert_all(&store, (1..=20).map(|id| doc! { "_id": id, "n": id })).await;
    // Each document moves forward in the index by which it is found.
    let change = update_of(doc! { "n": { "$gt": 0 } }, doc! { "$inc": { "n": 5 } });
    let updated = update(&store, &change).await.expect("the update runs");
    assert_eq!(counts(&updated), (20, 20, false));
    assert_stored(&store, (1..=20).map(|id| doc! { "_id": id, "n": id + 5 })).await;
}

pub async fn all_current_dates_of_an_update_are_the_same(store: impl Store) {
    insert_all(&store, (1..=20).map(|id| doc! { "_id": id })).await;
    let now = update_of(doc! {}, doc! { "$currentDate": { "a": true, "b": true } });
    update(&store, &now).await.expect("the update runs");
    let dates = stored(&store)
        .await
        .into_iter()
        .flat_map(|document| ["a", "b"].map(|path| document.get_datetime(path).expect("a date")));
    let dates: std::collections::BTreeSet<_> = dates.collect();
    assert_eq!(dates.len(), 1);
}

pub async fn an_update_that_cannot_be_applied_to_a_document_changes_none(store: impl Store) {
    let before = [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": "text" }];
    insert_all(&store, before.clone()).await;
    let add = update_of(doc! {}, doc! { "$inc": { "n": 1 } });
    assert_fails(update(&store, &add).await, ErrorKind::InvalidUpdate);
    assert_stored(&store, before).await;
}

pub async fn a_replacement_keeps_the_id(store: impl Store) {
    insert_all(
        &store,
        [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
    let without = replacement(doc! { "n": 1 }, doc! { "m": 5 });
    assert_eq!(
        counts(&update(&store, &without).await.expect("the update runs")),
        (1, 1, false)
    );
    let same = replacement(doc! { "_id": 2 }, doc! { "m": 6, "_id": 2 });
    assert_eq!(
        counts(&update(&store, &same).await.expect("the update runs")),
        (1, 1, false)
    );
    assert_stored(
        &store,
        [doc! { "_id": 1, "m": 5 }, doc! { "_id": 2, "m": 6 }],
    )
    .await;
    let other = replacement(doc! { "_id": 2 }, doc! { "_id": 3 });
    assert_fails(update(&store, &other).await, ErrorKind::InvalidUpdate);
    assert_stored(
        &store,
        [doc! { "_id": 1, "m": 5 }, doc! { "_id": 2, "m": 6 }],
    )
    .await;
}

pub async fn an_upsert_inserts_where_nothing_matches(store: impl Store) {
    let change = || doc! { "$set": { "n": 1 }, "$setOnInsert": { "first": true } };
    let write = upsert(update_of(
        doc! { "_id": 5, "a.b": "x", "c": { "$gt": 1 } },
        change(),
    ));
    let updated = update(&store, &write).await.expect("the update runs");
    assert_eq!(counts(&updated), (0, 0, true));
    let inserted = doc! { "_id": 5, "a": { "b": "x" }, "first": true, "n": 1 };
    assert_stored(&store, [inserted.clone()]).await;

    let again = upsert(update_of(doc! { "_id": 5 }, change()));
    let updated = update(&store, &again).await.expect("the update runs");
    assert_eq!(counts(&updated), (1, 0, false));
    assert_stored(&store, [inserted]).await;
}

pub async fn an_upsert_without_an_id_gives_the_document_a_new_one_as_its_first_field(
    store: impl Store,
) {
    let writes = [
        upsert(update_of(doc! { "a": 1 }, doc! { "$set": { "n": 1 } })),
        upsert(replacement(doc! { "a": 2 }, doc! { "n": 2 })),
    ];
    for (n, write) in (1..).zip(writes) {
        let updated = update(&store, &write).await.expect("the update runs");
        assert_eq!(counts(&updated), (0, 0, true));
        let stored: Vec<RawDocumentBuf> = stored(&store).await;
        let new = stored
            .iter()
            .find(|document| document.get_i32("n").is_ok_and(|found| found == n));
        let new = new.expect("the document is stored");
        let first = new
            .iter()
            .next()
            .expect("a field")
            .expect("the field can be read");
        assert_eq!(first.0.as_str(), "_id");
        assert!(first.1.as_object_id().is_some(), "{new:?}");
    }
    let whole = upsert(replacement(doc! { "_id": 3, "a": 3 }, doc! { "n": 3 }));
    update(&store, &whole).await.expect("the update runs");
    let reader = store.reader().expect("the store can be read");
    let three = raw(doc! { "_id": 3, "n": 3 });
    assert_eq!(got(&*reader, [3.into()]).await, [(0, three)]);
}

pub async fn an_upsert_to_a_taken_id_is_refused(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    let write = upsert(update_of(
        doc! { "_id": 1, "n": 2 },
        doc! { "$set": { "a": 1 } },
    ));
    assert_fails(update(&store, &write).await, ErrorKind::DuplicateKey);
    assert_stored(&store, [doc! { "_id": 1, "n": 1 }]).await;
}

pub async fn a_removal_removes_the_documents_that_match(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    insert_all(&store, (1..=5).map(|id| doc! { "_id": id, "n": id })).await;
    assert_eq!(delete(&store, doc! { "n": { "$gte": 4 } }).await.removed, 2);
    assert_eq!(delete(&store, doc! { "n": { "$gte": 4 } }).await.removed, 0);
    assert_stored(&store, (1..=3).map(|id| doc! { "_id": id, "n": id })).await;
    // Their keys are free.
    insert_all(&store, [doc! { "_id": 9, "n": 4 }]).await;
    assert_eq!(delete(&store, doc! {}).await.removed, 4);
    assert_stored(&store, []).await;
}

pub async fn an_update_and_a_removal_see_the_transaction_they_are_in(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    let mut transaction = begin(&store).await;
    let writes = [insert(doc! { "_id": 2, "n": 1 })];
    apply(&mut *transaction, &writes)
        .await
        .expect("the batch is applied");
    let change = update_of(doc! { "n": 1 }, doc! { "$inc": { "n": 1 } });
    let updated = transaction.update(&change).await.expect("the update runs");
    assert_eq!(counts(&updated), (2, 2, false));
    let write = DeleteWrite {
        collection: THINGS.to_owned(),
        filter: filter(doc! { "n": 2, "_id": 1 }),
    };
    assert_eq!(
        transaction
            .delete(&write)
            .await
            .expect("the removal runs")
            .removed,
        1
    );
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 2, "n": 2 }]).await;
}
