//! The users of a server before the store. The library stores their documents unread; the server makes and reads their fields.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_store::{
    CollectionWrites, DocumentWrite, Durability, Find, ReaderExt, Result, Transaction, UnitOfWork,
};

use super::Session;

/// The collection of the users, which exists once there was one.
const COLLECTION: &str = "_odm_users";

/// Makes the document of a user of the document before; `None` where there is no user.
pub(crate) type UserChange =
    dyn Fn(Option<&RawDocument>) -> Result<Option<RawDocumentBuf>> + Send + Sync;

/// The change of one user. The document that it makes has the name as its `_id`.
struct ChangedUser {
    name: RawBson,
    change: Box<UserChange>,
    /// Whether there was a user before the last run.
    existed: Mutex<bool>,
}

impl fmt::Debug for ChangedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangedUser").finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl UnitOfWork for ChangedUser {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let (before, _) = transaction.get_one(COLLECTION, &self.name).await?;
        *self.existed.lock().unwrap_or_else(PoisonError::into_inner) = before.is_some();
        let after = (self.change)(before.as_deref())?;
        let write = match (&before, &after) {
            (None, None) => return Ok(()),
            (None, Some(after)) => DocumentWrite::Insert(after),
            (Some(before), Some(after)) => DocumentWrite::Replace { before, after },
            (Some(before), None) => DocumentWrite::Remove(before),
        };
        let batch = CollectionWrites {
            collection: COLLECTION,
            writes: vec![write],
        };
        transaction.apply(&[batch]).await.map(drop)
    }
}

impl Session {
    /// The document of a user as of the last commit, also in a transaction.
    pub(crate) async fn user(&self, name: &str) -> Result<Option<RawDocumentBuf>> {
        let reader = self.store.reader()?;
        let (user, _) = reader.get_one(COLLECTION, &name.into()).await?;
        Ok(user)
    }

    /// The documents of all users, in the order of their names.
    pub(crate) async fn users(&self) -> Result<Vec<RawDocumentBuf>> {
        let find = Find {
            collection: COLLECTION.to_owned(),
            ..Find::default()
        };
        let reader = self.store.reader()?;
        let (users, _) = reader.find_all(&find).await?;
        Ok(users)
    }

    /// Changes a user as one unit, and returns whether there was one of the name.
    pub(crate) async fn change_user(&self, name: &str, change: Box<UserChange>) -> Result<bool> {
        self.refuse_in_snapshot(|| "change of a user".to_owned())?;
        self.refuse_inside_transaction()?;
        let changed = Arc::new(ChangedUser {
            name: name.into(),
            change,
            existed: Mutex::new(false),
        });
        self.store
            .run(changed.clone(), Durability::default())
            .await?;
        let existed = changed.existed.lock();
        Ok(*existed.unwrap_or_else(PoisonError::into_inner))
    }
}
