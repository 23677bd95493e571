//! References: joins in both directions, and the promise that a reference leads somewhere.

mod back;
mod cost;
mod deletes;
mod fetch;
mod follow;
mod music;
mod places;
mod references;
