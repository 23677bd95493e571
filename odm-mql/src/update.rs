//! Updates: operations on the fields of a document.

mod apply;
mod arithmetic;
mod format;
mod operate;
mod parse;
mod tree;

use std::borrow::Cow;

use bson::{DateTime, Document, RawBson, RawDocument, RawDocumentBuf};

use crate::{Collation, Direction, Error, Filter, Sort, Test};

/// Changes of single fields.
///
/// A path may name all elements of an array by `$[]`, the elements that match an array filter by `$[name]`, and the element by which the
/// filter matches the document by `$`. `$[3]` is the element at that position, which must exist: MongoDB has no such step, and it is not
/// parsed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// The operations and their paths. Their order has no effect: new fields are added to a document in the order of their names, numbers
    /// by value and before all other names.
    pub operations: Vec<(Cow<'static, str>, Operation)>,
    /// The array filters of all `$[name]` in the paths.
    pub array_filters: Vec<ArrayFilter>,
    /// By which all texts are compared: in array filters, and by the operations that compare values.
    pub collation: Option<Collation>,
}

/// A condition that selects the elements of an array that `$[name]` in a path refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayFilter {
    /// The name in the path.
    pub name: String,
    /// The condition, on a document whose only field, of this name, is the element.
    pub filter: Filter,
}

/// An operation on the field at a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Sets the field to the value.
    Set(RawBson),
    /// Removes the field. An element of an array becomes null.
    Unset,
    /// Adds the number. A missing field becomes the number.
    Inc(RawBson),
    /// Adds the number. A missing or null field becomes the number. MongoDB has no such operator: this is the `inc` of typed updates, where
    /// an absent `Option` may be stored as missing or as null.
    Add(RawBson),
    /// Multiplies the field by the number. A missing field becomes zero.
    Mul(RawBson),
    /// Combines the bits of a whole number with each operand in turn. A missing field counts as zero.
    Bit(Vec<(BitOperation, RawBson)>),
    /// Sets the field to the value if that is less, or if the field is missing.
    Min(RawBson),
    /// Sets the field to the value if that is greater, or if the field is missing.
    Max(RawBson),
    /// Moves the field to another path.
    Rename(String),
    /// Sets the field to the value if the document is being inserted.
    SetOnInsert(RawBson),
    /// Sets the field to the time of the update.
    CurrentDate(CurrentDate),
    /// Adds values to the array.
    Push(Push),
    /// Adds the values that are not in the array yet.
    AddToSet(Vec<RawBson>),
    /// Removes the first or the last element of the array.
    Pop(End),
    /// Removes the elements of the array that match.
    Pull(Pull),
    /// Removes the elements of the array that equal one of the values.
    PullAll(Vec<RawBson>),
}

/// How bits are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitOperation {
    /// A bit is 1 if both are.
    And,
    /// A bit is 1 if one is.
    Or,
    /// A bit is 1 if just one is.
    Xor,
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

/// The arguments of a [`Push`](Operation::Push): values, where to add them, and how to sort and cut the
/// array afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Push {
    /// The values.
    pub each: Vec<RawBson>,
    /// The number of elements to keep: the first ones, or the last ones if it is negative.
    pub slice: Option<i64>,
    /// The order of the array, applied before it is cut.
    pub sort: Option<PushSort>,
    /// The position before which the values are added, counted from the end if it is negative. The
    /// default is the end.
    pub position: Option<i64>,
}

/// The order of an array. Elements that are equal in this order keep their places; in MongoDB they may come in any order.
#[derive(Debug, Clone, PartialEq)]
pub enum PushSort {
    /// By the elements themselves.
    Elements(Direction),
    /// By fields of the elements, which are documents.
    Fields(Sort),
}

/// The elements of an array that a [`Pull`](Operation::Pull) removes.
#[derive(Debug, Clone, PartialEq)]
pub enum Pull {
    /// Elements that equal the value.
    Value(RawBson),
    /// Documents that match the filter.
    Filter(Filter),
    /// Elements that pass all tests.
    Tests(Vec<Test>),
}

impl ArrayFilter {
    /// Creates the filter of `$[name]`. Its condition is on a document whose only field, `name`, is the
    /// element.
    pub fn new(name: impl Into<String>, filter: Filter) -> ArrayFilter {
        ArrayFilter {
            name: name.into(),
            filter,
        }
    }
}

impl Update {
    /// Parses an update in MongoDB's form, with its array filters.
    pub fn parse(document: &Document, array_filters: &[Document]) -> Result<Update, Error> {
        parse::update(document, array_filters)
    }

    /// Compares all texts by a collation, if there is one.
    pub fn collated(self, collation: Option<&Collation>) -> Update {
        Update {
            collation: collation.cloned(),
            ..self
        }
    }

    /// Returns the update in MongoDB's form, without the array filters and the collation.
    pub fn to_document(&self) -> Document {
        format::update(self)
    }

    /// Returns the update in MongoDB's form, with new fields in the order in which an update adds them to a document: MongoDB adds them in
    /// this order regardless of the form, and other servers in the order of the form. `None` if there is no such form.
    pub fn to_ordered_document(&self) -> Option<Document> {
        format::ordered(self)
    }

    /// Returns the array filters in MongoDB's form.
    pub fn array_filters_documents(&self) -> Vec<Document> {
        self.array_filters
            .iter()
            .map(|filter| filter.filter.to_document())
            .collect()
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Adds an operation.
    pub fn push(&mut self, path: impl Into<Cow<'static, str>>, operation: Operation) {
        self.operations.push((path.into(), operation));
    }

    /// Checks everything that does not depend on a document: invalid and conflicting paths, operands of the wrong type, and array filters
    /// that are missing or not used.
    pub fn check(&self) -> Result<(), Error> {
        parse::check(self)
    }

    /// Returns the document after the update, or `None` if it stays the same, byte for byte.
    ///
    /// With `inserting`, the document is about to be inserted by an upsert, so that
    /// [`SetOnInsert`](Operation::SetOnInsert) takes effect. An existing `_id` cannot change. A path with
    /// the positional `$` is an error: see [`apply_matched`](Update::apply_matched).
    pub fn apply(
        &self,
        document: &RawDocument,
        inserting: bool,
        now: DateTime,
    ) -> Result<Option<RawDocumentBuf>, Error> {
        apply::apply(self, document, inserting, now)
    }

    /// Returns the document after the update, as [`apply`](Update::apply) does, for a document that the filter matches. The positional `$`
    /// is the first element of an array by which it matches.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Update::apply), and [`NoPosition`](Error::NoPosition) if the filter matches by no element of an array.
    pub fn apply_matched(
        &self,
        filter: &Filter,
        document: &RawDocument,
        now: DateTime,
    ) -> Result<Option<RawDocumentBuf>, Error> {
        if !self.paths().any(tree::is_positional) {
            return apply::apply(self, document, false, now);
        }
        let position = filter.position(document)?;
        self.at_position(position)?.apply(document, false, now)
    }

    /// The update with a position in place of each `$`.
    fn at_position(&self, position: Option<usize>) -> Result<Update, Error> {
        let mut update = self.clone();
        for (path, _) in &mut update.operations {
            if tree::is_positional(path) {
                let position = position
                    .ok_or_else(|| apply::no_position(path))?
                    .to_string();
                let parts = path.split('.');
                let parts = parts.map(|part| if part == "$" { &position } else { part });
                *path = parts.collect::<Vec<&str>>().join(".").into();
            }
        }
        Ok(update)
    }

    /// Iterates over all paths that the update touches, including the targets of renames.
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
