//! The passage of one document through the steps.

use std::{cmp::Ordering, pin::Pin};

use bson::{RawBson, RawDocumentBuf};
use odm_mql::order::compare;
use odm_store::{Reader, ReaderExt, check_document};

use super::{Action, Error, ErrorKind, Failure, Plan, Result, path};
use crate::{
    catalog::Split,
    migration::{
        run::{inlined, with_same_id},
        step::failed,
    },
};

/// A document on its way through the steps.
pub(super) struct Passing {
    /// Its present collection.
    pub(super) collection: String,
    pub(super) document: RawDocumentBuf,
    /// Whether a step has changed it, or moved it.
    pub(super) is_changed: bool,
}

/// The end of the passage of a document.
pub(super) enum PassageEnd {
    Stays(Passing),
    /// A step has removed it, or put it into another one.
    Gone,
    Failed(Failure, Option<Error>),
}

impl Passing {
    pub(super) fn new(collection: &str, document: RawDocumentBuf) -> Self {
        Passing {
            collection: collection.to_owned(),
            document,
            is_changed: false,
        }
    }

    pub(super) fn id(&self) -> RawBson {
        path::get(&self.document, "_id").map_or(RawBson::Null, RawBson::from)
    }

    fn failed(&self, step: &str, error: Error) -> PassageEnd {
        let reason = std::error::Error::source(&error);
        let reason = reason.map_or_else(|| error.to_string(), ToString::to_string);
        let kind = match error.kind() {
            ErrorKind::DuplicateKey => ErrorKind::DuplicateKey,
            _ => ErrorKind::FailedMigration,
        };
        let failure = Failure {
            kind,
            step: Some(step.to_owned()),
            collection: self.collection.clone(),
            id: self.id(),
            path: None,
            index: None,
            reason,
        };
        PassageEnd::Failed(failure, Some(error))
    }
}

type Passage<'p> = Pin<Box<dyn Future<Output = Result<PassageEnd>> + Send + 'p>>;

/// Lets a document pass through the steps that are left, up to one, which is excluded.
pub(super) fn pass<'p>(
    plan: &'p Plan,
    reader: &'p dyn Reader,
    mut passing: Passing,
    to: usize,
) -> Passage<'p> {
    Box::pin(async move {
        for at in plan.done..to {
            let (text, step) = &plan.steps[at];
            let is_own = step.collection == passing.collection;
            match &step.action {
                Action::Change(change) if is_own && !is_done(plan, at, &passing) => {
                    let changed = change(&passing.document).and_then(|after| {
                        let Some(after) = after else { return Ok(None) };
                        let after = with_same_id(text, &step.collection, &passing.document, after)?;
                        check_document(&step.collection, &after)?;
                        Ok(Some(after))
                    });
                    match changed {
                        Ok(None) => {}
                        Ok(Some(after)) => {
                            passing.document = after;
                            passing.is_changed = true;
                        }
                        Err(error) => return Ok(passing.failed(text, error)),
                    }
                }
                Action::Move { to, filter } if is_own && !is_done(plan, at, &passing) => {
                    match filter.matches(&passing.document) {
                        Ok(false) => continue,
                        Ok(true) => {}
                        Err(error) => return Ok(passing.failed(text, error.into())),
                    }
                    let id = passing.id();
                    if find(plan, reader, to, &id, at).await?.is_some() {
                        let error = Error::duplicate_id(to, id.as_raw_bson_ref());
                        return Ok(passing.failed(text, error));
                    }
                    passing.collection.clone_from(to);
                    passing.is_changed = true;
                }
                Action::Drop if is_own => return Ok(PassageEnd::Gone),
                Action::Inline { path } => {
                    let Some(split) = plan.split(&step.collection, path) else {
                        continue;
                    };
                    if passing.collection == split.cold {
                        return Ok(match part(plan, reader, split, &passing, at).await? {
                            Ok(()) => PassageEnd::Gone,
                            Err(cause) => {
                                let error =
                                    failed(text, &split.cold, &passing.document, cause.into());
                                passing.failed(text, error)
                            }
                        });
                    }
                    if passing.collection == split.hot {
                        for part in parts_of(plan, reader, split, &passing, at).await? {
                            passing.document = inlined(split, &passing.document, path, &part)?;
                            passing.is_changed = true;
                        }
                        if let Err(error) = check_document(&split.hot, &passing.document) {
                            return Ok(passing.failed(text, error));
                        }
                    }
                }
                Action::Invalid(error) => return Err(error.clone()),
                Action::Change(_) | Action::Move { .. } | Action::Drop => {}
            }
        }
        Ok(PassageEnd::Stays(passing))
    })
}

/// Whether a migration that has begun has done a step on a document already.
fn is_done(plan: &Plan, at: usize, passing: &Passing) -> bool {
    let id = path::get(&passing.document, "_id");
    match (&plan.after, id) {
        (Some(after), Some(id)) if at == plan.done => {
            compare(id, after.as_raw_bson_ref()) != Ordering::Greater
        }
        _ => false,
    }
}

/// The document of a collection with an `_id`, as it is before a step.
async fn find(
    plan: &Plan,
    reader: &dyn Reader,
    collection: &str,
    id: &RawBson,
    at: usize,
) -> Result<Option<RawDocumentBuf>> {
    for origin in origins(plan, collection, at) {
        if let (Some(document), _) = reader.get_one(&origin, id).await? {
            let end = pass(plan, reader, Passing::new(&origin, document), at).await?;
            if let PassageEnd::Stays(found) = end
                && found.collection == collection
            {
                return Ok(Some(found.document));
            }
        }
    }
    Ok(None)
}

/// The collections from which documents may have come into one before a step.
fn origins(plan: &Plan, collection: &str, at: usize) -> Vec<String> {
    let mut origins = vec![collection.to_owned()];
    for (_, step) in plan.steps[plan.done..at].iter().rev() {
        if let Action::Move { to, .. } = &step.action
            && origins.contains(to)
            && !origins.contains(&step.collection)
        {
            origins.push(step.collection.clone());
        }
    }
    origins
}

/// Why a cold part cannot be put back into its document.
async fn part(
    plan: &Plan,
    reader: &dyn Reader,
    split: &Split,
    part: &Passing,
    at: usize,
) -> Result<Result<(), &'static str>> {
    let Some(id) = path::get(&part.document, &split.key).map(RawBson::from) else {
        return Ok(Err("it names no document"));
    };
    Ok(match find(plan, reader, &split.hot, &id, at).await? {
        None => Err("its document is not there"),
        Some(hot) if path::get(&hot, &split.path).is_some() => {
            Err("its document has a value in its place")
        }
        Some(_) => Ok(()),
    })
}

/// The cold parts of a document, as they are before a step.
async fn parts_of(
    plan: &Plan,
    reader: &dyn Reader,
    split: &Split,
    hot: &Passing,
    at: usize,
) -> Result<Vec<RawDocumentBuf>> {
    let (stored, _) = reader
        .find_all(&split.cold_parts_of(vec![hot.id()]))
        .await?;
    let mut parts = Vec::new();
    for part in stored {
        let end = pass(plan, reader, Passing::new(&split.cold, part), at).await?;
        if let PassageEnd::Stays(part) = end
            && part.collection == split.cold
        {
            parts.push(part.document);
        }
    }
    Ok(parts)
}
