//! Powers, exponential functions and logarithms of decimals.
//!
//! They are computed with 96 digits after the point, of which all but the last ten are right, and rounded once. So a result is the decimal
//! nearest to the exact one, as far as the exact one is not within 10^-12 of its last digit beside the middle of two decimals; it counts as
//! the middle, or as a decimal, then.

use std::sync::LazyLock;

use super::{
    DIGITS, Decimal,
    Decimal::{Infinity, NaN},
    Finite, LIMB, digits,
    fixed::Fixed,
    power, rounded,
};

/// Beyond it, powers of e are infinite or zero.
const MOST_EXPONENT: u128 = 15_000;

/// The natural logarithm of ten, and its inverse.
static LN_TEN: LazyLock<(Fixed, Fixed)> = LazyLock::new(|| {
    let ten = mantissa_ln(Fixed::whole(10));
    let mut inverse = Fixed::double(std::f64::consts::LOG10_E);
    // Each round doubles the right digits.
    for _ in 0..4 {
        inverse = inverse.times(Fixed::whole(2).minus(ten.times(inverse)));
    }
    (ten, inverse)
});

impl Decimal {
    const ONE: Decimal = Decimal::Finite(Finite {
        negative: false,
        coefficient: 1,
        exponent: 0,
    });
    const ZERO: Decimal = Decimal::Finite(Finite {
        negative: false,
        coefficient: 0,
        exponent: 0,
    });

    /// The power of e. It is 1 if it rounds to 1.
    pub(crate) fn exp(self) -> Decimal {
        let it = match self {
            NaN => return NaN,
            Infinity { negative: true } => return Decimal::ZERO,
            Infinity { negative: false } => return self,
            Decimal::Finite(it) => it,
        };
        let result = exp_of(scaled(Fixed::whole(1), it), it.negative);
        if result.plus(Decimal::ONE.negated()).is_zero() {
            return Decimal::ONE;
        }
        result
    }

    /// The natural logarithm of a number that is greater than zero, or NaN.
    pub(crate) fn ln(self) -> Decimal {
        match self {
            Decimal::Finite(it) => nearest(ln(it)),
            _ => self,
        }
    }

    /// The logarithm to the base of ten, as [`ln`](Decimal::ln). A whole one has no digits behind the point.
    pub(crate) fn log10(self) -> Decimal {
        let Decimal::Finite(it) = self else {
            return self;
        };
        let Decimal::Finite(mut log) = nearest(ln(it).times(LN_TEN.1)) else {
            return NaN;
        };
        if log.exponent < 0 && log.coefficient % power(log.exponent.unsigned_abs().min(DIGITS)) == 0
        {
            log.coefficient /= power(log.exponent.unsigned_abs().min(DIGITS));
            log.exponent = 0;
        }
        Decimal::Finite(log)
    }

    /// The power of a number, with all digits that a decimal has. The power of zero is not negative.
    pub(crate) fn pow(self, exponent: Decimal) -> Decimal {
        let padded =
            |result: Decimal| result.plus(rounded(false, 0, 0, false, super::MIN_EXPONENT));
        let is_one = |value: Decimal| value.plus(Decimal::ONE.negated()).is_zero();
        // Zero, an odd number, an even one, or another.
        let whole = exponent.parity();
        let magnitude = match (self.abs(), exponent) {
            (_, exponent) if exponent.is_zero() => return padded(Decimal::ONE),
            (base, _) if is_one(base) && !self.is_negative() => return padded(Decimal::ONE),
            (NaN, _) | (_, NaN) => return NaN,
            (base, Infinity { negative }) => {
                let is_less = base.plus(Decimal::ONE.negated()).is_negative();
                match (is_one(base), is_less == negative) {
                    (true, _) => return padded(Decimal::ONE),
                    (false, true) => return Infinity { negative: false },
                    (false, false) => return padded(Decimal::ZERO),
                }
            }
            (Infinity { .. }, exponent) if exponent.is_negative() => return padded(Decimal::ZERO),
            (Infinity { .. }, _) => Infinity { negative: false },
            (base, _) if base.is_zero() => return padded(Decimal::ZERO),
            (Decimal::Finite(base), Decimal::Finite(exponent)) => {
                let log = ln(base);
                exp_of(
                    scaled(log.abs(), exponent),
                    exponent.negative != log.is_negative(),
                )
            }
        };
        match (self.is_negative(), whole) {
            (false, _) | (true, Parity::Even) => padded(magnitude),
            (true, Parity::Odd) => padded(magnitude.negated()),
            (true, Parity::Fraction) => match magnitude {
                // As of C.
                Infinity { .. } if !self.is_finite() => magnitude,
                _ => NaN,
            },
        }
    }

    fn parity(self) -> Parity {
        let Decimal::Finite(it) = self else {
            return Parity::Even;
        };
        match u32::try_from(it.exponent) {
            Ok(0) if it.coefficient % 2 == 1 => Parity::Odd,
            Ok(_) => Parity::Even,
            Err(_) => {
                let places = it.exponent.unsigned_abs();
                let unit = 10_u128.checked_pow(places.min(DIGITS)).unwrap_or(LIMB);
                match it.coefficient {
                    0 => Parity::Even,
                    coefficient if places > DIGITS || coefficient % unit != 0 => Parity::Fraction,
                    coefficient if coefficient / unit % 2 == 1 => Parity::Odd,
                    _ => Parity::Even,
                }
            }
        }
    }
}

/// Whether a number is whole, and odd.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Parity {
    Odd,
    Even,
    Fraction,
}

/// The magnitude of a product, or `None` if it is beyond [`MOST_EXPONENT`]. The first factor is not negative.
fn scaled(factor: Fixed, it: Finite) -> Option<Fixed> {
    let is_beyond = |product: Fixed| product.integer().is_none_or(|whole| whole >= MOST_EXPONENT);
    if factor.is_zero() || it.coefficient == 0 {
        return Some(Fixed::ZERO);
    }
    let mut product = factor.times(Fixed::whole(it.coefficient));
    for _ in it.exponent..0 {
        product = product.over_small(10);
        if product.is_zero() {
            break;
        }
    }
    for _ in 0..it.exponent {
        if is_beyond(product) {
            break;
        }
        product = product.times_small(10);
    }
    (!is_beyond(product)).then_some(product)
}

/// The power of e of a magnitude and a sign.
fn exp_of(magnitude: Option<Fixed>, negative: bool) -> Decimal {
    let Some(magnitude) = magnitude else {
        return if negative {
            rounded(false, 0, 0, false, super::MIN_EXPONENT)
        } else {
            Infinity { negative: false }
        };
    };
    let value = if negative {
        magnitude.negated()
    } else {
        magnitude
    };
    let (ten, inverse) = *LN_TEN;
    let mut exponent = value.times(inverse).as_double().floor() as i32;
    let mut mantissa = exp(value.minus(ten.times(Fixed::signed(exponent))));
    // The floor can be one off.
    if mantissa.integer().is_some_and(|whole| whole >= 10) {
        mantissa = mantissa.over_small(10);
        exponent += 1;
    } else if mantissa.integer() == Some(0) {
        mantissa = mantissa.times_small(10);
        exponent -= 1;
    }
    of_mantissa(false, mantissa, exponent)
}

/// The decimal nearest to a number.
fn nearest(value: Fixed) -> Decimal {
    if value.is_zero() {
        return Decimal::ZERO;
    }
    let (mut mantissa, mut exponent) = (value.abs(), 0);
    while mantissa.integer() == Some(0) {
        mantissa = mantissa.times_small(10);
        exponent -= 1;
    }
    while mantissa.integer().is_none_or(|whole| whole >= 10) {
        mantissa = mantissa.over_small(10);
        exponent += 1;
    }
    of_mantissa(value.is_negative(), mantissa, exponent)
}

/// The decimal nearest to a number from 1 up to 10 and a power of ten.
fn of_mantissa(negative: bool, mantissa: Fixed, exponent: i32) -> Decimal {
    /// How much of the second limb is not known.
    const UNKNOWN: u128 = LIMB / 1_000_000_000_000;
    const HALF: u128 = LIMB / 2;
    let first = mantissa.times(Fixed::whole(power(DIGITS - 1)));
    let second = first.fraction().times(Fixed::whole(LIMB));
    let high = first.integer().unwrap_or(0);
    let low = second.integer().unwrap_or(0);
    let (high, low, rest) = match low {
        low if low < UNKNOWN => (high, 0, false),
        low if low > LIMB - UNKNOWN => (high + 1, 0, false),
        low if low.abs_diff(HALF) < UNKNOWN => (high, HALF, false),
        low => (high, low, true),
    };
    let scale = 2 * DIGITS as i32 - 1;
    match high {
        LIMB => rounded(negative, LIMB / 10, 0, false, exponent + 1 - scale),
        high => rounded(negative, high, low, rest, exponent - scale),
    }
}

/// The power of e of a number of a magnitude below 4.
fn exp(value: Fixed) -> Fixed {
    const SQUARINGS: u32 = 24;
    let small = value.over_small(1 << SQUARINGS);
    let (mut sum, mut term) = (Fixed::whole(1), Fixed::whole(1));
    for at in 1.. {
        term = term.times(small).over_small(at);
        if term.is_zero() {
            break;
        }
        sum = sum.plus(term);
    }
    (0..SQUARINGS).fold(sum, |power, _| power.times(power))
}

/// The natural logarithm of a number that is greater than zero.
fn ln(it: Finite) -> Fixed {
    let more = digits(it.coefficient).saturating_sub(1);
    let half = more / 2;
    let mantissa = Fixed::whole(it.coefficient);
    let mantissa = mantissa
        .over_small(10_u64.pow(half))
        .over_small(10_u64.pow(more - half));
    let exponent = it.exponent + more as i32;
    let of_exponent = LN_TEN.0.times(Fixed::signed(exponent));
    mantissa_ln(mantissa).plus(of_exponent)
}

/// The natural logarithm of a number from 1 to 10.
fn mantissa_ln(mantissa: Fixed) -> Fixed {
    let about = Fixed::double(mantissa.as_double().ln());
    // The rest of the logarithm is that of 1 and a number of about 2^-50.
    let rest = mantissa.times(exp(about.negated())).minus(Fixed::whole(1));
    let (mut sum, mut term) = (about, rest);
    for at in 1_u64.. {
        if term.is_zero() {
            break;
        }
        let part = term.over_small(at);
        sum = if at % 2 == 1 {
            sum.plus(part)
        } else {
            sum.minus(part)
        };
        term = term.times(rest);
    }
    sum
}

#[cfg(test)]
mod tests;
