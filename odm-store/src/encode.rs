//! Writing the documents that the library reads with [`decode`](super::decode()).

use bson::RawDocumentBuf;

/// Makes the document of a record.
///
/// The record writes to an erased serializer: with the one of `bson` the compiler would generate two kilobytes for each type of field.
#[doc(hidden)]
pub fn encode(record: &dyn erased_serde::Serialize) -> bson::error::Result<RawDocumentBuf> {
    bson::serialize_to_raw_document_buf(&record)
}
