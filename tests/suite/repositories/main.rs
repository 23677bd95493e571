//! Every operation of a repository, on every store.

// Another name for the library, for `#[document(crate = "..")]`.
extern crate odm as renamed;

mod aggregates;
mod evolution;
mod filters;
mod foreign_store;
mod forms;
mod history;
mod items;
mod json;
mod letter_case;
mod limits;
mod names;
mod opaque;
mod opening;
mod order;
mod pages;
mod partial_indexes;
mod raw;
mod read_back;
mod reads;
mod replaces;
mod requests;
mod streams;
mod timestamps;
mod unique;
mod unreadable;
mod updates;
mod upserts;
mod versions;
