//! Arithmetic of Decimal128: IEEE 754, 34 digits, rounded half to even.
//!
//! An exact result is held in two limbs of 34 digits, with a flag for further digits below them; it is rounded once.

mod fixed;
mod functions;

use bson::Decimal128;

/// The number of digits of a coefficient.
pub(super) const DIGITS: u32 = 34;
pub(super) const LIMB: u128 = 10_u128.pow(DIGITS);
const MIN_EXPONENT: i32 = -6176;
pub(super) const MAX_EXPONENT: i32 = 6111;

/// The value of a Decimal128. A coefficient has at most 34 digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decimal {
    NaN,
    Infinity { negative: bool },
    Finite(Finite),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Finite {
    pub(super) negative: bool,
    pub(super) coefficient: u128,
    pub(super) exponent: i32,
}

use Decimal::{Infinity, NaN};

/// The sign, the digits and the scale of a number that has at most 96 bits of digits and 28 of them behind the point.
#[doc(hidden)]
pub fn of_96_bits(value: Decimal128) -> Option<(bool, u128, u32)> {
    const MAX_SCALE: i32 = 28;
    const MAX: u128 = (1 << 96) - 1;
    let Decimal::Finite(Finite {
        negative,
        mut coefficient,
        exponent,
    }) = Decimal::new(value)
    else {
        return None;
    };
    let mut scale = -exponent;
    if coefficient == 0 {
        scale = scale.clamp(0, MAX_SCALE);
    }
    while scale < 0 && coefficient <= MAX {
        coefficient *= 10;
        scale += 1;
    }
    while scale > MAX_SCALE && coefficient % 10 == 0 {
        coefficient /= 10;
        scale -= 1;
    }
    let scale = u32::try_from(scale).ok()?;
    (coefficient <= MAX && scale <= MAX_SCALE as u32).then_some((negative, coefficient, scale))
}

impl Decimal {
    pub(super) fn new(value: Decimal128) -> Decimal {
        let bits = u128::from_le_bytes(value.bytes());
        let negative = bits >> 127 == 1;
        if bits >> 123 & 0xf == 0xf {
            return match bits >> 122 & 1 {
                1 => NaN,
                _ => Infinity { negative },
            };
        }
        // The other form of a coefficient is always too large, and such a number is zero.
        let (other_form, coefficient) = (bits >> 125 & 3 == 3, bits & ((1 << 113) - 1));
        let shift = if other_form { 111 } else { 113 };
        let is_zero = other_form || coefficient >= LIMB;
        Decimal::Finite(Finite {
            negative,
            coefficient: if is_zero { 0 } else { coefficient },
            exponent: (bits >> shift & 0x3fff) as i32 + MIN_EXPONENT,
        })
    }

    pub(super) fn int(value: i64) -> Decimal {
        Decimal::Finite(Finite {
            negative: value < 0,
            coefficient: value.unsigned_abs().into(),
            exponent: 0,
        })
    }

    /// A whole number, rounded to all digits that a decimal has.
    pub(super) fn whole(value: i128) -> Decimal {
        let magnitude = value.unsigned_abs();
        rounded(value < 0, magnitude / LIMB, magnitude % LIMB, false, 0)
    }

    /// A double, rounded to 15 digits, as MongoDB does.
    pub(super) fn double(value: f64) -> Decimal {
        Decimal::scientific(value, format!("{:.14e}", value.abs()))
    }

    /// A double, rounded to all digits that a decimal has. An exact result has no trailing zeros in its fraction.
    pub(super) fn wide_double(value: f64) -> Decimal {
        let wide = Decimal::scientific(value, format!("{:.33e}", value.abs()));
        let Decimal::Finite(mut it) = wide else {
            return wide;
        };
        let all_digits = format!("{:.766e}", value.abs());
        let (digits, _) = all_digits.split_once('e').unwrap_or_default();
        let is_exact = digits
            .bytes()
            .skip("0.".len() + 33)
            .all(|digit| digit == b'0');
        while is_exact && it.exponent < 0 && it.coefficient % 10 == 0 {
            it.coefficient /= 10;
            it.exponent += 1;
        }
        Decimal::Finite(it)
    }

    /// The decimal nearest to a number in decimal digits, with a sign and an exponent or without, or to `NaN`, `inf` or `infinity` in any
    /// case. It is `None` for any other text, for a number that is too large, and for one so small that it has not all its digits.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.split_at_checked(1) {
            Some(("-", rest)) => (true, rest),
            Some(("+", rest)) => (false, rest),
            _ => (false, text),
        };
        match text.to_ascii_lowercase().as_str() {
            "nan" => return Some(NaN),
            "inf" | "infinity" => return Some(Infinity { negative }),
            _ => {}
        }
        let (coefficient, exponent) = match text.split_once(['e', 'E']) {
            Some((coefficient, exponent)) => (coefficient, self::exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = coefficient.split_once('.').unwrap_or((coefficient, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let exponent = exponent - fraction.len() as i128;
        // Two limbs, and whether there is more below them.
        let (kept, below) = digits.split_at(digits.len().min(2 * DIGITS as usize));
        let (high, low) = kept.split_at(kept.len().saturating_sub(DIGITS as usize));
        let limb = |digits: &str| {
            digits
                .bytes()
                .fold(0, |all, digit| all * 10 + u128::from(digit - b'0'))
        };
        let rest = below.bytes().any(|digit| digit != b'0');
        let shifted = (exponent + below.len() as i128).clamp(-MOST, MOST) as i32;
        let rounded = rounded(negative, limb(high), limb(low), rest, shifted);
        // The digits that there is no place for because the number is small.
        let dropped = i128::from(MIN_EXPONENT) - exponent;
        let left = digits.len() - dropped.clamp(0, digits.len() as i128) as usize;
        let is_whole = left >= DIGITS as usize || digits[left..].bytes().all(|digit| digit == b'0');
        (is_whole && rounded.is_finite()).then_some(rounded)
    }

    fn scientific(value: f64, text: String) -> Decimal {
        if value.is_nan() {
            return NaN;
        }
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return Infinity { negative };
        }
        if value == 0.0 {
            return Decimal::Finite(Finite {
                negative,
                coefficient: 0,
                exponent: 0,
            });
        }
        // The text has one digit, perhaps a dot and more digits, then the exponent, by construction.
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let fraction = digits
            .split_once('.')
            .map_or(0, |(_, fraction)| fraction.len());
        Decimal::Finite(Finite {
            negative,
            coefficient: digits.replace('.', "").parse().unwrap_or(0),
            exponent: exponent.parse::<i32>().unwrap_or(0) - fraction as i32,
        })
    }

    pub(super) fn pack(self) -> Decimal128 {
        let sign = |negative| u128::from(negative) << 127;
        let bits = match self {
            NaN => 0x1f << 122,
            Infinity { negative } => sign(negative) | 0x1e << 122,
            Decimal::Finite(it) => {
                let exponent = (it.exponent - MIN_EXPONENT) as u128;
                sign(it.negative) | exponent << 113 | it.coefficient
            }
        };
        Decimal128::from_bytes(bits.to_le_bytes())
    }

    pub(super) fn negated(self) -> Decimal {
        match self {
            NaN => NaN,
            Infinity { negative } => Infinity {
                negative: !negative,
            },
            Decimal::Finite(it) => Decimal::Finite(Finite {
                negative: !it.negative,
                ..it
            }),
        }
    }

    pub(super) fn abs(self) -> Decimal {
        if self.is_negative() {
            self.negated()
        } else {
            self
        }
    }

    pub(super) fn is_negative(self) -> bool {
        match self {
            NaN => false,
            Infinity { negative } | Decimal::Finite(Finite { negative, .. }) => negative,
        }
    }

    pub(super) fn is_finite(self) -> bool {
        matches!(self, Decimal::Finite(_))
    }

    pub(super) fn is_zero(self) -> bool {
        matches!(self, Decimal::Finite(Finite { coefficient: 0, .. }))
    }

    pub(super) fn plus(self, other: Decimal) -> Decimal {
        match (self, other) {
            (NaN, _) | (_, NaN) => NaN,
            (Infinity { negative: a }, Infinity { negative: b }) if a != b => NaN,
            (Infinity { negative }, _) | (_, Infinity { negative }) => Infinity { negative },
            (Decimal::Finite(a), Decimal::Finite(b)) if a.exponent >= b.exponent => sum(a, b),
            (Decimal::Finite(a), Decimal::Finite(b)) => sum(b, a),
        }
    }

    pub(super) fn times(self, other: Decimal) -> Decimal {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (NaN, _) | (_, NaN) => NaN,
            (Infinity { .. }, zero) | (zero, Infinity { .. }) if zero.is_zero() => NaN,
            (Infinity { .. }, _) | (_, Infinity { .. }) => Infinity { negative },
            (Decimal::Finite(a), Decimal::Finite(b)) => {
                let (high, low) = product(a.coefficient, b.coefficient);
                rounded(negative, high, low, false, a.exponent + b.exponent)
            }
        }
    }

    /// The quotient. The divisor is not zero.
    pub(super) fn over(self, other: Decimal) -> Decimal {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (NaN, _) | (_, NaN) | (Infinity { .. }, Infinity { .. }) => NaN,
            (Infinity { .. }, _) => Infinity { negative },
            (Decimal::Finite(_), Infinity { .. }) => rounded(negative, 0, 0, false, MIN_EXPONENT),
            (Decimal::Finite(a), Decimal::Finite(b)) => quotient(negative, a, b),
        }
    }

    /// The square root of a number that is not negative.
    pub(super) fn root(self) -> Decimal {
        let Decimal::Finite(it) = self else {
            return self;
        };
        let ideal = it.exponent.div_euclid(2);
        if it.coefficient == 0 {
            return Decimal::Finite(Finite {
                exponent: ideal,
                ..it
            });
        }
        // Two limbs full of digits have a root that is a limb full of digits. The exponent must be even.
        let more = 2 * DIGITS - digits(it.coefficient);
        let is_odd = (it.exponent - more as i32) % 2 != 0;
        let more = more - u32::from(is_odd);
        let room = DIGITS - digits(it.coefficient);
        let (high, low) = product(it.coefficient * power(room), power(more - room));
        let (mut least, mut most) = (0, LIMB - 1);
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if product(middle, middle) <= (high, low) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        let rest = product(least, least) != (high, low);
        let exponent = (it.exponent - more as i32) / 2;
        if !rest {
            let Decimal::Finite(mut exact) = rounded(false, 0, least, false, exponent) else {
                return self;
            };
            while exact.exponent < ideal && exact.coefficient.is_multiple_of(10) {
                exact.coefficient /= 10;
                exact.exponent += 1;
            }
            return Decimal::Finite(exact);
        }
        // The square of the root and a half is its square, the root and a quarter.
        let (square_high, square_low) = product(least, least);
        let low_half = square_low + least;
        let half = (square_high + low_half / LIMB, low_half % LIMB);
        let root = least + u128::from((high, low) > half);
        rounded(false, root / LIMB, root % LIMB, false, exponent)
    }

    /// The remainder of a division towards zero. The divisor is not zero.
    pub(super) fn modulo(self, other: Decimal) -> Decimal {
        match (self, other) {
            (NaN, _) | (_, NaN) | (Infinity { .. }, _) => NaN,
            (a, Infinity { .. }) => a,
            (Decimal::Finite(a), Decimal::Finite(b)) => remainder(a, b),
        }
    }

    /// The value without the digits below `10^place`. `grows` decides whether the last kept digit grows, from the dropped part, the sign
    /// and the parity of that digit.
    pub(super) fn cut(self, place: i32, grows: fn(Dropped, bool, bool) -> bool) -> Decimal {
        let Decimal::Finite(it) = self else {
            return self;
        };
        let Some(drop) = place.checked_sub(it.exponent).filter(|drop| *drop > 0) else {
            return self;
        };
        let (mut coefficient, dropped) = dropped(0, it.coefficient, drop as u32, false);
        coefficient += u128::from(grows(dropped, it.negative, coefficient % 2 == 1));
        rounded(it.negative, 0, coefficient, false, place)
    }

    /// The value with `10^place` as its last digit, padded with zeros, or NaN if that takes more digits than a decimal can have. See
    /// [`cut`](Decimal::cut).
    pub(super) fn quantized(self, place: i32, grows: fn(Dropped, bool, bool) -> bool) -> Decimal {
        match self.cut(place, grows) {
            Decimal::Finite(it) => {
                let more = u32::try_from(it.exponent - place).unwrap_or(0);
                if it.coefficient != 0 && digits(it.coefficient) + more > DIGITS {
                    return NaN;
                }
                let zeros = if it.coefficient == 0 { 0 } else { more };
                Decimal::Finite(Finite {
                    coefficient: it.coefficient * power(zeros),
                    exponent: place.clamp(MIN_EXPONENT, MAX_EXPONENT),
                    ..it
                })
            }
            _ => NaN,
        }
    }

    /// The whole part, if it has 64 bits.
    pub(super) fn truncated(self) -> Option<i64> {
        match self.cut(0, |_, _, _| false) {
            Decimal::Finite(it) => {
                let exponent = u32::try_from(it.exponent).ok()?;
                let magnitude = match it.coefficient {
                    0 => 0,
                    whole => {
                        i128::try_from(whole.checked_mul(10_u128.checked_pow(exponent)?)?).ok()?
                    }
                };
                i64::try_from(if it.negative { -magnitude } else { magnitude }).ok()
            }
            _ => None,
        }
    }
}

/// The value of dropped digits, as a part of the last kept digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

pub(super) fn half_to_even(dropped: Dropped, _: bool, is_odd: bool) -> bool {
    match dropped {
        Dropped::Nothing | Dropped::BelowHalf => false,
        Dropped::Half => is_odd,
        Dropped::AboveHalf => true,
    }
}

/// Beyond the exponents of all decimals.
const MOST: i128 = 1_000_000_000;

/// An exponent after its `e`. All exponents out of the range of decimals are the same.
fn exponent(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse().unwrap_or(MOST).min(MOST);
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

fn digits(number: u128) -> u32 {
    number.checked_ilog10().map_or(0, |log| log + 1)
}

/// The product of two coefficients as two limbs.
pub(super) fn product(a: u128, b: u128) -> (u128, u128) {
    const HALF: u128 = 10_u128.pow(DIGITS / 2);
    let (a1, a0, b1, b0) = (a / HALF, a % HALF, b / HALF, b % HALF);
    let middle = a1 * b0 + a0 * b1;
    let low = a0 * b0 + middle % HALF * HALF;
    (a1 * b1 + middle / HALF + low / LIMB, low % LIMB)
}

/// The sum of two numbers. The first has the greater exponent.
fn sum(a: Finite, b: Finite) -> Decimal {
    let shift = (a.exponent - b.exponent) as u32;
    let (mut a, mut b, mut rest) = (a, b, false);
    let (high, low);
    if shift <= DIGITS {
        (high, low) = product(a.coefficient, power(shift));
    } else if a.coefficient == 0 {
        (high, low) = (0, 0);
    } else {
        // The first moves into the upper limb. The digits of the second within reach are added; `rest` records further digits, which exist
        // only if the first has all its digits.
        let room = (DIGITS - digits(a.coefficient)).min(shift - DIGITS);
        a.coefficient *= power(room);
        let beyond = shift - DIGITS - room;
        let (kept, gone) = dropped(0, b.coefficient, beyond, false);
        rest = gone != Dropped::Nothing;
        b.coefficient = kept;
        b.exponent += beyond as i32;
        (high, low) = (a.coefficient, 0);
    }
    if a.negative == b.negative {
        let low = low + b.coefficient;
        return rounded(a.negative, high + low / LIMB, low % LIMB, rest, b.exponent);
    }
    // A rest below is subtracted from the last digit of the greater number, and leaves a rest again.
    let taken = b.coefficient + u128::from(rest);
    if high > 0 || low >= taken {
        let (high, low) = match low.checked_sub(taken) {
            Some(low) => (high, low),
            None => (high - 1, LIMB + low - taken),
        };
        // The sum of a number and its opposite is positive.
        let negative = a.negative && (high, low, rest) != (0, 0, false);
        rounded(negative, high, low, rest, b.exponent)
    } else {
        rounded(b.negative, 0, taken - low, rest, b.exponent)
    }
}

pub(super) fn power(exponent: u32) -> u128 {
    10_u128.pow(exponent)
}

fn quotient(negative: bool, a: Finite, b: Finite) -> Decimal {
    let ideal = a.exponent - b.exponent;
    if a.coefficient == 0 {
        return rounded(negative, 0, 0, false, ideal);
    }
    // Digit by digit, until the coefficient has one digit too many or nothing remains.
    let mut coefficient = a.coefficient / b.coefficient;
    let mut rest = a.coefficient % b.coefficient;
    let mut exponent = ideal;
    while rest != 0 && digits(coefficient) <= DIGITS {
        rest *= 10;
        coefficient = coefficient * 10 + rest / b.coefficient;
        rest %= b.coefficient;
        exponent -= 1;
    }
    let (high, low) = (coefficient / LIMB, coefficient % LIMB);
    rounded(negative, high, low, rest != 0, exponent)
}

fn remainder(a: Finite, b: Finite) -> Decimal {
    let exponent = a.exponent.min(b.exponent);
    let scaled = |it: Finite, modulus: u128| {
        (exponent..it.exponent).fold(it.coefficient % modulus, |rest, _| rest * 10 % modulus)
    };
    let shift = (b.exponent - exponent) as u32;
    let coefficient = match digits(b.coefficient) + shift {
        ..=DIGITS => scaled(a, b.coefficient * power(shift)),
        // The divisor is greater than the dividend.
        _ => a.coefficient,
    };
    rounded(a.negative, 0, coefficient, false, exponent)
}

/// Drops digits of two limbs.
fn dropped(high: u128, low: u128, drop: u32, rest: bool) -> (u128, Dropped) {
    let (kept, gone, unit) = match drop {
        0 => (low, 0, 1),
        // The limb above has at most as many digits as are dropped.
        1..DIGITS => (
            high * power(DIGITS - drop) + low / power(drop),
            low % power(drop),
            power(drop),
        ),
        DIGITS => (high, low, LIMB),
        _ if drop <= 2 * DIGITS => {
            let unit = power(drop - DIGITS);
            let more = rest || low != 0;
            return (high / unit, part(high % unit, unit, more));
        }
        _ => (0, 0, 1),
    };
    let is_all = drop > 2 * DIGITS && (high, low) != (0, 0);
    match is_all {
        true => (0, Dropped::BelowHalf),
        false => (kept, part(gone, unit, rest)),
    }
}

/// Dropped digits as a part of their unit, which is at least ten, or 1 if only `rest` is below it.
fn part(gone: u128, unit: u128, rest: bool) -> Dropped {
    match (gone.cmp(&(unit / 2)), unit) {
        (_, 1) if rest => Dropped::BelowHalf,
        (_, 1) => Dropped::Nothing,
        _ if gone == 0 && !rest => Dropped::Nothing,
        (std::cmp::Ordering::Less, _) => Dropped::BelowHalf,
        (std::cmp::Ordering::Equal, _) if !rest => Dropped::Half,
        _ => Dropped::AboveHalf,
    }
}

/// The decimal nearest to two limbs and a rest.
fn rounded(negative: bool, high: u128, low: u128, rest: bool, exponent: i32) -> Decimal {
    let all = match high {
        0 => digits(low),
        high => digits(high) + DIGITS,
    };
    let drop = (all.saturating_sub(DIGITS) as i32).max(MIN_EXPONENT - exponent);
    let drop = u32::try_from(drop).unwrap_or(0);
    let (mut coefficient, dropped) = dropped(high, low, drop, rest);
    coefficient += u128::from(half_to_even(dropped, negative, coefficient % 2 == 1));
    let mut exponent = exponent.saturating_add_unsigned(drop);
    if coefficient == LIMB {
        coefficient /= 10;
        exponent += 1;
    }
    if coefficient == 0 {
        exponent = exponent.clamp(MIN_EXPONENT, MAX_EXPONENT);
    }
    // A large exponent is lowered by zeros, as far as there is room.
    let room = DIGITS - digits(coefficient);
    let excess = u32::try_from(exponent - MAX_EXPONENT).unwrap_or(0);
    if excess > room {
        return Infinity { negative };
    }
    Decimal::Finite(Finite {
        negative,
        coefficient: coefficient * power(excess),
        exponent: exponent - excess as i32,
    })
}

#[cfg(test)]
mod tests;
