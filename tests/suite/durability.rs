//! Acknowledged writes are there, whole, after any fate of the task or of the process.

mod backups;
mod crash;
mod disks;
mod dropped;
#[cfg(unix)]
mod forked;
mod ledger;
mod lock;
mod many;
mod read_only;
mod soak;
