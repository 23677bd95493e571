//! The announcements of a program that opens a database, until the database is declared or they are withdrawn.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use bson::oid::ObjectId;
use odm_store::{Store, StoreId};
use tokio::runtime::Handle;

use crate::catalog::{self, Announcement};

/// Withdraws the announcements, and undoes changes of indexes, when it is dropped, as with the future of an
/// `open`. If that fails, as after the end of the process, the next `open` does it.
pub(super) struct Announced {
    store: Arc<dyn Store>,
    name: String,
    /// The announcement of a new declaration, which prevents updates alone.
    pub(super) change: Option<Announcement>,
    /// A migration that has not begun, and prevents writes by others to the collections of the database.
    pub(super) migration: Option<ObjectId>,
    /// Whether indexes may have been made and removed for the new declaration.
    pub(super) has_indexes: bool,
}

impl Announced {
    pub(super) fn nothing(store: &Arc<dyn Store>, name: &str) -> Self {
        Announced {
            store: store.clone(),
            name: name.to_owned(),
            change: None,
            migration: None,
            has_indexes: false,
        }
    }

    /// Nothing is to be withdrawn any more.
    pub(super) fn is_declared(&mut self) {
        (self.change, self.migration, self.has_indexes) = (None, None, false);
    }

    /// Withdraws the announcements that still stand.
    pub(super) async fn withdraw(&mut self) {
        if let Some(left) = self.left() {
            left.withdraw().await;
        }
        self.is_declared();
    }

    fn left(&self) -> Option<Left> {
        let left = Left {
            store: self.store.clone(),
            name: self.name.clone(),
            change: self.change,
            migration: self.migration,
            has_indexes: self.has_indexes,
        };
        let is_any = left.change.is_some() || left.migration.is_some() || left.has_indexes;
        is_any.then_some(left)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        if let (Some(left), Ok(runtime)) = (self.left(), Handle::try_current()) {
            runtime.spawn(async move {
                let lock = lock_of(&*left.store);
                let _opening = lock.lock().await;
                left.withdraw().await;
            });
        }
    }
}

/// The announcements to withdraw.
struct Left {
    store: Arc<dyn Store>,
    name: String,
    change: Option<Announcement>,
    migration: Option<ObjectId>,
    has_indexes: bool,
}

impl Left {
    async fn withdraw(self) {
        let store = &*self.store;
        // Indexes first: until the migration is withdrawn, nobody writes documents that they would refuse.
        if self.has_indexes {
            catalog::restore_indexes(store).await.ok();
        }
        if self.migration.is_some() {
            let withdrawn = catalog::withdraw_migration(store, &self.name, self.migration);
            withdrawn.await.ok();
        }
        if let Some(change) = self.change {
            change.withdraw(store).await.ok();
        }
    }
}

type Lock = tokio::sync::Mutex<()>;

/// The lock for opening databases on a store: from reading the catalog until the declaration in it, no other database may change the
/// indexes. Stores without an identity share one lock.
pub(crate) fn lock_of(store: &dyn Store) -> Arc<Lock> {
    static LOCKS: LazyLock<Mutex<HashMap<Option<StoreId>, Weak<Lock>>>> =
        LazyLock::new(Mutex::default);
    let id = store.capabilities().id;
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    locks.retain(|_, lock| lock.strong_count() > 0);
    let lock = locks.get(&id).and_then(Weak::upgrade);
    lock.unwrap_or_else(|| {
        let new = Arc::new(Lock::default());
        locks.insert(id, Arc::downgrade(&new));
        new
    })
}
