//! A transaction that takes too long is rolled back, and run again if that may help.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use odm::{ErrorKind, prelude::*, store::embedded::Embedded};
use tokio::time::sleep;

use crate::transactions::bank::{Bank, bank};

const LIMIT: Duration = Duration::from_millis(250);
const LONGER: Duration = Duration::from_millis(500);

/// Runs a test on both kinds of the embedded store with a short limit.
fn with_limit<F: Future>(test: impl Fn(Bank) -> F) {
    let directory = tempfile::tempdir().unwrap();
    tests::run(async {
        let limited = || Embedded::builder().transaction_limit(LIMIT);
        test(bank(limited().memory().await.unwrap()).await).await;
        test(bank(limited().open(directory.path().join("bank.odm")).await.unwrap()).await).await;
    });
}

#[test]
fn an_expired_closure_is_run_again() {
    with_limit(async |bank| {
        let runs = AtomicUsize::new(0);
        let balance = bank
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                if runs.fetch_add(1, Ordering::Relaxed) < 2 {
                    sleep(LONGER).await;
                }
                bank.add(1, 5).await?;
                Ok(bank.balance(1).await)
            })
            .await
            .unwrap();
        assert_eq!(balance, 110, "each run starts afresh");
        assert_eq!(runs.into_inner(), 3);
        assert_eq!(bank.balance(1).await, 110);
        assert_eq!(bank.transfers.all().count().await.unwrap(), 2);
    });
}

#[test]
fn a_closure_that_expires_at_its_commit_is_run_again() {
    with_limit(async |bank| {
        let runs = AtomicUsize::new(0);
        bank.transaction(async |bank| {
            bank.add(1, 5).await?;
            if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                sleep(LONGER).await;
            }
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(runs.into_inner(), 2);
        assert_eq!(bank.balance(1).await, 105);
    });
}

#[test]
fn whatever_error_a_closure_makes_of_the_expiry_it_is_run_again() {
    #[derive(Debug)]
    struct Other;
    impl From<odm::Error> for Other {
        fn from(_: odm::Error) -> Self {
            Other
        }
    }
    with_limit(async |bank| {
        let runs = AtomicUsize::new(0);
        let result: Result<(), Other> = bank
            .try_transaction(async |bank| {
                bank.add(1, 5).await?;
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    sleep(LONGER).await;
                    // A read reveals it.
                    bank.accounts.get(1).await.map_err(|_| Other)?;
                }
                Ok(())
            })
            .await;
        result.unwrap();
        assert_eq!(runs.into_inner(), 2);
        assert_eq!(bank.balance(1).await, 105);
    });
}

#[test]
fn a_closure_that_expires_again_and_again_is_an_error() {
    with_limit(async |bank| {
        let runs = AtomicUsize::new(0);
        let error = bank
            .transaction(async |bank| {
                runs.fetch_add(1, Ordering::Relaxed);
                bank.add(1, 5).await?;
                sleep(LONGER).await;
                Ok(())
            })
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionExpired, "{error:?}");
        assert!(error.is_retryable());
        assert!(runs.into_inner() > 1);
        assert_eq!(bank.balance(1).await, 100);
    });
}

#[test]
fn a_closure_may_await_a_write_of_a_spawned_task() {
    with_limit(async |bank| {
        let runs = AtomicUsize::new(0);
        let run = async |inner: Bank| {
            runs.fetch_add(1, Ordering::Relaxed);
            inner.add(1, 5).await?;
            let bank = bank.clone();
            let spawned = tokio::spawn(async move { bank.add(2, 5).await });
            spawned.await.unwrap().unwrap();
            inner.add(1, 5).await
        };
        bank.transaction(run).await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (110, 105));
    });
}

#[test]
fn an_abandoned_guard_holds_up_nobody() {
    tests::in_memory(async |store| {
        let bank = bank(store).await;
        let abandoned = bank.begin().await.unwrap();
        abandoned.add(1, 5).await.unwrap();
        let others = async {
            bank.add(2, 5).await.unwrap();
            bank.transaction(async |bank| bank.add(1, 1).await).await.unwrap();
        };
        // The guard could be open for a minute.
        tokio::time::timeout(Duration::from_secs(20), others).await.expect("they wait");
        // Its only write is made again, on the balance of now.
        abandoned.commit().await.unwrap();
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (106, 105));
    });
}

#[test]
fn an_expired_guard_does_not_commit_what_it_wrote_in_time() {
    with_limit(async |bank| {
        let begun = bank.begin().await.unwrap();
        begun.add(1, 5).await.unwrap();
        sleep(LONGER).await;
        let error = begun.commit().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionExpired, "{error:?}");
        assert_eq!(bank.balance(1).await, 100);
        // Writes that expire while they wait are not there either.
        let begun = bank.begin().await.unwrap();
        sleep(LONGER).await;
        drop(begun);
        bank.add(1, 5).await.unwrap();
        assert_eq!(bank.balance(1).await, 105);
    });
}

#[test]
fn the_time_of_waiting_is_no_part_of_the_limit() {
    with_limit(async |bank| {
        let mut tasks = Vec::new();
        for _ in 0..6 {
            let bank = bank.clone();
            tasks.push(tokio::spawn(async move {
                bank.transaction(async |bank| {
                    bank.add(1, 1).await?;
                    sleep(LIMIT / 3).await;
                    bank.add(1, 1).await
                })
                .await
            }));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(bank.balance(1).await, 112);
    });
}

#[test]
fn one_thread_is_enough() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Embedded::builder().transaction_limit(LIMIT).memory().await.unwrap();
        let bank = bank(store).await;
        let adds = (1..=10).map(|id| {
            let bank = bank.clone();
            tokio::spawn(async move { bank.transaction(async |bank| bank.add(id, 1).await).await })
        });
        for add in adds.collect::<Vec<_>>() {
            add.await.unwrap().unwrap();
        }
        let abandoned = bank.begin().await.unwrap();
        abandoned.add(1, 5).await.unwrap();
        bank.add(2, 5).await.unwrap();
        assert_eq!(bank.total().await.unwrap(), 1015);
    });
}
