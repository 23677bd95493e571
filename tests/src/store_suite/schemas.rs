//! Collections and indexes that are declared.

use odm::{
    ErrorKind,
    bson::doc,
    store::{CollectionSpec, IndexSpec, Store},
};

use super::support::*;

pub async fn ensure_leaves_what_exists(store: impl Store) {
    let indexes = || vec![unique("n", &["n"]), index("ab", &["a", "-b"])];
    ensure(&store, indexes()).await;
    let documents = [doc! { "_id": 1, "n": 1, "a": 1, "b": 2 }];
    insert_all(&store, documents.clone()).await;
    ensure(&store, indexes()).await;
    // With fewer indexes, and with none.
    ensure(&store, vec![index("ab", &["a", "-b"])]).await;
    ensure(&store, vec![]).await;
    store.ensure(&[]).await.expect("there is nothing to create");
    assert_stored(&store, documents).await;
    let taken = write(&store, &[insert(doc! { "_id": 2, "n": 1 })]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
}

pub async fn an_index_with_other_keys_or_options_under_one_name_is_refused(store: impl Store) {
    ensure(&store, vec![index("i", &["a", "b"])]).await;
    let others = [
        index("i", &["a"]),
        index("i", &["b", "a"]),
        index("i", &["a", "-b"]),
        unique("i", &["a", "b"]),
        IndexSpec {
            present_only: true,
            ..index("i", &["a", "b"])
        },
    ];
    for other in others {
        let ensured = store.ensure(&[things(vec![other])]).await;
        assert_fails(ensured, ErrorKind::Schema);
    }
    // Another collection may have an index of that name.
    let others = CollectionSpec {
        name: "others".to_owned(),
        indexes: vec![unique("i", &["c"])],
    };
    store.ensure(&[others]).await.expect("the index is created");
}

pub async fn a_new_index_has_the_documents_that_exist(store: impl Store) {
    let some = (1..=20).map(|id| doc! { "_id": id, "n": id, "a": id % 3, "l": [id, -id] });
    insert_all(&store, some).await;
    ensure(
        &store,
        vec![unique("n", &["n"]), index("a", &["-a"]), index("l", &["l"])],
    )
    .await;
    let taken = write(&store, &[insert(doc! { "_id": 21, "n": 7 })]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
    let reader = store.reader().expect("the store can be read");
    assert_eq!(
        ids(&*reader, &query(doc! { "a": 0 })).await,
        [3, 6, 9, 12, 15, 18]
    );
    assert_eq!(ids(&*reader, &query(doc! { "l": -5 })).await, [5]);
}

pub async fn a_unique_index_over_equal_keys_is_refused(store: impl Store) {
    let documents = [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 1.0 }];
    insert_all(&store, documents.clone()).await;
    let ensured = store.ensure(&[things(vec![unique("n", &["n"])])]).await;
    assert_fails(ensured, ErrorKind::DuplicateKey);
    assert_stored(&store, documents.clone()).await;
    // The index does not exist, so the key is not refused, and it can be created later.
    let change = [replace(
        doc! { "_id": 2, "n": 1.0 },
        doc! { "_id": 2, "n": 2 },
    )];
    write(&store, &[insert(doc! { "_id": 3, "n": 3 })])
        .await
        .expect("the batch is applied");
    write(&store, &change).await.expect("the batch is applied");
    ensure(&store, vec![unique("n", &["n"])]).await;
    let taken = write(&store, &[insert(doc! { "_id": 4, "n": 3 })]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
}

pub async fn a_transaction_that_began_before_an_index_does_not_break_it(store: impl Store) {
    if store.capabilities().single_writer.is_some() {
        return; // The index would wait for the transaction.
    }
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    let mut transaction = begin(&store).await;
    assert_eq!(ids(&*transaction, &query(doc! {})).await, [1]);
    ensure(&store, vec![unique("n", &["n"])]).await;
    let applied = apply(&mut *transaction, &[insert(doc! { "_id": 2, "n": 1 })]).await;
    let ended = match applied {
        Ok(()) => transaction.commit().await,
        Err(error) => Err(error),
    };
    let error = ended.expect_err("the key is taken");
    assert!(
        error.is_retryable() || error.is_duplicate_key(),
        "{error:?}"
    );
    assert_stored(&store, [doc! { "_id": 1, "n": 1 }]).await;
}

pub async fn names_that_are_empty_or_have_a_nul_are_refused(store: impl Store) {
    for name in ["", "a\0"] {
        let collection = CollectionSpec {
            name: name.to_owned(),
            indexes: vec![],
        };
        assert_fails(store.ensure(&[collection]).await, ErrorKind::Schema);
    }
    for index in [
        index("", &["a"]),
        index("i", &[""]),
        index("i", &["a\0"]),
        index("i", &[]),
    ] {
        assert_fails(
            store.ensure(&[things(vec![index])]).await,
            ErrorKind::Schema,
        );
    }
}
