//! The values of expressions: read from documents, compared, and stored.

use std::{borrow::Cow, cmp::Ordering};

use bson::{Bson, RawArrayBuf, RawBson, RawBsonRef, RawDocument};

use super::{FieldValue, Number, Uncomputable, ValueType};
use crate::{order, path, show};

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Bool(bool),
    /// Without a type it is a literal, or computed from literals alone.
    Integer(i128, Option<Number>),
    Float(f64),
    Text(Cow<'a, str>),
    /// Milliseconds since 1970.
    Date(i64),
    Optional(Option<Box<Value<'a>>>),
    List(Vec<Value<'a>>),
    Other(RawBsonRef<'a>),
}

impl<'a> Value<'a> {
    pub(super) fn some(value: Value<'a>) -> Self {
        Value::Optional(Some(Box::new(value)))
    }

    pub(super) fn constant(value: &'a Bson) -> Result<Self, Uncomputable> {
        Ok(match value {
            Bson::Boolean(value) => Value::Bool(*value),
            Bson::String(value) => Value::Text(value.into()),
            Bson::Int32(value) => Value::Integer((*value).into(), None),
            Bson::Int64(value) => Value::Integer((*value).into(), None),
            Bson::Double(value) => Value::Float(*value),
            value => return Err(Uncomputable(format!("{value} is no constant"))),
        })
    }

    /// Reads a field of a document.
    pub(super) fn of_field(
        field: &'a FieldValue,
        document: &'a RawDocument,
    ) -> Result<Self, Uncomputable> {
        let stored = match path::lookup(document, &field.path) {
            path::Lookup::Value(value) => Some(value),
            path::Lookup::Array(list, None) => Some(RawBsonRef::Array(list)),
            path::Lookup::Array(_, Some(_)) | path::Lookup::Missing => None,
        };
        match (stored, &field.ty, &field.default) {
            (Some(value), ty, _) => Value::read(value, ty).ok_or_else(|| {
                Uncomputable(format!(
                    "`{}` is {}, which its type does not have",
                    field.path,
                    show(value)
                ))
            }),
            (None, ty, Some(default)) => Value::read_default(default, ty).ok_or_else(|| {
                Uncomputable(format!(
                    "`{}` is missing, and its default is {default}, which its type does not have",
                    field.path
                ))
            }),
            (None, ValueType::Optional(_), None) => Ok(Value::Optional(None)),
            (None, _, None) => Err(Uncomputable(format!("`{}` is missing", field.path))),
        }
    }

    /// Reads a value of a type. `None` if the type does not have it.
    fn read(value: RawBsonRef<'a>, ty: &ValueType) -> Option<Self> {
        Some(match (ty, value) {
            (ValueType::Bool, RawBsonRef::Boolean(value)) => Value::Bool(value),
            (ValueType::Number(number), value) => read_number(value, *number)?,
            (ValueType::Text, RawBsonRef::String(value)) => Value::Text(value.into()),
            (ValueType::Date, RawBsonRef::DateTime(value)) => Value::Date(value.timestamp_millis()),
            (ValueType::Optional(_), RawBsonRef::Null) => Value::Optional(None),
            (ValueType::Optional(ty), value) => Value::some(Value::read(value, ty)?),
            (ValueType::List(ty), RawBsonRef::Array(list)) => {
                let values = path::elements(list).map(|value| Value::read(value, ty));
                Value::List(values.collect::<Option<_>>()?)
            }
            (ValueType::Other, value) => Value::Other(value),
            _ => return None,
        })
    }

    fn read_default(default: &'a Bson, ty: &ValueType) -> Option<Self> {
        Some(match (ty, default) {
            (ValueType::Optional(_), Bson::Null) => Value::Optional(None),
            (ValueType::Optional(ty), value) => Value::some(Value::read_default(value, ty)?),
            (ValueType::List(ty), Bson::Array(list)) => {
                let values = list.iter().map(|value| Value::read_default(value, ty));
                Value::List(values.collect::<Option<_>>()?)
            }
            (ValueType::Number(number), Bson::Int32(value)) => {
                Value::Integer((*value).into(), Some(*number))
            }
            (ValueType::Number(number), Bson::Int64(value)) => {
                Value::Integer((*value).into(), Some(*number))
            }
            (ValueType::Number(_), Bson::Double(value)) => Value::Float(*value),
            (ValueType::Date, Bson::DateTime(value)) => Value::Date(value.timestamp_millis()),
            (ValueType::Bool | ValueType::Text | ValueType::Other, value) => {
                Value::constant(value).ok()?
            }
            _ => return None,
        })
    }

    /// The value as a Rust type is stored.
    pub(super) fn store(self, ty: &ValueType) -> Result<RawBson, Uncomputable> {
        Ok(match (self, ty) {
            (Value::Optional(None), _) => RawBson::Null,
            (Value::Optional(Some(value)), ValueType::Optional(ty)) => value.store(ty)?,
            (Value::Optional(Some(value)), ty) => value.store(ty)?,
            (Value::Integer(value, _), ValueType::Number(number)) => number.store(value)?,
            (Value::Integer(value, number), _) => number.unwrap_or(Number::I64).store(value)?,
            (Value::Float(value), ValueType::Number(Number::F32)) => {
                RawBson::Double(quiet((value as f32).into()))
            }
            (Value::Float(value), _) => RawBson::Double(quiet(value)),
            (Value::Bool(value), _) => RawBson::Boolean(value),
            (Value::Text(value), _) => RawBson::String(value.into_owned()),
            (Value::Date(millis), _) => RawBson::DateTime(bson::DateTime::from_millis(millis)),
            (Value::List(values), ty) => {
                let ty = match ty {
                    ValueType::List(ty) => ty,
                    ty => ty,
                };
                let mut list = RawArrayBuf::new();
                for value in values {
                    list.push(value.store(ty)?);
                }
                RawBson::Array(list)
            }
            (Value::Other(value), _) => value.into(),
        })
    }

    /// The order of Rust's `PartialOrd`.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Value::Integer(a, _), Value::Integer(b, _)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => a.compare(b),
            (Value::Optional(a), Value::Optional(b)) => Some(a.is_some().cmp(&b.is_some())),
            _ => None,
        }
    }

    /// Whether both are the same value: floats as Rust compares them, values of other types as they are stored.
    pub(super) fn is_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Integer(a, _), Value::Integer(b, _)) => a == b,
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => a.is_equal(b),
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_equal(b))
            }
            (Value::Other(a), Value::Other(b)) => order::equal(*a, *b),
            (Value::Other(RawBsonRef::String(a)), Value::Text(b))
            | (Value::Text(b), Value::Other(RawBsonRef::String(a))) => a == b,
            (Value::Other(a), Value::Integer(b, _)) | (Value::Integer(b, _), Value::Other(a)) => {
                integer(*a) == Some(*b)
            }
            _ => self == other,
        }
    }
}

/// One bit pattern for all NaNs, since a derived field is a function of the data.
fn quiet(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn read_number<'a>(value: RawBsonRef<'_>, number: Number) -> Option<Value<'a>> {
    match (number, value) {
        (Number::F32, RawBsonRef::Double(value)) => Some(Value::Float((value as f32).into())),
        (Number::F64, RawBsonRef::Double(value)) => Some(Value::Float(value)),
        (Number::F32 | Number::F64, value) => {
            integer(value).map(|value| Value::Float(value as f64))
        }
        (number, value) => {
            let value = integer(value).filter(|value| number.has(*value))?;
            Some(Value::Integer(value, Some(number)))
        }
    }
}

/// The integer of a number without a fraction.
fn integer(value: RawBsonRef<'_>) -> Option<i128> {
    match value {
        RawBsonRef::Int32(value) => Some(value.into()),
        RawBsonRef::Int64(value) => Some(value.into()),
        RawBsonRef::Double(value) if value.fract() == 0.0 && value.abs() < 1e19 => {
            Some(value as i128)
        }
        _ => None,
    }
}
