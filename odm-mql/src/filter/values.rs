//! Lists of values that are searched.

use std::{collections::HashSet, fmt, ops::Deref, sync::OnceLock};

use bson::{RawBson, RawBsonRef};

use crate::{key, order::equal};

/// Up to this length a list is searched from its start.
const SHORT: usize = 8;

/// A list of values. A long list is searched by the keys of the values, which are computed at the first search.
#[derive(Default)]
pub struct Values {
    values: Vec<RawBson>,
    keys: OnceLock<HashSet<Vec<u8>>>,
}

impl Values {
    /// Whether one of the values equals this one.
    pub fn has(&self, value: RawBsonRef<'_>) -> bool {
        if self.values.len() <= SHORT {
            let mut values = self.values.iter();
            return values.any(|other| equal(value, other.as_raw_bson_ref()));
        }
        let keys = self.keys.get_or_init(|| {
            let values = self.values.iter();
            values
                .map(|value| key::of(value.as_raw_bson_ref()))
                .collect()
        });
        keys.contains(&key::of(value))
    }
}

impl Deref for Values {
    type Target = [RawBson];

    fn deref(&self) -> &[RawBson] {
        &self.values
    }
}

impl From<Vec<RawBson>> for Values {
    fn from(values: Vec<RawBson>) -> Self {
        Values {
            values,
            keys: OnceLock::new(),
        }
    }
}

impl Clone for Values {
    fn clone(&self) -> Self {
        self.values.clone().into()
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}
