//! The description of lists of ancestors.

use super::DerivedShape;
use crate::model::{Ancestors, Document, Field, FieldKind, FieldShape, Path, Ref};

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

/// The path of the reference of a document to the one above it.
#[track_caller]
pub const fn along<T: AncestorsField, V: ReferenceToOneOf<T::Of>, P: Path, K>(
    _: Field<V, P, K>,
) -> &'static str {
    assert!(
        !P::COLD,
        "the reference is in the cold part of its document, which a derived field cannot read: move it to the document itself"
    );
    P::TEXT
}

/// A field that is marked `#[ancestors(..)]`.
pub const fn ancestors<T: AncestorsField, const N: usize>(
    name: &'static str,
    via: &'static str,
    deferred: bool,
) -> FieldShape
where
    T::Of: AncestorsIn<T::Of, N>,
{
    let shape = AncestorsShape {
        via,
        tree: <T::Of as Document>::COLLECTION,
        list: <T::Of as AncestorsIn<T::Of, N>>::PATH,
        deferred,
    };
    FieldShape::new(name, FieldKind::Derived(DerivedShape::Ancestors(shape)))
}

/// The type of a reference to at most one `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference to one `{T}`",
    label = "expected a field that is a `Ref<{T}>` or an `Option` of one"
)]
pub trait ReferenceToOneOf<T> {}

impl<T: Document> ReferenceToOneOf<T> for Ref<T> {}
impl<T: Document> ReferenceToOneOf<T> for Option<Ref<T>> {}

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

/// States that the documents of the tree are `T`. It is a bound with a parameter, so that the compiler reports a type that is no list once.
pub trait AncestorsOf<T> {}

impl<T: Document> AncestorsOf<T> for Ancestors<T> {}

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
