//! Exports, imports and copies of a whole database.

mod copies;
mod errors;
mod histories;
mod lines;
mod models;
mod units;
