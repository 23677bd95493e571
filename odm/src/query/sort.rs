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
        Sort {
            sort: self.sort.then(&other.sort),
            model: PhantomData,
        }
    }

    /// Compares texts without regard to case, by Unicode's simple case folding: "Äpfel" stands beside "äpfel", and "ß" is no
    /// "ss". It is about the whole order, with what is added by [`then`](Sort::then), but not about `_id`. An index that is
    /// `case_insensitive` gives the order.
    ///
    /// ```
    /// # use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
    /// # struct Part { #[serde(rename = "_id")] id: i64, name: String, qty: i64 }
    /// let by_name = Part::fields().name.asc().ignore_case().then(Part::fields().qty.desc());
    /// ```
    pub fn ignore_case(self) -> Sort<M> {
        Sort {
            sort: self.sort.ignoring_case(),
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
        write!(f, "Sort({})", self.sort)
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
