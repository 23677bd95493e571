//! The failures that a trial finds, and their error.

use std::fmt;

use bson::RawBson;
use odm_store::{Error, ErrorKind, show};

use crate::catalog::Declaration;

/// How many failures are listed.
const LISTED: usize = 1_000;

/// How many documents an error names.
const NAMED: usize = 3;

/// A document for which [`open`](crate::Database::open) would fail, as [`check`](crate::Database::check) reports it.
///
/// ```
/// # use odm::{Embedded, ErrorKind, bson::RawBson, migration::{Migrations, Step}, prelude::*};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct OldPart { #[serde(rename = "_id")] id: i64, qty: String }
/// # #[derive(Database)] #[database(name = "shop", version = 1)] struct Old { parts: Repository<OldPart> }
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct Part { #[serde(rename = "_id")] id: i64, qty: i64 }
/// # #[derive(Database)] #[database(name = "shop", version = 2, migrations = steps)]
/// # struct Shop { parts: Repository<Part> }
/// fn steps() -> Migrations {
///     Migrations::new().to(2, [Step::try_change("parts", "qty", |text: String| text.parse::<i64>())])
/// }
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let store = Embedded::memory().await?;
/// # Old::open(store.clone()).await?.parts.insert(OldPart { id: 1, qty: "many".into() }).await?;
/// let changes = Shop::check(&store).await?;
/// let failure = &changes.failures[0];
/// assert_eq!((failure.kind, &failure.id), (ErrorKind::FailedMigration, &RawBson::Int64(1)));
/// assert_eq!(failure.reason, "invalid digit found in string");
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// [`FailedMigration`](ErrorKind::FailedMigration) if a step fails, [`Schema`](ErrorKind::Schema) if the models could not read the
    /// document after the steps, [`DuplicateKey`](ErrorKind::DuplicateKey) if another document has its key of a unique index, and the kind
    /// of the error if its key of an index cannot be computed.
    pub kind: ErrorKind,
    /// The step that fails, with the version that it leads to.
    pub step: Option<String>,
    /// The collection of the document, after the steps before.
    pub collection: String,
    /// The `_id` of the document.
    pub id: RawBson,
    /// The path of the mistake, if it is known.
    pub path: Option<String>,
    /// The name of the index.
    pub index: Option<String>,
    /// The reason.
    pub reason: String,
}

/// As ``version 2: change `qty` of `parts`: `parts` with `_id` = 1: invalid digit found in string``.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = &self.step {
            write!(f, "{step}: ")?;
        }
        if let Some(index) = &self.index {
            write!(f, "index `{index}`: ")?;
        }
        write!(
            f,
            "`{}` with `_id` = {}: {}",
            self.collection,
            show(&self.id),
            self.reason
        )
    }
}

/// The result of a trial: the first failures, and the number of all.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    listed: Vec<(Failure, Option<Error>)>,
    kinds: Vec<(FailureKind, u64)>,
}

/// Failures of one kind: of one step, one collection, or one index.
#[derive(Debug, PartialEq)]
struct FailureKind {
    kind: ErrorKind,
    step: Option<String>,
    collection: String,
    index: Option<String>,
}

impl FailureKind {
    fn of(failure: &Failure) -> Self {
        FailureKind {
            kind: failure.kind,
            step: failure.step.clone(),
            collection: failure.collection.clone(),
            index: failure.index.clone(),
        }
    }
}

impl Failures {
    /// Adds a failure, and the error that it was made of.
    pub(super) fn add(&mut self, failure: Failure, source: Option<Error>) {
        let kind = FailureKind::of(&failure);
        match self.kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, number)) => *number += 1,
            None => self.kinds.push((kind, 1)),
        }
        if self.listed.len() < LISTED {
            self.listed.push((failure, source));
        }
    }

    /// The number of all failures.
    pub(crate) fn number(&self) -> u64 {
        self.kinds.iter().map(|(_, number)| number).sum()
    }

    pub(crate) fn into_listed(self) -> Vec<Failure> {
        self.listed
            .into_iter()
            .map(|(failure, _)| failure)
            .collect()
    }

    /// The error of an `open` that has found these failures, if any. `state` describes the state of the store.
    pub(crate) fn into_error(self, declaration: &Declaration, state: &str) -> Option<Error> {
        let all = self.number();
        let (first, source) = self.listed.first()?;
        let kind = FailureKind::of(first);
        let mut kinds = self.kinds.iter();
        let number = kinds
            .find(|(of, _)| *of == kind)
            .map_or(1, |(_, number)| *number);
        let Failure {
            collection,
            id,
            path,
            ..
        } = first;
        let what = match (first.kind, &first.step, &first.index) {
            (_, Some(step), _) => format!(
                "failed migration: {step}: `{collection}` with `_id` = {}: {}; {state}: correct the step, or the document",
                show(id),
                first.reason
            ),
            (ErrorKind::DuplicateKey, _, Some(index)) => {
                let location = source.as_ref().and_then(Error::location);
                let value = location.and_then(|location| location.id.as_ref());
                format!(
                    "index `{index}` of `{collection}` not built: it is declared unique, and several documents have \
                     the value {}; {state}: give them different values, and open the database again",
                    value.map(show).unwrap_or_default()
                )
            }
            (_, _, Some(index)) => format!(
                "index `{index}` of `{collection}` not built: `_id` = {}: {}; {state}: correct the document",
                show(id),
                first.reason
            ),
            _ => {
                let same = self.listed.iter().map(|(failure, _)| failure);
                let same = same
                    .filter(|failure| FailureKind::of(failure) == kind)
                    .take(NAMED);
                let texts = same.map(|of| format!("`_id` = {}: {}", show(&of.id), of.reason));
                format!(
                    "unreadable documents: version {} of `{}` could not read {number} of `{collection}` ({}{}); \
                     {state}: add a step to its migrations that makes them what the model reads",
                    declaration.version,
                    declaration.name,
                    texts.collect::<Vec<_>>().join("; "),
                    if number > NAMED as u64 { "; .." } else { "" },
                )
            }
        };
        let rest = match all - 1 {
            0 => String::new(),
            rest => format!("; there are {rest} more failures, which `check` reports"),
        };
        let error = Error::new(first.kind, format!("{what}{rest}"));
        // The location of a duplicate key includes the key.
        let location = source.as_ref().and_then(Error::location);
        let location = location.filter(|_| first.kind == ErrorKind::DuplicateKey);
        let mut error = match location {
            Some(of) => error.at(&of.collection, of.path.as_deref(), of.id.clone()),
            None => error.at(collection, path.as_deref(), Some(id.clone())),
        };
        if let Some(index) = &first.index {
            error = error.of_index(index);
        }
        Some(match source {
            Some(source) => error.with_source(source.clone()),
            None => error,
        })
    }
}
