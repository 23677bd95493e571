//! The evaluator alone. `tests/suite/formulas` compares it with what Rust computes.

use bson::{RawDocumentBuf, doc, rawdoc};
use proptest::prelude::*;

use super::*;
use crate::testing::{document, raw};

fn field(path: &str, ty: ValueType) -> Expression {
    Expression::Field(FieldValue {
        of: None,
        path: path.to_owned(),
        ty,
        default: None,
    })
}

fn number(path: &str, number: NumberType) -> Expression {
    field(path, ValueType::Number(number))
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::Call(function, arguments.to_vec())
}

fn evaluated(
    expression: Expression,
    result: ValueType,
    document: &RawDocumentBuf,
) -> Result<Bson, String> {
    let formula = Formula { expression, result };
    let value = formula.evaluate(document).map_err(|why| why.to_string())?;
    Ok(Bson::try_from(value).expect("it is well-formed"))
}

#[test]
fn an_integer_overflows_in_its_own_type_and_is_stored_as_serde_stores_it() {
    let document = rawdoc! { "a": 120, "b": 250_i64 };
    let added = |of, by| {
        let sum = call(
            Function::Add,
            [number("a", of), Expression::Integer(by, None)],
        );
        evaluated(sum, ValueType::Number(of), &document)
    };
    assert_eq!(added(NumberType::I8, 7), Ok(Bson::Int32(127)));
    assert_eq!(
        added(NumberType::I8, 8),
        Err("120 + 8 overflows: the result is not an `i8`".to_owned())
    );
    assert_eq!(added(NumberType::U8, 8), Ok(Bson::Int32(128)));
    assert_eq!(added(NumberType::U32, 8), Ok(Bson::Int64(128)));
    assert_eq!(
        evaluated(
            number("b", NumberType::I8),
            ValueType::Number(NumberType::I8),
            &document
        ),
        Err("`b` is 250, which its type does not have".to_owned())
    );
}

#[test]
fn the_side_that_decides_is_evaluated_alone() {
    let document = rawdoc! { "a": 0_i64, "list": [1_i64, 0_i64] };
    let a = || number("a", NumberType::I64);
    let one = || Expression::Integer(1, None);
    let quotient = |divisor| call(Function::Divide, [one(), divisor]);
    let is_zero = call(Function::Equal, [a(), Expression::Integer(0, None)]);
    let guarded = call(
        Function::Or,
        [is_zero, call(Function::Less, [quotient(a()), one()])],
    );
    assert_eq!(
        evaluated(guarded, ValueType::Bool, &document),
        Ok(Bson::Boolean(true))
    );
    // The second element would divide by zero.
    let list = field(
        "list",
        ValueType::List(ValueType::Number(NumberType::I64).into()),
    );
    let quotients = call(Function::Map, [list, quotient(Expression::Parameter(0))]);
    let any = |than| {
        let body = call(
            Function::Greater,
            [Expression::Parameter(0), Expression::Integer(than, None)],
        );
        let any = call(Function::Any, [quotients.clone(), body]);
        evaluated(any, ValueType::Bool, &document)
    };
    assert_eq!(any(0), Ok(Bson::Boolean(true)));
    assert_eq!(any(1), Err("1 / 0 divides by zero".to_owned()));
}

#[test]
fn a_missing_field_has_its_default_or_is_named() {
    let document = rawdoc! {};
    let field = |ty, default| {
        let path = "a".to_owned();
        let of = None;
        let ty2 = ValueType::clone(&ty);
        let field = FieldValue {
            of,
            path,
            ty,
            default,
        };
        evaluated(Expression::Field(field), ty2, &document)
    };
    let number = ValueType::Number(NumberType::I64);
    let optional = ValueType::Optional(number.clone().into());
    assert_eq!(
        field(number.clone(), None),
        Err("`a` is missing".to_owned())
    );
    assert_eq!(field(number, Some(Bson::Int64(5))), Ok(Bson::Int64(5)));
    assert_eq!(field(optional.clone(), None), Ok(Bson::Null));
    assert_eq!(field(optional, Some(Bson::Int64(5))), Ok(Bson::Int64(5)));
}

#[test]
fn every_nan_is_stored_as_one() {
    let document = rawdoc! { "a": 0.0, "b": f64::from_bits(0xfff8_0000_0000_0001) };
    for expression in [
        call(
            Function::Divide,
            [number("a", NumberType::F64), number("a", NumberType::F64)],
        ),
        number("b", NumberType::F64),
    ] {
        let value = evaluated(expression, ValueType::Number(NumberType::F64), &document);
        let value = value.unwrap().as_f64().map(f64::to_bits);
        assert_eq!(value, Some(f64::NAN.to_bits()));
    }
}

#[test]
fn the_stored_form_names_the_functions() {
    let formula = Formula {
        expression: call(
            Function::As(NumberType::F64),
            [call(
                Function::Multiply,
                [number("a.b", NumberType::I32), Expression::Integer(2, None)],
            )],
        ),
        result: ValueType::Optional(ValueType::Number(NumberType::F64).into()),
    };
    let stored = bson::serialize_to_document(&formula).unwrap();
    let wanted = doc! {
        "expression": { "call": [{ "as": "f64" }, [
            { "call": ["multiply", [
                { "field": { "path": "a.b", "ty": { "number": "i32" } } },
                { "integer": [2_i64, null] },
            ]] },
        ]] },
        "result": { "optional": { "number": "f64" } },
    };
    assert_eq!(stored, wanted);
    assert_eq!(
        bson::deserialize_from_document::<Formula>(stored).unwrap(),
        formula
    );
}

/// Expressions whose types fit only by chance.
fn expression() -> impl Strategy<Value = Expression> {
    let number = || {
        prop::sample::select(vec![
            NumberType::I8,
            NumberType::I64,
            NumberType::U64,
            NumberType::F64,
        ])
    };
    let ty = prop_oneof![
        number().prop_map(ValueType::Number),
        Just(ValueType::Bool),
        Just(ValueType::Text),
        Just(ValueType::Other),
        Just(ValueType::Optional(ValueType::Text.into())),
        Just(ValueType::List(ValueType::Other.into())),
    ];
    let value = ("[abc]", ty, prop::option::of(0..2_usize));
    let leaf = prop_oneof![
        (any::<i64>(), prop::option::of(number()))
            .prop_map(|(value, number)| Expression::Integer(value, number)),
        any::<f64>().prop_map(Expression::Float),
        Just(Expression::Constant("a".into())),
        Just(Expression::None),
        (0..2_usize).prop_map(Expression::Parameter),
        value.prop_map(|(path, ty, of)| {
            let default = None;
            Expression::Field(FieldValue {
                of,
                path,
                ty,
                default,
            })
        }),
    ];
    let functions = vec![
        Function::Add,
        Function::Divide,
        Function::Remainder,
        Function::Negate,
        Function::And,
        Function::Equal,
        Function::Less,
        Function::As(NumberType::I8),
        Function::If,
        Function::UnwrapOr,
        Function::Abs,
        Function::Max,
        Function::Len,
        Function::Words,
        Function::Format,
        Function::Map,
        Function::Filter,
        Function::Any,
        Function::Sum(NumberType::I64),
        Function::Least,
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let function = prop::sample::select(functions.clone());
        (function, prop::collection::vec(inner, 0..4))
            .prop_map(|(function, arguments)| Expression::Call(function, arguments))
    })
}

proptest! {
    #[test]
    fn a_stored_formula_of_wrong_types_is_refused_and_never_panics(
        expression in expression(),
        document in document(),
    ) {
        let formula = Formula { expression, result: ValueType::Text };
        let _ = formula.evaluate(&raw(document));
        prop_assert!(formula.paths().len() <= 100);
    }
}

#[test]
fn a_literal_has_the_type_that_rust_infers() {
    let document = rawdoc! { "a": null, "list": [] };
    let literal = |value| Expression::Integer(value, None);
    let inferred = |expression, result| {
        let formula = Formula::new(expression, result);
        let value = formula.evaluate(&document).map_err(|why| why.to_string())?;
        Ok::<_, String>(Bson::try_from(value).expect("it is well-formed"))
    };
    let as_i64 = |expression| call(Function::As(NumberType::I64), [expression]);
    let optional = |number| field("a", ValueType::Optional(ValueType::Number(number).into()));
    // (a.unwrap_or(0) - 1) as i64
    let below = call(
        Function::Subtract,
        [
            call(Function::UnwrapOr, [optional(NumberType::U32), literal(0)]),
            literal(1),
        ],
    );
    let number = || ValueType::Number(NumberType::I64);
    assert_eq!(
        inferred(as_i64(below), number()),
        Err("0 - 1 overflows: the result is not a `u32`".to_owned())
    );
    // (2_000_000_000 * 2) as i64
    let alone = call(Function::Multiply, [literal(2_000_000_000), literal(2)]);
    assert_eq!(
        inferred(as_i64(alone.clone()), number()),
        Err("2000000000 * 2 overflows: the result is not an `i32`".to_owned())
    );
    assert_eq!(inferred(alone, number()), Ok(Bson::Int64(4_000_000_000)));
}
