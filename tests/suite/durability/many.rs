//! Many tasks at once.

use odm::{prelude::*, store::Durability};
use tests::{on_every_store, on_serializable_stores};

use crate::durability::ledger::{Entry, batch, entries, ledger};

on_every_store! {
    async fn of_64_tasks_that_want_one_key_one_has_it(store: AnyStore) {
        let db = ledger(store).await;
        for place in 0..5 {
            let mut tasks = Vec::new();
            for _ in 0..64 {
                let db = db.clone();
                tasks.push(tokio::spawn(async move {
                    let batch = Ref::new(1);
                    let entry = Entry { id: ObjectId::new(), batch, of: None, place, text: String::new() };
                    db.entries.insert(entry).await
                }));
            }
            let mut inserted = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(_) => inserted += 1,
                    Err(error) => assert!(error.is_duplicate_key(), "{error:?}"),
                }
            }
            assert_eq!(inserted, 1);
        }
        assert_eq!(db.entries.all().count().await.unwrap(), 5);
    }

    async fn a_unit_that_fails_takes_no_other_with_it(store: AnyStore) {
        let db = ledger(store).await;
        let mut tasks = Vec::new();
        for task in 0..64_i64 {
            let db = db.clone();
            tasks.push(tokio::spawn(async move {
                match task % 2 {
                    0 => db.write(task, 4).await.is_ok(),
                    // The last of its entries is stored already.
                    _ => {
                        let mut many = entries(task, 4);
                        many.push(many[3].clone());
                        db.entries.insert_many(many).await.is_ok()
                    }
                }
            }));
        }
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), number % 2 == 0);
        }
        assert_eq!(db.whole().await, (0..64).step_by(2).collect::<Vec<i64>>());
    }
}

on_serializable_stores! {
    async fn sixty_four_tasks_that_write_at_once_lose_nothing(store: AnyStore) {
        let db = ledger(store).await;
        let mut tasks = Vec::new();
        for task in 0..64_i64 {
            let db = db.clone();
            tasks.push(tokio::spawn(async move {
                for round in 0..8 {
                    let id = task * 100 + round;
                    match round % 4 {
                        // A transaction; many documents in one call; one call each; soon.
                        0 => db.write(id, 3).await.unwrap(),
                        1 => {
                            let entries = db.entries.insert_many(entries(id, 3)).await.unwrap();
                            let last = Ref::from(&entries[2]);
                            db.batches.insert(batch(id, 3, last)).await.unwrap();
                        }
                        2 => {
                            let mut last = None;
                            for entry in entries(id, 2) {
                                last = Some(db.entries.insert(entry).await.unwrap());
                            }
                            let last = Ref::from(&last.unwrap());
                            db.batches.upsert(batch(id, 2, last)).await.unwrap();
                        }
                        _ => {
                            let soon = db.entries.durability(Durability::Eventual);
                            let entries = soon.insert_many(entries(id, 1)).await.unwrap();
                            let last = Ref::from(&entries[0]);
                            db.batches.insert(batch(id, 1, last)).await.unwrap();
                        }
                    }
                    // The writer of an acknowledged batch can read it.
                    assert_eq!(db.batches.get(id).await.unwrap().id, id);
                    if round == 5 {
                        db.remove(task * 100).await.unwrap();
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let expected: Vec<i64> =
            (0..64).flat_map(|task| (1..8).map(move |round| task * 100 + round)).collect();
        assert_eq!(db.whole().await, expected);
    }
}

#[test]
fn what_was_acknowledged_is_there_when_the_file_is_opened_again() {
    use odm::store::{contract::Store, embedded::Embedded};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.odm");
    tests::run(async {
        for round in 0..5 {
            let store = Embedded::open(&path).await.unwrap();
            let db = ledger(store.clone()).await;
            assert_eq!(db.whole().await, (0..round).collect::<Vec<i64>>());
            db.write(round, round + 1).await.unwrap();
            match round % 2 {
                0 => store.close().await.unwrap(),
                _ => drop((db, store)),
            }
        }
        // `Soon` is durable after a clean end.
        let store = Embedded::open(&path).await.unwrap();
        let db = ledger(store.clone()).await;
        let soon =
            db.entries.durability(Durability::Eventual).insert_many(entries(5, 1)).await.unwrap();
        let last = Ref::from(&soon[0]);
        let batches = db.batches.durability(Durability::Eventual);
        batches.insert(batch(5, 1, last)).await.unwrap();
        drop((db, batches, store));
        let store = Embedded::builder().check(true).open(&path).await.unwrap();
        assert_eq!(ledger(store).await.whole().await, (0..6).collect::<Vec<i64>>());
    });
}

#[test]
fn a_store_outlives_the_runtime_that_opened_it() {
    let store = tests::run(odm::store::embedded::Embedded::memory()).unwrap();
    let db = tests::run(async {
        let db = ledger(store).await;
        db.write(1, 3).await.unwrap();
        db
    });
    tests::run(async {
        db.write(2, 3).await.unwrap();
        assert_eq!(db.whole().await, [1, 2]);
    });
}
