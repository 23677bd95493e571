//! What a service needs around its models on an ordinary day.

mod inserts;
mod times;
mod updates;
