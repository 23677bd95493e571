//! MongoDB's wire protocol before the [`Collections`](odm::Collections) of a store.
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]

mod arguments;
mod command;
mod connection;
mod cursor;
mod error;
mod limits;
mod message;
mod server;
mod session;

pub use limits::Limits;
pub use server::{Builder, Server};
