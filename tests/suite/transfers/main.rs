//! Exports and imports of a whole database.

mod errors;
mod histories;
mod lines;
mod models;
mod units;
