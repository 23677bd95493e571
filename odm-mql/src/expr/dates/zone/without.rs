//! What there is in the place of the rules of places without the feature `time-zones`: none.

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
