//! Writes by the typed repositories of the models.

use futures_util::future::{BoxFuture, FutureExt};
use odm::{
    ErrorKind, Ref, Repository, Result,
    bson::{self, Bson, RawDocumentBuf},
    derive::Model,
    model,
};

use crate::history::{Change, Form};

/// A repository of any model.
pub(crate) trait Writer: Send + Sync {
    /// The model.
    fn model(&self) -> &'static Model;

    /// Carries out a change, and returns whether its document was there.
    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool>>;
}

impl<M: model::Document> Writer for Repository<M> {
    fn model(&self) -> &'static Model {
        M::model()
    }

    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool>> {
        let raw = self.raw();
        async move {
            match change {
                Change::Insert(form) => match typed::<M>(form) {
                    Some(value) => self.insert(value).await.map(|_| true),
                    None => raw.insert(bytes(form)).await.map(|_| true),
                },
                Change::Replace(form) => found(match typed::<M>(form) {
                    Some(value) => self.replace(value).await.map(drop),
                    None => raw.replace(bytes(form)).await.map(drop),
                }),
                Change::Upsert(form) => match typed::<M>(form) {
                    Some(value) => self.upsert(value).await.map(|_| true),
                    None => raw.upsert(bytes(form)).await.map(|_| true),
                },
                Change::Update(id, update) => {
                    let update = self.update(key::<M>(id)).raw(update.clone());
                    found(update.await.map(drop))
                }
                Change::Delete(id) => self.delete(key::<M>(id)).await,
            }
        }
        .boxed()
    }
}

/// The value of the model that is stored as this document, if there is one.
fn typed<M: model::Document>(form: &Form) -> Option<M> {
    let value: M = bson::deserialize_from_document(form.whole.clone()).ok()?;
    let stored = bson::serialize_to_document(&value).ok()?;
    (stored == form.whole).then_some(value)
}

fn bytes(form: &Form) -> RawDocumentBuf {
    RawDocumentBuf::try_from(&form.sent).expect("it is BSON")
}

fn key<M: model::Document>(id: &Bson) -> Ref<M> {
    bson::deserialize_from_bson(id.clone()).expect("it has the type of the model's ids")
}

/// Whether a document was there that was to be changed.
fn found(result: Result<()>) -> Result<bool> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        result => result.map(|()| true),
    }
}

/// The outcome of a change as a client tells it: `done`, `missing`, or the code of an error. The second text is the end of its message.
pub(crate) fn outcome(result: Result<bool>) -> (String, String) {
    /// MongoDB's code of a request that is refused for a reason of the models alone.
    const BAD_VALUE: i32 = 2;
    /// Its code of a document that does not conform.
    const DOCUMENT_VALIDATION_FAILURE: i32 = 121;
    match result {
        Ok(true) => ("done".to_owned(), String::new()),
        Ok(false) => ("missing".to_owned(), String::new()),
        // A repository says as which type it cannot be read.
        Err(error) if error.kind() == ErrorKind::Decode => {
            let message = error.to_string();
            let why = message.split_once("`: ").map_or("", |(_, why)| why);
            (DOCUMENT_VALIDATION_FAILURE.to_string(), why.to_owned())
        }
        Err(error) => {
            let code = error.code().unwrap_or(BAD_VALUE);
            (code.to_string(), error.to_string())
        }
    }
}
