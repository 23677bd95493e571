use proptest::prelude::*;

use super::*;

fn decimal(text: &str) -> Decimal {
    Decimal::new(text.parse().expect("a decimal"))
}

fn text(value: Decimal) -> String {
    value.pack().to_string()
}

/// Each line has a function, its operands and the result of Python's module `decimal` with 120 digits, rounded to those of a decimal.
#[test]
fn results_are_those_of_another_implementation() {
    let lines: Vec<&str> = include_str!("vectors.txt").lines().collect();
    assert!(lines.len() > 200);
    for line in lines {
        let [function, a, b, expected] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (a, b) = (decimal(a), decimal(b));
        let result = match function {
            "exp" => a.exp(),
            "ln" => a.ln(),
            "log10" => a.log10(),
            _ => a.pow(b),
        };
        let is_equal = match (result, decimal(expected)) {
            (Infinity { negative: a }, Infinity { negative: b }) => a == b,
            (result, expected) => result.plus(expected.negated()).is_zero(),
        };
        assert!(is_equal, "{line}, and not {}", text(result));
    }
}

#[test]
fn exact_results_have_the_digits_that_mongodb_gives_them() {
    for (result, expected) in [
        (decimal("0").exp(), "1"),
        (decimal("1E-6143").exp(), "1"),
        (decimal("-Infinity").exp(), "0"),
        (decimal("-9E+6144").exp(), "0E-6176"),
        (decimal("1E+6144").exp(), "Infinity"),
        (decimal("1.0").ln(), "0"),
        (decimal("1").log10(), "0"),
        (decimal("100").log10(), "2"),
        (decimal("1E-6176").log10(), "-6176"),
        (
            decimal("9.999999999999999999999999999999999E+6144").log10(),
            "6145",
        ),
        (
            decimal("2").pow(decimal("3")),
            "8.000000000000000000000000000000000",
        ),
        (
            decimal("2").pow(decimal("100")),
            "1267650600228229401496703205376.000",
        ),
        (
            decimal("0.5").pow(decimal("2")),
            "0.2500000000000000000000000000000000",
        ),
        (
            decimal("7").pow(decimal("0")),
            "1.000000000000000000000000000000000",
        ),
        (
            decimal("-2").pow(decimal("3")),
            "-8.000000000000000000000000000000000",
        ),
        (
            decimal("-2").pow(decimal("4.0")),
            "16.00000000000000000000000000000000",
        ),
        (decimal("-2").pow(decimal("1E+34")), "Infinity"),
        (decimal("-2").pow(decimal("0.5")), "NaN"),
        (
            decimal("-1").pow(decimal("-9007199254740993")),
            "-1.000000000000000000000000000000000",
        ),
        (decimal("-0").pow(decimal("3")), "0E-6176"),
        (decimal("-Infinity").pow(decimal("3")), "-Infinity"),
        (decimal("-Infinity").pow(decimal("2")), "Infinity"),
        (decimal("-Infinity").pow(decimal("-1")), "0E-6176"),
        (decimal("0.5").pow(decimal("Infinity")), "0E-6176"),
        (decimal("0.5").pow(decimal("-Infinity")), "Infinity"),
        (decimal("NaN").pow(decimal("2")), "NaN"),
        (decimal("2").pow(decimal("NaN")), "NaN"),
    ] {
        assert_eq!(text(result), expected);
    }
}

fn number() -> impl Strategy<Value = Decimal> {
    let finite = (
        any::<bool>(),
        0..LIMB,
        super::super::MIN_EXPONENT..=super::super::MAX_EXPONENT,
    );
    prop_oneof![
        8 => finite.prop_map(|(negative, coefficient, exponent)| Decimal::Finite(Finite {
            negative,
            coefficient,
            exponent,
        })),
        8 => (any::<bool>(), 0..LIMB, -40..5_i32).prop_map(|(negative, coefficient, exponent)| {
            Decimal::Finite(Finite { negative, coefficient, exponent })
        }),
        1 => Just(NaN),
        1 => any::<bool>().prop_map(|negative| Infinity { negative }),
    ]
}

proptest! {
    /// A power that has a logarithm is near the number again: a unit in the last place of the logarithm of a large power is more there.
    #[test]
    fn the_logarithm_of_a_power_is_its_exponent(coefficient in 1..LIMB, exponent in -37..-30_i32, negative in any::<bool>()) {
        let value = Decimal::Finite(Finite { negative, coefficient, exponent });
        let error = value.exp().ln().plus(value.negated()).abs();
        let bound = decimal("1E-32").plus(value.abs().times(decimal("1E-33")));
        prop_assert!(error.plus(bound.negated()).is_negative(), "{}: {}", text(value), text(error));
    }

    /// All functions take all numbers, and the results are decimals.
    #[test]
    fn no_number_does_harm(a in number(), b in number()) {
        let results = [a.exp(), a.pow(if a.is_zero() { b.abs() } else { b })];
        let positive = if a.is_zero() { Decimal::ONE } else { a.abs() };
        for result in results.into_iter().chain([positive.ln(), positive.log10()]) {
            prop_assert_eq!(Decimal::new(result.pack()), result);
        }
    }

    #[test]
    fn small_whole_powers_are_products(base in 0..1_000_000_u128, exponent in 0..4_u32) {
        let number = |coefficient: u128| Decimal::whole(coefficient as i128);
        let power = number(base).pow(number(exponent.into()));
        let product = number(base.pow(exponent));
        prop_assert!(power.plus(product.negated()).is_zero());
    }
}
