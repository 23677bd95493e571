//! Random values, many of them at the edges of their types.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::IpAddr,
    num::NonZeroU8,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use odm::{bson, prelude::*};

/// SplitMix64.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

/// A type that has random values.
pub(crate) trait Any: Sized {
    fn any(rng: &mut Rng) -> Self;

    /// Whether BSON can represent the value.
    fn is_storable(&self) -> bool {
        true
    }
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Any for $type {
            fn any(rng: &mut Rng) -> Self {
                match rng.below(4) {
                    0 => rng.one_of(&[$type::MIN, $type::MAX, 0, 1]),
                    1 => (rng.below(7) as $type).wrapping_sub(3),
                    _ => rng.next() as $type,
                }
            }

            fn is_storable(&self) -> bool {
                i64::try_from(*self).is_ok()
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! any {
    ($($type:ty: |$rng:ident| $value:expr;)*) => { $(
        impl Any for $type {
            fn any($rng: &mut Rng) -> Self {
                $value
            }
        }
    )* };
}
any! {
    (): |_rng| ();
    bool: |rng| rng.below(2) == 0;
    char: |rng| rng.one_of(&['a', '\0', '$', '.', 'é', '\u{10ffff}']);
    f32: |rng| rng.one_of(&[0.0, -0.0, 1.5, f32::MIN, f32::MAX, f32::INFINITY, f32::NAN, 1e-45]);
    f64: |rng| match rng.below(2) {
        0 => rng.one_of(&[0.0, -0.0, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324]),
        _ => f64::from(i32::any(rng)) / 3.0,
    };
    String: |rng| match rng.below(40) {
        0 => "x".repeat(16 * 1024),
        1 => "ß".repeat(8 * 1024),
        _ => rng.one_of(&["", "a", "b", "\0", "$", ".", "$set", "a.b", "0", "null", "😀", "a\0b"]).into(),
    };
    ObjectId: |rng| {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&rng.next().to_le_bytes());
        ObjectId::from_bytes(bytes)
    };
    DateTime: |rng| DateTime::from_millis(match rng.below(2) {
        0 => rng.one_of(&[0, -1, i64::MIN, i64::MAX]),
        _ => rng.next() as i64 / 1_000_000,
    });
    bson::Decimal128: |rng| {
        let text = rng.one_of(&["0", "-0", "1.50", "NaN", "Infinity", "9.999999999999999999999999999999999E+6144"]);
        text.parse().expect("a decimal")
    };
    bson::Uuid: |rng| {
        let mut bytes = [7; 16];
        bytes[..8].copy_from_slice(&rng.next().to_le_bytes());
        bson::Uuid::from_bytes(bytes)
    };
    bson::Binary: |rng| bson::Binary {
        subtype: rng.one_of(&[
            bson::spec::BinarySubtype::Generic,
            bson::spec::BinarySubtype::Uuid,
            bson::spec::BinarySubtype::UserDefined(0x80),
        ]),
        bytes: Any::any(rng),
    };
    // A timestamp of zeros is replaced by the time of the write, as in MongoDB.
    bson::Timestamp: |rng| bson::Timestamp { time: Any::any(rng), increment: u32::any(rng).max(1) };
    IpAddr: |rng| match rng.below(2) {
        0 => IpAddr::from(u32::any(rng).to_be_bytes()),
        _ => IpAddr::from(u128::from(rng.next()).to_be_bytes()),
    };
    NonZeroU8: |rng| rng.one_of(&[NonZeroU8::MIN, NonZeroU8::MAX]);
    PathBuf: |rng| PathBuf::from(rng.one_of(&["", "a/b", "$", "\0"]));
    Duration: |rng| Duration::new(u32::any(rng).into(), u32::any(rng) % 1_000_000_000);
    SystemTime: |rng| SystemTime::UNIX_EPOCH + Duration::any(rng);
}

impl<T: Any> Any for Option<T> {
    fn any(rng: &mut Rng) -> Self {
        (rng.below(3) > 0).then(|| T::any(rng))
    }

    fn is_storable(&self) -> bool {
        self.iter().all(T::is_storable)
    }
}

impl<T: Any> Any for Box<T> {
    fn any(rng: &mut Rng) -> Self {
        Box::new(T::any(rng))
    }

    fn is_storable(&self) -> bool {
        T::is_storable(self)
    }
}

macro_rules! lists {
    ($($type:ident<T $(: $bound:ident)?>;)*) => { $(
        impl<T: Any $(+ $bound)?> Any for $type<T> {
            fn any(rng: &mut Rng) -> Self {
                (0..rng.below(4)).map(|_| T::any(rng)).collect()
            }

            fn is_storable(&self) -> bool {
                self.iter().all(T::is_storable)
            }
        }
    )* };
}
lists! { Vec<T>; VecDeque<T>; BTreeSet<T: Ord>; }

impl<T: Any, const N: usize> Any for [T; N] {
    fn any(rng: &mut Rng) -> Self {
        std::array::from_fn(|_| T::any(rng))
    }

    fn is_storable(&self) -> bool {
        self.iter().all(T::is_storable)
    }
}

impl<A: Any, B: Any> Any for (A, B) {
    fn any(rng: &mut Rng) -> Self {
        (A::any(rng), B::any(rng))
    }

    fn is_storable(&self) -> bool {
        self.0.is_storable() && self.1.is_storable()
    }
}

impl<T: Any> Any for BTreeMap<String, T> {
    fn any(rng: &mut Rng) -> Self {
        (0..rng.below(3)).map(|_| (String::any(rng), T::any(rng))).collect()
    }

    fn is_storable(&self) -> bool {
        // The names of fields end at a NUL.
        self.iter().all(|(name, value)| !name.contains('\0') && value.is_storable())
    }
}

/// Random values of a struct, of these fields.
macro_rules! any_struct {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl crate::readable::values::Any for $type {
            fn any(rng: &mut crate::readable::values::Rng) -> Self {
                $type { $($field: crate::readable::values::Any::any(rng)),* }
            }

            fn is_storable(&self) -> bool {
                true $(&& crate::readable::values::Any::is_storable(&self.$field))*
            }
        }
    };
}
pub(crate) use any_struct;

/// The description of a model for the cases: its fields, the fields that an update can set, and the compared fields.
macro_rules! model {
    (
        $type:ident: $($field:ident)*; set $($set:ident)*; eq $($eq:ident)*
        $(; read |$value:ident| $read:expr)?
        $(; modified |$after:ident| $modified:expr)?
    ) => {
        crate::readable::values::any_struct!($type { id, $($field),* });

        impl crate::readable::Model for $type {
            fn with_id(self, id: i64) -> Self {
                $type { id, ..self }
            }

            $(fn read(self) -> Self {
                let mut $value = self;
                $read;
                $value
            })?

            $(fn modified(self) -> Self {
                let mut $after = self;
                $modified;
                $after
            })?

            fn changes(&self) -> odm::prelude::Update<Self> {
                odm::prelude::Update::new()$(.set($type::fields().$set, self.$set.clone()))*
            }

            fn changed(mut self, by: &Self) -> Self {
                $(self.$set = by.$set.clone();)*
                self
            }

            fn filters(&self) -> Vec<odm::prelude::Filter<Self>> {
                vec![$($type::fields().$eq.eq(self.$eq.clone())),*]
            }
        }
    };
}
pub(crate) use model;
