//! `compact`: gives the free space of a file back to the disk.

use mongodb::bson::doc;
use odm::store::contract::Store;

use crate::{
    error::{Exit, Result},
    output::Output,
    source::Source,
    table::size,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let path = source.file()?.display().to_string();
    let store = source.open_store().await?;
    let compacted = store.compact().await?;
    store.close().await?;
    let (before, after) = (compacted.before as i64, compacted.after as i64);
    if output.is_json() {
        output.json(&doc! { "file": path, "before": before, "after": after })?;
    } else {
        output.text(&format!("{path}: from {} to {}", size(before), size(after)))?;
    }
    Ok(Exit::Done)
}
