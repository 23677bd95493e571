//! What collections take, and how often their indexes are used.

use std::{ops::ControlFlow, time::Duration};

use bson::{Document, RawBson, doc};
use odm_store::{CollectionSpec, CollectionStats, Each, Find, IndexStats, Store};

use super::support::*;
use crate::{Embedded, disk::Disk, layout::END};

async fn open(disk: &Disk) -> Embedded {
    let store = Embedded::builder().backend(disk.clone()).await;
    store.expect("a store")
}

fn find(query: Document) -> Find {
    Find {
        filter: filter(query),
        ..find_all()
    }
}

async fn stats(store: &impl Store) -> CollectionStats {
    let stats = store.collection_stats("things").await;
    stats.expect("it is measured").expect("it is there")
}

async fn uses(store: &impl Store) -> Vec<(String, u64)> {
    let uses = store.index_uses("things").await;
    let uses = uses.expect("they are counted").expect("it is there");
    uses.into_iter()
        .map(|index| (index.name, index.count))
        .collect()
}

async fn uses_of(store: &impl Store, name: &str) -> u64 {
    let all = uses(store).await;
    all.into_iter()
        .find(|(index, _)| index == name)
        .expect("the index is there")
        .1
}

fn of<'a>(stats: &'a CollectionStats, name: &str) -> &'a IndexStats {
    let found = stats.indexes.iter().find(|index| index.name == name);
    found.expect("the index is there")
}

/// The bytes of the entries of `things` and of its index `by_n`, by reading them.
fn counted(store: &Embedded) -> [u64; 2] {
    let state = store.handle.published.get().expect("a state");
    let things = state.schema.collection("things").expect("a collection");
    [things.tree, things.indexes[0].tree].map(|tree| {
        let range = state.view().range(tree, &[], &END, false);
        let mut range = range.expect("a range");
        let mut bytes = 0;
        while let Some((key, value)) = range.next().expect("an entry") {
            bytes += (key.len() + value.len()) as u64;
        }
        bytes
    })
}

#[tokio::test]
async fn the_bytes_of_a_collection_are_those_of_its_entries_before_and_after_a_checkpoint() {
    let disk = Disk::formatted().await;
    let store = open(&disk).await;
    let specs = [collection("things", vec![index("by_n", &[("n", 1)])])];
    store.ensure(&specs).await.expect("an index");
    assert_eq!(stats(&store).await.bytes, 0);
    let assert_counted = async |store: &Embedded| {
        let stats = stats(store).await;
        assert_eq!([stats.bytes, of(&stats, "by_n").bytes], counted(store));
        stats
    };
    let documents = |from: i32, text: &str| {
        let documents = (from..from + 50).map(|id| doc! { "_id": id, "n": [id, -id], "t": text });
        documents.collect::<Vec<_>>()
    };
    insert(&store, documents(0, "short"))
        .await
        .expect("an insert");
    let unwritten = assert_counted(&store).await;
    assert_eq!((unwritten.documents, unwritten.storage_bytes), (50, 0));
    assert_eq!(of(&unwritten, "by_n").entries, Some(99));
    store.close().await.expect("a close");

    let store = open(&disk).await;
    let written = assert_counted(&store).await;
    assert_eq!(written.bytes, unwritten.bytes);
    assert!(written.storage_bytes >= written.bytes);
    // Changes, removals and insertions over the state of the checkpoint, and the same keys once more.
    for text in ["longer than before", ""] {
        let change = doc! { "$set": { "t": text, "n": 7 } };
        let changed = Write::Update(doc! { "_id": { "$lt": 20 } }, change);
        run(&store, vec![changed]).await.expect("an update");
        assert_counted(&store).await;
    }
    let removed = Write::Delete(doc! { "_id": { "$gte": 40 } });
    run(&store, vec![removed]).await.expect("a delete");
    insert(&store, documents(45, "again"))
        .await
        .expect("an insert");
    let changed = assert_counted(&store).await;
    assert_eq!(changed.documents, 90);
}

#[tokio::test]
async fn each_way_to_find_documents_counts_a_use_of_its_index_and_a_write_counts_none() {
    let store = things(vec![index("by_n", &[("n", 1)]), index("by_m", &[("m", 1)])]).await;
    let documents = (0..10).map(|id| doc! { "_id": id, "n": id, "m": id });
    insert(&store, documents.collect())
        .await
        .expect("an insert");
    let uses = async || {
        let all = uses(&store).await;
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["_id_", "by_m", "by_n"]);
        [all[0].1, all[2].1, all[1].1]
    };
    let begin = uses().await;
    assert_eq!(begin[1..], [0, 0]);
    let reader = store.reader().expect("a reader");
    assert_eq!(found(&*reader, &find(doc! { "n": 3 })).await.len(), 1);
    reader
        .count(&find(doc! { "n": { "$gt": 3 } }))
        .await
        .expect("it is counted");
    assert_eq!(uses().await, [begin[0], 2, 0]);
    // A disjunction of one index, and of two.
    reader
        .count(&find(doc! { "$or": [{ "n": 3 }, { "n": 4 }] }))
        .await
        .expect("it is counted");
    assert_eq!(uses().await, [begin[0], 3, 0]);
    reader
        .count(&find(doc! { "$or": [{ "n": 3 }, { "m": 4 }] }))
        .await
        .expect("it is counted");
    assert_eq!(uses().await, [begin[0], 4, 1]);
    let id = [RawBson::Int32(3)];
    let ignore: Each<'_> = &mut |_, _| Ok(ControlFlow::Continue(()));
    reader.get("things", &id, ignore).await.expect("it is got");
    reader
        .count(&find(doc! { "_id": 3 }))
        .await
        .expect("it is counted");
    assert_eq!(uses().await, [begin[0] + 2, 4, 1]);
    // A scan uses no index, and a write maintains them all.
    reader
        .count(&find(doc! { "x": 1 }))
        .await
        .expect("it is counted");
    insert(&store, vec![doc! { "_id": 10 }])
        .await
        .expect("an insert");
    assert_eq!(uses().await, [begin[0] + 2, 4, 1]);
}

#[tokio::test]
async fn the_counts_outlive_other_indexes_and_a_new_index_of_the_name_begins_at_0() {
    let store = things(vec![index("by_n", &[("n", 1)])]).await;
    let count = async || {
        let reader = store.reader().expect("a reader");
        reader
            .count(&find(doc! { "n": 3 }))
            .await
            .expect("it is counted");
    };
    count().await;
    let two = vec![index("by_n", &[("n", 1)]), index("by_m", &[("m", 1)])];
    store
        .ensure(&[collection("things", two)])
        .await
        .expect("an index");
    count().await;
    assert_eq!(uses_of(&store, "by_n").await, 2);
    let other = CollectionSpec {
        obsolete: vec![index("by_n", &[("n", 1)])],
        ..collection("things", vec![index("by_n", &[("n", -1)])])
    };
    store.ensure(&[other]).await.expect("an index");
    assert_eq!(uses_of(&store, "by_n").await, 0);
}

#[tokio::test]
async fn a_store_that_is_read_only_goes_on_with_its_counts_at_each_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("things.odm");
    let store = Embedded::open(&path).await.expect("a store");
    let specs = [collection("things", vec![index("by_n", &[("n", 1)])])];
    store.ensure(&specs).await.expect("an index");
    insert(&store, vec![doc! { "_id": 1, "n": 3 }])
        .await
        .expect("an insert");
    store.compact().await.expect("a checkpoint");
    let reading = Embedded::open_read_only(&path).await.expect("a reader");
    let count = async || {
        let reader = reading.reader().expect("a reader");
        reader
            .count(&find(doc! { "n": 3 }))
            .await
            .expect("it is counted")
            .0
    };
    assert_eq!(count().await, 1);
    insert(&store, vec![doc! { "_id": 2, "n": 3 }])
        .await
        .expect("an insert");
    store.compact().await.expect("a checkpoint");
    let mut counts = 1;
    loop {
        counts += 1;
        if count().await == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(stats(&reading).await.documents, 2);
    assert_eq!(uses_of(&reading, "by_n").await, counts);
}
