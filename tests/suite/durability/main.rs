//! What is acknowledged is there, whole, whatever becomes of the task or of the process.

mod backups;
mod crash;
mod dropped;
mod ledger;
mod lock;
mod many;
