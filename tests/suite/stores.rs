//! The stores themselves, and what the library asks of them.

mod calls;
mod durability;
mod faults;
mod golden;
mod language;
mod store_suite;
