//! The error type of the library.

mod kind;

pub use kind::ErrorKind;

use std::{borrow::Cow, error::Error as StdError, fmt, sync::Arc};

use bson::{RawBson, RawBsonRef, RawDocument};

use odm_mql::{self as mql, Violation};

/// The result of an operation of this library.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// // The body of a function that returns an `odm::Result`.
/// async fn price(shop: &Shop, name: &str) -> odm::Result<f64> {
///     Ok(shop.parts.find(Part::fields().name.eq(name)).one().await?.price)
/// }
/// assert_eq!(price(&shop, "nut").await?, 0.05);
/// # Ok(()) });
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an operation: its class, a message, and the document, field or index that it is about.
///
/// The type is opaque, so that it can grow. [`kind`](Error::kind) and predicates such as
/// [`is_not_found`](Error::is_not_found) classify it, `Display` shows it, and
/// [`source`](StdError::source) returns its cause. Cloning is cheap: several calls may have failed for
/// one reason.
///
/// The author of a [`Store`](crate::Store) makes errors by [`new`](Error::new):
///
/// ```
/// use odm::{Error, ErrorKind, bson::RawBson};
///
/// let error = Error::new(ErrorKind::DuplicateKey, "duplicate `_id`: `parts` has 7 already")
///     .at("parts", Some("_id"), Some(RawBson::Int32(7)));
/// assert!(error.is_duplicate_key());
/// assert_eq!(error.location().unwrap().collection, "parts");
///
/// let conflict = std::io::Error::other("write conflict");
/// let error = Error::new(ErrorKind::TransactionExpired, "transaction lost: run it again")
///     .with_source(conflict)
///     .retryable();
/// assert!(error.is_retryable());
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorInner>);

#[derive(Clone)]
struct ErrorInner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    retryable: bool,
    location: Option<Location>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
    violations: Vec<Violation>,
    /// MongoDB's code, if it does not follow from the kind or the source.
    code: Option<i32>,
    /// The store has ended the transaction that the operation was in.
    ends_transaction: bool,
}

/// The document, field or index that an error is about.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let error = shop.parts.get(99).await.unwrap_err();
/// let location = error.location().unwrap();
/// assert_eq!((location.collection.as_str(), location.id.clone()), ("parts", Some(bson::RawBson::Int64(99))));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Location {
    /// The collection.
    pub collection: String,
    /// The path of the field, or, for a key of several fields, all paths, with commas between them.
    pub path: Option<String>,
    /// The `_id` of the document, or the value of the field.
    pub id: Option<RawBson>,
    /// The name of the index whose key is taken.
    pub index: Option<String>,
}

impl Error {
    /// Makes an error of a class, with a message that starts with the noun that failed, in lower case,
    /// and ends with what to do.
    ///
    /// Errors of the kinds [`TransactionExpired`](ErrorKind::TransactionExpired) and
    /// [`Migrating`](ErrorKind::Migrating) are [retryable](Error::retryable); others are not.
    ///
    /// ```
    /// use odm::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::Invalid, "price of a part: it is negative, let it be 0 or more");
    /// assert!(error.is_invalid() && !error.is_retryable());
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Arc::new(ErrorInner {
            kind,
            message: message.into(),
            retryable: matches!(kind, ErrorKind::TransactionExpired | ErrorKind::Migrating),
            location: None,
            source: None,
            violations: Vec::new(),
            code: None,
            ends_transaction: false,
        }))
    }

    /// Sets the cause.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use odm::{Error, ErrorKind};
    ///
    /// let cause = std::io::Error::other("no space left");
    /// let error = Error::new(ErrorKind::Io, "cannot write the report").with_source(cause);
    /// assert_eq!(error.source().unwrap().to_string(), "no space left");
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let source: Box<dyn StdError + Send + Sync> = source.into();
        Arc::make_mut(&mut self.0).source = Some(source.into());
        self
    }

    /// Sets the location: the collection, the path of the field, and the `_id` of the document or the value of
    /// the field.
    ///
    /// ```
    /// use odm::{Error, ErrorKind, bson::RawBson};
    ///
    /// let error = Error::new(ErrorKind::NotFound, "no part 7").at("parts", None, Some(RawBson::Int64(7)));
    /// assert_eq!(error.location().unwrap().collection, "parts");
    /// ```
    #[must_use]
    pub fn at(mut self, collection: &str, path: Option<&str>, id: Option<RawBson>) -> Self {
        Arc::make_mut(&mut self.0).location = Some(Location {
            collection: collection.to_owned(),
            path: path.map(str::to_owned),
            id,
            index: None,
        });
        self
    }

    /// Adds to the location the name of the index whose key is taken.
    ///
    /// ```
    /// use odm::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::DuplicateKey, "`bolt` is taken").at("parts", Some("name"), None).of_index("name_1");
    /// assert_eq!(error.location().unwrap().index.as_deref(), Some("name_1"));
    /// ```
    #[must_use]
    pub fn of_index(mut self, name: &str) -> Self {
        if let Some(location) = &mut Arc::make_mut(&mut self.0).location {
            location.index = Some(name.to_owned());
        }
        self
    }

    /// Says before the message where the error was met.
    #[must_use]
    #[doc(hidden)]
    pub fn met_in(mut self, place: &str) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.message = format!("{place}: {}", inner.message).into();
        self
    }

    /// Removes the prefix of the names of collections.
    #[must_use]
    #[doc(hidden)]
    pub fn without_prefix(mut self, prefix: &str) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.message = inner.message.replace(prefix, "").into();
        if let Some(location) = &mut inner.location {
            location.collection = location.collection.replace(prefix, "");
        }
        self
    }

    /// Sets the rules that the document violates.
    #[must_use]
    #[doc(hidden)]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        Arc::make_mut(&mut self.0).violations = violations;
        self
    }

    /// Marks the error as one after which the same call may succeed if it is made again, such as a
    /// lost write conflict. A transaction runs its closure again
    /// after such an error, but not after one of the kind [`Unavailable`](ErrorKind::Unavailable).
    ///
    /// ```
    /// use odm::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::Unavailable, "the server is away: try again").retryable();
    /// assert!(error.is_retryable());
    /// ```
    #[must_use]
    pub fn retryable(mut self) -> Self {
        Arc::make_mut(&mut self.0).retryable = true;
        self
    }

    /// Marks that the error ends the transaction of the operation, if there is one.
    #[doc(hidden)]
    pub fn ending_transaction(mut self) -> Self {
        Arc::make_mut(&mut self.0).ends_transaction = true;
        self
    }

    #[doc(hidden)]
    pub fn ends_transaction(&self) -> bool {
        self.0.ends_transaction || self.is_retryable()
    }

    /// Marks the error as one after which the same call will fail again.
    #[doc(hidden)]
    pub fn not_retryable(mut self) -> Self {
        Arc::make_mut(&mut self.0).retryable = false;
        self
    }

    /// Makes the error of an `_id` that another document has.
    ///
    /// ```
    /// use odm::{Error, bson::RawBsonRef};
    ///
    /// let error = Error::duplicate_id("parts", RawBsonRef::Int64(7));
    /// assert_eq!(error.to_string(), "duplicate key: `parts` already has a document with `_id` = 7");
    /// ```
    pub fn duplicate_id(collection: &str, id: RawBsonRef<'_>) -> Self {
        let id = RawBson::from(id);
        let message = format!(
            "duplicate key: `{collection}` already has a document with `_id` = {}",
            show(&id)
        );
        Error::new(ErrorKind::DuplicateKey, message).at(collection, Some("_id"), Some(id))
    }

    /// The error of a document from outside that is not well-formed BSON.
    #[doc(hidden)]
    pub fn malformed(error: bson::error::Error) -> Self {
        Error::new(ErrorKind::Encode, "document is not well-formed BSON")
            .with_source(error)
            .with_code(mql::code::INVALID_BSON)
    }

    /// Makes the error of a filter that fails on a document, so that it is not known whether it
    /// matches.
    ///
    /// ```
    /// use odm::{Error, ErrorKind, bson::{RawBsonRef, doc, rawdoc}, mql::Filter};
    ///
    /// let filter = Filter::parse(&doc! { "$expr": { "$divide": [1, "$qty"] } })?;
    /// let error = filter.matches(&rawdoc! { "_id": 7, "qty": 0 }).unwrap_err();
    /// let error = Error::failed_filter("parts", RawBsonRef::Int32(7), error);
    /// assert_eq!(error.kind(), ErrorKind::FailedFilter);
    /// # Ok::<_, Error>(())
    /// ```
    pub fn failed_filter(collection: &str, id: RawBsonRef<'_>, error: mql::Error) -> Self {
        let id = RawBson::from(id);
        let message = format!(
            "failed filter: on the document of `{collection}` with `_id` = {}, {error}",
            show(&id)
        );
        Error::new(ErrorKind::FailedFilter, message)
            .with_source(error)
            .at(collection, None, Some(id))
    }

    /// The error of an update that cannot be applied to a document.
    #[doc(hidden)]
    pub fn of_update(collection: &str, document: &RawDocument, error: mql::Error) -> Self {
        let path = error.path().map(str::to_owned);
        let is_about_document = error.is_about_document();
        let error = Error::from(error);
        if !is_about_document {
            return error;
        }
        let id = document.get("_id").ok().flatten();
        let id = id.map_or(RawBson::Null, RawBson::from);
        let message = format!(
            "update of `{collection}` with `_id` = {}: {error}",
            show(&id)
        );
        let mut located =
            Error::new(error.kind(), message).at(collection, path.as_deref(), Some(id));
        // That of the query language, so that the error has its code.
        Arc::make_mut(&mut located.0).source = error.0.source.clone();
        located
    }

    /// The error of `_id`s that no document has.
    #[doc(hidden)]
    pub fn not_found(collection: &str, ids: &[&RawBson]) -> Self {
        /// How many the message names.
        const NAMED: usize = 20;
        let mut names: Vec<String> = ids.iter().take(NAMED).map(|id| show(id)).collect();
        if ids.len() > NAMED {
            names.push(format!("and {} more", ids.len() - NAMED));
        }
        let names = names.join(", ");
        let message = format!("`{collection}` has no document with the `_id` {names}");
        let first = ids.first().map(|&id| id.clone());
        Error::new(ErrorKind::NotFound, message).at(collection, None, first)
    }

    /// The error of a document that was changed since its writer has read it.
    #[doc(hidden)]
    pub fn stale(collection: &str, id: &RawBson) -> Self {
        let message = format!(
            "stale document: `{collection}` with `_id` = {} was changed since it was read; read it again",
            show(id)
        );
        Error::new(ErrorKind::Stale, message).at(collection, None, Some(id.clone()))
    }

    /// Returns the class of the error.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::ErrorKind;
    ///
    /// let error = shop.parts.find(Part::fields().qty.gt(0)).one().await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::NotUnique);
    /// # Ok(()) });
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the document, field or index that the error is about, if it is about one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Which of the unique fields of a form is taken?
    /// let bolt = Part { id: 4, ..shop.parts.get(1).await? };
    /// let error = shop.parts.insert(bolt).await.unwrap_err();
    /// assert_eq!(error.location().unwrap().path.as_deref(), Some("name"));
    /// # Ok(()) });
    /// ```
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Returns the rules that a document violates, each with its path, if the error is [`Invalid`](ErrorKind::Invalid): the answer of a web
    /// service to a form.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let error = shop.parts.update(1).set(Part::fields().qty, -1).await.unwrap_err();
    /// for violation in error.violations() {
    ///     println!("{}: {}", violation.path, violation.message);
    /// }
    /// assert_eq!(error.violations()[0].rule, "minimum");
    /// # Ok(()) });
    /// ```
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Adds MongoDB's code.
    #[must_use]
    #[doc(hidden)]
    pub fn with_code(mut self, code: i32) -> Self {
        Arc::make_mut(&mut self.0).code = Some(code);
        self
    }

    /// Returns MongoDB's code of the error, if MongoDB has such an error.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// let error = shop.parts.insert(bolt).await.unwrap_err();
    /// assert_eq!(error.code(), Some(11_000)); // for a program that knew MongoDB's codes before
    /// # Ok(()) });
    /// ```
    pub fn code(&self) -> Option<i32> {
        if let Some(code) = self.0.code {
            return Some(code);
        }
        let source = StdError::source(self);
        if let Some(error) = source.and_then(|source| source.downcast_ref::<mql::Error>()) {
            return Some(error.code());
        }
        match self.kind() {
            ErrorKind::DuplicateKey => Some(11_000),
            ErrorKind::Invalid => Some(121),
            ErrorKind::Limit => Some(10_334),
            ErrorKind::Encode => Some(2),
            _ => None,
        }
    }

    /// Returns MongoDB's name of [`code`](Error::code).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// let error = shop.parts.insert(bolt).await.unwrap_err();
    /// assert_eq!(error.code_name().as_deref(), Some("DuplicateKey"));
    /// # Ok(()) });
    /// ```
    pub fn code_name(&self) -> Option<Cow<'static, str>> {
        self.code().map(mql::code_name)
    }

    /// Returns whether the same call may succeed if it is made again.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let done = shop.parts.update(1).inc(Part::fields().qty, -1).await;
    /// let again = done.is_err_and(|error| error.is_retryable()); // the answer 503, with `Retry-After`
    /// assert!(!again);
    /// # Ok(()) });
    /// ```
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// Whether another transaction has won, so that the same unit of work can succeed.
    #[doc(hidden)]
    pub fn is_conflict(&self) -> bool {
        self.is_retryable() && self.kind() == ErrorKind::TransactionAborted
    }

    /// Returns whether no document matches a query that must find one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert!(shop.parts.get(99).await.unwrap_err().is_not_found());
    /// # Ok(()) });
    /// ```
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Returns whether the `_id`, or the key of a unique index, is taken. The [location](Error::location) has MongoDB's pattern of the key
    /// and its value: the paths, the value or the document of values, and the name of the index.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// assert!(shop.parts.insert(bolt).await.unwrap_err().is_duplicate_key());
    /// # Ok(()) });
    /// ```
    pub fn is_duplicate_key(&self) -> bool {
        self.kind() == ErrorKind::DuplicateKey
    }

    /// Returns whether a reference is dangling.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = shop.reviews.update(1).set(Review::fields().product, Ref::new(99));
    /// assert!(review.await.unwrap_err().is_dangling_reference());
    /// # Ok(()) });
    /// ```
    pub fn is_dangling_reference(&self) -> bool {
        self.kind() == ErrorKind::DanglingReference
    }

    /// Returns whether other documents still refer to the document of the delete.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Products need the bolt.
    /// assert!(shop.parts.delete(1).await.unwrap_err().is_restricted());
    /// # Ok(()) });
    /// ```
    pub fn is_restricted(&self) -> bool {
        self.kind() == ErrorKind::Restricted
    }

    /// Returns whether a document does not conform to the schema of its collection, or to a check of its
    /// model.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The model says `#[validate(min = 0)]`.
    /// assert!(shop.parts.update(1).set(Part::fields().qty, -1).await.unwrap_err().is_invalid());
    /// # Ok(()) });
    /// ```
    pub fn is_invalid(&self) -> bool {
        self.kind() == ErrorKind::Invalid
    }

    /// Returns whether a part of a request is wrong, as for the answer 400 of a web service.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // GET /parts?sort=wheight
    /// assert!(Part::sort_by("wheight").unwrap_err().is_invalid_request());
    /// # Ok(()) });
    /// ```
    pub fn is_invalid_request(&self) -> bool {
        self.kind() == ErrorKind::InvalidRequest
    }

    /// Returns whether the document was changed since it was read.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let seen = shop.products.get(2).await?;
    /// shop.products.update(2).set(Product::fields().name, "desk lamp").await?;
    /// assert!(shop.products.replace(seen).await.unwrap_err().is_stale());
    /// # Ok(()) });
    /// ```
    pub fn is_stale(&self) -> bool {
        self.kind() == ErrorKind::Stale
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug
            .field("kind", &self.0.kind)
            .field("message", &self.0.message);
        if let Some(location) = &self.0.location {
            debug.field("location", location);
        }
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<mql::Error> for Error {
    fn from(error: mql::Error) -> Self {
        let kind = match &error {
            mql::Error::TooLarge { .. }
            | mql::Error::MemoryLimit { .. }
            | mql::Error::ResultTooDeep(_) => ErrorKind::Limit,
            error if error.is_about_document() => ErrorKind::InvalidUpdate,
            _ => ErrorKind::InvalidQuery,
        };
        Error::new(kind, error.to_string()).with_source(error)
    }
}

/// Formats a value for a message, as it would be written in a query.
#[doc(hidden)]
pub fn show(value: &RawBson) -> String {
    mql::show(value.as_raw_bson_ref())
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Uuid, doc};
    use odm_mql::Filter;

    use super::*;

    #[test]
    fn an_error_names_an_id_that_is_a_uuid() {
        let id = Uuid::parse_str("936da01f-9abd-4d9d-80c7-02af85c822a8").unwrap();
        let id = RawBson::try_from(Bson::from(id)).unwrap();
        let text = "UUID(\"936da01f-9abd-4d9d-80c7-02af85c822a8\")";
        let missing = Error::not_found("parts", &[&id]);
        assert!(missing.to_string().ends_with(text), "{missing}");
        let taken = Error::duplicate_id("parts", id.as_raw_bson_ref());
        assert!(taken.to_string().ends_with(text), "{taken}");
    }

    #[test]
    fn an_error_has_the_code_of_the_error_of_the_query_language() {
        let error = Filter::parse(&doc! { "a": { "$regex": "(" } }).unwrap_err();
        let error = Error::from(error);
        assert_eq!(error.code(), Some(51_091));
        assert_eq!(error.code_name().as_deref(), Some("Location51091"));
    }
}
