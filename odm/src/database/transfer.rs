//! Exports and imports of all documents of a database, as lines of JSON, which `docs/format.md` describes, imports of files
//! of other programs, and copies from store to store.

mod copy_to;
mod export;
mod extended_json;
mod files;
mod groups;
mod import;
mod input_position;
mod line;
mod order;
mod ready;
mod scope;

pub use copy_to::CopyTo;
pub use export::Export;
pub(crate) use extended_json::{Canonical, ExportedDocument};
pub use files::ImportFiles;
pub use import::Import;

pub(crate) use scope::TransferScope;

/// How far an [`Export`], an [`Import`], an [import of files](ImportFiles) or a [copy](CopyTo) is, and the result of a copy.
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
    /// The number of all documents of the export, or of the source of a copy. For an import of files it is not known, and 0.
    pub of: u64,
    /// The number of bytes that an import of files has read.
    pub bytes: u64,
    /// The number of documents that a copy found in the target.
    pub found: u64,
    /// The number of stored documents that the audit at the end of a copy has checked.
    pub checked: u64,
}

type OnTransferProgress = dyn FnMut(TransferProgress) + Send;
