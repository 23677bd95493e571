//! Serves the databases of all systems of MongoDB's schema-design guides to drivers of any language, and compares what clients write with
//! what repositories do.

mod compare;
mod history;
mod repositories;
mod serve;
mod systems;
#[cfg(test)]
mod tests;

use std::{
    error::Error,
    io::Write,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use clap::Parser;
use examples::{exit, print};
use odm::bson::Bson;

use crate::compare::Comparison;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Serves the databases of the guides' systems.
#[derive(Parser)]
enum Arguments {
    /// Serve them from files in a folder until the input ends. Each line of the input asks for an audit.
    Serve {
        /// The folder, which is made where it is missing.
        folder: PathBuf,
        /// The number of connections at a time; without it, that of the server.
        #[arg(long)]
        connections: Option<usize>,
    },
    /// Carry out random writes by repositories and by a client, and compare the outcomes and all documents. The client gets the address as
    /// its last argument, and each write as a line of extended JSON. It prints a line for each. `STEPS` is the number of writes to each
    /// database, and `SEED` makes other ones.
    Compare {
        /// The client with its arguments.
        #[arg(required = true, trailing_var_arg = true)]
        client: Vec<String>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(match Arguments::parse() {
        Arguments::Serve {
            folder,
            connections,
        } => serve::serve(&folder, connections).await,
        Arguments::Compare { client } => compare(&client).await,
    })
}

/// A number of the environment.
fn setting(name: &str, default: u64) -> Result<u64, Failure> {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .map_err(|error| format!("`{name}`: {error}").into()),
        Err(_) => Ok(default),
    }
}

/// The histories that the environment asks for.
async fn comparison() -> Result<Comparison, Failure> {
    let steps = usize::try_from(setting("STEPS", 60)?)?;
    Comparison::new(setting("SEED", 1)?, steps).await
}

async fn compare(client: &[String]) -> Result<(), Failure> {
    let comparison = comparison().await?;
    let lines: Vec<String> = comparison
        .requests()
        .map(|request| line(&request.into()))
        .collect();
    let (client, uri) = (client.to_vec(), comparison.uri());
    let begun = Instant::now();
    let output =
        tokio::task::spawn_blocking(move || told(&client, &uri, &lines.join("\n"))).await??;
    let took = begun.elapsed();
    let outcomes: Vec<String> = output.lines().map(str::to_owned).collect();
    let counts = comparison.check(&outcomes).await?;
    Ok(print(&format!(
        "{} writes in {took:.1?}, the same by repositories: {counts}\n",
        outcomes.len()
    ))?)
}

/// Canonical extended JSON with the fields in their order.
fn line(value: &Bson) -> String {
    let name = |name: &str| serde_json::Value::from(name);
    match value {
        Bson::Document(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(field, value)| format!("{}:{}", name(field), line(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Bson::Array(elements) => {
            format!(
                "[{}]",
                elements.iter().map(line).collect::<Vec<_>>().join(",")
            )
        }
        other => other.clone().into_canonical_extjson().to_string(),
    }
}

/// Runs a client with an input, and returns its output.
fn told(client: &[String], uri: &str, input: &str) -> Result<String, Failure> {
    let mut command = Command::new(&client[0]);
    let mut running = command
        .args(&client[1..])
        .arg(uri)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = running.stdin.take().ok_or("it has an input")?;
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()));
        running.wait_with_output()
    })?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("`{}` has failed: {}", client.join(" "), output.status).into())
    }
}
