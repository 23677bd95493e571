//! MongoDB's wire protocol before the [`Collections`](odm::Collections) of a store: mongosh, Compass and the drivers of all languages read
//! and write it, beside the program that owns it, and every write keeps the derived fields of the models.
//!
//! ```
//! # use odm::derive::examples::{Review, Shop, example};
//! # use mongodb::bson::{doc, DateTime, Document};
//! # example(async |shop| {
//! use odm::Collections;
//! use odm_server::Server;
//!
//! let server = Server::builder().database("shop", Collections::of(&shop)).listen("127.0.0.1:0").await?;
//!
//! // Any client, in any language: here MongoDB's driver for Rust.
//! # async fn client(server: &Server) -> mongodb::error::Result<()> {
//! let uri = format!("mongodb://{}", server.local_addr().unwrap());
//! let database = mongodb::Client::with_uri_str(uri).await?.database("shop");
//! let review = doc! { "_id": 9_i64, "product": 1_i64, "stars": 1, "text": "Creaks", "published": DateTime::now() };
//! database.collection::<Document>("reviews").insert_one(review).await?;
//! # Ok(()) }
//! # client(&server).await.unwrap();
//!
//! // The product counts its reviews.
//! assert_eq!(shop.products.get(1).await?.review_count, 4);
//! server.shutdown().await;
//! # Ok(()) });
//! ```
//!
//! The README of the crate lists the commands, and the refused ones. A server lets in everybody, and so listens only at the loopback or at
//! a Unix socket of its own user, unless it [requires users](Builder::require_users), whose [rights](Right) are those on collections. With
//! the feature `tls` it speaks TLS, and with the feature `http` it has a page in the browser. Its connections are tasks of the runtime in
//! which it was made. Each command is an event of `tracing` at the level `DEBUG`, with the target `odm`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For times, and for numbers that come from clients: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod arguments;
mod auth;
mod changes;
mod cluster_time;
mod command;
mod connection;
mod cursor;
mod error;
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub mod http;
mod limits;
mod message;
mod operations;
mod server;
mod session;
mod snapshots;

pub use auth::{Right, User, Users};
pub use limits::Limits;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub use rustls;
pub use server::{Builder, Server};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
