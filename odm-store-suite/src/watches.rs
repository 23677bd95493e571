//! Watches of a store with a [feed](odm_store::Feed), which begin while transactions are in flight.
//!
//! The library records the changes of a transaction as long as their collection is watched, and so do these transactions.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
};

use async_trait::async_trait;
use bson::doc;
use futures_util::StreamExt;
use odm_mql::Filter;
use odm_store::{
    Cause, CommitTime, CommitWatch, CommittedChange, DocumentChange, Durability, ErrorKind, Result,
    Store, StoreWatch, Transaction, TransactionOptions, UnitOfWork, WatchRequest,
};

use super::support::*;
use crate::poll_once;

async fn has_feed(store: &impl Store) -> bool {
    let mut transaction = begin(store).await;
    let has_feed = transaction.changes().is_some();
    let ended = transaction.rollback().await;
    ended.expect("the transaction is rolled back");
    has_feed
}

/// Inserts a document, and records that if it is watched.
async fn insert_recorded(transaction: &mut dyn Transaction, id: i32) -> Result<()> {
    apply(transaction, &[insert(doc! { "_id": id })]).await?;
    let changes = transaction.changes().expect("the store has a feed");
    if changes.is_watched(THINGS) {
        let document = Arc::new(raw(doc! { "_id": id }));
        let change = DocumentChange::new(None, Some(document), Cause::Write);
        changes.add(THINGS, change, false);
    }
    Ok(())
}

async fn begin_inserting(store: &impl Store, id: i32) -> Box<dyn Transaction> {
    let mut transaction = begin(store).await;
    let inserted = insert_recorded(&mut *transaction, id).await;
    inserted.expect("the document is inserted");
    transaction
}

/// Commits a transaction that has inserted a document, or runs it again.
async fn commit(store: &impl Store, transaction: Box<dyn Transaction>, id: i32) {
    let mut committed = transaction.commit().await;
    while let Err(error) = committed {
        assert!(error.is_retryable(), "{error:?}");
        let reader = store.reader().expect("the store can be read");
        assert_eq!(got(&*reader, [id.into()]).await, [], "it leaves nothing");
        committed = begin_inserting(store, id).await.commit().await;
    }
}

/// A change of a document that commits show: its collection, its `_id`, and whether it is there.
type ShownDocument = (String, i32, bool);

/// The commits that are there by now.
fn taken(watch: &mut CommitWatch) -> Vec<Vec<ShownDocument>> {
    let mut all = Vec::new();
    while let Some(commit) = watch.take(CommitTime::newest()).expect("none is lost") {
        let changes = commit.changes.iter().map(|change| match change {
            CommittedChange::Document { collection, change } => {
                let image = change.after.as_ref().or(change.before.as_ref());
                let id = id_of(image.expect("an image"));
                (collection.to_string(), id, change.after.is_some())
            }
            other => panic!("{other:?}"),
        });
        all.push(changes.collect());
    }
    all
}

/// Records inserts in some collections, which a unit makes.
struct Records(&'static [(&'static str, i32)]);

#[async_trait]
impl UnitOfWork for Records {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let documents: Vec<_> = self
            .0
            .iter()
            .map(|(_, id)| insert(doc! { "_id": *id }))
            .collect();
        apply(transaction, &documents).await?;
        let changes = transaction.changes().expect("the store has a feed");
        for (collection, id) in self.0 {
            if changes.is_watched(collection) {
                let document = Arc::new(raw(doc! { "_id": *id }));
                let change = DocumentChange::new(None, Some(document), Cause::Write);
                changes.add(collection, change, false);
            }
        }
        Ok(())
    }
}

async fn record(store: &impl Store, inserts: &'static [(&'static str, i32)]) {
    let ran = store.run(Arc::new(Records(inserts)), Durability::Immediate);
    ran.await.expect("the unit runs");
}

pub async fn commits_in_all_collections_are_shown_whole_and_again_from_a_time(store: impl Store) {
    if !has_feed(&store).await {
        return;
    }
    let open = CommitTime::newest();
    record(&store, &[("b", 1)]).await;
    let unrecorded = store.watch_commits(Some(open.before())).await;
    let error = unrecorded.expect_err("a commit that nobody has recorded");
    assert_eq!(error.kind(), ErrorKind::Lagged);

    let mut watch = store.watch_commits(None).await.expect("a watch");
    let begun = watch.time();
    record(&store, &[("b", 2), ("a", 3), ("b", 4)]).await;
    let between = CommitTime::newest();
    record(&store, &[("c", 5)]).await;
    let shown = |name: &str, id| (name.to_owned(), id, true);
    let first = vec![shown("b", 2), shown("a", 3), shown("b", 4)];
    let second = vec![shown("c", 5)];
    assert_eq!(taken(&mut watch), [first.clone(), second.clone()]);
    assert_eq!(taken(&mut watch), [] as [Vec<ShownDocument>; 0]);
    drop(watch);

    for (after, expected) in [
        (begun, vec![first, second.clone()]),
        (between, vec![second]),
    ] {
        let mut again = store
            .watch_commits(Some(after))
            .await
            .expect("they are kept");
        assert_eq!(taken(&mut again), expected);
    }
    let mut last = store.watch_commits(None).await.expect("a watch");
    assert!(poll_once(&mut pin!(last.changed())).await.is_pending());
    store.close().await.expect("it closes");
    last.changed().await;
    let ended = last.take(CommitTime::newest()).expect_err("the end");
    assert_eq!(ended.kind(), ErrorKind::Closed);
}

pub async fn of_all_collections_no_commit_is_lost_that_began_before_the_watch(store: impl Store) {
    if !has_feed(&store).await || !store.capabilities().outer_writes {
        return; // There is one transaction in flight at most.
    }
    let transaction = begin_inserting(&store, 1).await;
    let mut watch = store.watch_commits(None).await.expect("a watch");
    commit(&store, transaction, 1).await;
    assert_eq!(taken(&mut watch), [[(THINGS.to_owned(), 1, true)]]);
}

async fn watch(store: &impl Store) -> StoreWatch {
    let request = WatchRequest::new(THINGS, Filter::default(), 16, None);
    let watch = store.watch(&request).await;
    watch.expect("the collection can be watched")
}

/// The `_id`s of the documents whose inserts are shown by now.
async fn shown(watch: &mut StoreWatch) -> Vec<i32> {
    let mut shown = Vec::new();
    while let Poll::Ready(Some(change)) = poll_once(&mut watch.changes.next()).await {
        let change = change.expect("no commit is missed").change;
        let after = change.and_then(|change| change.after);
        shown.push(id_of(&after.expect("an insert")));
    }
    shown
}

pub async fn a_commit_after_a_watch_has_begun_is_shown_if_it_began_before(store: impl Store) {
    if !has_feed(&store).await {
        return;
    }
    let transaction = begin_inserting(&store, 1).await;
    let (mut watch, expected) = match store.capabilities().outer_writes {
        true => {
            let watch = watch(&store).await;
            commit(&store, transaction, 1).await;
            (watch, vec![1])
        }
        // The watch waits for the transaction.
        false => {
            let both = async { tokio::join!(watch(&store), commit(&store, transaction, 1)) };
            (both.await.0, vec![])
        }
    };
    assert_eq!(shown(&mut watch).await, expected);
    let transaction = begin_inserting(&store, 2).await;
    commit(&store, transaction, 2).await;
    assert_eq!(shown(&mut watch).await, [2]);
    assert_stored(&store, [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
}

pub async fn of_transactions_in_flight_each_is_shown_once_and_in_order(store: impl Store) {
    if !has_feed(&store).await || !store.capabilities().outer_writes {
        return; // There is one transaction in flight at most.
    }
    let one = begin_inserting(&store, 1).await;
    let two = begin_inserting(&store, 2).await;
    let rolled_back = begin_inserting(&store, 9).await;
    let mut first = watch(&store).await;
    let three = begin_inserting(&store, 3).await;
    let mut second = watch(&store).await;
    commit(&store, three, 3).await;
    commit(&store, two, 2).await;
    assert_eq!(shown(&mut first).await, [3, 2]);
    rolled_back.rollback().await.expect("it is rolled back");
    commit(&store, one, 1).await;
    assert_eq!(shown(&mut first).await, [1]);
    assert_eq!(shown(&mut second).await, [3, 2, 1]);
}

/// Inserts a document, and then waits.
#[derive(Default)]
struct Waits {
    runs: AtomicUsize,
    goes_on: AtomicBool,
}

#[async_trait]
impl UnitOfWork for Waits {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        insert_recorded(transaction, 1).await?;
        self.runs.fetch_add(1, Ordering::SeqCst);
        until(|| self.goes_on.load(Ordering::SeqCst)).await;
        Ok(())
    }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

pub async fn a_unit_in_flight_is_run_again_or_comes_before_the_watch(store: impl Store) {
    if !has_feed(&store).await {
        return;
    }
    let unit = Arc::new(Waits::default());
    let run = store.run(unit.clone(), Durability::Immediate);
    let watching = async {
        until(|| unit.runs.load(Ordering::SeqCst) > 0).await;
        let mut watch = pin!(watch(&store));
        // Where the watch does not wait for the unit, it has begun now.
        let early = poll_once(&mut watch).await;
        unit.goes_on.store(true, Ordering::SeqCst);
        match early {
            Poll::Ready(watch) => (watch, vec![1]),
            Poll::Pending => (watch.await, vec![]),
        }
    };
    let (ran, (mut watch, expected)) = tokio::join!(run, watching);
    ran.expect("the unit runs");
    assert_eq!(shown(&mut watch).await, expected);
    assert_stored(&store, [doc! { "_id": 1 }]).await;
}

/// Reads a number and writes the next one, again after each conflict.
async fn count_up(store: &impl Store) {
    let options = TransactionOptions::default().durability(Durability::Eventual);
    loop {
        let mut transaction = store
            .begin(options.clone())
            .await
            .expect("a transaction begins");
        let counted = async {
            let before = got(&*transaction, [1.into()]).await.remove(0).1;
            let n = before.get_i32("n").expect("a number");
            let after = raw(doc! { "_id": 1, "n": n + 1 });
            let write = Write::Replace(before.clone(), after.clone());
            apply(&mut *transaction, &[write]).await?;
            let changes = transaction.changes().expect("the store has a feed");
            assert!(changes.is_watched(THINGS));
            let (before, after) = (Some(Arc::new(before)), Some(Arc::new(after)));
            changes.add(
                THINGS,
                DocumentChange::new(before, after, Cause::Write),
                false,
            );
            Ok(())
        };
        let ended = match counted.await {
            Ok(()) => transaction.commit().await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => return,
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
    }
}

pub async fn changes_are_shown_in_the_order_of_commits_that_race(store: impl Store) {
    if !has_feed(&store).await {
        return;
    }
    const TASKS: i32 = 4;
    const EACH: i32 = 250;
    insert_all(&store, [doc! { "_id": 1, "n": 0 }]).await;
    let request = WatchRequest::new(THINGS, Filter::default(), 2000, None);
    let watch = store.watch(&request).await;
    let mut watch = watch.expect("the collection can be watched");
    let store = Arc::new(store);
    let tasks = (0..TASKS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..EACH {
                count_up(&*store).await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("the task ends");
    }
    for n in 1..=TASKS * EACH {
        let next = poll_once(&mut watch.changes.next()).await;
        let Poll::Ready(Some(Ok(step))) = next else {
            panic!("change {n} is not shown: {next:?}");
        };
        let after = step.change.and_then(|change| change.after);
        let after = after.expect("the document is changed");
        assert_eq!(after.get_i32("n").expect("a number"), n);
    }
}
