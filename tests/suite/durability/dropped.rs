//! A future that is dropped at any moment leaves the whole of its unit, or no part of it.

use std::{future::IntoFuture, pin::pin, task::Poll, time::Duration};

use odm::prelude::*;
use tests::{on_every_store, on_serializable_stores, poll_once};

use crate::durability::ledger::{Batch, Entry, Ledger, entries, ledger};

/// Polls a future at most `times` times, with short waits in between, and drops it.
async fn poll_and_drop<F: IntoFuture>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future.into_future());
    for poll in 0..times {
        if let Poll::Ready(output) = poll_once(&mut future).await {
            return Some(output);
        }
        // From no wait at all to longer than a write takes.
        match poll % 3 {
            0 => {}
            1 => tokio::task::yield_now().await,
            _ => tokio::time::sleep(Duration::from_micros(50 << (poll / 3).min(7))).await,
        }
    }
    None
}

/// Waits until all open writes have happened or are given up: writes happen in their order.
async fn settled(db: &Ledger, id: i64) {
    db.write(id, 1).await.unwrap();
    db.remove(id).await.unwrap();
}

const BARRIER: i64 = 1_000_000;

on_every_store! {
    async fn a_dropped_insert_is_whole_or_nothing(store: AnyStore) {
        let db = ledger(store).await;
        let (mut done, mut given_up) = (0, 0);
        for (id, times) in (0..3).flat_map(|_| 0..25).enumerate() {
            let id = id as i64;
            let acknowledged = poll_and_drop(db.entries.insert_many(entries(id, 4)), times).await;
            settled(&db, BARRIER).await;
            let of = db.entries.find(Entry::fields().batch.eq(id)).count().await.unwrap();
            match acknowledged {
                Some(result) => {
                    result.unwrap();
                    assert_eq!(of, 4, "an acknowledged unit is not there");
                    done += 1;
                }
                None => {
                    assert!(of == 0 || of == 4, "a part of a dropped unit is there: {of}");
                    given_up += 1;
                }
            }
            db.entries.delete_where(Entry::fields().batch.eq(id)).await.unwrap();
        }
        assert!(done > 0 && given_up > 0, "{done} done, {given_up} given up");
    }

    async fn a_dropped_transaction_is_whole_or_nothing(store: AnyStore) {
        let db = ledger(store).await;
        let mut acknowledged = Vec::new();
        let mut given_up = 0;
        // A server takes a transaction in many messages.
        for (id, times) in (0..40).chain((40..200).step_by(20)).enumerate() {
            let id = id as i64;
            match poll_and_drop(db.write(id, 4), times).await {
                Some(result) => {
                    result.unwrap();
                    acknowledged.push(id);
                }
                None => given_up += 1,
            }
            settled(&db, BARRIER).await;
            let whole = db.whole().await;
            for id in &acknowledged {
                assert!(whole.contains(id), "batch {id} was acknowledged and is not there");
            }
        }
        assert!(!acknowledged.is_empty() && given_up > 0);
    }

    async fn dropped_updates_and_deletes_are_whole_or_nothing(store: AnyStore) {
        let db = ledger(store).await;
        for (id, times) in (0..30).enumerate() {
            let id = id as i64;
            let mut many = entries(id, 6);
            for entry in &mut many {
                entry.text = "old".into();
            }
            db.entries.insert_many(many).await.unwrap();
            let of = || Entry::fields().batch.eq(id);
            let text = Entry::fields().text;
            let update = db.entries.update_where(of()).set(text, "new");
            let updated = poll_and_drop(update, times).await;
            settled(&db, BARRIER).await;
            let texts = db.entries.find(of()).distinct(text).await.unwrap();
            assert_eq!(texts.len(), 1, "only a part of the documents is changed");
            assert!(updated.is_none() || texts == ["new"]);

            let deleted = poll_and_drop(db.entries.delete_where(of()), times).await;
            settled(&db, BARRIER).await;
            let left = db.entries.find(of()).count().await.unwrap();
            assert!(left == 0 || left == 6, "only a part of the documents is removed: {left}");
            assert!(deleted.is_none() || left == 0);
        }
    }

    async fn an_aborted_task_is_a_dropped_future(store: AnyStore) {
        let db = ledger(store).await;
        for id in 0..40 {
            let task = {
                let db = db.clone();
                tokio::spawn(async move { db.write(id, 3).await })
            };
            tokio::time::sleep(Duration::from_micros(id as u64 * 60)).await;
            task.abort();
            let acknowledged = matches!(task.await, Ok(Ok(())));
            settled(&db, BARRIER).await;
            let there = db.whole().await.contains(&id);
            assert!(there || !acknowledged, "batch {id} was acknowledged and is not there");
            assert_eq!(db.batches.find(Batch::fields().id.eq(id)).exists().await.unwrap(), there);
        }
    }
}

on_serializable_stores! {
    async fn many_dropped_at_once_take_nothing_with_them(store: AnyStore) {
        let db = ledger(store).await;
        let mut tasks = Vec::new();
        for task in 0..64_i64 {
            let db = db.clone();
            tasks.push(tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for round in 0..4 {
                    let id = task * 100 + round;
                    // Every second write is dropped, each at another moment.
                    if (task + round) % 2 == 0 {
                        let times = ((task * 5 + round * 3) % 17) as usize;
                        match poll_and_drop(db.write(id, 2), times).await {
                            Some(result) => result.unwrap(),
                            None => continue,
                        }
                    } else {
                        db.write(id, 2).await.unwrap();
                    }
                    acknowledged.push(id);
                }
                acknowledged
            }));
        }
        let mut acknowledged = Vec::new();
        for task in tasks {
            acknowledged.extend(task.await.unwrap());
        }
        settled(&db, BARRIER).await;
        let whole = db.whole().await;
        for id in acknowledged {
            assert!(whole.contains(&id), "batch {id} was acknowledged and is not there");
        }
    }
}
