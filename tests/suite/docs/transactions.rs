//! The code of `docs/transactions.md`.

use odm::{Embedded, Error, ErrorKind, Result, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
struct Account {
    #[serde(rename = "_id")]
    id: i64,
    balance: i64,
    #[version]
    revision: i64,
}

#[derive(Database)]
#[database(name = "bank", version = 1)]
struct Bank {
    accounts: Repository<Account>,
}

async fn bank() -> Result<Bank> {
    let bank = Bank::open(Embedded::memory().await?).await?;
    let account = |id| Account { id, balance: 100, revision: 0 };
    bank.accounts.insert_many([account(1), account(2)]).await?;
    Ok(bank)
}

impl Bank {
    async fn transfer(&self, from: i64, to: i64, amount: i64) -> Result<(), TransferError> {
        self.try_transaction(async |bank| {
            let balance = Account::fields().balance;
            if bank.accounts.get(from).await?.balance < amount {
                return Err(TransferError::TooLittle); // nothing is stored
            }
            bank.accounts.update(from).inc(balance, -amount).await?;
            bank.accounts.update(to).inc(balance, amount).await?;
            Ok(())
        })
        .await
    }
}

#[derive(Debug)]
enum TransferError {
    TooLittle,
    Database(Error),
}

impl From<Error> for TransferError {
    fn from(error: Error) -> Self {
        TransferError::Database(error)
    }
}

#[tokio::test]
async fn a_transfer_is_whole() -> Result<()> {
    let bank = bank().await?;
    assert!(bank.transfer(1, 2, 30).await.is_ok());
    assert!(matches!(bank.transfer(1, 2, 300).await, Err(TransferError::TooLittle)));
    match bank.transfer(1, 3, 10).await {
        Err(TransferError::Database(error)) => assert!(error.is_not_found()),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        (bank.accounts.get(1).await?.balance, bank.accounts.get(2).await?.balance),
        (70, 130)
    );
    Ok(())
}

#[tokio::test]
async fn a_condition_is_part_of_the_update() -> Result<()> {
    let bank = bank().await?;
    let amount = 30;
    let account = Account::fields();
    let enough = account.id.eq(1) & account.balance.gte(amount);
    let taken = bank.accounts.update_where(enough).inc(account.balance, -amount).await?;
    if taken.matched == 0 {
        // there is no such account, or too little on it
    }
    assert_eq!(taken.matched, 1);
    Ok(())
}

#[tokio::test]
async fn a_stale_replace_is_refused() -> Result<()> {
    let bank = bank().await?;
    let mut account = bank.accounts.get(1).await?;
    bank.accounts.update(1).inc(Account::fields().balance, 5).await?; // somebody else, meanwhile
    account.balance -= 10;
    let refused = bank.accounts.replace(account).await.unwrap_err();
    assert!(refused.is_stale());
    // Read, compute, write, and begin again after a change by others: one call.
    bank.accounts.modify(1, |account| account.balance -= 10).await?;
    assert_eq!(bank.accounts.get(1).await?.balance, 95);
    Ok(())
}

#[tokio::test]
async fn a_transaction_without_a_closure() -> Result<()> {
    let bank = bank().await?;
    let transaction = bank.begin().await?;
    transaction.accounts.update(1).set(Account::fields().balance, 0).await?;
    transaction.commit().await?; // a drop, or `rollback`, undoes all
    let outside = bank.transaction(async |_| bank.accounts.delete(1).await).await.unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::OutsideTransaction);
    assert_eq!(bank.accounts.get(1).await?.balance, 0);
    Ok(())
}
