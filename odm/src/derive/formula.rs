//! The expressions of computed fields: the stored form, and the types that the operands of their Rust form must have.
//!
//! An operator or a method of another type could have a meaning of its own, which the evaluator does not know.

use std::fmt::Display;

use bson::Bson;
use serde::Serialize;

use crate::model::{DateTime, Field, Known, ObjectId, Path, Ref, Referable, Subset, to_raw};
pub use crate::query::{fold_case, words};
use odm_mql::formula::FieldValue;
pub use odm_mql::formula::{Expression, Function, NumberType};

/// A field of the document.
pub fn field<V: Known, P: Path, K>(_: Field<V, P, K>) -> Expression {
    Expression::Field(value_of::<V>(None, P::TEXT))
}

/// A field of the document that serde has a default for.
pub fn defaulted_field<V: Known + Serialize, P: Path, K>(
    _: Field<V, P, K>,
    default: impl Fn() -> V,
) -> Expression {
    // A default that differs from call to call cannot be a part of the definition.
    let [one, other] = [stored(&default()), stored(&default())];
    Expression::Field(FieldValue {
        default: (one == other).then_some(one),
        ..value_of::<V>(None, P::TEXT)
    })
}

/// A field of an element of a list, which is the parameter of a closure within `of` others.
pub fn field_of<L, O: Path, M, V: Known, P: Path, K>(
    of: usize,
    _: Field<L, O, M>,
    _: Field<V, P, K>,
) -> Expression {
    let inside = P::TEXT.strip_prefix(O::TEXT);
    let path = inside.and_then(|path| path.strip_prefix('.'));
    Expression::Field(value_of::<V>(Some(of), path.unwrap_or(P::TEXT)))
}

fn value_of<V: Known>(of: Option<usize>, path: &str) -> FieldValue {
    FieldValue {
        of,
        path: path.to_owned(),
        ty: V::value_type(),
        default: None,
    }
}

/// A literal, or a variant of an enum. The catalog refuses a value that is no scalar.
pub fn constant<T: Serialize + ?Sized>(value: &T) -> Expression {
    Expression::Constant(stored(value))
}

fn stored<T: Serialize + ?Sized>(value: &T) -> Bson {
    let stored = to_raw(value).ok().map(Bson::try_from);
    stored.and_then(Result::ok).unwrap_or(Bson::Undefined)
}

/// The value of a field.
pub fn copied<T: Clone>(value: &T) -> T {
    value.clone()
}

/// A value of any type.
pub fn same<T>(value: T) -> T {
    value
}

/// A condition.
pub fn boolean(value: bool) -> bool {
    value
}

/// A number to calculate with.
pub fn number<T: FormulaNumber>(value: T) -> T {
    value
}

/// A float.
pub fn float(value: f64) -> f64 {
    value
}

/// A value to convert by `as`.
pub fn castable<T: Castable>(value: T) -> T {
    value
}

/// A value to compare for equality.
pub fn equated<T: FormulaEquated + ?Sized>(value: &T) -> &T {
    value
}

/// A value to compare by its order.
pub fn compared<T: FormulaOrdered + ?Sized>(value: &T) -> &T {
    value
}

/// A value that has an order.
pub fn ordered<T: FormulaOrdered>(value: T) -> T {
    value
}

/// A value to format.
pub fn shown<T: FormulaShown>(value: T) -> T {
    value
}

/// An option.
pub fn option<T>(value: Option<T>) -> Option<T> {
    value
}

/// A list.
pub fn list<L: FormulaList + ?Sized>(value: &L) -> &[L::Item] {
    value.items()
}

/// A text that another is searched for.
pub fn pattern<T: FormulaPattern>(value: T) -> T {
    value
}

/// An iterator over values that have an order.
pub fn ordered_iterator<I: Iterator<Item: FormulaOrdered>>(value: I) -> I {
    value
}

/// The iterator over a list.
pub fn iterator<I: Iterator>(value: I) -> I {
    value
}

/// A text.
pub fn text<T: FormulaText + ?Sized>(value: &T) -> &str {
    value.text()
}

/// A value that has a length.
pub fn measured<T: HasLength + ?Sized>(value: &T) -> &T {
    value
}

macro_rules! impls {
    ($($trait:ident: $($type:ty)*;)*) => { $($(impl $trait for $type {})*)* };
}

/// A number to calculate with.
#[diagnostic::on_unimplemented(
    message = "a computed field does not calculate with `{Self}`",
    label = "neither an integer nor an `f64`",
    note = "convert an `f32` by `as f64`; take the value out of an `Option` by `unwrap_or`"
)]
pub trait FormulaNumber {}

/// A value to convert by `as`.
#[diagnostic::on_unimplemented(
    message = "a computed field does not convert `{Self}`",
    label = "neither a number nor a `bool`"
)]
pub trait Castable {}

/// A value to compare by its order.
#[diagnostic::on_unimplemented(
    message = "a computed field does not compare values of `{Self}` by their order",
    label = "neither a number, nor a text, a `bool` or a `DateTime`, nor an `Option` of one",
    note = "a value of another type is stored in a form whose order may be another; compare it by `==`"
)]
pub trait FormulaOrdered {}

/// A value to format.
#[diagnostic::on_unimplemented(
    message = "a computed field does not format `{Self}`",
    label = "neither a text, nor an integer or a `bool`"
)]
pub trait FormulaShown: Display {}

/// A text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no text",
    label = "expected a `String` or a `&str`"
)]
pub trait FormulaText {
    /// The text.
    fn text(&self) -> &str;
}

/// A value that has a length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length that a computed field knows",
    label = "expected a text or a list"
)]
pub trait HasLength {}

/// A value to compare for equality, by the form in which it is stored.
#[diagnostic::on_unimplemented(
    message = "a computed field does not compare values of `{Self}`",
    label = "neither a scalar, nor a type that derives `Embed`, nor an `Option` or a `Vec` of these"
)]
pub trait FormulaEquated {}

/// A text to search for.
#[diagnostic::on_unimplemented(
    message = "a computed field does not search a text for `{Self}`",
    label = "expected a `&str` or a `&String`"
)]
pub trait FormulaPattern {}

/// A list.
#[diagnostic::on_unimplemented(
    message = "a computed field does not go through `{Self}`",
    label = "expected a `Vec`"
)]
pub trait FormulaList {
    /// The type of its elements.
    type Item;
    /// The elements.
    fn items(&self) -> &[Self::Item];
}

impls! {
    FormulaEquated: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool char String str DateTime ObjectId;
    FormulaPattern: &str &String char;
    FormulaNumber: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f64;
    Castable: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool;
    FormulaOrdered: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool char String str DateTime;
    FormulaShown: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool char String str;
    HasLength: String str;
}
impl<T: FormulaEquated> FormulaEquated for Option<T> {}
impl<T: FormulaEquated> FormulaEquated for Vec<T> {}
impl<T: FormulaEquated + ?Sized> FormulaEquated for &T {}
impl<T: Referable> FormulaEquated for Ref<T> {}
impl<T: FormulaOrdered> FormulaOrdered for Option<T> {}
impl<T: FormulaOrdered + ?Sized> FormulaOrdered for &T {}
impl<T: FormulaShown + ?Sized> FormulaShown for &T {}
impl<T> HasLength for Vec<T> {}
impl<T> HasLength for [T] {}
impl<T: HasLength + ?Sized> HasLength for &T {}

impl<T> FormulaList for Vec<T> {
    type Item = T;

    fn items(&self) -> &[T] {
        self
    }
}

impl<T> FormulaList for Subset<T> {
    type Item = T;

    fn items(&self) -> &[T] {
        self
    }
}

impl<L: FormulaList + ?Sized> FormulaList for &L {
    type Item = L::Item;

    fn items(&self) -> &[L::Item] {
        L::items(self)
    }
}

impl FormulaText for str {
    fn text(&self) -> &str {
        self
    }
}

impl FormulaText for String {
    fn text(&self) -> &str {
        self
    }
}

impl<T: FormulaText + ?Sized> FormulaText for &T {
    fn text(&self) -> &str {
        T::text(self)
    }
}
