//! `insert`.

use odm::{
    Collection,
    bson::{RawDocument, RawDocumentBuf},
};

use super::{
    Command, Context, namespace,
    write::{self, WriteOptions, WriteReply},
};
use crate::{arguments::Arguments, error::Result};

pub(super) const COMMANDS: &[Command] = &[Command::new("insert", |context, arguments| {
    Box::pin(insert(context, arguments))
})];

async fn insert(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "insert")?;
    let options = WriteOptions::take(&mut arguments)?;
    let documents = arguments.documents("documents")?.unwrap_or_default();
    arguments.end()?;
    write::check_number(documents.len())?;
    let reply = insert_all(&collection, &documents, options).await?;
    Ok(reply.into_document(context))
}

/// Inserts as many documents as possible as one unit. A unit that fails is halved, down to the documents that cannot be inserted.
async fn insert_all(
    collection: &Collection,
    documents: &[&RawDocument],
    options: WriteOptions,
) -> Result<WriteReply> {
    let mut reply = WriteReply::default();
    let whole = 0..documents.len();
    let mut parts = vec![whole];
    while let Some(part) = parts.pop() {
        let unit = documents[part.clone()].iter();
        let unit = collection.insert(unit.map(|document| RawDocument::to_owned(document)));
        let error = match write::carry_out(unit).await {
            Ok(ids) => {
                reply.number += ids.len() as u64;
                continue;
            }
            Err(error) => error,
        };
        if part.len() == 1 {
            if !reply.fail(part.start, error, options)? {
                break;
            }
        } else {
            let middle = part.start + part.len() / 2;
            parts.push(middle..part.end);
            parts.push(part.start..middle);
        }
    }
    Ok(reply)
}
