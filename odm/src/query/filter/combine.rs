//! Filters of filters.

use std::{
    marker::PhantomData,
    ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not},
};

use odm_mql as mql;
use odm_store::Error;

use super::Filter;

impl<M> Filter<M> {
    /// A filter that is made of others, with its greatest nesting depth.
    fn combined(filter: mql::Filter, nesting: usize) -> Self {
        let is_too_deep = nesting > mql::Filter::MAX_NESTING;
        Filter {
            filter: match is_too_deep {
                true => Err(mql::Error::TooDeep(mql::Filter::MAX_NESTING).into()),
                false => Ok(filter),
            },
            nesting,
            model: PhantomData,
        }
    }

    fn failed(error: Error) -> Self {
        Filter::from_mql(Err(error))
    }
}

impl<M> BitAnd for Filter<M> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        let within = |filter: &mql::Filter, nesting| match filter {
            mql::Filter::And(_) => nesting,
            _ => 2 + nesting,
        };
        let is_all = |filter: &mql::Filter| *filter == mql::Filter::default();
        match (self.filter, other.filter) {
            (Ok(left), Ok(right)) => {
                let nesting = match (is_all(&left), is_all(&right)) {
                    (true, _) => other.nesting,
                    (_, true) => self.nesting,
                    _ => within(&left, self.nesting).max(within(&right, other.nesting)),
                };
                Filter::combined(left.and(right), nesting)
            }
            (Err(error), _) | (_, Err(error)) => Filter::failed(error),
        }
    }
}

impl<M> BitOr for Filter<M> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        let alternatives = |filter, nesting| match filter {
            mql::Filter::Or(alternatives) => (alternatives, nesting),
            alternative => (vec![alternative], 2 + nesting),
        };
        match (self.filter, other.filter) {
            (Ok(left), Ok(right)) => {
                let (mut all, left) = alternatives(left, self.nesting);
                let (more, right) = alternatives(right, other.nesting);
                all.extend(more);
                Filter::combined(mql::Filter::Or(all), left.max(right))
            }
            (Err(error), _) | (_, Err(error)) => Filter::failed(error),
        }
    }
}

impl<M> BitAndAssign for Filter<M> {
    fn bitand_assign(&mut self, other: Self) {
        *self = std::mem::replace(self, Filter::all()) & other;
    }
}

impl<M> BitOrAssign for Filter<M> {
    fn bitor_assign(&mut self, other: Self) {
        *self = std::mem::replace(self, Filter::all()) | other;
    }
}

impl<M> Not for Filter<M> {
    type Output = Self;

    fn not(self) -> Self {
        match self.filter {
            Ok(filter) => Filter::combined(mql::Filter::Nor(vec![filter]), 2 + self.nesting),
            Err(error) => Filter::failed(error),
        }
    }
}
