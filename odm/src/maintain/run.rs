//! One write as a unit of work of a store.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Outcome, Write, apply};
use crate::{
    catalog::Catalog,
    error::{Error, ErrorKind, Result},
    store::{Durability, Store, Transaction, UnitOfWork},
};

/// Runs a write as a unit of its own: all that follows from it is stored with it, or nothing is.
pub(crate) async fn run(
    store: &dyn Store,
    catalog: &Arc<Catalog>,
    write: Write,
    durability: Durability,
) -> Result<Outcome> {
    let unit = Arc::new(Run {
        catalog: catalog.clone(),
        write,
        outcome: Mutex::new(None),
    });
    store.run(unit.clone(), durability).await?;
    let outcome = unit
        .outcome
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    outcome.ok_or_else(|| Error::new(ErrorKind::Closed, "the store did not run the unit"))
}

struct Run {
    catalog: Arc<Catalog>,
    write: Write,
    /// What the last run of the unit did: the store may run it more than once.
    outcome: Mutex<Option<Outcome>>,
}

#[async_trait]
impl UnitOfWork for Run {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let outcome = apply(&self.catalog, transaction, &self.write).await?;
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(())
    }
}
