//! Updates of single fields.

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{self as mql, Test};
use odm_store::{Error, ErrorKind, Result, show};

use super::{PreparedWrite, WriteBuilder, prepared::impl_write_future, rows::decode};
use crate::{
    maintain::{
        NamedDocument, ReturnDocument, Write, WriteChange, WriteOutcome, WritePlan, WriteTarget,
    },
    model::{DateTime, Document, Versioned, to_raw},
    query::{ETag, Update},
    session::Session,
};

/// The target of an update: the document with an `_id`.
///
/// The type of an update that is made here and awaited there:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::repository::OneDocument;
///
/// fn sold(parts: &Repository<Part>, id: i64) -> Update<Part, OneDocument> {
///     parts.update(id).inc(Part::fields().qty, -1)
/// }
/// sold(&shop.parts, 1).await?;
/// assert_eq!(shop.parts.get(1).await?.qty, 89);
/// # Ok(()) });
/// ```
#[derive(Debug)]
pub struct OneDocument {
    session: Session,
    id: Result<RawBson>,
    /// The document must have one of these versions.
    versions: Option<Result<Vec<RawBson>>>,
}

impl OneDocument {
    pub(super) fn new(session: Session, id: Result<RawBson>) -> Self {
        OneDocument {
            session,
            id,
            versions: None,
        }
    }

    fn write<M: Document>(
        &self,
        update: Result<mql::Update>,
        is_typed: bool,
        returning: Option<ReturnDocument>,
    ) -> Result<Write> {
        let id = self.id.clone()?;
        let update = update.map_err(|error| located::<M>(error, Some(&id)));
        let mut condition = mql::Filter::default();
        if let (Some(path), Some(versions)) = (M::model().version, self.versions.clone()) {
            let test = match <[RawBson; 1]>::try_from(versions?) {
                Ok([version]) => Test::Eq(version),
                Err(versions) => Test::In(versions.into()),
            };
            condition = mql::Filter::Path(path.into(), test);
        }
        let target = WriteTarget::One { id, condition };
        write::<M>(&self.session, target, update, false, is_typed, returning)
    }
}

/// The target of an update: all documents that match a filter.
///
/// The type of an update that is made here and awaited there:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::repository::MatchingDocuments;
///
/// fn sale(parts: &Repository<Part>) -> Update<Part, MatchingDocuments> {
///     parts.update_where(Filter::all()).mul(Part::fields().price, 0.5)
/// }
/// assert_eq!(sale(&shop.parts).await?.modified, 3);
/// # Ok(()) });
/// ```
#[derive(Debug)]
pub struct MatchingDocuments {
    session: Session,
    filter: Result<mql::Filter>,
    upsert: bool,
}

impl MatchingDocuments {
    pub(super) fn new(session: Session, filter: Result<mql::Filter>) -> Self {
        MatchingDocuments {
            session,
            filter,
            upsert: false,
        }
    }
}

/// The result of an update of the documents that match a filter.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let part = Part::fields();
/// let result = shop.parts.update_where(part.qty.gt(80)).set(part.qty, 90).await?;
/// assert_eq!((result.matched, result.modified), (2, 1)); // one had 90 before
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateResult {
    /// The number of documents that matched.
    pub matched: u64,
    /// The number of documents that were changed.
    pub modified: u64,
    /// Whether a document was inserted, since none matched.
    pub inserted: bool,
}

impl<M> Update<M, MatchingDocuments> {
    /// Inserts a document if none matches, made of the fields that the filter fixes by equality and of
    /// the changes. The filter must fix the `_id`. An update whose document could not be read as an
    /// `M` is an error, whether or not a document matches.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let rivet = Update::new().set(part.name, "rivet").set(part.price, 0.1).set(part.tags, Vec::<String>::new());
    /// let result = shop.parts.update_where(part.id.eq(4)).with(rivet).inc(part.qty, 50).upsert().await?;
    /// assert!(result.inserted);
    /// # Ok(()) });
    /// ```
    pub fn upsert(mut self) -> Self {
        self.target.upsert = true;
        self
    }
}

impl<M: Document> Update<M, OneDocument> {
    /// Updates the document only if it has this version, which its reader has seen, as by the `If-Match` of a request.
    ///
    /// # Errors
    ///
    /// [`Stale`](ErrorKind::Stale) if it has another one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let lamp = shop.products.get(2).await?;
    /// let price = Product::fields().price.value;
    /// shop.products.update(2).set(price, 21.0).if_version(lamp.version).await?;
    ///
    /// let late = shop.products.update(2).set(price, 18.0).if_version(lamp.version).await;
    /// assert!(late.unwrap_err().is_stale());
    /// # Ok(()) });
    /// ```
    pub fn if_version(mut self, version: M::Version) -> Self
    where
        M: Versioned,
    {
        self.target.versions = Some(to_raw(&version).map(|version| vec![version]));
        self
    }

    /// Updates the document only if it has the version of an [`ETag`] that its reader has seen: by the header `If-Match` of a
    /// request, which is a list of tags, or
    /// `*`. The rest of the tag is not compared, so that a change of derived data refuses no update. A weak tag (`W/`) never matches, by
    /// section 13.1.1 of RFC 9110.
    ///
    /// # Errors
    ///
    /// [`Stale`](ErrorKind::Stale) if it has another one, or the header has no tag of this document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::ETag;
    ///
    /// let seen = ETag::of(&shop.products.get(2).await?)?.to_string();
    /// let price = Product::fields().price.value;
    /// shop.products.update(2).set(price, 21.0).if_match(&seen).await?;
    ///
    /// let late = shop.products.update(2).set(price, 18.0).if_match(&seen).await;
    /// assert!(late.unwrap_err().is_stale());
    /// # Ok(()) });
    /// ```
    pub fn if_match(mut self, header: impl AsRef<[u8]>) -> Self
    where
        M: Versioned,
    {
        let id = self.target.id.as_ref();
        let versions = id.map(|id| ETag::versions::<M>(header.as_ref(), id));
        self.target.versions = versions.map_err(Error::clone).transpose();
        self
    }

    /// The write of one document, whose result `finish` reads.
    pub(super) fn prepared<T: Send + 'static>(
        self,
        returning: Option<ReturnDocument>,
        finish: impl FnOnce(WriteOutcome) -> Result<T> + Send + 'static,
    ) -> Result<PreparedWrite<T>> {
        self.check_given()?;
        let is_typed = self.is_typed();
        let (update, target) = self.into_parts();
        let write = target.write::<M>(update, is_typed, returning)?;
        let named = NamedDocument {
            collection: M::COLLECTION,
            id: target.id?,
            has_version: target.versions.is_some(),
        };
        Ok(PreparedWrite::new(target.session, write, finish).of_one(named))
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A review moves to another product: the lists and counts of both follow.
    /// let plan = shop.reviews.update(4).set(Review::fields().product, Ref::new(3)).plan().await?;
    /// let products = plan.collections.iter().find(|planned| planned.collection == "products").unwrap();
    /// assert_eq!(products.changed, 2);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl<M: Document> Update<M, MatchingDocuments> {
    /// Accepts an upsert without a change: it inserts the fields that the filter fixes.
    fn check_matching(&self) -> Result<()> {
        match self.target.upsert {
            true => Ok(()),
            false => self.check_given(),
        }
    }

    /// The write of all matching documents, whose result `finish` reads.
    pub(super) fn prepared<T: Send + 'static>(
        self,
        returning: Option<ReturnDocument>,
        finish: impl FnOnce(WriteOutcome) -> Result<T> + Send + 'static,
    ) -> Result<PreparedWrite<T>> {
        self.check_matching()?;
        let is_typed = self.is_typed();
        let (update, many) = self.into_parts();
        let MatchingDocuments {
            session,
            filter,
            upsert,
        } = many;
        let target = WriteTarget::Matching(filter?);
        let write = write::<M>(&session, target, update, upsert, is_typed, returning)?;
        Ok(PreparedWrite::new(session, write, finish))
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let plan = shop.parts.update_where(part.qty.lt(100)).set(part.note, "count again").plan().await?;
    /// assert_eq!(plan.collections[0].changed, 2);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

fn write<M: Document>(
    session: &Session,
    target: WriteTarget,
    update: Result<mql::Update>,
    upsert: bool,
    is_typed: bool,
    returning: Option<ReturnDocument>,
) -> Result<Write> {
    let change = update.map_err(|error| located::<M>(error, None))?;
    change.check()?;
    if let WriteTarget::Matching(filter) = &target
        && upsert
    {
        let derived = !session.catalog().read_only_in(M::COLLECTION).is_empty();
        check_insertable::<M>(filter, &change, derived)?;
    }
    Ok(Write::Update {
        collection: M::COLLECTION.to_owned(),
        target,
        change: WriteChange::Update(change),
        upsert,
        check_inserted: is_whole::<M>,
        is_typed,
        returning,
        rights: None,
        bypasses_rule: false,
    })
}

/// Adds the document to the error of a value that cannot be stored, which names only its path.
fn located<M: Document>(error: Error, id: Option<&RawBson>) -> Error {
    let path = match error.location() {
        Some(location) if location.collection.is_empty() => location.path.clone(),
        _ => return error,
    };
    let named = id.map(|id| format!(" with `_id` = {}", show(id)));
    let named = named.unwrap_or_default();
    let message = format!("update of `{}`{named}: {error}", M::COLLECTION);
    Error::new(error.kind(), message)
        .at(M::COLLECTION, path.as_deref(), id.cloned())
        .with_source(error)
}

/// Checks that the document of an upsert can be read as the model.
fn is_whole<M: Document>(inserted: &RawDocument) -> Result<()> {
    let read = decode::<M>(M::COLLECTION, inserted);
    read.map(drop).map_err(|error| {
        let message = format!("upsert would insert an incomplete document: {error}");
        Error::new(ErrorKind::InvalidQuery, message).with_source(error)
    })
}

/// Checks that the document that an upsert would insert can be read as the model, whether or not a
/// document matches. A document with derived fields is checked when these are computed.
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
                "upsert of `{}` has no `_id`: fix it in the filter by equality",
                M::COLLECTION
            ),
        ));
    }
    let malformed = |error: bson::error::Error| {
        Error::new(ErrorKind::Encode, "filter is not well-formed BSON").with_source(error)
    };
    let model = M::model();
    let recorded = [model.version, model.created_at, model.updated_at];
    for path in recorded.into_iter().flatten() {
        if seed.contains_key(path) {
            let message = format!(
                "upsert fixes `{path}`, which is set automatically: remove it from the filter"
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        match model.version == Some(path) {
            true => seed.insert(path, 1_i64),
            false => seed.insert(path, bson::DateTime::from(DateTime::now())),
        };
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

impl<M: Document> WriteBuilder for Update<M, OneDocument> {
    type Returned = ();

    fn prepare(self) -> Result<PreparedWrite<()>> {
        self.prepared(None, |_| Ok(()))
    }
}

impl<M: Document> WriteBuilder for Update<M, MatchingDocuments> {
    type Returned = UpdateResult;

    fn prepare(self) -> Result<PreparedWrite<UpdateResult>> {
        self.prepared(None, |outcome| {
            Ok(UpdateResult {
                matched: outcome.matched,
                modified: outcome.modified,
                inserted: outcome.inserted,
            })
        })
    }
}

impl_write_future!(Update<M, OneDocument>, Update<M, MatchingDocuments>);
