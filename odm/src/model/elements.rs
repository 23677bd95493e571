//! The elements of lists and the values of maps.

use std::collections::{BTreeMap, HashMap};

use super::{DateTime, Embed, Field, ObjectId, Root, Structure};

/// Values that are stored as an object, by their keys.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map",
    label = "not a `BTreeMap` or a `HashMap`"
)]
pub trait Map {
    /// The type of the values.
    type Item;
}

impl<K, T> Map for BTreeMap<K, T> {
    type Item = T;
}

impl<K, T, S> Map for HashMap<K, T, S> {
    type Item = T;
}

impl<T: Map> Map for Option<T> {
    type Item = T::Item;
}

/// An element of a list, or a value of a map, that a filter or an update can apply to: an embedded value, by its fields, or a scalar, by
/// itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fields that can be named, and is no scalar",
    label = "neither an embedded value nor a scalar",
    note = "for a struct of yours, derive `Embed`"
)]
pub trait ElementValue {
    /// Its typed fields, or the field of the scalar itself.
    #[doc(hidden)]
    type Fields: 'static;
    #[doc(hidden)]
    fn fields() -> &'static Self::Fields;
}

#[diagnostic::do_not_recommend]
impl<T: Embed> ElementValue for T {
    type Fields = <T as Structure>::Fields<Root<T>>;

    fn fields() -> &'static Self::Fields {
        <T as Structure>::fields()
    }
}

macro_rules! scalar_values {
    ($($scalar:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElementValue for $scalar {
            type Fields = Field<$scalar, Root<$scalar>>;

            fn fields() -> &'static Self::Fields {
                &Field::NEW
            }
        }
    )* };
}

scalar_values!(String bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 DateTime ObjectId);
