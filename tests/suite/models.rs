//! Models and their repositories: each operation, type and rule.

// Another name for the library, for `#[document(crate = "..")]`.
extern crate odm as renamed;

mod collections;
mod docs;
mod everyday;
mod joins;
mod programs;
mod readable;
mod repositories;
mod types;
mod validation;
mod warnings;
