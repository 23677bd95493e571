//! `compact`: gives the free space of a file back to the disk.

use mongodb::bson::doc;

use crate::{
    error::{Exit, Result},
    output::Output,
    source::{FileStore, Source},
    table::size,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let file = source.open_to_write().await?;
    let FileStore::Writable(store) = &file.store else {
        return Ok(Exit::Done);
    };
    let compacted = store.compact().await?;
    let (before, after) = (compacted.before as i64, compacted.after as i64);
    let path = file.path.display().to_string();
    file.close().await?;
    if output.is_json() {
        output.json(&doc! { "file": path, "before": before, "after": after })?;
    } else {
        output.text(&format!("{path}: from {} to {}", size(before), size(after)))?;
    }
    Ok(Exit::Done)
}
