//! Each error that a server can answer a command with, at each command of typical units: the unit is stored once or not at all, and its
//! caller is told which.
//!
//! Of all cases one in 9 is run, or one in `EVERY`.

use std::time::Duration;

use odm::{ErrorKind, prelude::*};
use tests::{TestDatabase, on_mongodb_database, proxy::Refusal};

use super::{
    cuts::{Cuts, MOST, insert, rename, visit},
    models::{Library, note, state},
    number,
};

/// How long the store waits for a server that says that it goes away.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A statement of a transaction.
    Statement,
    Commit,
    /// A write without a transaction.
    Alone,
}

use Place::{Alone, Commit, Statement};

/// What the caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing: the unit is run again.
    Stored,
    /// That nothing is stored.
    Refused,
    /// That it may be stored or not.
    Unknown,
}

use Outcome::{Refused, Stored, Unknown};

/// A transaction has ended, and can be run again.
const TRANSIENT: &[&str] = &["TransientTransactionError"];
/// A write, or a commit, can be sent again.
const RETRYABLE: &[&str] = &["RetryableWriteError"];
const NONE: &[&str] = &[];

/// An error at a command: where, with which labels, and what the caller is told.
type Case = (Place, &'static [&'static str], Outcome);

/// The codes of `error_codes.yml` that a member of a replica set answers these commands with, with the labels of
/// `error_labels.cpp`.
#[rustfmt::skip]
const ERRORS: &[(i32, &str, &[Case])] = &[
    (6, "HostUnreachable", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (7, "HostNotFound", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (13, "Unauthorized", &[(Statement, NONE, Refused), (Alone, NONE, Stored)]),
    (24, "LockTimeout", &[(Statement, TRANSIENT, Stored)]),
    (50, "MaxTimeMSExpired", &[(Statement, NONE, Refused), (Alone, NONE, Unknown), (Commit, NONE, Stored)]),
    (59, "CommandNotFound", &[(Alone, NONE, Stored)]),
    (89, "NetworkTimeout", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (91, "ShutdownInProgress", &[(Statement, TRANSIENT, Stored), (Alone, RETRYABLE, Stored), (Commit, RETRYABLE, Stored)]),
    (112, "WriteConflict", &[(Statement, TRANSIENT, Stored), (Commit, TRANSIENT, Stored)]),
    (115, "CommandNotSupported", &[(Alone, NONE, Stored)]),
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
];

fn refused_at_each_command(first: usize, act: impl AsyncFn(&Library) -> odm::Result<()>) {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let mut cuts = Cuts::new(server, PATIENCE).await;
        cuts.begin().await;
        let before = state(&cuts.store).await;
        cuts.proxy.plan(None);
        act(&cuts.library).await.unwrap();
        let commands = cuts.proxy.commands();
        let done = cuts.right("without an error").await;
        assert_ne!(before, done);
        let every = number("EVERY").map_or(9, |every| every as usize);
        let mut case = first;
        for (code, name, places) in ERRORS {
            for (at, command) in commands.iter().enumerate() {
                let place = match command.as_str() {
                    "commitTransaction" => Commit,
                    "bulkWrite" if commands.len() == 1 => Alone,
                    _ => Statement,
                };
                for (_, labels, outcome) in places.iter().filter(|(of, ..)| *of == place) {
                    case += 1;
                    if !case.is_multiple_of(every) {
                        continue;
                    }
                    cuts.begin().await;
                    cuts.proxy.refuse(at + 1, Refusal { code: *code, name, labels });
                    let result = act(&cuts.library).await;
                    cuts.proxy.end_sessions().await;
                    let when = format!("{code} {name} at `{command}`: {result:?}");
                    let now = cuts.right(&when).await;
                    assert!(now == done || now == before, "{when}: {now:#?}");
                    match (&result, outcome) {
                        (Ok(()), Stored) => assert_eq!(now, done, "{when}"),
                        (Err(error), Refused) => {
                            assert_eq!(error.kind(), ErrorKind::Refused, "{when}");
                            assert!(!error.is_retryable() && now == before, "{when}");
                        }
                        // A write that does the same a second time is run again.
                        (Ok(()), Unknown) => assert_eq!(now, done, "{when}"),
                        (Err(error), Unknown) => {
                            assert_eq!(error.kind(), ErrorKind::Unavailable, "{when}");
                            assert!(!error.is_retryable(), "{when}");
                        }
                        _ => panic!("not {outcome:?}: {when}"),
                    }
                    if [59, 115].contains(code) {
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
    refused_at_each_command(0, rename);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_child_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(1, insert);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_increment_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(2, visit);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_replacement_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(3, async |library: &Library| {
        library.notes.upsert(note(1, "new")).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_cascade_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(4, async |library: &Library| library.authors.delete(1).await.map(drop));
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_that_a_server_refuses_is_stored_once_or_not_at_all_on_mongodb() {
    refused_at_each_command(5, async |library: &Library| {
        let unit = library.transaction(async |library| {
            rename(&library).await?;
            insert(&library).await?;
            visit(&library).await
        });
        unit.await
    });
}
