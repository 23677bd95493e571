//! The types whose content is known, so that no stored value contains an unknown reference.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    marker::PhantomData,
    num,
    rc::Rc,
    sync::Arc,
};

use bson::doc;
use odm_mql::{
    self as mql, Violation,
    formula::{NumberType, ValueType},
};
use serde::Serialize;

use super::{
    Ancestors, Cold, DateTime, ObjectId, Operand, Ref, Referable, SchemaTypes, Subset,
    schema::{any, any_array, nullable, of_types},
};

/// A type whose references the library knows: a scalar, an embedded value, or a container or tuple of these.
///
/// The type of each field without `#[opaque]` implements it. The derive of `Embed` implements it. A generic model names it as a bound if no
/// other bound implies it.
#[diagnostic::on_unimplemented(
    message = "what is in `{Self}` is not known, and it could hold references",
    label = "neither a scalar, nor a container of scalars",
    note = "if it is a struct or enum of yours, derive `Embed` for it, and mark the field with \
            `#[embed]`, unless it is a struct around one scalar; if it is a document, store a `Ref` to it",
    note = "a type of `chrono`, `time`, `jiff`, `uuid` or `rust_decimal`, or an IP address, is stored as BSON's \
            own type by `#[serde(with = \"odm::native\")]`, under the Cargo feature of that name",
    note = "if it is another type without a `Ref` in it, mark the field with `#[opaque]`"
)]
pub trait Known {
    /// Whether there are references or embedded values in it, so that a field of this type has a mark.
    #[doc(hidden)]
    const RELATED: bool = false;
    /// The values that a request can compare a field of this type with.
    #[doc(hidden)]
    const OPERAND: Option<Operand> = None;
    /// The type of its values in the expression of a computed field.
    #[doc(hidden)]
    fn value_type() -> ValueType {
        ValueType::Other
    }

    /// Whether there are functions that check values of it.
    #[doc(hidden)]
    fn has_checks(_types: &mut SchemaTypes) -> bool {
        false
    }

    /// The schema of its values.
    #[doc(hidden)]
    fn schema(_types: &mut SchemaTypes) -> bson::Document {
        bson::Document::new()
    }

    /// Runs the functions that check values of it.
    #[doc(hidden)]
    fn check(&self, _at: &ValueLocation<'_>, _found: &mut Vec<Violation>) {}
}

/// A key of a stored map, whose keys are names: it is written as a string.
///
/// The derive of `Embed` implements it for a `#[serde(transparent)]` struct around a string. Implement it for an enum of
/// variants without content.
///
/// ```
/// use std::collections::BTreeMap;
/// use odm::{model::MapKey, prelude::*};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
/// enum Language {
///     De,
///     En,
/// }
///
/// impl MapKey for Language {}
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[document(collection = "products")]
/// struct Product {
///     #[serde(rename = "_id")]
///     id: i64,
///     names: BTreeMap<Language, String>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a stored map",
    label = "a map is stored as an object, whose keys are strings",
    note = "use `String`; a struct around a string derives `Embed` and has `#[serde(transparent)]`; for another type \
            of yours that is written as a string, implement `odm::model::MapKey`"
)]
pub trait MapKey: Serialize {}

impl MapKey for String {}
impl MapKey for str {}
impl<K: MapKey + ?Sized> MapKey for Box<K> {}
impl<K: MapKey + ?Sized> MapKey for Rc<K> where Rc<K>: Serialize {}
impl<K: MapKey + ?Sized> MapKey for Arc<K> where Arc<K>: Serialize {}
impl<K: MapKey + ToOwned + ?Sized> MapKey for Cow<'_, K> {}

/// The values that a request can compare a field of a type with: its scalars, or nothing.
macro_rules! operand {
    (ordered $type:ty) => {
        Some(Operand::ordered::<$type>())
    };
    (unordered $type:ty) => {
        Some(Operand::unordered::<$type>())
    };
    (unread $type:ty) => {
        Some(Operand::unread())
    };
    (none $type:ty) => {
        None
    };
}

/// The type of scalars in expressions that are stored as these.
fn stored_as(types: &[&str]) -> ValueType {
    match types {
        ["string"] => ValueType::Text,
        ["bool"] => ValueType::Bool,
        ["date"] => ValueType::Date,
        ["double", ..] => ValueType::Number(NumberType::F64),
        _ => ValueType::Other,
    }
}

macro_rules! scalars {
    ($($types:tt $operand:tt: $($type:ty)*;)*) => { $($(
        #[diagnostic::do_not_recommend]
        impl Known for $type {
            const OPERAND: Option<Operand> = operand!($operand $type);

            fn value_type() -> ValueType {
                stored_as(&$types)
            }

            fn schema(_: &mut SchemaTypes) -> bson::Document {
                of_types(&$types)
            }
        }
    )*)* };
}
scalars! {
    ["string"] ordered: String;
    ["string"] unordered: std::path::PathBuf;
    ["bool"] ordered: bool;
    ["double", "int", "long"] ordered: f64;
    ["date"] ordered: DateTime;
    ["objectId"] ordered: ObjectId bson::oid::ObjectId;
    ["null"] none: ();
    // In JSON each of these is an object, as are the times below.
    ["date"] unread: bson::DateTime;
    ["timestamp"] unread: bson::Timestamp;
    ["decimal"] unread: bson::Decimal128;
    ["binData"] none: bson::Binary;
    ["regex"] none: bson::Regex;
    ["object"] none: bson::Document bson::RawDocumentBuf;
    ["array"] none: bson::RawArrayBuf;
    [] none: i128 u128 std::net::SocketAddr bson::Bson bson::RawBson;
}

#[diagnostic::do_not_recommend]
impl Known for f32 {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<f32>());

    fn value_type() -> ValueType {
        ValueType::Number(NumberType::F32)
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        let mut schema = f64::schema(types);
        schema.insert("nativeForm", mql::native_form("f32"));
        schema
    }
}

#[diagnostic::do_not_recommend]
impl Known for char {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<char>());

    fn value_type() -> ValueType {
        ValueType::Text
    }

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        doc! { "bsonType": "string", "minLength": 1, "maxLength": 1 }
    }
}

#[diagnostic::do_not_recommend]
impl Known for bson::Uuid {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<bson::Uuid>());

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        doc! { "bsonType": "binData", "nativeForm": mql::native_form("uuid") }
    }
}

#[diagnostic::do_not_recommend]
impl Known for str {
    const OPERAND: Option<Operand> = String::OPERAND;

    fn value_type() -> ValueType {
        ValueType::Text
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        String::schema(types)
    }
}

/// The schema of integers in a range, limited to `i64`, the largest integers of BSON.
fn integers(min: i128, max: i128) -> bson::Document {
    let mut schema = of_types(&["int", "long"]);
    if let Ok(min) = i64::try_from(min)
        && min > i64::MIN
    {
        schema.insert("minimum", min);
    }
    if let Ok(max) = i64::try_from(max)
        && max < i64::MAX
    {
        schema.insert("maximum", max);
    }
    schema
}

#[cfg(feature = "url")]
scalars! {
    ["string"] ordered: url::Url;
}

macro_rules! ranges {
    ($($type:ident $number:ident $nonzero:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Known for $type {
            const OPERAND: Option<Operand> = Some(Operand::ordered::<$type>());

            fn value_type() -> ValueType {
                ValueType::Number(NumberType::$number)
            }

            fn schema(_: &mut SchemaTypes) -> bson::Document {
                integers($type::MIN as i128, $type::MAX as i128)
            }
        }

        #[diagnostic::do_not_recommend]
        impl Known for num::$nonzero {
            const OPERAND: Option<Operand> = Some(Operand::ordered::<num::$nonzero>());

            fn schema(_: &mut SchemaTypes) -> bson::Document {
                let (min, max) = (num::$nonzero::MIN.get() as i128, num::$nonzero::MAX.get() as i128);
                let mut schema = integers(min, max);
                if min < 0 {
                    schema.insert("not", doc! { "enum": [0] });
                }
                schema
            }
        }
    )* };
}
ranges! {
    i8 I8 NonZeroI8 i16 I16 NonZeroI16 i32 I32 NonZeroI32 i64 I64 NonZeroI64 isize Isize NonZeroIsize
    u8 U8 NonZeroU8 u16 U16 NonZeroU16 u32 U32 NonZeroU32 u64 U64 NonZeroU64 usize Usize NonZeroUsize
}

macro_rules! times {
    ($($type:ident: $seconds:literal $nanoseconds:literal;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Known for std::time::$type {
            const OPERAND: Option<Operand> = Some(Operand::unread());

            fn schema(_: &mut SchemaTypes) -> bson::Document {
                doc! {
                    "bsonType": "object",
                    "required": [$seconds, $nanoseconds],
                    "properties": {
                        $seconds: integers(0, i128::MAX),
                        $nanoseconds: integers(0, 999_999_999),
                    },
                    "additionalProperties": false,
                }
            }
        }
    )* };
}
times! {
    Duration: "secs" "nanos";
    SystemTime: "secs_since_epoch" "nanos_since_epoch";
}

impl<T: Known> Known for Option<T> {
    const RELATED: bool = T::RELATED;
    const OPERAND: Option<Operand> = Operand::nullable(T::OPERAND);

    fn value_type() -> ValueType {
        ValueType::Optional(T::value_type().into())
    }

    fn has_checks(types: &mut SchemaTypes) -> bool {
        T::has_checks(types)
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        nullable(T::schema(types))
    }

    fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
        if let Some(value) = self {
            value.check(at, found);
        }
    }
}

macro_rules! lists {
    ($(<$($param:ident),*> $type:ty;)*) => { $(
        impl<T: Known, $($param),*> Known for $type {
            const RELATED: bool = T::RELATED;
            const OPERAND: Option<Operand> = Operand::list(T::OPERAND);

            fn value_type() -> ValueType {
                ValueType::List(T::value_type().into())
            }

            fn has_checks(types: &mut SchemaTypes) -> bool {
                T::has_checks(types)
            }

            fn schema(types: &mut SchemaTypes) -> bson::Document {
                doc! { "bsonType": "array", "items": T::schema(types) }
            }

            fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
                for (position, value) in self.iter().enumerate() {
                    value.check(&at.join(&position.to_string()), found);
                }
            }
        }
    )* };
}
lists! {
    <> Vec<T>;
    <> VecDeque<T>;
    <> LinkedList<T>;
    <> BinaryHeap<T>;
    <> BTreeSet<T>;
    <S> HashSet<T, S>;
    <> [T];
}

impl<T: Known, const N: usize> Known for [T; N] {
    const RELATED: bool = T::RELATED;

    fn value_type() -> ValueType {
        ValueType::List(T::value_type().into())
    }

    fn has_checks(types: &mut SchemaTypes) -> bool {
        T::has_checks(types)
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        let length = N as i64;
        doc! {
            "bsonType": "array",
            "items": T::schema(types),
            "minItems": length,
            "maxItems": length,
        }
    }

    fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
        self.as_slice().check(at, found);
    }
}

macro_rules! maps {
    ($(<$($param:ident),*> $type:ty;)*) => { $(
        impl<K: MapKey, T: Known, $($param),*> Known for $type {
            const RELATED: bool = T::RELATED;
            const OPERAND: Option<Operand> = Operand::map(T::OPERAND);

            fn has_checks(types: &mut SchemaTypes) -> bool {
                T::has_checks(types)
            }

            fn schema(types: &mut SchemaTypes) -> bson::Document {
                doc! { "bsonType": "object", "additionalProperties": T::schema(types) }
            }

            fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
                for (key, value) in self {
                    // The text of a key is written by serde.
                    let key = bson::serialize_to_bson(key);
                    let key = key.as_ref().ok().and_then(bson::Bson::as_str);
                    value.check(&at.join(key.unwrap_or("*")), found);
                }
            }
        }
    )* };
}
maps! {
    <> BTreeMap<K, T>;
    <S> HashMap<K, T, S>;
}

macro_rules! pointers {
    ($($pointer:ident)*) => { $(
        impl<T: Known + ?Sized> Known for $pointer<T> {
            const RELATED: bool = T::RELATED;
            const OPERAND: Option<Operand> = T::OPERAND;

            fn value_type() -> ValueType {
                T::value_type()
            }

            fn has_checks(types: &mut SchemaTypes) -> bool {
                T::has_checks(types)
            }

            fn schema(types: &mut SchemaTypes) -> bson::Document {
                T::schema(types)
            }

            fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
                T::check(self, at, found);
            }
        }
    )* };
}
pointers!(Box Rc Arc);

impl<T: Known + ToOwned + ?Sized> Known for Cow<'_, T> {
    const RELATED: bool = T::RELATED;
    const OPERAND: Option<Operand> = T::OPERAND;

    fn value_type() -> ValueType {
        T::value_type()
    }

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        T::schema(types)
    }
}

impl<T: ?Sized> Known for PhantomData<T> {}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => { $(
        impl<$first: Known, $($rest: Known),*> Known for ($first, $($rest,)*) {
            const RELATED: bool = $first::RELATED $(|| $rest::RELATED)*;

            fn schema(types: &mut SchemaTypes) -> bson::Document {
                let items = vec![$first::schema(types) $(, $rest::schema(types))*];
                let length = items.len() as i64;
                doc! { "bsonType": "array", "items": items, "minItems": length, "maxItems": length }
            }
        }
        tuples!($($rest)*);
    )? };
}
tuples!(A B C D E F G H I J K L);

macro_rules! related {
    ($(<$param:ident $(: $bound:path)?> $type:ty: $schema:expr, $operand:expr, $value:expr;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<$param $(: $bound)?> Known for $type {
            const RELATED: bool = true;
            const OPERAND: Option<Operand> = $operand;

            fn value_type() -> ValueType {
                $value
            }

            fn schema(types: &mut SchemaTypes) -> bson::Document {
                $schema(types)
            }
        }
    )* };
}
related! {
    <T: Referable> Ref<T>: (T::KEY.schema), T::KEY.operand, ValueType::Other;
    <T: Referable> Ancestors<T>: keys::<T>, Operand::list(T::KEY.operand), ValueType::List(ValueType::Other.into());
    <T> Subset<T>: any_array, None, ValueType::List(ValueType::Other.into());
    <T> Cold<T>: any, None, ValueType::Other;
}

fn keys<T: Referable>(types: &mut SchemaTypes) -> bson::Document {
    doc! { "bsonType": "array", "items": (T::KEY.schema)(types) }
}

/// The place of a value that is checked.
#[derive(Debug, Clone)]
pub struct ValueLocation<'a> {
    outer: Option<&'a ValueLocation<'a>>,
    name: &'a str,
}

impl<'a> ValueLocation<'a> {
    /// The whole document.
    pub const ROOT: ValueLocation<'static> = ValueLocation {
        outer: None,
        name: "",
    };

    /// The place of a field with a name in this one.
    pub fn join<'b>(&'b self, name: &'b str) -> ValueLocation<'b> {
        ValueLocation {
            outer: Some(self),
            name,
        }
    }

    /// The dotted path.
    pub fn path(&self) -> String {
        let outer = self.outer.map(ValueLocation::path).unwrap_or_default();
        match (outer.as_str(), self.name) {
            (outer, "") => outer.to_owned(),
            ("", name) => name.to_owned(),
            (outer, name) => format!("{outer}.{name}"),
        }
    }
}
