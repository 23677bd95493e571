//! Watches of collections.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::{Session, guard::refuse_inside_transaction};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{Filter, Sort},
    store::{Durability, Transaction, UnitOfWork, Watch, WatchedCommit},
};

/// The commits of a collection, for as long as the watch is kept.
pub(crate) type Watched = (Watch, broadcast::Receiver<WatchedCommit>);

/// A unit that does nothing, in its turn.
struct Turn;

#[async_trait]
impl UnitOfWork for Turn {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        Ok(())
    }
}

impl Session {
    /// Receives all commits of a collection from now on, the newest `capacity` of those that are not taken yet.
    /// Waits for the writes that are under way.
    pub(crate) async fn watch(
        &self,
        collection: &str,
        filter: &Filter,
        capacity: usize,
    ) -> Result<Watched> {
        let refused = |kind, why: &str| {
            let message = format!("watch of `{collection}` refused: {why}");
            Err(Error::new(kind, message))
        };
        if self.has_own_state() || refuse_inside_transaction(&*self.store).is_err() {
            return refused(
                ErrorKind::OutsideTransaction,
                "it shows what others commit, for which a transaction or a snapshot would wait in vain; watch \
                 through the database outside of its closure",
            );
        }
        if self
            .catalog()
            .split_of_query(collection, filter, &Sort::default())?
            .is_some()
        {
            return refused(
                ErrorKind::InvalidQuery,
                "its filter names a field of a cold part, which changes are shown without; filter by fields of \
                 the document itself",
            );
        }
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let why = format!("a buffer has 1 to {MAX_CAPACITY} commits, not {capacity}");
            return refused(ErrorKind::InvalidQuery, &why);
        }
        let Some(feed) = self.store.feed() else {
            return refused(
                ErrorKind::InvalidQuery,
                "the store does not tell of its commits; watch one of an embedded store",
            );
        };
        let watch = feed.watch(collection);
        // Writes that began before do not record all that they change. Those that begin after this turn do.
        self.store.run(Arc::new(Turn), Durability::Eventual).await?;
        let commits = watch.begin(capacity)?;
        Ok((watch, commits))
    }
}

/// The greatest number of commits that a watch keeps, for which it takes the room when it begins.
const MAX_CAPACITY: usize = 1 << 20;
