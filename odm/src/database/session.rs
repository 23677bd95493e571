//! Where a repository's operations go: to the store, or to a transaction.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use tokio::sync::MutexGuard;

use crate::{
    catalog::{self, Catalog},
    error::{Error, ErrorKind, Result},
    maintain::{self, Outcome, Plan, Step, Write},
    measure,
    store::{Cost, Durability, Reader, Store, StoreId, Transaction, TransactionOptions},
};

tokio::task_local! {
    /// The stores for which the current task is inside a transaction's closure.
    pub(super) static INSIDE: Vec<StoreId>;
}

/// A store with the relations of one database, and the transaction that operations are part of.
#[derive(Clone)]
pub struct Session {
    pub(super) store: Arc<dyn Store>,
    catalog: Arc<Shared>,
    /// Documents of this database are stored in halves.
    has_halves: bool,
    pub(super) bound: Option<Arc<Bound>>,
    durability: Durability,
}

/// The catalog of all sessions of a database. Another database on the same store may declare more.
struct Shared(RwLock<Arc<Catalog>>);

/// A transaction that repositories are bound to.
pub(super) struct Bound {
    /// Empty once the transaction has ended. Operations of one transaction wait for each other.
    transaction: tokio::sync::Mutex<Option<Box<dyn Transaction>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Why the transaction cannot commit.
    failure: Option<Error>,
    /// Nothing may be done in it any more.
    ended: bool,
}

impl Session {
    pub(super) fn new(store: Arc<dyn Store>, catalog: Catalog) -> Self {
        Session {
            store,
            has_halves: catalog.has_splits(),
            catalog: Arc::new(Shared(RwLock::new(Arc::new(catalog)))),
            bound: None,
            durability: Durability::default(),
        }
    }

    /// The same session with its operations in a transaction.
    pub(super) fn bind(&self, transaction: Box<dyn Transaction>) -> Self {
        let bound = Bound {
            transaction: tokio::sync::Mutex::new(Some(transaction)),
            state: Mutex::default(),
        };
        Session {
            bound: Some(Arc::new(bound)),
            ..self.clone()
        }
    }

    /// The same session in a transaction of its own, which [`commit`](Session::commit) ends. It is
    /// rolled back when it is dropped.
    pub(crate) async fn begin(&self) -> Result<Self> {
        self.refuse_inside_transaction()?;
        let options = TransactionOptions {
            durability: self.durability,
        };
        Ok(self.bind(self.store.begin(options).await?))
    }

    /// Ends the transaction of [`begin`](Session::begin).
    pub(crate) async fn commit(self) -> Result<()> {
        match &self.bound {
            Some(bound) => bound.commit().await,
            None => Ok(()),
        }
    }

    pub(crate) fn with_durability(&self, durability: Durability) -> Self {
        Session {
            durability,
            ..self.clone()
        }
    }

    /// One consistent view for all reads of an operation.
    pub(crate) async fn reader(&self) -> Result<View<'_>> {
        match &self.bound {
            None => Ok(View::Committed(self.store.reader()?)),
            Some(bound) => Ok(View::Bound(bound.open().await?)),
        }
    }

    /// The state that is committed now, to keep over several reads.
    pub(crate) fn committed(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    /// The relations of the models.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog.0.read();
        catalog.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a read has to ask the catalog for halves. Other databases on the store may declare some
    /// later, of which this one's models know nothing.
    pub(crate) fn has_halves(&self) -> bool {
        self.has_halves
    }

    /// Reads the catalog that is in force by now.
    async fn reload(&self, reader: &dyn Reader) -> Result<Arc<Catalog>> {
        let catalog = Arc::new(catalog::load(reader).await?);
        let mut shared = self
            .catalog
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        shared.clone_from(&catalog);
        Ok(catalog)
    }

    /// The catalog that is in force, for those who look at everything.
    pub(super) async fn current_catalog(&self) -> Result<Arc<Catalog>> {
        let view = self.reader().await?;
        self.reload(view.get()?).await
    }

    /// Whether operations are part of a transaction.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound.is_some()
    }

    /// Takes note of a read that failed: one that failed since the transaction was lost is a reason
    /// to run the whole transaction again.
    pub(crate) fn noted<T>(&self, result: Result<T>) -> Result<T> {
        if let (Err(error), Some(bound)) = (&result, &self.bound)
            && error.is_retryable()
        {
            bound.abort(error);
        }
        result
    }

    /// Applies one write as a unit, with all that follows from it.
    pub(crate) async fn write(&self, write: Write) -> Result<Outcome> {
        let operation = write.name();
        let collection = write.collection().to_owned();
        let outcome = match &self.bound {
            None => {
                self.refuse_inside_transaction()?;
                let write = Arc::new(write);
                loop {
                    let (store, catalog) = (&*self.store, self.catalog());
                    match maintain::run(store, &catalog, &write, self.durability).await? {
                        Some(outcome) => break outcome,
                        None => self.reload(&*store.reader()?).await?,
                    };
                }
            }
            Some(bound) => {
                let mut operation = bound.open().await?;
                let mut aborting = AbortOnDrop::new(bound, dropped());
                let result = match operation.get() {
                    Ok(transaction) => self.apply(transaction, &write).await,
                    Err(error) => Err(error),
                };
                aborting.disarm();
                // Such an error of `modify` means that it has written nothing yet, and goes on.
                let goes_on = matches!(write, Write::Modify { .. });
                result.inspect_err(|error| {
                    if !(goes_on && error.is_stale()) {
                        bound.abort(error);
                    }
                })?
            }
        };
        for Step { name, cost } in &outcome.steps {
            tracing::trace!(
                target: "odm",
                operation,
                collection,
                step = name,
                keys_examined = cost.keys_examined,
                documents_examined = cost.documents_examined,
                documents_written = cost.documents_written,
            );
        }
        done(operation, &collection, outcome.cost);
        Ok(outcome)
    }

    /// Applies one write in a transaction, by the catalog that is in force in it.
    async fn apply(&self, transaction: &mut dyn Transaction, write: &Write) -> Result<Outcome> {
        let mut catalog = self.catalog();
        if !catalog::is_current(&catalog, &*transaction).await? {
            catalog = self.reload(&*transaction).await?;
        }
        maintain::apply(&catalog, transaction, write).await
    }

    /// Takes note that all documents follow what is declared at these places.
    pub(super) async fn complete(&self, places: BTreeSet<String>) -> Result<()> {
        self.refuse_inside_transaction()?;
        catalog::complete(&*self.store, places).await?;
        self.current_catalog().await.map(drop)
    }

    /// What a write would do.
    pub(crate) async fn plan(&self, write: Result<Write>) -> Result<Plan> {
        if self.is_bound() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "a write is planned by running and undoing it, which cannot be done to a part of a \
                 transaction: plan it outside",
            ));
        }
        self.refuse_inside_transaction()?;
        let write = write?;
        loop {
            let (store, catalog) = (&*self.store, self.catalog());
            match maintain::plan(store, &catalog, &write).await? {
                Some(plan) => return Ok(plan),
                None => self.reload(&*store.reader()?).await?,
            };
        }
    }

    /// A write outside would wait for the transaction, which waits for the write.
    pub(super) fn refuse_inside_transaction(&self) -> Result<()> {
        refuse_inside_transaction(&*self.store)
    }
}

pub(super) fn refuse_inside_transaction(store: &dyn Store) -> Result<()> {
    let Some(id) = store.capabilities().single_writer else {
        return Ok(());
    };
    match INSIDE.try_with(|inside| inside.contains(&id)) {
        Ok(true) => Err(Error::new(
            ErrorKind::OutsideTransaction,
            "a write inside a transaction's closure must use the database that the closure \
             receives, not the one outside",
        )),
        _ => Ok(()),
    }
}

/// What every operation leaves behind: its cost, for those who measure and those who trace.
pub(crate) fn done(operation: &'static str, collection: &str, cost: Cost) {
    measure::report(cost);
    tracing::debug!(
        target: "odm",
        operation,
        collection,
        queries = cost.queries,
        keys_examined = cost.keys_examined,
        documents_examined = cost.documents_examined,
        documents_returned = cost.documents_returned,
        documents_written = cost.documents_written,
    );
}

/// The view of one operation.
pub(crate) enum View<'a> {
    Committed(Arc<dyn Reader>),
    Bound(Operation<'a>),
}

impl View<'_> {
    pub(crate) fn get(&self) -> Result<&dyn Reader> {
        match self {
            View::Committed(reader) => Ok(&**reader),
            View::Bound(operation) => match operation.transaction.as_deref() {
                Some(transaction) => Ok(transaction),
                None => Err(ended()),
            },
        }
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::TransactionAborted, "the transaction has ended")
}

/// What is dropped half-way leaves a part of itself in the transaction, which must then not commit.
pub(super) struct AbortOnDrop<'a> {
    bound: &'a Bound,
    /// None once it is done.
    reason: Option<Error>,
}

impl<'a> AbortOnDrop<'a> {
    pub(super) fn new(bound: &'a Bound, reason: Error) -> Self {
        AbortOnDrop {
            bound,
            reason: Some(reason),
        }
    }

    pub(super) fn disarm(&mut self) {
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

fn dropped() -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        "a write in the transaction was dropped before it was done",
    )
}

/// The transaction, for one operation.
pub(crate) struct Operation<'a> {
    bound: &'a Bound,
    transaction: MutexGuard<'a, Option<Box<dyn Transaction>>>,
}

impl Operation<'_> {
    fn get(&mut self) -> Result<&mut dyn Transaction> {
        match self.transaction.as_deref_mut() {
            Some(transaction) => Ok(transaction),
            None => Err(ended()),
        }
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        // Whoever abandoned the transaction meanwhile left this to the operation.
        if self.bound.state().ended {
            self.transaction.take();
        }
    }
}

impl Bound {
    async fn open(&self) -> Result<Operation<'_>> {
        let operation = Operation {
            bound: self,
            transaction: self.transaction.lock().await,
        };
        if self.state().ended || operation.transaction.is_none() {
            return Err(ended());
        }
        match self.failure() {
            Some(failure) => Err(aborted(&failure)),
            None => Ok(operation),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a commit impossible. The first reason is kept.
    pub(super) fn abort(&self, error: &Error) {
        self.state().failure.get_or_insert_with(|| error.clone());
    }

    /// Why the transaction cannot commit, if it cannot.
    pub(super) fn failure(&self) -> Option<Error> {
        self.state().failure.clone()
    }

    pub(super) async fn commit(&self) -> Result<()> {
        let transaction = self.transaction.lock().await.take().ok_or_else(ended)?;
        if let Some(failure) = self.failure() {
            transaction.rollback().await?;
            return Err(aborted(&failure));
        }
        transaction.commit().await
    }

    pub(super) async fn rollback(&self) -> Result<()> {
        match self.transaction.lock().await.take() {
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }

    /// Rolls back without waiting: at once, or when the operation that is under way lets go.
    pub(super) fn abandon(&self) {
        self.state().ended = true;
        if let Ok(mut transaction) = self.transaction.try_lock() {
            transaction.take();
        }
    }
}

fn aborted(failure: &Error) -> Error {
    if failure.is_retryable() || failure.kind() == ErrorKind::TransactionAborted {
        return failure.clone();
    }
    Error::new(
        ErrorKind::TransactionAborted,
        format!("the transaction cannot go on, since a part of it failed: {failure}"),
    )
    .with_source(failure.clone())
}
