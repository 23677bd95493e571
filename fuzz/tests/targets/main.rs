//! Cases that are made of random bytes: no case panics or hangs, and accepted cases have the promised properties.

mod documents;
mod files;
mod language;
mod pipelines;
mod server;
mod slow;
mod updates;
