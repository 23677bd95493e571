//! The systems of MongoDB's schema-design guides as models of odm, and a web service over them.
//!
//! `cargo run -p examples --example guides` lists the systems, and runs those that it is asked for.
//! `cargo run -p examples --example service` serves the product catalog over HTTP.

pub mod guides;
pub mod service;
pub mod show;
