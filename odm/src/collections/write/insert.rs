//! Inserts of documents by the name of their collection.

use std::sync::{Arc, Mutex, PoisonError};

use bson::{RawBson, RawDocumentBuf};
use odm_store::{Error, ErrorKind, Result, id_first};

use super::{SharedDocuments, sent};
use crate::{
    collections::Collection,
    maintain::{Doc, IdNumbering, ReturnedCheck, Write, WritePlan},
    model::ObjectId,
    repository::{PreparedWrite, WriteBuilder},
    session::Session,
};

/// An insert, from [`Collection::insert`]. Awaiting it returns the `_id`s of the documents.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::{RawBson, rawdoc}};
///
/// let insert = Collections::of(&shop).collection("notes").insert([rawdoc! { "_id": 1 }]);
/// assert_eq!(insert.await?, [RawBson::Int32(1)]);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertDocuments {
    collection: Collection,
    documents: Vec<RawDocumentBuf>,
    bypasses_rule: bool,
}

impl InsertDocuments {
    pub(in crate::collections) fn new(
        collection: &Collection,
        documents: Vec<RawDocumentBuf>,
    ) -> Self {
        InsertDocuments {
            collection: collection.clone(),
            documents,
            bypasses_rule: false,
        }
    }

    /// Stores the documents even against the [validation rule](Collection::create_validated) of the collection, as MongoDB's option
    /// `bypassDocumentValidation` does. The declarations of models hold nevertheless: schemas, checks, references and derived fields.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, collections::ValidationRule};
    ///
    /// let collections = Collections::of(&shop);
    /// let notes = collections.collection("notes");
    /// notes.create_validated(ValidationRule::new(rawdoc! { "text": { "$type": "string" } }), None).await?;
    /// notes.insert([rawdoc! { "_id": 1, "text": 5 }]).bypass_document_validation().await?;
    ///
    /// let part = collections.collection("parts").insert([rawdoc! { "_id": 9_i64, "name": 5 }]);
    /// assert!(part.bypass_document_validation().await.is_err());
    /// # Ok(()) });
    /// ```
    pub fn bypass_document_validation(mut self) -> Self {
        self.bypasses_rule = true;
        self
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](crate::repository#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, mql::Filter};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// let plan = notes.insert([rawdoc! { "_id": 1 }]).plan().await?;
    /// assert_eq!(plan.collections[0].inserted, 1);
    /// assert_eq!(notes.find(Filter::default()).count().await?, 0);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }

    /// The write, and the `_id`s of the documents.
    fn into_parts(self) -> Result<(Session, Write, InsertedIds)> {
        let Collection { session, name } = &self.collection;
        self.collection.check_writable()?;
        let mut made = Vec::new();
        let mut ids = Vec::with_capacity(self.documents.len());
        let documents = self.documents.into_iter().map(|document| {
            let document = sent(&self.collection, document)?;
            let id = match document.get("_id").map_err(Error::malformed)? {
                Some(id) => RawBson::from(id),
                None => {
                    made.push(ids.len());
                    ObjectId::new().into()
                }
            };
            let with_id = id_first(&document, id.as_raw_bson_ref());
            ids.push(id);
            Ok(Doc::new(with_id.unwrap_or(document)))
        });
        let documents = documents.collect::<Result<_>>()?;
        let ids = InsertedIds(Arc::new(Mutex::new(ids)));
        let is_numbered = !made.is_empty();
        let write = Write::Insert {
            documents,
            collection: name.clone(),
            numbering: is_numbered.then_some(IdNumbering::Declared(made)),
            check_returned: self
                .collection
                .check_inserted(is_numbered.then(|| ids.clone())),
            rights: session.rights(),
            bypasses_rule: self.bypasses_rule,
        };
        Ok((session.clone(), write, ids))
    }

    pub(in crate::collections) fn into_statement(self) -> Result<(Write, SharedDocuments)> {
        let (_, write, _) = self.into_parts()?;
        Ok((write, SharedDocuments::default()))
    }
}

impl WriteBuilder for InsertDocuments {
    type Returned = Vec<RawBson>;

    fn prepare(self) -> Result<PreparedWrite<Vec<RawBson>>> {
        let (session, write, ids) = self.into_parts()?;
        Ok(PreparedWrite::new(session, write, move |_| Ok(ids.take())))
    }
}

/// The `_id`s of inserted documents: an `_id` of a sequence comes once the unit has stored the document.
#[derive(Debug, Clone)]
struct InsertedIds(Arc<Mutex<Vec<RawBson>>>);

impl InsertedIds {
    /// Takes the `_id`s of the documents as they are stored, or of none if all are stored as they were sent.
    fn set(&self, stored: &[Doc]) -> Result<()> {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, document) in ids.iter_mut().zip(stored) {
            let stored = document.get("_id").map_err(Error::malformed)?;
            *id = stored.map_or(RawBson::Null, RawBson::from);
        }
        Ok(())
    }

    fn take(&self) -> Vec<RawBson> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collection {
    /// The check that the models of the program can read inserted documents. It takes the `_id`s that a sequence gives.
    fn check_inserted(&self, ids: Option<InsertedIds>) -> ReturnedCheck {
        let checks = self.session.catalog().update_checks(&self.name, false);
        let collection = self.name.clone();
        ReturnedCheck::new(move |documents| {
            if let Some(ids) = &ids {
                ids.set(documents)?;
            }
            let checks = checks.iter().flat_map(|checks| checks.iter());
            for check in checks.filter(|check| !check.is_off) {
                for document in documents {
                    if let Some(why) = check.unreadable(document)? {
                        let id = document.get("_id").ok().flatten().map(RawBson::from);
                        let message = format!(
                            "document of `{collection}` cannot be read by its model: {why}"
                        );
                        return Err(Error::new(ErrorKind::Invalid, message)
                            .at(&collection, why.path(), id)
                            .with_source(why.source));
                    }
                }
            }
            Ok(())
        })
    }
}
