//! Numbers of all four BSON types, by value and without rounding.
//!
//! A number is represented by the greatest double that is not above it and, if the two differ, its exact decimal value. Doubles and small
//! integers never need the second part, so they are compared and encoded as doubles. The order among them and numbers such as 2^53 + 1 and
//! `0.1` as a decimal is still exact.

use std::cmp::Ordering;

use bson::{Decimal128, RawBsonRef};

use crate::decimal;

/// The value of a number: a double, and the exact value if that is greater.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    floor: f64,
    exact: Option<ExactDecimal>,
}

/// A finite decimal that is not zero: the coefficient has no trailing zero.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ExactDecimal {
    negative: bool,
    coefficient: u128,
    exponent: i32,
}

/// An exact double has at most 767 significant digits.
const EXACT_DIGITS: usize = 767;

impl Number {
    /// Creates the number of a value, or returns `None` if the value is not a number.
    pub(super) fn new(value: RawBsonRef<'_>) -> Option<Number> {
        Some(match value {
            RawBsonRef::Int32(value) => Number::double(value.into()),
            RawBsonRef::Int64(value) => Number::int(value),
            RawBsonRef::Double(value) => Number::double(value),
            RawBsonRef::Decimal128(value) => Number::decimal(value),
            _ => return None,
        })
    }

    fn double(value: f64) -> Number {
        // The sum turns -0.0 into 0.0.
        Number {
            floor: value + 0.0,
            exact: None,
        }
    }

    pub(super) fn int(value: i64) -> Number {
        let nearest = value as f64;
        match i128::from(value).cmp(&(nearest as i128)) {
            Ordering::Equal => Number::double(nearest),
            order => Number {
                floor: if order.is_lt() {
                    nearest.next_down()
                } else {
                    nearest
                },
                exact: Some(ExactDecimal::new(value < 0, value.unsigned_abs().into(), 0)),
            },
        }
    }

    fn decimal(value: Decimal128) -> Number {
        use decimal::Decimal::{Finite, Infinity, NaN};
        match decimal::Decimal::new(value) {
            NaN => Number::double(f64::NAN),
            Infinity { negative: false } => Number::double(f64::INFINITY),
            Infinity { negative: true } => Number::double(f64::NEG_INFINITY),
            Finite(finite) if finite.coefficient == 0 => Number::double(0.0),
            Finite(finite) => {
                let decimal =
                    ExactDecimal::new(finite.negative, finite.coefficient, finite.exponent);
                let nearest = decimal.nearest();
                match decimal.compare_to(nearest) {
                    Ordering::Equal => Number::double(nearest),
                    Ordering::Less => Number {
                        floor: nearest.next_down() + 0.0,
                        exact: Some(decimal),
                    },
                    Ordering::Greater => Number {
                        floor: nearest + 0.0,
                        exact: Some(decimal),
                    },
                }
            }
        }
    }

    pub(super) fn is_nan(&self) -> bool {
        self.floor.is_nan()
    }

    /// Compares by value. NaN equals NaN and is less than all other numbers.
    pub(super) fn compare(&self, other: &Number) -> Ordering {
        compare_doubles(self.floor, other.floor).then_with(|| match (&self.exact, &other.exact) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => a.compare(b),
        })
    }

    /// Appends bytes in the order of [`compare`](Number::compare). No encoding is a prefix of another.
    #[inline]
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&ordered_bits(self.floor).to_be_bytes());
        match &self.exact {
            None => out.push(0),
            Some(decimal) => {
                out.push(1);
                decimal.encode(out);
            }
        }
    }

    /// The double with this encoding, if it is that of a double.
    pub(super) fn decode_double(bytes: &[u8]) -> Option<f64> {
        let (bits, exact) = bytes.split_first_chunk()?;
        (exact == [0]).then(|| double_of(u64::from_be_bytes(*bits)))
    }

    /// The length of the encoding at the start of these bytes, each combined with `mask`.
    pub(super) fn encoded_len(bytes: &[u8], mask: u8) -> Option<usize> {
        if bytes.get(8)? ^ mask == 0 {
            return Some(9);
        }
        let end = if (bytes[0] ^ mask) & 0x80 == 0 {
            0xff
        } else {
            0
        };
        let digits = bytes
            .get(11..)?
            .iter()
            .position(|&byte| byte ^ mask == end)?;
        Some(11 + digits + 1)
    }
}

pub(super) fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// The bits of a double as an integer of the same order.
fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_nan() {
        0
    } else if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// The double with these [`ordered_bits`].
fn double_of(ordered: u64) -> f64 {
    match ordered {
        0 => f64::NAN,
        bits if bits >> 63 == 1 => f64::from_bits(bits & !(1 << 63)),
        bits => f64::from_bits(!bits),
    }
}

impl ExactDecimal {
    /// The coefficient must not be zero.
    fn new(negative: bool, mut coefficient: u128, mut exponent: i32) -> ExactDecimal {
        while coefficient != 0 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        ExactDecimal {
            negative,
            coefficient,
            exponent,
        }
    }

    fn digits(&self) -> String {
        self.coefficient.to_string()
    }

    fn nearest(&self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        // The text is a number by construction.
        format!("{sign}{}e{}", self.coefficient, self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// Compares with the double that is nearest to it, exactly.
    fn compare_to(&self, nearest: f64) -> Ordering {
        let magnitude = if nearest.is_infinite() {
            Ordering::Less
        } else if nearest == 0.0 {
            Ordering::Greater
        } else {
            let text = format!("{:.*e}", EXACT_DIGITS, nearest.abs());
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let digits = mantissa.replace('.', "");
            let own = self.digits();
            let own_exponent = self.exponent + own.len() as i32 - 1;
            own_exponent
                .cmp(&exponent.parse().unwrap_or(0))
                .then_with(|| own.as_str().cmp(digits.trim_end_matches('0')))
        };
        if self.negative {
            magnitude.reverse()
        } else {
            magnitude
        }
    }

    /// Both must have the same sign.
    fn compare(&self, other: &ExactDecimal) -> Ordering {
        let (a, b) = (self.digits(), other.digits());
        let magnitude = (self.exponent + a.len() as i32)
            .cmp(&(other.exponent + b.len() as i32))
            .then_with(|| a.cmp(&b));
        if self.negative {
            magnitude.reverse()
        } else {
            magnitude
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let digits = self.digits();
        // The exponent of a decimal lies between -6176 and 6145.
        let exponent = (self.exponent + digits.len() as i32 + 0x8000) as u16;
        out.extend_from_slice(&exponent.to_be_bytes());
        for pair in digits.as_bytes().chunks(2) {
            let low = pair.get(1).map_or(0, |digit| digit - b'0');
            out.push((pair[0] - b'0') * 10 + low + 1);
        }
        out.push(0);
        if self.negative {
            for byte in &mut out[start..] {
                *byte = !*byte;
            }
        }
    }
}

/// The value as a whole number, if it is one of 64 bits.
pub(super) fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(value) => Some(value.into()),
        RawBsonRef::Int64(value) => Some(value),
        RawBsonRef::Double(value) => whole_double(value),
        RawBsonRef::Decimal128(value) => {
            let value = decimal::Decimal::new(value);
            value.cut(0, |_, _, _| false).truncated().filter(|whole| {
                // The decimal has no fraction if it equals its whole part.
                value
                    .plus(decimal::Decimal::int(*whole).negated())
                    .is_zero()
            })
        }
        _ => None,
    }
}

/// The whole part of a number, if it has 64 bits.
pub(super) fn truncated(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Double(value) => whole_double(value.trunc()),
        RawBsonRef::Decimal128(value) => decimal::Decimal::new(value).truncated(),
        other => whole(other),
    }
}

fn whole_double(value: f64) -> Option<i64> {
    let whole = value as i64;
    (whole as f64 == value && whole != i64::MAX).then_some(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compare(a: impl Into<RawBsonRef<'static>>, b: impl Into<RawBsonRef<'static>>) -> Ordering {
        let (a, b) = (Number::new(a.into()), Number::new(b.into()));
        a.zip(b)
            .map(|(a, b)| a.compare(&b))
            .expect("both are numbers")
    }

    fn decimal(text: &str) -> Decimal128 {
        text.parse().expect("a decimal")
    }

    #[test]
    fn integers_and_doubles_compare_without_rounding() {
        assert_eq!(
            compare(9_007_199_254_740_993_i64, 9_007_199_254_740_992.0),
            Ordering::Greater
        );
        assert_eq!(
            compare(i64::MAX, 9_223_372_036_854_775_808.0),
            Ordering::Less
        );
        assert_eq!(
            compare(i64::MIN, -9_223_372_036_854_775_808.0),
            Ordering::Equal
        );
        assert_eq!(
            compare(-9_007_199_254_740_993_i64, -9_007_199_254_740_992.0),
            Ordering::Less
        );
    }

    #[test]
    fn decimals_have_their_place_between_doubles() {
        // The double nearest to 0.1 is a little above it.
        assert_eq!(compare(decimal("0.1"), 0.1), Ordering::Less);
        assert_eq!(
            compare(decimal("0.1"), 0.1_f64.next_down()),
            Ordering::Greater
        );
        assert_eq!(compare(decimal("0.5"), 0.5), Ordering::Equal);
        assert_eq!(compare(decimal("1E+3"), 1000), Ordering::Equal);
        assert_eq!(
            compare(decimal("9007199254740993"), 9_007_199_254_740_993_i64),
            Ordering::Equal
        );
        assert_eq!(compare(decimal("-0.1"), decimal("-0.10")), Ordering::Equal);
        assert_eq!(compare(decimal("-0.11"), decimal("-0.1")), Ordering::Less);
    }

    #[test]
    fn decimals_beyond_the_doubles_stay_within_the_infinities() {
        assert_eq!(compare(decimal("1E+6000"), f64::INFINITY), Ordering::Less);
        assert_eq!(compare(decimal("1E+6000"), f64::MAX), Ordering::Greater);
        assert_eq!(
            compare(decimal("-1E+6000"), f64::NEG_INFINITY),
            Ordering::Greater
        );
        assert_eq!(compare(decimal("1E-6000"), 0), Ordering::Greater);
        assert_eq!(compare(decimal("1E-6000"), 5e-324), Ordering::Less);
        assert_eq!(compare(decimal("-1E-6000"), 0), Ordering::Less);
        assert_eq!(compare(decimal("Infinity"), f64::INFINITY), Ordering::Equal);
    }

    #[test]
    fn nan_is_the_least_number_and_equals_itself() {
        assert_eq!(compare(f64::NAN, decimal("NaN")), Ordering::Equal);
        assert_eq!(compare(f64::NAN, f64::NEG_INFINITY), Ordering::Less);
        assert_eq!(compare(0, -f64::NAN), Ordering::Greater);
        assert_eq!(compare(-0.0, decimal("-0E+3")), Ordering::Equal);
    }
    proptest! {
        #[test]
        fn a_decimal_lies_between_the_neighbours_of_its_nearest_double(
            coefficient in 1..u64::MAX,
            exponent in -340..300_i32,
            negative in any::<bool>(),
        ) {
            let sign = if negative { "-" } else { "" };
            let text = format!("{sign}{coefficient}E{exponent}");
            let nearest: f64 = text.parse().expect("a number");
            let value = decimal(&text);
            prop_assert_eq!(value.to_string().parse::<f64>(), Ok(nearest));
            prop_assert_eq!(compare(value, nearest.next_up()), Ordering::Less);
            prop_assert_eq!(compare(value, nearest.next_down()), Ordering::Greater);
        }
    }
}
