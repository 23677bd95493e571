//! Transactions: all of it or nothing, alone in the world, and never in the way for long.

mod bank;
mod closing;
mod closures;
mod durability;
mod errors;
mod guards;
mod limits;
mod outside;
mod serializable;
mod snapshots;
