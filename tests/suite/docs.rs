//! Compares the README and the pages in `docs` with the code: the shown code is compiled and run, the links lead somewhere, and the index
//! of the book lists every page.

mod guide;
mod how_do_i;
mod model;
mod pages;
mod patterns;
mod recipes;
mod relations;
mod server;
mod transactions;
mod web_service;
