//! The stores, their settings and guarantees.
//!
//! A program opens a store, and a database on it: [`Embedded`](crate::Embedded), or `MongoDb` with the feature `mongodb`. The [`contract`]
//! is for authors of other stores.
//!
//! ```
//! # use odm::derive::examples::*; example(async |_| {
//! use odm::store::contract::Store;
//!
//! let store = Embedded::memory().await?;
//! assert!(store.capabilities().serializable);
//! let shop = Shop::open(store).await?;
//! # Ok(()) });
//! ```

#[doc(inline)]
pub use odm_embedded as embedded;
#[cfg(feature = "mongodb")]
#[cfg_attr(docsrs, doc(cfg(feature = "mongodb")))]
#[doc(inline)]
pub use odm_mongodb as mongodb;
pub use odm_store::{Cause, Cost, Durability, Explain, ResumeToken};

pub mod contract {
    //! The contract between the library and a document store, for the author of one: see the crate `odm-store`.
    pub use odm_store::{
        Aggregate, Capabilities, Change, CollectionChange, CollectionMark, CollectionSpec,
        CollectionStats, CollectionValidator, CollectionWrites, CommitTime, CommitWatch,
        CommittedChange, DeleteWrite, Deleted, DocumentChange, DocumentCheck, DocumentWrite, Each,
        Feed, FeedChanges, Find, FindByKey, IndexFilter, IndexSpec, IndexStats, IndexUses, Lock,
        Locks, OtherEpoch, Reader, SingleWrite, SingleWriteRequest, Store, StoreCommit, StoreId,
        StoreSession, StoreWatch, Transaction, TransactionOptions, UnitOfWork, UnreadUpdate,
        UpdateWrite, Updated, WatchRequest, WatchedChange, check_document,
    };
}
