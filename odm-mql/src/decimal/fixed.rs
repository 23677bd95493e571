//! Numbers with a fixed point: 192 bits before it and 320 after it, which are 96 decimal digits.

use std::cmp::Ordering;

const LIMBS: usize = 8;
/// The limbs after the point.
const FRACTION: usize = 5;

/// A number, its limbs from the lowest one up. Products and quotients are cut towards zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fixed {
    negative: bool,
    limbs: [u64; LIMBS],
}

impl Fixed {
    pub(super) const ZERO: Fixed = Fixed {
        negative: false,
        limbs: [0; LIMBS],
    };

    pub(super) fn whole(value: u128) -> Fixed {
        let mut limbs = [0; LIMBS];
        limbs[FRACTION] = value as u64;
        limbs[FRACTION + 1] = (value >> 64) as u64;
        Fixed {
            negative: false,
            limbs,
        }
    }

    /// The whole number of a magnitude and a sign.
    pub(super) fn signed(value: i32) -> Fixed {
        let whole = Fixed::whole(value.unsigned_abs().into());
        if value < 0 { whole.negated() } else { whole }
    }

    /// A double of a magnitude below 2^64, cut to 63 bits after the point.
    pub(super) fn double(value: f64) -> Fixed {
        const SCALE: f64 = (1_u64 << 63) as f64;
        let magnitude = value.abs();
        let mut fixed = Fixed::whole(magnitude as u128);
        fixed.limbs[FRACTION - 1] = (magnitude.fract() * SCALE) as u64 * 2;
        Fixed {
            negative: value < 0.0,
            ..fixed
        }
    }

    /// The number as a double, cut to 64 bits after the point.
    pub(super) fn as_double(self) -> f64 {
        const LIMB: f64 = 18_446_744_073_709_551_616.0;
        let [.., low, a, b, c] = self.limbs;
        let magnitude = low as f64 / LIMB + a as f64 + (b as f64 + c as f64 * LIMB) * LIMB;
        if self.negative { -magnitude } else { magnitude }
    }

    pub(super) fn is_zero(self) -> bool {
        self.limbs == [0; LIMBS]
    }

    pub(super) fn is_negative(self) -> bool {
        self.negative
    }

    pub(super) fn abs(self) -> Fixed {
        Fixed {
            negative: false,
            ..self
        }
    }

    pub(super) fn negated(self) -> Fixed {
        Fixed {
            negative: !self.negative,
            ..self
        }
    }

    pub(super) fn plus(self, other: Fixed) -> Fixed {
        if self.negative == other.negative {
            let mut carry = 0_u128;
            let mut limbs = self.limbs;
            for (limb, other) in limbs.iter_mut().zip(other.limbs) {
                carry += u128::from(*limb) + u128::from(other);
                *limb = carry as u64;
                carry >>= 64;
            }
            return Fixed { limbs, ..self };
        }
        let (greater, less) = match self.abs().compare(other.abs()) {
            Ordering::Less => (other, self),
            Ordering::Equal | Ordering::Greater => (self, other),
        };
        let mut borrow = false;
        let mut limbs = greater.limbs;
        for (limb, other) in limbs.iter_mut().zip(less.limbs) {
            let (rest, below) = limb.overflowing_sub(other);
            let (rest, below_again) = rest.overflowing_sub(borrow.into());
            *limb = rest;
            borrow = below || below_again;
        }
        Fixed { limbs, ..greater }
    }

    pub(super) fn minus(self, other: Fixed) -> Fixed {
        self.plus(other.negated())
    }

    /// The order of two numbers that are not negative.
    pub(super) fn compare(self, other: Fixed) -> Ordering {
        self.limbs.iter().rev().cmp(other.limbs.iter().rev())
    }

    pub(super) fn times(self, other: Fixed) -> Fixed {
        let mut product = [0_u64; 2 * LIMBS];
        for (at, a) in self.limbs.into_iter().enumerate() {
            let mut carry = 0_u128;
            let places = product[at..].iter_mut();
            for (place, b) in places.zip(other.limbs.into_iter().chain([0])) {
                carry += u128::from(a) * u128::from(b) + u128::from(*place);
                *place = carry as u64;
                carry >>= 64;
            }
        }
        let mut limbs = [0; LIMBS];
        limbs.copy_from_slice(&product[FRACTION..FRACTION + LIMBS]);
        Fixed {
            negative: self.negative != other.negative,
            limbs,
        }
    }

    pub(super) fn times_small(self, other: u64) -> Fixed {
        let mut carry = 0_u128;
        let mut limbs = self.limbs;
        for limb in &mut limbs {
            carry += u128::from(*limb) * u128::from(other);
            *limb = carry as u64;
            carry >>= 64;
        }
        Fixed { limbs, ..self }
    }

    /// The quotient by a number that is not zero.
    pub(super) fn over_small(self, other: u64) -> Fixed {
        let mut rest = 0_u128;
        let mut limbs = self.limbs;
        for limb in limbs.iter_mut().rev() {
            let dividend = rest << 64 | u128::from(*limb);
            *limb = (dividend / u128::from(other)) as u64;
            rest = dividend % u128::from(other);
        }
        Fixed { limbs, ..self }
    }

    /// The magnitude before the point, if it has 128 bits.
    pub(super) fn integer(self) -> Option<u128> {
        let [.., a, b, c] = self.limbs;
        (c == 0).then_some(u128::from(b) << 64 | u128::from(a))
    }

    /// The magnitude behind the point.
    pub(super) fn fraction(self) -> Fixed {
        let [a, b, c, d, e, ..] = self.limbs;
        Fixed {
            negative: false,
            limbs: [a, b, c, d, e, 0, 0, 0],
        }
    }
}
