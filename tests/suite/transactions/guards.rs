//! The guard: begin, commit, roll back.

use std::{task::Poll, time::Duration};

use odm::{ErrorKind, prelude::*};
use tests::{on_every_store, on_serializable_stores, poll_once};
use tokio::time::timeout;

use crate::transactions::bank::{Account, account, bank};

const SOON: Duration = Duration::from_secs(5);

on_every_store! {
    async fn a_guard_stores_on_commit_alone(store: AnyStore) {
        let bank = bank(store).await;
        let begun = bank.begin().await.unwrap();
        begun.add(1, 5).await.unwrap();
        assert_eq!(begun.balance(1).await, 105);
        assert_eq!(bank.balance(1).await, 100);
        begun.commit().await.unwrap();
        assert_eq!(bank.balance(1).await, 105);

        let begun = bank.begin().await.unwrap();
        begun.add(1, 5).await.unwrap();
        begun.rollback().await.unwrap();
        assert_eq!(bank.balance(1).await, 105);

        let begun = bank.begin().await.unwrap();
        begun.add(1, 5).await.unwrap();
        drop(begun);
        assert_eq!(bank.balance(1).await, 105);
        // The place of the writer is free each time.
        timeout(SOON, bank.add(1, 1)).await.unwrap().unwrap();
        assert_eq!(bank.balance(1).await, 106);
    }

    async fn a_guard_that_stored_nothing_commits(store: AnyStore) {
        let bank = bank(store).await;
        bank.begin().await.unwrap().commit().await.unwrap();
        let begun = bank.begin().await.unwrap();
        assert_eq!(begun.balance(1).await, 100);
        begun.commit().await.unwrap();
    }

    async fn a_guard_with_a_failed_write_does_not_commit(store: AnyStore) {
        let bank = bank(store).await;
        let begun = bank.begin().await.unwrap();
        begun.add(1, 5).await.unwrap();
        assert!(begun.accounts.insert(account(1, 0)).await.unwrap_err().is_duplicate_key());
        let error = begun.commit().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionAborted);
        assert_eq!(bank.balance(1).await, 100);
    }

    async fn what_outlives_its_guard_is_of_no_use(store: AnyStore) {
        let bank = bank(store).await;
        for end in 0..3 {
            let begun = bank.begin().await.unwrap();
            let accounts = begun.accounts.clone();
            begun.add(1, 5).await.unwrap();
            match end {
                0 => begun.commit().await.unwrap(),
                1 => begun.rollback().await.unwrap(),
                _ => drop(begun),
            }
            let error = accounts.delete(2).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
            let error = accounts.get(2).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
        }
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (105, 100));
    }

    async fn a_guard_inside_a_transaction_is_refused_at_once(store: AnyStore) {
        let bank = bank(store).await;
        let begun = bank.begin().await.unwrap();
        let error = timeout(SOON, begun.begin()).await.unwrap().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error:?}");
        // A closure joins the guard's transaction.
        begun.transaction(async |bank| bank.add(1, 5).await).await.unwrap();
        assert_eq!(bank.balance(1).await, 100);
        begun.commit().await.unwrap();
        assert_eq!(bank.balance(1).await, 105);
    }

    async fn a_write_dropped_half_way_is_not_committed_by_half(store: AnyStore) {
        let bank = bank(store).await;
        let mut given_up = 0;
        for polls in 0..30 {
            let begun = bank.begin().await.unwrap();
            let many = begun.accounts.update_where(Filter::all()).inc(Account::fields().balance, 1);
            let done = {
                let mut many = many.into_future();
                let mut done = false;
                for _ in 0..polls {
                    if let Poll::Ready(result) = poll_once(&mut many).await {
                        assert_eq!(result.unwrap().modified, 10);
                        done = true;
                        break;
                    }
                    tokio::time::sleep(Duration::from_micros(20 * polls)).await;
                }
                done
            };
            let before = bank.total().await.unwrap();
            given_up += usize::from(!done);
            let committed = begun.commit().await;
            let added = bank.total().await.unwrap() - before;
            match (done, committed) {
                (true, Ok(())) => assert_eq!(added, 10),
                (false, Ok(())) => assert_eq!(added, 0, "a write that was dropped is committed"),
                (false, Err(error)) => {
                    assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
                    assert_eq!(added, 0);
                }
                (true, Err(error)) => panic!("nothing was dropped: {error:?}"),
            }
        }
        assert!(given_up > 0);
        timeout(SOON, bank.add(2, 1)).await.expect("the place of the writer is not free").unwrap();
    }
}

on_serializable_stores! {
    async fn a_dropped_future_rolls_back_and_holds_up_nobody(store: AnyStore) {
        let bank = bank(store).await;
        let waits = bank.transaction(async |bank| {
            bank.add(1, 5).await?;
            std::future::pending::<()>().await;
            Ok(())
        });
        assert!(timeout(Duration::from_millis(50), waits).await.is_err());
        timeout(SOON, bank.add(2, 1)).await.expect("somebody waits").unwrap();
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (100, 101));

        // Beside an open transaction.
        let first = bank.begin().await.unwrap();
        first.add(1, 1).await.unwrap();
        let other = bank.transaction(async |bank| bank.add(3, 5).await);
        timeout(SOON, other).await.expect("somebody waits").unwrap();
        first.commit().await.unwrap();
        assert_eq!((bank.balance(1).await, bank.balance(3).await), (101, 105));
    }
}
