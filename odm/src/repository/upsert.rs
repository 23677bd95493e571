//! Upserts by a unique key.

use std::marker::PhantomData;

use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{self as mql, Filter, Pattern, Test, path};
use odm_store::{Error, ErrorKind, Result};

use super::{
    PreparedWrite, WriteBuilder, impl_debug,
    prepared::impl_write_future,
    returning::ReturnedDocuments,
    rows::{encode_new, numbering, stamped},
};
use crate::{
    maintain::{Doc, IdNumbering, OnConflict, Write, WritePlan},
    model::{Document, Insertable, StoredKey},
    query::Update,
    session::Session,
};

/// An insert of a document, or a change of the existing document with its unique key, from
/// [`Repository::upsert_by`](super::Repository::upsert_by). Awaiting it returns the stored document, with the cold parts that the given
/// document has.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let rivet = Part { id: 4, name: "rivet".into(), qty: 9, price: 0.1, tags: vec![], note: None };
/// let name = Part::fields().name;
/// let stored: Part = shop.parts.upsert_by(name, rivet.clone()).await?; // inserted
/// let again = shop.parts.upsert_by(name, Part { id: 5, ..rivet }).await?; // replaced, and keeps its `_id`
/// assert_eq!((stored.id, again.id), (4, 4));
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct UpsertBy<M> {
    session: Session,
    document: Result<Doc>,
    numbering: Option<IdNumbering>,
    key: StoredKey,
    on_conflict: Result<OnConflict>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> UpsertBy<M> {
    pub(super) fn new<N: Insertable<M>>(session: Session, key: StoredKey, document: &N) -> Self {
        UpsertBy {
            session,
            document: encode_new(document).map(stamped),
            numbering: numbering::<M, N>(),
            key,
            on_conflict: Ok(OnConflict::Replace),
            model: PhantomData,
        }
    }

    /// Makes these changes to an existing document, instead of giving it the fields of the new one:
    /// `.update(Update::new().inc(Word::fields().count, 1))`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// let more = Update::new().inc(Part::fields().qty, 10);
    /// let bolt = shop.parts.upsert_by(Part::fields().name, bolt).update(more).await?;
    /// assert_eq!(bolt.qty, 100);
    /// # Ok(()) });
    /// ```
    pub fn update(mut self, changes: Update<M>) -> Self {
        let is_typed = changes.is_typed();
        let (change, ()) = changes.into_parts();
        self.on_conflict = change.map(|change| OnConflict::Update { change, is_typed });
        self
    }

    /// Does not change an existing document: the new one is inserted only if there is none.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Defaults that a program stores at its start, and that somebody may have changed since.
    /// let default = Part { id: 9, name: "bolt".into(), qty: 0, price: 0.0, tags: vec![], note: None };
    /// let bolt = shop.parts.upsert_by(Part::fields().name, default).keep().await?;
    /// assert_eq!((bolt.id, bolt.qty), (1, 90));
    /// # Ok(()) });
    /// ```
    pub fn keep(mut self) -> Self {
        self.on_conflict = Ok(OnConflict::Keep);
        self
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// let plan = shop.parts.upsert_by(Part::fields().name, Part { qty: 7, ..bolt }).plan().await?;
    /// assert_eq!(plan.collections[0].changed, 1);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(UpsertBy<M>: key, on_conflict);

impl<M: Document> WriteBuilder for UpsertBy<M> {
    type Returned = M;

    fn prepare(self) -> Result<PreparedWrite<M>> {
        let document = self.document?;
        let (returned, returning) = ReturnedDocuments::<M>::new(false);
        let write = Write::UpsertBy {
            collection: M::COLLECTION.to_owned(),
            key: key_of::<M>(self.key, &document)?,
            document,
            numbering: self.numbering,
            on_conflict: self.on_conflict?,
            check_returned: returning.check,
        };
        let finish = |_| returned.take_one();
        Ok(PreparedWrite::new(self.session, write, finish))
    }
}

impl_write_future!(UpsertBy<M>);

/// The filter of the documents that have the unique key of a new one.
fn key_of<M: Document>(key: StoredKey, document: &RawDocument) -> Result<Filter> {
    let tests = key.paths.iter().map(|&field| match path::get(document, field) {
        None | Some(RawBsonRef::Null | RawBsonRef::Array(_)) => {
            let message = format!(
                "upsert of `{}` by `{field}`, which is missing, empty or a list in the document: give it a value, or \
                 insert the document",
                M::COLLECTION
            );
            let error = Error::new(ErrorKind::InvalidQuery, message);
            Err(error.at(M::COLLECTION, Some(field), None))
        }
        Some(RawBsonRef::String(text)) if key.ignores_case => {
            let same = Pattern::equal_ignoring_case(text).map_err(mql::Error::from)?;
            Ok(Filter::Path(field.into(), Test::Regex(same)))
        }
        Some(value) => Ok(Filter::Path(field.into(), Test::Eq(RawBson::from(value)))),
    });
    let tests = tests.collect::<Result<Vec<Filter>>>()?;
    Ok(tests.into_iter().fold(Filter::default(), Filter::and))
}
