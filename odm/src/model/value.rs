//! Values that are compared with fields or stored in them.

use std::{
    any::Any,
    collections::{BTreeSet, HashSet, VecDeque},
    num,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bson::{Decimal128, RawBson};
use odm_store::{Error, ErrorKind, Result};
use serde::{Serialize, Serializer, de::DeserializeOwned};

use super::{Cold, DateTime, Document, IntoId, ObjectId, Ref, Unreadable, read_value, unstorable};

/// A value that can be compared with, or stored in, a field of type `V`.
///
/// Besides `V` itself: `&str` for a `String`, a value for its `Option`, and for a `Ref` the document or its `_id`, and vice versa. The
/// compiler infers `How`.
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` cannot be compared with or stored in a field of type `{V}`",
    label = "expected `{V}`"
)]
pub trait IntoValue<V, How = Same> {
    /// The value.
    fn into_value(self) -> V;
}

/// The value is of the field's type, or converts to it by itself.
pub struct Same;
/// The value names the referenced document.
pub struct ById;
/// The value is a cold part.
pub struct Loaded;
/// The value is converted to an `Option` of itself.
pub struct ViaSome<How>(std::marker::PhantomData<How>);

impl<V> IntoValue<V, Same> for V {
    fn into_value(self) -> V {
        self
    }
}

macro_rules! texts {
    ($($text:ty)*) => { $(
        impl IntoValue<$text, ById> for &str {
            fn into_value(self) -> $text {
                self.into()
            }
        }

        impl IntoValue<$text, ById> for &String {
            fn into_value(self) -> $text {
                self.as_str().into()
            }
        }

        impl Text for $text {}

        impl Contains for $text {
            type Item = String;
            const SUBSTRING: bool = true;
        }
    )* };
}
texts!(String Box<str> Arc<str>);

impl<T: Document, I: IntoId<T, How = ById>> IntoValue<Ref<T>, ById> for I {
    fn into_value(self) -> Ref<T> {
        Ref::new(self.into_id())
    }
}

impl<V, How, T: IntoValue<V, How>> IntoValue<Option<V>, ViaSome<How>> for T {
    fn into_value(self) -> Option<V> {
        Some(self.into_value())
    }
}

impl<T> IntoValue<Cold<T>, Loaded> for T {
    fn into_value(self) -> Cold<T> {
        Cold::new(self)
    }
}

/// The value as BSON, exactly as a document would hold it.
///
/// # Errors
///
/// `Encode` if the value cannot be stored, such as a `u64` above `i64::MAX`.
pub(crate) fn to_raw<V: Serialize + ?Sized>(value: &V) -> Result<RawBson> {
    written(value).map_err(|why| unwritten(*why))
}

/// The id as BSON: the same as by [`to_raw`], but for the common types of ids without the document through which serde writes a value.
pub(crate) fn id_to_raw<M: Document>(id: &M::Id) -> Result<RawBson> {
    struct Key<'a, M: Document>(&'a M::Id);

    impl<M: Document> Serialize for Key<'_, M> {
        fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            M::write_key(self.0, serializer)
        }
    }

    plain(id).map_or_else(|| to_raw(&Key::<M>(id)), Ok)
}

fn plain(value: &dyn Any) -> Option<RawBson> {
    macro_rules! plain {
        ($($plain:ty => $raw:expr),*) => { $(
            if let Some(value) = value.downcast_ref::<$plain>() {
                return Some($raw(value.clone()));
            }
        )* };
    }
    plain!(ObjectId => RawBson::from, String => RawBson::String, i64 => RawBson::Int64, i32 => RawBson::Int32);
    None
}

/// The value of the field at a path as BSON. The location of the error has the path, and no collection yet.
pub(crate) fn to_raw_at<V: Serialize + ?Sized>(path: &str, value: &V) -> Result<RawBson> {
    written(value).map_err(|why| {
        let why = why.within(path);
        let path = why.path.clone();
        unwritten(*why).at("", Some(&path), None)
    })
}

#[cold]
fn unwritten(why: Unreadable) -> Error {
    let message = format!("a value cannot be written as BSON: {why}");
    Error::new(ErrorKind::Encode, message).with_source(why.source)
}

fn written<V: Serialize + ?Sized>(value: &V) -> Result<RawBson, Box<Unreadable>> {
    // Through a document: a bare value would go through the human readable serializer, which writes ids and dates as texts.
    #[derive(Serialize)]
    struct Holder<'a, V: ?Sized> {
        v: &'a V,
    }
    let holder = bson::serialize_to_raw_document_buf(&Holder { v: value });
    let held = holder.and_then(|holder| Ok(holder.get("v")?.map(RawBson::from)));
    let held = held.map_err(|error| unstorable(value, error))?;
    Ok(held.unwrap_or(RawBson::Null))
}

/// Values with an order that their stored form keeps, so that ranges and sorts are meaningful.
///
/// An enum without content is stored as the names of its variants. The derive of `Embed` implements this for an enum whose stored names are
/// in alphabetical order, which is then the order of its variants:
///
/// ```
/// # use odm::prelude::*; use serde::{Deserialize, Serialize};
/// #[derive(Serialize, Deserialize, Embed)]
/// enum Priority {
///     #[serde(rename = "1-low")]
///     Low,
///     #[serde(rename = "2-high")]
///     High,
/// }
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "tasks")]
/// # struct Task { #[serde(rename = "_id")] id: i64, #[embed] priority: Priority }
/// let urgent = Task::fields().priority.gt(Priority::Low);
/// ```
///
/// Implement it for an opaque type of your own if its stored form keeps its order, such as an enum around a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no order to compare or sort by",
    label = "not ordered",
    note = "a number, string, date, id, bool, or an `Option` of one has",
    note = "an enum is stored as the names of its variants, and has an order if these are in alphabetical order, \
            as by `#[serde(rename = \"1-low\")]`",
    note = "an IP address is stored as its text, which sorts otherwise"
)]
pub trait Ordered {
    /// The type of a present value: the inner type of an `Option`, else the type itself.
    type Present: ?Sized;
}

macro_rules! ordered {
    ($($t:ty)*) => { $(
        impl Ordered for $t {
            type Present = Self;
        }
    )* };
}
ordered!(str String char bool i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 DateTime ObjectId
    bson::DateTime bson::oid::ObjectId Decimal128 bson::Timestamp num::NonZeroI8 num::NonZeroI16
    num::NonZeroI32 num::NonZeroI64 num::NonZeroIsize num::NonZeroU8 num::NonZeroU16 num::NonZeroU32
    num::NonZeroU64 num::NonZeroUsize);
ordered!(bson::Uuid);
#[cfg(feature = "url")]
ordered!(url::Url);
// The seconds are stored before the nanoseconds.
ordered!(Duration SystemTime);

impl<T: Ordered> Ordered for Option<T> {
    type Present = T::Present;
}

impl<T: Ordered + ?Sized> Ordered for Box<T> {
    type Present = Self;
}

impl<T: Ordered + ?Sized> Ordered for Arc<T> {
    type Present = Self;
}

impl<T: Document<StoredKey: Ordered>> Ordered for Ref<T> {
    type Present = Self;
}

/// Values that can be absent.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be removed",
    label = "no `Option`",
    note = "a document could not be read without it: make it an `Option`, or `set` it to another value"
)]
pub trait Optional {}

impl<T> Optional for Option<T> {}

/// Types whose distinct values a query can list: types with an order, and lists of such, whose elements are listed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no values in an order that could be listed",
    label = "neither ordered nor a list of ordered values",
    note = "a number, string, date, id, bool, an `Option` of one, or a list of these has"
)]
pub trait Distinct {
    /// The type of a listed value: the element type of an array, else the type itself.
    type Value;
}

impl<T: Ordered> Distinct for T {
    type Value = T;
}

/// The type of a field whose values a query can return: as the native type for a field in its [native form](crate::native), else as the
/// type itself.
#[diagnostic::on_unimplemented(
    message = "a query cannot return a value of type `{Self}`",
    label = "not a type that can be read",
    note = "such a type implements serde's `Deserialize`, and borrows nothing"
)]
pub trait Returned<How> {
    /// The type that is returned.
    type Value: Send + 'static;
    #[doc(hidden)]
    fn read(value: RawBson) -> Result<Self::Value, Box<Unreadable>>;
}

impl<V: DeserializeOwned + Send + 'static> Returned<()> for V {
    type Value = V;

    fn read(value: RawBson) -> Result<V, Box<Unreadable>> {
        read_value(value)
    }
}

/// Numbers that an update can calculate with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that can be calculated with",
    label = "not a number",
    note = "`inc` and `mul` work on integers, floats and decimals"
)]
pub trait Number {}

macro_rules! numbers {
    ($($t:ty)*) => { $(impl Number for $t {})* };
}
numbers!(i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64);

impl Number for Decimal128 {}

impl<T: Number> Number for Option<T> {}

/// Numbers that an aggregate can add up.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that can be added up",
    label = "not a number",
    note = "`sum` and `avg` work on integers, floats and decimals"
)]
pub trait Addable {
    /// The type of a sum.
    type Sum;
    /// The type of a mean.
    type Mean;
    /// Converts a sum so that its type can be read from it.
    #[doc(hidden)]
    fn widen(sum: RawBson) -> RawBson {
        sum
    }
}

macro_rules! addable {
    ($($sum:ty: $($t:ty)*;)*) => { $($(
        impl Addable for $t {
            type Sum = $sum;
            type Mean = f64;
        }
    )*)* };
}
addable! {
    i64: i8 i16 i32 i64 u8 u16 u32 u64 usize isize;
    f64: f32 f64;
}

impl Addable for Decimal128 {
    type Sum = Decimal128;
    type Mean = Decimal128;

    fn widen(sum: RawBson) -> RawBson {
        let text = match sum {
            RawBson::Int32(whole) => whole.to_string(),
            RawBson::Int64(whole) => whole.to_string(),
            sum => return sum,
        };
        text.parse().map_or(sum, RawBson::Decimal128)
    }
}

impl<T: Addable> Addable for Option<T> {
    type Sum = T::Sum;
    type Mean = T::Mean;

    fn widen(sum: RawBson) -> RawBson {
        T::widen(sum)
    }
}

/// Values that are stored as a date.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a date",
    label = "not a date",
    note = "a `DateTime` is one, and so is an `Option` of it"
)]
pub trait Date {}

impl Date for DateTime {}
impl Date for bson::DateTime {}
impl<T: Date> Date for Option<T> {}

/// An amount that can be added to a field of type `V`: a number of the same type, and for an unsigned one also
/// a negative one.
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` cannot be added to a field of type `{V}`",
    label = "no amount for a `{V}`",
    note = "an amount has the type of the field; of an unsigned one it can be negative, and an `i32` or `i64`"
)]
pub trait IntoAmount<V> {
    /// The type of the amount as it is stored.
    #[doc(hidden)]
    type Amount: Serialize;
    /// The amount.
    #[doc(hidden)]
    fn into_amount(self) -> Self::Amount;
}

macro_rules! amounts {
    ($($field:ty: $($amount:ty => $stored:ty),+;)*) => { $($(
        impl IntoAmount<$field> for $amount {
            type Amount = $stored;

            fn into_amount(self) -> $stored {
                self.into()
            }
        }
    )+)* };
}
amounts! {
    i8: i8 => i8;
    i16: i16 => i16;
    i32: i32 => i32;
    i64: i64 => i64;
    isize: isize => isize;
    f32: f32 => f32;
    f64: f64 => f64;
    u8: u8 => u8, i32 => i32;
    u16: u16 => u16, i32 => i32;
    u32: u32 => u32, i32 => i64, i64 => i64;
    u64: u64 => u64, i32 => i64, i64 => i64;
    usize: usize => usize, i32 => i64, i64 => i64;
}

impl IntoAmount<Decimal128> for Decimal128 {
    type Amount = Decimal128;

    fn into_amount(self) -> Decimal128 {
        self
    }
}

impl<V, A: IntoAmount<V>> IntoAmount<Option<V>> for A {
    type Amount = A::Amount;

    fn into_amount(self) -> A::Amount {
        self.into_amount()
    }
}

/// Strings, for prefixes and patterns.
#[diagnostic::on_unimplemented(message = "`{Self}` is not text", label = "not a string")]
pub trait Text {}

impl<T: Text> Text for Option<T> {}
impl<T: Text> Text for Box<T> {}

/// Values that are stored as an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array",
    label = "not a `Vec` or another list"
)]
pub trait List {
    /// The type of an element.
    type Item;
}

macro_rules! lists {
    ($($list:ident)*) => { $(
        impl<T> List for $list<T> {
            type Item = T;
        }

        impl<T> Contains for $list<T> {
            type Item = T;
            const SUBSTRING: bool = false;
        }

        impl<T: Ordered> Distinct for $list<T> {
            type Value = T;
        }

        impl<T: Ordered> Distinct for Option<$list<T>> {
            type Value = T;
        }
    )* };
}
lists!(Vec VecDeque BTreeSet HashSet);

impl<T: List> List for Option<T> {
    type Item = T::Item;
}

/// Values that can contain something: an array an element, a string a part of itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an array nor a string",
    label = "contains nothing"
)]
pub trait Contains {
    /// The contained value.
    type Item;
    #[doc(hidden)]
    const SUBSTRING: bool;
}

impl<T: Contains> Contains for Option<T> {
    type Item = T::Item;
    const SUBSTRING: bool = T::SUBSTRING;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_of_an_id_gives_what_serde_writes() {
        fn compare<V: Serialize + 'static>(value: V) {
            assert_eq!(plain(&value), Some(written(&value).unwrap()));
        }
        compare(ObjectId::new());
        compare(String::from("SKU-1"));
        compare(i64::MIN);
        compare(i32::MAX);
        assert_eq!(plain(&7_u64), None);
    }
}
