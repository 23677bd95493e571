//! The types whose content is known, so that no reference is hidden in a stored value.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    marker::PhantomData,
    num,
    rc::Rc,
    sync::Arc,
};

use super::{Cold, DateTime, ObjectId, Ref, Referable, Subset};

/// A type of which the library knows whether there are references in it: a scalar, an embedded value, or
/// a container or tuple of these.
///
/// The type of each field without `#[opaque]` is one. The derive of `Embed` implements it. A generic model
/// names it where its own bounds do not imply it.
#[diagnostic::on_unimplemented(
    message = "what is in `{Self}` is not known, and it could hold references",
    label = "neither a scalar, nor a container of scalars",
    note = "if it is a struct or enum of yours, derive `Embed` for it, and mark the field with \
            `#[embed]`; if it is a document, store a `Ref` to it",
    note = "if it is another type without a `Ref` in it, mark the field with `#[opaque]`"
)]
pub trait Known {
    /// Whether there are references or embedded values in it, so that a field of it has a mark.
    #[doc(hidden)]
    const RELATED: bool = false;
}

/// A key of a stored map, whose keys are names: it is written as a string.
///
/// Implement it for a type of your own around a string, and for an enum of variants without content.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a stored map",
    label = "a map is stored as an object, whose keys are strings",
    note = "use `String`; for a type of yours that is written as a string, implement \
            `odm::model::MapKey`"
)]
pub trait MapKey {}

impl MapKey for String {}
impl MapKey for str {}
impl<K: MapKey + ?Sized> MapKey for Box<K> {}
impl<K: MapKey + ?Sized> MapKey for Rc<K> {}
impl<K: MapKey + ?Sized> MapKey for Arc<K> {}
impl<K: MapKey + ToOwned + ?Sized> MapKey for Cow<'_, K> {}

macro_rules! scalars {
    ($($type:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Known for $type {}
    )* };
}
scalars!(() str String char bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64
    num::NonZeroI8 num::NonZeroI16 num::NonZeroI32 num::NonZeroI64 num::NonZeroIsize
    num::NonZeroU8 num::NonZeroU16 num::NonZeroU32 num::NonZeroU64 num::NonZeroUsize
    std::net::IpAddr std::net::Ipv4Addr std::net::Ipv6Addr std::net::SocketAddr
    std::path::PathBuf std::time::Duration std::time::SystemTime DateTime ObjectId
    bson::oid::ObjectId bson::DateTime bson::Timestamp bson::Decimal128 bson::Binary bson::Regex
    bson::Uuid bson::Bson bson::Document bson::RawBson bson::RawDocumentBuf bson::RawArrayBuf);

macro_rules! containers {
    ($(<$($param:ident $(: $bound:path)?),*> $type:ty;)*) => { $(
        impl<T: Known, $($param $(: $bound)?),*> Known for $type {
            const RELATED: bool = T::RELATED;
        }
    )* };
}
containers! {
    <> Option<T>;
    <> Vec<T>;
    <> VecDeque<T>;
    <> LinkedList<T>;
    <> BinaryHeap<T>;
    <> BTreeSet<T>;
    <S> HashSet<T, S>;
    <K: MapKey> BTreeMap<K, T>;
    <K: MapKey, S> HashMap<K, T, S>;
    <> [T];
}

impl<T: Known, const N: usize> Known for [T; N] {
    const RELATED: bool = T::RELATED;
}

macro_rules! pointers {
    ($($pointer:ident)*) => { $(
        impl<T: Known + ?Sized> Known for $pointer<T> {
            const RELATED: bool = T::RELATED;
        }
    )* };
}
pointers!(Box Rc Arc);

impl<T: Known + ToOwned + ?Sized> Known for Cow<'_, T> {
    const RELATED: bool = T::RELATED;
}

impl<T: ?Sized> Known for PhantomData<T> {}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => { $(
        impl<$first: Known, $($rest: Known),*> Known for ($first, $($rest,)*) {
            const RELATED: bool = $first::RELATED $(|| $rest::RELATED)*;
        }
        tuples!($($rest)*);
    )? };
}
tuples!(A B C D E F G H I J K L);

macro_rules! related {
    ($($(#[$attr:meta])* <$param:ident $(: $bound:path)?> $type:ty;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<$param $(: $bound)?> Known for $type {
            const RELATED: bool = true;
        }
    )* };
}
related! {
    <T: Referable> Ref<T>;
    <T> Subset<T>;
    <T> Cold<T>;
}
