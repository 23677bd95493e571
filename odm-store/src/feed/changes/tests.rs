use std::{
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use bson::{DateTime, RawDocumentBuf, Timestamp, rawdoc};

use super::*;
use crate::{CommitTime, CommitWatch, ErrorKind};

fn image(id: i32, bytes: usize) -> Option<Arc<RawDocumentBuf>> {
    let document = rawdoc! { "_id": id, "text": "x".repeat(bytes) };
    Some(Arc::new(document))
}

fn inserted(id: i32, bytes: usize) -> DocumentChange {
    DocumentChange::new(None, image(id, bytes), Cause::Write)
}

fn updated(id: i32, cause: Cause) -> DocumentChange {
    DocumentChange::new(image(id, 1), image(id, 2), cause)
}

fn watched(feed: &Feed) -> CommitWatch {
    let (mut watch, _) = CommitWatch::enter(feed);
    watch.begin(None).expect("an open feed");
    watch
}

/// The collections and the `_id`s of the changes of the next commit.
fn shown(watch: &mut CommitWatch) -> Vec<(String, i32)> {
    let commit = watch.take(CommitTime::newest()).expect("none is lost");
    let commit = commit.expect("a commit");
    let shown = commit.changes.iter().map(|change| match change {
        CommittedChange::Document { collection, change } => {
            let id = change.id().as_i32().expect("an `_id`");
            (collection.to_string(), id)
        }
        other => panic!("{other:?}"),
    });
    shown.collect()
}

#[test]
fn what_follows_from_writes_comes_after_all_of_them() {
    let feed = Feed::default();
    let mut watch = watched(&feed);
    let mut reader = feed.reader("products", 16);
    reader.begin(None).expect("an open feed");
    let mut changes = feed.begin();
    changes.add("products", updated(1, Cause::Relation), false);
    changes.add("reviews", inserted(2, 1), false);
    changes.add("products", updated(1, Cause::Relation), false);
    changes.add("products", updated(3, Cause::Relation), false);
    changes.add("products", updated(4, Cause::Write), false);
    changes.add("reviews", inserted(5, 1), false);
    changes.publish();
    let of = |collection: &str, id| (collection.to_owned(), id);
    let expected = [
        of("reviews", 2),
        of("products", 4),
        of("reviews", 5),
        of("products", 1),
        of("products", 3),
    ];
    assert_eq!(shown(&mut watch), expected);
    let Poll::Ready(Some(Ok((_, _, commit)))) = reader.poll() else {
        panic!("a commit");
    };
    let ids = commit
        .iter()
        .map(|change| change.id().as_i32().expect("an `_id`"));
    assert!(ids.eq([4, 1, 3]));
}

#[test]
fn a_document_that_was_there_neither_before_nor_after_is_not_shown() {
    let feed = Feed::default();
    let mut watch = watched(&feed);
    let mut changes = feed.begin();
    changes.add("parts", inserted(1, 1), false);
    changes.add(
        "parts",
        DocumentChange::new(image(1, 1), image(1, 1), Cause::Write),
        true,
    );
    changes.add(
        "parts",
        DocumentChange::new(image(1, 1), None, Cause::Write),
        false,
    );
    changes.add(
        "parts",
        DocumentChange::new(image(2, 1), image(2, 1), Cause::Write),
        true,
    );
    changes.publish();
    assert_eq!(shown(&mut watch), [("parts".to_owned(), 2)]);
}

#[test]
fn changes_that_are_too_large_for_watches_of_all_collections_are_recorded_for_others_alone() {
    let feed = Feed::default();
    let mut watch = watched(&feed);
    let mut reader = feed.reader("parts", 16);
    reader.begin(None).expect("an open feed");
    let mut changes = feed.begin();
    changes.add("parts", inserted(1, 1), false);
    for id in 0..80 {
        changes.add("notes", inserted(id, 1 << 20), false);
        assert!(changes.bytes < KEPT_BYTES + (2 << 20));
    }
    assert!(changes.collections.keys().eq(["parts"]));
    changes.add("parts", inserted(2, 1), false);
    assert!(changes.is_complete());
    let late = feed.reader("notes", 16);
    assert!(!changes.is_complete());
    drop(late);
    assert!(changes.is_complete());
    changes.publish();

    let Poll::Ready(Some(Ok((_, _, commit)))) = reader.poll() else {
        panic!("a commit");
    };
    assert_eq!(commit.len(), 2);
    let missed = watch.take(CommitTime::newest()).expect_err("a lost commit");
    assert_eq!(missed.kind(), ErrorKind::Lagged);
    // A new watch goes on after it.
    let mut watch = watched(&feed);
    let mut changes = feed.begin();
    changes.add("notes", inserted(1, 1), false);
    changes.publish();
    assert_eq!(shown(&mut watch), [("notes".to_owned(), 1)]);
}

#[test]
fn commits_are_kept_for_watches_of_all_collections_alone_and_five_minutes_after_them() {
    let feed = Feed::default();
    let mut reader = feed.reader("parts", 16);
    reader.begin(None).expect("an open feed");
    assert!(!feed.has_history());
    let watch = watched(&feed);
    let mut changes = feed.begin();
    changes.add("parts", inserted(1, 1), false);
    changes.publish();
    assert!(feed.has_history());
    drop(watch);
    feed.forget_commits();
    assert!(feed.has_history());
    let later = Instant::now().checked_add(Duration::from_secs(301));
    feed.forget_commits_at(later.expect("a time"));
    assert!(!feed.has_history());
}

#[test]
fn no_commit_of_the_second_in_which_a_store_was_opened_is_a_place_to_begin_at() {
    let now = DateTime::now().timestamp_millis() / 1000;
    // Another process may have given all times of this second.
    let last = CommitTime::from(Timestamp {
        time: u32::try_from(now).expect("a time"),
        increment: u32::MAX,
    });
    let feed = Feed::default();
    let (mut watch, _) = CommitWatch::enter(&feed);
    let refused = watch.begin(Some(last)).expect_err("an unknown time");
    assert_eq!(refused.kind(), ErrorKind::Lagged);
}
