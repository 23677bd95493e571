//! The values of expressions: read from documents, compared, and stored.

use std::{borrow::Cow, cmp::Ordering};

use bson::{Bson, RawArrayBuf, RawBson, RawBsonRef, RawDocument};

use super::{FieldValue, NumberType, Uncomputable, ValueType};
use crate::{order, path, show};

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FormulaValue<'a> {
    Bool(bool),
    /// Without a type it is a literal, or computed from literals alone.
    Integer(i128, Option<NumberType>),
    Float(f64),
    Text(Cow<'a, str>),
    /// Milliseconds since 1970.
    Date(i64),
    Optional(Option<Box<FormulaValue<'a>>>),
    List(Vec<FormulaValue<'a>>),
    Other(RawBsonRef<'a>),
}

impl<'a> FormulaValue<'a> {
    pub(super) fn some(value: FormulaValue<'a>) -> Self {
        FormulaValue::Optional(Some(Box::new(value)))
    }

    pub(super) fn constant(value: &'a Bson) -> Result<Self, Uncomputable> {
        Ok(match value {
            Bson::Boolean(value) => FormulaValue::Bool(*value),
            Bson::String(value) => FormulaValue::Text(value.into()),
            Bson::Int32(value) => FormulaValue::Integer((*value).into(), None),
            Bson::Int64(value) => FormulaValue::Integer((*value).into(), None),
            Bson::Double(value) => FormulaValue::Float(*value),
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
            (Some(value), ty, _) => FormulaValue::read(value, ty).ok_or_else(|| {
                Uncomputable(format!(
                    "`{}` is {}, which its type does not have",
                    field.path,
                    show(value)
                ))
            }),
            (None, ty, Some(default)) => FormulaValue::read_default(default, ty).ok_or_else(|| {
                Uncomputable(format!(
                    "`{}` is missing, and its default is {default}, which its type does not have",
                    field.path
                ))
            }),
            (None, ValueType::Optional(_), None) => Ok(FormulaValue::Optional(None)),
            (None, _, None) => Err(Uncomputable(format!("`{}` is missing", field.path))),
        }
    }

    /// Reads a value of a type. `None` if the type does not have it.
    fn read(value: RawBsonRef<'a>, ty: &ValueType) -> Option<Self> {
        Some(match (ty, value) {
            (ValueType::Bool, RawBsonRef::Boolean(value)) => FormulaValue::Bool(value),
            (ValueType::Number(number), value) => read_number(value, *number)?,
            (ValueType::Text, RawBsonRef::String(value)) => FormulaValue::Text(value.into()),
            (ValueType::Date, RawBsonRef::DateTime(value)) => {
                FormulaValue::Date(value.timestamp_millis())
            }
            (ValueType::Optional(_), RawBsonRef::Null) => FormulaValue::Optional(None),
            (ValueType::Optional(ty), value) => FormulaValue::some(FormulaValue::read(value, ty)?),
            (ValueType::List(ty), RawBsonRef::Array(list)) => {
                let values = path::elements(list).map(|value| FormulaValue::read(value, ty));
                FormulaValue::List(values.collect::<Option<_>>()?)
            }
            (ValueType::Other, value) => FormulaValue::Other(value),
            _ => return None,
        })
    }

    fn read_default(default: &'a Bson, ty: &ValueType) -> Option<Self> {
        Some(match (ty, default) {
            (ValueType::Optional(_), Bson::Null) => FormulaValue::Optional(None),
            (ValueType::Optional(ty), value) => {
                FormulaValue::some(FormulaValue::read_default(value, ty)?)
            }
            (ValueType::List(ty), Bson::Array(list)) => {
                let values = list
                    .iter()
                    .map(|value| FormulaValue::read_default(value, ty));
                FormulaValue::List(values.collect::<Option<_>>()?)
            }
            (ValueType::Number(number), Bson::Int32(value)) => {
                FormulaValue::Integer((*value).into(), Some(*number))
            }
            (ValueType::Number(number), Bson::Int64(value)) => {
                FormulaValue::Integer((*value).into(), Some(*number))
            }
            (ValueType::Number(_), Bson::Double(value)) => FormulaValue::Float(*value),
            (ValueType::Date, Bson::DateTime(value)) => {
                FormulaValue::Date(value.timestamp_millis())
            }
            (ValueType::Bool | ValueType::Text | ValueType::Other, value) => {
                FormulaValue::constant(value).ok()?
            }
            _ => return None,
        })
    }

    /// The value as a Rust type is stored.
    pub(super) fn store(self, ty: &ValueType) -> Result<RawBson, Uncomputable> {
        Ok(match (self, ty) {
            (FormulaValue::Optional(None), _) => RawBson::Null,
            (FormulaValue::Optional(Some(value)), ValueType::Optional(ty)) => value.store(ty)?,
            (FormulaValue::Optional(Some(value)), ty) => value.store(ty)?,
            (FormulaValue::Integer(value, _), ValueType::Number(number)) => number.store(value)?,
            (FormulaValue::Integer(value, number), _) => {
                number.unwrap_or(NumberType::I64).store(value)?
            }
            (FormulaValue::Float(value), ValueType::Number(NumberType::F32)) => {
                RawBson::Double(quiet((value as f32).into()))
            }
            (FormulaValue::Float(value), _) => RawBson::Double(quiet(value)),
            (FormulaValue::Bool(value), _) => RawBson::Boolean(value),
            (FormulaValue::Text(value), _) => RawBson::String(value.into_owned()),
            (FormulaValue::Date(millis), _) => {
                RawBson::DateTime(bson::DateTime::from_millis(millis))
            }
            (FormulaValue::List(values), ty) => {
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
            (FormulaValue::Other(value), _) => value.into(),
        })
    }

    /// The order of Rust's `PartialOrd`.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (FormulaValue::Integer(a, _), FormulaValue::Integer(b, _)) => Some(a.cmp(b)),
            (FormulaValue::Float(a), FormulaValue::Float(b)) => a.partial_cmp(b),
            (FormulaValue::Text(a), FormulaValue::Text(b)) => Some(a.cmp(b)),
            (FormulaValue::Bool(a), FormulaValue::Bool(b)) => Some(a.cmp(b)),
            (FormulaValue::Date(a), FormulaValue::Date(b)) => Some(a.cmp(b)),
            (FormulaValue::Optional(Some(a)), FormulaValue::Optional(Some(b))) => a.compare(b),
            (FormulaValue::Optional(a), FormulaValue::Optional(b)) => {
                Some(a.is_some().cmp(&b.is_some()))
            }
            _ => None,
        }
    }

    /// Whether both are the same value: floats as Rust compares them, values of other types as they are stored.
    pub(super) fn is_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (FormulaValue::Integer(a, _), FormulaValue::Integer(b, _)) => a == b,
            (FormulaValue::Optional(Some(a)), FormulaValue::Optional(Some(b))) => a.is_equal(b),
            (FormulaValue::List(a), FormulaValue::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_equal(b))
            }
            (FormulaValue::Other(a), FormulaValue::Other(b)) => order::equal(*a, *b),
            (FormulaValue::Other(RawBsonRef::String(a)), FormulaValue::Text(b))
            | (FormulaValue::Text(b), FormulaValue::Other(RawBsonRef::String(a))) => a == b,
            (FormulaValue::Other(a), FormulaValue::Integer(b, _))
            | (FormulaValue::Integer(b, _), FormulaValue::Other(a)) => integer(*a) == Some(*b),
            _ => self == other,
        }
    }
}

/// One bit pattern for all NaNs, since a derived field is a function of the data.
fn quiet(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn read_number<'a>(value: RawBsonRef<'_>, number: NumberType) -> Option<FormulaValue<'a>> {
    match (number, value) {
        (NumberType::F32, RawBsonRef::Double(value)) => {
            Some(FormulaValue::Float((value as f32).into()))
        }
        (NumberType::F64, RawBsonRef::Double(value)) => Some(FormulaValue::Float(value)),
        (NumberType::F32 | NumberType::F64, value) => {
            integer(value).map(|value| FormulaValue::Float(value as f64))
        }
        (number, value) => {
            let value = integer(value).filter(|value| number.has(*value))?;
            Some(FormulaValue::Integer(value, Some(number)))
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
