//! Runs the steps of a migration.
//!
//! The record of the migration is in the stored catalog. It is announced before the steps are tried, so that nobody
//! else writes to the collections of the database. It begins before the first step: from then on older
//! programs are refused. The unit that changes
//! documents moves the record on, so that a step goes through each document once. The record ends in the unit
//! that declares the new version.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf, oid::ObjectId};
use odm_mql::path;
use odm_store::{
    CollectionWrites, DocumentWrite, Durability, Error, Find, Reader, ReaderExt, Result, Store,
    Transaction, UnitOfWork, id_first,
};

use super::{
    MigrationProgress, Plan, Step,
    step::{Action, failed},
};
use crate::catalog::{self, RunningMigration, Split};

/// The documents of one unit. Few in tests, so that a step takes several.
const DOCUMENTS: u64 = if cfg!(test) { 3 } else { 500 };

/// The bytes of documents after which a unit takes no more.
const BYTES: usize = 4 << 20;

/// Begins a migration that was announced: older programs are refused from now on.
///
/// # Errors
///
/// `Migrating` if the announcement was withdrawn.
pub(crate) async fn begin(
    store: &dyn Store,
    plan: &Plan,
    announced: Option<ObjectId>,
) -> Result<()> {
    let begin = Begin {
        name: plan.name.clone(),
        to: plan.to,
        announced,
    };
    store.run(Arc::new(begin), Durability::Immediate).await
}

/// Carries out the steps that are left of a migration that has begun.
///
/// # Errors
///
/// The errors of the steps, and of the store. Finished units stay, and the next run goes on there.
pub(crate) async fn run(
    store: &dyn Store,
    plan: &Plan,
    progress: &(dyn Fn(&MigrationProgress) + Send + Sync),
) -> Result<()> {
    let mut documents = 0;
    loop {
        let record = catalog::running(&*store.reader()?, &plan.name).await?;
        let Some(record) = record else {
            return Ok(());
        };
        let at = record.done.len();
        let Some((text, step)) = plan.steps.get(at) else {
            return Ok(());
        };
        let split = match &step.action {
            Action::Inline { path } => plan.split(&step.collection, path).cloned(),
            _ => None,
        };
        let chunk = Arc::new(Chunk {
            name: plan.name.clone(),
            record,
            text: text.clone(),
            step: step.clone(),
            split,
            changed: Mutex::new(0),
        });
        // A step that is repeated after a crash goes on from the stored position.
        store.run(chunk.clone(), Durability::Eventual).await?;
        let seen = *chunk.changed.lock().unwrap_or_else(PoisonError::into_inner);
        documents = if seen == 0 { 0 } else { documents + seen };
        if seen > 0 {
            progress(&MigrationProgress {
                step: text.clone(),
                position: at + 1,
                steps: plan.steps.len() + 1,
                documents,
            });
        }
    }
}

struct Begin {
    name: String,
    to: u32,
    announced: Option<ObjectId>,
}

#[async_trait]
impl UnitOfWork for Begin {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        catalog::begin(transaction, &self.name, self.to, self.announced).await
    }
}

/// Some documents of one step.
struct Chunk {
    name: String,
    /// The record of the migration before it.
    record: RunningMigration,
    text: String,
    step: Step,
    /// The split whose cold parts are put back.
    split: Option<Split>,
    /// How many documents it has seen; none at the end of the step.
    changed: Mutex<u64>,
}

#[async_trait]
impl UnitOfWork for Chunk {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let documents = self.documents(&*transaction).await?;
        let mut record = self.record.clone();
        match documents.last() {
            Some(last) => record.after = path::get(last, "_id").map(RawBson::from),
            None => {
                record.done.push(self.text.clone());
                record.after = None;
            }
        }
        self.write(transaction, &documents).await?;
        catalog::advance(transaction, &self.name, &self.record, record).await?;
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        *changed = documents.len() as u64;
        Ok(())
    }
}

impl Chunk {
    /// The next documents in the order of their `_id`s.
    async fn documents(&self, reader: &dyn Reader) -> Result<Vec<RawDocumentBuf>> {
        let collection = match (&self.split, &self.step.action) {
            (Some(split), _) => &split.cold,
            // The version with the split was never opened: the values are in place.
            (None, Action::Inline { .. }) => return Ok(Vec::new()),
            (None, _) => &self.step.collection,
        };
        documents_after(reader, collection, self.record.after.clone()).await
    }

    async fn write(
        &self,
        transaction: &mut dyn Transaction,
        documents: &[RawDocumentBuf],
    ) -> Result<()> {
        let collection = self.step.collection.as_str();
        match &self.step.action {
            Action::Change(change) => {
                let mut changed = Vec::new();
                for before in documents {
                    if let Some(after) = change(before)? {
                        changed
                            .push((before, with_same_id(&self.text, collection, before, after)?));
                    }
                }
                let writes = changed
                    .iter()
                    .map(|(before, after)| DocumentWrite::Replace { before, after });
                apply(transaction, [(collection, writes.collect())]).await
            }
            Action::Move { to, filter } => {
                let mut moved = Vec::new();
                for document in documents {
                    if filter.matches(document)? {
                        moved.push(document);
                    }
                }
                let inserts = moved.iter().map(|document| DocumentWrite::Insert(document));
                let inserts = inserts.collect();
                let removals = moved.iter().map(|document| DocumentWrite::Remove(document));
                let removals = removals.collect();
                apply(transaction, [(to, inserts), (collection, removals)]).await
            }
            Action::Drop => {
                let removals = documents
                    .iter()
                    .map(|document| DocumentWrite::Remove(document));
                apply(transaction, [(collection, removals.collect())]).await
            }
            Action::Inline { path } => self.inline(transaction, path, documents).await,
            Action::Invalid(error) => Err(error.clone()),
        }
    }

    /// Puts cold parts back into their documents.
    async fn inline(
        &self,
        transaction: &mut dyn Transaction,
        at: &str,
        parts: &[RawDocumentBuf],
    ) -> Result<()> {
        let Some(split) = &self.split else {
            return Ok(());
        };
        let collection = split.hot.as_str();
        let mut changed = Vec::new();
        for part in parts {
            let lost = |message: &str| failed(&self.text, &split.cold, part, message.into());
            let id = path::get(part, &split.key).map(RawBson::from);
            let id = id.ok_or_else(|| lost("it names no document"))?;
            let (hot, _) = transaction.get_one(collection, &id).await?;
            let hot = hot.ok_or_else(|| lost("its document is not there"))?;
            if path::get(&hot, at).is_some() {
                return Err(lost("its document has a value in its place"));
            }
            let whole = inlined(split, &hot, at, part)?;
            changed.push((hot, whole));
        }
        let writes = changed
            .iter()
            .map(|(before, after)| DocumentWrite::Replace { before, after });
        let writes = writes.collect();
        let removals = parts
            .iter()
            .map(|part| DocumentWrite::Remove(part))
            .collect();
        apply(transaction, [(collection, writes), (&split.cold, removals)]).await
    }
}

/// The next documents of a collection in the order of their `_id`s.
pub(super) async fn documents_after(
    reader: &dyn Reader,
    collection: &str,
    after: Option<RawBson>,
) -> Result<Vec<RawDocumentBuf>> {
    let find = Find {
        collection: collection.to_owned(),
        limit: Some(DOCUMENTS),
        after: after.map(|id| vec![id]),
        ..Find::default()
    };
    let (mut documents, mut bytes) = (Vec::new(), 0);
    let each = &mut |_, document: &RawDocument| {
        bytes += document.as_bytes().len();
        documents.push(document.to_owned());
        Ok(match bytes > BYTES {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    };
    reader.find(&find, each).await?;
    Ok(documents)
}

/// A document with the value of its cold part at a path.
pub(super) fn inlined(
    split: &Split,
    hot: &RawDocument,
    at: &str,
    part: &RawDocument,
) -> Result<RawDocumentBuf> {
    let mut whole = bson::Document::try_from(hot).map_err(Error::malformed)?;
    let value = bson::Document::try_from(&split.value(part)?).map_err(Error::malformed)?;
    whole.insert(at, value);
    RawDocumentBuf::try_from(&whole).map_err(Error::malformed)
}

/// A changed document with `_id` as its first field, which the step must not have changed.
pub(super) fn with_same_id(
    text: &str,
    collection: &str,
    before: &RawDocument,
    after: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    let id = path::get(before, "_id");
    match id.filter(|id| path::get(&after, "_id") == Some(*id)) {
        Some(id) => Ok(id_first(&after, id).unwrap_or(after)),
        None => {
            let cause = "it gives the document another `_id`, or none";
            Err(failed(text, collection, before, cause.into()))
        }
    }
}

/// Writes documents as they are: the relations of the new version are not in force yet, and the relations of the version before no longer.
async fn apply<const N: usize>(
    transaction: &mut dyn Transaction,
    writes: [(&str, Vec<DocumentWrite<'_>>); N],
) -> Result<()> {
    let batch = writes.into_iter().filter(|(_, writes)| !writes.is_empty());
    let batch: Vec<CollectionWrites<'_>> = batch
        .map(|(collection, writes)| CollectionWrites { collection, writes })
        .collect();
    match batch.is_empty() {
        true => Ok(()),
        false => transaction.apply(&batch).await.map(drop),
    }
}
