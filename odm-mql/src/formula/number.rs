//! The types of numbers, and what each can hold.

use std::fmt;

use bson::RawBson;
use serde::{Deserialize, Serialize};

use super::Uncomputable;

/// A Rust type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are named like the types")]
pub enum NumberType {
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
    F32,
    F64,
}

impl NumberType {
    /// The least and the greatest integer; `None` for floats.
    pub(super) fn range(self) -> Option<(i128, i128)> {
        macro_rules! range {
            ($type:ident) => {
                Some(($type::MIN.into(), $type::MAX.into()))
            };
        }
        match self {
            NumberType::I8 => range!(i8),
            NumberType::I16 => range!(i16),
            NumberType::I32 => range!(i32),
            // A program of 64 bits may have stored the value.
            NumberType::I64 | NumberType::Isize => range!(i64),
            NumberType::U8 => range!(u8),
            NumberType::U16 => range!(u16),
            NumberType::U32 => range!(u32),
            NumberType::U64 | NumberType::Usize => range!(u64),
            NumberType::F32 | NumberType::F64 => None,
        }
    }

    /// Whether it is an integer of this type.
    pub(super) fn has(self, value: i128) -> bool {
        self.range()
            .is_some_and(|(least, greatest)| (least..=greatest).contains(&value))
    }

    /// The integer of this type for another, with its lowest bits.
    pub(super) fn wrap(self, value: i128) -> i128 {
        match self {
            NumberType::I8 => (value as i8).into(),
            NumberType::I16 => (value as i16).into(),
            NumberType::I32 => (value as i32).into(),
            NumberType::I64 | NumberType::Isize => (value as i64).into(),
            NumberType::U8 => (value as u8).into(),
            NumberType::U16 => (value as u16).into(),
            NumberType::U32 => (value as u32).into(),
            NumberType::U64 | NumberType::Usize => (value as u64).into(),
            NumberType::F32 | NumberType::F64 => value,
        }
    }

    /// The integer of this type next to a float, towards zero; 0 for NaN.
    pub(super) fn truncate(self, value: f64) -> i128 {
        let (least, greatest) = self.range().unwrap_or((i128::MIN, i128::MAX));
        (value as i128).clamp(least, greatest)
    }

    /// The integer as serde stores one of this type.
    pub(super) fn store(self, value: i128) -> Result<RawBson, Uncomputable> {
        let is_narrow = matches!(
            self,
            NumberType::I8 | NumberType::I16 | NumberType::I32 | NumberType::U8 | NumberType::U16
        );
        match (i32::try_from(value), i64::try_from(value)) {
            _ if !self.has(value) => Err(Uncomputable(format!("{value} is not {self}"))),
            (Ok(value), _) if is_narrow => Ok(RawBson::Int32(value)),
            (_, Ok(value)) => Ok(RawBson::Int64(value)),
            _ => Err(Uncomputable(format!(
                "{value} is greater than {}, the greatest integer that can be stored",
                i64::MAX
            ))),
        }
    }
}

impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberType::I8 => "an `i8`",
            NumberType::I16 => "an `i16`",
            NumberType::I32 => "an `i32`",
            NumberType::I64 => "an `i64`",
            NumberType::Isize => "an `isize`",
            NumberType::U8 => "a `u8`",
            NumberType::U16 => "a `u16`",
            NumberType::U32 => "a `u32`",
            NumberType::U64 => "a `u64`",
            NumberType::Usize => "a `usize`",
            NumberType::F32 => "an `f32`",
            NumberType::F64 => "an `f64`",
        })
    }
}
