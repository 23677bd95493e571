use odm::bson::{Decimal128, rawdoc};

use super::*;

fn code_of<T>(result: Result<T>) -> Option<i32> {
    result.err().map(|error| error.code)
}

#[test]
fn an_argument_has_a_type_and_null_is_none() {
    let document = rawdoc! { "text": "a", "nothing": null, "number": 2.7, "list": [1] };
    let mut arguments = Arguments::of("find", &document).unwrap();
    assert_eq!(arguments.optional::<&str>("nothing").unwrap(), None);
    assert_eq!(arguments.optional::<&str>("missing").unwrap(), None);
    assert_eq!(code_of(arguments.required::<&str>("nothing")), Some(40_414));
    assert_eq!(arguments.required::<i64>("number").unwrap(), 2);
    let error = arguments.optional::<i64>("text").unwrap_err();
    let message = "BSON field 'find.text' is the wrong type 'string', expected types '[long, int, decimal, double]'";
    assert_eq!((error.code, error.text()), (14, message));
    let error = arguments.end().unwrap_err();
    let message = "BSON field 'find.list' is an unknown field.";
    assert_eq!((error.code, error.text()), (40_415, message));
}

#[test]
fn numbers_of_all_types_are_numbers_and_bools() {
    let ten: Decimal128 = "10".parse().unwrap();
    let document = rawdoc! { "a": 1, "b": 1_i64, "c": 1e300, "d": ten, "e": f64::NAN };
    let numbers = |name: &str| {
        let mut arguments = Arguments::of("x", &document).unwrap();
        arguments.required::<i64>(name).unwrap()
    };
    assert_eq!(
        ["a", "b", "c", "d", "e"].map(numbers),
        [1, 1, i64::MAX, 10, 0]
    );
    let mut arguments = Arguments::of("x", &document).unwrap();
    assert!(
        ["a", "b", "c", "d", "e"]
            .iter()
            .all(|name| arguments.flag(name).unwrap())
    );
}

#[test]
fn an_argument_that_is_given_twice_is_refused() {
    let mut document = rawdoc! { "filter": {} };
    document.append(odm::bson::raw::cstr!("filter"), rawdoc! { "a": 1 });
    let mut arguments = Arguments::of("find", &document).unwrap();
    assert_eq!(code_of(arguments.filter("filter")), Some(40_413));
}

#[test]
fn a_document_is_refused_that_is_nested_too_deeply() {
    let nested = |levels: usize| {
        let mut document = rawdoc! {};
        for _ in 1..levels {
            document = rawdoc! { "a": document };
        }
        document
    };
    assert_eq!(code_of(Arguments::of("find", &nested(MAX_NESTING))), None);
    let deep = nested(MAX_NESTING + 1);
    assert_eq!(code_of(Arguments::of("find", &deep)), Some(code::OVERFLOW));
}
