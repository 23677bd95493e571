//! Derived fields of derived fields, through every kind.

mod acts;
mod backfill;
mod bare;
mod cycles;
mod failing;
mod filters;
mod history;
mod large;
mod left;
mod meanwhile;
mod pending;
mod programs;
mod right;
mod shapes;
mod unread;
mod versions;
mod whole;
mod world;
