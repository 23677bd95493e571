//! The promise, over long histories: after any writes, in any way, by several programs that know different parts of the models, the stored
//! documents agree with an oracle that works on plain documents and shares no code with the library.
//!
//! A history of a seed is always the same, and a failure is shrunk to the few steps that it takes. `STEPS` is the number of steps in
//! histories of successive seeds, and `SEED` the first seed; `FILES` is the number of files on which programs are killed. For a million
//! steps in memory, 50000 on disk and 1200 killed processes:
//!
//! On a store whose transactions run side by side, the units of some acts are interleaved, in `ROUNDS` rounds.
//!
//! ```text
//! ROUNDS=100000 cargo test --release -p tests --test promise interleaved
//! STEPS=1000000 cargo test --release -p tests --test promise in_memory
//! STEPS=50000 cargo test --release -p tests --test promise on_disk
//! STEPS=5000 cargo test --release -p tests --test promise -- --include-ignored on_mongodb
//! FILES=100 cargo test --release -p tests --test promise killed
//! STEPS=10000 cargo test --release -p tests --test promise -- --ignored on_mongodb
//! ```

mod acts;
mod both;
mod crash;
mod history;
mod interleaved;
mod models;
mod mutants;
mod oracle;
mod outcomes;
mod programs;
mod rules;
mod run;
mod shell;
mod steps;
mod tamper;
mod world;
