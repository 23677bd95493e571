//! A write outside of the transaction that the task is in would wait for itself, and a read outside of it misses its writes: both are
//! errors.

use std::time::Duration;

use odm::{Error, ErrorKind, prelude::*};
use tests::{on_embedded_stores, on_every_store, on_serializable_stores};
use tokio::time::timeout;

use crate::transactions::bank::{Account, Bank, account, bank};

/// The error of a write that must not wait.
async fn refused<T>(write: impl IntoFuture<Output = odm::Result<T>>) -> Error {
    let result = timeout(Duration::from_secs(5), write.into_future()).await;
    let error = result.expect("the write waits for itself").err().expect("the write was stored");
    assert_eq!(error.kind(), ErrorKind::OutsideTransaction, "{error:?}");
    error
}

on_every_store! {
    async fn every_write_outside_is_refused_at_once(store: AnyStore) {
        let outside = bank(store.clone()).await;
        let second = Bank::open(store).await.unwrap();
        let clone = outside.clone();
        outside
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                for outside in [&outside, &clone, &second] {
                    let accounts = &outside.accounts;
                    refused(accounts.insert(account(11, 0))).await;
                    refused(accounts.insert_many([account(11, 0)])).await;
                    refused(accounts.update(1).inc(Account::fields().balance, 1)).await;
                    refused(accounts.update_where(Filter::all()).inc(Account::fields().balance, 1)).await;
                    refused(accounts.replace(account(1, 0))).await;
                    refused(accounts.upsert(account(1, 0))).await;
                    refused(accounts.modify(1, |account| account.balance = 0)).await;
                    refused(accounts.delete(1)).await;
                    refused(accounts.delete_where(Filter::all())).await;
                    refused(outside.begin()).await;
                    let nested = Box::pin(outside.transaction(async |bank| bank.add(1, 5).await));
                    refused(nested).await;
                }
                // The refusal loses nothing.
                bank.add(2, 5).await
            })
            .await
            .unwrap();
        assert_eq!((outside.balance(1).await, outside.balance(2).await), (105, 105));
        outside.add(1, 5).await.unwrap();
    }

    async fn the_error_says_what_to_use_instead(store: AnyStore) {
        let outside = bank(store).await;
        let error = outside
            .transaction(async |_| Ok(refused(outside.accounts.delete(1)).await))
            .await
            .unwrap();
        assert!(error.to_string().contains("the closure receives"), "{error}");
        assert!(!error.is_retryable());
    }

    async fn it_is_refused_deep_inside_too(store: AnyStore) {
        let outside = bank(store).await;
        outside
            .transaction(async |bank| {
                bank.transaction(async |_| {
                    let write = async { outside.add(1, 5).await };
                    refused(Box::pin(write)).await;
                    Ok(())
                })
                .await
            })
            .await
            .unwrap();
    }

    async fn every_read_outside_is_refused(store: AnyStore) {
        let outside = bank(store.clone()).await;
        let second = Bank::open(store).await.unwrap();
        outside
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                for outside in [&outside, &second] {
                    let accounts = &outside.accounts;
                    refused(accounts.get(1)).await;
                    refused(accounts.find(Filter::all())).await;
                    refused(accounts.find(Filter::all()).first()).await;
                    refused(accounts.find(Filter::all()).count()).await;
                    refused(accounts.find(Filter::all()).exists()).await;
                    refused(accounts.find(Filter::all()).explain()).await;
                    refused(accounts.find(Filter::all()).distinct(Account::fields().balance)).await;
                    refused(accounts.find(Filter::all()).page(3)).await;
                    refused(accounts.all().stream().try_next()).await;
                    refused(accounts.all().stream().snapshot().try_next()).await;
                    refused(outside.audit()).await;
                }
                let error = refused(outside.accounts.get(1)).await;
                assert!(error.to_string().contains("the closure receives"), "{error}");
                // The refusal loses nothing.
                assert_eq!(bank.balance(1).await, 105);
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(outside.balance(1).await, 105);
    }
}

on_serializable_stores! {
    async fn a_task_of_its_own_reads_what_is_committed(store: AnyStore) {
        let outside = bank(store).await;
        outside
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                let outside = outside.clone();
                let read = tokio::spawn(async move { outside.balance(1).await });
                assert_eq!(read.await.unwrap(), 100);
                Ok(())
            })
            .await
            .unwrap();
    }

    async fn a_read_beside_a_guard_reads_what_is_committed(store: AnyStore) {
        let outside = bank(store).await;
        let guard = outside.begin().await.unwrap();
        guard.add(1, 5).await.unwrap();
        assert_eq!((guard.balance(1).await, outside.balance(1).await), (105, 100));
        guard.commit().await.unwrap();
    }
}

on_embedded_stores! {
    async fn a_task_of_its_own_writes_beside_the_transaction(store: AnyStore) {
        let outside = bank(store).await;
        outside
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                let outside = outside.clone();
                tokio::spawn(async move { outside.add(1, 1).await }).await.unwrap()?;
                // The closure has not read the balance, so its writes are made again on the new one.
                bank.add(1, 5).await
            })
            .await
            .unwrap();
        assert_eq!(outside.balance(1).await, 111);
    }
}

/// Another store does not take part in the transaction.
#[test]
fn a_write_to_another_store_is_no_write_outside() {
    tests::in_memory(async |store| {
        let here = bank(store).await;
        let there = odm::store::embedded::Embedded::memory().await.unwrap();
        let there = bank(there).await;
        here.transaction(async |here| {
            here.add(1, -5).await?;
            there.add(1, 5).await?;
            there.transaction(async |there| there.add(2, 5).await).await
        })
        .await
        .unwrap();
        assert_eq!((here.balance(1).await, there.total().await.unwrap()), (95, 1010));
    });
}
