//! Runs the systems of MongoDB's schema-design guides, and shows for each its models, stored documents, queries and changes.
//!
//! `cargo run -p examples --example guides` lists them, and `cargo run -p examples --example guides S9` runs one.

use std::{
    error::Error,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{ArgGroup, Parser};
use examples::{
    exit,
    guides::{SYSTEMS, System, list},
    print,
};
use odm::{Embedded, store::contract::Store};

/// The text below the list.
const USAGE: &str = "
One of them:  cargo run -p examples --example guides S9
All of them:  cargo run -p examples --example guides -- --all

Beside a step stands its cost: requests to the store, keys of indexes and documents that were read,
documents that were written.
";

/// Runs the systems of MongoDB's schema-design guides, and shows what they store, find and change.
#[derive(Parser)]
#[command(group = ArgGroup::new("chosen").args(["systems", "all"]))]
struct Arguments {
    /// The systems to run, such as `S9`. Without any they are listed.
    #[arg(value_name = "SYSTEM")]
    systems: Vec<System>,
    /// Run all systems.
    #[arg(long)]
    all: bool,
    /// Keep the databases in this folder, each in a file of its own.
    #[arg(long, value_name = "FOLDER", requires = "chosen")]
    keep: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error + Send + Sync>> {
    let is_coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let systems = match arguments.all {
        true => SYSTEMS.to_vec(),
        false => arguments.systems,
    };
    if systems.is_empty() {
        print(&list(is_coloured))?;
        return Ok(print(USAGE)?);
    }
    for (at, system) in systems.into_iter().enumerate() {
        let store = match &arguments.keep {
            Some(folder) => kept(folder, system).await?,
            None => Embedded::memory().await?,
        };
        let screen = system.run(store.clone(), is_coloured).await?;
        store.close().await?;
        let gap = if at == 0 { "" } else { "\n\n" };
        print(&format!("{gap}{screen}"))?;
    }
    Ok(())
}

/// Makes the file of a system's database.
async fn kept(folder: &Path, system: System) -> Result<Embedded, Box<dyn Error + Send + Sync>> {
    if folder.exists() && !folder.is_dir() {
        return Err(format!("`{}` is no folder", folder.display()).into());
    }
    if !folder.exists() {
        let made = fs::create_dir(folder);
        made.map_err(|error| format!("cannot make the folder `{}`: {error}", folder.display()))?;
    }
    let file = folder.join(format!("{system}.odm"));
    if file.exists() {
        let message = "exists already, and a system begins with an empty database";
        return Err(format!("`{}` {message}", file.display()).into());
    }
    Ok(Embedded::open(&file).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &[&str]) -> String {
        match Arguments::try_parse_from([&["guides"], arguments].concat()) {
            Ok(_) => panic!("{arguments:?} are accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn unknown_systems_and_folders_without_systems_are_refused() {
        for (system, known) in [("S15", "S14"), ("all", "S1, S2"), ("S", "S1, S2")] {
            let text = refusal(&[system]);
            assert!(text.contains(system) && text.contains(known), "{text}");
        }
        assert!(refusal(&["--everything"]).contains("--everything"));
        assert!(refusal(&["--all", "S1"]).contains("cannot be used with"));
        assert!(refusal(&["--keep", "x"]).contains("required"));
        assert!(Arguments::try_parse_from(["guides", "s1", "S14", "--keep", "x"]).is_ok());
    }

    #[tokio::test]
    async fn a_database_is_kept_once_and_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        kept(&new, SYSTEMS[0]).await.unwrap();
        assert!(new.join("S1.odm").is_file());
        let again = kept(&new, SYSTEMS[0]).await.err().unwrap().to_string();
        assert!(again.contains("exists already"), "{again}");
        let file = new.join("S1.odm");
        let file = kept(&file, SYSTEMS[0]).await.err().unwrap().to_string();
        assert!(file.contains("is no folder"), "{file}");
        let deep = kept(&new.join("a/b"), SYSTEMS[0])
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(deep.contains("a/b"), "{deep}");
    }
}
