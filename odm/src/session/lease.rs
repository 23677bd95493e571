//! The lease of the worker: whose turn it is on a store for several programs.
//!
//! One program at a time works off the outbox, so that workers lose no conflicts to each other. It renews its lease meanwhile, and gives it
//! back at the end. A program that takes an expired lease kills the session of its holder, whose transaction would keep documents from
//! others for as long as the store allows. Correctness does not depend on leases: if two programs hold one at once, for instance because of
//! a wrong clock, they only conflict more often.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bson::{Bson, DateTime, RawBson, RawDocument, RawDocumentBuf, oid::ObjectId};
use futures_util::future::{Either, select};
use odm_mql::{Filter, Test};
use odm_store::{
    self as store, CollectionWrites, DeleteWrite, DocumentWrite, Durability, Error, ErrorKind,
    ReaderExt, Result, SingleWrite, SingleWriteRequest, Store, StoreSession, Transaction,
    UnitOfWork, UpdateWrite,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use super::Session;

/// The collection, which exists once a program has taken a lease.
const COLLECTION: &str = "_odm_leases";
const OUTBOX: &str = "outbox";

/// How long a lease lasts, and after how long it is renewed: a message may take long on a busy server.
const LASTS: Duration = Duration::from_secs(5);
const RENEWED_AFTER: Duration = Duration::from_millis(1500);

/// The session of the store in which a worker works, if the store has some.
type TurnSession = Option<Box<dyn StoreSession>>;

/// A lease as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredLease {
    #[serde(rename = "_id")]
    id: String,
    /// The turn that it is for, different each time.
    turn: ObjectId,
    #[serde(with = "odm_mql::stored_value")]
    until: DateTime,
    /// The session of the store in which the program works.
    #[serde(default, with = "odm_mql::stored_value")]
    session: Option<Bson>,
}

impl StoredLease {
    fn read(document: &RawDocument) -> Result<Self> {
        odm_store::decode(document.as_bytes()).map_err(|error| {
            let message = format!(
                "unreadable lease: a document of `{COLLECTION}` is not what this version of the library writes; use a \
                 newer version of the library"
            );
            Error::new(ErrorKind::Schema, message).with_source(error)
        })
    }

    fn document(&self) -> Result<RawDocumentBuf> {
        odm_store::encode(self).map_err(|error| {
            Error::new(ErrorKind::Encode, "cannot write a lease").with_source(error)
        })
    }

    /// The write that replaces it by another one.
    fn replacement(&self, next: &StoredLease) -> Result<SingleWrite> {
        Ok(SingleWrite::Update(UpdateWrite {
            collection: COLLECTION.to_owned(),
            filter: of_turn(self.turn).and(is("until", self.until.into())),
            change: store::Change::Replace(next.document()?),
            upsert: false,
            check: None,
        }))
    }

    fn has_run_out(&self) -> bool {
        self.until <= DateTime::now()
    }

    /// The same lease, valid for longer.
    fn renewed(&self) -> Self {
        let millis = DateTime::now().timestamp_millis();
        let until = millis.saturating_add_unsigned(LASTS.as_millis() as u64);
        StoredLease {
            until: DateTime::from_millis(until),
            ..self.clone()
        }
    }
}

fn is(name: &'static str, value: RawBson) -> Filter {
    Filter::Path(name.into(), Test::Eq(value))
}

/// The lease of a turn.
fn of_turn(turn: ObjectId) -> Filter {
    is("_id", OUTBOX.into()).and(is("turn", turn.into()))
}

/// An operation on the lease.
enum LeaseChange {
    /// Takes it, if it is free.
    Take(StoredLease),
    /// Renews the lease of a turn.
    Renew(StoredLease),
    /// Gives back the lease of a turn.
    GiveBack(ObjectId),
}

/// A change of the lease, and its result: the lease before it, if the change applied.
struct ChangeUnit {
    change: LeaseChange,
    changed: Mutex<Option<Option<StoredLease>>>,
}

#[async_trait]
impl UnitOfWork for ChangeUnit {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let (found, _) = transaction.get_one(COLLECTION, &OUTBOX.into()).await?;
        let stored = found.as_deref().map(StoredLease::read).transpose()?;
        let is_of = |turn| stored.as_ref().is_some_and(|stored| stored.turn == turn);
        let (is_due, after) = match &self.change {
            LeaseChange::Take(next) => (
                stored.as_ref().is_none_or(StoredLease::has_run_out),
                Some(next),
            ),
            LeaseChange::Renew(next) => (is_of(next.turn), Some(next)),
            LeaseChange::GiveBack(turn) => (is_of(*turn), None),
        };
        if is_due {
            let after = after.map(StoredLease::document).transpose()?;
            let write = match (&found, &after) {
                (None, Some(after)) => Some(DocumentWrite::Insert(after)),
                (Some(before), Some(after)) => Some(DocumentWrite::Replace { before, after }),
                (Some(before), None) => Some(DocumentWrite::Remove(before)),
                (None, None) => None,
            };
            let writes = CollectionWrites {
                collection: COLLECTION,
                writes: write.into_iter().collect(),
            };
            transaction.apply(&[writes]).await?;
        }
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        *changed = is_due.then_some(stored);
        Ok(())
    }
}

/// Changes the lease. Returns the lease before, or `None` if the change did not apply.
async fn change(store: &dyn Store, change: LeaseChange) -> Result<Option<Option<StoredLease>>> {
    let unit = Arc::new(ChangeUnit {
        change,
        changed: Mutex::default(),
    });
    store.run(unit.clone(), Durability::Eventual).await?;
    let mut changed = unit.changed.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(changed.take())
}

/// Writes to the lease without a transaction, which a killed process would leave open, and with it the lease locked. Returns whether it
/// did.
async fn write_single(store: &dyn Store, write: SingleWrite) -> Result<bool> {
    let write = SingleWriteRequest { write, epoch: None };
    let written = store.write_single(&write, Durability::Eventual).await?;
    Ok(written.is_some_and(|of| of.inserted || of.matched > 0))
}

/// The stored lease, if there is one.
async fn stored(store: &dyn Store) -> Result<Option<StoredLease>> {
    let (found, _) = store.reader()?.get_one(COLLECTION, &OUTBOX.into()).await?;
    found.as_deref().map(StoredLease::read).transpose()
}

/// Whether a worker has the lease.
pub(super) async fn is_held(store: &dyn Store) -> Result<bool> {
    let found = stored(store).await?;
    Ok(found.is_some_and(|found| !found.has_run_out()))
}

/// Gives back the lease of a turn.
async fn give_back(store: &dyn Store, turn: ObjectId) -> Result<()> {
    let write = SingleWrite::Delete(DeleteWrite {
        collection: COLLECTION.to_owned(),
        filter: of_turn(turn),
    });
    if !write_single(store, write).await? {
        change(store, LeaseChange::GiveBack(turn)).await?;
    }
    Ok(())
}

/// The turn of a worker. Dropped, it is given back in the background.
pub(super) struct Lease {
    store: Arc<dyn Store>,
    stored: StoredLease,
    is_held: bool,
}

impl Lease {
    /// Takes the lease and a session of the store, unless another worker has the lease.
    pub(super) async fn take(session: &Session) -> Result<Option<(Self, TurnSession)>> {
        let store = session.store.clone();
        let of_store = store.session().await?;
        let next = StoredLease {
            id: OUTBOX.to_owned(),
            turn: ObjectId::new(),
            until: DateTime::now(),
            session: of_store.as_ref().map(|of_store| of_store.id()),
        };
        let next = next.renewed();
        let found = stored(&*store).await?;
        let write = match &found {
            None => SingleWrite::Insert {
                collection: COLLECTION.to_owned(),
                document: next.document()?,
            },
            Some(found) if found.has_run_out() => found.replacement(&next)?,
            Some(_) => return Ok(None),
        };
        let before = if write_single(&*store, write).await? {
            found
        } else {
            match change(&*store, LeaseChange::Take(next.clone())).await? {
                Some(before) => before,
                None => return Ok(None),
            }
        };
        if let Some(killed) = before.and_then(|before| before.session)
            && let Err(error) = store.kill_session(&killed).await
        {
            tracing::warn!(
                target: "odm", database = session.database(), %error,
                "deferred refreshes: the last transaction of a worker that is gone was not ended, and may keep documents from others for a \
                 minute"
            );
        }
        let lease = Lease {
            store,
            stored: next,
            is_held: true,
        };
        Ok(Some((lease, of_store)))
    }

    /// Works while it renews the lease, and then gives it back. `None` if another worker has taken it meanwhile.
    pub(super) async fn hold<T>(
        mut self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<Option<T>> {
        // If the work ends during a renewal, the stored lease is unknown, so it is given back by its turn.
        let (store, turn) = (self.store.clone(), self.stored.turn);
        let mut stored = self.stored.clone();
        let renewing = async {
            loop {
                tokio::time::sleep(RENEWED_AFTER).await;
                let next = stored.renewed();
                let write = stored.replacement(&next)?;
                if !write_single(&*store, write).await?
                    && change(&*store, LeaseChange::Renew(next.clone()))
                        .await?
                        .is_none()
                {
                    return Ok::<_, Error>(());
                }
                stored = next;
            }
        };
        let worked = match select(pin!(work), pin!(renewing)).await {
            Either::Left((worked, _)) => Some(worked?),
            Either::Right((lost, _)) => {
                lost?;
                None
            }
        };
        self.is_held = false;
        if worked.is_some() {
            give_back(&*self.store, turn).await?;
        }
        Ok(worked)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_held {
            return;
        }
        // Without a runtime, it expires.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (store, turn) = (self.store.clone(), self.stored.turn);
        runtime.spawn(async move {
            if let Err(error) = give_back(&*store, turn).await {
                tracing::debug!(target: "odm", %error, "deferred refreshes: a lease was not given back, and runs out");
            }
        });
    }
}
