//! Exact sums of numbers of all types.

use std::{collections::BTreeMap, fmt};

use bson::{Decimal128, RawBsonRef};

use crate::decimal::{DIGITS, Decimal, Finite, LIMB, MAX_EXPONENT, power, product};

/// The exact sum of numbers of all types: nothing is rounded, so that the order of the numbers has no effect, and a number that is
/// subtracted is as if it had never been added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactSum {
    /// By their positions, the digits before the place `10^(34 * position)`, 34 of them or less, each with a sign. None is zero.
    limbs: BTreeMap<i32, i128>,
}

/// An infinite number has no place in a sum: nothing would be left of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Infinite;

impl ExactSum {
    /// Adds a number. Other values and NaN are ignored, as no numbers.
    ///
    /// # Errors
    ///
    /// [`Infinite`], after which the sum is as before.
    pub fn add(&mut self, value: RawBsonRef<'_>) -> Result<(), Infinite> {
        let whole = match value {
            RawBsonRef::Int32(value) => value.into(),
            RawBsonRef::Int64(value) => value,
            RawBsonRef::Double(value) => return self.add_double(value),
            RawBsonRef::Decimal128(value) => {
                return match Decimal::new(value) {
                    Decimal::NaN => Ok(()),
                    Decimal::Infinity { .. } => Err(Infinite),
                    Decimal::Finite(value) => {
                        self.add_finite(value);
                        Ok(())
                    }
                };
            }
            _ => return Ok(()),
        };
        self.add_limb(0, whole.into());
        Ok(())
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: &ExactSum) {
        for (position, limb) in &other.limbs {
            self.add_limb(*position, *limb);
        }
    }

    /// Subtracts another sum.
    pub fn subtract(&mut self, other: &ExactSum) {
        for (position, limb) in &other.limbs {
            self.add_limb(*position, -limb);
        }
    }

    /// Whether the sum is zero.
    pub fn is_zero(&self) -> bool {
        // The limb of the highest position is greater than all others together.
        self.limbs.is_empty()
    }

    /// Returns the sum as a whole number of 64 bits, if it is one.
    pub fn to_int64(&self) -> Option<i64> {
        let mut limbs = self.limbs.iter();
        match (limbs.next(), limbs.next()) {
            (None, _) => Some(0),
            (Some((0, limb)), None) => i64::try_from(*limb).ok(),
            _ => None,
        }
    }

    /// Returns the sum as a decimal, if 34 digits are enough: with no zeros at the end of its fraction and, if the digits are enough for that
    /// too, without an exponent above 0.
    pub fn to_decimal(&self) -> Option<Decimal128> {
        let (negative, mut digits, mut exponent) = self.digits();
        if digits.len() > DIGITS as usize {
            return None;
        }
        while exponent > 0 && digits.len() < DIGITS as usize || exponent > MAX_EXPONENT {
            digits.push('0');
            exponent -= 1;
        }
        // There are 34 digits at most, and none of a number that is too small for a decimal is a decimal's.
        let coefficient = digits
            .parse()
            .ok()
            .filter(|coefficient| *coefficient < LIMB)?;
        let finite = Finite {
            negative,
            coefficient,
            exponent,
        };
        Some(Decimal::Finite(finite).pack())
    }

    /// Returns the double that is nearest to the sum, if it is finite.
    pub fn to_double(&self) -> Option<f64> {
        let (negative, digits, exponent) = self.digits();
        let sign = if negative { "-" } else { "" };
        let double: f64 = format!("{sign}{digits}e{exponent}").parse().ok()?;
        double.is_finite().then_some(double)
    }

    fn add_finite(&mut self, value: Finite) {
        let scale = value.exponent.rem_euclid(DIGITS as i32).unsigned_abs();
        let position = value.exponent.div_euclid(DIGITS as i32);
        // Each is less than `LIMB`.
        let (high, low) = product(value.coefficient, power(scale));
        let signed = |limb: u128| match value.negative {
            true => -(limb as i128),
            false => limb as i128,
        };
        self.add_limb(position, signed(low));
        self.add_limb(position + 1, signed(high));
    }

    fn add_double(&mut self, value: f64) -> Result<(), Infinite> {
        if value.is_infinite() {
            return Err(Infinite);
        }
        if value.is_nan() {
            return Ok(());
        }
        // The smallest double has this many digits behind the point.
        let text = format!("{:.1074}", value.abs());
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = [whole, fraction].concat();
        let mut exponent = -(fraction.len() as i32);
        for chunk in digits.as_bytes().rchunks(DIGITS as usize) {
            let coefficient = chunk
                .iter()
                .fold(0, |all, digit| all * 10 + u128::from(digit - b'0'));
            self.add_finite(Finite {
                negative: value < 0.0,
                coefficient,
                exponent,
            });
            exponent += DIGITS as i32;
        }
        Ok(())
    }

    /// Adds less than two limbs at a position.
    fn add_limb(&mut self, position: i32, limb: i128) {
        let limb = self.limbs.remove(&position).unwrap_or(0) + limb;
        let (carry, rest) = (limb / LIMB as i128, limb % LIMB as i128);
        if rest != 0 {
            self.limbs.insert(position, rest);
        }
        if carry != 0 {
            self.add_limb(position + 1, carry);
        }
    }

    /// The sign, the digits without zeros at either end, and the place of the last digit.
    fn digits(&self) -> (bool, String, i32) {
        let Some((last, top)) = self.limbs.last_key_value() else {
            return (false, "0".to_owned(), 0);
        };
        let (negative, first) = (*top < 0, *self.limbs.keys().next().unwrap_or(last));
        let mut limbs = Vec::new();
        let mut borrow = 0;
        for position in first..=*last {
            let limb = self.limbs.get(&position).copied().unwrap_or(0);
            let limb = if negative { -limb } else { limb } - borrow;
            borrow = i128::from(limb < 0);
            limbs.push(limb + borrow * LIMB as i128);
        }
        let digits: String = limbs
            .iter()
            .rev()
            .map(|limb| format!("{limb:034}"))
            .collect();
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        let zeros = (digits.len() - significant.len()) as i32;
        (
            negative,
            significant.to_owned(),
            first * DIGITS as i32 + zeros,
        )
    }
}

impl fmt::Display for ExactSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(decimal) = self.to_decimal() {
            return write!(f, "{decimal}");
        }
        let (negative, digits, exponent) = self.digits();
        let sign = if negative { "-" } else { "" };
        write!(f, "{sign}{digits}E{exponent:+}")
    }
}

#[cfg(test)]
mod tests {
    use bson::RawBson;
    use proptest::prelude::*;

    use super::*;

    fn decimal(text: &str) -> RawBson {
        RawBson::Decimal128(text.parse().unwrap())
    }

    fn total(values: &[RawBson]) -> ExactSum {
        let mut total = ExactSum::default();
        values
            .iter()
            .for_each(|value| total.add(value.as_raw_bson_ref()).unwrap());
        total
    }

    fn shown(total: &ExactSum) -> Option<String> {
        total.to_decimal().map(|decimal| decimal.to_string())
    }

    #[test]
    fn a_sum_is_exact_for_all_types_of_numbers() {
        let mixed = total(&[
            RawBson::Int32(1),
            RawBson::Int64(-3),
            RawBson::Double(0.5),
            decimal("0.250"),
        ]);
        assert_eq!(shown(&mixed).unwrap(), "-1.25");
        assert_eq!(mixed.to_double(), Some(-1.25));
        assert_eq!(mixed.to_int64(), None);
        // The double is not the decimal of the same text.
        let tenth = total(&[RawBson::Double(0.1), decimal("-0.1")]);
        assert!(!tenth.is_zero());
        assert_eq!(tenth.to_decimal().map(|_| ()), None);
        assert_eq!(
            total(&[RawBson::Double(0.1), RawBson::Double(0.2)]).to_double(),
            Some(0.30000000000000004)
        );
    }

    #[test]
    fn what_has_no_value_is_ignored_and_an_infinite_number_refused() {
        let nothing = [
            RawBson::Null,
            RawBson::Boolean(true),
            RawBson::String("7".into()),
            RawBson::Double(f64::NAN),
            decimal("NaN"),
        ];
        assert!(total(&nothing).is_zero());
        assert_eq!(shown(&total(&[])).unwrap(), "0");
        let mut one = total(&[RawBson::Int32(1)]);
        for infinite in [RawBson::Double(f64::NEG_INFINITY), decimal("Infinity")] {
            assert_eq!(one.add(infinite.as_raw_bson_ref()), Err(Infinite));
        }
        assert_eq!(one.to_int64(), Some(1));
    }

    #[test]
    fn the_bounds_of_each_type() {
        let max = RawBson::Int64(i64::MAX);
        assert_eq!(total(std::slice::from_ref(&max)).to_int64(), Some(i64::MAX));
        let beyond = total(&[max.clone(), RawBson::Int32(1)]);
        assert_eq!(beyond.to_int64(), None);
        assert_eq!(shown(&beyond).unwrap(), "9223372036854775808");
        assert_eq!(
            total(&[max, RawBson::Int32(1), RawBson::Int32(-1)]).to_int64(),
            Some(i64::MAX)
        );
        assert_eq!(
            total(&[RawBson::Int64(i64::MIN)]).to_int64(),
            Some(i64::MIN)
        );
        assert_eq!(
            total(&[decimal("1E+40"), RawBson::Int32(1)]).to_decimal(),
            None
        );
        assert_eq!(
            shown(&total(&[decimal("1E+40")])).unwrap(),
            "1.000000000000000000000000000000000E+40"
        );
        assert_eq!(shown(&total(&[decimal("1E+3")])).unwrap(), "1000");
        assert_eq!(
            shown(&total(&[decimal("9E+6144")])).unwrap(),
            "9.000000000000000000000000000000000E+6144"
        );
        assert_eq!(
            total(&[decimal("9E+6144"), decimal("1E+6144")]).to_decimal(),
            None
        );
        assert_eq!(shown(&total(&[decimal("1E-6176")])).unwrap(), "1E-6176");
        assert_eq!(
            total(&[RawBson::Double(f64::MAX), RawBson::Double(f64::MAX)]).to_double(),
            None
        );
        let smallest = total(&[RawBson::Double(f64::from_bits(1))]);
        assert_eq!(smallest.to_double(), Some(f64::from_bits(1)));
        assert_eq!(total(&[decimal("1E+6000")]).to_double(), None);
    }

    fn number() -> impl Strategy<Value = RawBson> {
        prop_oneof![
            any::<i32>().prop_map(RawBson::Int32),
            any::<i64>().prop_map(RawBson::Int64),
            any::<f64>()
                .prop_filter("finite", |value| value.is_finite())
                .prop_map(RawBson::Double),
            (any::<i64>(), -6000..6000_i32)
                .prop_map(|(digits, exponent)| decimal(&format!("{digits}E{exponent}"))),
            (any::<i16>(), -3..3_i32)
                .prop_map(|(digits, exponent)| decimal(&format!("{digits}E{exponent}"))),
        ]
    }

    proptest! {
        #[test]
        fn the_order_of_the_numbers_has_no_effect(numbers in prop::collection::vec(number(), 0..12), gone in prop::collection::vec(number(), 0..12)) {
            let mut there = total(&[&numbers[..], &gone[..]].concat());
            there.subtract(&total(&gone));
            let mut reversed = numbers.clone();
            reversed.reverse();
            let back = total(&reversed);
            prop_assert_eq!(there.to_decimal(), back.to_decimal());
            prop_assert_eq!(there.to_double().map(f64::to_bits), back.to_double().map(f64::to_bits));
            prop_assert_eq!(there.to_int64(), back.to_int64());
            let mut nothing = back.clone();
            nothing.subtract(&there);
            prop_assert!(nothing.is_zero());
        }

        #[test]
        fn whole_numbers_are_added_as_rust_adds_them(numbers in prop::collection::vec(any::<i64>(), 0..30)) {
            let all = total(&numbers.iter().copied().map(RawBson::Int64).collect::<Vec<_>>());
            let sum: i128 = numbers.iter().copied().map(i128::from).sum();
            prop_assert_eq!(all.to_int64(), i64::try_from(sum).ok());
            prop_assert_eq!(shown(&all).unwrap(), sum.to_string());
            prop_assert_eq!(all.to_double().unwrap(), sum as f64);
        }

        #[test]
        fn each_number_is_its_own_sum(number in number()) {
            let one = total(std::slice::from_ref(&number));
            match number {
                RawBson::Double(value) => prop_assert_eq!(one.to_double(), Some(value)),
                RawBson::Decimal128(value) => {
                    let sum = one.to_decimal().unwrap();
                    let order = crate::order::compare(RawBsonRef::Decimal128(sum), RawBsonRef::Decimal128(value));
                    prop_assert!(order.is_eq(), "{} {}", sum, value);
                }
                _ => prop_assert!(one.to_int64().is_some()),
            }
        }
    }
}
