//! The promise, over long histories: whatever is written, by whatever way, by several programs that
//! know different parts of the models, what is stored is what an oracle says that works on plain
//! documents and shares nothing with the library.

mod acts;
mod history;
mod models;
mod oracle;
mod rules;
mod steps;
mod tamper;
mod world;
