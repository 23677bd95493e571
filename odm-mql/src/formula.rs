//! Formulas: expressions of the fields of one document, with the meaning that Rust gives them.
//!
//! MongoDB's operators differ from Rust's in widening, division, NaN, letter case and more. So no formula is translated for a server: it is
//! evaluated here, whatever the store. Formulas are data, by the names of their functions, so that they can be stored and compared.

use std::fmt;

use bson::{Bson, RawBson, RawDocument};
use serde::{Deserialize, Serialize};

mod evaluate;
mod infer;
mod number;
#[cfg(test)]
mod tests;
mod value;

pub use number::NumberType;

/// An expression of the fields of one document, and the type of its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// The expression.
    pub expression: Expression,
    /// The Rust type of the value.
    pub result: ValueType,
}

/// An expression of the fields of one document. The Rust compiler has checked its types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// A literal integer. [`Formula::new`] gives it a type.
    Integer(i64, Option<NumberType>),
    /// A literal float.
    Float(f64),
    /// Another literal, or a variant of an enum, as it is stored.
    Constant(#[serde(with = "crate::stored_value")] Bson),
    /// `None`.
    None,
    /// The value of a field.
    Field(FieldValue),
    /// The parameter of a closure, by the number of closures around that closure.
    Parameter(usize),
    /// A function of these values.
    Call(Function, Vec<Expression>),
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldValue {
    /// The parameter that has the field; `None` for the document itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// The stored path.
    pub path: String,
    /// The Rust type.
    pub ty: ValueType,
    /// The value where the document lacks the field, if it can.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::stored_value"
    )]
    pub default: Option<Bson>,
}

/// The type of a value, as far as it decides about the meaning of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// `bool`.
    Bool,
    /// A number.
    Number(NumberType),
    /// A text.
    Text,
    /// A date.
    Date,
    /// An `Option`.
    Optional(Box<ValueType>),
    /// A list.
    List(Box<ValueType>),
    /// Any other type. Its values can be compared for equality, and their fields read.
    Other,
}

/// The functions: operators, methods of Rust's standard library, and methods of iterators. The last argument of a function that takes a
/// closure is its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a % b`
    Remainder,
    /// `-a`
    Negate,
    /// `!a`
    Not,
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a as T`
    As(NumberType),
    /// `if a { b } else { c }`
    If,
    /// `Some(a)`
    Some,
    /// `a.unwrap_or(b)`
    UnwrapOr,
    /// `a.is_some()`
    IsSome,
    /// `a.is_none()`
    IsNone,
    /// `a.abs()`
    Abs,
    /// `a.min(b)`
    Min,
    /// `a.max(b)`
    Max,
    /// `a.round()`
    Round,
    /// `a.floor()`
    Floor,
    /// `a.ceil()`
    Ceil,
    /// `a.len()`
    Len,
    /// `a.is_empty()`
    IsEmpty,
    /// `a.trim()`
    Trim,
    /// `a.to_lowercase()`
    ToLowercase,
    /// `a.to_uppercase()`
    ToUppercase,
    /// `a.starts_with(b)`
    StartsWith,
    /// `a.ends_with(b)`
    EndsWith,
    /// `a.contains(b)`, of a text
    Contains,
    /// `fold_case(a)`
    FoldCase,
    /// `words(a)`
    Words,
    /// The text of each, one after another.
    Format,
    /// `a.chars().count()`
    CountChars,
    /// `a.map(|each| b)`, of an iterator
    Map,
    /// `a.filter(|each| b)`, of an iterator
    Filter,
    /// `a.filter_map(|each| b)`
    FilterMap,
    /// `a.any(|each| b)`
    Any,
    /// `a.all(|each| b)`
    All,
    /// `a.count()`
    Count,
    /// `a.sum::<T>()`
    Sum(NumberType),
    /// `a.min()`, of an iterator
    Least,
    /// `a.max()`, of an iterator
    Greatest,
}

/// A formula has no value in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncomputable(String);

impl fmt::Display for Uncomputable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Uncomputable {}

impl Formula {
    /// A formula of an expression whose value has this type. Literals get the types that Rust infers for them.
    pub fn new(mut expression: Expression, result: ValueType) -> Self {
        infer::literals(&mut expression, &result);
        Formula { expression, result }
    }

    /// Returns the value in a document, as it is stored.
    ///
    /// # Errors
    ///
    /// If it has none: by an overflow, a division by zero, or a field whose value is not of its type.
    pub fn evaluate(&self, document: &RawDocument) -> Result<RawBson, Uncomputable> {
        evaluate::evaluate(self, document)
    }

    /// The paths of the document that it reads.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        self.expression.each(&mut |expression| {
            if let Expression::Field(FieldValue { of: None, path, .. }) = expression {
                paths.push(&**path);
            }
        });
        paths
    }

    /// A constant that an expression cannot have, since it is no scalar.
    pub fn invalid_constant(&self) -> Option<&Bson> {
        let mut invalid = None;
        self.expression.each(&mut |expression| {
            if let Expression::Constant(constant) = expression
                && value::FormulaValue::constant(constant).is_err()
            {
                invalid = Some(constant);
            }
        });
        invalid
    }
}

impl Expression {
    /// Passes the expression and all within it.
    fn each<'e>(&'e self, pass: &mut impl FnMut(&'e Expression)) {
        pass(self);
        if let Expression::Call(_, arguments) = self {
            for argument in arguments {
                argument.each(pass);
            }
        }
    }
}
