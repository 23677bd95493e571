//! Typed filters, sorts, updates and aggregates.
//!
//! They are made of the fields of a model: `Part::fields().qty.gt(90)`. For what the typed API cannot
//! express, [`Filter::raw`] and [`Update::raw`] take MongoDB's own form. [`FromRequest`] makes filters and sorts of what
//! comes with a request.

mod elements;
mod filter;
pub(crate) mod group;
mod patch;
mod request;
mod sort;
mod update;

pub use filter::Filter;
pub use group::{Accumulator, Count, GroupSort, Having, In, Rows, SortsGroups, StartOf, count};
pub use patch::{Patch, present};
pub use request::{Allowed, FromRequest};
pub use sort::Sort;
pub use update::Update;
