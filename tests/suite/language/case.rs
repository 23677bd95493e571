//! The cases, and the answers of the library.

use std::fmt;

use fuzz::Choices;
use odm::{
    bson::{DateTime, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc},
    mql::{self, Filter, Projection, Sort, Update, key},
    store::contract::{Change, UpdateWrite},
};

/// The documents of a statement, and the statement.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// In the order of their `_id`s, which are whole numbers.
    pub(crate) documents: Vec<RawDocumentBuf>,
    pub(crate) statement: Statement,
}

#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Find {
        filter: Document,
        /// It ends with `_id`.
        sort: Document,
        projection: Document,
    },
    /// An update of one document.
    Update { filter: Document, update: Document, array_filters: Vec<Document>, upsert: bool },
}

/// The documents that a query returns, or an update leaves, in order; or the message of the refusal.
pub(crate) type Answer = Result<Vec<RawDocumentBuf>, String>;

/// The kind of the generated statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Filter,
    Sort,
    Projection,
    Update,
}

/// A bound in bytes that a case does not reach.
const BYTES: usize = 2_000;

pub(crate) fn documents(seed: u64, ids: std::ops::Range<i64>) -> Vec<RawDocumentBuf> {
    let stored = |id| Choices::plain(&fuzz::bytes(seed ^ (id as u64) << 32, BYTES)).stored(id);
    ids.map(stored).collect()
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Find { filter, sort, projection } => {
                write!(f, "find {filter}, sort {sort}, projection {projection}")
            }
            Statement::Update { filter, update, array_filters, upsert } => {
                write!(f, "update {filter} by {update}, {array_filters:?}, upsert: {upsert}")
            }
        }
    }
}

impl Statement {
    /// The query of a seed.
    pub(crate) fn find(seed: u64) -> (Kind, Statement) {
        let bytes = fuzz::bytes(seed, BYTES);
        let mut choices = Choices::plain(&bytes);
        let kind = match choices.below(4) {
            0 | 1 => Kind::Filter,
            2 => Kind::Sort,
            _ => Kind::Projection,
        };
        let filter = match kind == Kind::Filter || choices.below(3) == 0 {
            true => choices.filter(2),
            false => Document::new(),
        };
        let mut sort = match kind {
            Kind::Sort => choices.sort(),
            _ => Document::new(),
        };
        if !sort.contains_key("_id") {
            sort.insert("_id", 1);
        }
        let projection = match kind {
            Kind::Projection => choices.projection(),
            _ => doc! { "_id": 1 },
        };
        let find = Statement::Find { filter, sort, projection };
        (kind, find)
    }

    /// The update of a seed, of the document with an `_id`.
    pub(crate) fn update(seed: u64, id: i64) -> Statement {
        let bytes = fuzz::bytes(seed, BYTES);
        let mut choices = Choices::plain(&bytes);
        let mut filter = doc! { "_id": id };
        if choices.below(2) == 0 {
            let more = choices.filter(1);
            match more.contains_key("_id") {
                true => drop(filter.insert("$and", [more].to_vec())),
                false => filter.extend(more),
            }
        }
        let upsert = choices.below(4) == 0;
        let (update, array_filters) = choices.update();
        Statement::Update { filter, update, array_filters, upsert }
    }
}

impl Case {
    /// The answer of the library.
    pub(crate) fn answer(&self, now: DateTime) -> Answer {
        match &self.statement {
            Statement::Find { filter, sort, projection } => {
                found(&self.documents, filter, sort, projection)
            }
            Statement::Update { filter, update, array_filters, upsert } => {
                let update =
                    Update::parse(update, array_filters).map_err(|error| error.to_string())?;
                let write = UpdateWrite {
                    collection: "documents".to_owned(),
                    filter: Filter::parse(filter).map_err(|error| error.to_string())?,
                    change: Change::Update(update),
                    upsert: *upsert,
                    check: None,
                };
                updated(&self.documents, &write, now).map_err(|error| error.to_string())
            }
        }
    }
}

fn found(
    documents: &[RawDocumentBuf],
    filter: &Document,
    sort: &Document,
    projection: &Document,
) -> Answer {
    let found = || -> Result<Vec<RawDocumentBuf>, mql::Error> {
        let (filter, sort) = (Filter::parse(filter)?, Sort::parse(sort)?);
        let projection = Projection::parse(projection)?;
        let mut found = Vec::new();
        for document in documents {
            if filter.matches(document)? {
                found.push(document);
            }
        }
        found.sort_by(|one, other| sort.compare(one, other));
        let shown = found.into_iter();
        shown.map(|document| projection.apply_matched(&filter, document)).collect()
    };
    found().map_err(|error| error.to_string())
}

fn updated(
    documents: &[RawDocumentBuf],
    write: &UpdateWrite,
    now: DateTime,
) -> odm::Result<Vec<RawDocumentBuf>> {
    let mut after = documents.to_vec();
    let mut has_matched = false;
    for (before, after) in documents.iter().zip(&mut after) {
        if write.filter.matches(before)? {
            has_matched = true;
            if let Some(changed) = write.changed(before, now)? {
                *after = changed;
            }
        }
    }
    if !has_matched && write.upsert {
        let inserted = write.inserted(now)?;
        let id = id_of(&inserted);
        if after.iter().any(|other| id_of(other) == id) {
            return Err(odm::Error::new(odm::ErrorKind::DuplicateKey, "the `_id` is taken"));
        }
        after.push(inserted);
    }
    Ok(after)
}

/// The `_id` as a key.
pub(crate) fn id_of(document: &RawDocument) -> Vec<u8> {
    let id = document.get("_id").expect("the document is well-formed");
    key::of(id.unwrap_or(RawBsonRef::Null))
}
