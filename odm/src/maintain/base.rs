//! The first step of a unit: the user's own changes.

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{Effect, Outcome, Write, kept_fields};
use crate::{
    catalog::Catalog,
    error::{Error, ErrorKind, Result, show},
    mql::{Filter, Operation, Sort, Test, Update},
    store::{Change, Flow, Transaction, UpdateWrite, Updated},
};

pub(super) async fn apply(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    write: &Write,
) -> Result<Outcome> {
    match write {
        Write::Insert {
            collection,
            documents,
        } => {
            let documents = kept_fields::first_versions(catalog, collection, documents)?;
            transaction.insert(collection, &documents).await?;
            let effects = documents
                .into_owned()
                .into_iter()
                .map(Effect::inserted)
                .collect();
            Ok(Outcome {
                effects,
                ..Outcome::default()
            })
        }
        Write::Update(write) => {
            let mut outcome = outcome(transaction.update(write).await?);
            let effects = &mut outcome.effects;
            kept_fields::count_versions(catalog, transaction, &write.collection, effects).await?;
            Ok(outcome)
        }
        Write::Replace {
            collection,
            id,
            document,
            upsert,
        } => replace(catalog, transaction, collection, id, document, *upsert).await,
        Write::Modify {
            collection,
            id,
            read,
            from,
            to,
        } => {
            match current(transaction, collection, id).await? {
                None => return Err(Error::not_found(collection, &[id])),
                Some(current) if current != *read => return Err(stale(collection, id)),
                Some(_) => {}
            }
            let mut update = Update::default();
            difference(&mut update, "", from, to, catalog.version(collection))?;
            if update.is_empty() {
                return Ok(Outcome {
                    matched: 1,
                    ..Outcome::default()
                });
            }
            let write = by_id(collection, id, Change::Update(update));
            let mut outcome = outcome(transaction.update(&write).await?);
            let effects = &mut outcome.effects;
            kept_fields::count_versions(catalog, transaction, collection, effects).await?;
            Ok(outcome)
        }
        Write::Delete(write) => {
            let removed = transaction.delete(write).await?;
            let matched = removed.len() as u64;
            let effects = removed.into_iter().map(Effect::removed).collect();
            Ok(Outcome {
                matched,
                effects,
                ..Outcome::default()
            })
        }
    }
}

async fn replace(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    collection: &str,
    id: &RawBson,
    document: &RawDocument,
    upsert: bool,
) -> Result<Outcome> {
    let mut next = Cow::Borrowed(document);
    if let Some(path) = catalog.version(collection) {
        let held = kept_fields::version(document, path)?;
        let version = match current(transaction, collection, id).await? {
            Some(current) if held != kept_fields::version(&current, path)? => {
                return Err(stale(collection, id));
            }
            Some(_) => held + 1,
            // It was read, and is gone.
            None if held > 0 && upsert => return Err(stale(collection, id)),
            None => 1,
        };
        next = Cow::Owned(kept_fields::with_version(document, path, version)?);
    }
    let write = by_id(collection, id, Change::Replace(next.into_owned()));
    let updated = transaction.update(&UpdateWrite { upsert, ..write }).await?;
    if updated.matched == 0 && updated.upserted.is_none() {
        return Err(Error::not_found(collection, &[id]));
    }
    Ok(outcome(updated))
}

pub(super) fn by_id(collection: &str, id: &RawBson, change: Change) -> UpdateWrite {
    UpdateWrite {
        collection: collection.to_owned(),
        filter: Filter::Path("_id".into(), Test::Eq(id.clone())),
        sort: Sort::default(),
        change,
        multi: false,
        upsert: false,
    }
}

/// What makes one document of the other, field by field, also in embedded documents. What neither
/// holds, such as a field that only a newer version of the model knows, stays as it is.
fn difference(
    update: &mut Update,
    prefix: &str,
    from: &RawDocument,
    to: &RawDocument,
    kept: Option<&str>,
) -> Result<()> {
    for element in to {
        let (name, value) = element.map_err(malformed)?;
        let path = format!("{prefix}{}", name.as_str());
        let before = from.get(name.as_str()).map_err(malformed)?;
        if kept == Some(&path) || before == Some(value) {
            continue;
        }
        match (before, value) {
            (Some(RawBsonRef::Document(from)), RawBsonRef::Document(to))
                if has_paths(from) && has_paths(to) =>
            {
                difference(update, &format!("{path}."), from, to, kept)?;
            }
            _ => update.push(path, Operation::Set(value.into())),
        }
    }
    for element in from {
        let (name, _) = element.map_err(malformed)?;
        let path = format!("{prefix}{}", name.as_str());
        if kept != Some(&path) && to.get(name.as_str()).map_err(malformed)?.is_none() {
            update.push(path, Operation::Unset);
        }
    }
    Ok(())
}

/// Whether paths lead to all fields of a document. The keys of a map can be anything.
fn has_paths(document: &RawDocument) -> bool {
    !document.is_empty()
        && document.iter_elements().flatten().all(|element| {
            let name = element.key().as_str();
            !name.is_empty() && !name.contains('.') && !name.starts_with('$')
        })
}

pub(super) fn malformed(error: bson::error::Error) -> Error {
    Error::new(ErrorKind::Encode, "a document is not well-formed BSON").with_source(error)
}

fn stale(collection: &str, id: &RawBson) -> Error {
    Error::new(
        ErrorKind::Stale,
        format!(
            "the document with the `_id` {} in `{collection}` was changed since it was read",
            show(id)
        ),
    )
    .at(collection, None, Some(id.clone()))
}

async fn current(
    transaction: &dyn Transaction,
    collection: &str,
    id: &RawBson,
) -> Result<Option<RawDocumentBuf>> {
    let mut found = None;
    transaction
        .get(collection, std::slice::from_ref(id), &mut |_, document| {
            found = Some(document.to_owned());
            Ok(Flow::More)
        })
        .await?;
    Ok(found)
}

fn outcome(updated: Updated) -> Outcome {
    let changes = updated.changes.into_iter().map(|changed| Effect {
        before: Some(changed.before),
        after: Some(changed.after),
    });
    Outcome {
        matched: updated.matched,
        effects: changes
            .chain(updated.upserted.map(Effect::inserted))
            .collect(),
        ..Outcome::default()
    }
}

impl Effect {
    fn inserted(after: RawDocumentBuf) -> Self {
        Effect {
            before: None,
            after: Some(after),
        }
    }

    fn removed(before: RawDocumentBuf) -> Self {
        Effect {
            before: Some(before),
            after: None,
        }
    }
}
