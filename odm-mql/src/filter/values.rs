//! Lists of values that are searched.

use std::{
    collections::HashSet,
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bson::{RawBson, RawBsonRef};

use crate::{Collation, key, order::equal_by};

/// Up to this length a list is searched from its start.
const SHORT: usize = 8;

/// A list of values. A long list is searched by the keys of the values, which are computed at the first search.
#[derive(Clone, Default)]
pub struct Values(Arc<KeyedValues>);

#[derive(Default)]
struct KeyedValues {
    values: Vec<RawBson>,
    keys: OnceLock<ValueKeys>,
}

/// The keys of the values, which are in the order of a collation.
struct ValueKeys {
    keys: HashSet<Vec<u8>>,
    collation: Option<Collation>,
}

impl Values {
    /// Whether one of the values equals this one.
    pub fn has(&self, value: RawBsonRef<'_>) -> bool {
        self.has_by(None, value)
    }

    /// Whether one of the values equals this one, with the texts compared by a collation.
    pub(super) fn has_by(&self, collation: Option<&Collation>, value: RawBsonRef<'_>) -> bool {
        let searched = || {
            let mut values = self.0.values.iter();
            values.any(|other| equal_by(collation, value, other.as_raw_bson_ref()))
        };
        if self.0.values.len() <= SHORT {
            return searched();
        }
        let key = |value| key::of_by(collation, value);
        let known = self.0.keys.get_or_init(|| {
            let values = self.0.values.iter();
            ValueKeys {
                keys: values.map(|value| key(value.as_raw_bson_ref())).collect(),
                collation: collation.cloned(),
            }
        });
        // A filter has one collation, so that the keys are those of the first search.
        if known.collation.as_ref() == collation {
            known.keys.contains(&key(value))
        } else {
            searched()
        }
    }
}

impl Deref for Values {
    type Target = [RawBson];

    fn deref(&self) -> &[RawBson] {
        &self.0.values
    }
}

impl From<Vec<RawBson>> for Values {
    fn from(values: Vec<RawBson>) -> Self {
        Values(Arc::new(KeyedValues {
            values,
            keys: OnceLock::new(),
        }))
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.0.values == other.0.values
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.values.fmt(f)
    }
}
