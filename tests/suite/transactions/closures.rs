//! The writes of a closure are stored when it returns, or not at all.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use odm::{ErrorKind, prelude::*};
use tests::on_every_store;

use crate::transactions::bank::{Account, Bank, Transfer, account, bank};

/// An error type of the program.
#[derive(Debug)]
enum Refused {
    TooLittle(i64),
    Database(odm::Error),
}

impl From<odm::Error> for Refused {
    fn from(error: odm::Error) -> Self {
        Refused::Database(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

async fn take(bank: &Bank, id: i64, amount: i64) -> Result<i64, Refused> {
    bank.try_transaction(async |bank| {
        bank.add(id, -amount).await?;
        let left = bank.accounts.get(id).await?.balance;
        if left < 0 {
            return Err(Refused::TooLittle(left));
        }
        Ok(left)
    })
    .await
}

on_every_store! {
    async fn what_a_closure_writes_is_stored_together(store: AnyStore) {
        let bank = bank(store).await;
        let moved = bank
            .transaction(async |bank| {
                bank.add(1, -30).await?;
                bank.add(2, 30).await?;
                bank.accounts.insert(account(11, 0)).await?;
                bank.accounts.delete(10).await
            })
            .await
            .unwrap();
        assert!(moved);
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (70, 130));
        assert_eq!(bank.transfers.all().count().await.unwrap(), 2);
        assert!(bank.accounts.get(10).optional().await.unwrap().is_none());
    }

    async fn an_error_of_the_closure_undoes_all_of_it(store: AnyStore) {
        let bank = bank(store).await;
        assert_eq!(take(&bank, 1, 30).await.unwrap(), 70);
        match take(&bank, 1, 80).await {
            Err(Refused::TooLittle(left)) => assert_eq!(left, -10),
            other => panic!("not refused: {other:?}"),
        }
        match take(&bank, 77, 1).await {
            Err(Refused::Database(error)) => assert!(error.is_not_found(), "{error}"),
            other => panic!("not refused: {other:?}"),
        }
        assert_eq!(bank.balance(1).await, 70);
        assert_eq!(bank.transfers.all().count().await.unwrap(), 1);
        // The same through an error of the library.
        let error = bank
            .transaction(async |bank| {
                bank.add(2, 5).await?;
                bank.accounts.get(77).await
            })
            .await
            .unwrap_err();
        assert!(error.is_not_found(), "the closure's own error is returned: {error:?}");
        assert_eq!(bank.balance(2).await, 100);
    }

    async fn a_closure_borrows_and_runs_on_another_thread(store: AnyStore) {
        let bank = bank(store).await;
        let task = {
            let bank = bank.clone();
            tokio::spawn(async move {
                let amounts = vec![1, 2, 3];
                let name = String::from("borrowed");
                let runs = AtomicUsize::new(0);
                let total = bank
                    .transaction(async |bank| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        for amount in &amounts {
                            bank.add(*amount, *amount).await?;
                            tokio::task::yield_now().await;
                        }
                        let many = bank.accounts.find(Account::fields().balance.gt(100)).await?;
                        Ok((name.len(), many.len()))
                    })
                    .await?;
                assert_eq!((name.as_str(), amounts.len()), ("borrowed", 3));
                Ok::<_, odm::Error>((total.0, total.1, runs.into_inner()))
            })
        };
        assert_eq!(task.await.unwrap().unwrap(), (8, 3, 1));
    }

    async fn a_transaction_reads_its_own_writes_and_nobody_else_does(store: AnyStore) {
        let bank = bank(store).await;
        let outside = bank.clone();
        bank.transaction(async |bank| {
            bank.add(1, -100).await?;
            bank.accounts.insert(account(11, 7)).await?;
            bank.accounts.delete(9).await?;
            let balance = Account::fields().balance;
            assert_eq!(bank.balance(1).await, 0);
            assert_eq!(bank.accounts.find(balance.eq(7)).one().await?.id, 11);
            assert!(!bank.accounts.find(Account::fields().id.eq(9)).exists().await?);
            assert_eq!(bank.accounts.all().count().await?, 10);
            assert_eq!(bank.transfers.of(&account(1, 0)).await?.len(), 1);
            let sorted = bank.accounts.all().sort(balance.asc()).limit(2).await?;
            assert_eq!(sorted, [account(1, 0), account(11, 7)]);
            let values = bank.accounts.all().distinct(balance).await?;
            assert_eq!(values, [0, 7, 100]);

            // A read by another task sees the committed state, and does not wait.
            let outside = outside.clone();
            let read = tokio::spawn(async move {
                assert_eq!(outside.balance(1).await, 100);
                assert!(outside.accounts.get(11).optional().await.unwrap().is_none());
                assert!(outside.accounts.get(9).optional().await.unwrap().is_some());
                assert_eq!(outside.transfers.all().count().await.unwrap(), 0);
            });
            read.await.unwrap();
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(outside.balance(1).await, 0);
        assert_eq!(outside.accounts.get(11).await.unwrap(), account(11, 7));
        assert!(outside.accounts.get(9).optional().await.unwrap().is_none());
    }

    async fn ok_despite_a_write_that_failed_stores_nothing(store: AnyStore) {
        let bank = bank(store).await;
        let error = bank
            .transaction(async |bank| {
                bank.add(1, -30).await?;
                let taken = bank.accounts.insert(account(2, 0)).await.unwrap_err();
                assert!(taken.is_duplicate_key());
                // The transaction refuses further operations, with the reason.
                let next = bank.accounts.get(3).await.unwrap_err();
                assert_eq!(next.kind(), ErrorKind::TransactionAborted);
                assert!(next.to_string().contains('2'), "{next}");
                Ok(())
            })
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.downcast_ref::<odm::Error>().unwrap().is_duplicate_key(), "{source}");
        assert!(!error.is_retryable());
        assert_eq!(bank.balance(1).await, 100);
    }

    async fn each_of_many_transactions_on_the_same_documents_comes_to_its_end(store: AnyStore) {
        let bank = bank(store).await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..32 {
            let bank = bank.clone();
            tasks.spawn(async move {
                bank.transaction(async |bank| {
                    let balance = bank.accounts.get(1).await?.balance;
                    bank.accounts.update(1).set(Account::fields().balance, balance - 1).await?;
                    bank.add(2, 1).await
                })
                .await
            });
        }
        while let Some(moved) = tasks.join_next().await {
            moved.unwrap().unwrap();
        }
        assert_eq!((bank.balance(1).await, bank.balance(2).await), (68, 132));
        assert_eq!(bank.transfers.all().count().await.unwrap(), 32);
    }

    async fn a_read_that_finds_nothing_aborts_nothing(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |bank| {
            assert!(bank.accounts.get(77).await.unwrap_err().is_not_found());
            let unknown = Filter::raw(odm::bson::doc! { "$frob": 1 });
            assert!(bank.accounts.find(unknown).await.is_err());
            bank.add(1, 5).await
        })
        .await
        .unwrap();
        assert_eq!(bank.balance(1).await, 105);
    }

    async fn a_nested_transaction_is_a_part_of_the_outer_one(store: AnyStore) {
        let bank = bank(store).await;
        let outside = bank.clone();
        bank.transaction(async |bank| {
            bank.add(1, 5).await?;
            let inner = bank
                .transaction(async |bank| {
                    assert_eq!(bank.balance(1).await, 105, "the inner one sees the outer one's");
                    bank.add(2, 5).await?;
                    Ok("done")
                })
                .await?;
            assert_eq!(inner, "done");
            assert_eq!(bank.balance(2).await, 105);
            let outside = outside.clone();
            let read = tokio::spawn(async move { outside.balance(2).await });
            assert_eq!(read.await.unwrap(), 100, "the inner one does not commit");
            bank.add(3, 5).await
        })
        .await
        .unwrap();
        assert_eq!(bank.total().await.unwrap(), 1015);
    }

    async fn a_nested_transaction_that_is_dropped_aborts_the_outer_one(store: AnyStore) {
        let bank = bank(store).await;
        let result = bank
            .transaction(async |bank| {
                let inner = bank.transaction(async |bank| {
                    bank.add(1, 5).await?;
                    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                    bank.add(2, -5).await
                });
                assert!(tokio::time::timeout(std::time::Duration::from_millis(20), inner).await.is_err());
                Ok(())
            })
            .await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::TransactionAborted);
        assert_eq!(bank.balance(1).await, 100);
    }

    async fn an_error_of_a_nested_transaction_aborts_the_outer_one(store: AnyStore) {
        let bank = bank(store).await;
        let error = bank
            .transaction(async |bank| {
                bank.add(1, 5).await?;
                let inner = bank
                    .transaction(async |bank| {
                        bank.add(2, 5).await?;
                        bank.accounts.get(77).await
                    })
                    .await;
                assert!(inner.unwrap_err().is_not_found());
                Ok(())
            })
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
        assert_eq!(bank.total().await.unwrap(), 1000);

        let refused: Result<(), Refused> = bank
            .try_transaction(async |bank| {
                bank.add(1, 5).await?;
                let _ = take(&bank, 2, 500).await;
                Ok(())
            })
            .await;
        match refused {
            Err(Refused::Database(error)) => assert_eq!(error.kind(), ErrorKind::TransactionAborted),
            other => panic!("stored: {other:?}"),
        }
        assert_eq!(bank.total().await.unwrap(), 1000);
    }

    async fn writes_of_one_transaction_may_run_side_by_side(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |bank| {
            let adds = (1..=10).map(|id| bank.add(id, id));
            futures_util::future::try_join_all(adds).await?;
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(bank.total().await.unwrap(), 1055);
        assert_eq!(bank.transfers.all().count().await.unwrap(), 10);
    }

    async fn modifies_of_one_document_side_by_side_lose_nothing(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |bank| {
            let add = |account: &mut Account| account.balance += 1;
            let many = (0..10).map(|_| bank.accounts.modify(1, add));
            futures_util::future::try_join_all(many).await?;
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(bank.balance(1).await, 110);
    }

    async fn every_write_works_in_a_transaction(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |bank| {
            let balance = Account::fields().balance;
            bank.accounts.insert_many([account(11, 1), account(12, 2)]).await?;
            bank.accounts.replace(account(11, 10)).await?;
            bank.accounts.upsert(account(13, 3)).await?;
            bank.accounts.modify(12, |account| account.balance *= 10).await?;
            let done = bank.accounts.update_where(Account::fields().id.gt(10)).inc(balance, 1).await?;
            assert_eq!(done.modified, 3);
            let new = bank.accounts.update_where(Account::fields().id.eq(14)).inc(balance, 9).upsert();
            assert!(new.await?.inserted);
            assert_eq!(bank.accounts.delete_where(Account::fields().id.lte(9)).await?, 9);
            assert!(bank.accounts.delete(10).await?);
            assert_eq!(bank.transfers.delete_where(Transfer::fields().amount.gt(0)).await?, 0);
            Ok(())
        })
        .await
        .unwrap();
        let all = bank.accounts.all().await.unwrap();
        assert_eq!(all, [account(11, 11), account(12, 21), account(13, 4), account(14, 9)]);
    }

    async fn what_a_closure_leaks_is_of_no_use_afterwards(store: AnyStore) {
        let bank = bank(store).await;
        let leaked = bank.transaction(async |bank| Ok(bank)).await.unwrap();
        for error in [
            leaked.accounts.get(1).await.unwrap_err(),
            leaked.add(1, 5).await.unwrap_err(),
            leaked.transaction(async |bank| bank.add(1, 5).await).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error:?}");
        }
        assert_eq!(bank.total().await.unwrap(), 1000);
    }
}
