//! What a program with many models costs the compiler, beside the same structs with serde alone; what a program costs to build with all of
//! its dependencies, and how large it becomes, beside the MongoDB driver alone.
//!
//! The programs are written to a temporary folder. Their dependencies have the versions of these benchmarks, whose build has downloaded
//! them. All times are processor times.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, ensure};

use crate::shared::{
    measure::{median, processor_time_of_programs},
    table::{Table, figure},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of groups of four models.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    groups: u32,
    /// The number of times that the models are compiled.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Compiles the models alone: the builds with all dependencies take minutes.
    #[arg(long)]
    models_only: bool,
}

const SERDE: &str = r#"serde = { version = "1", features = ["derive"] }"#;
const TOKIO: &str = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread"] }"#;
const DRIVER: &str = r#"mongodb = { version = "3.9", default-features = false, features = ["bson-3", "compat-3-3-0", "dns-resolver", "rustls-tls"] }"#;

fn odm(features: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../odm");
    format!("odm = {{ path = {path:?}, package = \"typed-odm\", features = [{features}] }}")
}

/// A program in a folder of its own.
struct Program {
    folder: PathBuf,
    name: &'static str,
}

impl Program {
    fn new(
        all: &Path,
        name: &'static str,
        dependencies: &[&str],
        source: &str,
    ) -> anyhow::Result<Self> {
        let folder = all.join(name);
        fs::create_dir_all(folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.release]\nstrip = true\n\n[dependencies]\n{}\n",
            dependencies.join("\n")
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock"))?;
        let program = Program { folder, name };
        program.write(source)?;
        Ok(program)
    }

    fn write(&self, source: &str) -> anyhow::Result<()> {
        Ok(fs::write(self.folder.join("src/main.rs"), source)?)
    }

    fn cargo(&self, arguments: &[&str]) -> anyhow::Result<Duration> {
        let begin = processor_time_of_programs()?;
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--offline", "--quiet"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .output()
            .context("cargo runs")?;
        let time = processor_time_of_programs()? - begin;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {errors}", self.name);
        Ok(time)
    }

    /// Compiles the program again, without its dependencies.
    fn again(&self, arguments: &[&str], source: &str, round: u32) -> anyhow::Result<Duration> {
        self.write(&format!("{source}// {round}\n"))?;
        self.cargo(arguments)
    }
}

/// Groups of models, with one database of all of them.
fn modelled(groups: u32) -> String {
    let mut fields = String::new();
    let mut source = String::from("#![allow(dead_code)]\nuse odm::{Embedded, prelude::*};\n");
    for group in 0..groups {
        let models = include_str!("compile/modelled.rs").replace("GROUP", &group.to_string());
        source += &format!(
            "pub mod group_{group} {{\nuse odm::prelude::*;\nuse serde::{{Deserialize, Serialize}};\n{models}}}\n"
        );
        for (field, model) in [
            ("parts", "Part"),
            ("products", "Product"),
            ("reviews", "Review"),
            ("notes", "Note"),
        ] {
            let _ = writeln!(
                fields,
                "pub {field}_{group}: Repository<group_{group}::{model}>,"
            );
        }
    }
    format!(
        r#"{source}
#[derive(Database)]
#[database(name = "shop", version = 1)]
pub struct Shop {{
{fields}}}

#[tokio::main]
async fn main() -> odm::Result<()> {{
    let shop = Shop::open(Embedded::memory().await?).await?;
    let part = group_0::Part::fields();
    println!("{{:?}}", shop.parts_0.find(part.name.eq("nut")).await?);
    shop.close().await
}}
"#
    )
}

fn serde(groups: u32) -> String {
    let mut source = String::from("#![allow(dead_code)]\n");
    for group in 0..groups {
        let models = include_str!("compile/serde.rs");
        source += &format!(
            "pub mod group_{group} {{\nuse serde::{{Deserialize, Serialize}};\n{models}}}\n"
        );
    }
    source + "fn main() {}\n"
}

const ON_A_SERVER: &str = r#"
#[tokio::main]
async fn main() -> odm::Result<()> {
    let store = odm::MongoDb::connect("mongodb://localhost/shop").await?;
    let shop = Shop::open(store).await?;
"#;

const BY_THE_DRIVER: &str = r#"
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[tokio::main]
async fn main() -> mongodb::error::Result<()> {
    let client = mongodb::Client::with_uri_str("mongodb://localhost").await?;
    let parts = client.database("shop").collection::<Part>("parts");
    println!("{:?}", parts.find_one(mongodb::bson::doc! { "name": "nut" }).await?);
    Ok(())
}
"#;

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let all = tempfile::tempdir()?;
    again(options, all.path())?;
    if options.models_only {
        return Ok(());
    }
    with_dependencies(all.path())
}

/// Compiles many models, in turns with the same structs.
fn again(options: &Options, all: &Path) -> anyhow::Result<()> {
    let sources = [serde(options.groups), modelled(options.groups)];
    let odm = odm("");
    let programs = [
        Program::new(all, "structs", &[SERDE], &sources[0])?,
        Program::new(all, "models", &[SERDE, TOKIO, &odm], &sources[1])?,
    ];
    let mut table = Table::new(1, ["", "serde alone, s", "odm, s", "odm / serde"]);
    for command in [&["check"][..], &["build"]] {
        let mut times = [const { Vec::new() }; 2];
        for program in &programs {
            program.cargo(command)?;
        }
        for round in 0..options.rounds {
            for ((program, source), times) in programs.iter().zip(&sources).zip(&mut times) {
                times.push(program.again(command, source, round)?);
            }
        }
        let [serde, odm] = times.map(|times| median(times).as_secs_f64());
        table.row([
            format!("`cargo {}`", command.join(" ")),
            figure(serde),
            figure(odm),
            figure(odm / serde),
        ]);
    }
    println!("{} models:\n\n{table}", options.groups * 4);
    Ok(())
}

/// Builds programs and all of their dependencies.
fn with_dependencies(all: &Path) -> anyhow::Result<()> {
    let embedded = modelled(1);
    let (models, main) = embedded
        .split_once("\n#[tokio::main]")
        .context("it has a main")?;
    let (_, rest) = main
        .split_once("await?).await?;\n")
        .context("it opens a database")?;
    let on_a_server = format!("{}{ON_A_SERVER}{rest}", models.replace("Embedded, ", ""));
    let mut table = Table::new(1, ["program", "debug, s", "release, s", "stripped, MB"]);
    let (plain, server) = (odm(""), odm("\"mongodb\""));
    for (name, title, dependencies, source) in [
        (
            "embedded",
            "odm, embedded store",
            [SERDE, TOKIO, &plain],
            &*embedded,
        ),
        (
            "server",
            "odm, MongoDB",
            [SERDE, TOKIO, &server],
            &on_a_server,
        ),
        (
            "driver",
            "the driver alone",
            [SERDE, TOKIO, DRIVER],
            BY_THE_DRIVER,
        ),
    ] {
        let program = Program::new(all, name, &dependencies, source)?;
        let debug = program.cargo(&["build"])?;
        let release = program.cargo(&["build", "--release"])?;
        let binary = program.folder.join("target/release").join(name);
        let size = fs::metadata(binary)?.len();
        table.row([
            title.to_owned(),
            figure(debug.as_secs_f64()),
            figure(release.as_secs_f64()),
            figure(size as f64 / 1e6),
        ]);
    }
    println!("With all dependencies:\n\n{table}");
    Ok(())
}
