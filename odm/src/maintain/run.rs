//! One write as a unit of work of a store.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Write, WriteOutcome, apply};
use crate::{
    catalog::{Catalog, is_current},
    error::{Error, ErrorKind, Result},
    store::{Durability, Store, Transaction, UnitOfWork},
};

/// Runs a write as a unit of its own: all that follows from it is stored with it, or nothing is.
/// Returns `None`, and does nothing, if the catalog is not the one that is in force.
pub(crate) async fn run(
    store: &dyn Store,
    catalog: &Arc<Catalog>,
    write: &Arc<Write>,
    durability: Durability,
    with_steps: bool,
) -> Result<Option<WriteOutcome>> {
    let unit = Arc::new(WriteUnit {
        catalog: catalog.clone(),
        write: write.clone(),
        with_steps,
        ran: Mutex::new(None),
    });
    store.run(unit.clone(), durability).await?;
    let ran = unit
        .ran
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    ran.ok_or_else(|| Error::new(ErrorKind::Closed, "the store did not run the unit"))
}

struct WriteUnit {
    catalog: Arc<Catalog>,
    write: Arc<Write>,
    with_steps: bool,
    /// The result of the last run: the store may run the unit more than once.
    ran: Mutex<Option<Option<WriteOutcome>>>,
}

#[async_trait]
impl UnitOfWork for WriteUnit {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let outcome = match is_current(&self.catalog, &*transaction).await? {
            true => Some(apply(&self.catalog, transaction, &self.write, self.with_steps).await?),
            false => None,
        };
        *self.ran.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(())
    }
}
