//! Transactions that run at the same time have the same effects as one after another.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::TryStreamExt as _;
use odm::{ErrorKind, prelude::*};
use tests::on_serializable_stores;

use crate::transactions::bank::{Account, bank};

on_serializable_stores! {
    async fn the_sum_is_the_same_in_every_state_while_64_tasks_transfer(store: AnyStore) {
        let bank = bank(store).await;
        let done = Arc::new(AtomicBool::new(false));
        let mut readers = Vec::new();
        for kind in 0..3 {
            let (bank, done) = (bank.clone(), done.clone());
            readers.push(tokio::spawn(async move {
                let mut states = 0;
                while !done.load(Ordering::Relaxed) {
                    let total = match kind {
                        0 => bank.total().await.unwrap(),
                        1 => {
                            let balances = bank.accounts.all().stream().map_ok(|a| a.balance);
                            balances.try_fold(0, async |sum, next| Ok(sum + next)).await.unwrap()
                        }
                        _ => bank.transaction(async |bank| bank.total().await).await.unwrap(),
                    };
                    assert_eq!(total, 1000);
                    states += 1;
                    tokio::task::yield_now().await;
                }
                states
            }));
        }
        let mut tasks = Vec::new();
        for task in 0..64_i64 {
            let bank = bank.clone();
            tasks.push(tokio::spawn(async move {
                for round in 0..4 {
                    let (from, to) = ((task + round) % 10 + 1, (task * 7 + 3) % 10 + 1);
                    bank.transaction(async |bank| {
                        let amount = bank.accounts.get(from).await?.balance / 4;
                        bank.add(from, -amount).await?;
                        tokio::task::yield_now().await;
                        bank.add(to, amount).await
                    })
                    .await
                    .unwrap();
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.await.unwrap() > 0);
        }
        assert_eq!(bank.total().await.unwrap(), 1000);
        assert_eq!(bank.transfers.all().count().await.unwrap(), 64 * 4 * 2);
        let negative = bank.accounts.find(Account::fields().balance.lt(0));
        assert!(!negative.exists().await.unwrap());
    }

    async fn two_that_read_what_the_other_writes_do_not_both_commit_on_the_old(store: AnyStore) {
        let bank = bank(store).await;
        // Write skew: each may empty its account if there is enough in both together.
        for round in 0..30 {
            bank.accounts.update_where(Filter::all()).set(Account::fields().balance, 50).await.unwrap();
            let mut tasks = Vec::new();
            for mine in [1, 2] {
                let bank = bank.clone();
                tasks.push(tokio::spawn(async move {
                    bank.transaction(async |bank| {
                        let both = bank.accounts.find(Account::fields().id.lte(2)).await?;
                        tokio::task::yield_now().await;
                        let sum: i64 = both.iter().map(|account| account.balance).sum();
                        if sum >= 100 {
                            bank.accounts.update(mine).set(Account::fields().balance, -10).await?;
                        }
                        Ok(sum)
                    })
                    .await
                    .unwrap()
                }));
            }
            let mut sums = Vec::new();
            for task in tasks {
                sums.push(task.await.unwrap());
            }
            sums.sort_unstable();
            assert_eq!(sums, [40, 100], "round {round}: one sees what the other did");
        }
    }

    async fn a_number_that_is_read_and_written_back_loses_no_step(store: AnyStore) {
        let bank = bank(store).await;
        let mut tasks = Vec::new();
        for _ in 0..64 {
            let bank = bank.clone();
            tasks.push(tokio::spawn(async move {
                bank.transaction(async |bank| {
                    let mut account = bank.accounts.get(1).await?;
                    tokio::task::yield_now().await;
                    account.balance += 1;
                    bank.accounts.replace(account).await
                })
                .await
                .unwrap()
                .balance
            }));
        }
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        seen.sort_unstable();
        assert_eq!(seen, (101..165).collect::<Vec<i64>>());
    }

    async fn an_empty_place_that_was_seen_stays_empty(store: AnyStore) {
        let bank = bank(store).await;
        // Each inserts an account if no other is of its kind: a phantom would make two.
        for round in 0..20 {
            let range = Account::fields().balance.eq(1_000 + round);
            let mut tasks = Vec::new();
            for task in 0..4 {
                let (bank, range) = (bank.clone(), range.clone());
                tasks.push(tokio::spawn(async move {
                    bank.transaction(async |bank| {
                        if bank.accounts.find(range.clone()).exists().await? {
                            return Ok(0);
                        }
                        let id = 100 + round * 10 + task;
                        bank.accounts.insert(Account { id, balance: 1_000 + round }).await?;
                        Ok(1)
                    })
                    .await
                    .unwrap()
                }));
            }
            let mut inserted = 0;
            for task in tasks {
                inserted += task.await.unwrap();
            }
            assert_eq!(inserted, 1);
            assert_eq!(bank.accounts.find(range).count().await.unwrap(), 1);
        }
    }
}

#[test]
fn a_guard_gets_the_conflict_at_its_commit_and_one_that_only_reads_gets_none() {
    tests::in_serializable_maps(async |store| {
        let bank = bank(store).await;
        let guard = bank.begin().await.unwrap();
        let read = guard.balance(1).await;
        bank.add(1, 5).await.unwrap();
        guard.accounts.update(2).set(Account::fields().balance, read + 1).await.unwrap();
        let error = guard.commit().await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error}");

        let guard = bank.begin().await.unwrap();
        assert_eq!(guard.balance(1).await, 105);
        bank.add(1, 5).await.unwrap();
        assert_eq!(guard.total().await.unwrap(), 1005);
        guard.commit().await.unwrap();
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (110, 100));
    });
}
