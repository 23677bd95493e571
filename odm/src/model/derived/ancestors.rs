//! The description of lists of ancestors.

use super::{AlongReference, DerivedShape};
use crate::{
    derive::RefersTo,
    model::{Ancestors, Document, FieldKind, FieldShape},
};

/// The list of the documents above a document.
#[derive(Debug, Clone, Copy)]
pub struct AncestorsShape {
    /// The stored path of the reference to the document above.
    pub via: &'static str,
    /// The collection of the tree.
    pub tree: &'static str,
    /// The stored path of the list in the documents of the tree.
    pub list: &'static str,
    /// Whether it follows the documents above after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

impl<V> AlongReference<V> {
    /// A field that is marked `#[ancestors(..)]`.
    pub const fn ancestors<T: AncestorsField, const N: usize>(
        self,
        name: &'static str,
        deferred: bool,
    ) -> FieldShape
    where
        V: RefersTo<T::Of>,
        T::Of: AncestorsIn<T::Of, N>,
    {
        let shape = AncestorsShape {
            via: self.path,
            tree: <T::Of as Document>::COLLECTION,
            list: <T::Of as AncestorsIn<T::Of, N>>::PATH,
            deferred,
        };
        FieldShape::new(name, FieldKind::Derived(DerivedShape::Ancestors(shape)))
    }
}

/// The type of a field that is marked `#[ancestors(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of ancestors",
    label = "expected `Ancestors<T>`, where the reference is to a `T`"
)]
pub trait AncestorsField {
    /// The documents of the tree.
    type Of: Document;
}

impl<T: Document> AncestorsField for Ancestors<T> {
    type Of = T;
}

/// A document with a field `#[ancestors(..)]` in the tree of the documents `T`. `N` is the position of the field, and is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no list of its own ancestors, from which those below it follow",
    label = "not the document of a tree",
    note = "let it have one: `#[ancestors(via = \"parent\")] path: Ancestors<{Self}>`, where `parent` is a reference to another `{Self}`"
)]
pub trait AncestorsIn<T, const N: usize> {
    /// The stored path of the field.
    const PATH: &'static str;
}
