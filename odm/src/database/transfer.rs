//! Exports and imports of all documents of a database, as lines of JSON. `docs/format.md` describes these.

mod export;
mod extended_json;
mod groups;
mod import;
mod line;
mod order;
mod ready;

pub use export::Export;
pub use import::Import;

/// How far an [`Export`] or an [`Import`] is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferProgress {
    /// The number of documents that are written, or stored.
    pub documents: u64,
    /// The number of all documents of the export.
    pub of: u64,
}

type OnProgress = dyn FnMut(TransferProgress) + Send;
