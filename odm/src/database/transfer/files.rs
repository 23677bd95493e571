//! The import of files of other programs: of mongoexport, and of mongodump.

mod bson;
mod json;

use std::{fmt, future::IntoFuture, io::Cursor};

use ::bson::RawDocumentBuf;
use futures_core::future::BoxFuture;
use odm_store::{Error, ErrorKind, Result};
use tokio::io::{AsyncBufRead, AsyncReadExt};

use self::{bson::BsonFile, json::JsonFile};
use super::{
    OnTransferProgress, TransferProgress,
    import::Importer,
    input_position::{At, InputPosition},
    order::in_order,
    scope::{TransferScope, TransferredCollection, unknown},
};
use crate::{
    maintain::{Doc, ImportOrigin, Imported},
    model::Document,
    session::Session,
};

type Reader<'r> = Box<dyn AsyncBufRead + Unpin + Send + 'r>;

/// An import of files of other programs, from [`Database::import_files`](crate::Database::import_files). Awaiting it stores
/// the documents, and returns their number.
///
/// The files come from mongoexport, as lines or as a list, or from mongodump, which writes a file of BSON for each collection.
/// [`file`](ImportFiles::file) adds a file, which is read once from its beginning to its end, and not held in memory. Extended JSON is read
/// in its canonical and its relaxed form, and in the form of older versions of mongoexport. A number without a type is the first of `i32`,
/// `i64` and `f64` that can represent it. An object with a duplicate name is refused.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = r#"{"_id":4,"name":"rivet","qty":{"$numberLong":"1"},"price":0.1,"tags":[]}"#;
/// let reviews = r#"[{"_id":9,"product":1,"stars":4,"text":"Good","published":{"$date":1773014400000}}]"#;
/// let number = shop
///     .import_files()
///     .file::<Part>(parts.as_bytes())
///     .file_into("reviews", reviews.as_bytes())
///     .await?;
/// assert_eq!(number, 2);
/// assert_eq!(shop.products.get(1).await?.review_count, 4); // computed anew
/// # Ok(()) });
/// ```
///
/// # What is stored
///
/// Documents are stored as by an
/// [`import`](crate::Database::import), with consistent data after each unit: validated, with their references checked, and all derived
/// fields recomputed, regardless of their values in the file. A document may refer to documents of all files, in any order, and to stored
/// documents. Copies with `freeze`, versions and the times of `#[created_at]` and `#[updated_at]` are kept. If a document lacks them, the
/// frozen copy is made, the version is 1, and the times stay absent: their fields have to be an `Option`, or have a default. Fields that
/// the model does not know are stored as by a [raw insert](crate::repository::RawRepository::insert). A sequence of `#[id(sequence)]` goes
/// on after the greatest `_id`. A document is whole, with its cold parts in place.
///
/// After an error, or when the future is dropped, the units before it stay, and an `_id` that is taken is an error: so begin
/// again in a new store, or import within a [`transaction`](crate::Database::transaction), which stores all or nothing, if the documents
/// are few enough for it.
///
/// # Errors
///
/// Each names the line of the document, with the column if several begin on that line, or in BSON the offset of its first byte, and the
/// number of the file if there are several.
/// `InvalidImport` for invalid extended JSON or BSON, for a duplicate name, for a file of another kind, and for a collection without a
/// model in the database; `DuplicateKey`, `DanglingReference`, `Invalid` and other errors of an insert; `Decode` for a document that its
/// model cannot read; `Limit` for too many documents that refer to each other, or if more than 256 MiB of documents come before documents
/// that they refer to; `Io` if a reader fails.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = "{\"_id\":4,\"name\":\"rivet\",\"qty\":1,\"price\":0.1,\"tags\":[]}\n{\"_id\":5,";
/// let error = shop.import_files().file::<Part>(parts.as_bytes()).await.unwrap_err();
/// assert_eq!(error.kind(), odm::ErrorKind::InvalidImport);
/// assert!(error.to_string().starts_with("line 2: the document is no extended JSON"));
/// # Ok(()) });
/// ```
#[must_use = "an import does nothing until it is awaited"]
pub struct ImportFiles<'r> {
    session: Session,
    scope: TransferScope,
    files: Vec<(String, Reader<'r>)>,
    on_progress: Box<OnTransferProgress>,
}

impl<'r> ImportFiles<'r> {
    pub(crate) fn new(session: &Session, scope: TransferScope) -> Self {
        ImportFiles {
            session: session.clone(),
            scope,
            files: Vec::new(),
            on_progress: Box::new(|_| {}),
        }
    }

    /// Adds a file of documents of a model. Its first bytes tell whether it is JSON or BSON.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A file of mongodump, with one document.
    /// let dump = odm::bson::rawdoc! { "_id": 4_i64, "name": "rivet", "qty": 1_i64, "price": 0.1, "tags": [] };
    /// shop.import_files().file::<Part>(dump.as_bytes()).await?;
    /// assert_eq!(shop.parts.get(4).await?.name, "rivet");
    /// # Ok(()) });
    /// ```
    pub fn file<M: Document>(self, reader: impl AsyncBufRead + Unpin + Send + 'r) -> Self {
        self.file_into(M::COLLECTION, reader)
    }

    /// Adds a file of documents of the model that is stored in a collection: for names that are known at run time alone, such as names of
    /// files.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = r#"{"_id":4,"name":"rivet","qty":1,"price":0.1,"tags":[]}"#;
    /// shop.import_files().file_into("parts", parts.as_bytes()).await?;
    /// let error = shop.import_files().file_into("bolts", parts.as_bytes()).await.unwrap_err();
    /// assert_eq!(error.kind(), odm::ErrorKind::InvalidImport); // no model is stored there
    /// # Ok(()) });
    /// ```
    pub fn file_into(
        mut self,
        collection: &str,
        reader: impl AsyncBufRead + Unpin + Send + 'r,
    ) -> Self {
        self.files.push((collection.to_owned(), Box::new(reader)));
        self
    }

    /// Calls a function after each unit that is stored. The number of documents is not known before the end; the
    /// [`bytes`](TransferProgress::bytes) that were read can be compared with the sizes of the files.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let parts = r#"{"_id":4,"name":"rivet","qty":1,"price":0.1,"tags":[]}"#;
    /// let report = |progress: odm::TransferProgress| println!("{} bytes", progress.bytes);
    /// shop.import_files().file::<Part>(parts.as_bytes()).on_progress(report).await?;
    /// # Ok(()) });
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(TransferProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<u64> {
        // Databases may have been declared since the last operation.
        self.session.follow_catalog().await?;
        let catalog = self.session.catalog();
        let has_several = self.files.len() > 1;
        for (at, (name, _)) in self.files.iter().enumerate() {
            if let Err(why) = self.scope.check_collection(name, &catalog) {
                let error = unknown(why);
                return Err(match has_several {
                    true => error.met_in(&format!("file {}", at + 1)),
                    false => error,
                });
            }
        }
        // Files can be of collections that are not there yet.
        let mut collections = self.scope.collections(&self.session, &catalog).await?;
        for (name, _) in &self.files {
            if !collections.iter().any(|of| of.name == *name) {
                collections.push(TransferredCollection {
                    name: name.clone(),
                    cold: Vec::new(),
                });
            }
        }
        let order = in_order(&collections, &catalog);
        let mut files = Vec::new();
        for (at, (name, reader)) in self.files.into_iter().enumerate() {
            let file = has_several.then_some(at + 1);
            let rank = order
                .iter()
                .position(|of| of.name == name)
                .unwrap_or_default();
            files.push((rank, file, reader));
        }
        // In this order fewer documents wait for documents that they refer to.
        files.sort_by_key(|(rank, ..)| *rank);
        let mut importer = Importer::new(self.session, ImportOrigin::Other, self.on_progress);
        let mut read = 0;
        for (rank, file, reader) in files {
            let mut documents = Documents::open(file, reader).await?;
            while let Some((place, document)) = documents.next().await? {
                importer.progress.bytes = read + documents.read();
                let imported = Imported {
                    collection: order[rank].name.clone(),
                    document: Doc::new(document),
                    parts: Vec::new(),
                };
                importer.add(place, imported).await?;
            }
            read += documents.read();
            importer.progress.bytes = read;
        }
        importer.end().await?;
        Ok(importer.progress.documents)
    }
}

impl<'r> IntoFuture for ImportFiles<'r> {
    type Output = Result<u64>;
    type IntoFuture = BoxFuture<'r, Result<u64>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for ImportFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportFiles").finish_non_exhaustive()
    }
}

/// The documents of a file as they are read.
enum Documents<'r> {
    Json(JsonFile<'r>),
    Bson(BsonFile<'r>),
}

impl<'r> Documents<'r> {
    async fn open(file: Option<usize>, mut reader: Reader<'r>) -> Result<Self> {
        let mut head = Vec::new();
        let mut first = (&mut reader).take(HEAD);
        first.read_to_end(&mut head).await.map_err(unreadable)?;
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        let is_bson = is_bson(&head).map_err(|why| {
            let place = InputPosition {
                file,
                at: At::Offset(0),
            };
            Error::new(ErrorKind::InvalidImport, format!("{place}: {why}"))
        })?;
        let reader = Box::new(Cursor::new(head).chain(reader));
        Ok(if is_bson {
            Documents::Bson(BsonFile::new(reader, file))
        } else {
            Documents::Json(JsonFile::new(reader, file))
        })
    }

    async fn next(&mut self) -> Result<Option<(InputPosition, RawDocumentBuf)>> {
        match self {
            Documents::Json(json) => json.next().await,
            Documents::Bson(bson) => bson.next().await,
        }
    }

    /// How many bytes were read.
    fn read(&self) -> u64 {
        match self {
            Documents::Json(json) => json.read(),
            Documents::Bson(bson) => bson.read(),
        }
    }
}

/// The mark that some programs put before a text in UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The number of bytes that tell the kind of a file.
const HEAD: u64 = 16;

/// Whether a file that begins with these bytes is of BSON, and not of JSON.
fn is_bson(head: &[u8]) -> Result<bool, &'static str> {
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
    match head {
        [0x1f, 0x8b, ..] => {
            Err("the file is compressed by gzip: decompress it before, or pass a reader that does")
        }
        [0x6d, 0xe2, 0x99, 0x81, ..] => Err(
            "the file is an archive of mongodump: make a file for each collection, without `--archive`",
        ),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(UTF_16),
        [one, 0, two, 0, three, 0, ..] | [0, one, 0, two, 0, three, ..]
            if [one, two, three].into_iter().all(is_text) =>
        {
            Err(UTF_16)
        }
        // A file of BSON begins with the length of a document, which has a byte that occurs in no text.
        head => Ok(head.iter().any(|byte| *byte < b' ' && !is_text(byte))),
    }
}

const UTF_16: &str = "the file is text in UTF-16: write it in UTF-8";

pub(super) fn unreadable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read the import: {error}")).with_source(error)
}
