//! Holds the README and the pages in `docs` against the code: what they show is compiled and run, their links lead
//! somewhere, and the index of the book lists every page.

mod how_do_i;
mod model;
mod pages;
mod recipes;
mod relations;
mod transactions;
mod web_service;
