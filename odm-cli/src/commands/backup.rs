//! `backup`: copies a store into a new file, also of a process that has it open.

use std::{
    path::Path,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use mongodb::bson::doc;
use odm::Embedded;

use crate::{
    error::{Exit, Failure, Result},
    output::{Output, complain},
    progress::{Progress, Unit},
    source::Source,
    table::size,
};

/// How long the end of an interrupted copy is waited for.
const ENDING: Duration = Duration::from_secs(10);

/// Waits, when it is dropped, until the thread that copies has ended, so that an interrupted copy leaves no file.
struct UntilEnded(Receiver<()>);

impl Drop for UntilEnded {
    fn drop(&mut self) {
        // The sender is gone with the thread.
        let _ = self.0.recv_timeout(ENDING);
    }
}

pub(super) async fn run(source: &Source<'_>, target: &Path, output: &mut Output) -> Result<Exit> {
    let path = source.file()?;
    if target.exists() {
        let message = format!(
            "`{}` is there already: choose another name",
            target.display()
        );
        return Err(Failure::new(Exit::Refused, message));
    }
    let backup = match source.open_store().await {
        Ok(store) => store.backup(target),
        Err(failure) if failure.exit() == Exit::Locked => {
            let text = "another process has the file open: the copy is of its last checkpoint, some seconds old";
            complain("note", text);
            Embedded::open_read_only(path).await?.backup(target)
        }
        Err(failure) => return Err(failure),
    };
    let progress = Progress::new("backup", 0, Unit::Documents);
    let report = progress.reporter();
    let (running, ended) = channel();
    let _until_ended = UntilEnded(ended);
    backup
        .on_progress(move |at| {
            let _ = &running;
            report(at.entries, at.of);
        })
        .await?;
    progress.end();
    let metadata = std::fs::metadata(target);
    let bytes = metadata.map_or(0, |metadata| metadata.len() as i64);
    let target = target.display().to_string();
    if output.is_json() {
        output.json(&doc! { "backup": target, "bytes": bytes })?;
    } else {
        output.text(&format!("{target}: {}", size(bytes)))?;
    }
    Ok(Exit::Done)
}
