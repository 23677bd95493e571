//! Accounts with money in them.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::TestStore;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
pub(crate) struct Account {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    pub(crate) balance: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "transfers")]
pub(crate) struct Transfer {
    #[serde(rename = "_id")]
    pub(crate) id: ObjectId,
    #[reference(parent)]
    pub(crate) account: Ref<Account>,
    pub(crate) amount: i64,
}

#[derive(Database)]
#[database(name = "bank", version = 1)]
pub(crate) struct Bank {
    pub(crate) accounts: Repository<Account>,
    pub(crate) transfers: Repository<Transfer>,
}

pub(crate) fn account(id: i64, balance: i64) -> Account {
    Account { id, balance }
}

pub(crate) async fn bank(store: impl TestStore) -> Bank {
    let bank = Bank::open(store).await.unwrap();
    bank.accounts.insert_many((1..=10).map(|id| account(id, 100))).await.unwrap();
    bank
}

impl Bank {
    /// Adds to an account.
    pub(crate) async fn add(&self, id: i64, amount: i64) -> odm::Result<()> {
        self.accounts.update(id).inc(Account::fields().balance, amount).await?;
        let account = Ref::new(id);
        self.transfers.insert(Transfer { id: ObjectId::new(), account, amount }).await?;
        Ok(())
    }

    /// The balance of an account.
    pub(crate) async fn balance(&self, id: i64) -> i64 {
        self.accounts.get(id).await.unwrap().balance
    }

    /// All money in the bank, from one state.
    pub(crate) async fn total(&self) -> odm::Result<i64> {
        Ok(self.accounts.all().await?.iter().map(|account| account.balance).sum())
    }
}
