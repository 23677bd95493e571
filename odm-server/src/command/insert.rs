//! `insert`.

use std::ops::Range;

use odm::{
    bson::{RawDocument, RawDocumentBuf},
    collections::{InsertDocuments, Statement, WrittenDocuments},
};

use super::{
    Access, Command, Context, namespace,
    write::{self, Statements, WriteOptions, WriteReply},
};
use crate::{arguments::Arguments, error::Result};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "insert",
    Access::Write,
    |context, arguments| Box::pin(insert(context, arguments)),
)];

async fn insert(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "insert")?;
    let options = WriteOptions::take(&mut arguments)?;
    let documents = arguments.documents("documents")?.unwrap_or_default();
    arguments.end()?;
    write::check_number(documents.len())?;
    let of = format!("insert {}", collection.name());
    let mut statements = Statements::begin(context, of, options, WriteReply::default()).await?;
    let insert = |documents: &[&RawDocument]| {
        let documents = documents
            .iter()
            .map(|document| RawDocument::to_owned(document));
        let insert = collection.insert(documents);
        match options.bypasses_rule {
            true => insert.bypass_document_validation(),
            false => insert,
        }
    };
    insert_all(context, insert, &documents, &mut statements).await?;
    Ok(statements.into_reply())
}

/// Inserts as many documents as possible as one unit. A unit that fails is halved, down to the documents that cannot be inserted. In a
/// transaction, which an error ends, they are inserted one after another.
async fn insert_all(
    context: Context<'_>,
    insert: impl Fn(&[&RawDocument]) -> InsertDocuments,
    documents: &[&RawDocument],
    statements: &mut Statements<'_>,
) -> Result<()> {
    let first = statements.next();
    let rest = first..documents.len();
    let mut parts: Vec<Range<usize>> = match context.unit {
        None => Vec::from([rest]),
        Some(_) => rest.rev().map(|at| at..at + 1).collect(),
    };
    while let Some(part) = parts.pop().filter(|part| !part.is_empty()) {
        let unit = insert(&documents[part.clone()]);
        let number = part.len() as u64;
        let add = move |reply: &mut WriteReply, _: &WrittenDocuments| reply.number += number;
        let inserted = statements.carry_out(part.end, Statement::Insert(unit), add);
        let Err(error) = inserted.await else {
            if statements.next() != part.end {
                let rest = statements.next()..documents.len();
                parts = Vec::from([rest]);
            }
            continue;
        };
        if part.len() <= 1 {
            if !statements.fail(part.start, error)? {
                break;
            }
        } else {
            let middle = part.start + part.len() / 2;
            parts.push(middle..part.end);
            parts.push(part.start..middle);
        }
    }
    Ok(())
}
