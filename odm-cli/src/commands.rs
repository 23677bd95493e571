//! A file for each command.

mod audit;
mod backup;
mod check;
mod collections;
mod compact;
mod copy;
mod demo;
mod diagram;
mod explain;
mod export;
mod find;
mod import;
mod info;
mod repair;
mod salvage;
mod serve;
mod shell;
mod show;
mod stats;
mod users;
mod watch;

use mongodb::{
    Database,
    bson::{Document, doc},
};

use crate::{
    arguments::{Arguments, Command},
    error::{Exit, Failure, Result},
    output::Output,
    source::{Opened, Source},
};

/// How many documents are asked for at once: a reader that leaves, or that is slow, does not wait for 16 MiB of them.
const BATCH: u32 = 1_000;

/// Runs the command of the arguments.
pub(crate) async fn run<'a>(arguments: &'a Arguments, output: &mut Output) -> Result<Exit> {
    let options = &arguments.options;
    let source = |name: &'a str| Source::new(name, options);
    match &arguments.command {
        Command::Info(place) => info::run(&source(&place.source), output).await,
        Command::Collections(place) => collections::run(&source(&place.source), output).await,
        Command::Show(show) => show::run(&source(&show.source), show, output).await,
        Command::Find(find) => find::run(&source(&find.query.source), find, output).await,
        Command::Explain(query) => explain::run(&source(&query.source), query, output).await,
        Command::Stats(of) => {
            stats::run(&source(&of.source), of.collection.as_deref(), output).await
        }
        Command::Diagram(diagram) => {
            diagram::run(&source(&diagram.source), diagram.format, output).await
        }
        Command::Audit(of) => {
            let only = of.collection.as_deref();
            audit::run(&source(&of.source), only, audit::Of::Derived, output).await
        }
        Command::Validate(of) => {
            let only = of.collection.as_deref();
            audit::run(&source(&of.source), only, audit::Of::Rules, output).await
        }
        Command::Repair(place) => repair::run(&source(&place.source), output).await,
        Command::Backfill(place) => repair::backfill(&source(&place.source), output).await,
        Command::Check(place) => check::run(&source(&place.source), output).await,
        Command::Compact(place) => compact::run(&source(&place.source), output).await,
        Command::Backup(backup) => {
            backup::run(&source(&backup.source), &backup.target, output).await
        }
        Command::Salvage(place) => salvage::run(&source(&place.source), output).await,
        Command::Export(export) => {
            export::run(&source(&export.source), export.target.as_deref(), output).await
        }
        Command::Import(import) => import::run(&source(&import.source), import, output).await,
        Command::Copy(copy) => {
            copy::run(&source(&copy.source), &source(&copy.target), output).await
        }
        Command::Serve(serve) => serve::run(&source(&serve.file), serve, output).await,
        Command::Users(command) => {
            users::run(source, command, options.password_file.as_deref(), output).await
        }
        Command::Watch(watch) => watch::run(&source(&watch.source), watch, output).await,
        Command::Completions { shell } => shell::completions(*shell, output),
        Command::Man { folder } => shell::man(folder.as_deref(), output),
        Command::Demo(demo) => demo::run(demo, output).await,
    }
}

/// The names of the collections in their order, or the one that is named, which must be there.
async fn names(opened: &Opened, only: Option<&str>) -> Result<Vec<String>> {
    let mut names = opened.database().await?.list_collection_names().await?;
    names.retain(|name| !is_own(name));
    names.sort_unstable();
    if let Some(only) = only {
        check_name(&names, only)?;
        names.retain(|name| name == only);
    }
    Ok(names)
}

/// Whether a collection is one of the library.
fn is_own(collection: &str) -> bool {
    collection.starts_with("_odm") || collection.starts_with("system.")
}

/// Checks that a collection is there: a search in another one would find nothing.
async fn check_collection(opened: &Opened, name: &str) -> Result<()> {
    if is_own(name) {
        return Ok(());
    }
    check_name(&names(opened, None).await?, name)
}

fn check_name(names: &[String], name: &str) -> Result<()> {
    if names.iter().any(|other| other == name) {
        return Ok(());
    }
    let failure = Failure::not_found(format!("there is no collection `{name}`"));
    Err(match names {
        [] => failure.with_advice("The store has no collections."),
        names => failure.with_advice(format_args!("There are: {}", names.join(", "))),
    })
}

/// The databases that were opened on the store, as the catalog of the library has them.
async fn declared(database: &Database) -> Result<Vec<Document>> {
    let catalog = database.collection::<Document>("_odm_catalog");
    let mut found = catalog.find(doc! {}).await?;
    let mut databases = Vec::new();
    while found.advance().await? {
        let document = found.deserialize_current()?;
        if document
            .get_str("_id")
            .is_ok_and(|id| id.starts_with("database "))
        {
            databases.push(document);
        }
    }
    Ok(databases)
}
