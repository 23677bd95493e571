//! Changes of whole collections, on stores that can make them.

use bson::doc;
use odm_mql::Collation;
use odm_store::{
    CollectionChange, CollectionSpec, ErrorKind, Store, Transaction, TransactionOptions,
};

use super::support::*;

fn create(name: &str) -> CollectionChange {
    CollectionChange::Create {
        name: name.to_owned(),
        indexes: vec![unique("by n", &["n"])],
        collation: None,
    }
}

fn replace_by(from: &str) -> CollectionChange {
    CollectionChange::Replace {
        from: from.to_owned(),
        to: THINGS.to_owned(),
    }
}

/// Runs a transaction until it has lost no conflict: a store may remove the remains of earlier changes meanwhile.
async fn commit(
    store: &impl Store,
    run: impl AsyncFn(&mut dyn Transaction) -> odm_store::Result<()>,
) -> odm_store::Result<()> {
    loop {
        let mut transaction = store.begin(TransactionOptions::default()).await?;
        let ran = run(&mut *transaction).await;
        let result = match ran {
            Ok(()) => transaction.commit().await,
            Err(error) => Err(error),
        };
        if !result.as_ref().is_err_and(|error| error.is_retryable()) {
            return result;
        }
    }
}

/// Makes changes in a transaction, and commits it if all are made.
async fn change(store: &impl Store, changes: &[CollectionChange]) -> odm_store::Result<()> {
    commit(store, async |transaction| {
        transaction.change_collections(changes).await
    })
    .await
}

async fn insert_beside(store: &impl Store, document: bson::Document) -> odm_store::Result<()> {
    let document = raw(document);
    commit(store, async |transaction| {
        let batch = odm_store::CollectionWrites {
            collection: "beside",
            writes: vec![odm_store::DocumentWrite::Insert(&document)],
        };
        transaction.apply(&[batch]).await.map(drop)
    })
    .await
}

pub async fn a_collection_takes_the_place_of_another_with_the_indexes_of_it(store: impl Store) {
    if !store.capabilities().changes_collections {
        let error = assert_fails(
            change(&store, &[create("beside")]).await,
            ErrorKind::InvalidQuery,
        );
        assert!(error.to_string().contains("changes_collections"), "{error}");
        return;
    }
    ensure(&store, vec![unique("by n", &["n"])]).await;
    insert_all(
        &store,
        [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
    let before = stored(&store).await;
    let reader = store.reader().unwrap();
    assert_eq!(reader.count(&query(doc! {})).await.unwrap().0, 2);
    // An existing collection of the name is removed.
    change(&store, &[create("beside")]).await.unwrap();
    insert_beside(&store, doc! { "_id": 9, "n": 9 })
        .await
        .unwrap();
    change(&store, &[create("beside")]).await.unwrap();
    insert_beside(&store, doc! { "_id": 3, "n": 1 })
        .await
        .unwrap();
    assert_fails(
        insert_beside(&store, doc! { "_id": 4, "n": 1 }).await,
        ErrorKind::DuplicateKey,
    );
    assert_eq!(stored(&store).await, before);
    change(&store, &[replace_by("beside")]).await.unwrap();
    assert_eq!(stored(&store).await, [raw(doc! { "_id": 3, "n": 1 })]);
    // An earlier reader sees the earlier documents.
    assert_eq!(reader.count(&query(doc! {})).await.unwrap().0, 2);
    let taken = write(&store, &[insert(doc! { "_id": 5, "n": 1 })]).await;
    assert_fails(taken, ErrorKind::DuplicateKey);
    write(&store, &[insert(doc! { "_id": 1, "n": 2 })])
        .await
        .unwrap();
    let found = store.reader().unwrap().count(&query(doc! { "n": 2 })).await;
    assert_eq!(found.unwrap().0, 1);
    // The new collection has only the indexes of the request.
    let spec = CollectionSpec {
        name: THINGS.to_owned(),
        indexes: vec![unique("by n", &["n"])],
        ..CollectionSpec::default()
    };
    store.ensure(&[spec]).await.unwrap();
    let dropped = CollectionChange::Drop {
        name: THINGS.to_owned(),
    };
    change(&store, &[dropped.clone(), dropped]).await.unwrap();
    assert!(stored(&store).await.is_empty());
}

pub async fn nothing_of_a_failed_change_of_collections_is_made(store: impl Store) {
    if !store.capabilities().changes_collections {
        return;
    }
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let changes = [
        CollectionChange::Drop {
            name: THINGS.to_owned(),
        },
        replace_by("not there"),
    ];
    let error = assert_fails(change(&store, &changes).await, ErrorKind::Schema);
    assert!(
        error.to_string().contains("`not there` is not there"),
        "{error}"
    );
    assert_eq!(stored(&store).await, [raw(doc! { "_id": 1 })]);
    // A change without a commit has no effect.
    let mut transaction = store.begin(TransactionOptions::default()).await.unwrap();
    transaction.change_collections(&changes[..1]).await.unwrap();
    assert_eq!(transaction.count(&query(doc! {})).await.unwrap().0, 0);
    let listed = transaction.collections().await.unwrap();
    assert!(listed.iter().all(|spec| spec.name != THINGS), "{listed:?}");
    transaction
        .change_collections(&[create("beside")])
        .await
        .unwrap();
    let listed = transaction.collections().await.unwrap();
    let beside = listed.iter().find(|spec| spec.name == "beside");
    assert_eq!(beside.unwrap().indexes, [unique("by n", &["n"])]);
    assert!(transaction.has_made("beside").await.unwrap());
    for other in [THINGS, "nowhere"] {
        assert!(!transaction.has_made(other).await.unwrap());
    }
    transaction.rollback().await.unwrap();
    assert_eq!(stored(&store).await, [raw(doc! { "_id": 1 })]);
    let listed = store.collections().await.unwrap();
    assert!(listed.iter().all(|spec| spec.name != "beside"));
}

pub async fn a_collection_keeps_its_default_collation(store: impl Store) {
    let of = |locale: &str| {
        let collation = Collation::parse(&doc! { "locale": locale });
        collation.expect("a collation")
    };
    let spec = |collation: Option<Collation>| CollectionSpec {
        name: THINGS.to_owned(),
        collation,
        ..CollectionSpec::default()
    };
    let default = async || {
        let reader = store.reader().unwrap();
        reader.default_collation(THINGS).await.unwrap()
    };
    assert_eq!(default().await, None);
    if !store.capabilities().collations {
        assert_fails(store.ensure(&[spec(of("de"))]).await, ErrorKind::Schema);
        return;
    }
    store.ensure(&[spec(of("de"))]).await.unwrap();
    store.ensure(&[spec(None)]).await.unwrap();
    assert_eq!(default().await, of("de"));
    assert_fails(store.ensure(&[spec(of("sv"))]).await, ErrorKind::Schema);
    insert_all(&store, [doc! { "_id": 1 }]).await;
    if let Some(listed) = listed(&store).await {
        assert_eq!(listed, [spec(of("de"))]);
    }
    assert_eq!(default().await, of("de"));
    if !store.capabilities().changes_collections {
        return;
    }
    let create = CollectionChange::Create {
        name: "beside".to_owned(),
        indexes: Vec::new(),
        collation: of("sv"),
    };
    commit(&store, async |transaction| {
        let changes = [create.clone(), replace_by("beside")];
        transaction.change_collections(&changes).await?;
        let default = transaction.default_collation(THINGS).await?;
        assert_eq!(default, of("sv"));
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(default().await, of("sv"));
}
