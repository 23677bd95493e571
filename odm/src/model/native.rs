//! Values of other crates' types, each stored as BSON's own type for it: `#[serde(with = "odm::native")]`.
//!
//! serde stores a date of `chrono` as a text, and a UUID as bytes without a subtype. On a field of such a type, or of an `Option`, a list
//! or a map of it, this module stores the value in the form of the table. A field without it does not compile, so that all values are
//! stored in the form that filters, updates and indexes use. In JSON a value is the usual text.
//!
//! | type | Cargo feature | in BSON | in JSON |
//! |---|---|---|---|
//! | `chrono::DateTime<Utc>` | `chrono` | date | RFC 3339, as a [`DateTime`](crate::DateTime) |
//! | `time::OffsetDateTime`, `time::UtcDateTime` | `time` | date | the same |
//! | `jiff::Timestamp` | `jiff` | date | the same |
//! | `chrono::NaiveDate`, `time::Date`, `jiff::civil::Date` | | date, the start of the day in UTC | `2014-03-28` |
//! | `uuid::Uuid` | `uuid` | binary of subtype 4 | hyphenated |
//! | `rust_decimal::Decimal` | `rust_decimal` | decimal | a text, `"12.50"` |
//! | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | - | string | a text |
//!
//! All types but addresses, whose texts do not sort in their order, are ordered. Their values can be ids, sort keys and sources of copies,
//! and have indexes; a reference is stored in the form of the `_id` that it names.
//!
//! A date has milliseconds. Fields and filters truncate finer times towards the past, and a write returns the stored value. An offset from
//! UTC is not stored: an `OffsetDateTime` is read in UTC. The stored schema refuses a value that the type cannot represent, such as a
//! decimal of more than 28 digits behind the point, also in programs without the model. Values of a type of your own are checked only in
//! programs that have the type.
//!
//! serde calls no function for a missing field, so that an `Option` with `with` needs `default` if a document may lack it:
//!
//! ```
//! # #[cfg(all(feature = "chrono", feature = "uuid", feature = "rust_decimal"))] {
//! use odm::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[document(collection = "orders")]
//! struct Order {
//!     #[serde(rename = "_id", with = "odm::native")]
//!     id: uuid::Uuid,
//!     #[index]
//!     #[serde(with = "odm::native")]
//!     created: chrono::DateTime<chrono::Utc>,
//!     #[serde(default, with = "odm::native")]
//!     paid: Option<chrono::DateTime<chrono::Utc>>,
//!     #[serde(with = "odm::native")]
//!     total: rust_decimal::Decimal,
//! }
//!
//! let yesterday = chrono::Utc::now() - chrono::Duration::days(1);
//! let order = Order::fields();
//! let due = order.created.lt(yesterday) & order.paid.is_null();
//! let update = Update::<Order>::new().set(order.paid, chrono::Utc::now());
//! # #[derive(Database)] #[database(name = "shop", version = 1)]
//! # struct Shop { orders: Repository<Order> }
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! # let shop = Shop::open(odm::Embedded::memory().await?).await?;
//!
//! // So are the values that queries return.
//! let days: Vec<(chrono::DateTime<chrono::Utc>, rust_decimal::Decimal)> =
//!     shop.orders.find(due).group_by(order.created.start_of_day()).select(order.total.sum()).await?;
//! # assert!(days.is_empty());
//! # Ok::<_, odm::Error>(()) }).unwrap();
//! # }
//! ```
//!
//! A type of your own can have a native form as well:
//!
//! ```
//! use odm::{native::NativeForm, prelude::*};
//! use serde::{Deserialize, Serialize};
//!
//! /// A length in millimetres, stored as a number.
//! #[derive(Debug, Clone, Copy, PartialEq)]
//! struct Length(i64);
//!
//! impl NativeForm for Length {
//!     type Form = i64;
//!
//!     fn to_form(&self) -> i64 {
//!         self.0
//!     }
//!
//!     fn from_form(millimetres: i64) -> odm::Result<Self> {
//!         Ok(Length(millimetres))
//!     }
//! }
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[document(collection = "boards")]
//! struct Board {
//!     #[serde(rename = "_id")]
//!     id: i64,
//!     #[serde(with = "odm::native")]
//!     length: Length,
//! }
//!
//! let long = Board::fields().length.gt(Length(1000));
//! ```

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    hash::{BuildHasher, Hash},
};

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, de::DeserializeOwned};

use super::{
    Contains, Date, IntoValue, Known, List, MapKey, Operand, Optional, Ordered, Returned,
    SchemaTypes, Unreadable, read_value, value::ViaSome,
};

mod address;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(any(feature = "chrono", feature = "time", feature = "jiff"))]
pub(crate) mod day;
#[cfg(feature = "rust_decimal")]
mod decimal;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "uuid")]
mod uuid;

/// Writes a value in its native form. The code that serde derives calls it.
///
/// # Errors
///
/// The errors of the serializer.
#[doc(hidden)]
pub fn serialize<T: NativeForm, S: Serializer>(
    value: &T,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    value.to_form().serialize(serializer)
}

/// Reads a value in its native form. The code that serde derives calls it.
///
/// # Errors
///
/// The errors of the deserializer, and an error if the type cannot represent the value.
#[doc(hidden)]
pub fn deserialize<'de, T: NativeForm, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    T::from_form(T::Form::deserialize(deserializer)?).map_err(de::Error::custom)
}

/// A type whose values are stored as values of another type.
///
/// ```
/// use odm::{Error, ErrorKind, native::NativeForm};
///
/// /// A color, stored as the text `#rrggbb`.
/// struct Color(u32);
///
/// impl NativeForm for Color {
///     type Form = String;
///
///     fn to_form(&self) -> String {
///         format!("#{:06x}", self.0)
///     }
///
///     fn from_form(text: String) -> odm::Result<Self> {
///         let digits = text.strip_prefix('#').and_then(|digits| u32::from_str_radix(digits, 16).ok());
///         digits.map(Color).ok_or_else(|| Error::new(ErrorKind::Decode, format!("`{text}` is no color")))
///     }
/// }
/// assert_eq!(Color(0xff8000).to_form(), "#ff8000");
/// assert!(Color::from_form("red".into()).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no native form",
    label = "`odm::native` does not know how to store it",
    note = "dates of `chrono`, `time` and `jiff`, `uuid::Uuid` and `rust_decimal::Decimal` have one under the Cargo \
            feature of `odm` that is named like their crate; a date is in UTC, such as `chrono::DateTime<Utc>`",
    note = "implement `odm::native::NativeForm` for a type of yours"
)]
pub trait NativeForm: Sized {
    /// The stored type, with the order of `Self` if it is [`Ordered`].
    type Form: Known + Serialize + DeserializeOwned;

    /// Returns the value as it is stored.
    ///
    /// ```
    /// use odm::native::NativeForm;
    /// # struct Length(i64);
    /// # impl NativeForm for Length {
    /// #     type Form = i64;
    /// #     fn to_form(&self) -> i64 { self.0 }
    /// #     fn from_form(form: i64) -> odm::Result<Self> { Ok(Length(form)) }
    /// # }
    ///
    /// let length = Length(1_200); // in millimetres, and stored so
    /// assert_eq!(length.to_form(), 1_200);
    /// ```
    fn to_form(&self) -> Self::Form;

    /// Returns the value of a stored form.
    ///
    /// ```
    /// use odm::native::NativeForm;
    /// # struct Length(u64);
    /// # impl NativeForm for Length {
    /// #     type Form = i64;
    /// #     fn to_form(&self) -> i64 { self.0 as i64 }
    /// #     fn from_form(form: i64) -> odm::Result<Self> {
    /// #         let form = form.try_into();
    /// #         form.map(Length).map_err(|error| odm::Error::new(odm::ErrorKind::Decode, "no length").with_source(error))
    /// #     }
    /// # }
    ///
    /// assert!(Length::from_form(1_200).is_ok());
    /// assert!(Length::from_form(-5).is_err()); // no length is stored so
    /// ```
    ///
    /// # Errors
    ///
    /// `Decode` if the type cannot represent the value.
    fn from_form(form: Self::Form) -> Result<Self>;
}

/// The value of a field that is stored in its native form.
///
/// The typed field of a `Uuid` with `#[serde(with = "odm::native")]` has the type `Native<Uuid>`. It is compared with a
/// `Uuid` and set to one, and queries return its values as `Uuid`s.
///
/// ```
/// # #[cfg(feature = "uuid")] {
/// use odm::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[document(collection = "devices")]
/// struct Device {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[serde(with = "odm::native")]
///     serial: uuid::Uuid,
/// }
/// // The field is one of `Native<Uuid>`, and is compared with a `Uuid`.
/// let found = Device::fields().serial.eq(uuid::Uuid::nil());
/// # assert!(format!("{found:?}").contains("serial"));
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Native<T>(T);

impl<T> Native<T> {
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl<T: NativeForm> Serialize for Native<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<T: NativeForm> Known for Native<T> {
    const OPERAND: Option<Operand> = T::Form::OPERAND;

    fn value_type() -> odm_mql::formula::ValueType {
        T::Form::value_type()
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        T::Form::schema(types)
    }
}

#[diagnostic::do_not_recommend]
impl<T: NativeForm<Form: Ordered>> Ordered for Native<T> {
    type Present = Self;
}

#[diagnostic::do_not_recommend]
impl<T: NativeForm<Form: Date>> Date for Native<T> {}

/// The value is stored in its native form.
#[doc(hidden)]
pub struct InForm;

impl<T> IntoValue<Native<T>, InForm> for T {
    fn into_value(self) -> Native<T> {
        Native(self)
    }
}

impl<T> IntoValue<Native<Option<T>>, ViaSome<InForm>> for T {
    fn into_value(self) -> Native<Option<T>> {
        Native(Some(self))
    }
}

// `Native` has no `Deserialize`, so that only one `How` fits each type.
#[diagnostic::do_not_recommend]
impl<T> Returned<InForm> for Native<T>
where
    T: NativeForm + Send + 'static,
{
    type Value = T;

    fn read(value: RawBson) -> Result<T, Box<Unreadable>> {
        Ok(read_value::<ByForm<T>>(value)?.0)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Returned<ViaSome<InForm>> for Option<Native<T>>
where
    T: NativeForm<Form: Ordered<Present = <T as NativeForm>::Form>> + Send + 'static,
{
    type Value = Option<T>;

    fn read(value: RawBson) -> Result<Option<T>, Box<Unreadable>> {
        Native::<Option<T>>::read(value)
    }
}

// The least and greatest values of an optional field are never null: one `Option` is enough.
#[diagnostic::do_not_recommend]
impl<T> Returned<ViaSome<ViaSome<InForm>>> for Option<Native<Option<T>>>
where
    T: NativeForm + Send + 'static,
{
    type Value = Option<T>;

    fn read(value: RawBson) -> Result<Option<T>, Box<Unreadable>> {
        Native::<Option<T>>::read(value)
    }
}

/// A value that is read from its native form.
struct ByForm<T>(T);

impl<'de, T: NativeForm> Deserialize<'de> for ByForm<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserialize(deserializer).map(ByForm)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Optional for Native<Option<T>> {}

#[diagnostic::do_not_recommend]
impl<L: List> List for Native<L> {
    type Item = Native<L::Item>;
}

#[diagnostic::do_not_recommend]
impl<L: List> Contains for Native<L> {
    type Item = Native<L::Item>;
    const SUBSTRING: bool = false;
}

impl<T: NativeForm> NativeForm for Option<T> {
    type Form = Option<T::Form>;

    fn to_form(&self) -> Self::Form {
        self.as_ref().map(T::to_form)
    }

    fn from_form(form: Self::Form) -> Result<Self> {
        form.map(T::from_form).transpose()
    }
}

macro_rules! lists {
    ($(<T $(: $bound:path $(, $more:path)?)? $(; $param:ident)?> $list:ty;)*) => { $(
        impl<T, $($param: BuildHasher + Default)?> NativeForm for $list
        where
            T: NativeForm $(+ $bound $(+ $more)?)?,
        {
            type Form = Vec<T::Form>;

            fn to_form(&self) -> Self::Form {
                self.iter().map(T::to_form).collect()
            }

            fn from_form(form: Self::Form) -> Result<Self> {
                form.into_iter().map(T::from_form).collect()
            }
        }
    )* };
}
lists! {
    <T> Vec<T>;
    <T> VecDeque<T>;
    <T: Ord> BTreeSet<T>;
    <T: Eq, Hash; S> HashSet<T, S>;
}

macro_rules! maps {
    ($(<K: $bound:path $(, $more:path)? $(; $param:ident)?> $map:ty => $form:ty;)*) => { $(
        impl<K, T, $($param: BuildHasher + Default)?> NativeForm for $map
        where
            K: MapKey + Clone + DeserializeOwned + $bound $(+ $more)?,
            T: NativeForm,
        {
            type Form = $form;

            fn to_form(&self) -> Self::Form {
                let entries = self.iter();
                entries.map(|(key, value)| (key.clone(), value.to_form())).collect()
            }

            fn from_form(form: Self::Form) -> Result<Self> {
                let entries = form.into_iter();
                entries.map(|(key, value)| Ok((key, T::from_form(value)?))).collect()
            }
        }
    )* };
}
maps! {
    <K: Ord> BTreeMap<K, T> => BTreeMap<K, T::Form>;
    <K: Eq, Hash; S> HashMap<K, T, S> => HashMap<K, T::Form>;
}

#[cfg(all(
    test,
    feature = "chrono",
    feature = "jiff",
    feature = "rust_decimal",
    feature = "time",
    feature = "uuid"
))]
mod tests;
