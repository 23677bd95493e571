//! `salvage`: opens a store whose log is damaged, without the damaged rest.

use mongodb::bson::doc;
use odm::Embedded;
use odm::store::contract::Store;

use crate::{
    error::{Exit, Result},
    output::{Output, counted},
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let path = source.file()?;
    let salvaged = Embedded::builder()
        .salvage(path)
        .await
        .map_err(|error| source.failure(error))?;
    salvaged.store.close().await?;
    let damage = salvaged.damage.map(|error| error.to_string());
    let log = salvaged.log.map(|log| log.display().to_string());
    if output.is_json() {
        output.json(&doc! {
            "file": path.display().to_string(),
            "damage": &damage,
            "applied": salvaged.applied as i64,
            "left_out": salvaged.left_out as i64,
            "log": log,
        })?;
        return Ok(Exit::Done);
    }
    let Some(damage) = damage else {
        output.text(&format!(
            "{}: its log was sound, and nothing is left out",
            path.display()
        ))?;
        return Ok(Exit::Done);
    };
    output.text(&damage)?;
    let (applied, left_out) = (
        counted(salvaged.applied, "unit"),
        counted(salvaged.left_out, "unit"),
    );
    output.text(&format!(
        "{applied} applied from the log, at least {left_out} left out"
    ))?;
    if let Some(log) = log {
        output.text(&format!("the damaged log is kept as {log}"))?;
    }
    output.text("Run `odm audit` on it, and compare it with the last backup.")?;
    Ok(Exit::Done)
}
