//! What a request can compare a field with.

use bson::RawBson;
use serde::{Serialize, de::DeserializeOwned};

use super::{read::reworded, to_raw};

/// What a request can do with a field.
#[derive(Debug, Clone, Copy)]
pub struct Comparable {
    /// Whether it can be compared by an order and be a sort key: its type is [`Ordered`](super::Ordered).
    pub is_ordered: bool,
    /// What it can be compared with, if that can be read.
    pub operand: Option<Operand>,
}

impl Comparable {
    /// That of a field that no request names.
    pub const NOTHING: Comparable = Comparable {
        is_ordered: false,
        operand: None,
    };
}

/// The values that a field can be compared with: scalars, each read as the field's type reads it.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    scalar: Scalar,
    /// Whether the field is a list, whose elements are compared.
    pub(crate) is_list: bool,
    is_nullable: bool,
}

#[derive(Debug, Clone, Copy)]
enum Scalar {
    Value(ReadScalar),
    /// The names of an enum without content.
    Name(&'static [&'static str]),
}

/// Reads a value, and writes it as the field stores it. An error is what is wrong with the value.
type ReadScalar = fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<RawBson, String>;

impl Operand {
    /// The values of a scalar type.
    pub const fn scalar<T: Serialize + DeserializeOwned>() -> Self {
        Operand::new(Scalar::Value(read_scalar::<T>))
    }

    /// The names of an enum without content.
    pub const fn names(names: &'static [&'static str]) -> Self {
        Operand::new(Scalar::Name(names))
    }

    const fn new(scalar: Scalar) -> Self {
        Operand {
            scalar,
            is_list: false,
            is_nullable: false,
        }
    }

    /// That of an `Option`.
    pub(super) const fn nullable(of: Option<Self>) -> Option<Self> {
        match of {
            Some(of) => Some(Operand {
                is_nullable: true,
                ..of
            }),
            None => None,
        }
    }

    /// That of a list, unless it is one of lists.
    pub(super) const fn list(of: Option<Self>) -> Option<Self> {
        match of {
            Some(of) if !of.is_list => Some(Operand {
                is_list: true,
                ..of
            }),
            _ => None,
        }
    }

    /// Whether a value can be null.
    pub(crate) fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Reads a value that is not null as the type of the field. An error is what is wrong with it.
    pub(crate) fn read(
        &self,
        value: &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<RawBson, String> {
        let names = match self.scalar {
            Scalar::Value(read) => return read(value),
            Scalar::Name(names) => names,
        };
        match read_scalar::<String>(value)? {
            RawBson::String(name) if names.contains(&name.as_str()) => Ok(RawBson::String(name)),
            _ => Err(format!("expected one of `{}`", names.join("`, `"))),
        }
    }
}

/// Reads a truth value.
pub(crate) fn read_bool(value: &mut dyn erased_serde::Deserializer<'_>) -> Result<bool, String> {
    erased_serde::deserialize(value).map_err(|error| reworded(&error.to_string()))
}

fn read_scalar<T: Serialize + DeserializeOwned>(
    value: &mut dyn erased_serde::Deserializer<'_>,
) -> Result<RawBson, String> {
    let value: T =
        erased_serde::deserialize(value).map_err(|error| reworded(&error.to_string()))?;
    to_raw(&value).map_err(|error| error.to_string())
}
