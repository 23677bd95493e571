//! Callers who lead: a write that nobody else has to wait for runs on their own thread, and no other one waits for them.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

use async_trait::async_trait;
use bson::doc;
use odm_store::{Durability, Result, Store, Transaction, UnitOfWork};

use super::support::*;
use crate::{Embedded, disk::Disk, wait::yield_now};

/// What a unit does beside an insert.
enum Beside {
    Nothing,
    /// It waits for something else than the store.
    Waits,
    /// It reads all documents.
    ReadsAll,
    /// It inserts documents of this many bytes in all.
    Inserts(usize),
    /// It says before that it writes this many documents.
    Announces(u64),
}

/// A unit that notes on which threads it has run.
struct Noting {
    beside: Beside,
    threads: Mutex<Vec<ThreadId>>,
}

#[async_trait]
impl UnitOfWork for Noting {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        self.threads
            .lock()
            .expect("no panic")
            .push(thread::current().id());
        match self.beside {
            Beside::Nothing | Beside::Announces(_) => {}
            Beside::Waits => yield_now().await,
            Beside::ReadsAll => {
                let each = &mut |_, _: &bson::RawDocument| Ok(ControlFlow::Continue(()));
                transaction.find(&find_all(), each).await?;
            }
            Beside::Inserts(bytes) => {
                let text = "x".repeat(1024);
                let documents = (0..bytes / 1024).map(|n| doc! { "_id": n as i64, "text": &text });
                apply(transaction, &Write::Insert(documents.collect())).await?;
            }
        }
        apply(transaction, &Write::Insert(vec![doc! { "_id": "last" }])).await
    }

    fn documents(&self) -> u64 {
        match self.beside {
            Beside::Announces(number) => number,
            _ => 1,
        }
    }
}

/// Runs a unit, and returns for each of its runs whether it was on this thread.
async fn runs_here(store: &Embedded, beside: Beside) -> Vec<bool> {
    let unit = Arc::new(Noting {
        beside,
        threads: Mutex::default(),
    });
    let run = store.run(unit.clone(), Durability::Immediate).await;
    run.expect("a unit");
    assert!(all(store).await.contains(&doc! { "_id": "last" }));
    let threads = unit.threads.lock().expect("no panic");
    let here = thread::current().id();
    threads.iter().map(|thread| *thread == here).collect()
}

#[tokio::test]
async fn a_unit_runs_on_the_thread_of_its_caller_unless_it_waits_or_is_too_much_for_a_poll() {
    let all_here = [Beside::Nothing, Beside::Inserts(200 << 10)].map(|beside| (beside, vec![true]));
    let moved = [
        Beside::Waits,
        Beside::ReadsAll,
        Beside::Inserts(1 << 20),
        Beside::Inserts(5 << 20),
    ];
    let moved = moved.map(|beside| (beside, vec![true, false]));
    // The number of a unit's documents can tell before.
    let announced = [(256, true), (257, false)];
    let announced = announced.map(|(number, here)| (Beside::Announces(number), vec![here]));
    for (beside, expected) in all_here.into_iter().chain(moved).chain(announced) {
        let store = things(vec![]).await;
        let many = (0..3000).map(|n| doc! { "_id": n.to_string() }).collect();
        insert(&store, many).await.expect("an insert");
        // The writer's thread may have answered a moment before it gives the writer back.
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(runs_here(&store, beside).await, expected);
    }
}

#[tokio::test]
async fn tasks_of_one_thread_share_syncs_also_after_a_task_has_long_written_alone() {
    let disk = Disk::default();
    let store = Embedded::builder().backend(disk.clone()).await;
    let store = store.expect("a store");
    for n in 0..500 {
        let inserted = insert(&store, vec![doc! { "_id": n }]).await;
        inserted.expect("an insert");
    }
    disk.slow_syncs(Duration::from_micros(200));
    let before = disk.syncs();
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..20 {
                    let id = format!("{task}-{n}");
                    insert(&store, vec![doc! { "_id": id }]).await?;
                }
                Result::<()>::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("inserts");
    }
    let syncs = disk.syncs() - before;
    assert!(syncs < 64 * 20 / 2, "{syncs} syncs of 1,280 inserts");
    assert_eq!(all(&store).await.len(), 500 + 64 * 20);
}

#[tokio::test]
async fn a_task_that_writes_again_and_again_lets_others_of_its_thread_run() {
    let store = things(vec![]).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let other = tokio::spawn({
        let ran = ran.clone();
        async move {
            loop {
                ran.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    for n in 0..50 {
        let documents = (0..200).map(|m| doc! { "_id": n * 1000 + m });
        let inserted = insert(&store, documents.collect()).await;
        inserted.expect("an insert");
    }
    // Some milliseconds of work, of fewer calls than after which the runtime itself interrupts a task.
    let ran = ran.load(Ordering::SeqCst);
    assert!(ran > 3, "{ran} times");
    other.abort();
}
