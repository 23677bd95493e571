//! IP addresses, stored as their texts.

use std::{
    fmt::Display,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use bson::doc;
use odm_mql as mql;
use odm_store::Result;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::NativeForm;
use crate::model::{Known, Operand, SchemaTypes};

/// An address, stored as its text. Texts do not sort in the order of addresses.
#[derive(Debug)]
pub struct Address<T>(T);

impl<T: Display> Serialize for Address<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Address<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let address = text.parse();
        let wrong = |_| de::Error::invalid_value(de::Unexpected::Str(&text), &"an IP address");
        address.map(Address).map_err(wrong)
    }
}

/// A type of addresses.
pub trait AddressKind {
    /// Its name in schemas.
    const KIND: &'static str;
}

impl<T: AddressKind + Display + FromStr> Known for Address<T> {
    const OPERAND: Option<Operand> = Some(Operand::unordered::<Self>());

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        doc! { "bsonType": "string", "nativeForm": mql::native_form(T::KIND) }
    }
}

macro_rules! addresses {
    ($($address:ty: $kind:literal;)*) => { $(
        impl AddressKind for $address {
            const KIND: &'static str = $kind;
        }

        impl NativeForm for $address {
            type Form = Address<$address>;

            fn to_form(&self) -> Self::Form {
                Address(*self)
            }

            fn from_form(form: Self::Form) -> Result<Self> {
                Ok(form.0)
            }
        }
    )* };
}
addresses! {
    IpAddr: "ip";
    Ipv4Addr: "ipv4";
    Ipv6Addr: "ipv6";
}
