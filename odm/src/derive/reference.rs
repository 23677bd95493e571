//! References: their description, their rules, and their paths.

use super::{path::fields_of, projection::same};
use crate::model::{
    Ancestors, ChildOf, Container, Document, Field, FieldKind, FieldShape, OnDelete, Path, Ref,
    ReferenceField, ReferenceShape, Root, Structure,
};

/// The declaration in `#[reference(..)]`.
pub struct DeclaredReference {
    /// Whether the holder is the child.
    pub parent: bool,
    /// Whether the reference is unique.
    pub one: bool,
    /// Whether it may dangle.
    pub unchecked: bool,
    /// The effect of deleting the referenced document.
    pub on_delete: Option<OnDelete>,
    /// The stored path of the inverse reference.
    pub inverse: Option<&'static str>,
}

/// A field that is marked `#[reference(..)]`.
pub const fn reference<T: ReferenceField>(
    name: &'static str,
    declared: DeclaredReference,
) -> FieldShape {
    let kind = FieldKind::Reference(ReferenceShape {
        collection: <T::Target as Document>::COLLECTION,
        parent: declared.parent,
        one: declared.one,
        unchecked: declared.unchecked,
        container: T::CONTAINER,
        on_delete: declared.on_delete,
        inverse: declared.inverse,
    });
    FieldShape::new(name, kind)
}

/// Checks that a delete rule fits the container of a reference. In an embedded value, which can be the element of a list, `pull` is checked
/// when the catalog is built.
#[track_caller]
pub const fn delete_rule<T: ReferenceField>(rule: OnDelete, embedded: bool) {
    let problem = match (rule, T::CONTAINER) {
        (OnDelete::Nullify, Container::Many) => {
            "a list of references is not emptied when one of them is deleted: `pull` takes that one \
             out of the list"
        }
        (OnDelete::Nullify, Container::One) if embedded => {
            "a reference that is no `Option` cannot become empty: make it an `Option<Ref<..>>`, or \
             use `pull`, if its holder is an element of a list"
        }
        (OnDelete::Nullify, Container::One) => {
            "a reference that is no `Option` cannot become empty: make it an `Option<Ref<..>>`, or \
             use `cascade`, to delete the holder too"
        }
        (OnDelete::Pull, Container::Optional) if !embedded => {
            "`pull` takes a reference out of a list, and this is an `Option`: use `nullify`, which empties it"
        }
        (OnDelete::Pull, Container::One) if !embedded => {
            "`pull` takes a reference out of a list, and this is a single one: use `cascade`, to delete \
             the holder too, or make it an `Option<Ref<..>>` and use `nullify`"
        }
        _ => return,
    };
    panic!("{}", problem);
}

/// Whether a reference is stored in every document.
pub const fn is_required<T: ReferenceField>() -> bool {
    matches!(T::CONTAINER, Container::One)
}

/// The fields of the referenced document.
pub const fn target<T: ReferenceField>() -> <T::Target as Structure>::Fields<Root<T::Target>> {
    fields_of::<T::Target>()
}

/// Whether `field` of the referenced document is declared as the inverse of `own`. A document with mistakes declares the nameless inverse,
/// which matches any.
pub const fn points_back<T: ReferenceField>(field: &str, own: &str) -> bool {
    let inverses = <T::Target as Document>::INVERSES;
    let mut i = 0;
    while i < inverses.len() {
        let (name, other) = inverses[i];
        if name.is_empty() || (same(name, field) && same(other, own)) {
            return true;
        }
        i += 1;
    }
    false
}

/// The path of the only reference from a child to its parent.
pub const fn parent_path<C: ChildOf<P, K, N>, P: Document, K, const N: usize>() -> &'static str {
    C::PATH
}

/// The type of a field that references `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference to `{P}`",
    label = "does not reference a `{P}`"
)]
pub trait RefersTo<P> {}

impl<P: Document> RefersTo<P> for Ref<P> {}
impl<P: Document> RefersTo<P> for Option<Ref<P>> {}
impl<P: Document> RefersTo<P> for Vec<Ref<P>> {}
impl<P: Document> RefersTo<P> for Ancestors<P> {}
impl<P: Document> RefersTo<P> for Option<Ancestors<P>> {}

/// The path of a named reference.
#[track_caller]
pub const fn path_to<P, V: RefersTo<P>, A: Path, K>(_: Field<V, A, K>) -> &'static str {
    assert!(
        !A::COLD,
        "the reference is in the cold part of its document, which a derived field cannot read: move it to \
         the document itself"
    );
    A::TEXT
}
