//! The evaluation of a formula in a document.

use std::{cmp::Ordering, ops::ControlFlow};

use bson::{RawBson, RawBsonRef, RawDocument};

use odm_pattern::{fold, words};

use super::{Expression, Formula, Function, NumberType, Uncomputable, value::FormulaValue};

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
    parameters: Vec<FormulaValue<'a>>,
}

/// A function that takes each value of an iterator.
type Each<'e, 'a> =
    &'e mut dyn FnMut(&mut Evaluation<'a>, FormulaValue<'a>) -> Result<ControlFlow<()>>;

impl<'a> Evaluation<'a> {
    fn value(&mut self, expression: &'a Expression) -> Result<FormulaValue<'a>> {
        match expression {
            Expression::Integer(value, number) => {
                Ok(FormulaValue::Integer((*value).into(), *number))
            }
            Expression::Float(value) => Ok(FormulaValue::Float(*value)),
            Expression::Constant(value) => FormulaValue::constant(value),
            Expression::None => Ok(FormulaValue::Optional(None)),
            Expression::Parameter(at) => self.parameter(*at).cloned(),
            Expression::Field(field) => {
                let document = match field.of {
                    None => self.document,
                    Some(at) => match self.parameter(at)? {
                        FormulaValue::Other(RawBsonRef::Document(document)) => document,
                        _ => return Err(malformed()),
                    },
                };
                FormulaValue::of_field(field, document)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn parameter(&self, at: usize) -> Result<&FormulaValue<'a>> {
        self.parameters.get(at).ok_or_else(malformed)
    }

    /// The functions whose arguments are not all evaluated, and the functions of iterators.
    fn call(
        &mut self,
        function: Function,
        arguments: &'a [Expression],
    ) -> Result<FormulaValue<'a>> {
        match (function, arguments) {
            (Function::And, [a, b]) => Ok(FormulaValue::Bool(self.bool(a)? && self.bool(b)?)),
            (Function::Or, [a, b]) => Ok(FormulaValue::Bool(self.bool(a)? || self.bool(b)?)),
            (Function::If, [condition, then, otherwise]) => {
                let is_met = self.bool(condition)?;
                self.value(if is_met { then } else { otherwise })
            }
            (Function::Any, [list, test]) => Ok(FormulaValue::Bool(self.finds(list, test, true)?)),
            (Function::All, [list, test]) => {
                Ok(FormulaValue::Bool(!self.finds(list, test, false)?))
            }
            (Function::Count, [list]) => {
                let number = self.all(list)?.len() as i128;
                Ok(FormulaValue::Integer(number, Some(NumberType::Usize)))
            }
            (Function::Sum(number), [list]) => {
                let zero = match number.range() {
                    Some(_) => FormulaValue::Integer(0, Some(number)),
                    // As Rust begins, so that a sum of negative zeros is one.
                    None => FormulaValue::Float(-0.0),
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
                Ok(FormulaValue::Text(text.into()))
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
            FormulaValue::Bool(value) => Ok(value),
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
                    (Function::Filter, FormulaValue::Bool(true)) => then(this, value),
                    (Function::Filter, FormulaValue::Bool(false))
                    | (Function::FilterMap, FormulaValue::Optional(None)) => {
                        Ok(ControlFlow::Continue(()))
                    }
                    (Function::FilterMap, FormulaValue::Optional(Some(mapped))) => {
                        then(this, *mapped)
                    }
                    _ => Err(malformed()),
                }
            });
        }
        let FormulaValue::List(values) = self.value(list)? else {
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
    fn with(&mut self, value: FormulaValue<'a>, body: &'a Expression) -> Result<FormulaValue<'a>> {
        self.parameters.push(value);
        let value = self.value(body);
        self.parameters.pop();
        value
    }

    /// Whether a test has a result for one of the values.
    fn finds(&mut self, list: &'a Expression, test: &'a Expression, result: bool) -> Result<bool> {
        let flow = self.each(list, &mut |this, value| match this.with(value, test)? {
            FormulaValue::Bool(found) if found == result => Ok(ControlFlow::Break(())),
            FormulaValue::Bool(_) => Ok(ControlFlow::Continue(())),
            _ => Err(malformed()),
        })?;
        Ok(flow.is_break())
    }

    fn all(&mut self, list: &'a Expression) -> Result<Vec<FormulaValue<'a>>> {
        let mut values = Vec::new();
        let _ = self.each(list, &mut |_, value| {
            values.push(value);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    fn extreme(&mut self, list: &'a Expression, order: Ordering) -> Result<FormulaValue<'a>> {
        let values = self.all(list)?.into_iter();
        let extreme = values.reduce(|extreme, value| match value.compare(&extreme) {
            Some(found) if found == order => value,
            _ => extreme,
        });
        Ok(FormulaValue::Optional(extreme.map(Box::new)))
    }
}

fn unary<'a>(function: Function, value: FormulaValue<'a>) -> Result<FormulaValue<'a>> {
    Ok(match (function, value) {
        (Function::Negate, FormulaValue::Integer(value, number)) => {
            let shown = || format!("-({value})");
            integer(value.checked_neg(), number, shown)?
        }
        (Function::Negate, FormulaValue::Float(value)) => FormulaValue::Float(-value),
        (Function::Not, FormulaValue::Bool(value)) => FormulaValue::Bool(!value),
        (Function::As(to), value) => cast(value, to)?,
        (Function::Some, value) => FormulaValue::some(value),
        (Function::IsSome, FormulaValue::Optional(value)) => FormulaValue::Bool(value.is_some()),
        (Function::IsNone, FormulaValue::Optional(value)) => FormulaValue::Bool(value.is_none()),
        (Function::Abs, FormulaValue::Integer(value, number)) => {
            integer(value.checked_abs(), number, || format!("({value}).abs()"))?
        }
        (Function::Abs, FormulaValue::Float(value)) => FormulaValue::Float(value.abs()),
        (Function::Round, FormulaValue::Float(value)) => FormulaValue::Float(value.round()),
        (Function::Floor, FormulaValue::Float(value)) => FormulaValue::Float(value.floor()),
        (Function::Ceil, FormulaValue::Float(value)) => FormulaValue::Float(value.ceil()),
        (Function::Len, FormulaValue::Text(text)) => length(text.len()),
        (Function::Len, FormulaValue::List(list)) => length(list.len()),
        (Function::IsEmpty, FormulaValue::Text(text)) => FormulaValue::Bool(text.is_empty()),
        (Function::IsEmpty, FormulaValue::List(list)) => FormulaValue::Bool(list.is_empty()),
        (Function::CountChars, FormulaValue::Text(text)) => length(text.chars().count()),
        (Function::Trim, FormulaValue::Text(text)) => {
            FormulaValue::Text(text.trim().to_owned().into())
        }
        (Function::ToLowercase, FormulaValue::Text(text)) => {
            FormulaValue::Text(text.to_lowercase().into())
        }
        (Function::ToUppercase, FormulaValue::Text(text)) => {
            FormulaValue::Text(text.to_uppercase().into())
        }
        (Function::FoldCase, FormulaValue::Text(text)) => {
            FormulaValue::Text(fold::text(&text).into_owned().into())
        }
        (Function::Words, FormulaValue::Text(text)) => {
            let words = words::distinct(&text).into_iter();
            FormulaValue::List(words.map(|word| FormulaValue::Text(word.into())).collect())
        }
        (Function::Format, value) => {
            let mut text = String::new();
            push(&mut text, &value)?;
            FormulaValue::Text(text.into())
        }
        _ => return Err(malformed()),
    })
}

fn binary<'a>(
    function: Function,
    a: FormulaValue<'a>,
    b: FormulaValue<'a>,
) -> Result<FormulaValue<'a>> {
    let is = |orders: &[Ordering]| {
        let order = a.compare(&b);
        FormulaValue::Bool(order.is_some_and(|order| orders.contains(&order)))
    };
    Ok(match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Remainder => arithmetic(function, a, b)?,
        Function::Equal => FormulaValue::Bool(a.is_equal(&b)),
        Function::NotEqual => FormulaValue::Bool(!a.is_equal(&b)),
        Function::Less => is(&[Ordering::Less]),
        Function::LessOrEqual => is(&[Ordering::Less, Ordering::Equal]),
        Function::Greater => is(&[Ordering::Greater]),
        Function::GreaterOrEqual => is(&[Ordering::Greater, Ordering::Equal]),
        Function::Min | Function::Max => match (function, a, b) {
            // Rust leaves open which of two zeros is the result, and the same data must have the same value.
            (Function::Min, FormulaValue::Float(a), FormulaValue::Float(b)) => {
                let is_first = a < b || b.is_nan() || a == b && a.is_sign_negative();
                FormulaValue::Float(if is_first { a } else { b })
            }
            (_, FormulaValue::Float(a), FormulaValue::Float(b)) => {
                let is_first = a > b || b.is_nan() || a == b && a.is_sign_positive();
                FormulaValue::Float(if is_first { a } else { b })
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
            FormulaValue::Optional(None) => b,
            FormulaValue::Optional(Some(a)) => *a,
            _ => return Err(malformed()),
        },
        Function::StartsWith | Function::EndsWith | Function::Contains => {
            let (FormulaValue::Text(a), FormulaValue::Text(b)) = (&a, &b) else {
                return Err(malformed());
            };
            FormulaValue::Bool(match function {
                Function::StartsWith => a.starts_with(&**b),
                Function::EndsWith => a.ends_with(&**b),
                _ => a.contains(&**b),
            })
        }
        _ => return Err(malformed()),
    })
}

fn arithmetic<'a>(
    function: Function,
    a: FormulaValue<'a>,
    b: FormulaValue<'a>,
) -> Result<FormulaValue<'a>> {
    match (a, b) {
        (FormulaValue::Integer(a, one), FormulaValue::Integer(b, other)) => {
            let number = one.or(other);
            let least = number.and_then(NumberType::range).map(|(least, _)| least);
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
        (FormulaValue::Float(a), FormulaValue::Float(b)) => {
            Ok(FormulaValue::Float(match function {
                Function::Add => a + b,
                Function::Subtract => a - b,
                Function::Multiply => a * b,
                Function::Divide => a / b,
                _ => a % b,
            }))
        }
        _ => Err(malformed()),
    }
}

/// An integer that was computed, if its type has it.
fn integer<'a>(
    value: Option<i128>,
    number: Option<NumberType>,
    shown: impl Fn() -> String,
) -> Result<FormulaValue<'a>> {
    let number_or_widest = number.unwrap_or(NumberType::I64);
    match value {
        Some(value) if number.is_none_or(|number| number.has(value)) => {
            Ok(FormulaValue::Integer(value, number))
        }
        _ => Err(Uncomputable(format!(
            "{} overflows: the result is not {number_or_widest}",
            shown()
        ))),
    }
}

fn length<'a>(length: usize) -> FormulaValue<'a> {
    FormulaValue::Integer(length as i128, Some(NumberType::Usize))
}

/// The conversion by `as`.
fn cast<'a>(value: FormulaValue<'a>, to: NumberType) -> Result<FormulaValue<'a>> {
    let value = match value {
        FormulaValue::Bool(value) => FormulaValue::Integer(value.into(), None),
        value => value,
    };
    Ok(match (value, to) {
        (FormulaValue::Integer(value, _), NumberType::F32) => {
            FormulaValue::Float((value as f32).into())
        }
        (FormulaValue::Integer(value, _), NumberType::F64) => FormulaValue::Float(value as f64),
        (FormulaValue::Integer(value, _), to) => FormulaValue::Integer(to.wrap(value), Some(to)),
        (FormulaValue::Float(value), NumberType::F32) => FormulaValue::Float((value as f32).into()),
        (FormulaValue::Float(value), NumberType::F64) => FormulaValue::Float(value),
        (FormulaValue::Float(value), to) => FormulaValue::Integer(to.truncate(value), Some(to)),
        _ => return Err(malformed()),
    })
}

/// Adds a value as `{}` formats it.
fn push(text: &mut String, value: &FormulaValue<'_>) -> Result<()> {
    match value {
        FormulaValue::Text(value) => text.push_str(value),
        FormulaValue::Integer(value, _) => text.push_str(&value.to_string()),
        FormulaValue::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        _ => return Err(malformed()),
    }
    Ok(())
}

/// The Rust compiler refuses such an expression, so the stored one is damaged or from a newer version of the library.
#[cold]
fn malformed() -> Uncomputable {
    Uncomputable("its stored formula cannot be evaluated by this version of the library".to_owned())
}
