//! A program without models, which writes by the names of collections.

use futures_util::future::{FutureExt, LocalBoxFuture};
use odm::{
    Audit, Collection, Collections, Embedded, Error, ErrorKind, Result,
    bson::{Bson, Document, RawDocumentBuf, doc},
    collections::{DeleteDocuments, InsertDocuments, UpdateDocuments},
    mql::{Filter, Sort, Update, UpdatePipeline, Variables},
};

use super::{
    acts::{Act, Change, Raw, Write},
    programs::Program,
};

/// The program. What only models can ask for, and audits, are left to an application beside it.
pub(crate) struct Shell<P> {
    collections: Collections,
    application: P,
}

impl<P> Shell<P> {
    pub(crate) fn new(collections: Collections, application: P) -> Self {
        Shell { collections, application }
    }
}

/// A write in the form of the collections.
enum Sent {
    Insert(InsertDocuments),
    Update(UpdateDocuments),
    Delete(DeleteDocuments),
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).expect("it is BSON")
}

fn filter(document: Document) -> Filter {
    Filter::parse(&document).expect("it is a filter")
}

/// The name of the field by which acts name documents.
fn named(collection: &Collection) -> &'static str {
    match collection.name() {
        "tickets" => "code",
        _ => "_id",
    }
}

/// The replacement of a document, with the version of the stored one, so that it is not stale.
async fn replacement(collection: &Collection, document: &Document) -> Result<UpdateDocuments> {
    let mut document = document.clone();
    let id = filter(doc! { "_id": document.get("_id").expect("it is whole") });
    let stored = collection.find(id.clone()).one().await?;
    let revision = stored.and_then(|stored| stored.get_i64("revision").ok());
    if let Some(revision) = revision {
        document.insert("revision", revision);
    }
    Ok(collection.update(id, raw(&document)))
}

/// `None` if only models can ask for the change.
async fn sent(collections: &Collections, write: &Write) -> Result<Option<Sent>> {
    let collection = collections.collection(write.collection);
    let name = named(&collection);
    let update = |of: Filter, update: &Document| {
        Update::parse(update, &[]).map(|update| collection.update(of, update))
    };
    Ok(Some(match &write.change {
        Change::Insert(document) | Change::Raw(Raw::Insert, document) => {
            Sent::Insert(collection.insert([raw(document)]))
        }
        Change::InsertMany(documents) => Sent::Insert(collection.insert(documents.iter().map(raw))),
        Change::Replace(document) | Change::Raw(Raw::Replace, document) => {
            Sent::Update(replacement(&collection, document).await?)
        }
        Change::Upsert(document) | Change::Raw(Raw::Upsert, document) => {
            Sent::Update(replacement(&collection, document).await?.upsert().returning_before())
        }
        // The stages of a pipeline cannot set a cold part.
        Change::Modify(id, base) if base.contains_key("detail") => {
            let update = update(filter(doc! { name: id }), &doc! { "$set": base })?;
            Sent::Update(update.first().returning())
        }
        Change::Modify(id, base) => {
            let values = base.iter();
            let values =
                values.map(|(name, value)| (name.clone(), Bson::from(doc! { "$literal": value })));
            let stage = doc! { "$set": values.collect::<Document>() };
            let pipeline = UpdatePipeline::parse(&[stage], &Variables::default())?;
            let update = collection.update(filter(doc! { name: id }), pipeline);
            Sent::Update(update.first().returning())
        }
        Change::Update(id, changes) => {
            Sent::Update(update(filter(doc! { name: id }), changes)?.first())
        }
        Change::UpdateWhere(ids, changes) => {
            Sent::Update(update(filter(doc! { name: { "$in": ids } }), changes)?)
        }
        Change::UpsertWhere(id, changes) if name == "_id" => {
            Sent::Update(update(filter(doc! { "_id": id }), changes)?.upsert())
        }
        Change::Delete(id) => {
            let sort = Sort::parse(&doc! { name: -1 })?;
            Sent::Delete(collection.delete(filter(doc! { name: id })).sort(sort))
        }
        Change::DeleteWhere(ids) => {
            Sent::Delete(collection.delete(filter(doc! { name: { "$in": ids } })))
        }
        Change::UpsertWhere(..)
        | Change::InsertNew(_)
        | Change::UpsertMany(_)
        | Change::UpsertBy(..)
        | Change::UpdateVersion(..)
        | Change::Typed(..)
        | Change::Elements(..)
        | Change::Patch(..) => return Ok(None),
    }))
}

/// Carries out an act, and returns whether it could.
async fn act(collections: &Collections, act: &Act) -> Result<bool> {
    let writes = match act {
        Act::Write(write) => std::slice::from_ref(write),
        Act::Bulk(writes) => writes,
        Act::DeleteExpired => return Ok(false),
    };
    let (mut inserts, mut updates, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
    for write in writes {
        match sent(collections, write).await? {
            None => return Ok(false),
            Some(Sent::Insert(insert)) => inserts.push(insert),
            Some(Sent::Update(update)) => updates.push(update),
            Some(Sent::Delete(delete)) => deletes.push(delete),
        }
    }
    collections.bulk((inserts, updates, deletes)).await?;
    Ok(true)
}

impl<P: Program> Program for Shell<P> {
    fn knows(&self, _: &str) -> bool {
        true
    }

    fn act<'a>(&'a self, asked: &'a Act) -> LocalBoxFuture<'a, Result<()>> {
        async move {
            match act(&self.collections, asked).await? {
                true => Ok(()),
                false => self.application.act(asked).await,
            }
        }
        .boxed_local()
    }

    fn transaction<'a>(
        &'a self,
        acts: &'a [Act],
        rolls_back: bool,
    ) -> LocalBoxFuture<'a, Result<()>> {
        async move {
            let unit = self.collections.begin().await?;
            for asked in acts {
                if !act(&unit, asked).await? {
                    unit.rollback().await?;
                    return self.application.transaction(acts, rolls_back).await;
                }
            }
            match rolls_back {
                true => unit.rollback().await,
                false => unit.commit().await,
            }?;
            match rolls_back {
                true => Err(Error::new(ErrorKind::NotFound, "rolled back")),
                false => Ok(()),
            }
        }
        .boxed_local()
    }

    fn audit(&self) -> Audit {
        self.application.audit()
    }

    fn repair(&self) -> Audit {
        self.application.repair()
    }

    fn backfill(&self) -> Audit {
        self.application.backfill()
    }

    fn pending(&self) -> Vec<String> {
        self.application.pending()
    }

    fn wait_for_refreshes(&self) -> LocalBoxFuture<'_, Result<()>> {
        self.application.wait_for_refreshes()
    }

    fn export(&self) -> LocalBoxFuture<'_, Result<Vec<u8>>> {
        self.application.export()
    }

    fn import<'a>(&'a self, lines: &'a [u8]) -> LocalBoxFuture<'a, Result<u64>> {
        self.application.import(lines)
    }

    fn copy_into(&self, store: Embedded) -> LocalBoxFuture<'_, Result<()>> {
        self.application.copy_into(store)
    }
}
