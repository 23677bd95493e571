//! What an expression is evaluated in: a document, and the collation of its comparisons.

use bson::RawDocument;

use crate::Collation;

/// A document, with the collation by which texts are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) document: &'a RawDocument,
    pub(super) collation: Option<&'a Collation>,
}
