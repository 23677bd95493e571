//! Units that write too much for a group.

use std::sync::Arc;

use super::{
    super::{session::Session, work::Work},
    Writer,
    group::{Member, run_unit},
};
use crate::{error::Result, store::UnitOfWork};

impl Writer {
    /// Runs a unit in an engine transaction of its own, and answers.
    pub(super) fn run_large(&mut self, (unit, _, reply): Member) {
        let result = self.usable().and_then(|()| self.try_large(&*unit));
        let _ = reply.send(result);
    }

    /// The commit is durable even if less was asked for: the disk has most of the changes by then.
    fn try_large(&mut self, unit: &dyn UnitOfWork) -> Result<()> {
        // Nothing can be flushed while the transaction is open, which may take longer than earlier
        // units were told to wait.
        self.make_durable()?;
        let begun = self.engine.begin();
        let transaction = Arc::new(begun.map_err(|error| self.fail(error))?);
        let work = Work::for_large_unit(&self.newest, transaction.clone());
        let mut session = Session::for_units(work);
        let ran = run_unit(unit, &mut session, self.settings.transaction_limit)
            .and_then(|()| session.work.finish_large_unit());
        if let Err(error) = ran {
            if let Err(failure) = self.engine.abort(&transaction) {
                self.fail(failure);
            }
            return Err(error);
        }
        let committed = self.engine.commit_open(&transaction);
        // The point of no return was in the line above.
        committed
            .and_then(|()| self.publish(session.work.schema.clone()))
            .map_err(|error| self.fail(error))
    }
}
