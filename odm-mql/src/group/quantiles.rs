//! The numbers of which `$median` and `$percentile` are one.

use bson::{RawArrayBuf, RawBson, RawBsonRef};

use super::state::as_double;

/// Which of its numbers a state has as its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum QuantileKind {
    Median,
    /// The percentiles, each within 0 and 1, in the order of the result.
    Percentiles(Vec<f64>),
}

/// Numbers as doubles, without NaN.
#[derive(Debug, Default)]
pub(crate) struct Quantiles(Vec<f64>);

impl Quantiles {
    /// The number that a value counts as.
    pub(crate) fn number(value: RawBsonRef<'_>) -> Option<f64> {
        as_double(value)
    }

    /// Adds a value, if it is a number, and returns the memory that it takes.
    pub(crate) fn add(&mut self, value: RawBsonRef<'_>) -> usize {
        match as_double(value) {
            Some(number) if !number.is_nan() => {
                self.0.push(number);
                size_of::<f64>()
            }
            _ => 0,
        }
    }

    pub(crate) fn into_value(mut self, kind: &QuantileKind) -> RawBson {
        self.0.sort_unstable_by(f64::total_cmp);
        match kind {
            QuantileKind::Median => self.at(0.5),
            QuantileKind::Percentiles(percentiles) => {
                let values = percentiles.iter().map(|percentile| self.at(*percentile));
                RawBson::Array(values.collect::<RawArrayBuf>())
            }
        }
    }

    /// The least number that is not below this part of the sorted numbers; null if there are none.
    fn at(&self, percentile: f64) -> RawBson {
        let rank = (self.0.len() as f64 * percentile).ceil() as usize;
        let number = self.0.get(rank.saturating_sub(1));
        number.map_or(RawBson::Null, |number| RawBson::Double(*number))
    }
}

#[cfg(test)]
mod tests {
    use bson::Bson;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{number, raw_value};

    fn percentile(numbers: &[Bson], percentile: f64) -> RawBson {
        let mut quantiles = Quantiles::default();
        for number in numbers {
            quantiles.add(raw_value(number.clone()).as_raw_bson_ref());
        }
        let value = quantiles.into_value(&QuantileKind::Percentiles(vec![percentile]));
        let array = value.as_array().expect("an array");
        array.get(0).expect("valid BSON").expect("a value").into()
    }

    proptest! {
        /// At most the part of the percentile is less, and at least that part is not greater.
        #[test]
        fn a_percentile_splits_the_numbers(
            numbers in prop::collection::vec(number(), 0..20),
            part in prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0_f64],
        ) {
            let doubles: Vec<f64> = numbers
                .iter()
                .filter_map(|number| as_double(raw_value(number.clone()).as_raw_bson_ref()))
                .filter(|number| !number.is_nan())
                .collect();
            match percentile(&numbers, part) {
                RawBson::Double(value) => {
                    let goal = doubles.len() as f64 * part;
                    let less = doubles.iter().filter(|number| **number < value).count() as f64;
                    let not_greater = doubles.iter().filter(|number| **number <= value).count() as f64;
                    prop_assert!(less <= goal && goal <= not_greater, "{value} of {doubles:?}");
                    prop_assert!(doubles.contains(&value));
                }
                value => prop_assert!(value == RawBson::Null && doubles.is_empty()),
            }
        }
    }
}
