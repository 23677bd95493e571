//! A database is closed once all earlier writes are stored, and refuses later ones.

use odm::{Embedded, ErrorKind, prelude::*};
use tests::{on_every_store, on_serializable_stores};

use crate::transactions::bank::{Bank, account, bank};

on_every_store! {
    async fn a_closed_database_refuses_reads_and_writes_and_can_be_closed_again(store: AnyStore) {
        let bank = bank(store.clone()).await;
        let other = Bank::open(store).await.unwrap();
        bank.close().await.unwrap();
        bank.close().await.unwrap();
        other.close().await.unwrap();
        let all = [
            bank.accounts.get(1).await.unwrap_err(),
            bank.add(1, 1).await.unwrap_err(),
            bank.transaction(async |bank| bank.add(1, 1).await).await.unwrap_err(),
            bank.snapshot(async |bank| bank.accounts.get(1).await).await.unwrap_err(),
            bank.begin().await.unwrap_err(),
            bank.audit().await.unwrap_err(),
            bank.accounts.all().stream().try_next().await.unwrap_err(),
            other.accounts.get(1).await.unwrap_err(),
        ];
        for error in all {
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
            assert!(error.to_string().contains("closed"), "{error}");
        }
    }
}

on_serializable_stores! {
    async fn a_database_is_not_closed_in_a_transaction(store: AnyStore) {
        let bank = bank(store).await;
        bank.transaction(async |inner| {
            for database in [&inner, &bank] {
                let error = database.close().await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::OutsideTransaction, "{error}");
            }
            inner.add(1, 1).await
        })
        .await
        .unwrap();
        assert_eq!(bank.balance(1).await, 101);
    }
}

tests::on_embedded_stores! {
    async fn a_close_does_not_wait_for_an_open_transaction(store: AnyStore) {
        let bank = bank(store).await;
        let guard = bank.begin().await.unwrap();
        guard.add(1, 1).await.unwrap();
        bank.close().await.unwrap();
        let error = guard.commit().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
}

/// When any call of `close` returns, all earlier writes are stored, and the file is free.
#[test]
fn the_file_has_all_writes_and_is_free_when_a_close_returns() {
    tests::run(async {
        let folder = tempfile::tempdir().unwrap();
        for turn in 0..20 {
            let path = folder.path().join(format!("{turn}.odm"));
            let first = bank(Embedded::open(&path).await.unwrap()).await;
            let eventual = first.durability(odm::store::Durability::Eventual);
            for id in 11..=60 {
                eventual.accounts.insert(account(id, 1)).await.unwrap();
            }
            let writes: Vec<_> = (61..=80)
                .map(|id| tokio::spawn(first.accounts.insert(account(id, 1)).into_future()))
                .collect();
            tokio::task::yield_now().await;
            let (one, two) = (first.clone(), first.clone());
            let mut one = tokio::spawn(async move { one.close().await });
            let mut two = tokio::spawn(async move { two.close().await });
            tokio::select! {
                closed = &mut one => closed.unwrap().unwrap(),
                closed = &mut two => closed.unwrap().unwrap(),
            }
            let again = Bank::open(Embedded::open(&path).await.unwrap()).await.unwrap();
            let mut stored = 60;
            for write in writes {
                match write.await.unwrap() {
                    Ok(_) => stored += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Closed, "{error}"),
                }
            }
            assert_eq!(again.accounts.all().count().await.unwrap(), stored);
        }
    });
}
