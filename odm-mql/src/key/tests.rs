use bson::{Bson, RawBson, doc};
use proptest::prelude::*;

use super::*;
use crate::{
    order::compare,
    testing::{number, raw_value, value},
};

fn key(value: &RawBson) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value.as_raw_bson_ref(), &mut out);
    out
}

fn directed(value: &RawBson, direction: Direction) -> Vec<u8> {
    let mut out = Vec::new();
    encode_directed(value.as_raw_bson_ref(), direction, &mut out);
    out
}

fn assert_same_order(a: Bson, b: Bson) -> Result<(), TestCaseError> {
    let (a, b) = (raw_value(a), raw_value(b));
    let order = compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
    prop_assert_eq!(key(&a).cmp(&key(&b)), order, "{:?} and {:?}", a, b);
    let descending = [&a, &b].map(|value| directed(value, Direction::Descending));
    prop_assert_eq!(descending[0].cmp(&descending[1]), order.reverse());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn keys_of_numbers_sort_as_the_numbers(a in number(), b in number()) {
        assert_same_order(a, b)?;
    }

    #[test]
    fn keys_sort_as_the_values(a in value(), b in value()) {
        assert_same_order(a, b)?;
    }

    #[test]
    fn compound_keys_sort_by_the_first_value_that_differs(
        a in (value(), value()),
        b in (value(), value()),
    ) {
        let (a, b) = ([a.0, a.1].map(raw_value), [b.0, b.1].map(raw_value));
        let join = |values: &[RawBson; 2]| {
            [key(&values[0]), directed(&values[1], Direction::Descending)].concat()
        };
        let order = compare(a[0].as_raw_bson_ref(), b[0].as_raw_bson_ref())
            .then(compare(b[1].as_raw_bson_ref(), a[1].as_raw_bson_ref()));
        prop_assert_eq!(join(&a).cmp(&join(&b)), order);
    }

    #[test]
    fn a_key_tells_its_own_end(value in value(), rest in prop::collection::vec(any::<u8>(), 0..4)) {
        let value = raw_value(value);
        for direction in [Direction::Ascending, Direction::Descending] {
            let key = directed(&value, direction);
            let bytes = [key.as_slice(), &rest].concat();
            prop_assert_eq!(skip(&bytes, direction), Some(key.len()));
        }
    }

    #[test]
    fn skip_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = skip(&bytes, Direction::Ascending);
        let _ = skip(&bytes, Direction::Descending);
    }

    #[test]
    fn a_bracket_holds_exactly_the_values_of_its_class(a in value(), b in value()) {
        let (a, b) = (raw_value(a), raw_value(b));
        let same = crate::order::same_type_bracket(a.as_raw_bson_ref(), b.as_raw_bson_ref());
        for direction in [Direction::Ascending, Direction::Descending] {
            let (lower, upper) = bracket_directed(a.as_raw_bson_ref(), direction);
            let key = directed(&b, direction);
            prop_assert_eq!(lower <= key && key < upper, same);
        }
    }
}

#[test]
fn common_values_have_short_keys() {
    assert_eq!(key(&raw_value(7)).len(), 10);
    assert_eq!(key(&raw_value(7_i64)), key(&raw_value(7.0)));
    assert_eq!(key(&raw_value("name")).len(), 6);
    assert_eq!(key(&raw_value(bson::oid::ObjectId::new())).len(), 13);
}

#[test]
fn a_truncated_key_is_no_key() {
    let key = key(&raw_value(doc! { "a": [1, "b"], "c": { "d": 0.5 } }));
    for end in 0..key.len() {
        assert_eq!(skip(&key[..end], Direction::Ascending), None);
    }
}
