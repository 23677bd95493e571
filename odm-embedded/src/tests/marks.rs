//! Marks of the documents of collections.

use bson::doc;
use odm_store::{CollectionChange, CollectionMark, Store, TransactionOptions};

use super::support::*;
use crate::Embedded;

fn mark(store: &Embedded, collection: &str) -> Option<CollectionMark> {
    store.reader().expect("a reader").mark(collection)
}

#[tokio::test]
async fn a_mark_is_another_one_after_each_commit_that_changes_the_collection() {
    let store = things(Vec::new()).await;
    let others = [collection("others", Vec::new())];
    store.ensure(&others).await.expect("a collection");
    assert_eq!(mark(&store, "none"), None);
    let (empty, others) = (mark(&store, "things"), mark(&store, "others"));
    assert!(empty.is_some() && empty != others);
    let before = store.reader().expect("a reader");
    let mut marks = vec![empty];
    for write in [
        Write::Insert(vec![doc! { "_id": 1 }]),
        Write::Update(doc! {}, doc! { "$set": { "n": 1 } }),
        Write::Delete(doc! {}),
    ] {
        run(&store, vec![write]).await.expect("a write");
        let new = mark(&store, "things");
        assert!(new.is_some() && marks.iter().all(|mark| *mark != new));
        assert_eq!(mark(&store, "things"), new);
        assert_eq!(mark(&store, "others"), others);
        marks.push(new);
    }
    // An older state has no mark of a newer one.
    assert!(before.mark("things").is_none() || before.mark("things") == marks[0]);
    let transaction = store.begin(Default::default()).await;
    assert_eq!(transaction.expect("a transaction").mark("things"), None);
}

#[tokio::test]
async fn a_mark_is_of_no_other_collection_of_the_name_and_of_no_other_checkpoint() {
    let store = things(Vec::new()).await;
    insert(&store, vec![doc! { "_id": 1 }])
        .await
        .expect("an insert");
    let first = mark(&store, "things");
    store.check().await.expect("a checkpoint");
    let second = mark(&store, "things");
    assert!(first.is_some() && second.is_some() && first != second);
    let empty = CollectionChange::Create {
        name: "things".to_owned(),
        indexes: Vec::new(),
        collation: None,
    };
    let options = TransactionOptions::default();
    let mut transaction = store.begin(options).await.expect("a transaction");
    let created = transaction.change_collections(&[empty]).await;
    created.expect("an empty collection");
    transaction.commit().await.expect("a commit");
    let third = mark(&store, "things");
    assert!(third.is_some() && third != second);
}
