//! Exports, imports and copies of a whole database.

mod copies;
mod errors;
mod foreign_files;
mod foreign_forms;
mod histories;
mod lines;
mod models;
mod units;
