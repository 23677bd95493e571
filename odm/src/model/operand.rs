//! The values that a request can compare a field with.

use bson::RawBson;
use serde::{
    Serialize,
    de::{
        DeserializeOwned,
        value::{Error as ValueError, StrDeserializer},
    },
};

use super::{Ordered, read::reworded, to_raw};

/// The values that a field can be compared with: scalars, each read as the field's type reads it.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    scalar: ScalarOperand,
    /// Whether the field can be compared by an order and be a sort key: its type is [`Ordered`](super::Ordered).
    pub(crate) is_ordered: bool,
    holder: Holder,
    is_nullable: bool,
}

/// The container of the scalars in a field.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Holder {
    Itself,
    /// A list, whose elements are compared.
    List,
    /// A map, whose entries are compared, each by its key.
    Map {
        is_ordered: bool,
    },
}

#[derive(Debug, Clone, Copy)]
enum ScalarOperand {
    Value(ReadScalar),
    /// The names of an enum without content.
    Name(&'static [&'static str]),
    /// A value that is no scalar in JSON, and cannot be read from a request.
    Unread,
}

/// Reads a value, and writes it as the field stores it. The error describes the mistake in the value.
type ReadScalar = fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<RawBson, String>;

impl Operand {
    /// The values of a scalar type that is [`Ordered`](super::Ordered).
    pub const fn ordered<T: Serialize + DeserializeOwned + Ordered>() -> Self {
        Operand::new(ScalarOperand::Value(read_scalar::<T>), true)
    }

    /// The values of another scalar type.
    pub const fn unordered<T: Serialize + DeserializeOwned>() -> Self {
        Operand::new(ScalarOperand::Value(read_scalar::<T>), false)
    }

    /// The names of an enum without content, which may be in alphabetical order.
    pub const fn names(names: &'static [&'static str], is_ordered: bool) -> Self {
        Operand::new(ScalarOperand::Name(names), is_ordered)
    }

    /// The values of an ordered type that is an object in JSON.
    pub(super) const fn unread() -> Self {
        Operand::new(ScalarOperand::Unread, true)
    }

    const fn new(scalar: ScalarOperand, is_ordered: bool) -> Self {
        Operand {
            scalar,
            is_ordered,
            holder: Holder::Itself,
            is_nullable: false,
        }
    }

    /// The operand of an `Option`.
    pub(super) const fn nullable(of: Option<Self>) -> Option<Self> {
        match of {
            Some(of) => Some(Operand {
                is_nullable: true,
                ..of
            }),
            None => None,
        }
    }

    /// The operand of a list; `None` for a list of lists or maps.
    pub(super) const fn list(of: Option<Self>) -> Option<Self> {
        match of {
            Some(of) if matches!(of.holder, Holder::Itself) => Some(Operand {
                holder: Holder::List,
                is_ordered: false,
                ..of
            }),
            _ => None,
        }
    }

    /// The operand of a map; `None` for a map of lists or maps.
    pub(super) const fn map(of: Option<Self>) -> Option<Self> {
        match of {
            Some(of) if matches!(of.holder, Holder::Itself) => Some(Operand {
                holder: Holder::Map {
                    is_ordered: of.is_ordered,
                },
                is_ordered: false,
                ..of
            }),
            _ => None,
        }
    }

    /// The operand of an entry, if the field is a map. A document can lack the entry.
    pub(crate) fn entry(self) -> Option<Self> {
        match self.holder {
            Holder::Map { is_ordered } => Some(Operand {
                holder: Holder::Itself,
                is_ordered,
                is_nullable: true,
                ..self
            }),
            Holder::Itself | Holder::List => None,
        }
    }

    /// Whether a request can compare the field with a value.
    pub(crate) fn is_comparable(&self) -> bool {
        !matches!(self.holder, Holder::Map { .. }) && !matches!(self.scalar, ScalarOperand::Unread)
    }

    /// Whether the field is a list of texts.
    pub(crate) fn is_text_list(&self) -> bool {
        let text = StrDeserializer::<ValueError>::new("a");
        let text = &mut <dyn erased_serde::Deserializer<'_>>::erase(text);
        self.holder == Holder::List && matches!(self.read(text), Ok(RawBson::String(_)))
    }

    /// Whether a value can be null.
    pub(crate) fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Reads a value that is not null as the type of the field. The error describes the mistake in it.
    pub(crate) fn read(
        &self,
        value: &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<RawBson, String> {
        let names = match self.scalar {
            ScalarOperand::Value(read) => return read(value),
            ScalarOperand::Name(names) => names,
            ScalarOperand::Unread => return Err("such a value is no scalar in JSON".to_owned()),
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
