//! The stores themselves, and the library's calls to them.

mod calls;
mod durability;
mod faults;
mod golden;
mod language;
mod store_suite;
