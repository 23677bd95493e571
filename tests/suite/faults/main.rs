//! Connections that are cut, servers that go away, and workers that die: what a store on a MongoDB server leaves then.

mod cuts;
mod models;
mod proxy;
