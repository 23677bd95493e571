//! Conversion of stored documents to the types of the models, and back.

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use serde::{Serialize, de::DeserializeOwned};

use super::Joins;
use crate::{
    error::{Error, ErrorKind, Result, show},
    maintain::Doc,
    model::{Document, check_references, references},
    session::Session,
    store::{self, Find, ReaderExt},
    trace::record_cost,
};

/// Reads a document as a type.
pub(super) fn decode<T: DeserializeOwned>(collection: &str, document: &RawDocument) -> Result<T> {
    bson::deserialize_from_slice(document.as_bytes()).map_err(|error| {
        let id = document
            .get("_id")
            .ok()
            .flatten()
            .map(RawBson::from)
            .unwrap_or(RawBson::Null);
        let message = format!(
            "document with the `_id` {} in `{collection}` cannot be read as `{}`: {error}",
            show(&id),
            std::any::type_name::<T>(),
        );
        Error::new(ErrorKind::Decode, message)
            .with_source(error)
            .at(collection, None, Some(id))
    })
}

/// Writes a document as it is stored.
pub(super) fn encode<M: Document + Serialize>(document: &M) -> Result<Doc> {
    if M::OUTLINE.holds_opaque() {
        check_references::<M>(references(document))?;
    }
    // Most documents fit, so that the buffer seldom grows.
    let mut bytes = Vec::with_capacity(256);
    let encoded = bson::serialize_to_buffer(document, &mut bytes);
    let raw = encoded.and_then(|()| RawDocumentBuf::from_bytes(bytes));
    let raw = raw.map_err(|error| {
        let message = format!(
            "document of `{}` cannot be written as BSON: {error}",
            M::COLLECTION
        );
        Error::new(ErrorKind::Encode, message).with_source(error)
    })?;
    // A null reference references nothing, so no reference could reference this document.
    if matches!(raw.get("_id"), Ok(Some(RawBsonRef::Null))) {
        let message = format!(
            "document of `{}` has the `_id` null: give it another",
            M::COLLECTION
        );
        return Err(Error::new(ErrorKind::Encode, message));
    }
    Ok(Doc::new(raw))
}

/// Returns a whole document with the time in place of each empty timestamp.
pub(super) fn stamped(document: Doc) -> Doc {
    store::stamped(&document).map_or(document, Doc::new)
}

/// Runs a query with its joins, all on one view.
pub(super) async fn find<T, J>(
    session: &Session,
    find: &Find,
    load: &[&'static str],
    joins: &J,
) -> Result<Vec<J::Row>>
where
    T: DeserializeOwned + Send,
    J: Joins<T>,
{
    let view = session.reader(&find.collection, load).await?;
    let read =
        |document: &RawDocument| Ok((decode(&find.collection, document)?, joins.keys(document)));
    let (rows, mut cost) = view.find_with(find, read).await?;
    let rows = joins.run(&*view, rows, &mut cost).await?;
    record_cost("find", &find.collection, cost);
    Ok(rows)
}

/// Reads one value of a document as a type.
pub(super) fn value<V: DeserializeOwned>(path: &str, value: RawBson) -> Result<V> {
    #[derive(serde::Deserialize)]
    struct Single<V> {
        v: V,
    }
    let mut single = RawDocumentBuf::new();
    single.append(bson::raw::cstr!("v"), value);
    let single: Single<V> = bson::deserialize_from_slice(single.as_bytes()).map_err(|error| {
        let message = format!("value of `{path}` cannot be read: {error}");
        Error::new(ErrorKind::Decode, message).with_source(error)
    })?;
    Ok(single.v)
}

/// Returns the document as it was stored, without decoding it if it was stored as it was sent.
pub(super) fn stored<M: Document>(
    document: M,
    sent: &RawDocument,
    stored: Option<&RawDocument>,
) -> Result<M> {
    match stored {
        Some(stored) if stored != sent => decode(M::COLLECTION, stored),
        _ => Ok(document),
    }
}
