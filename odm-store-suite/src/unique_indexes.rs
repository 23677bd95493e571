//! Unique indexes.

use bson::{Bson, Document, doc};
use odm_mql::Collation;
use odm_store::{Error, ErrorKind, IndexSpec, Store};

use super::support::*;

/// The index, or the path, and the value of an error.
fn location(error: &Error) -> (&str, Bson) {
    let location = error.location().expect("the error is about an index");
    assert_eq!(location.collection, THINGS);
    let value = location.id.clone().expect("the error has the key");
    let path = location.path.as_deref().expect("the error has the path");
    (
        location.index.as_deref().unwrap_or(path),
        Bson::try_from(value).expect("the value is BSON"),
    )
}

/// Asserts that a document cannot be inserted into the stored documents.
async fn assert_taken(store: &impl Store, document: Document) -> Error {
    let before = stored(store).await;
    let error = assert_fails(
        write(store, &[insert(document)]).await,
        ErrorKind::DuplicateKey,
    );
    assert_eq!(stored(store).await, before);
    error
}

fn present(index: IndexSpec) -> IndexSpec {
    IndexSpec {
        present_only: true,
        ..index
    }
}

pub async fn a_taken_key_is_refused_with_its_index_and_value(store: impl Store) {
    ensure(&store, vec![index("by m", &["m"]), unique("by n", &["n"])]).await;
    insert_all(
        &store,
        [
            doc! { "_id": 1, "n": 7, "m": 1 },
            doc! { "_id": 2, "n": 8, "m": 1 },
        ],
    )
    .await;
    let error = assert_taken(&store, doc! { "_id": 3, "n": 7, "m": 1 }).await;
    assert_eq!(location(&error), ("by n", 7.into()));
    // Equal numbers are one key.
    assert_taken(&store, doc! { "_id": 3, "n": 7.0 }).await;
    let change = [replace(
        doc! { "_id": 1, "n": 7, "m": 1 },
        doc! { "_id": 1, "n": 8 },
    )];
    assert_fails(write(&store, &change).await, ErrorKind::DuplicateKey);
    // Two documents of one batch.
    let two = [
        insert(doc! { "_id": 3, "n": 9 }),
        insert(doc! { "_id": 4, "n": 9 }),
    ];
    assert_fails(write(&store, &two).await, ErrorKind::DuplicateKey);
    let expected = [
        doc! { "_id": 1, "n": 7, "m": 1 },
        doc! { "_id": 2, "n": 8, "m": 1 },
    ];
    assert_stored(&store, expected).await;
}

pub async fn null_and_missing_are_one_key_unless_only_present_ones_count(store: impl Store) {
    ensure(
        &store,
        vec![unique("n", &["n"]), present(unique("m", &["m"]))],
    )
    .await;
    insert_all(
        &store,
        [
            doc! { "_id": 1, "n": null },
            doc! { "_id": 2, "n": 1, "m": null },
        ],
    )
    .await;
    let error = assert_taken(&store, doc! { "_id": 3 }).await;
    assert_eq!(location(&error), ("n", Bson::Null));
    insert_all(
        &store,
        [doc! { "_id": 3, "n": 2, "m": 5 }, doc! { "_id": 4, "n": 3 }],
    )
    .await;
    assert_taken(&store, doc! { "_id": 5, "n": 4, "m": 5 }).await;
}

pub async fn an_index_that_ignores_case_takes_words_in_all_cases(store: impl Store) {
    if !store.capabilities().ignores_case {
        return;
    }
    let by_n = present(case_insensitive(unique("n", &["n"])));
    ensure(&store, vec![by_n]).await;
    let documents = [
        doc! { "_id": 1, "n": "Äpfel" },
        doc! { "_id": 2, "n": ["A\u{308}pfel", "Straße"] },
        doc! { "_id": 3, "n": { "a": "B" } },
        doc! { "_id": 4, "n": { "a": "b" } },
    ];
    insert_all(&store, documents.clone()).await;
    let error = assert_taken(&store, doc! { "_id": 5, "n": ["x", "äPFEL"] }).await;
    assert_eq!(location(&error), ("n", "äpfel".into()));
    assert_taken(&store, doc! { "_id": 5, "n": "STRAßE" }).await;
    assert_stored(&store, documents).await;
    // Another word, and one document with a word in two cases.
    insert_all(&store, [doc! { "_id": 5, "n": ["STRASSE", "strasse"] }]).await;
    // A word in another case is the same key of its document.
    let change = [replace(
        doc! { "_id": 1, "n": "Äpfel" },
        doc! { "_id": 1, "n": "ÄPFEL" },
    )];
    write(&store, &change).await.expect("the key is its own");
    assert_taken(&store, doc! { "_id": 6, "n": "äpfel" }).await;
    write(&store, &[remove(doc! { "_id": 1, "n": "ÄPFEL" })])
        .await
        .expect("a removal");
    insert_all(&store, [doc! { "_id": 6, "n": "äpfel" }]).await;
}

pub async fn an_index_with_a_collation_takes_equal_texts_once(store: impl Store) {
    if !store.capabilities().collations {
        return;
    }
    let collation = Collation::parse(&doc! { "locale": "en", "strength": 1 });
    let by_n = IndexSpec {
        collation: collation.expect("a collation"),
        ..unique("n", &["n"])
    };
    ensure(&store, vec![by_n]).await;
    let documents = [
        doc! { "_id": 1, "n": "Straße" },
        doc! { "_id": 2, "n": { "a": ["B"] } },
        doc! { "_id": 3, "n": 1 },
    ];
    insert_all(&store, documents.clone()).await;
    assert_taken(&store, doc! { "_id": 5, "n": "STRASSE" }).await;
    assert_taken(&store, doc! { "_id": 5, "n": ["x", "strässe"] }).await;
    assert_taken(&store, doc! { "_id": 5, "n": { "a": ["b"] } }).await;
    assert_taken(&store, doc! { "_id": 5, "n": 1.0 }).await;
    assert_stored(&store, documents).await;
    // An equal text is the same key of its document.
    let change = [replace(
        doc! { "_id": 1, "n": "Straße" },
        doc! { "_id": 1, "n": "STRASSE" },
    )];
    write(&store, &change).await.expect("the key is its own");
    write(&store, &[remove(doc! { "_id": 1, "n": "STRASSE" })])
        .await
        .expect("a removal");
    insert_all(&store, [doc! { "_id": 6, "n": "Strasse" }]).await;
}

pub async fn a_partial_index_is_unique_among_the_documents_that_match(store: impl Store) {
    let active = doc! { "active": true, "age": { "$gte": 18 } };
    let user =
        |id: i32, active: bool, age: i32| doc! { "_id": id, "n": 7, "active": active, "age": age };
    insert_all(&store, [user(1, false, 20), user(2, true, 17)]).await;
    ensure(&store, vec![partial(unique("n", &["n"]), active)]).await;
    insert_all(&store, [user(3, true, 18), user(4, false, 18)]).await;
    let error = assert_taken(&store, user(5, true, 30)).await;
    assert_eq!(location(&error), ("n", 7.into()));
    // A document that begins to match takes the key, and a document that ceases to match gives it up.
    let enters = replace(user(2, true, 17), user(2, true, 18));
    assert_fails(
        write(&store, std::slice::from_ref(&enters)).await,
        ErrorKind::DuplicateKey,
    );
    let leaves = replace(user(3, true, 18), user(3, false, 18));
    let batch = [leaves, enters];
    write(&store, &batch).await.expect("the batch is applied");
    assert_taken(&store, user(5, true, 30)).await;
    let set = update_of(doc! { "_id": 2 }, doc! { "$unset": { "age": 1 } });
    update(&store, &set).await.expect("the update is applied");
    insert_all(&store, [user(5, true, 30)]).await;
    write(&store, &[remove(user(5, true, 30))])
        .await
        .expect("the batch is applied");
    insert_all(&store, [user(6, true, 30)]).await;
}

pub async fn a_partial_index_over_equal_keys_is_refused_only_if_they_match(store: impl Store) {
    let documents = [
        doc! { "_id": 1, "n": 1, "a": "x" },
        doc! { "_id": 2, "n": 1 },
        doc! { "_id": 3, "n": 1, "a": ["x", 5] },
    ];
    insert_all(&store, documents.clone()).await;
    let of = |filter| partial(unique("n", &["n"]), filter);
    for filter in [
        doc! { "a": "x" },
        doc! { "n": { "$gt": 0 } },
        doc! { "a": { "$exists": true } },
    ] {
        let ensured = store.ensure(&[things(vec![of(filter)])]).await;
        assert_fails(ensured, ErrorKind::DuplicateKey);
    }
    ensure(&store, vec![of(doc! { "a": { "$gt": 4 } })]).await;
    assert_stored(&store, documents).await;
    assert_taken(&store, doc! { "_id": 4, "n": 1, "a": 6 }).await;
}

pub async fn a_compound_key_is_taken_as_a_whole(store: impl Store) {
    ensure(&store, vec![unique("ab", &["a", "-b.c"])]).await;
    let some = [
        doc! { "_id": 1, "a": 1, "b": { "c": 1 } },
        doc! { "_id": 2, "a": 1, "b": { "c": 2 } },
        doc! { "_id": 3, "a": 2, "b": { "c": 1 } },
        doc! { "_id": 4, "a": 1 },
    ];
    insert_all(&store, some).await;
    let error = assert_taken(&store, doc! { "_id": 5, "a": 1, "b": { "c": 2 } }).await;
    assert_eq!(location(&error), ("ab", doc! { "a": 1, "b.c": 2 }.into()));
    assert_taken(&store, doc! { "_id": 5, "a": 1, "b": 7 }).await;
}

pub async fn a_compound_key_of_present_ones_needs_all_its_fields(store: impl Store) {
    ensure(&store, vec![present(unique("ab", &["a", "b"]))]).await;
    let some = [
        doc! { "_id": 1, "a": 1 },
        doc! { "_id": 2, "a": 1, "b": null },
        doc! { "_id": 3, "b": 1 },
        doc! { "_id": 4, "a": 1, "b": 1 },
        doc! { "_id": 5, "a": 1, "b": [] },
        doc! { "_id": 6, "a": 1, "b": [] },
    ];
    insert_all(&store, some).await;
    assert_taken(&store, doc! { "_id": 7, "a": 1, "b": 1 }).await;
}

pub async fn each_element_of_an_array_is_a_key(store: impl Store) {
    ensure(
        &store,
        vec![unique("n", &["n"]), present(unique("l", &["l.k", "l.v"]))],
    )
    .await;
    let some = [
        // An element may occur twice in one document.
        doc! { "_id": 1, "n": [1, 2, 2], "l": [{ "k": 1, "v": 1 }, { "k": 1, "v": 2 }] },
        doc! { "_id": 2, "n": 3, "l": [{ "k": 2, "v": 2 }] },
    ];
    insert_all(&store, some.clone()).await;
    let error = assert_taken(&store, doc! { "_id": 3, "n": [5, 2.0] }).await;
    assert_eq!(location(&error), ("n", 2.0.into()));
    let taken = doc! { "_id": 3, "n": 9, "l": [{ "k": 2, "v": 1 }, { "k": 1, "v": 2 }] };
    let error = assert_taken(&store, taken).await;
    assert_eq!(location(&error), ("l", doc! { "l.k": 1, "l.v": 2 }.into()));
    // The values that an array gives up are free, and the values that it keeps are not.
    let [one, _] = some;
    let change = [replace(one, doc! { "_id": 1, "n": [2, 6] })];
    write(&store, &change).await.expect("the batch is applied");
    assert_taken(&store, doc! { "_id": 3, "n": 6 }).await;
    insert_all(&store, [doc! { "_id": 3, "n": 1, "l": { "k": 1, "v": 1 } }]).await;
}

pub async fn two_arrays_side_by_side_in_an_index_are_refused(store: impl Store) {
    ensure(&store, vec![index("ab", &["a", "b"])]).await;
    let batch = [
        insert(doc! { "_id": 1 }),
        insert(doc! { "_id": 2, "a": [1], "b": [2] }),
    ];
    assert_fails(write(&store, &batch).await, ErrorKind::InvalidUpdate);
    assert_stored(&store, []).await;
}

pub async fn a_key_that_is_given_up_is_free(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    insert_all(
        &store,
        [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
    // By a removal in the same batch, at any position.
    let batch = [
        insert(doc! { "_id": 3, "n": 1 }),
        remove(doc! { "_id": 1, "n": 1 }),
    ];
    write(&store, &batch).await.expect("the batch is applied");
    let batch = [
        replace(doc! { "_id": 3, "n": 1 }, doc! { "_id": 3, "n": 2 }),
        remove(doc! { "_id": 2, "n": 2 }),
    ];
    write(&store, &batch).await.expect("the batch is applied");
    // By an earlier batch of the transaction.
    let mut transaction = begin(&store).await;
    let batch = [replace(
        doc! { "_id": 3, "n": 2 },
        doc! { "_id": 3, "n": 4 },
    )];
    apply(&mut *transaction, &batch)
        .await
        .expect("the batch is applied");
    let batch = [insert(doc! { "_id": 4, "n": 2 })];
    apply(&mut *transaction, &batch)
        .await
        .expect("the batch is applied");
    transaction.commit().await.expect("the transaction commits");
    assert_stored(
        &store,
        [doc! { "_id": 3, "n": 4 }, doc! { "_id": 4, "n": 2 }],
    )
    .await;
}

pub async fn an_update_to_a_taken_key_changes_nothing(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    let before = [
        doc! { "_id": 1, "n": 1 },
        doc! { "_id": 2, "n": 2 },
        doc! { "_id": 3, "n": 3 },
    ];
    insert_all(&store, before.clone()).await;
    let set = update_of(doc! { "_id": { "$gt": 1 } }, doc! { "$set": { "n": 5 } });
    assert_fails(update(&store, &set).await, ErrorKind::DuplicateKey);
    assert_stored(&store, before).await;
}
