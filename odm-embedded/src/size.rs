//! The size of a store.

use std::{fs, io, path::Path, time::Duration};

use odm_store::{Error, ErrorKind, Result};

use super::{log::Beside, snapshot::Published};

/// The size of a store, from [`Embedded::size`](super::Embedded::size).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// let size = store.size()?;
/// assert_eq!((size.file, size.earlier_states), (None, 0)); // in memory, and nobody reads
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreSize {
    /// The bytes of the file, including free pages. `None` in memory.
    pub file: Option<u64>,
    /// The bytes of the log beside it, 0 if it does not exist.
    pub log: u64,
    /// The number of earlier states that are still read: by a snapshot, a stream, a backup or a read that began before the last commit.
    /// While there is one, the space of pages that have changed since is not used again.
    pub earlier_states: u64,
    /// The time since a commit replaced the oldest of them.
    pub oldest_state: Option<Duration>,
    /// The collections, in the order of their names.
    pub collections: Vec<CollectionSize>,
}

/// The size of a collection.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// # let shop = Shop::open(store.clone()).await?;
/// for collection in store.size()?.collections {
///     println!("{}: {} documents", collection.name, collection.documents);
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectionSize {
    /// The name of the collection.
    pub name: String,
    /// The number of its documents.
    pub documents: u64,
    /// Its indexes, in the order of their names, including indexes that are being built.
    pub indexes: Vec<IndexSize>,
}

/// The size of an index.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// # let shop = Shop::open(store.clone()).await?;
/// for index in store.size()?.collections.iter().flat_map(|collection| &collection.indexes) {
///     println!("{}: {} entries", index.name, index.entries);
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSize {
    /// The name of the index.
    pub name: String,
    /// The number of its entries.
    pub entries: u64,
}

/// Computes the size of a store in the file of this path.
pub(super) fn of(published: &Published, path: Option<&Path>) -> Result<StoreSize> {
    let snapshot = published.get()?;
    let len = |tree| Ok::<_, Error>(snapshot.view().len(tree)?.unwrap_or_default());
    let mut collections = Vec::new();
    for collection in snapshot.schema.collections() {
        let mut indexes = Vec::new();
        for index in &collection.indexes {
            indexes.push(IndexSize {
                name: index.spec.name.clone(),
                entries: len(index.tree)?,
            });
        }
        indexes.sort_by(|a, b| a.name.cmp(&b.name));
        collections.push(CollectionSize {
            name: collection.name.clone(),
            documents: len(collection.tree)?,
            indexes,
        });
    }
    collections.sort_by(|a, b| a.name.cmp(&b.name));
    let (file, log) = match path {
        None => (None, 0),
        Some(path) => {
            let log = Beside::new(path);
            (Some(file_len(path)?), log_len(log.path())?)
        }
    };
    let (earlier_states, oldest_state) = published.earlier();
    Ok(StoreSize {
        file,
        log,
        earlier_states,
        oldest_state,
        collections,
    })
}

fn file_len(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).map_err(|error| cannot_measure(path, error))?;
    Ok(metadata.len())
}

/// There is no log before the first write.
fn log_len(path: &Path) -> Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(cannot_measure(path, error)),
    }
}

#[cold]
fn cannot_measure(path: &Path, error: io::Error) -> Error {
    let message = format!("cannot measure `{}`: {error}", path.display());
    Error::new(ErrorKind::Io, message).with_source(error)
}
