//! Changes of whole collections: removed collections leave nothing behind, also after a crash.

use bson::doc;
use odm_store::{CollectionChange, Store, TransactionOptions};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

async fn open(disk: &Disk) -> Embedded {
    let store = Embedded::builder().backend(disk.clone()).await;
    store.expect("a store")
}

async fn change(store: &Embedded, changes: &[CollectionChange]) {
    let transaction = store.begin(TransactionOptions::default()).await;
    let mut transaction = transaction.expect("a transaction");
    let changed = transaction.change_collections(changes).await;
    changed.expect("a change");
    transaction.commit().await.expect("a commit");
}

#[tokio::test]
async fn what_a_collection_has_replaced_is_swept_and_the_store_is_sound_at_every_moment() {
    let disk = Disk::formatted().await;
    let store = open(&disk).await;
    let specs = [collection(
        "things",
        vec![index("by_n", &[("n", 1)]), unique("by_m", &[("m", 1)])],
    )];
    store.ensure(&specs).await.expect("indexes");
    let text = "x".repeat(150);
    let documents = |from: i32| {
        (from..from + 50).map(|id| doc! { "_id": id, "n": [id, -id], "m": id, "text": &text })
    };
    insert(&store, documents(0).collect())
        .await
        .expect("an insert");
    for round in 1..4 {
        let create = CollectionChange::Create {
            name: "beside".into(),
            indexes: specs[0].indexes.clone(),
            collation: None,
        };
        change(&store, &[create]).await;
        let replace = CollectionChange::Replace {
            from: "beside".into(),
            to: "things".into(),
        };
        change(&store, &[replace]).await;
        store.check_integrity().await.expect("a sound store");
        insert(&store, documents(round * 100).collect())
            .await
            .expect("an insert");
        // A crash in the middle of the sweep.
        let left = open(&disk.after_power_loss()).await;
        without_garbage(&left);
        left.check_integrity().await.expect("a sound store");
        assert_eq!(left.indexes().expect("an open store").len(), 2);
    }
    without_garbage(&store);
    store.close().await.expect("a close");
    let again = open(&disk).await;
    without_garbage(&again);
    again.check_integrity().await.expect("a sound store");
    let trees = again
        .handle
        .published
        .get()
        .expect("a state")
        .base
        .trees()
        .expect("trees");
    // The records, the documents, and two indexes.
    assert_eq!(trees.len(), 4);
}
