//! Declared collections and indexes.

use bson::{Document, doc};
use odm_store::{CollectionSpec, Error, ErrorKind, IndexSpec, Store};

use super::support::*;

pub async fn ensure_leaves_what_exists(store: impl Store) {
    let indexes = || vec![unique("n", &["n"]), index("ab", &["a", "-b"])];
    ensure(&store, indexes()).await;
    let documents = [doc! { "_id": 1, "n": 1, "a": 1, "b": 2 }];
    insert_all(&store, documents.clone()).await;
    ensure(&store, indexes()).await;
    // With fewer indexes, and without any.
    ensure(&store, vec![index("ab", &["a", "-b"])]).await;
    ensure(&store, vec![]).await;
    store.ensure(&[]).await.expect("there is nothing to create");
    assert_stored(&store, documents).await;
    let taken = write(&store, &[insert(doc! { "_id": 2, "n": 1 })]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
}

pub async fn collections_are_listed_with_their_indexes(store: impl Store) {
    let present = IndexSpec {
        present_only: true,
        ..unique("present", &["a", "-b"])
    };
    let few = IndexSpec {
        present_only: true,
        ..partial(index("few", &["a"]), doc! { "b": { "$gt": 1 } })
    };
    let indexes = vec![
        partial(unique("best", &["n"]), doc! { "b": 1 }),
        few,
        index("plain", &["-c.d", "a"]),
        present,
    ];
    ensure(&store, indexes.iter().rev().cloned().collect()).await;
    let mut transaction = begin(&store).await;
    let document = [insert(doc! { "_id": 1 })];
    let batch = [writes_to("made", &document)];
    let written = transaction.apply(&batch).await;
    written.expect("a document is inserted");
    transaction.commit().await.expect("it is committed");
    let Some(listed) = listed(&store).await else {
        return;
    };
    let own = |spec: &CollectionSpec| spec.name.starts_with("_odm");
    let listed: Vec<CollectionSpec> = listed.into_iter().filter(|spec| !own(spec)).collect();
    let made = CollectionSpec {
        name: "made".to_owned(),
        ..CollectionSpec::default()
    };
    assert_eq!(listed, [made, things(indexes)]);
}

pub async fn a_store_that_measures_collections_tells_what_they_take(store: impl Store) {
    ensure(&store, vec![index("by_b", &["b"]), index("by_a", &["a"])]).await;
    let documents = (0..10).map(|id| doc! { "_id": id, "a": id, "b": -id });
    insert_all(&store, documents).await;
    let stats = match store.collection_stats(THINGS).await {
        Ok(stats) => stats.expect("the collection is there"),
        // It measures none.
        Err(error) => return assert_eq!(error.kind(), ErrorKind::InvalidQuery),
    };
    let names = stats.indexes.iter().map(|index| index.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["_id_", "by_a", "by_b"]);
    assert_eq!(stats.documents, 10);
    assert!(stats.bytes > 0);
    let missing = store.collection_stats("missing").await;
    assert_eq!(missing.expect("it is asked for"), None);
}

pub async fn a_store_that_counts_the_uses_of_indexes_counts_those_that_find(store: impl Store) {
    ensure(&store, vec![index("by_b", &["b"]), index("by_a", &["a"])]).await;
    let uses = async || {
        let uses = store.index_uses(THINGS).await?.expect("it is there");
        let uses = uses.into_iter().map(|index| (index.name, index.count));
        Ok::<_, Error>(uses.collect::<Vec<_>>())
    };
    let before = match uses().await {
        Ok(before) => before,
        // It counts none.
        Err(error) => return assert_eq!(error.kind(), ErrorKind::InvalidQuery),
    };
    insert_all(&store, [doc! { "_id": 1, "a": 1, "b": -3 }]).await;
    let reader = store.reader().expect("a reader");
    assert_eq!(ids(&*reader, &query(doc! { "b": -3 })).await, [1]);
    let after = uses().await.expect("they are counted");
    let names = after.iter().map(|(name, _)| name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["_id_", "by_a", "by_b"]);
    let new = |at: usize| after[at].1 - before[at].1;
    assert_eq!((new(1), new(2)), (0, 1));
    let missing = store.index_uses("missing").await;
    assert_eq!(missing.expect("it is asked for"), None);
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
        case_insensitive(index("i", &["a", "b"])),
        partial(index("i", &["a", "b"]), doc! { "a": 1 }),
    ];
    for other in others {
        let ensured = store.ensure(&[things(vec![other])]).await;
        assert_fails(ensured, ErrorKind::Schema);
    }
    // Another collection may have an index of that name.
    let others = CollectionSpec {
        name: "others".to_owned(),
        indexes: vec![unique("i", &["c"])],
        ..CollectionSpec::default()
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

async fn insert_fails(store: &impl Store, document: Document) {
    let taken = write(store, &[insert(document)]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
}

pub async fn an_obsolete_index_is_removed(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"]), unique("m", &["m"])]).await;
    let all = [
        doc! { "_id": 1, "m": 1, "n": 1 },
        doc! { "_id": 2, "m": 2, "n": 1 },
    ];
    insert_all(&store, all[..1].to_vec()).await;
    insert_fails(&store, all[1].clone()).await;
    let without = things_without(vec![], vec![unique("n", &["n"])]);
    for _ in 0..2 {
        let ensured = store.ensure(std::slice::from_ref(&without)).await;
        ensured.expect("an index that does not exist can be obsolete");
    }
    insert_all(&store, all[1..].to_vec()).await;
    assert_stored(&store, all).await;
    insert_fails(&store, doc! { "_id": 3, "m": 2, "n": 3 }).await;
    let reader = store.reader().expect("the store can be read");
    assert_eq!(ids(&*reader, &query(doc! { "n": 1 })).await, [1, 2]);
}

pub async fn an_index_that_is_not_exactly_the_obsolete_one_is_left(store: impl Store) {
    ensure(&store, vec![unique("n", &["n"])]).await;
    let others = CollectionSpec {
        name: "others".to_owned(),
        ..things_without(vec![], vec![unique("n", &["n"])])
    };
    let present = IndexSpec {
        present_only: true,
        ..unique("n", &["n"])
    };
    let obsolete = vec![
        index("n", &["n"]),
        unique("n", &["-n"]),
        unique("n", &["n", "m"]),
        unique("m", &["n"]),
        present,
        partial(unique("n", &["n"]), doc! { "n": { "$exists": true } }),
    ];
    for spec in [
        others,
        things_without(vec![], obsolete),
        // A declared index is not obsolete.
        things_without(vec![unique("n", &["n"])], vec![unique("n", &["n"])]),
    ] {
        store.ensure(&[spec]).await.expect("nothing is missing");
    }
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    insert_fails(&store, doc! { "_id": 2, "n": 1 }).await;
}

pub async fn a_new_index_takes_the_place_of_an_obsolete_one_of_its_name(store: impl Store) {
    let some = (1..=20).map(|id| doc! { "_id": id, "n": id, "m": -id });
    insert_all(&store, some).await;
    let unique_among_present = IndexSpec {
        present_only: true,
        ..unique("i", &["m"])
    };
    let mut before = index("i", &["n"]);
    ensure(&store, vec![before.clone()]).await;
    for (next, is_n_unique, is_m_unique) in [
        (unique("i", &["n"]), true, false),
        (unique("i", &["-n"]), true, false),
        (unique("i", &["m"]), false, true),
        (index("i", &["m"]), false, false),
        (unique_among_present, false, true),
        (
            partial(unique("i", &["m"]), doc! { "n": { "$lt": 20 } }),
            false,
            false,
        ),
        (
            partial(unique("i", &["m"]), doc! { "n": { "$lt": 25 } }),
            false,
            true,
        ),
        (index("i", &["n", "-m"]), false, false),
    ] {
        let spec = things_without(vec![next.clone()], vec![before.clone()]);
        store.ensure(&[spec]).await.expect("the index is created");
        for (taken, document) in [
            (is_n_unique, doc! { "_id": 21, "n": 7, "m": 21 }),
            (is_m_unique, doc! { "_id": 21, "n": 21, "m": -7 }),
        ] {
            let written = write(&store, &[insert(document.clone())]).await;
            assert_eq!(written.is_err(), taken, "{next:?}");
            if written.is_ok() {
                let removed = write(&store, &[remove(document)]).await;
                removed.expect("the batch is applied");
            }
        }
        let reader = store.reader().expect("the store can be read");
        assert_eq!(ids(&*reader, &query(doc! { "n": 7, "m": -7 })).await, [7]);
        before = next;
    }
}

pub async fn an_index_that_cannot_be_created_leaves_the_obsolete_ones_in_force(store: impl Store) {
    let old = || vec![unique("i", &["n"]), unique("j", &["n", "m"])];
    ensure(&store, old()).await;
    let documents = [
        doc! { "_id": 1, "n": 1, "m": 1 },
        doc! { "_id": 2, "n": 2, "m": 1 },
    ];
    insert_all(&store, documents.clone()).await;
    for (indexes, kind) in [
        (vec![unique("i", &["m"])], ErrorKind::DuplicateKey),
        (vec![unique("k", &["m"])], ErrorKind::DuplicateKey),
        (vec![index("i", &[""])], ErrorKind::Schema),
    ] {
        let spec = things_without(indexes, old());
        assert_fails(store.ensure(&[spec]).await, kind);
        insert_fails(&store, doc! { "_id": 3, "n": 2, "m": 3 }).await;
        assert_stored(&store, documents.clone()).await;
    }
    ensure(&store, old()).await;
}

pub async fn a_transaction_that_began_before_an_index_does_not_break_it(store: impl Store) {
    if !store.capabilities().outer_writes {
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
            ..CollectionSpec::default()
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
