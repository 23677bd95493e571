//! The writes of a transaction, made again on another state.
//!
//! A transaction on a store with snapshots computes its derived data from a state that other commits may have replaced at its own. If its
//! caller has not seen any of the changes, only the writes have to be made again: they are recorded with all that they have told the
//! caller, and must tell the same again.

use std::sync::Arc;

use async_trait::async_trait;
use bson::RawBson;
use odm_store::{Error, ErrorKind, Result, Transaction, UnitOfWork, metrics};

use super::{run::Job, unit::Digest};
use crate::catalog::{Catalog, follow};

/// The outcome of a write that its caller sees, besides its cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(super) matched: u64,
    pub(super) modified: u64,
    pub(super) inserted: bool,
    pub(super) inserted_id: Option<RawBson>,
    /// The documents that it has returned.
    pub(super) returned: Vec<Digest>,
}

/// The writes of a transaction.
#[derive(Clone, Default)]
pub(crate) struct Rewrites(Vec<Arc<dyn Rewrite>>);

#[async_trait]
trait Rewrite: Send + Sync {
    /// Makes the write again. Returns whether it tells the same as before.
    async fn again(&self, transaction: &mut dyn Transaction) -> Result<bool>;
}

struct Recorded<W: Job> {
    catalog: Arc<Catalog>,
    work: Arc<W>,
    told: Vec<Told>,
}

impl Rewrites {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records a write that a transaction has made by a catalog. Returns whether it can be made again.
    pub(crate) fn add<W: Job>(
        &mut self,
        catalog: &Arc<Catalog>,
        work: &Arc<W>,
        outcome: &W::Outcome,
    ) -> bool {
        let Some(told) = W::told(outcome) else {
            return false;
        };
        self.0.push(Arc::new(Recorded {
            catalog: catalog.clone(),
            work: work.clone(),
            told,
        }));
        true
    }
}

#[async_trait]
impl<W: Job> Rewrite for Recorded<W> {
    async fn again(&self, transaction: &mut dyn Transaction) -> Result<bool> {
        if !follow(&self.catalog, transaction).await? {
            return Ok(false);
        }
        let outcome = self.work.apply(&self.catalog, transaction, false).await?;
        Ok(W::told(&outcome).as_ref() == Some(&self.told))
    }
}

/// Whether a store has failed, and another run would fail as well.
fn is_of_store(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Io | ErrorKind::Corrupt | ErrorKind::Closed | ErrorKind::Unavailable
    )
}

#[async_trait]
impl UnitOfWork for Rewrites {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for rewrite in &self.0 {
            let tells_the_same = match rewrite.again(transaction).await {
                Err(error) if is_of_store(&error) => return Err(error),
                // A new run tells an error that the write did not have before.
                again => again.unwrap_or(false),
            };
            if !tells_the_same {
                metrics::transaction_conflict();
                return Err(Error::new(
                    ErrorKind::TransactionAborted,
                    "transaction lost: another one has changed the result of one of its writes; run it again",
                )
                .retryable());
            }
        }
        Ok(())
    }
}
