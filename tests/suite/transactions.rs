//! Transactions: stored as a whole or not at all, isolated, and never in the way for long.

mod bank;
mod closing;
mod closures;
mod durability;
mod errors;
mod guards;
mod limits;
mod outside;
mod serializable;
mod side_by_side;
mod snapshots;
