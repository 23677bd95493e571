//! `info`: the facts about a store.

use std::path::Path;

use mongodb::bson::{Bson, Document, doc};

use super::{declared, names};
use crate::{
    error::{Exit, Result},
    holder,
    output::Output,
    source::{Opened, Source},
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let opened = source.look().await?;
    let mut record = Document::new();
    match &opened {
        Opened::File(file) => of_file(&file.path, file.size.file, &mut record),
        Opened::Served(database) => {
            record.insert("served_by", "odm-server");
            record.insert("database", database.name());
        }
        Opened::MongoDb(database) => {
            let info = database.run_command(doc! { "buildInfo": 1 }).await?;
            record.insert(
                "served_by",
                format!("MongoDB {}", info.get_str("version").unwrap_or("?")),
            );
            record.insert("database", database.name());
        }
    }
    let database = opened.database().await?;
    let mut documents = 0_u64;
    let names = names(&opened, None).await?;
    for name in &names {
        documents += database
            .collection::<Document>(name)
            .estimated_document_count()
            .await?;
    }
    record.insert("collections", names.len() as i64);
    record.insert("documents", documents as i64);
    for declared in declared(database).await? {
        of_database(&declared, &mut record);
    }
    let waiting = database
        .collection::<Document>("_odm_outbox")
        .estimated_document_count()
        .await?;
    record.insert("deferred_refreshes", waiting as i64);
    output.record(&record)?;
    Ok(Exit::Done)
}

fn of_file(path: &Path, bytes: Option<u64>, record: &mut Document) {
    record.insert("file", path.display().to_string());
    record.insert("bytes", bytes.unwrap_or_default() as i64);
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    if let Ok(changed) = changed {
        record.insert(
            "changed",
            mongodb::bson::DateTime::from_system_time(changed),
        );
    }
    if let Some(holder) = holder::of(path) {
        record.insert("open_in", holder.to_string());
    }
}

/// A database that a program has opened here.
fn of_database(declared: &Document, record: &mut Document) {
    let name = declared.get_str("_id").unwrap_or_default();
    let version = declared
        .get("version")
        .and_then(Bson::as_i64)
        .unwrap_or_default();
    let mut text = format!("version {version}");
    if declared.get_document("migration").is_ok() {
        text.push_str(", in a migration");
    }
    if let Ok(pending) = declared.get_array("pending")
        && !pending.is_empty()
    {
        let fields: Vec<&str> = pending.iter().filter_map(Bson::as_str).collect();
        text.push_str(&format!(", pending: {}", fields.join(", ")));
    }
    record.insert(name, text);
}
