//! The description of subsets, their order and their items.

use odm_mql::{self as mql, Direction};
use odm_store::Result;

use super::DerivedShape;
use crate::model::{
    ChildOf, Document, Field, FieldKind, FieldSet, FieldShape, Flattened, Ordered, Path, PathHash,
    Root, Shape, ShownNames, Structure, SubsetField, SubsetItem,
};

/// A bounded array of children.
#[derive(Debug, Clone, Copy)]
pub struct SubsetShape {
    /// The collection of the children.
    pub collection: &'static str,
    /// The stored path of the children's reference to the holder.
    pub via: &'static str,
    /// The number of children; negative for the last ones.
    pub limit: i64,
    /// The order.
    pub sort: &'static [(&'static str, Direction)],
    /// The shown fields of a child; `None` for all.
    pub shown: Option<fn() -> &'static Shape>,
    /// The fields of a child: the shown ones, or all.
    pub item: fn() -> &'static Shape,
    /// The children that count; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
    /// Whether it follows the children after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

/// The declaration in `#[subset(..)]`.
pub struct DeclaredSubset {
    /// The number of children.
    pub limit: i64,
    /// Their order.
    pub sort: &'static [(&'static str, Direction)],
    /// The path of the reference to the holder.
    pub via: &'static str,
    /// The children that count.
    pub filter: Option<fn() -> Result<mql::Filter>>,
    /// Whether it follows the children after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

/// A field that is marked `#[subset(..)]`.
pub const fn subset<T: SubsetField>(name: &'static str, declared: DeclaredSubset) -> FieldShape {
    let kind = FieldKind::Derived(DerivedShape::Subset(SubsetShape {
        collection: <T::Child as Document>::COLLECTION,
        via: declared.via,
        limit: declared.limit,
        sort: declared.sort,
        shown: <T::Item as SubsetItem>::SHOWN,
        item: match <T::Item as SubsetItem>::SHOWN {
            Some(shown) => shown,
            None => <T::Child as Structure>::shape,
        },
        filter: declared.filter,
        deferred: declared.deferred,
    }));
    FieldShape::new(name, kind)
}

/// The properties of the type of a subset that the derive needs.
pub struct ShownChild<F> {
    /// The hash of the collection of the children.
    pub collection: u64,
    /// The fields of a child.
    pub fields: F,
    /// The stored names that are shown, if not the whole child.
    pub names: Option<&'static ShownNames>,
    /// Whether a shown field is, or has within it, a subset.
    pub nested: bool,
}

/// Returns the properties of the children that a subset shows. Each check of a subset calls it first, so that a mistake in the type is
/// reported once.
pub const fn child<T: SubsetField>() -> ShownChild<<T::Child as Structure>::Fields<Root<T::Child>>>
{
    ShownChild {
        collection: <T::Child as Document>::HASH,
        fields: <<T::Child as Structure>::Fields<Root<T::Child>> as FieldSet>::NEW,
        names: match <T::Item as SubsetItem>::SHOWN {
            Some(_) => Some(<T::Item as Structure>::SHOWN),
            None => None,
        },
        nested: T::NESTED,
    }
}

/// The path of the reference of the children of a subset to their only parent.
pub const fn subset_path<
    T: SubsetField<Child: ChildOf<P, K, N>>,
    P: Document,
    K,
    const N: usize,
>() -> &'static str {
    <T::Child as ChildOf<P, K, N>>::PATH
}

/// A field to sort by.
#[diagnostic::on_unimplemented(
    message = "this field has no order to sort by",
    label = "not a number, string, date, id, bool, or an `Option` of one"
)]
pub trait Sortable: Copy {
    /// Its stored path.
    const PATH: &'static str;
    /// Whether it is in the cold part.
    const COLD: bool;
}

impl<V: Ordered, P: Path, K> Sortable for Field<V, P, K> {
    const PATH: &'static str = P::TEXT;
    const COLD: bool = P::COLD;
}

/// Whether the children of a subset can be sorted by a field of the document itself.
pub const fn is_hot<F: Sortable>(_: F) -> bool {
    !F::COLD
}

/// A field by which children may be sorted. Another bound checks that it is ordered.
pub trait SortPath: Copy {
    /// Its path, to be compared with others.
    const HASH: PathHash;
}

impl<V, P: Path, K> SortPath for Field<V, P, K> {
    const HASH: PathHash = P::HASH;
}

impl<V, P: Path> SortPath for Flattened<V, P> {
    const HASH: PathHash = P::HASH;
}

/// The path of a key of a sort.
pub const fn sort_path<F: SortPath>(_: F) -> PathHash {
    F::HASH
}

/// One key of a sort.
pub const fn sort_key<F: Sortable>(_: F, direction: Direction) -> (&'static str, Direction) {
    (F::PATH, direction)
}
