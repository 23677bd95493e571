//! All consequences of a write, and of a new version of the models.

mod formulas;
mod graph;
mod migrations;
mod outbox;
mod relations;
mod splits;
mod subsets;
mod transactions;
mod transfers;
