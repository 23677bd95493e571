//! The reads of a snapshot see one state, do not block writes, and end with its closure.

use std::{fmt, time::Duration};

use odm::{Error, ErrorKind, bson::doc, prelude::*};
use tests::{on_every_store, on_serializable_stores};

use crate::transactions::bank::{Account, Bank, Transfer, account, bank};

/// An error type of the program.
#[derive(Debug)]
enum Refused {
    Empty,
    Database(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Database(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// The money by each way of reading, which is 1,000 unless a read is torn.
async fn readings(bank: &Bank) -> odm::Result<Vec<(i64, usize)>> {
    let balance = Account::fields().balance;
    let of = |accounts: &[Account]| accounts.iter().map(|account| account.balance).sum();
    let mut readings = Vec::new();

    let all = bank.accounts.all().await?;
    readings.push((of(&all), bank.transfers.all().count().await? as usize));

    let rich = bank.accounts.find(balance.gte(100)).await?;
    let poor = bank.accounts.find(balance.lt(100)).await?;
    let joined = bank.transfers.all().join(Transfer::fields().account).await?;
    readings.push((of(&rich) + of(&poor), joined.len()));

    let mut streamed = Vec::new();
    let mut stream = bank.accounts.all().stream();
    while let Some(account) = stream.try_next().await? {
        streamed.push(account);
    }
    let mut paged = 0;
    let mut page = bank.transfers.all().page(3).await?;
    loop {
        paged += page.items.len();
        let Some(next) = page.next else { break };
        page = bank.transfers.all().after(&next).page(3).await?;
    }
    readings.push((of(&streamed), paged));

    let mut single = 0;
    for id in 1..=10 {
        single += bank.accounts.get(id).await?.balance;
    }
    readings.push((single, bank.transfers.find(Filter::all()).await?.len()));
    Ok(readings)
}

/// Moves money until it is dropped.
fn moving(bank: &Bank) -> tokio::task::JoinSet<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..2 {
        let bank = bank.clone();
        tasks.spawn(async move {
            for turn in 0.. {
                let (from, to) = (1 + (turn + task) % 10, 1 + (turn * 3 + task + 1) % 10);
                bank.transaction(async |bank| {
                    bank.add(from, -1).await?;
                    bank.add(to, 1).await
                })
                .await
                .unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
    tasks
}

on_every_store! {
    async fn all_reads_of_a_snapshot_see_one_state_while_others_write(store: AnyStore) {
        let bank = bank(store).await;
        let mut tasks = moving(&bank);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..10 {
            let read = bank.snapshot(async |bank| readings(&bank).await).await.unwrap();
            assert!(read.iter().all(|reading| *reading == read[0]), "{read:?}");
            assert_eq!(read[0].0, 1000, "{read:?}");
            seen.insert(read[0].1);
            // A write between two reads.
            bank.transfers.insert(Transfer { id: ObjectId::new(), account: Ref::new(1), amount: 0 }).await.unwrap();
        }
        assert!(tasks.try_join_next().is_none(), "nobody wrote any more");
        assert_eq!(seen.len(), 10, "each snapshot has the state of its begin: {seen:?}");
    }

    async fn a_snapshot_holds_up_no_write_and_does_not_see_it(store: AnyStore) {
        let bank = bank(store).await;
        let mut runs = 0;
        bank.snapshot(async |then| {
            runs += 1;
            // The same task goes on writing and reading by the database around it.
            bank.add(1, 5).await?;
            bank.accounts.delete(10).await?;
            assert_eq!(bank.balance(1).await, 105);
            assert_eq!(then.balance(1).await, 100);
            assert_eq!(then.accounts.all().count().await?, 10);
            assert!(then.transfers.of(&account(1, 0)).await?.is_empty());
            let error = then.transfers.all().one().await.unwrap_err();
            assert!(error.is_not_found(), "{error}");
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!((runs, bank.balance(1).await), (1, 105));
    }

    async fn a_snapshot_borrows_and_runs_on_another_thread(store: AnyStore) {
        let bank = bank(store).await;
        let task = tokio::spawn(async move {
            let ids = vec![1, 2, 3];
            let mut sum = 0;
            let taken = String::from("taken");
            let count = bank
                .snapshot(async |bank| {
                    for id in &ids {
                        sum += bank.balance(*id).await;
                        tokio::task::yield_now().await;
                    }
                    Ok((bank.accounts.all().count().await?, taken))
                })
                .await;
            (count.unwrap(), sum, ids.len())
        });
        assert_eq!(task.await.unwrap(), ((10, "taken".to_owned()), 300, 3));
    }

    async fn an_error_of_the_closure_is_that_of_the_snapshot(store: AnyStore) {
        let bank = bank(store).await;
        let found = |id| {
            let bank = &bank;
            async move {
                let read = bank.try_snapshot(async |bank| {
                    match bank.accounts.get(id).await?.balance {
                        0 => Err(Refused::Empty),
                        balance => Ok(balance),
                    }
                });
                read.await
            }
        };
        assert_eq!(found(1).await.unwrap(), 100);
        assert!(matches!(found(77).await, Err(Refused::Database(error)) if error.is_not_found()));
        bank.add(1, -100).await.unwrap();
        assert!(matches!(found(1).await, Err(Refused::Empty)));
    }

    async fn a_write_in_a_snapshot_is_refused_and_says_so(store: AnyStore) {
        let bank = bank(store).await;
        let id = Account::fields().id;
        let balance = Account::fields().balance;
        bank.snapshot(async |bank| {
            let accounts = &bank.accounts;
            let all = [
                accounts.insert(account(11, 0)).await.unwrap_err(),
                accounts.insert_many([account(11, 0), account(12, 0)]).await.unwrap_err(),
                accounts.update(1).inc(balance, 1).await.unwrap_err(),
                accounts.update_where(id.gt(0)).inc(balance, 1).await.unwrap_err(),
                accounts.modify(1, |account| account.balance += 1).await.unwrap_err(),
                accounts.replace(account(1, 1)).await.unwrap_err(),
                accounts.upsert(account(1, 1)).await.unwrap_err(),
                accounts.delete(1).await.unwrap_err(),
                accounts.delete_where(id.gt(0)).await.unwrap_err(),
                accounts.update(1).raw(doc! { "$inc": { "balance": 1 } }).await.unwrap_err(),
            ];
            for error in all {
                assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
                assert!(error.to_string().contains("`accounts`"), "{error}");
            }
            let all = [
                accounts.insert(account(11, 0)).plan().await.unwrap_err(),
                bank.transaction(async |bank| bank.add(1, 1).await).await.unwrap_err(),
                bank.begin().await.unwrap_err(),
                bank.snapshot(async |bank| bank.add(1, 1).await).await.unwrap_err(),
            ];
            for error in all {
                assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
            }
            // A refused write does not affect the snapshot.
            assert_eq!(bank.balance(1).await, 100);
            assert!(bank.audit().await?.is_empty());
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(bank.accounts.all().await.unwrap(), (1..=10).map(|id| account(id, 100)).collect::<Vec<_>>());
    }

    async fn no_read_outlives_its_snapshot(store: AnyStore) {
        let bank = bank(store).await;
        let (kept, mut stream) = bank
            .snapshot(async |bank| {
                let stream = bank.accounts.all().stream();
                Ok((bank, stream))
            })
            .await
            .unwrap();
        let all = [
            kept.accounts.all().await.unwrap_err(),
            kept.accounts.get(1).await.unwrap_err(),
            stream.try_next().await.unwrap_err(),
            kept.snapshot(async |bank| bank.accounts.get(1).await).await.unwrap_err(),
            kept.audit().await.unwrap_err(),
        ];
        for error in all {
            assert_eq!(error.kind(), ErrorKind::SnapshotEnded, "{error}");
            assert!(error.to_string().contains("within the closure"), "{error}");
        }
        assert_eq!(kept.add(1, 1).await.unwrap_err().kind(), ErrorKind::ReadOnly);

        // A future that is dropped ends it as well.
        let (send, taken) = tokio::sync::oneshot::channel();
        let reading = bank.snapshot(async |bank| {
            let _ = send.send(bank);
            std::future::pending::<odm::Result<()>>().await
        });
        let mut reading = Box::pin(reading);
        assert!(tests::poll_once(&mut reading).await.is_pending());
        let kept = taken.await.unwrap();
        assert_eq!(kept.balance(1).await, 100);
        drop(reading);
        assert_eq!(kept.accounts.get(1).await.unwrap_err().kind(), ErrorKind::SnapshotEnded);
    }

    async fn a_snapshot_in_a_transaction_reads_the_state_of_the_transaction(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |bank| {
            bank.add(1, -100).await?;
            let kept = bank
                .snapshot(async |read| {
                    assert_eq!(read.balance(1).await, 0);
                    assert_eq!(read.transfers.all().stream().try_next().await?.unwrap().amount, -100);
                    assert_eq!(read.add(1, 1).await.unwrap_err().kind(), ErrorKind::ReadOnly);
                    Ok(read)
                })
                .await?;
            assert_eq!(kept.accounts.get(1).await.unwrap_err().kind(), ErrorKind::SnapshotEnded);
            // The refusal in the snapshot does not abort the transaction.
            bank.add(1, 7).await
        })
        .await
        .unwrap();
        assert_eq!(bank.balance(1).await, 7);
    }

    async fn a_snapshot_in_another_one_has_its_state(store: AnyStore) {
        let bank = bank(store).await;
        bank.snapshot(async |outer| {
            bank.add(1, 5).await?;
            let inner = outer
                .snapshot(async |inner| {
                    assert_eq!(inner.balance(1).await, 100);
                    Ok(inner)
                })
                .await?;
            assert_eq!(inner.accounts.get(1).await.unwrap_err().kind(), ErrorKind::SnapshotEnded);
            assert_eq!(outer.balance(1).await, 100);
            Ok(())
        })
        .await
        .unwrap();
    }
}

on_serializable_stores! {
    async fn a_snapshot_around_a_transaction_is_not_read_in_it(store: AnyStore) {
        let bank = bank(store).await;
        let error = bank
            .transaction(async |_| bank.snapshot(async |bank| bank.accounts.get(1).await).await)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutsideTransaction, "{error}");
        bank.snapshot(async |then| {
            let error = bank
                .transaction(async |_| then.accounts.get(1).await)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutsideTransaction, "{error}");
            assert_eq!(then.balance(1).await, 100);
            Ok(())
        })
        .await
        .unwrap();
    }
}
