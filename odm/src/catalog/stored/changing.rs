//! The announcement that a database is about to change the declarations on a store.
//!
//! A unit of work that follows relations which are no longer in force is refused with its writes, by the epoch. A
//! [single write](Store::write_single) may pass that check and write a moment later. So no program runs a single write between the announcement and
//! the declaration, which waits for all such writes in flight.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bson::oid::ObjectId;
use odm_store::{Durability, Reader, Result, Store, Transaction, UnitOfWork};

use super::{Epoch, change_epoch, stored_epoch};

/// The age from which on the program of an announcement is taken for crashed.
const LEFT: Duration = Duration::from_secs(10 * 60);

/// An announcement, in the document of the epoch until the declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announcement(ObjectId);

impl Announcement {
    /// Announces a change, and returns when no single write is under way and none can begin. `None` for a store without
    /// such writes.
    pub(crate) async fn make(store: &dyn Store) -> Result<Option<Self>> {
        let Some(limit) = store.capabilities().single_document_writes else {
            return Ok(None);
        };
        let own = Announcement(ObjectId::new());
        store
            .run(Arc::new(Make(own)), Durability::Immediate)
            .await?;
        tokio::time::sleep(limit).await;
        Ok(Some(own))
    }

    /// Whether the announcement stands, so that no single write is under way.
    pub(super) async fn stands(self, reader: &dyn Reader) -> Result<bool> {
        Ok(stored_epoch(reader).await?.changing.contains(&self.0))
    }

    /// Withdraws the announcement, if nothing was declared.
    pub(crate) async fn withdraw(self, store: &dyn Store) -> Result<()> {
        let withdraw = Arc::new(WithdrawAnnouncement(self));
        store.run(withdraw, Durability::Immediate).await
    }

    /// Removes an announcement from an epoch, and the announcements of programs that have crashed.
    pub(super) fn end(own: Option<Self>, epoch: &mut Epoch) {
        let now = SystemTime::now();
        let is_left = |of: &ObjectId| {
            let age = now.duration_since(of.timestamp().to_system_time());
            age.is_ok_and(|age| age > LEFT)
        };
        epoch
            .changing
            .retain(|of| own != Some(Announcement(*of)) && !is_left(of));
    }
}

struct Make(Announcement);

#[async_trait]
impl UnitOfWork for Make {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        change_epoch(transaction, |epoch| epoch.changing.push(self.0.0)).await
    }
}

struct WithdrawAnnouncement(Announcement);

#[async_trait]
impl UnitOfWork for WithdrawAnnouncement {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        change_epoch(transaction, |epoch| Announcement::end(Some(self.0), epoch)).await
    }
}
