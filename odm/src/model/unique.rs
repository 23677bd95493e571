//! Unique keys: fields of a document that have a unique index.

use super::{Field, Path};

/// The fields of a unique index of `M`, as for an upsert: `User::fields().email` if it is marked `#[index(unique)]`, or a tuple, in the
/// order of the index: `(fields.team, fields.name)` with `#[document(unique(fields = "team, name"))]`. They are fields of the document
/// itself, not of values that it embeds.
#[diagnostic::on_unimplemented(
    message = "this is not the key of a unique index of `{M}`",
    label = "`{M}` has no unique index of this",
    note = "name a field with `#[index(unique)]`, as `{M}::fields().email`, or the fields of a \
            `#[document(unique(fields = \"a, b\"))]` in this order: their values are those of the document"
)]
pub trait UniqueKey<M> {
    /// Its stored form.
    #[doc(hidden)]
    const STORED: StoredKey;
}

/// A unique key as it is stored.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct StoredKey {
    pub(crate) paths: &'static [&'static str],
    pub(crate) ignores_case: bool,
}

/// A document with a unique index of the fields at the paths `P`, a tuple. The derive implements it.
#[doc(hidden)]
pub trait HasUnique<P> {
    /// Whether the index ignores case.
    const IGNORES_CASE: bool;
}

#[diagnostic::do_not_recommend]
impl<M: HasUnique<(P,)>, V, P: Path, K> UniqueKey<M> for Field<V, P, K> {
    const STORED: StoredKey = StoredKey {
        paths: &[P::TEXT],
        ignores_case: M::IGNORES_CASE,
    };
}

macro_rules! impl_unique_key {
    ($($value:ident $path:ident $kind:ident),+) => {
        #[diagnostic::do_not_recommend]
        impl<M, $($value, $path: Path, $kind),+> UniqueKey<M> for ($(Field<$value, $path, $kind>,)+)
        where
            M: HasUnique<($($path,)+)>,
        {
            const STORED: StoredKey = StoredKey {
                paths: &[$($path::TEXT),+],
                ignores_case: M::IGNORES_CASE,
            };
        }
    };
}

impl_unique_key!(V1 P1 K1, V2 P2 K2);
impl_unique_key!(V1 P1 K1, V2 P2 K2, V3 P3 K3);
impl_unique_key!(V1 P1 K1, V2 P2 K2, V3 P3 K3, V4 P4 K4);
