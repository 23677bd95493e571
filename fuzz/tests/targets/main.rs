//! Cases that are made of random bytes: nothing panics, nothing hangs, and what is accepted holds
//! what it promises.

mod documents;
mod files;
mod language;
mod slow;
mod updates;
