//! Whole documents in the place of others.

use std::future::IntoFuture;

use bson::{RawBson, RawDocumentBuf};

use super::{
    Deferred,
    rows::{decode, encode, stored},
};
use crate::{
    error::{Error, Result},
    maintain::{Plan, Write},
    model::{Document, to_raw},
    session::Session,
    store::{ReaderExt, TransactionOptions},
    trace::record_cost,
};

/// Replaces a document. Made by [`Repository::replace`](super::Repository::replace) and
/// [`Repository::upsert`](super::Repository::upsert).
#[must_use = "a write does nothing until it is awaited"]
pub struct Replace<M> {
    session: Session,
    document: M,
    upsert: bool,
}

impl<M: Document> Replace<M> {
    pub(super) fn new(session: Session, document: M, upsert: bool) -> Self {
        Replace {
            session,
            document,
            upsert,
        }
    }

    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        let write = encode(&self.document).and_then(|sent| self.write(sent));
        self.session.plan(write).await
    }

    fn write(&self, document: RawDocumentBuf) -> Result<Write> {
        Ok(Write::Replace {
            collection: M::COLLECTION.to_owned(),
            id: to_raw(self.document.id())?,
            document,
            upsert: self.upsert,
        })
    }
}

impl<M: Document> IntoFuture for Replace<M> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let sent = encode(&self.document)?;
            let outcome = self.session.write(self.write(sent.clone())?).await?;
            let after = outcome
                .effects
                .first()
                .and_then(|effect| effect.after.as_deref());
            stored(self.document, &sent, after)
        })
    }
}

/// How often a document is read again after others changed it, before they are kept out.
const ATTEMPTS: usize = 8;

/// Reads, changes and writes a document; see [`Repository::modify`](super::Repository::modify).
pub(super) async fn modify<M: Document>(
    session: Session,
    id: Result<RawBson>,
    mut change: impl FnMut(&mut M) + Send,
) -> Result<M> {
    let id = id?;
    for _ in 0..ATTEMPTS {
        match attempt(&session, &id, &mut change).await {
            Err(error) if error.is_stale() => {}
            result => return result,
        }
    }
    if session.is_bound() {
        return attempt(&session, &id, &mut change).await;
    }
    // Others are faster again and again. In a transaction, nobody is.
    let options = TransactionOptions::default().durability(session.durability());
    let (alone, transaction) = session.begin(options).await?;
    let document = attempt(&alone, &id, &mut change).await?;
    transaction.commit().await?;
    Ok(document)
}

async fn attempt<M: Document>(
    session: &Session,
    id: &RawBson,
    change: &mut (impl FnMut(&mut M) + Send),
) -> Result<M> {
    let read = read(session, M::COLLECTION, id).await?;
    let mut document: M = decode(M::COLLECTION, &read)?;
    let from = encode(&document)?;
    change(&mut document);
    let to = encode(&document)?;
    let write = Write::Modify {
        collection: M::COLLECTION.to_owned(),
        id: id.clone(),
        read,
        from: from.clone(),
        to: to.clone(),
    };
    let outcome = session.write(write).await?;
    match outcome
        .effects
        .first()
        .and_then(|effect| effect.after.as_deref())
    {
        Some(after) => stored(document, &to, Some(after)),
        // Nothing is different but what the library keeps.
        None => stored(document, &to, Some(&from)),
    }
}

async fn read(session: &Session, collection: &str, id: &RawBson) -> Result<RawDocumentBuf> {
    let view = session.reader(collection, &[]).await?;
    let (found, cost) = view.get_one(collection, id).await?;
    record_cost("get", collection, cost);
    found.ok_or_else(|| Error::not_found(collection, &[id]))
}
