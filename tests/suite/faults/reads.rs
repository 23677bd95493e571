//! Reads outside of a transaction of a state that a server does not have, as after a change of the indexes of a collection.

use std::time::Duration;

use odm::{ErrorKind, prelude::*};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Proxy, Refusal},
};

use super::models::{Library, library, note};

const MOST: Duration = Duration::from_secs(120);
const PATIENCE: Duration = Duration::from_secs(10);

const UNAVAILABLE: Refusal = Refusal::new(246, "SnapshotUnavailable");

/// A library with a note, behind a proxy.
async fn with_note(server: &TestDatabase) -> (Proxy, Library) {
    let proxy = Proxy::new(server);
    let library = library(proxy.store(server, PATIENCE).await).await;
    library.notes.insert(note(1, "new")).await.unwrap();
    (proxy, library)
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_read_whose_snapshot_is_unavailable_is_made_again_with_another_one_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, library) = with_note(server).await;
        proxy.refuse(1, UNAVAILABLE);
        assert_eq!(library.notes.all().await.unwrap(), [note(1, "new")]);
        assert_eq!(proxy.commands(), ["find", "find"]);
        proxy.refuse(1, UNAVAILABLE);
        assert_eq!(library.notes.all().count().await.unwrap(), 1);
        assert_eq!(proxy.commands(), ["aggregate", "aggregate"]);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_read_for_which_no_snapshot_becomes_available_says_that_it_can_be_made_again_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, library) = with_note(server).await;
        proxy.refuse_each(&["find"], UNAVAILABLE);
        let error = library.notes.all().await.unwrap_err();
        assert!(error.kind() == ErrorKind::SnapshotEnded && error.is_retryable(), "{error}");
        assert!(proxy.commands().len() > 10, "{:?}", proxy.commands());
        proxy.plan(None);
        assert_eq!(library.notes.all().await.unwrap().len(), 1);
    });
}

/// Another snapshot would have another state than the earlier reads.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_snapshot_of_which_something_was_read_ends_where_its_state_is_gone_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (proxy, library) = with_note(server).await;
        let read = library.snapshot(async |library| {
            library.notes.all().count().await?;
            proxy.refuse(1, UNAVAILABLE);
            library.notes.all().await
        });
        let error = read.await.unwrap_err();
        assert!(error.kind() == ErrorKind::SnapshotEnded && error.is_retryable(), "{error}");
        assert_eq!(proxy.commands(), ["find"]);
    });
}
