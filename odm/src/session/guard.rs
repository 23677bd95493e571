//! Guards against writes that would wait for themselves, reads that would miss the writes around them, and
//! transactions that hold a part of a write.

use odm_store::{Error, ErrorKind, Result, Store, StoreId};

use super::Bound;

tokio::task_local! {
    /// The stores for which the current task is inside a transaction's closure.
    static INSIDE: Vec<StoreId>;
}

/// Runs the closure of a transaction of this store. A read or a write of it that goes past the transaction is
/// refused.
pub(crate) async fn run_inside<F: Future>(store: &dyn Store, future: F) -> F::Output {
    let mut inside = INSIDE.try_with(Clone::clone).unwrap_or_default();
    inside.extend(store.capabilities().id);
    INSIDE.scope(inside, future).await
}

/// Refuses a write outside of the transaction that the current task is in, for which it would wait.
pub(crate) fn refuse_inside_transaction(store: &dyn Store) -> Result<()> {
    refuse(
        store,
        "write outside of the transaction that the task is in: use the database that the closure receives",
    )
}

/// Refuses a read outside of the transaction that the current task is in, whose writes it would not see.
pub(super) fn refuse_read_inside_transaction(store: &dyn Store) -> Result<()> {
    refuse(
        store,
        "read outside of the transaction that the task is in, whose writes it does not see: use the database \
         that the closure receives",
    )
}

fn refuse(store: &dyn Store, message: &'static str) -> Result<()> {
    let Some(id) = store.capabilities().id else {
        return Ok(());
    };
    match INSIDE.try_with(|inside| inside.contains(&id)) {
        Ok(true) => Err(Error::new(ErrorKind::OutsideTransaction, message)),
        _ => Ok(()),
    }
}

/// Aborts a transaction when it is dropped, unless it is disarmed: an operation that is dropped
/// halfway leaves a part of itself in the transaction, which must then not commit.
pub(crate) struct AbortOnDrop<'a> {
    bound: &'a Bound,
    /// `None` once the operation has ended.
    reason: Option<Error>,
}

impl<'a> AbortOnDrop<'a> {
    pub(crate) fn new(bound: &'a Bound, reason: Error) -> Self {
        AbortOnDrop {
            bound,
            reason: Some(reason),
        }
    }

    pub(crate) fn disarm(&mut self) {
        self.reason = None;
    }
}

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(reason) = &self.reason {
            self.bound.abort(reason);
        }
    }
}
