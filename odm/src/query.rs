//! Typed filters, sorts and updates.
//!
//! They are made of the fields of a model: `Part::fields().qty.gt(90)`. For what the typed API cannot
//! express, [`Filter::raw`] and [`Update::raw`] take MongoDB's own form.

mod filter;
mod sort;
mod update;

pub use filter::Filter;
pub use sort::Sort;
pub use update::Update;
