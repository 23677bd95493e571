//! Watches of a collection during cut connections and outages, and if the server cannot go on.

use std::time::Duration;

use mongodb::bson::doc;
use odm::{ErrorKind, prelude::*, repository::ChangeStream};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Cut, Plan, Proxy, Refusal, Side},
};

use super::models::{Library, Note, library, note};

const MOST: Duration = Duration::from_secs(200);
/// How long a store waits for its server.
const PATIENCE: Duration = Duration::from_secs(5);

/// The oplog does not go back far enough.
const LOST: Refusal = Refusal::new(286, "ChangeStreamHistoryLost");

async fn next(changes: &mut ChangeStream<Note>) -> odm::Result<i32> {
    let next = tokio::time::timeout(Duration::from_secs(60), changes.next());
    let next = next.await.expect("a change").expect("the store is open");
    next.map(|change| change.id)
}

/// A library that watches through a proxy, and another one that writes past it.
async fn watcher_and_writer(server: &TestDatabase) -> (Proxy, Library, Library) {
    let proxy = Proxy::new(server);
    let watcher = library(proxy.store(server, PATIENCE).await).await;
    (proxy, watcher, library(server.store().await).await)
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_watch_goes_on_after_cut_connections_and_a_server_that_was_away_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        let mut number = 0;
        for side in [Side::Request, Side::Answer] {
            for at in 1..=4 {
                proxy.plan(Some(Plan { at, side, cut: Cut::One }));
                for _ in 0..3 {
                    number += 1;
                    writer.notes.insert(note(number, "new")).await.unwrap();
                    assert_eq!(next(&mut changes).await.unwrap(), number, "{side:?} {at}");
                }
            }
        }
        proxy.plan(None);
        // Longer than the driver itself tries, and shorter than the store waits.
        let reads = tokio::spawn(async move { (next(&mut changes).await, changes) });
        proxy.darken(true);
        writer.notes.insert(note(1000, "new")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        proxy.darken(false);
        let (id, mut changes) = reads.await.unwrap();
        assert_eq!(id.unwrap(), 1000);

        // Longer than the store waits: it says so, and goes on.
        proxy.darken(true);
        writer.notes.insert(note(1001, "new")).await.unwrap();
        let error = next(&mut changes).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        proxy.darken(false);
        let shown = loop {
            match next(&mut changes).await {
                Ok(id) => break id,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
            }
        };
        assert_eq!(shown, 1001);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_token_goes_on_in_another_process_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (_proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        writer.notes.insert(note(1, "new")).await.unwrap();
        assert_eq!(next(&mut changes).await.unwrap(), 1);
        let token = changes.token().clone();
        watcher.close().await.unwrap();
        writer.notes.insert(note(2, "new")).await.unwrap();
        let changes = writer.notes.watch(Filter::all()).resume_after(token);
        assert_eq!(next(&mut changes.await.unwrap()).await.unwrap(), 2);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_watch_says_that_changes_are_missing_and_goes_on_with_later_ones_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        writer.notes.insert(note(1, "new")).await.unwrap();
        assert_eq!(next(&mut changes).await.unwrap(), 1);
        let token = changes.token().clone();
        // The oplog does not go back far enough. The list of collections comes first.
        proxy.refuse(2, LOST);
        let resumed = watcher.notes.watch(Filter::all()).resume_after(token).await;
        assert_eq!(resumed.unwrap_err().kind(), ErrorKind::Lagged);

        // A collection that is dropped and made again.
        server.database.collection::<mongodb::bson::Document>("notes").drop().await.unwrap();
        let error = next(&mut changes).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
        assert!(error.to_string().contains("dropped"), "{error}");
        server.database.create_collection("notes").await.unwrap();
        let goes_on = tokio::spawn(async move { next(&mut changes).await });
        tokio::time::sleep(Duration::from_secs(3)).await;
        writer.notes.insert(note(2, "new")).await.unwrap();
        assert_eq!(goes_on.await.unwrap().unwrap(), 2);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_stream_whose_next_change_the_server_has_lost_says_so_and_goes_on_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        writer.notes.insert(note(1, "new")).await.unwrap();
        assert_eq!(next(&mut changes).await.unwrap(), 1);
        // In the middle of the stream, and where it is opened again after its token.
        proxy.refuse_each(&["getMore", "aggregate"], LOST);
        writer.notes.insert(note(2, "lost")).await.unwrap();
        let error = next(&mut changes).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
        assert!(error.to_string().contains("cannot show the next change"), "{error}");
        let commands = proxy.commands();
        assert_eq!(commands.first().map(String::as_str), Some("getMore"), "{commands:?}");
        proxy.plan(None);
        let goes_on = tokio::spawn(async move { next(&mut changes).await });
        tokio::time::sleep(Duration::from_secs(3)).await;
        writer.notes.insert(note(3, "new")).await.unwrap();
        assert_eq!(goes_on.await.unwrap().unwrap(), 3);
    });
}

/// A server gives the error a label with which the driver itself opens the stream again. Without the label the store does.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_stream_goes_on_after_its_member_is_no_primary_any_more_on_mongodb() {
    const RESUMABLE: &[&str] = &["ResumableChangeStreamError"];
    const NONE: &[&str] = &[];
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        for (number, labels) in [(1, RESUMABLE), (2, NONE)] {
            let moved = Refusal { labels, ..Refusal::new(10_107, "NotWritablePrimary") };
            proxy.refuse_first("getMore", moved);
            writer.notes.insert(note(number, "new")).await.unwrap();
            assert_eq!(next(&mut changes).await.unwrap(), number, "{labels:?}");
            let commands = proxy.commands();
            assert!(commands.contains(&"aggregate".to_owned()), "not opened again: {commands:?}");
        }
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_change_whose_documents_the_server_does_not_keep_is_said_to_be_missing_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (_proxy, watcher, writer) = watcher_and_writer(server).await;
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        writer.notes.insert(note(1, "new")).await.unwrap();
        assert_eq!(next(&mut changes).await.unwrap(), 1);
        let forget =
            doc! { "collMod": "notes", "changeStreamPreAndPostImages": { "enabled": false } };
        server.database.run_command(forget).await.unwrap();
        writer.notes.update(1).set(Note::fields().text, "x").await.unwrap();
        let error = next(&mut changes).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
        assert!(error.to_string().contains("does not keep"), "{error}");
        // A new watch makes the server keep them again.
        let mut changes = watcher.notes.watch(Filter::all()).await.unwrap();
        writer.notes.delete(1).await.unwrap();
        assert_eq!(next(&mut changes).await.unwrap(), 1);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn who_may_not_watch_is_told_what_it_takes_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, watcher, _writer) = watcher_and_writer(server).await;
        proxy.refuse(2, Refusal::new(13, "Unauthorized"));
        let error = watcher.notes.watch(Filter::all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains("grant it"), "{error}");
    });
}
