//! Programs as users write them, by the shortest way: the data of a blog, of a product catalogue, of an issue tracker, of a movie
//! catalogue and of a task tracker.

mod catalogue;
mod conduit;
mod issues;
mod movies;
mod tasks;
