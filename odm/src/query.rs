//! Typed filters, sorts and updates.
//!
//! They are made of the fields of a model: `Part::fields().qty.gt(90)`. What the types cannot say,
//! [`Filter::raw`] and [`Update::raw`] take in MongoDB's own form.

mod filter;
mod sort;
mod update;

pub use filter::Filter;
pub use sort::Sort;
pub use update::Update;
