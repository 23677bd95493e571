//! An order, in types.

use std::marker::PhantomData;

use crate::{
    model::{Field, Ordered, Path},
    mql::{self, Direction},
};

/// An order of the documents of `M`.
///
/// It is always total: where the keys are equal, `_id` decides, ascending.
pub struct Sort<M> {
    sort: mql::Sort,
    model: PhantomData<fn() -> M>,
}

impl<M> Sort<M> {
    /// The order by this sort, and where it leaves two documents equal, by the other.
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
    /// From the least to the greatest; what is null or missing first.
    pub fn asc(self) -> Sort<P::Root>
    where
        V: Ordered,
    {
        Sort {
            sort: mql::Sort::new().by(P::TEXT, Direction::Ascending),
            model: PhantomData,
        }
    }

    /// From the greatest to the least; what is null or missing last.
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
