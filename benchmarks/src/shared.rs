//! The common parts of all benchmarks: numbers and texts, measures, and tables.

pub(crate) mod measure;
pub(crate) mod random;
pub(crate) mod table;
