//! Batches of writes.

use bson::{Bson, RawBson, RawDocumentBuf, doc};
use odm_store::{ErrorKind, Store};

use super::support::*;

pub async fn a_batch_inserts_replaces_and_removes(store: impl Store) {
    insert_all(&store, (1..=4).map(|id| doc! { "_id": id, "n": id })).await;
    let batch = [
        insert(doc! { "_id": 0, "new": true }),
        remove(doc! { "_id": 4, "n": 4 }),
        replace(
            doc! { "_id": 2, "n": 2 },
            doc! { "_id": 2, "changed": [1, 2] },
        ),
        insert(doc! { "_id": 3.5 }),
        remove(doc! { "_id": 1, "n": 1 }),
    ];
    write(&store, &batch).await.expect("the batch is applied");
    let expected = [
        doc! { "_id": 0, "new": true },
        doc! { "_id": 2, "changed": [1, 2] },
        doc! { "_id": 3, "n": 3 },
        doc! { "_id": 3.5 },
    ];
    assert_stored(&store, expected).await;
    // A removed `_id` is free.
    write(&store, &[insert(doc! { "_id": 4 })])
        .await
        .expect("the batch is applied");
}

pub async fn a_document_is_stored_byte_for_byte(store: impl Store) {
    let image = raw(doc! {
        "_id": 1,
        "z": 1_i64, "a": 1.0, "m": -0.0, "nan": f64::NAN, "": "no name",
        "deep": { "b": [{}, [], null, { "y": 1, "x": 2 }] },
        "ends": [Bson::MinKey, Bson::MaxKey],
    });
    let batch = [Write::Insert(image.clone())];
    write(&store, &batch).await.expect("the batch is applied");
    assert_eq!(bytes(stored(&store).await), [image.as_bytes()]);
    // Equal numbers, other bytes.
    let after = raw(doc! { "_id": 1, "z": 1.0, "a": 1_i64, "m": 0.0 });
    let batch = [Write::Replace(image, after.clone())];
    write(&store, &batch).await.expect("the batch is applied");
    assert_eq!(bytes(stored(&store).await), [after.as_bytes()]);
}

pub async fn a_document_with_values_of_deprecated_types_is_stored_byte_for_byte(store: impl Store) {
    let image = raw(doc! { "_id": 1, "types": [Bson::Undefined, Bson::Symbol("s".into())] });
    write(&store, &[Write::Insert(image.clone())])
        .await
        .expect("the batch is applied");
    assert_eq!(bytes(stored(&store).await), [image.as_bytes()]);
}

fn bytes(documents: Vec<RawDocumentBuf>) -> Vec<Vec<u8>> {
    documents
        .into_iter()
        .map(RawDocumentBuf::into_bytes)
        .collect()
}

pub async fn a_transaction_reads_what_its_batches_wrote(store: impl Store) {
    ensure(&store, vec![index("by n", &["n"])]).await;
    insert_all(&store, (1..=3).map(|id| doc! { "_id": id, "n": id })).await;
    let mut transaction = begin(&store).await;
    let first = [
        replace(doc! { "_id": 1, "n": 1 }, doc! { "_id": 1, "n": 9 }),
        remove(doc! { "_id": 3, "n": 3 }),
    ];
    apply(&mut *transaction, &first)
        .await
        .expect("the batch is applied");
    let second = [
        replace(doc! { "_id": 1, "n": 9 }, doc! { "_id": 1, "n": 2 }),
        insert(doc! { "_id": 3, "n": 2.0 }),
    ];
    apply(&mut *transaction, &second)
        .await
        .expect("the batch is applied");
    assert_eq!(ids(&*transaction, &query(doc! { "n": 2 })).await, [1, 2, 3]);
    assert_eq!(
        transaction
            .count(&query(doc! { "n": { "$gt": 2 } }))
            .await
            .unwrap()
            .0,
        0
    );
    let by_n = by_key("n", [2.into(), 1.into()], query(doc! {}));
    assert_eq!(
        ids_by_key(&*transaction, &by_n).await,
        [vec![1, 2, 3], vec![]]
    );
    assert_eq!(transaction.count_by_key(&by_n).await.unwrap().0, [3, 0]);
    let three = raw(doc! { "_id": 3, "n": 2.0 });
    assert_eq!(got(&*transaction, [Bson::Int32(3)]).await, [(0, three)]);
    transaction.commit().await.expect("the transaction commits");
    let expected = [
        doc! { "_id": 1, "n": 2 },
        doc! { "_id": 2, "n": 2 },
        doc! { "_id": 3, "n": 2.0 },
    ];
    assert_stored(&store, expected).await;
}

pub async fn an_empty_batch_changes_nothing(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let mut transaction = begin(&store).await;
    transaction.apply(&[]).await.expect("the batch is applied");
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 1 }]).await;
}

pub async fn an_insert_of_a_taken_id_is_refused(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "a": 1 }]).await;
    for taken in [Bson::Int32(1), Bson::Double(1.0), Bson::Int64(1)] {
        let batch = [
            insert(doc! { "_id": 2 }),
            insert(doc! { "_id": taken.clone() }),
        ];
        let error = assert_fails(write(&store, &batch).await, ErrorKind::DuplicateKey);
        let location = error.location().expect("the error is about a document");
        assert_eq!(location.collection, THINGS);
        assert_eq!(location.path.as_deref(), Some("_id"));
        let id = location.id.as_ref().map(RawBson::as_raw_bson_ref);
        assert_eq!(id, Some(value(taken).as_raw_bson_ref()));
    }
    assert_stored(&store, [doc! { "_id": 1, "a": 1 }]).await;
}

pub async fn a_batch_that_changes_a_document_that_is_not_there_is_refused(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "a": 1 }]).await;
    let wrong = [
        replace(doc! { "_id": 2 }, doc! { "_id": 2, "a": 1 }),
        remove(doc! { "_id": 2 }),
    ];
    for wrong in wrong {
        let batch = [insert(doc! { "_id": 3 }), wrong];
        assert_fails(write(&store, &batch).await, ErrorKind::Corrupt);
    }
    assert_stored(&store, [doc! { "_id": 1, "a": 1 }]).await;
}

pub async fn a_replacement_with_another_id_is_refused(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    for other in [2, 3] {
        let batch = [replace(doc! { "_id": 1 }, doc! { "_id": other })];
        assert_fails(write(&store, &batch).await, ErrorKind::InvalidUpdate);
    }
    assert_stored(&store, [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
}

pub async fn nothing_of_a_failed_batch_is_stored_in_any_collection(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let others = [insert(doc! { "_id": 1 })];
    let failing = [insert(doc! { "_id": 2 }), insert(doc! { "_id": 1 })];
    let mut transaction = begin(&store).await;
    let batch = [writes_to("others", &others), writes_to(THINGS, &failing)];
    assert_fails(transaction.apply(&batch).await, ErrorKind::DuplicateKey);
    transaction
        .rollback()
        .await
        .expect("the transaction is rolled back");
    assert_stored(&store, [doc! { "_id": 1 }]).await;
    let find = odm_store::Find {
        collection: "others".to_owned(),
        ..query(doc! {})
    };
    let reader = store.reader().expect("the store can be read");
    assert!(found(&*reader, &find).await.is_empty());
}

pub async fn a_batch_to_a_collection_without_a_valid_name_is_refused(store: impl Store) {
    let writes = [insert(doc! { "_id": 1 })];
    for name in ["", "a\0b"] {
        let mut transaction = begin(&store).await;
        let applied = transaction.apply(&[writes_to(name, &writes)]).await;
        assert_fails(applied, ErrorKind::Schema);
        transaction
            .rollback()
            .await
            .expect("the transaction is rolled back");
    }
}
