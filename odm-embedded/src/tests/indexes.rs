//! Indexes that are built during other writes, and continue after an interruption.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
    time::Duration,
};

use bson::doc;
use futures_util::{
    FutureExt,
    future::{join, poll_fn},
};
use odm_store::{CollectionSpec, Find, Result, Store, TransactionOptions};
use proptest::prelude::*;

use super::support::*;
use crate::disk::Disk;
use crate::{
    Embedded, IndexBuild,
    ensure::{self, Portion},
    work::Work,
};

async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder().backend(disk.clone()).await
}

fn by_n() -> [CollectionSpec; 1] {
    [collection("things", vec![index("by_n", &[("n", 1)])])]
}

fn unique_n() -> [CollectionSpec; 1] {
    [collection("things", vec![unique("unique_n", &[("n", 1)])])]
}

/// Documents of 200 bytes, with the ids from `from` on. Five of them make a portion that others wait for.
async fn fill(store: &Embedded, from: i32, count: i32) {
    let text = "x".repeat(150);
    let documents =
        (from..from + count).map(|id| doc! { "_id": id, "n": [id, -id - 1], "text": &text });
    insert(store, documents.collect()).await.expect("an insert");
}

/// Polls an `ensure` once, waits until it has built some of the index, and drops it. Returns its progress.
async fn interrupt(store: &Embedded, specs: &[CollectionSpec]) -> IndexBuild {
    let mut ensure = pin!(store.ensure(specs));
    poll_fn(|context| {
        assert!(
            ensure.as_mut().poll(context).is_pending(),
            "too few documents"
        );
        match store.index_builds().expect("an open store").pop() {
            Some(build) if build.documents > 0 => Poll::Ready(build),
            _ => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

async fn plan(store: &Embedded) -> Option<String> {
    let reader = store.reader().expect("an open store");
    let find = Find {
        filter: filter(doc! { "n": 7 }),
        ..find_all()
    };
    reader.explain(&find).await.expect("a plan").index
}

#[test]
fn an_interrupted_build_goes_on_where_it_was_and_no_query_uses_it_before_its_end() {
    block_on(async {
        let disk = Disk::default();
        let before = {
            let store = open(&disk).await.expect("a store");
            fill(&store, 0, 20_000).await;
            let before = interrupt(&store, &by_n()).await;
            assert_eq!((before.collection.as_str(), before.of), ("things", 20_000));
            assert!(before.documents < before.of, "{before:?}");
            assert_eq!(plan(&store).await, None);
            // Documents that are written meanwhile have entries where the build was, and not elsewhere.
            fill(&store, -5, 5).await;
            fill(&store, 20_000, 5).await;
            run(
                &store,
                vec![
                    Write::Delete(doc! { "_id": 0 }),
                    Write::Delete(doc! { "_id": 19_999 }),
                ],
            )
            .await
            .expect("deletes");
            store.check_integrity().await.expect("sound indexes");
            before
        };
        let store = open(&disk.after_exit()).await.expect("a store");
        let after = store.index_builds().expect("an open store");
        assert!(
            after[0].documents >= before.documents,
            "{after:?} {before:?}"
        );
        store.check_integrity().await.expect("sound indexes");
        store.ensure(&by_n()).await.expect("an index");
        assert_eq!(store.index_builds().expect("an open store"), []);
        assert_eq!(plan(&store).await.as_deref(), Some("by_n"));
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn a_build_that_nobody_goes_on_with_makes_place_for_another_of_its_name() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store, 0, 20_000).await;
        interrupt(&store, &by_n()).await;
        let other = [collection("things", vec![index("by_n", &[("text", 1)])])];
        store.ensure(&other).await.expect("the other index");
        without_garbage(&store);
        store.check_integrity().await.expect("sound indexes");
        assert_eq!(store.index_builds().expect("an open store"), []);
    });
}

#[test]
fn documents_that_contradict_a_unique_index_behind_its_build_make_it_fail() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store, 0, 20_000).await;
        interrupt(&store, &unique_n()).await;
        // It is not known yet that 3 is taken twice: the build has not met the second one.
        let twice = doc! { "_id": 30_000, "n": 3 };
        insert(&store, vec![twice])
            .await
            .expect("it is not unique yet");
        // The index is checked where the build was.
        let taken = insert(&store, vec![doc! { "_id": -1, "n": 3 }]).await;
        assert!(taken.expect_err("taken").is_duplicate_key());
        let error = store.ensure(&unique_n()).await.expect_err("not unique");
        assert!(error.is_duplicate_key(), "{error}");
        assert_eq!(store.index_builds().expect("an open store"), []);
        without_garbage(&store);
        store.check_integrity().await.expect("nothing left behind");
    });
}

#[test]
fn two_callers_who_want_the_same_index_both_get_it() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store, 0, 5_000).await;
        let (specs, both) = (by_n(), unique_n());
        let both = [collection(
            "things",
            vec![specs[0].indexes[0].clone(), both[0].indexes[0].clone()],
        )];
        let (one, two) = join(store.ensure(&specs), store.ensure(&both)).await;
        one.and(two).expect("indexes");
        assert_eq!(store.indexes().expect("an open store").len(), 2);
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn an_index_that_is_awaited_keeps_its_name() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store, 0, 5_000).await;
        let other = [collection("things", vec![index("by_n", &[("text", 1)])])];
        let specs = by_n();
        let (first, second) = join(store.ensure(&specs), store.ensure(&other)).await;
        first.expect("an index");
        let error = second.expect_err("taken");
        assert_eq!(error.kind(), odm_store::ErrorKind::Schema, "{error}");
        assert_eq!(plan(&store).await.as_deref(), Some("by_n"));
    });
}

#[test]
fn two_indexes_of_one_name_are_refused() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        let other = index("by_n", &[("text", 1)]);
        let both = vec![by_n()[0].indexes[0].clone(), other.clone()];
        let error = store.ensure(&[collection("things", both)]).await;
        assert!(error.expect_err("one name").to_string().contains("`by_n`"));
        assert_eq!(store.index_builds().expect("an open store"), []);

        // A build that is to replace an index only continues if the caller declares the replacement, too.
        fill(&store, 0, 20_000).await;
        store.ensure(&by_n()).await.expect("an index");
        let mut replaced = [collection("things", vec![other])];
        let wanted = replaced.clone();
        replaced[0].obsolete = by_n()[0].indexes.clone();
        interrupt(&store, &replaced).await;
        let error = store.ensure(&wanted).await.expect_err("both in force");
        assert_eq!(error.kind(), odm_store::ErrorKind::Schema, "{error}");
        store.ensure(&replaced).await.expect("the other index");
        assert_eq!(store.indexes().expect("an open store").len(), 1);
    });
}

#[test]
fn a_build_that_fails_leaves_the_indexes_that_others_were_promised() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        let text = "x".repeat(150);
        let documents =
            (0..5_000).map(|id| doc! { "_id": id, "n": id, "m": id % 4_999, "text": &text });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let unique_m = unique("unique_m", &[("m", 1)]);
        let both = [collection(
            "things",
            vec![unique_n()[0].indexes[0].clone(), unique_m],
        )];
        let specs = unique_n();
        let (failed, other) = join(store.ensure(&both), store.ensure(&specs)).await;
        assert!(failed.expect_err("not unique").is_duplicate_key());
        other.expect("an index");
        assert_eq!(store.indexes().expect("an open store").len(), 1);
        let taken = insert(&store, vec![doc! { "_id": -1, "n": 3 }]).await;
        assert!(taken.expect_err("taken").is_duplicate_key());
        without_garbage(&store);
        store.check_integrity().await.expect("nothing left behind");
    });
}

#[test]
fn a_build_ends_beside_transactions_that_never_do() {
    let store = block_on(Embedded::memory()).expect("a store");
    block_on(fill(&store, 0, 1_000));
    let is_built = AtomicBool::new(false);
    let write = async || {
        for _ in 0..3_000 {
            let options = TransactionOptions::default();
            let transaction = store.begin(options).await.expect("a transaction");
            std::thread::sleep(Duration::from_micros(200));
            transaction.commit().await.expect("a commit");
            if is_built.load(Ordering::Relaxed) {
                return true;
            }
        }
        false
    };
    std::thread::scope(|scope| {
        let writers = [(); 3].map(|()| scope.spawn(|| block_on(write())));
        block_on(store.ensure(&by_n())).expect("an index");
        is_built.store(true, Ordering::Relaxed);
        assert!(
            writers
                .map(|writer| writer.join().expect("no panic"))
                .contains(&true)
        );
    });
}

/// The number of portions that fill the indexes of `documents` documents with `numbers` numbers each, if calls wait for the end of each
/// portion.
async fn portions(documents: i32, numbers: usize) -> usize {
    let store = Embedded::memory().await.expect("a store");
    let documents =
        (0..documents).map(|id| doc! { "_id": id, "n": Vec::from_iter(0..numbers as i32) });
    insert(&store, documents.collect())
        .await
        .expect("an insert");
    let indexes = ["a", "b", "c"].map(|name| index(name, &[("n", 1), (name, 1)]));
    let specs = [collection("things", indexes.to_vec())];
    let mut work = Work::new(
        store.handle.published.get().expect("a state"),
        store.handle.published.feed.begin(),
    );
    let trees = ensure::declare(&mut work, &specs, |_| false).expect("indexes");
    for portions in 1.. {
        let portion = Portion::new(Duration::ZERO, &|| true);
        if ensure::fill(&mut work, &trees, portion).expect("entries") {
            return portions;
        }
    }
    unreachable!("there is no last number")
}

#[test]
fn a_portion_is_bounded_by_its_entries_whatever_documents_and_indexes_they_are_of() {
    // The last portion finds that the index is complete.
    assert_eq!(block_on(portions(20, 100)), 61);
    assert_eq!(block_on(portions(5, 1)), 2);
    assert_eq!(block_on(portions(1, 1)), 1);
}

#[test]
fn a_store_that_is_closed_ends_a_build() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store, 0, 20_000).await;
        let specs = by_n();
        let mut ensure = pin!(store.ensure(&specs));
        assert!((&mut ensure).now_or_never().is_none());
        store.close().await.expect("a close");
        let error = ensure.await.expect_err("closed");
        assert_eq!(error.kind(), odm_store::ErrorKind::Closed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The writes run at random points of the builds of two indexes.
    #[test]
    fn writes_beside_a_build_leave_exactly_the_entries_of_the_documents(
        writes in proptest::collection::vec((-3..303i32, 0..4u8, 0..300i32), 20..80),
    ) {
        block_on(async {
            let store = Embedded::memory().await.expect("a store");
            fill(&store, 0, 300).await;
            let specs = [collection("things", vec![
                index("by_n", &[("n", 1)]),
                index("by_m", &[("m", -1), ("n", 1)]),
            ])];
            let build = async {
                store.ensure(&specs).await.expect("indexes");
            };
            let write = async {
                for (id, what, n) in writes {
                    let write = match what {
                        0 => Write::Delete(doc! { "_id": id }),
                        1 => Write::Update(doc! { "_id": id }, doc! { "$set": { "n": n, "m": [n, id] } }),
                        2 => Write::Update(doc! { "n": n }, doc! { "$inc": { "m": 1 } }),
                        _ => Write::Insert(vec![doc! { "_id": id, "n": n }]),
                    };
                    // A document with the id may exist, and `m` may be an array.
                    let _ = run(&store, vec![write]).await;
                    store.check_integrity().await.expect("sound indexes");
                }
            };
            join(build, write).await;
            store.check_integrity().await.expect("sound indexes");
        });
    }
}
