//! Tests of the store as a whole.

mod aggregates;
mod backup;
mod checks;
mod compact;
mod crashes;
pub(crate) mod disk;
mod faults;
mod feeds;
mod files;
mod format;
mod indexes;
mod keys;
mod large;
mod layers;
mod letter_case;
mod log;
mod partial;
mod plans;
mod queries;
mod support;
mod time;
mod transactions;
mod units;
mod writes;
