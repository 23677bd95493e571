//! The database: all repositories of an application, over one store.

mod audit;
mod transaction;

use std::{future::Future, sync::Arc};

pub use audit::{Audit, Progress};
pub use transaction::TransactionGuard;

use crate::{
    catalog::{self, Relations},
    error::{Error, Result},
    model::{Document, Model},
    repository::Repository,
    session::{self, Session},
    store::{Store, TransactionOptions},
};

/// All repositories of an application, over one store.
///
/// Derive it on a struct with a field for each collection:
///
/// ```
/// # use odm::{prelude::*, store::embedded::Embedded}; use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct Part { #[serde(rename = "_id")] id: i64, name: String }
/// #[derive(Database)]
/// #[database(name = "shop", version = 1)]
/// struct Shop {
///     parts: Repository<Part>,
/// }
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let shop = Shop::open(Embedded::memory().await?).await?;
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
///
/// It is cheap to clone, and clones share the store.
pub trait Database: Clone + Send + Sync + Sized + 'static {
    /// The name under which the database's relations are known in the store.
    const NAME: &'static str;
    /// The version of the models.
    const VERSION: u32;

    #[doc(hidden)]
    fn models() -> Vec<&'static Model>;
    #[doc(hidden)]
    fn bind(session: &Session) -> Self;
    #[doc(hidden)]
    fn session(&self) -> &Session;

    /// Opens the database on a store: checks how the models fit together, and creates the
    /// collections and indexes that are missing.
    ///
    /// # Errors
    ///
    /// `Schema` if two models share a collection, or an index exists under the same name with other
    /// fields; `DuplicateKey` if a unique index cannot be made, since two documents have the same
    /// key.
    fn open(store: impl Store) -> impl Future<Output = Result<Self>> + Send {
        async move {
            session::refuse_inside_transaction(&store)?;
            let (relations, mut specs) = catalog::declared_by(&Self::models())?;
            specs.push(catalog::spec());
            store.ensure(&specs).await?;
            let catalog = catalog::declare(&store, Self::NAME, Self::VERSION, relations).await?;
            if !catalog.building().is_empty() {
                tracing::warn!(
                    target: "odm",
                    database = Self::NAME,
                    places = ?catalog.building(),
                    "declared over documents that were there before: `rebuild` brings them up",
                );
            }
            Ok(Self::bind(&Session::new(Arc::new(store), catalog)))
        }
    }

    /// What the models state of each other, to be drawn by [`mermaid`](Relations::mermaid).
    ///
    /// # Errors
    ///
    /// `Schema`, as [`open`](Database::open), if the models do not fit together.
    fn catalog() -> Result<Relations> {
        Ok(catalog::declared_by(&Self::models())?.0)
    }

    /// What was declared over documents that were there before, and may not be right in them yet, as
    /// `collection.path`: what is written from now on is right in what it touches, and
    /// [`rebuild`](Database::rebuild) brings up the rest.
    fn building(&self) -> Vec<String> {
        let catalog = self.session().catalog();
        catalog.building().iter().cloned().collect()
    }

    /// Brings up what is [`building`](Database::building), as [`repair`](Database::repair) does, in
    /// the collections where that is. When the stream has come to its end, it is complete.
    fn rebuild(&self) -> Audit {
        Audit::rebuild(self.session())
    }

    /// Runs the closure in a transaction: all of its writes are stored, or none.
    ///
    /// The closure receives the same repositories, bound to the transaction, and is run again where
    /// the transaction was lost to no fault of its own, such as a time limit. It borrows what it
    /// needs, and cannot change it: each run starts afresh.
    ///
    /// Reads in it see its own writes, and on a serializable store nothing else changes until it
    /// ends. An error from the closure, or from a write in it, rolls all of it back. Inside another
    /// transaction's closure it becomes a part of that one, and its error dooms that one too.
    /// Dropping the future rolls back.
    ///
    /// ```
    /// # use odm::{prelude::*, store::embedded::Embedded}; use serde::{Deserialize, Serialize};
    /// # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "accounts")]
    /// # struct Account { #[serde(rename = "_id")] id: i64, balance: i64 }
    /// # #[derive(Database)] #[database(name = "bank", version = 1)]
    /// # struct Bank { accounts: Repository<Account> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let bank = Bank::open(Embedded::memory().await?).await?;
    /// # bank.accounts.insert(Account { id: 1, balance: 10 }).await?;
    /// # bank.accounts.insert(Account { id: 2, balance: 0 }).await?;
    /// bank.transaction(async |bank| {
    ///     bank.accounts.update(1).inc(Account::fields().balance, -5).await?;
    ///     bank.accounts.update(2).inc(Account::fields().balance, 5).await?;
    ///     Ok(())
    /// })
    /// .await?;
    /// # assert_eq!(bank.accounts.get(2).await?.balance, 5);
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// The closure's own; `TransactionExpired` if it ran into the time limit again and again;
    /// `TransactionAborted` if it returned `Ok` although a write in it had failed.
    fn transaction<T, F>(&self, run: F) -> impl Future<Output = Result<T>>
    where
        F: AsyncFnOnce(Self) -> Result<T> + Clone,
    {
        self.try_transaction(run)
    }

    /// [`transaction`](Database::transaction) with an error type of the caller's.
    fn try_transaction<T, E, F>(&self, run: F) -> impl Future<Output = Result<T, E>>
    where
        E: From<Error>,
        F: AsyncFnOnce(Self) -> Result<T, E> + Clone,
    {
        transaction::run(self, run)
    }

    /// Compares what the library keeps with what it follows from, in all documents: copies with their
    /// sources, counts and subsets with the children, both sides of pairs, the halves of documents that
    /// are split; and looks for references that lead nowhere. Nothing is written.
    ///
    /// A store that is only written through this library has no findings, unless a document was
    /// inserted without its half, or a subset was declared over documents that were there before.
    ///
    /// ```
    /// # use odm::{prelude::*, store::embedded::Embedded}; use serde::{Deserialize, Serialize};
    /// # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "accounts")]
    /// # struct Account { #[serde(rename = "_id")] id: i64, balance: i64 }
    /// # #[derive(Database)] #[database(name = "bank", version = 1)]
    /// # struct Bank { accounts: Repository<Account> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let bank = Bank::open(Embedded::memory().await?).await?;
    /// let mut audit = bank.audit();
    /// while let Some(finding) = audit.next().await {
    ///     println!("{}, after {} documents", finding?, audit.progress().checked);
    /// }
    /// assert!(bank.repair().await?.iter().all(|finding| finding.mended));
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    fn audit(&self) -> Audit {
        Audit::new(self.session(), false)
    }

    /// Mends what an [`audit`](Database::audit) finds, in units of a few hundred documents, and hands
    /// over what it found, with whether it could be mended. What is nowhere else is never thrown
    /// away.
    ///
    /// So too a subset is brought up that was declared over documents that were there before.
    fn repair(&self) -> Audit {
        Audit::new(self.session(), true)
    }

    /// Begins a transaction that the caller ends by [`commit`](TransactionGuard::commit). Dropping it rolls it
    /// back.
    ///
    /// Where a closure will do, prefer [`transaction`](Database::transaction), which runs again
    /// what was lost to no fault of its own.
    fn begin(&self) -> impl Future<Output = Result<TransactionGuard<Self>>> + Send {
        async move { TransactionGuard::new(self, TransactionOptions::default()).await }
    }
}

/// A field of a database.
#[doc(hidden)]
pub trait Held {
    /// The model of the repository.
    type Model: Document;
    /// The repository over a session.
    fn bind(session: &Session) -> Self;
    /// The session that it is over.
    fn session(&self) -> &Session;
}

impl<M: Document> Held for Repository<M> {
    type Model = M;

    fn bind(session: &Session) -> Self {
        Repository::new(session.clone())
    }

    fn session(&self) -> &Session {
        self.session()
    }
}
