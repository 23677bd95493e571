//! Typed sorts.

use std::marker::PhantomData;

use crate::{
    model::{Field, Ordered, Path},
    mql::{self, Direction},
};

/// A sort order of the documents of `M`.
///
/// It is always total: documents with equal keys are in the order of their `_id`s.
#[must_use = "a sort does nothing until a query uses it"]
pub struct Sort<M> {
    sort: mql::Sort,
    model: PhantomData<fn() -> M>,
}

impl<M> Sort<M> {
    /// Adds another sort as a tie-breaker.
    pub fn then(self, other: Sort<M>) -> Sort<M> {
        let keys = other.sort.keys().to_vec();
        let sort = keys.into_iter().fold(self.sort, |sort, (path, direction)| {
            sort.by(path, direction)
        });
        Sort {
            sort,
            model: PhantomData,
        }
    }

    pub(super) fn from_mql(sort: mql::Sort) -> Self {
        Sort {
            sort,
            model: PhantomData,
        }
    }

    pub(crate) fn into_mql(self) -> mql::Sort {
        self.sort
    }
}

impl<M> Clone for Sort<M> {
    fn clone(&self) -> Self {
        Sort {
            sort: self.sort.clone(),
            model: PhantomData,
        }
    }
}

impl<M> std::fmt::Debug for Sort<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sort({})", self.sort.to_document())
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Sorts from the least to the greatest value. Null or missing values come first.
    pub fn asc(self) -> Sort<P::Root>
    where
        V: Ordered,
    {
        Sort {
            sort: mql::Sort::new().by(P::TEXT, Direction::Ascending),
            model: PhantomData,
        }
    }

    /// Sorts from the greatest to the least value. Null or missing values come last.
    pub fn desc(self) -> Sort<P::Root>
    where
        V: Ordered,
    {
        Sort {
            sort: mql::Sort::new().by(P::TEXT, Direction::Descending),
            model: PhantomData,
        }
    }
}
