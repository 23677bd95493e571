//! The result of a compaction.

/// The result of a compaction, from [`Embedded::compact`](super::Embedded::compact).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// let done = store.compact().await?;
/// println!("from {} to {} bytes", done.before, done.after);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The bytes of the file before, or of the memory of a store in memory.
    pub before: u64,
    /// The bytes of the file after.
    pub after: u64,
}
