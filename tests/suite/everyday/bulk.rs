//! Several writes of several models as one unit.

use odm::{Embedded, ErrorKind, measure, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
struct Account {
    #[serde(rename = "_id")]
    id: i32,
    balance: i64,
    #[count(of = "Transfer", via = "from")]
    sent: i64,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "transfers", new = "NewTransfer")]
struct Transfer {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[reference(parent)]
    from: Ref<Account>,
    #[reference(parent)]
    to: Ref<Account>,
    amount: i64,
}

#[derive(Database)]
#[database(name = "bank", version = 1)]
struct Bank {
    accounts: Repository<Account>,
    transfers: Repository<Transfer>,
}

fn account(id: i32, balance: i64) -> Account {
    Account { id, balance, sent: 0, revision: 0 }
}

fn transfer(from: i32, to: i32, amount: i64) -> NewTransfer {
    NewTransfer { from: Ref::new(from), to: Ref::new(to), amount }
}

async fn bank(store: impl TestStore) -> Bank {
    let bank = Bank::open(store).await.unwrap();
    let accounts = (1..=3).map(|id| account(id, 100));
    bank.accounts.insert_many(accounts).await.unwrap();
    bank
}

async fn balances(bank: &Bank) -> Vec<(i64, i64)> {
    let accounts = bank.accounts.all().await.unwrap();
    let balances = accounts.iter().map(|account| (account.balance, account.sent));
    balances.collect()
}

on_every_store! {
    async fn writes_of_several_models_are_one_unit(store: AnyStore) {
        let bank = bank(store).await;
        let balance = Account::fields().balance;
        let (sent, (), to, deleted, (many, none)) = bank
            .bulk((
                bank.transfers.insert(transfer(1, 2, 30)),
                bank.accounts.update(1).inc(balance, -30),
                bank.accounts.update(2).inc(balance, 30).returning(),
                bank.accounts.delete(3),
                (
                    bank.accounts.update_where(balance.gt(100)).inc(balance, 1),
                    bank.accounts.delete_where(balance.lt(0)),
                ),
            ))
            .await
            .unwrap();
        assert_eq!((sent.amount, to.balance, deleted, many.modified, none), (30, 130, true, 1, 0));
        // The later writes saw the results of the earlier ones.
        assert_eq!(balances(&bank).await, [(70, 1), (131, 0)]);
        assert_eq!(bank.transfers.get(sent.id).await.unwrap(), sent);
        assert_eq!(bank.audit().await.unwrap(), []);
    }

    async fn any_failure_leaves_nothing_of_a_bulk(store: AnyStore) {
        let bank = bank(store).await;
        let balance = Account::fields().balance;
        let pay = || bank.accounts.update(1).inc(balance, -30);
        let before = balances(&bank).await;
        let missing = bank.bulk((pay(), bank.accounts.update(9).inc(balance, 30))).await.unwrap_err();
        assert!(missing.is_not_found(), "{missing}");
        let stale = bank.accounts.update(2).inc(balance, 30).if_version(7);
        assert!(bank.bulk((pay(), stale)).await.unwrap_err().is_stale());
        let dangling = bank.bulk((pay(), bank.transfers.insert(transfer(1, 9, 1)))).await.unwrap_err();
        assert_eq!(dangling.kind(), ErrorKind::DanglingReference);
        let taken = bank.bulk((pay(), bank.accounts.insert(account(2, 0)))).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        let unchanged = bank.bulk((pay(), bank.accounts.update(2))).await.unwrap_err();
        assert_eq!(unchanged.kind(), ErrorKind::InvalidQuery);
        assert_eq!(balances(&bank).await, before);
        // A version that an earlier write of the unit has made.
        let next = bank.accounts.update(1).inc(balance, -1).if_version(2);
        bank.bulk((pay(), next)).await.unwrap();
        assert_eq!(bank.audit().await.unwrap(), []);
    }

    async fn a_bulk_takes_lists_and_options_of_writes(store: AnyStore) {
        let bank = bank(store).await;
        let balance = Account::fields().balance;
        let nothing: Vec<Option<odm::repository::Delete<Account>>> = Vec::new();
        assert!(bank.bulk(nothing).await.unwrap().is_empty());
        let transfers = [(1, 2, 5), (2, 3, 7), (1, 3, 9)];
        let inserts = transfers.map(|(from, to, amount)| bank.transfers.insert(transfer(from, to, amount)));
        let updates = transfers.map(|(from, to, amount)| {
            (bank.accounts.update(from).inc(balance, -amount), bank.accounts.update(to).inc(balance, amount))
        });
        let last = Some(bank.accounts.update(3).inc(balance, 1000).returning());
        let none: Option<odm::repository::Insert<Account>> = None;
        let empty = bank.transfers.insert_many(Vec::<NewTransfer>::new());
        let writes = (inserts.into_iter().collect::<Vec<_>>(), empty, updates.into_iter().collect::<Vec<_>>(), none, last);
        let (sent, empty, updated, none, last) = bank.bulk(writes).await.unwrap();
        let amounts: Vec<i64> = sent.iter().map(|sent| sent.amount).collect();
        assert_eq!((amounts, empty, updated.len(), none), (vec![5, 7, 9], vec![], 3, None));
        assert_eq!(last.unwrap().balance, 1116);
        assert_eq!(balances(&bank).await, [(86, 2), (98, 1), (1116, 0)]);

        let many = (0..2_000).map(|n| bank.accounts.insert(account(100 + n, 1)));
        let many = bank.bulk(many.collect::<Vec<_>>()).await.unwrap();
        assert_eq!((many.len(), bank.accounts.all().count().await.unwrap()), (2_000, 2_003));
        assert_eq!(bank.audit().await.unwrap(), []);
    }

    async fn a_bulk_is_a_part_of_the_transaction_that_it_is_called_in(store: AnyStore) {
        let bank = bank(store).await;
        let balance = Account::fields().balance;
        let kept: odm::Result<()> = bank
            .transaction(async |inner| {
                inner.bulk((inner.accounts.update(1).inc(balance, 1), inner.accounts.delete(2))).await?;
                assert_eq!(balances(&inner).await, [(101, 0), (100, 0)]);
                Ok(())
            })
            .await;
        kept.unwrap();
        let before = balances(&bank).await;
        // After a failure with a part of the bulk done, the transaction cannot commit.
        let failed: odm::Result<()> = bank
            .transaction(async |inner| {
                let failed = inner.bulk((inner.accounts.update(1).inc(balance, 1), inner.accounts.update(9).inc(balance, 1)));
                assert!(failed.await.unwrap_err().is_not_found());
                Ok(())
            })
            .await;
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::TransactionAborted);
        assert_eq!(balances(&bank).await, before);
        let outer = bank.accounts.clone();
        let mixed: odm::Result<()> = bank
            .transaction(async |inner| inner.bulk((inner.accounts.delete(1), outer.delete(3))).await.map(drop))
            .await;
        assert_eq!(mixed.unwrap_err().kind(), ErrorKind::InvalidQuery);
        let read_only: odm::Result<()> = bank
            .snapshot(async |bank| bank.bulk((bank.accounts.delete(1),)).await.map(drop))
            .await;
        assert_eq!(read_only.unwrap_err().kind(), ErrorKind::ReadOnly);
        assert_eq!(balances(&bank).await, before);
    }

    async fn the_cost_of_a_bulk_is_that_of_its_writes(store: AnyStore) {
        let bank = bank(store).await;
        let balance = Account::fields().balance;
        let bulk = bank.bulk((bank.accounts.update(1).inc(balance, 1), bank.transfers.insert(transfer(1, 2, 1))));
        let (result, cost) = measure(bulk).await;
        result.unwrap();
        // The account, the transfer, and the account again with its count.
        assert_eq!(cost.documents_written, 3);
    }
}

#[tokio::test]
async fn a_bulk_refuses_a_write_of_another_database() {
    let one = bank(Embedded::memory().await.unwrap()).await;
    let other = bank(Embedded::memory().await.unwrap()).await;
    let writes = (one.accounts.delete(1), other.accounts.delete(1));
    let error = one.bulk(writes).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    assert!(error.to_string().contains("another database"), "{error}");
    assert_eq!(one.accounts.all().count().await.unwrap(), 3);
}

#[tokio::test]
async fn bulks_of_many_tasks_lose_nothing() {
    let bank = std::sync::Arc::new(bank(Embedded::memory().await.unwrap()).await);
    let tasks = (0..16).map(|task: i32| {
        let bank = bank.clone();
        tokio::spawn(async move {
            let balance = Account::fields().balance;
            for round in 0..25 {
                let (from, to) = (1 + task % 3, 1 + (task + 1) % 3);
                let bulk = bank.bulk((
                    bank.accounts.update(from).inc(balance, -1),
                    bank.accounts.update(to).inc(balance, 1),
                    bank.transfers.insert(transfer(from, to, 1)),
                ));
                // Some are dropped before they end: they happen as a whole or not at all.
                match round % 5 {
                    0 => {
                        drop(tokio::time::timeout(std::time::Duration::from_micros(50), bulk).await)
                    }
                    _ => drop(bulk.await.unwrap()),
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let accounts = bank.accounts.all().await.unwrap();
    assert_eq!(accounts.iter().map(|account| account.balance).sum::<i64>(), 300);
    for account in &accounts {
        let fields = Transfer::fields();
        let sent = bank.transfers.find(fields.from.eq(account.id)).count().await.unwrap();
        let got = bank.transfers.find(fields.to.eq(account.id)).count().await.unwrap();
        assert_eq!(account.balance, 100 - sent as i64 + got as i64);
    }
    assert_eq!(bank.audit().await.unwrap(), []);
}
