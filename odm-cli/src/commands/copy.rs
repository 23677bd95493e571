//! `copy`: all documents into another store, such as a MongoDB server, and back.

use mongodb::bson::doc;

use crate::{
    error::{Exit, Result},
    output::{Output, counted},
    progress::{Progress, Unit},
    source::Source,
};

pub(super) async fn run(
    source: &Source<'_>,
    target: &Source<'_>,
    output: &mut Output,
) -> Result<Exit> {
    let collections = source.look_directly().await?;
    let target = if target.is_new_file() {
        target.create().await?
    } else {
        target.open_collections().await?
    };
    let progress = Progress::new("copy", 0, Unit::Documents);
    let report = progress.reporter();
    let copy = collections.copy_to(&target.collections);
    let done = copy
        .on_progress(move |at| report(at.documents + at.found, at.of))
        .await?;
    progress.end();
    target.close().await?;
    if output.is_json() {
        output.json(&doc! { "copied": done.documents as i64, "found": done.found as i64 })?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{} copied", counted(done.documents, "document"));
    if done.found > 0 {
        text.push_str(&format!(", {} were there", done.found));
    }
    output.text(&text)?;
    Ok(Exit::Done)
}
