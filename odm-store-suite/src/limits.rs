//! The limits of documents.

use bson::{Bson, RawDocumentBuf, doc, rawdoc};
use odm_store::{ErrorKind, Store};

use super::support::*;

const LARGEST: usize = 16 << 20;

/// A document of `bytes` bytes.
fn of_size(bytes: usize) -> RawDocumentBuf {
    let empty = rawdoc! { "_id": 1, "text": "" }.as_bytes().len();
    rawdoc! { "_id": 1, "text": "x".repeat(bytes - empty) }
}

/// A document with `levels` levels of documents and arrays, itself included.
fn of_depth(levels: usize) -> RawDocumentBuf {
    let inner = (1..levels).fold(Bson::Null, |inner, level| match level % 2 {
        0 => Bson::Array(vec![inner]),
        _ => doc! { "a": inner }.into(),
    });
    raw(doc! { "_id": 1, "a": inner })
}

async fn assert_refused(store: &impl Store, document: RawDocumentBuf, kind: ErrorKind) {
    let writes = [insert(doc! { "_id": 7 }), Write::Insert(document)];
    assert_fails(write(store, &writes).await, kind);
    assert_stored(store, []).await;
}

pub async fn a_document_of_16_mib_is_stored_and_a_larger_one_is_refused(store: impl Store) {
    assert_refused(&store, of_size(LARGEST + 1), ErrorKind::Limit).await;
    let largest = of_size(LARGEST);
    write(&store, &[Write::Insert(largest.clone())])
        .await
        .expect("the batch is applied");
    // By an update.
    let longer = update_of(doc! {}, doc! { "$set": { "b": 1 } });
    assert_fails(update(&store, &longer).await, ErrorKind::Limit);
    assert!(
        stored(&store).await == [largest],
        "the document is as it was"
    );
}

pub async fn a_document_of_180_levels_is_stored_and_a_deeper_one_is_refused(store: impl Store) {
    assert_refused(&store, of_depth(181), ErrorKind::Limit).await;
    let deepest = of_depth(180);
    write(&store, &[Write::Insert(deepest.clone())])
        .await
        .expect("the batch is applied");
    assert_eq!(stored(&store).await, [deepest]);
}

pub async fn a_document_without_a_valid_id_is_refused(store: impl Store) {
    let pattern = Bson::RegularExpression(bson::Regex {
        pattern: "a".try_into().expect("a pattern"),
        options: "".try_into().expect("options"),
    });
    for (invalid, code) in [
        (doc! { "_id": [1] }, 53),
        (doc! { "_id": Bson::Undefined }, 53),
        (doc! { "_id": pattern }, 53),
        (doc! { "_id": { "a": 1, "$b": 2 } }, 52),
        (doc! { "a": 1 }, 2),
    ] {
        let invalid = raw(invalid);
        let error = write(&store, &[Write::Insert(invalid.clone())]).await;
        assert_eq!(
            error.expect_err("it is refused").code(),
            Some(code),
            "{invalid:?}"
        );
        assert_refused(&store, invalid, ErrorKind::Encode).await;
    }
}

pub async fn a_malformed_document_is_refused(store: impl Store) {
    let mut bytes = rawdoc! { "_id": 1, "a": { "b": "text" } }.into_bytes();
    let text = bytes.windows(4).position(|bytes| bytes == b"text");
    // The length of the string is too large for the document that holds it.
    bytes[text.expect("the text is there") - 4] = 200;
    let malformed = RawDocumentBuf::from_bytes(bytes).expect("the outer document is sound");
    assert_refused(&store, malformed, ErrorKind::Encode).await;
}
