//! How a document is changed.

mod apply;
mod format;
mod operate;
mod parse;
mod tree;

use std::borrow::Cow;

use bson::{DateTime, Document, RawBson, RawDocument, RawDocumentBuf};

use crate::mql::{Direction, Error, Filter, Sort, Test};

/// Changes of single fields.
///
/// A path may name all elements of an array by `$[]`, and those that meet an array filter by
/// `$[name]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// What is done at which path. The order is of no account: new fields are added to a document in
    /// the order of their names, numbers by their value and before the others.
    pub operations: Vec<(Cow<'static, str>, Operation)>,
    /// Which elements of an array `$[name]` in a path means.
    pub array_filters: Vec<ArrayFilter>,
}

/// Which elements of an array `$[name]` in a path means.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayFilter {
    /// The name, as it stands in the path.
    pub name: String,
    /// The condition, on a document whose only field, of this name, is the element.
    pub filter: Filter,
}

/// What is done at a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Becomes the value.
    Set(RawBson),
    /// Is removed; an element of an array becomes null.
    Unset,
    /// The number is added. What is missing becomes the number.
    Inc(RawBson),
    /// Is multiplied by the number. What is missing becomes zero.
    Mul(RawBson),
    /// Becomes the value if that is less, or if there is none.
    Min(RawBson),
    /// Becomes the value if that is greater, or if there is none.
    Max(RawBson),
    /// Is moved to another path.
    Rename(String),
    /// Becomes the value if the document is being inserted.
    SetOnInsert(RawBson),
    /// Becomes the time of the update.
    CurrentDate(CurrentDate),
    /// Values are added to the array.
    Push(Push),
    /// Those of the values are added to the array that are not in it.
    AddToSet(Vec<RawBson>),
    /// One end of the array is removed.
    Pop(End),
    /// The elements of the array that match are removed.
    Pull(Pull),
    /// The elements of the array that equal one of the values are removed.
    PullAll(Vec<RawBson>),
}

/// The type of a current date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CurrentDate {
    /// A date.
    Date,
    /// A timestamp.
    Timestamp,
}

/// An end of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The first element.
    First,
    /// The last element.
    Last,
}

/// What is added to an array, where, and what then becomes of the array.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Push {
    /// The values.
    pub each: Vec<RawBson>,
    /// How many elements are kept: the first ones, or the last ones if it is negative.
    pub slice: Option<i64>,
    /// How the array is sorted before it is cut.
    pub sort: Option<PushSort>,
    /// Before which element the values are added, from the end if it is negative; at the end by
    /// default.
    pub position: Option<i64>,
}

/// How an array is sorted.
#[derive(Debug, Clone, PartialEq)]
pub enum PushSort {
    /// By the elements as they are.
    Elements(Direction),
    /// By fields of the elements, which are documents.
    Fields(Sort),
}

/// Which elements of an array are removed.
#[derive(Debug, Clone, PartialEq)]
pub enum Pull {
    /// Those that equal the value.
    Value(RawBson),
    /// The documents that match.
    Filter(Filter),
    /// Those that pass all the tests.
    Tests(Vec<Test>),
}

impl Update {
    /// Reads an update in MongoDB's form, with its array filters.
    pub fn parse(document: &Document, array_filters: &[Document]) -> Result<Update, Error> {
        parse::update(document, array_filters)
    }

    /// The update in the form that [`parse`](Update::parse) reads, without the array filters.
    pub fn to_document(&self) -> Document {
        format::update(self)
    }

    /// The array filters in the form that [`parse`](Update::parse) reads.
    pub fn array_filters_documents(&self) -> Vec<Document> {
        self.array_filters
            .iter()
            .map(|filter| filter.filter.to_document())
            .collect()
    }

    /// Whether nothing is done.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Adds an operation.
    pub fn push(&mut self, path: impl Into<Cow<'static, str>>, operation: Operation) {
        self.operations.push((path.into(), operation));
    }

    /// Looks for what no document can make right: paths that are no paths or conflict with each
    /// other, operands of the wrong type, and array filters that are missing or not used.
    pub fn check(&self) -> Result<(), Error> {
        parse::check(self)
    }

    /// The document as it is after the update, or none if it stays the same, byte for byte.
    ///
    /// `inserting` says that the document is about to be inserted by an upsert, so that
    /// [`SetOnInsert`](Operation::SetOnInsert) takes effect. An `_id` that is there cannot change.
    pub fn apply(
        &self,
        document: &RawDocument,
        inserting: bool,
        now: DateTime,
    ) -> Result<Option<RawDocumentBuf>, Error> {
        apply::apply(self, document, inserting, now)
    }

    /// All paths that are touched, with the targets of renames.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().flat_map(|(path, operation)| {
            let target = match operation {
                Operation::Rename(target) => Some(target.as_str()),
                _ => None,
            };
            std::iter::once(path.as_ref()).chain(target)
        })
    }
}

#[cfg(test)]
mod tests;
