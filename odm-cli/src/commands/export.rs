//! `export`: all documents as lines of JSON.

use std::{io, path::Path};

use mongodb::bson::doc;
use tokio::io::AsyncWrite;

use crate::{
    error::{Exit, Failure, Result},
    output::{Output, complain, counted},
    progress::{Progress, Unit},
    source::Source,
};

/// Exports to a file, or without one to the standard output.
pub(super) async fn run(
    source: &Source<'_>,
    target: Option<&Path>,
    output: &mut Output,
) -> Result<Exit> {
    let collections = source.look_directly().await?;
    let progress = Progress::new("export", 0, Unit::Documents);
    let export = |to: Box<dyn AsyncWrite + Unpin + Send>| {
        let report = progress.reporter();
        collections
            .export(to)
            .on_progress(move |at| report(at.documents, at.of))
    };
    let Some(target) = target else {
        let number = export(Box::new(tokio::io::stdout())).await?;
        progress.end();
        complain("note", &format!("{} exported", counted(number, "document")));
        return Ok(Exit::Done);
    };
    if target.exists() {
        let message = format!(
            "`{}` is there already: choose another name",
            target.display()
        );
        return Err(Failure::new(Exit::Refused, message));
    }
    // Whatever ends the export before its end leaves no file.
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let cannot =
        |error: &io::Error| Failure::io(format_args!("cannot write `{}`", target.display()), error);
    let file = tempfile::Builder::new()
        .prefix(".odm-")
        .tempfile_in(folder.unwrap_or(Path::new(".")));
    let file = file.map_err(|error| cannot(&error))?;
    let writer = file.reopen().map_err(|error| cannot(&error))?;
    let number = export(Box::new(tokio::fs::File::from_std(writer))).await?;
    progress.end();
    file.as_file().sync_all().map_err(|error| cannot(&error))?;
    file.persist_noclobber(target)
        .map_err(|error| cannot(&error.error))?;
    let target = target.display().to_string();
    if output.is_json() {
        output.json(&doc! { "export": target, "documents": number as i64 })?;
    } else {
        output.text(&format!("{target}: {}", counted(number, "document")))?;
    }
    Ok(Exit::Done)
}
