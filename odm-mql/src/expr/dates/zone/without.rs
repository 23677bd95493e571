//! The type in the place of the rules of a place, without the feature `time-zones`: it has no values.

#[derive(Debug, Clone, PartialEq)]
pub(in crate::expr::dates) enum NoPlace {}

/// Why a zone is not found.
pub(super) const MISSING: &str = " without the feature `time-zones`";

impl NoPlace {
    pub(super) fn named(_: &str) -> Option<NoPlace> {
        None
    }

    pub(super) fn offset_at(&self, _: i64) -> i64 {
        match *self {}
    }

    pub(super) fn time_of(&self, _: i64) -> Option<i64> {
        match *self {}
    }
}
