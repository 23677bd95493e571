//! What all benchmarks share: numbers and texts, measures, and tables.

pub(crate) mod measure;
pub(crate) mod random;
pub(crate) mod table;
