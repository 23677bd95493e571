//! References: joins in both directions, and the promise that no reference dangles.

mod cost;
mod deletes;
mod fetch;
mod follow;
mod music;
mod places;
mod references;
mod referrers;
mod semi_joins;
