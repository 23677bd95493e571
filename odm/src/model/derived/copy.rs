//! The description of copies.

use std::slice;

use super::DerivedShape;
use crate::model::{DerivedReads, FieldKind, FieldShape, PathHash, ShownNames, Structure};

/// A copy of a field of another document.
#[derive(Debug, Clone, Copy)]
pub struct CopyShape {
    /// The collection of the document that it is copied from.
    pub source: &'static str,
    /// The stored path of the value there.
    pub path: &'static str,
    /// The reference to follow.
    pub via: Via,
    /// Whether it keeps the value of the time of writing: `freeze`.
    pub frozen: bool,
    /// Whether the copy can be absent: it is an `Option`.
    pub optional: bool,
    /// Whether it follows its source after the unit that changes it: `refresh = "later"`.
    pub deferred: bool,
}

/// The reference that a copy follows to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The reference with this stored name, in the same struct.
    Beside(&'static str),
    /// References to the holder at this stored path of the source. The copy is then an array, of one
    /// element for each value.
    Back(&'static str),
}

/// A copy, and the problem of its declaration, if there is one.
pub struct Copied {
    pub(crate) shape: CopyShape,
    /// The hash of the collection of the source.
    pub(crate) source: u64,
    /// The path of the value in the source.
    pub(crate) value: PathHash,
    pub(crate) problem: Option<&'static str>,
}

/// A field that is marked `#[denormalize(..)]`: one of the copies of its struct.
pub const fn copy<S: Structure>(position: usize) -> FieldShape {
    let (name, _, copied) = &S::COPIES[position];
    FieldShape::new(name, FieldKind::Derived(DerivedShape::Copy(copied.shape)))
}

/// The fields that a copy reads.
pub const fn copy_reads<S: Structure>(position: usize) -> DerivedReads {
    let copied = &S::COPIES[position].2;
    DerivedReads {
        collection: copied.source,
        paths: slice::from_ref(&copied.value),
        names: Some(ShownNames::NONE),
    }
}
