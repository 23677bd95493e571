//! The ordinary needs of a service around its models.

mod bulk;
mod bulk_versions;
mod elements;
mod events;
mod expiry;
mod inserts;
mod positions;
mod queries;
mod raw_writes;
mod sequences;
mod times;
mod updates;
mod upserts;
mod watched_stores;
mod watches;
