//! `watch`: the changes of a running service, as they are committed.

use mongodb::{
    bson::{Document, serialize_to_document},
    change_stream::event::ChangeStreamEvent,
    options::FullDocumentType,
};

use super::check_collection;
use crate::{
    arguments::Watch,
    error::{Exit, Failure, Result},
    output::Output,
    source::{Opened, Source},
};

pub(super) async fn run(source: &Source<'_>, watch: &Watch, output: &mut Output) -> Result<Exit> {
    let opened = source.look().await?;
    if let Opened::File(file) = &opened {
        let message = format!(
            "no process serves `{}`, so that nothing can be seen to change",
            file.path.display()
        );
        let advice = "Let the process that has it open listen at the socket beside it, or start `odm serve`.";
        return Err(Failure::new(Exit::Unavailable, message).with_advice(advice));
    }
    let database = opened.database().await?;
    let mut stream = match &watch.collection {
        Some(name) => {
            check_collection(&opened, name).await?;
            let collection = database.collection::<Document>(name);
            collection
                .watch()
                .full_document(FullDocumentType::UpdateLookup)
                .await?
        }
        None => {
            database
                .watch()
                .full_document(FullDocumentType::UpdateLookup)
                .await?
        }
    };
    let mut shown = 0;
    while watch.limit.is_none_or(|limit| shown < limit) {
        if let Some(event) = stream.next_if_any().await? {
            output.json(&change(&event)?)?;
            output.flush()?;
            shown += 1;
        } else if !stream.is_alive() {
            return Err(Failure::new(Exit::Unavailable, "the stream has ended"));
        }
    }
    Ok(Exit::Done)
}

/// An event as a line.
fn change(event: &ChangeStreamEvent<Document>) -> Result<Document> {
    let unwritable = |error| {
        Failure::new(
            Exit::Unavailable,
            format!("the event cannot be shown: {error}"),
        )
    };
    let event = serialize_to_document(event).map_err(unwritable)?;
    let mut line = Document::new();
    for (name, of) in [("change", "operationType"), ("time", "wallTime")] {
        if let Some(value) = event.get(of) {
            line.insert(name, value.clone());
        }
    }
    if let Ok(namespace) = event.get_document("ns") {
        line.insert("collection", namespace.get_str("coll").unwrap_or_default());
    }
    if let Ok(key) = event.get_document("documentKey") {
        line.extend(key.clone());
    }
    for (name, of) in [
        ("updated", "updateDescription"),
        ("document", "fullDocument"),
    ] {
        if let Ok(value) = event.get_document(of) {
            line.insert(name, value.clone());
        }
    }
    Ok(line)
}
