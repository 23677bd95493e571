//! `check`: the checksums of a file, its documents and its indexes.

use mongodb::bson::doc;
use odm::Embedded;

use super::is_own;
use crate::{
    error::{Exit, Result},
    output::{Output, complain, counted},
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let path = source.file()?;
    let (size, has_checksums) = match source.open_store().await {
        Ok(store) => {
            store.check().await?;
            (store.size()?, true)
        }
        Err(failure) if failure.exit() == Exit::Locked => {
            let text = "another process has the file open: its last checkpoint is checked, without the checksums of the file";
            complain("note", text);
            let store = Embedded::open_read_only(path).await?;
            store.check_integrity().await?;
            (store.size()?, false)
        }
        Err(failure) => return Err(failure),
    };
    let own = size.collections.iter().filter(|of| !is_own(&of.name));
    let documents: u64 = own.map(|of| of.documents).sum();
    if output.is_json() {
        let file = path.display().to_string();
        output.json(&doc! { "file": file, "sound": true, "checksums": has_checksums, "documents": documents as i64 })?;
    } else {
        output.text(&format!(
            "{} is sound: {}",
            path.display(),
            counted(documents, "document")
        ))?;
    }
    Ok(Exit::Done)
}
