//! The result of a salvage.

use std::path::PathBuf;

use odm_store::Error;

use super::Embedded;

/// A store that was opened without the lost part of its log, from [`Builder::salvage`](super::Builder::salvage).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("shop.odm");
/// let salvaged = Embedded::builder().salvage(&path).await?;
/// assert!(salvaged.damage.is_none(), "it was damaged: {} units are left out", salvaged.left_out);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvaged {
    /// The store.
    pub store: Embedded,
    /// The damage of the log: the error that [`open`](super::Builder::open) would have returned. `None` if the log was sound, so that
    /// nothing is left out.
    pub damage: Option<Error>,
    /// The number of units that were applied from the log.
    pub applied: u64,
    /// The number of units that are known to be left out, including the ones that the log may still have behind the damage. More may be
    /// left out, and if the log is missing or another's, it is 0.
    pub left_out: u64,
    /// A copy of the damaged log, beside it. `None` if nothing was damaged, or there was no log. The library does not read it any more.
    pub log: Option<PathBuf>,
}

/// The findings in a log.
#[derive(Debug, Default)]
pub(super) struct LogSalvage {
    pub(super) damage: Option<Error>,
    pub(super) applied: u64,
    pub(super) left_out: u64,
    pub(super) log: Option<PathBuf>,
}

impl Salvaged {
    pub(super) fn new(store: Embedded, found: LogSalvage) -> Salvaged {
        let LogSalvage {
            damage,
            applied,
            left_out,
            log,
        } = found;
        Salvaged {
            store,
            damage,
            applied,
            left_out,
            log,
        }
    }
}
