//! Exports and imports of all documents of a database, as lines of JSON, which `docs/format.md` describes, imports of files
//! of other programs, and copies from store to store.

mod copy_to;
mod export;
mod extended_json;
mod files;
mod groups;
mod import;
mod line;
mod order;
mod place;
mod ready;

pub use copy_to::CopyTo;
pub use export::Export;
pub use files::ImportFiles;
pub use import::Import;

/// How far an [`Export`], an [`Import`], an [import of files](ImportFiles) or a [copy](CopyTo) is, and what a copy has
/// done.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::TransferProgress;
///
/// let report = |progress: TransferProgress| println!("{} of {}", progress.documents, progress.of);
/// # let mut file = Vec::new();
/// shop.export(&mut file).on_progress(report).await?;
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferProgress {
    /// The number of documents that are written, or stored.
    pub documents: u64,
    /// The number of all documents of the export, or of the source of a copy. Of an import of files it is not known, and 0.
    pub of: u64,
    /// Of an import of files, the number of bytes that are read.
    pub bytes: u64,
    /// Of a copy, the number of documents that were there before.
    pub found: u64,
    /// Of a copy, the number of stored documents that the audit at its end has checked.
    pub checked: u64,
}

type OnProgress = dyn FnMut(TransferProgress) + Send;
