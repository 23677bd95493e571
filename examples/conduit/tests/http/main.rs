//! Drives the API and the pages over HTTP, on a store in memory. Each test ends with an audit of all that is stored.

mod articles;
mod at_once;
mod comments;
mod harness;
mod limits;
mod lines;
mod lists;
mod pages;
mod profiles;
mod program;
mod refused;
mod stop;
mod tokens;
mod users;
mod visitor;
