//! The checks of a projection's fields against the fields of its document.

use std::marker::PhantomData;

use crate::model::{Field, Flattened, Path};

/// A field of a document, as a projection shows it.
pub trait Shown: Copy {
    /// The type of its value.
    type Value;
    /// Its stored path; empty if it is flattened.
    const PATH: &'static str;
    /// Whether it is in the cold part.
    const COLD: bool;
}

impl<V, P: Path, K> Shown for Field<V, P, K> {
    type Value = V;
    const PATH: &'static str = P::TEXT;
    const COLD: bool = P::COLD;
}

impl<V, P: Path> Shown for Flattened<V, P> {
    type Value = V;
    const PATH: &'static str = P::TEXT;
    const COLD: bool = P::COLD;
}

/// The field of a document whose part in a projection is being checked.
pub struct Source<F>(PhantomData<fn() -> F>);

/// Starts the check of a projection's field.
pub const fn source<F: Shown>(_: F) -> Source<F> {
    Source(PhantomData)
}

impl<F: Shown> Source<F> {
    /// The type in the projection must be the same.
    pub const fn shown_as<T: SameAs<F::Value>>(self) -> Self {
        self
    }

    /// And so must the stored name.
    pub const fn is_stored_as(&self, name: &str) -> bool {
        same(F::PATH, name)
    }

    /// And it must be in the document itself.
    pub const fn is_hot(&self) -> bool {
        !F::COLD
    }
}

/// Whether two texts are the same.
pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut equal = a.len() == b.len();
    let mut i = 0;
    while equal && i < a.len() {
        equal = a[i] == b[i];
        i += 1;
    }
    equal
}

/// The same type.
#[diagnostic::on_unimplemented(
    message = "a projection shows a field as it is: this one is `{Self}`, in the document it is `{V}`",
    label = "expected `{V}`"
)]
pub trait SameAs<V> {}

impl<T> SameAs<T> for T {}
