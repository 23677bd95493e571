//! Programs on odm: the systems of MongoDB's schema-design guides, a web service, and a movie catalogue.
//!
//! `cargo run -p examples --example guides` lists the systems, and runs the ones that are named.
//! `cargo run -p examples --example served -- serve FOLDER` serves their databases to the drivers of all languages.
//! `cargo run -p examples --example service` serves the product catalog over HTTP.
//! `cargo run -p examples --example movies` imports a data set, reports on it and draws charts.

pub mod guides;
pub mod movies;
pub mod service;
pub mod shop;
pub mod show;

use std::{
    error::Error,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

/// Prints a text. A reader that stops early is no error.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// The exit code of a program, whose error is printed.
pub fn exit(result: Result<(), Box<dyn Error + Send + Sync>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
