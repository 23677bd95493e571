//! Each error that a server can answer a command with, at each command of typical units: the unit is stored once or not at all, and its
//! caller learns which.
//!
//! One in 17 of all cases is run, or one in `EVERY`.

use std::time::Duration;

use odm::{ErrorKind, prelude::*};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Refusal, Side},
};

use super::{
    cuts::{After, Cuts, MOST, insert, knows_a_bulk_write_again, rename, visit},
    models::{Book, Library, Shelf, id, note, state},
    number,
};

/// How long the store waits for a server that says that it goes away.
const PATIENCE: Duration = Duration::from_secs(10);

/// The place of the refused command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A statement of a transaction.
    Statement,
    /// A `bulkWrite` of a transaction.
    Bulk,
    Commit,
    /// A write without a transaction.
    Alone,
    /// The commit is done, and its write concern is not met.
    CommitConcern,
    /// The same of a write without a transaction.
    AloneConcern,
}

use Place::{Alone, AloneConcern, Bulk, Commit, CommitConcern, Statement};

impl Place {
    /// Whether a command is at this place, in a transaction or alone.
    fn is_of(self, command: &str, is_alone: bool) -> bool {
        match self {
            Statement => !is_alone && command != "commitTransaction",
            Bulk => !is_alone && command == "bulkWrite",
            Commit | CommitConcern => command == "commitTransaction",
            Alone | AloneConcern => is_alone,
        }
    }

    fn side(self) -> Side {
        match self {
            CommitConcern | AloneConcern => Side::Answer,
            _ => Side::Request,
        }
    }
}

/// The answer to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Success: the unit is run again.
    Stored,
    /// An error that says that nothing is stored.
    Refused,
    /// The same, and that the server is away.
    Away,
    /// An error that says that the unit may be stored or not.
    Unknown,
}

use Outcome::{Away, Refused, Stored, Unknown};

/// A transaction has ended, and can be run again.
const TRANSIENT: &[&str] = &["TransientTransactionError"];
/// A write, or a commit, can be sent again.
const RETRYABLE: &[&str] = &["RetryableWriteError"];
const NONE: &[&str] = &[];

/// An error at a command: the place, the labels, and the answer to the caller.
type Case = (Place, &'static [&'static str], Outcome);

/// The codes of `error_codes.yml` with which a member of a replica set answers these commands, with the labels of `error_labels.cpp`.
#[rustfmt::skip]
const ERRORS: &[(i32, &str, &[Case])] = &[
    (6, "HostUnreachable", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (7, "HostNotFound", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (13, "Unauthorized", &[(Statement, NONE, Refused), (Alone, NONE, Stored)]),
    (24, "LockTimeout", &[(Statement, TRANSIENT, Stored)]),
    (50, "MaxTimeMSExpired", &[(Statement, NONE, Refused), (Alone, NONE, Unknown), (Commit, NONE, Stored)]),
    (59, "CommandNotFound", &[(Bulk, NONE, Stored), (Alone, NONE, Stored)]),
    (64, "WriteConcernTimeout", &[(CommitConcern, NONE, Stored), (AloneConcern, NONE, Unknown)]),
    (89, "NetworkTimeout", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (91, "ShutdownInProgress", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored), (CommitConcern, RETRYABLE, Stored), (AloneConcern, RETRYABLE, Stored)]),
    (112, "WriteConflict", &[(Statement, TRANSIENT, Stored), (Commit, TRANSIENT, Stored)]),
    (115, "CommandNotSupported", &[(Bulk, NONE, Stored), (Alone, NONE, Stored)]),
    (133, "FailedToSatisfyReadPreference", &[(Statement, NONE, Away), (Alone, NONE, Unknown), (Commit, NONE, Unknown)]),
    (134, "ReadConcernMajorityNotAvailableYet", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (189, "PrimarySteppedDown", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (239, "SnapshotTooOld", &[(Statement, TRANSIENT, Stored)]),
    (246, "SnapshotUnavailable", &[(Statement, TRANSIENT, Stored)]),
    (251, "NoSuchTransaction", &[(Statement, TRANSIENT, Stored), (Commit, TRANSIENT, Stored)]),
    (262, "ExceededTimeLimit", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (292, "QueryExceededMemoryLimitNoDiskUseAllowed", &[(Statement, NONE, Refused)]),
    (8_000, "AtlasError", &[(Statement, NONE, Refused)]),
    (9_001, "SocketException", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (10_107, "NotWritablePrimary", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (11_600, "InterruptedAtShutdown", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (11_602, "InterruptedDueToReplStateChange", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (13_435, "NotPrimaryNoSecondaryOk", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (13_436, "NotPrimaryOrSecondary", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (40_415, "IDLUnknownField", &[(Bulk, NONE, Stored), (Alone, NONE, Stored)]),
];

/// Refuses each command of an act in turn. The act writes the same each time. The number shifts the selection of cases.
fn refused_at_each_command(
    first: usize,
    after: After,
    act: impl AsyncFn(&Library) -> odm::Result<()>,
) {
    let every = number("EVERY").map_or(17, |every| every as usize);
    // All cases take longer.
    let most = if every < 9 { MOST * 4 } else { MOST };
    on_mongodb_database(most, async |server: &TestDatabase| {
        let knows_again = knows_a_bulk_write_again(server).await;
        let mut cuts = Cuts::new(server, PATIENCE).await;
        cuts.begin().await;
        let before = state(&cuts.store).await;
        cuts.proxy.plan(None);
        act(&cuts.library).await.unwrap();
        let commands = cuts.proxy.commands();
        let is_alone = commands == ["bulkWrite"];
        let done = cuts.right("without an error").await;
        assert_ne!(before, done);
        let mut case = first;
        for (code, name, places) in ERRORS {
            for (at, command) in commands.iter().enumerate() {
                for (place, labels, outcome) in *places {
                    if !place.is_of(command, is_alone) {
                        continue;
                    }
                    // The stand-in carries it out again if the driver sends it again.
                    if *place == AloneConcern && *labels == RETRYABLE && !knows_again {
                        continue;
                    }
                    case += 1;
                    if !case.is_multiple_of(every) {
                        continue;
                    }
                    cuts.begin().await;
                    let refusal = Refusal { code: *code, name, labels, side: place.side() };
                    cuts.proxy.refuse(at + 1, refusal);
                    let result = act(&cuts.library).await;
                    cuts.proxy.end_sessions().await;
                    let when = format!("{code} {name} at `{command}`, {place:?}: {result:?}");
                    let now = cuts.right(&when).await;
                    assert!(now == done || now == before, "{when}: {now:#?}");
                    if place.side() == Side::Answer {
                        assert_eq!(now, done, "{when}");
                    }
                    match (&result, outcome) {
                        // An idempotent write is run again if it may be stored.
                        (Ok(()), Stored | Unknown) => assert_eq!(now, done, "{when}"),
                        // The caller has to run it again.
                        (Err(error), Stored) if after == After::Fails => {
                            assert!(error.is_retryable() && now == before, "{when}");
                        }
                        (Err(error), Refused) => {
                            assert_eq!(error.kind(), ErrorKind::Refused, "{when}");
                            assert!(!error.is_retryable() && now == before, "{when}");
                        }
                        (Err(error), Away) => {
                            assert_eq!(error.kind(), ErrorKind::Unavailable, "{when}");
                            assert!(error.is_retryable() && now == before, "{when}");
                        }
                        (Err(error), Unknown) => {
                            assert_eq!(error.kind(), ErrorKind::Unavailable, "{when}");
                            assert!(!error.is_retryable(), "{when}");
                        }
                        _ => panic!("not {outcome:?}: {when}"),
                    }
                    if [59, 115, 40_415].contains(code) {
                        // This store does not send the command again.
                        cuts = Cuts::new(server, PATIENCE).await;
                    }
                }
            }
        }
        assert!(case > first, "no command is refused: {commands:?}");
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_rename_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(0, After::GoesOn, rename);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_child_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(1, After::GoesOn, insert);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_increment_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(2, After::GoesOn, visit);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_replacement_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(3, After::GoesOn, async |library: &Library| {
        library.notes.upsert(note(1, "new")).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_cascade_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(4, After::GoesOn, async |library: &Library| {
        library.authors.delete(1).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(5, After::GoesOn, async |library: &Library| {
        let unit = library.transaction(async |library| {
            rename(&library).await?;
            insert(&library).await?;
            visit(&library).await
        });
        unit.await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_value_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(6, After::GoesOn, async |library: &Library| {
        library.shelves.update(1).set(Shelf::fields().visits, 7).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_delete_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(9, After::GoesOn, async |library: &Library| {
        library.notes.delete(1).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    // One of its cases is a write concern error.
    refused_at_each_command(11, After::GoesOn, async |library: &Library| {
        library.notes.insert(note(2, "new")).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_child_that_moves_and_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(15, After::GoesOn, async |library: &Library| {
        library.books.update(id(4)).set(Book::fields().shelf, 2).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_of_a_guard_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(16, After::Fails, async |library: &Library| {
        let guard = library.begin().await?;
        rename(&guard).await?;
        insert(&guard).await?;
        guard.commit().await
    });
}
