//! The evaluation of a formula in a document.

use std::{cmp::Ordering, ops::ControlFlow};

use bson::{RawBson, RawBsonRef, RawDocument};

use odm_pattern::{fold, words};

use super::{Expression, Formula, Function, Number, Uncomputable, value::Value};

type Result<T> = std::result::Result<T, Uncomputable>;

pub(super) fn evaluate(formula: &Formula, document: &RawDocument) -> Result<RawBson> {
    let mut evaluation = Evaluation {
        document,
        parameters: Vec::new(),
    };
    let value = evaluation.value(&formula.expression)?;
    value.store(&formula.result)
}

struct Evaluation<'a> {
    document: &'a RawDocument,
    /// The parameters of the closures around the expression, outermost first.
    parameters: Vec<Value<'a>>,
}

/// A function that takes each value of an iterator.
type Each<'e, 'a> = &'e mut dyn FnMut(&mut Evaluation<'a>, Value<'a>) -> Result<ControlFlow<()>>;

impl<'a> Evaluation<'a> {
    fn value(&mut self, expression: &'a Expression) -> Result<Value<'a>> {
        match expression {
            Expression::Integer(value, number) => Ok(Value::Integer((*value).into(), *number)),
            Expression::Float(value) => Ok(Value::Float(*value)),
            Expression::Constant(value) => Value::constant(value),
            Expression::None => Ok(Value::Optional(None)),
            Expression::Parameter(at) => self.parameter(*at).cloned(),
            Expression::Field(field) => {
                let document = match field.of {
                    None => self.document,
                    Some(at) => match self.parameter(at)? {
                        Value::Other(RawBsonRef::Document(document)) => document,
                        _ => return Err(malformed()),
                    },
                };
                Value::of_field(field, document)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn parameter(&self, at: usize) -> Result<&Value<'a>> {
        self.parameters.get(at).ok_or_else(malformed)
    }

    /// The functions whose arguments are not all evaluated, and those of iterators.
    fn call(&mut self, function: Function, arguments: &'a [Expression]) -> Result<Value<'a>> {
        match (function, arguments) {
            (Function::And, [a, b]) => Ok(Value::Bool(self.bool(a)? && self.bool(b)?)),
            (Function::Or, [a, b]) => Ok(Value::Bool(self.bool(a)? || self.bool(b)?)),
            (Function::If, [condition, then, otherwise]) => {
                let is_met = self.bool(condition)?;
                self.value(if is_met { then } else { otherwise })
            }
            (Function::Any, [list, test]) => Ok(Value::Bool(self.finds(list, test, true)?)),
            (Function::All, [list, test]) => Ok(Value::Bool(!self.finds(list, test, false)?)),
            (Function::Count, [list]) => {
                let number = self.all(list)?.len() as i128;
                Ok(Value::Integer(number, Some(Number::Usize)))
            }
            (Function::Sum(number), [list]) => {
                let zero = match number.range() {
                    Some(_) => Value::Integer(0, Some(number)),
                    // As Rust begins, so that a sum of negative zeros is one.
                    None => Value::Float(-0.0),
                };
                let mut values = self.all(list)?.into_iter();
                values.try_fold(zero, |sum, value| arithmetic(Function::Add, sum, value))
            }
            (Function::Least, [list]) => self.extreme(list, Ordering::Less),
            // Of equal values the last, as in Rust: they look the same.
            (Function::Greatest, [list]) => self.extreme(list, Ordering::Greater),
            (Function::Map | Function::Filter | Function::FilterMap, [_, _]) => Err(malformed()),
            (function, [a]) => {
                let a = self.value(a)?;
                unary(function, a)
            }
            (Function::Format, parts) => {
                let mut text = String::new();
                for part in parts {
                    push(&mut text, &self.value(part)?)?;
                }
                Ok(Value::Text(text.into()))
            }
            (function, [a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                binary(function, a, b)
            }
            _ => Err(malformed()),
        }
    }

    fn bool(&mut self, expression: &'a Expression) -> Result<bool> {
        match self.value(expression)? {
            Value::Bool(value) => Ok(value),
            _ => Err(malformed()),
        }
    }

    /// Passes each value of an iterator, which computes no value before it is asked for it.
    fn each(&mut self, list: &'a Expression, then: Each<'_, 'a>) -> Result<ControlFlow<()>> {
        if let Expression::Call(function, arguments) = list
            && let (Function::Map | Function::Filter | Function::FilterMap, [list, body]) =
                (function, &**arguments)
        {
            return self.each(list, &mut |this, value| {
                let mapped = this.with(value.clone(), body)?;
                match (function, mapped) {
                    (Function::Map, mapped) => then(this, mapped),
                    (Function::Filter, Value::Bool(true)) => then(this, value),
                    (Function::Filter, Value::Bool(false))
                    | (Function::FilterMap, Value::Optional(None)) => Ok(ControlFlow::Continue(())),
                    (Function::FilterMap, Value::Optional(Some(mapped))) => then(this, *mapped),
                    _ => Err(malformed()),
                }
            });
        }
        let Value::List(values) = self.value(list)? else {
            return Err(malformed());
        };
        for value in values {
            if then(self, value)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The body of a closure for a value of its parameter.
    fn with(&mut self, value: Value<'a>, body: &'a Expression) -> Result<Value<'a>> {
        self.parameters.push(value);
        let value = self.value(body);
        self.parameters.pop();
        value
    }

    /// Whether a test has a result for one of the values.
    fn finds(&mut self, list: &'a Expression, test: &'a Expression, result: bool) -> Result<bool> {
        let flow = self.each(list, &mut |this, value| match this.with(value, test)? {
            Value::Bool(found) if found == result => Ok(ControlFlow::Break(())),
            Value::Bool(_) => Ok(ControlFlow::Continue(())),
            _ => Err(malformed()),
        })?;
        Ok(flow.is_break())
    }

    fn all(&mut self, list: &'a Expression) -> Result<Vec<Value<'a>>> {
        let mut values = Vec::new();
        let _ = self.each(list, &mut |_, value| {
            values.push(value);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    fn extreme(&mut self, list: &'a Expression, order: Ordering) -> Result<Value<'a>> {
        let values = self.all(list)?.into_iter();
        let extreme = values.reduce(|extreme, value| match value.compare(&extreme) {
            Some(found) if found == order => value,
            _ => extreme,
        });
        Ok(Value::Optional(extreme.map(Box::new)))
    }
}

fn unary<'a>(function: Function, value: Value<'a>) -> Result<Value<'a>> {
    Ok(match (function, value) {
        (Function::Negate, Value::Integer(value, number)) => {
            let shown = || format!("-({value})");
            integer(value.checked_neg(), number, shown)?
        }
        (Function::Negate, Value::Float(value)) => Value::Float(-value),
        (Function::Not, Value::Bool(value)) => Value::Bool(!value),
        (Function::As(to), value) => cast(value, to)?,
        (Function::Some, value) => Value::some(value),
        (Function::IsSome, Value::Optional(value)) => Value::Bool(value.is_some()),
        (Function::IsNone, Value::Optional(value)) => Value::Bool(value.is_none()),
        (Function::Abs, Value::Integer(value, number)) => {
            integer(value.checked_abs(), number, || format!("({value}).abs()"))?
        }
        (Function::Abs, Value::Float(value)) => Value::Float(value.abs()),
        (Function::Round, Value::Float(value)) => Value::Float(value.round()),
        (Function::Floor, Value::Float(value)) => Value::Float(value.floor()),
        (Function::Ceil, Value::Float(value)) => Value::Float(value.ceil()),
        (Function::Len, Value::Text(text)) => length(text.len()),
        (Function::Len, Value::List(list)) => length(list.len()),
        (Function::IsEmpty, Value::Text(text)) => Value::Bool(text.is_empty()),
        (Function::IsEmpty, Value::List(list)) => Value::Bool(list.is_empty()),
        (Function::CountChars, Value::Text(text)) => length(text.chars().count()),
        (Function::Trim, Value::Text(text)) => Value::Text(text.trim().to_owned().into()),
        (Function::ToLowercase, Value::Text(text)) => Value::Text(text.to_lowercase().into()),
        (Function::ToUppercase, Value::Text(text)) => Value::Text(text.to_uppercase().into()),
        (Function::FoldCase, Value::Text(text)) => {
            Value::Text(fold::text(&text).into_owned().into())
        }
        (Function::Words, Value::Text(text)) => {
            let words = words::distinct(&text).into_iter();
            Value::List(words.map(|word| Value::Text(word.into())).collect())
        }
        (Function::Format, value) => {
            let mut text = String::new();
            push(&mut text, &value)?;
            Value::Text(text.into())
        }
        _ => return Err(malformed()),
    })
}

fn binary<'a>(function: Function, a: Value<'a>, b: Value<'a>) -> Result<Value<'a>> {
    let is = |orders: &[Ordering]| {
        let order = a.compare(&b);
        Value::Bool(order.is_some_and(|order| orders.contains(&order)))
    };
    Ok(match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Remainder => arithmetic(function, a, b)?,
        Function::Equal => Value::Bool(a.is_equal(&b)),
        Function::NotEqual => Value::Bool(!a.is_equal(&b)),
        Function::Less => is(&[Ordering::Less]),
        Function::LessOrEqual => is(&[Ordering::Less, Ordering::Equal]),
        Function::Greater => is(&[Ordering::Greater]),
        Function::GreaterOrEqual => is(&[Ordering::Greater, Ordering::Equal]),
        Function::Min | Function::Max => match (function, a, b) {
            // Rust leaves open which of two zeros is the result, and the same data must have the same value.
            (Function::Min, Value::Float(a), Value::Float(b)) => {
                let is_first = a < b || b.is_nan() || a == b && a.is_sign_negative();
                Value::Float(if is_first { a } else { b })
            }
            (_, Value::Float(a), Value::Float(b)) => {
                let is_first = a > b || b.is_nan() || a == b && a.is_sign_positive();
                Value::Float(if is_first { a } else { b })
            }
            (function, a, b) => {
                let is_first = match function {
                    Function::Min => a.compare(&b) != Some(Ordering::Greater),
                    _ => a.compare(&b) == Some(Ordering::Greater),
                };
                if is_first { a } else { b }
            }
        },
        Function::UnwrapOr => match a {
            Value::Optional(None) => b,
            Value::Optional(Some(a)) => *a,
            _ => return Err(malformed()),
        },
        Function::StartsWith | Function::EndsWith | Function::Contains => {
            let (Value::Text(a), Value::Text(b)) = (&a, &b) else {
                return Err(malformed());
            };
            Value::Bool(match function {
                Function::StartsWith => a.starts_with(&**b),
                Function::EndsWith => a.ends_with(&**b),
                _ => a.contains(&**b),
            })
        }
        _ => return Err(malformed()),
    })
}

fn arithmetic<'a>(function: Function, a: Value<'a>, b: Value<'a>) -> Result<Value<'a>> {
    match (a, b) {
        (Value::Integer(a, one), Value::Integer(b, other)) => {
            let number = one.or(other);
            let least = number.and_then(Number::range).map(|(least, _)| least);
            let (sign, value) = match function {
                Function::Add => ('+', a.checked_add(b)),
                Function::Subtract => ('-', a.checked_sub(b)),
                Function::Multiply => ('*', a.checked_mul(b)),
                Function::Divide => ('/', a.checked_div(b)),
                // The quotient overflows.
                _ if b == -1 && least == Some(a) => ('%', None),
                _ => ('%', a.checked_rem(b)),
            };
            if b == 0 && matches!(sign, '/' | '%') {
                return Err(Uncomputable(format!("{a} {sign} 0 divides by zero")));
            }
            integer(value, number, || format!("{a} {sign} {b}"))
        }
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(match function {
            Function::Add => a + b,
            Function::Subtract => a - b,
            Function::Multiply => a * b,
            Function::Divide => a / b,
            _ => a % b,
        })),
        _ => Err(malformed()),
    }
}

/// An integer that was computed, if its type has it.
fn integer<'a>(
    value: Option<i128>,
    number: Option<Number>,
    shown: impl Fn() -> String,
) -> Result<Value<'a>> {
    let number_or_widest = number.unwrap_or(Number::I64);
    match value {
        Some(value) if number.is_none_or(|number| number.has(value)) => {
            Ok(Value::Integer(value, number))
        }
        _ => Err(Uncomputable(format!(
            "{} overflows: the result is not {number_or_widest}",
            shown()
        ))),
    }
}

fn length<'a>(length: usize) -> Value<'a> {
    Value::Integer(length as i128, Some(Number::Usize))
}

/// The conversion by `as`.
fn cast<'a>(value: Value<'a>, to: Number) -> Result<Value<'a>> {
    let value = match value {
        Value::Bool(value) => Value::Integer(value.into(), None),
        value => value,
    };
    Ok(match (value, to) {
        (Value::Integer(value, _), Number::F32) => Value::Float((value as f32).into()),
        (Value::Integer(value, _), Number::F64) => Value::Float(value as f64),
        (Value::Integer(value, _), to) => Value::Integer(to.wrap(value), Some(to)),
        (Value::Float(value), Number::F32) => Value::Float((value as f32).into()),
        (Value::Float(value), Number::F64) => Value::Float(value),
        (Value::Float(value), to) => Value::Integer(to.truncate(value), Some(to)),
        _ => return Err(malformed()),
    })
}

/// Adds a value as `{}` formats it.
fn push(text: &mut String, value: &Value<'_>) -> Result<()> {
    match value {
        Value::Text(value) => text.push_str(value),
        Value::Integer(value, _) => text.push_str(&value.to_string()),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        _ => return Err(malformed()),
    }
    Ok(())
}

/// The Rust compiler refuses such an expression, so the stored one is damaged or from a newer version of the library.
#[cold]
fn malformed() -> Uncomputable {
    Uncomputable("its stored formula cannot be evaluated by this version of the library".to_owned())
}
