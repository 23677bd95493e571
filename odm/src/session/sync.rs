//! The durability of earlier commits.

use std::sync::Arc;

use async_trait::async_trait;
use odm_store::{Durability, Result, Transaction, UnitOfWork};

use super::{Session, guard::refuse_inside_transaction};

/// A unit without a write, whose commit is durable with all before it.
struct Nothing;

#[async_trait]
impl UnitOfWork for Nothing {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        Ok(())
    }
}

impl Session {
    /// Makes all commits durable that were made before.
    pub(crate) async fn sync(&self) -> Result<()> {
        refuse_inside_transaction(self.store())?;
        self.store
            .run(Arc::new(Nothing), Durability::Immediate)
            .await
    }
}
