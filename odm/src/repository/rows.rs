//! Conversion of stored documents to the types of the models, and back.

use std::sync::{Arc, Mutex, PoisonError};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_store::{self as store, Cost, Error, ErrorKind, ReaderExt, Result, show};
use serde::de::DeserializeOwned;

use super::{Joins, semi_join::Unresolved};
use crate::{
    maintain::{Doc, IdNumbering, ReturnedCheck},
    model::{
        self, Document, Insertable, Unreadable, check_references, id_to_raw, read, references,
        unstorable,
    },
    session::{ReadView, Session},
    trace::Operation,
};

/// Reads a document as a type.
pub(super) fn decode<T: DeserializeOwned>(collection: &str, document: &RawDocument) -> Result<T> {
    read(document).map_err(|why| {
        let id = document.get("_id").ok().flatten();
        undecoded::<T>(collection, id.map_or(RawBson::Null, RawBson::from), *why)
    })
}

/// Reads a document of a view as a type.
pub(super) fn decode_in<T: DeserializeOwned>(
    view: &ReadView<'_>,
    collection: &str,
    document: &RawDocument,
) -> Result<T> {
    let document = view.as_read(collection, document)?;
    decode(collection, &document).map_err(|error| view.explained(error))
}

/// Reads the cold part of the document with an `_id` as a type.
pub(super) fn decode_part<T: DeserializeOwned>(
    collection: &str,
    id: &RawBson,
    field: &str,
    part: &RawDocument,
) -> Result<T> {
    read(part).map_err(|why| undecoded::<T>(collection, id.clone(), *why.within(field)))
}

#[cold]
fn undecoded<T>(collection: &str, id: RawBson, why: Unreadable) -> Error {
    let message = format!(
        "document of `{collection}` with `_id` = {} cannot be read as `{}`: {why}",
        show(&id),
        std::any::type_name::<T>(),
    );
    Error::new(ErrorKind::Decode, message)
        .at(collection, why.path(), Some(id))
        .with_source(why.source)
}

/// Writes a document as it is stored.
pub(super) fn encode<M: Document>(document: &M) -> Result<Doc> {
    encode_new::<M, M>(document)
}

/// Writes a value in its stored form as a document of `M`.
pub(super) fn encode_new<M: Document, N: Insertable<M>>(document: &N) -> Result<Doc> {
    if M::OUTLINE.holds_opaque() {
        check_references::<M>(references(document))?;
    }
    // Most documents fit, so that the buffer seldom grows.
    let mut bytes = Vec::with_capacity(256);
    let encoded = bson::serialize_to_buffer(document, &mut bytes);
    let raw = encoded.and_then(|()| RawDocumentBuf::from_bytes(bytes));
    let raw = raw.map_err(|error| {
        let why = unstorable(document, error);
        let id = document.id().and_then(|id| id_to_raw::<M>(id).ok());
        let named = id.as_ref().map(|id| format!(" with `_id` = {}", show(id)));
        let message = format!(
            "document of `{}`{} cannot be written as BSON: {why}",
            M::COLLECTION,
            named.unwrap_or_default(),
        );
        Error::new(ErrorKind::Encode, message)
            .at(M::COLLECTION, why.path(), id)
            .with_source(why.source)
    })?;
    refuse_null_id::<M>(&raw)?;
    let Some(id) = N::make_id() else {
        return Ok(Doc::new(raw));
    };
    let mut with_id = RawDocumentBuf::new();
    with_id.append(bson::raw::cstr!("_id"), id_to_raw::<M>(&id)?);
    for element in &raw {
        let (name, value) = element.map_err(Error::malformed)?;
        with_id.append(name, value);
    }
    Ok(Doc::new(with_id))
}

/// A null reference references nothing, so no reference could reference a document with the `_id` null.
pub(super) fn refuse_null_id<M: Document>(document: &RawDocument) -> Result<()> {
    if matches!(document.get("_id"), Ok(Some(RawBsonRef::Null))) {
        let message = format!(
            "document of `{}` has the `_id` null: give it another",
            M::COLLECTION
        );
        return Err(Error::new(ErrorKind::Encode, message));
    }
    Ok(())
}

/// How the values get their `_id`s, if they get them from a sequence.
pub(super) fn numbering<M: Document, N: Insertable<M>>() -> Option<IdNumbering> {
    N::id_of_number().map(|_| IdNumbering::All(model::stored_id_of_number::<M, N>))
}

/// Returns a whole document with the time in place of each empty timestamp.
pub(super) fn stamped(document: Doc) -> Doc {
    store::stamped(&document).map_or(document, Doc::new)
}

/// Runs a query with its joins and semi-joins, all on one view.
pub(super) async fn find<T, J>(
    session: &Session,
    query: Unresolved,
    load: &[&'static str],
    joins: &J,
) -> Result<Vec<J::Row>>
where
    T: DeserializeOwned + Send,
    J: Joins<T>,
{
    let collection = query.find.collection.clone();
    let operation = Operation::begin("find", &collection);
    let view = session.reader(&collection, load).await?;
    let mut cost = Cost::default();
    let find = operation.observe(query.resolve(&view, &mut cost).await)?;
    let read = |document: &RawDocument| {
        let row = decode_in(&view, &collection, document)?;
        Ok((row, joins.keys(document)))
    };
    let (rows, reading) = operation.observe(view.find_with(&find, read).await)?;
    cost += reading;
    let rows = operation.observe(joins.run(&view, rows, &mut cost).await)?;
    session.record_query(operation, &view, &find, cost).await?;
    Ok(rows)
}

/// Reads one value of a document as a type.
pub(super) fn value<V: model::Returned<How>, How>(
    collection: &str,
    path: &str,
    value: RawBson,
) -> Result<V::Value> {
    V::read(value).map_err(|why| {
        let message = format!(
            "value of `{path}` in `{collection}` cannot be read: {}",
            why.reason
        );
        Error::new(ErrorKind::Decode, message)
            .at(collection, Some(path), None)
            .with_source(why.source)
    })
}

/// The documents that a write returns, read as their type. The sent documents are read before the unit, on the thread of the caller, and
/// documents that the unit changes within the unit. So an unreadable document is never stored.
pub(super) struct ReadBack<M>(Arc<Mutex<Vec<ReadBackDocument<M>>>>);

struct ReadBackDocument<M> {
    sent: Doc,
    /// The document as sent; `None` for the struct of a new document, which can lack fields.
    read: Option<Result<M>>,
    /// As it is stored, if that differs.
    stored: Option<M>,
}

impl<M: Document> ReadBack<M> {
    pub(super) fn new(sent: &[Doc]) -> Self {
        Self::of(sent, |sent| Some(decode(M::COLLECTION, sent)))
    }

    /// Makes it for structs of new documents.
    pub(super) fn of_new(sent: &[Doc]) -> Self {
        Self::of(sent, |_| None)
    }

    fn of(sent: &[Doc], read: impl Fn(&Doc) -> Option<Result<M>>) -> Self {
        let returned = sent.iter().map(|sent| ReadBackDocument {
            sent: sent.clone(),
            read: read(sent),
            stored: None,
        });
        ReadBack(Arc::new(Mutex::new(returned.collect())))
    }

    /// The check that reads the documents as they will be stored. It gets one document for each sent one, or none if all are stored as they
    /// were sent.
    pub(super) fn check(&self) -> ReturnedCheck {
        let returned = self.0.clone();
        ReturnedCheck::new(move |stored| {
            let mut returned = returned.lock().unwrap_or_else(PoisonError::into_inner);
            for (at, returned) in returned.iter_mut().enumerate() {
                let differs = stored.get(at).filter(|stored| **stored != returned.sent);
                returned.stored = match (differs, &returned.read) {
                    (Some(stored), _) => Some(decode(M::COLLECTION, stored)?),
                    (None, None) => Some(decode(M::COLLECTION, &returned.sent)?),
                    (None, Some(Ok(_))) => None,
                    (None, Some(Err(error))) => return Err(error.clone()),
                };
            }
            Ok(())
        })
    }

    /// The documents as they are stored.
    pub(super) fn take(self) -> Result<Vec<M>> {
        let mut returned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let documents = returned.drain(..);
        let documents = documents.map(|of| match (of.stored, of.read) {
            (Some(stored), _) => Ok(stored),
            (None, Some(read)) => read,
            // The write did not request the documents.
            (None, None) => decode(M::COLLECTION, &of.sent),
        });
        documents.collect()
    }
}
