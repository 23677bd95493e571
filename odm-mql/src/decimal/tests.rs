use proptest::prelude::*;

use super::*;

fn decimal(text: &str) -> Decimal {
    Decimal::new(text.parse().expect("a decimal"))
}

fn finite() -> impl Strategy<Value = Decimal> {
    let coefficient = prop_oneof![0..100_u128, 0..LIMB, LIMB - 100..LIMB];
    let exponent = prop_oneof![-5..5_i32, -80..80_i32, MIN_EXPONENT..=MAX_EXPONENT];
    (any::<bool>(), coefficient, exponent).prop_map(|(negative, coefficient, exponent)| {
        Decimal::Finite(Finite {
            negative,
            coefficient,
            exponent,
        })
    })
}

/// Each line has an operator, its operands and the result of Python's module `decimal` with the parameters of Decimal128.
#[test]
fn results_are_those_of_another_implementation() {
    let lines: Vec<&str> = include_str!("vectors.txt").lines().collect();
    assert!(lines.len() > 100);
    for line in lines {
        let [operator, a, b, expected] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (a, b) = (decimal(a), decimal(b));
        let result = match operator {
            "+" => a.plus(b),
            "*" => a.times(b),
            "/" => a.over(b),
            _ => a.modulo(b),
        };
        assert_eq!(result, decimal(expected), "{line}");
    }
}

#[test]
fn a_number_with_more_digits_than_a_decimal_has_is_rounded() {
    let text = |text: &str| Decimal::parse(text).map(|value| value.pack().to_string());
    let digits = "1".repeat(34);
    for (number, expected) in [
        (format!("{digits}5"), format!("1.{}2E+34", &digits[2..])),
        (format!("{digits}4"), format!("1.{}E+34", &digits[1..])),
        (
            format!("0.{digits}{}", "9".repeat(100)),
            format!("0.{}2", &digits[1..]),
        ),
        (format!("{digits}.{}1", "0".repeat(100)), digits.clone()),
        (
            format!("{digits}5.{}1", "0".repeat(100)),
            format!("1.{}2E+34", &digits[2..]),
        ),
        (
            format!("{digits}123E-6179"),
            format!("1.{}E-6143", &digits[1..]),
        ),
        (format!("0.{}1E10001", "0".repeat(10_000)), "1".to_owned()),
        (
            format!("1{}E-10000", "0".repeat(10_000)),
            "1.000000000000000000000000000000000".to_owned(),
        ),
    ] {
        assert_eq!(text(&number), Some(expected), "{number}");
    }
    assert_eq!(text(&format!("{}E-6179", &digits[1..])), None);
    for none in [
        "",
        "+",
        ".",
        "1e",
        "e1",
        "1e+",
        "1.1.1",
        "--1",
        "1_0",
        "1E99999999999999999999",
        "1E-99999999999999999999",
    ] {
        assert_eq!(text(none), None, "{none}");
    }
}

#[test]
fn a_double_is_rounded_to_fifteen_digits() {
    let text = |value: f64| Decimal::double(value).pack().to_string();
    assert_eq!(text(0.1), "0.100000000000000");
    assert_eq!(text(1.0 / 3.0), "0.333333333333333");
    assert_eq!(text(-1e300), "-1.00000000000000E+300");
    assert_eq!(text(-0.0), "-0");
    assert_eq!(text(f64::NEG_INFINITY), "-Infinity");
}

#[test]
fn a_double_that_is_exact_as_a_decimal_has_no_digits_that_say_nothing() {
    let wide = |value: f64| Decimal::wide_double(value).pack().to_string();
    for (value, text) in [
        (0.1, "0.1000000000000000055511151231257827"),
        (2.5, "2.5"),
        (-2.5, "-2.5"),
        (10.0, "10"),
        (0.0, "0"),
        (-0.0, "-0"),
        (1e22, "10000000000000000000000"),
        (1e40, "1.000000000000000030378602842700367E+40"),
        (0.0078125, "0.0078125"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (f64::INFINITY, "Infinity"),
        (f64::NAN, "NaN"),
    ] {
        assert_eq!(wide(value), text);
    }
}

proptest! {
    #[test]
    fn a_decimal_is_read_as_it_is_written(value in finite()) {
        prop_assert_eq!(Decimal::parse(&value.pack().to_string()), Some(value));
    }

    #[test]
    fn a_double_has_the_value_of_its_decimal(value in any::<f64>()) {
        let text = Decimal::wide_double(value).pack().to_string();
        let read: f64 = text.parse().expect("a number");
        prop_assert!(read == value || value.is_nan() && read.is_nan(), "{} {}", value, text);
    }
}

#[test]
fn digits_are_cut_off_as_asked() {
    let cut = |text: &str, place| decimal(text).cut(place, half_to_even).pack().to_string();
    assert_eq!(cut("2.5", 0), "2");
    assert_eq!(cut("3.5", 0), "4");
    assert_eq!(cut("-2.51", 0), "-3");
    assert_eq!(cut("2.25", -1), "2.2");
    assert_eq!(cut("1250", 2), "1.2E+3");
    assert_eq!(cut("1E-6000", 0), "0");
    assert_eq!(
        decimal("1E+18").truncated(),
        Some(1_000_000_000_000_000_000)
    );
    assert_eq!(decimal("1E+19").truncated(), None);
    assert_eq!(decimal("-0.9").truncated(), Some(0));
    assert_eq!(decimal("-9223372036854775808").truncated(), Some(i64::MIN));
    assert_eq!(decimal("NaN").truncated(), None);
}

#[test]
fn a_quantized_value_has_its_last_digit_at_the_place() {
    let text = |text: &str, place| {
        decimal(text)
            .quantized(place, half_to_even)
            .pack()
            .to_string()
    };
    assert_eq!(text("1.1", -3), "1.100");
    assert_eq!(text("1.15", -1), "1.2");
    assert_eq!(text("1E+3", 0), "1000");
    assert_eq!(text("0E+3", -2), "0.00");
    assert_eq!(text("1E+34", 0), "NaN");
    assert_eq!(text("Infinity", 0), "NaN");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_value_survives_its_bytes(value in finite()) {
        prop_assert_eq!(Decimal::new(value.pack()), value);
    }

    #[test]
    fn sums_and_products_do_not_depend_on_the_order(a in finite(), b in finite()) {
        prop_assert_eq!(a.plus(b), b.plus(a));
        prop_assert_eq!(a.times(b), b.times(a));
        prop_assert_eq!(a.plus(b).negated().is_zero(), a.negated().plus(b.negated()).is_zero());
        prop_assert!(a.plus(a.negated()).is_zero());
    }

    #[test]
    fn whole_numbers_are_calculated_with_exactly(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Decimal::int(a), Decimal::int(b));
        prop_assert_eq!(x.plus(y).truncated(), a.checked_add(b));
        prop_assert_eq!(x.times(y).truncated(), a.checked_mul(b));
        if b != 0 && (a, b) != (i64::MIN, -1) {
            prop_assert_eq!(x.modulo(y).truncated(), Some(a % b));
            let quotient = x.plus(x.modulo(y).negated()).over(y);
            prop_assert_eq!(quotient.truncated(), Some(a / b));
        }
    }

    #[test]
    fn any_bytes_are_calculated_with(a in any::<[u8; 16]>(), b in any::<[u8; 16]>(), place in any::<i16>()) {
        let [a, b] = [a, b].map(|bytes| Decimal::new(Decimal128::from_bytes(bytes)));
        for result in [a.plus(b), a.times(b), a.cut(place.into(), half_to_even)] {
            prop_assert_eq!(Decimal::new(result.pack()), result);
        }
        if !b.is_zero() {
            for result in [a.over(b), a.modulo(b)] {
                prop_assert_eq!(Decimal::new(result.pack()), result);
            }
        }
    }
}
