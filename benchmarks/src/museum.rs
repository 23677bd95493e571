//! Public reports of derived data that SurrealDB or Turso had wrong, as cases for each of them and for this library.
//!
//! Each case runs in a new database of each system, and is wrong, right, or an error today.

mod cases;
mod library;
mod surreal;
mod turso;

use std::{fmt::Display, path::PathBuf};

use tokio::task::JoinError;

use self::cases::CASES;
use crate::shared::table::Table;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only the cases whose report has this text in it, as in `turso#8531`.
    #[arg(long, default_value = "")]
    only: String,
}

/// What a peer does in a case.
struct Script {
    /// Statements, one after the other.
    before: &'static str,
    /// Statements that as many tasks as [`TASKS`] carry out at once, each its own.
    at_once: Option<fn(i64) -> String>,
    /// Whether the database is closed, and opened again, before the question.
    reopens: bool,
    /// The question, whose rows are the answer.
    query: &'static str,
}

/// The number of tasks that write at once.
const TASKS: i64 = 8;

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let mut table = Table::new(
        6,
        ["report", "case", "expected", "odm", "SurrealDB", "Turso"],
    );
    let mut wrong = [0; 3];
    for case in CASES
        .iter()
        .filter(|case| case.report.contains(&options.only))
    {
        let odm = told(tokio::spawn((case.odm)()).await);
        eprintln!("{}", case.report);
        let surreal = ask(&case.surreal, surreal::ask).await?;
        let turso = ask(&case.turso, turso::ask).await?;
        let answers = [odm, surreal, turso];
        for (wrong, answer) in wrong.iter_mut().zip(&answers) {
            *wrong += usize::from(answer != case.expected && answer != NONE);
        }
        let texts = [case.report, case.what, case.expected].map(str::to_owned);
        table.row(texts.into_iter().chain(answers));
    }
    println!("{table}");
    println!(
        "wrong, or an error: odm {}, SurrealDB {}, Turso {}",
        wrong[0], wrong[1], wrong[2]
    );
    Ok(())
}

/// The cell of a system that has nothing like the case.
const NONE: &str = "–";

/// Runs a script in a new folder. A panic of the peer is its answer.
async fn ask<F>(
    script: &'static Option<Script>,
    ask: fn(PathBuf, &'static Script) -> F,
) -> anyhow::Result<String>
where
    F: Future<Output = anyhow::Result<String>> + Send + 'static,
{
    let Some(script) = script else {
        return Ok(NONE.to_owned());
    };
    let folder = tempfile::tempdir()?;
    let answer = tokio::spawn(ask(folder.path().join("museum"), script));
    Ok(told(answer.await))
}

/// A sum of integers is a float in both peers, which is right if its value is.
fn float(number: f64) -> String {
    let digits = if number.fract() == 0.0 { 0 } else { 17 };
    format!("{number:.digits$}")
}

/// An answer, or the first line of an error.
fn told(answer: Result<anyhow::Result<String>, JoinError>) -> String {
    let first_line = |error: &dyn Display| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        format!("error: {}", line.replace('|', "\\|"))
    };
    match answer {
        Ok(Ok(answer)) if answer.is_empty() => "no row".to_owned(),
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => first_line(&error),
        Err(panic) => first_line(&panic),
    }
}
