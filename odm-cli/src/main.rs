//! The command `odm`: looks at, checks, copies and serves the files of the embedded store.
//!
//! `arguments` states the commands, `commands` has a file for each, and `source` opens where the data is. The README of the crate has a
//! page about all of it.

#[cfg(not(unix))]
compile_error!("the command `odm` needs the sockets of Unix");

mod arguments;
mod commands;
mod error;
mod filter;
mod holder;
mod json;
mod output;
mod pager;
mod password;
mod progress;
mod source;
mod table;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    arguments::{Arguments, Command},
    error::{Exit, Failure, Result},
    output::Output,
};

fn main() -> ExitCode {
    quiet_engine();
    let arguments = Arguments::parse();
    let mut output = Output::new(&arguments.options);
    let done = run(arguments, &mut output);
    // What was found before an error is shown.
    let ended = output.end();
    let done = done.and_then(|exit| ended.map(|()| exit));
    done.unwrap_or_else(|failure| failure.report()).into()
}

/// The engine panics where the pages of a file are damaged, which the library reports as an error: the panic itself would only frighten.
fn quiet_engine() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_of_engine = |place: &std::panic::Location<'_>| place.file().contains("/redb-");
        if !panic.location().is_some_and(is_of_engine) {
            others(panic);
        }
    }));
}

fn run(arguments: Arguments, output: &mut Output) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::io("cannot start", &error))?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = commands::run(&arguments, output) => done,
            // A server ends by itself.
            _ = tokio::signal::ctrl_c(), if !matches!(arguments.command, Command::Serve(_)) => Err(Failure::interrupted()),
        }
    });
    // Its tasks end with the process: those of the driver panic if others are gone before them. All stores are closed.
    std::mem::forget(runtime);
    done
}
