//! Runs the command on real files.

#[path = "commands/beside.rs"]
mod beside;
#[path = "commands/changing.rs"]
mod changing;
#[path = "commands/docs.rs"]
mod docs;
#[path = "commands/failures.rs"]
mod failures;
#[path = "commands/files.rs"]
mod files;
#[path = "commands/looking.rs"]
mod looking;
#[path = "commands/on_mongodb.rs"]
mod on_mongodb;
#[path = "commands/passwords.rs"]
mod passwords;
#[path = "commands/support.rs"]
mod support;
#[path = "commands/terminal.rs"]
mod terminal;
#[path = "commands/transfer.rs"]
mod transfer;
