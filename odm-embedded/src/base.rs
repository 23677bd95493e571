//! The state of the engine as of a checkpoint, with a cache of values that were read from it.
//!
//! A look-up in the engine goes through several pages, each of which is looked up in the cache of pages. The cache of values answers with
//! one look-up. A value is cached when it is read for the second time, since many are read once, with the number of the base for which it was
//! read. It holds for a later one if no checkpoint in between has written its key, as the filters of their memtables tell. So nothing must be
//! removed at a checkpoint, and readers of different bases share the cache.

use std::{
    hash::{Hash, Hasher},
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use odm_store::Result;
use quick_cache::{
    Equivalent, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use super::{
    engine::{BaseBytes, BaseState},
    layout::Tree,
    memtable::KeyFilter,
};

/// The approximate memory of a cached value, in addition to the bytes of its key and value.
const OVERHEAD: usize = 160;

/// A cache has room for this many values of average size before it grows.
const AVERAGE: usize = 4096;

/// The length of a value that is always cached, in bytes.
const SHORT: usize = 1024;

/// How many missed keys are noted, before they are forgotten.
const MAX_MISSES: usize = 1 << 19;

/// How many checkpoints a cached value outlives without a read.
const MAX_FILTERS: usize = 8;

/// A committed or uncommitted state of the engine.
pub(super) struct Base {
    state: BaseState,
    cached: Option<Cached>,
}

/// How a base uses the cache.
#[derive(Clone)]
struct Cached {
    values: Arc<ValueCache>,
    /// The number of the base, in the order of their states.
    number: u64,
    /// The keys that differ from the base before, from the one before that, and so on.
    changed: Vec<Arc<KeyFilter>>,
}

/// A cache of values, by their trees and keys.
pub(super) struct ValueCache {
    values: Values,
    /// The last keys that were read and not found in the cache.
    missed: KeyFilter,
    /// How many of them there are.
    misses: AtomicUsize,
}

type Values = Cache<
    ValueKey,
    Arc<CachedValue>,
    ByMemory,
    ahash::RandomState,
    DefaultLifecycle<ValueKey, Arc<CachedValue>>,
>;

#[derive(PartialEq, Eq)]
struct ValueKey(Tree, Box<[u8]>);

struct CachedValue {
    /// The last base for which the value is known to hold.
    base: AtomicU64,
    bytes: Arc<[u8]>,
}

/// A key that is looked up.
struct Asked<'k>(Tree, &'k [u8]);

impl Hash for ValueKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Asked(self.0, &self.1).hash(state);
    }
}

impl Hash for Asked<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0, self.1).hash(state);
    }
}

impl Equivalent<ValueKey> for Asked<'_> {
    fn equivalent(&self, key: &ValueKey) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

#[derive(Clone)]
struct ByMemory;

impl Weighter<ValueKey, Arc<CachedValue>> for ByMemory {
    fn weight(&self, key: &ValueKey, value: &Arc<CachedValue>) -> u64 {
        (OVERHEAD + key.1.len() + value.bytes.len()) as u64
    }
}

/// A value of the engine.
pub(super) enum BaseValue {
    Read(BaseBytes),
    Cached(Arc<[u8]>),
}

impl ValueCache {
    pub(super) fn new(bytes: usize) -> ValueCache {
        let options = OptionsBuilder::new()
            .weight_capacity(bytes as u64)
            .estimated_items_capacity(bytes / AVERAGE)
            .build();
        let options = options.expect("both capacities are there");
        let (hasher, lifecycle) = (ahash::RandomState::new(), DefaultLifecycle::default());
        ValueCache {
            values: Cache::with_options(options, ByMemory, hasher, lifecycle),
            missed: KeyFilter::default(),
            misses: AtomicUsize::new(0),
        }
    }

    /// Whether the value of a key that was not found is to be cached: if it was read not long ago as well. Of long values it takes a part, since
    /// all save the same look-up, and these cost more to copy, and drive out more others.
    fn admits(&self, tree: Tree, key: &[u8], len: usize) -> bool {
        let before = self.missed.add(tree, key);
        if !before && self.misses.fetch_add(1, Ordering::Relaxed) == MAX_MISSES {
            self.misses.store(0, Ordering::Relaxed);
            self.missed.clear();
        }
        before && (len <= SHORT || fastrand::usize(..len) < SHORT)
    }
}

impl Base {
    /// The first base of a store.
    pub(super) fn first(state: BaseState, values: ValueCache) -> Base {
        let cached = Cached {
            values: Arc::new(values),
            number: 0,
            changed: Vec::new(),
        };
        Base {
            state,
            cached: Some(cached),
        }
    }

    /// The changes of an open transaction, of which nothing is cached.
    pub(super) fn uncommitted(state: BaseState) -> Base {
        Base {
            state,
            cached: None,
        }
    }

    /// The state after this one, which differs in the keys of a filter, or in none.
    pub(super) fn next(&self, state: BaseState, changed: Option<Arc<KeyFilter>>) -> Base {
        let mut cached = self.cached.clone();
        if let (Some(cached), Some(changed)) = (&mut cached, changed) {
            cached.number += 1;
            cached.changed.truncate(MAX_FILTERS - 1);
            cached.changed.insert(0, changed);
        }
        Base { state, cached }
    }

    /// The state after this one, which may differ in all keys.
    pub(super) fn renewed(&self, state: BaseState) -> Base {
        let cached = self.cached.as_ref().map(|before| Cached {
            values: before.values.clone(),
            number: before.number + 1,
            changed: Vec::new(),
        });
        Base { state, cached }
    }

    /// The value of a key.
    #[inline]
    pub(super) fn value(&self, tree: Tree, key: &[u8]) -> Result<Option<BaseValue>> {
        let Some(cached) = &self.cached else {
            return Ok(self.state.get(tree, key)?.map(BaseValue::Read));
        };
        let found = cached.values.values.get(&Asked(tree, key));
        if let Some(value) = found
            && cached.is_current(tree, key, &value)
        {
            return Ok(Some(BaseValue::Cached(value.bytes.clone())));
        }
        let read = self.state.get(tree, key)?;
        if let Some(bytes) = &read
            && cached.values.admits(tree, key, bytes.len())
        {
            let value = CachedValue {
                base: AtomicU64::new(cached.number),
                bytes: (&**bytes).into(),
            };
            let key = ValueKey(tree, key.into());
            cached.values.values.insert(key, Arc::new(value));
        }
        Ok(read.map(BaseValue::Read))
    }
}

impl Cached {
    /// Whether a cached value is that of this base.
    fn is_current(&self, tree: Tree, key: &[u8], value: &CachedValue) -> bool {
        let of = value.base.load(Ordering::Relaxed);
        if of == self.number {
            return true;
        }
        // The value of a later base may be another one.
        let Some(filters) = self.number.checked_sub(of) else {
            return false;
        };
        let Some(changed) = self.changed.get(..filters as usize) else {
            return false;
        };
        let holds = !changed.iter().any(|changed| changed.may_have(tree, key));
        if holds {
            value.base.fetch_max(self.number, Ordering::Relaxed);
        }
        holds
    }
}

impl Deref for Base {
    type Target = BaseState;

    fn deref(&self) -> &BaseState {
        &self.state
    }
}
