//! Dry runs of writes, by `.plan()` of their [builders](crate::repository#dry-runs).
//!
//! ```
//! # use odm::derive::examples::*; example(async |shop| {
//! use odm::plan::WritePlan;
//!
//! let plan: WritePlan = shop.products.delete(3).plan().await?;
//! assert_eq!(plan.matched, 1);
//! assert!(shop.products.get(3).await.is_ok()); // nothing was written
//! # Ok(()) });
//! ```

pub use crate::maintain::{PlanStep, PlannedChanges, WritePlan};
