//! `watch`: the changes of a running service, as they are committed.

use mongodb::{
    bson::{Document, doc, serialize_to_document},
    change_stream::event::ChangeStreamEvent,
    error::ErrorKind,
    options::FullDocumentType,
};

use super::check_collection;
use crate::{
    arguments::Watch,
    error::{Exit, Failure, Result},
    filter,
    output::Output,
    source::{Opened, Source},
};

/// The code of a server that is no member of a replica set.
const ONLY_ON_REPLICA_SETS: i32 = 40_573;

pub(super) async fn run(source: &Source<'_>, watch: &Watch, output: &mut Output) -> Result<Exit> {
    let conditions = filter::within("fullDocument", filter::conditions(&watch.conditions)?)?;
    let opened = source.look().await?;
    if let Opened::File(file) = &opened {
        let message = format!(
            "no process serves `{}`, so that nothing can be seen to change",
            file.path.display()
        );
        let advice = "Let the process that has it open listen at the socket beside it, or start `odm serve`.";
        return Err(Failure::new(Exit::Unavailable, message).with_advice(advice));
    }
    let mut stages = Vec::new();
    if !conditions.is_empty() {
        stages.push(doc! { "$match": conditions });
    }
    let database = opened.database().await?;
    let collection = match &watch.collection {
        Some(name) => {
            check_collection(&opened, name).await?;
            Some(database.collection::<Document>(name))
        }
        None => None,
    };
    let stream = match &collection {
        Some(collection) => collection.watch(),
        None => database.watch(),
    };
    let mut stream = stream
        .pipeline(stages)
        .full_document(FullDocumentType::UpdateLookup)
        .await
        .map_err(advise)?;
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

/// Drivers write the name of a server in lower case, and find no member of a replica set at a path with other letters.
fn advise(error: mongodb::error::Error) -> Failure {
    let is_no_member =
        matches!(&*error.kind, ErrorKind::Command(refused) if refused.code == ONLY_ON_REPLICA_SETS);
    let failure = Failure::from(error);
    if !is_no_member {
        return failure;
    }
    failure.with_advice(
        "A socket whose path has capital letters has no change streams: serve the file at another one by --socket, and name it here.",
    )
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
