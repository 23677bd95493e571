//! Changes of single fields.

use std::future::IntoFuture;

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{Deferred, by_id, rows::decode};
use crate::{
    error::{Error, ErrorKind, Result},
    maintain::{Plan, Write},
    model::{DateTime, Document},
    mql,
    query::Update,
    session::Session,
    store::{Change, UpdateWrite},
};

/// The target of an update: the document with an `_id`.
pub struct One {
    session: Session,
    id: Result<RawBson>,
}

impl One {
    pub(super) fn new(session: Session, id: Result<RawBson>) -> Self {
        One { session, id }
    }
}

/// The target of an update: all documents that match a filter.
pub struct Many {
    session: Session,
    filter: Result<mql::Filter>,
    upsert: bool,
}

impl Many {
    pub(super) fn new(session: Session, filter: Result<mql::Filter>) -> Self {
        Many {
            session,
            filter,
            upsert: false,
        }
    }
}

/// What an update of the documents that match a filter did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Updated {
    /// How many documents matched.
    pub matched: u64,
    /// How many of them are different now.
    pub modified: u64,
    /// Whether a document was inserted, as none matched.
    pub inserted: bool,
}

impl<M> Update<M, Many> {
    /// Where no document matches, inserts one: of what the filter fixes by equality, and the
    /// changes. An update that could not make a whole `M` of these is an error, whether or not a
    /// document matches.
    pub fn upsert(mut self) -> Self {
        self.target.upsert = true;
        self
    }
}

impl<M: Document> Update<M, One> {
    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        let (update, One { session, id }) = self.into_parts();
        let id = id?;
        let write = write::<M>(&session, by_id(id.clone()), update?, false, false);
        let plan = session.plan(write).await?;
        if plan.matched == 0 {
            return Err(Error::not_found(M::COLLECTION, &[&id]));
        }
        Ok(plan)
    }
}

impl<M: Document> Update<M, Many> {
    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        let (update, many) = self.into_parts();
        let write = many
            .filter
            .and_then(|filter| write::<M>(&many.session, filter, update?, true, many.upsert));
        many.session.plan(write).await
    }
}

fn write<M: Document>(
    session: &Session,
    filter: mql::Filter,
    update: mql::Update,
    multi: bool,
    upsert: bool,
) -> Result<Write> {
    update.check()?;
    if upsert {
        let derived = !session.catalog().kept_in(M::COLLECTION).is_empty();
        check_insertable::<M>(&filter, &update, derived)?;
    }
    let write = UpdateWrite {
        collection: M::COLLECTION.to_owned(),
        filter,
        sort: mql::Sort::default(),
        change: Change::Update(update),
        multi,
        upsert,
    };
    let whole = is_whole::<M>;
    Ok(Write::Update { write, whole })
}

/// What an upsert inserts must be readable as the model.
fn is_whole<M: Document>(inserted: &RawDocument) -> Result<()> {
    let read = decode::<M>(M::COLLECTION, inserted);
    read.map(drop).map_err(|error| {
        let message = format!("the upsert could not insert a whole document: {error}");
        Error::new(ErrorKind::InvalidQuery, message).with_source(error)
    })
}

/// What an upsert would insert must be readable as the model, whether or not a document matches. What
/// is derived in it is only known when it is there.
fn check_insertable<M: Document>(
    filter: &mql::Filter,
    update: &mql::Update,
    derived: bool,
) -> Result<()> {
    let mut seed = filter.upsert_seed()?;
    if !matches!(seed.get("_id"), Some(id) if *id != bson::Bson::Null) {
        return Err(Error::new(
            ErrorKind::InvalidQuery,
            format!(
                "an upsert of `{}` must fix the `_id` in its filter",
                M::COLLECTION
            ),
        ));
    }
    let malformed = |error: bson::error::Error| {
        Error::new(ErrorKind::Encode, "a filter is not well-formed BSON").with_source(error)
    };
    if let Some(version) = M::model().version {
        if seed.contains_key(version) {
            let message = format!("an upsert cannot fix `{version}`, which counts by itself");
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        seed.insert(version, 1_i64);
    }
    let seed = RawDocumentBuf::try_from(&seed).map_err(malformed)?;
    let made = update
        .apply(&seed, true, DateTime::now().into())?
        .unwrap_or(seed);
    match derived {
        true => Ok(()),
        false => is_whole::<M>(&made),
    }
}

impl<M: Document> IntoFuture for Update<M, One> {
    type Output = Result<()>;
    type IntoFuture = Deferred<()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (update, One { session, id }) = self.into_parts();
            let id = id?;
            let outcome = session
                .write(write::<M>(
                    &session,
                    by_id(id.clone()),
                    update?,
                    false,
                    false,
                )?)
                .await?;
            if outcome.matched == 0 {
                return Err(Error::not_found(M::COLLECTION, &[&id]));
            }
            Ok(())
        })
    }
}

impl<M: Document> IntoFuture for Update<M, Many> {
    type Output = Result<Updated>;
    type IntoFuture = Deferred<Updated>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (
                update,
                Many {
                    session,
                    filter,
                    upsert,
                },
            ) = self.into_parts();
            let outcome = session
                .write(write::<M>(&session, filter?, update?, true, upsert)?)
                .await?;
            let inserted = outcome.effects.iter().any(|effect| effect.before.is_none());
            Ok(Updated {
                matched: outcome.matched,
                modified: outcome.effects.len() as u64 - u64::from(inserted),
                inserted,
            })
        })
    }
}
