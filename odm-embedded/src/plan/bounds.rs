//! Cuts between keys, and the intervals between two cuts.

use std::{borrow::Cow, cmp::Ordering};

use odm_mql::{Direction, steps};

/// A cut between keys: before, or after, all keys that begin with a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Cut {
    prefix: Vec<u8>,
    after: bool,
}

impl Cut {
    pub(super) fn before(prefix: Vec<u8>) -> Cut {
        Cut {
            prefix,
            after: false,
        }
    }

    pub(super) fn after(prefix: Vec<u8>) -> Cut {
        Cut {
            prefix,
            after: true,
        }
    }

    /// Whether the key of a value comes after the cut.
    fn is_before(&self, key: &[u8]) -> bool {
        match self.after {
            true => *key > *self.prefix && !key.starts_with(&self.prefix),
            false => *key >= *self.prefix,
        }
    }

    /// The same cut among the keys of this direction.
    fn directed(&self, direction: Direction) -> Cut {
        match direction {
            Direction::Ascending => self.clone(),
            Direction::Descending => Cut {
                prefix: self.prefix.iter().map(|byte| !byte).collect(),
                after: !self.after,
            },
        }
    }
}

impl PartialOrd for Cut {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cut {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.prefix, &other.prefix);
        match a.len().cmp(&b.len()) {
            Ordering::Equal if a == b => self.after.cmp(&other.after),
            // The keys that begin with `a` lie between two adjacent keys of `b`'s.
            Ordering::Greater if a.starts_with(b) => match other.after {
                true => Ordering::Less,
                false => Ordering::Greater,
            },
            Ordering::Less if b.starts_with(a) => match self.after {
                true => Ordering::Greater,
                false => Ordering::Less,
            },
            _ => a.cmp(b),
        }
    }
}

/// The keys of a set of values, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Interval {
    /// One value.
    Point(Vec<u8>),
    /// All values between two cuts.
    Range(Cut, Cut),
}

impl Interval {
    /// All values.
    pub(super) fn all() -> Interval {
        Interval::Range(Cut::before(Vec::new()), Cut::after(Vec::new()))
    }

    pub(super) fn is_point(&self) -> bool {
        matches!(self, Interval::Point(_))
    }

    /// The key, if the interval is one value.
    pub(super) fn as_point(&self) -> Option<&[u8]> {
        match self {
            Interval::Point(key) => Some(key),
            Interval::Range(..) => None,
        }
    }

    /// Whether the key of a value is in the interval.
    fn contains(&self, key: &[u8]) -> bool {
        match self {
            Interval::Point(point) => key == point,
            Interval::Range(lower, upper) => lower.is_before(key) && !upper.is_before(key),
        }
    }

    /// Whether the interval ends before the key of a value.
    fn ends_before(&self, key: &[u8]) -> bool {
        match self {
            Interval::Point(point) => &**point < key,
            Interval::Range(_, upper) => upper.is_before(key),
        }
    }

    fn cuts(&self) -> (Cut, Cut) {
        match self {
            Interval::Point(key) => (Cut::before(key.clone()), Cut::after(key.clone())),
            Interval::Range(lower, upper) => (lower.clone(), upper.clone()),
        }
    }

    /// The cut that ends the interval.
    fn upper(&self) -> Cow<'_, Cut> {
        match self {
            Interval::Point(key) => Cow::Owned(Cut::after(key.clone())),
            Interval::Range(_, upper) => Cow::Borrowed(upper),
        }
    }

    /// The same values among the keys of this direction: from the first cut to the second.
    pub(super) fn directed(&self, direction: Direction) -> (Cut, Cut) {
        let (lower, upper) = self.cuts();
        match direction {
            Direction::Ascending => (lower, upper),
            Direction::Descending => (upper.directed(direction), lower.directed(direction)),
        }
    }

    /// The intersection, or `None` if it is empty.
    fn intersect(&self, other: &Interval) -> Option<Interval> {
        if self == other {
            return Some(self.clone());
        }
        let ((a_lower, a_upper), (b_lower, b_upper)) = (self.cuts(), other.cuts());
        let (lower, upper) = (a_lower.max(b_lower), a_upper.min(b_upper));
        if lower >= upper {
            return None;
        }
        // A point is never cut into parts: it is in a range as a whole or not at all.
        Some(match (self, other) {
            (Interval::Point(_), _) => self.clone(),
            (_, Interval::Point(_)) => other.clone(),
            _ => Interval::Range(lower, upper),
        })
    }
}

/// Whether the key of a value is in a set, which is in ascending order.
pub(super) fn contains(set: &[Interval], key: &[u8]) -> bool {
    let at = set.partition_point(|interval| interval.ends_before(key));
    set.get(at).is_some_and(|interval| interval.contains(key))
}

/// The intersection of two sets. In each, the intervals are disjoint and in ascending order.
fn intersect(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut both = Vec::new();
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        steps::step();
        both.extend(one.intersect(other));
        // The interval that ends first is disjoint from the next of the other set.
        match one.upper() <= other.upper() {
            true => a.next(),
            false => b.next(),
        };
    }
    both
}

/// The intersection of sets, as [`intersect`] of two: the short ones first, so that each value of a long one is compared once. `None` if
/// there is no set.
pub(super) fn intersection<'i>(mut sets: Vec<Cow<'i, [Interval]>>) -> Option<Cow<'i, [Interval]>> {
    sets.sort_by_key(|set| set.len());
    let mut sets = sets.into_iter();
    let first = sets.next()?;
    Some(sets.fold(first, |all, set| intersect(&all, &set).into()))
}

/// Keys of a tree from `lower`, included, to `upper`, excluded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct KeyRange {
    pub(in super::super) lower: Vec<u8>,
    pub(in super::super) upper: Vec<u8>,
}

impl KeyRange {
    /// The keys between two cuts after a prefix.
    pub(super) fn new(prefix: &[u8], lower: &Cut, upper: &Cut) -> KeyRange {
        KeyRange {
            lower: position(prefix, lower),
            upper: position(prefix, upper),
        }
    }
}

/// Whether some of these ranges have keys in common.
pub(super) fn overlap(mut ranges: Vec<&KeyRange>) -> bool {
    ranges.sort_unstable();
    let pairs = ranges.windows(2);
    pairs.into_iter().any(|pair| pair[0].upper > pair[1].lower)
}

fn position(prefix: &[u8], cut: &Cut) -> Vec<u8> {
    let mut key = Vec::with_capacity(prefix.len() + cut.prefix.len());
    key.extend_from_slice(prefix);
    key.extend_from_slice(&cut.prefix);
    if cut.after {
        super::super::layout::after_prefix(&key)
    } else {
        key
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_before_a_prefix_is_before_all_that_begin_with_it() {
        let before = Cut::before(vec![5]);
        let after = Cut::after(vec![5]);
        let within = Cut::before(vec![5, 9]);
        let beyond = Cut::before(vec![6]);
        let cuts = [before, within, after, beyond];
        for (i, a) in cuts.iter().enumerate() {
            for (j, b) in cuts.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_descending_interval_has_its_ends_swapped() {
        let interval = Interval::Range(Cut::before(vec![5]), Cut::after(vec![7]));
        let (lower, upper) = interval.directed(Direction::Descending);
        assert_eq!(lower, Cut::before(vec![!7]));
        assert_eq!(upper, Cut::after(vec![!5]));
    }

    #[test]
    fn intervals_that_only_touch_have_nothing_in_common() {
        let low = Interval::Range(Cut::before(vec![1]), Cut::before(vec![5]));
        let high = Interval::Range(Cut::before(vec![5]), Cut::after(vec![9]));
        assert_eq!(low.intersect(&high), None);
        assert_eq!(
            high.intersect(&Interval::Point(vec![5])),
            Some(Interval::Point(vec![5]))
        );
        assert_eq!(low.intersect(&Interval::Point(vec![5])), None);
    }

    /// Disjoint intervals in ascending order: a point, a range or nothing at each second key.
    fn set() -> impl Strategy<Value = Vec<Interval>> {
        let parts = prop::collection::vec(0..4_u8, 0..12);
        parts.prop_map(|parts| {
            let mut set = Vec::new();
            for (at, part) in parts.into_iter().enumerate() {
                let at = at as u8 * 2;
                match part {
                    0 => set.push(Interval::Point(vec![at])),
                    1 => set.push(Interval::Range(
                        Cut::before(vec![at]),
                        Cut::after(vec![at + 1]),
                    )),
                    2 => set.push(Interval::Range(
                        Cut::after(vec![at]),
                        Cut::before(vec![at + 2]),
                    )),
                    _ => {}
                }
            }
            set
        })
    }

    proptest! {
        #[test]
        fn an_intersection_has_the_keys_that_are_in_all_sets(
            sets in prop::collection::vec(set(), 1..4),
        ) {
            let both = intersection(sets.iter().map(|set| set.into()).collect()).expect("a set");
            for key in (0..30_u8).flat_map(|key| [vec![key], vec![key, 7]]) {
                let in_all = sets.iter().all(|set| contains(set, &key));
                prop_assert_eq!(contains(&both, &key), in_all, "{:?}", key);
            }
            let pairs = both.windows(2);
            prop_assert!(pairs.into_iter().all(|pair| *pair[0].upper() <= pair[1].cuts().0));
        }
    }
}
