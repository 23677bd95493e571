//! The states of accumulators.

use bson::{RawBson, RawBsonRef};

use super::Accumulator;
use crate::{Collation, decimal::Decimal, order};

/// The state of an accumulator of one group.
#[derive(Debug)]
pub(crate) enum State {
    Count(u64),
    Sum(Total),
    Avg(Total),
    Min(KeptValue),
    Max(KeptValue),
}

impl State {
    pub(super) fn new(accumulator: &Accumulator) -> State {
        match accumulator {
            Accumulator::Count => State::Count(0),
            Accumulator::Sum(_) => State::Sum(Total::default()),
            Accumulator::Avg(_) => State::Avg(Total::default()),
            Accumulator::Min(_) => State::Min(KeptValue::default()),
            Accumulator::Max(_) => State::Max(KeptValue::default()),
        }
    }

    pub(super) fn count(&mut self, more: u64) {
        if let State::Count(count) = self {
            *count += more;
        }
    }

    /// Adds a value, and returns the memory that it takes.
    pub(crate) fn add(&mut self, value: RawBsonRef<'_>) -> usize {
        match self {
            State::Count(_) => 0,
            State::Sum(total) | State::Avg(total) => total.add(value),
            State::Min(least) => keep(least, value, |order| order.is_lt()),
            State::Max(greatest) => keep(greatest, value, |order| order.is_gt()),
        }
    }

    pub(crate) fn value(&self) -> RawBson {
        match self {
            State::Count(count) => RawBson::Int64(i64::try_from(*count).unwrap_or(i64::MAX)),
            State::Sum(total) => total.sum(),
            State::Avg(total) => total.mean(),
            State::Min(kept) | State::Max(kept) => kept.value.clone().unwrap_or(RawBson::Null),
        }
    }
}

/// One of the values of a group.
#[derive(Debug, Default)]
pub(crate) struct KeptValue {
    pub(crate) value: Option<RawBson>,
    /// The most bytes of a value so far.
    most_bytes: usize,
    /// By which texts are compared.
    collation: Option<Collation>,
}

impl KeptValue {
    pub(crate) fn collated(collation: Option<&Collation>) -> KeptValue {
        KeptValue {
            collation: collation.cloned(),
            ..KeptValue::default()
        }
    }

    /// Keeps another value, and returns the memory that it takes more than all before.
    pub(crate) fn replace(&mut self, value: Option<RawBson>) -> usize {
        let len = (value.as_ref()).map_or(0, |value| bytes(value.as_raw_bson_ref()));
        let memory = len.saturating_sub(self.most_bytes);
        self.most_bytes += memory;
        self.value = value;
        memory
    }
}

fn keep(
    kept: &mut KeptValue,
    value: RawBsonRef<'_>,
    is_better: fn(std::cmp::Ordering) -> bool,
) -> usize {
    if matches!(value, RawBsonRef::Null | RawBsonRef::Undefined) {
        return 0;
    }
    let is_new = match &kept.value {
        None => true,
        Some(other) => {
            let (collation, other) = (kept.collation.as_ref(), other.as_raw_bson_ref());
            is_better(order::compare_by(collation, value, other))
        }
    };
    match is_new {
        true => kept.replace(Some(value.into())),
        false => 0,
    }
}

/// The numbers of a standard deviation, by Welford's method.
#[derive(Debug, Default)]
pub(crate) struct Deviation {
    count: f64,
    mean: f64,
    /// The sum of the squares of the differences from the mean.
    squares: f64,
}

impl Deviation {
    /// Adds a value, if it is a number.
    pub(crate) fn add(&mut self, value: RawBsonRef<'_>) {
        let Some(number) = as_double(value) else {
            return;
        };
        self.count += 1.0;
        let difference = number - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (number - self.mean);
    }

    /// The deviation of a sample, or of all values; null if there are too few.
    pub(crate) fn value(&self, is_sample: bool) -> RawBson {
        let divisor = if is_sample {
            self.count - 1.0
        } else {
            self.count
        };
        if divisor <= 0.0 {
            return RawBson::Null;
        }
        RawBson::Double((self.squares / divisor).sqrt())
    }
}

/// A number as the nearest double.
pub(super) fn as_double(value: RawBsonRef<'_>) -> Option<f64> {
    Some(match value {
        RawBsonRef::Int32(value) => value.into(),
        RawBsonRef::Int64(value) => value as f64,
        RawBsonRef::Double(value) => value,
        RawBsonRef::Decimal128(value) => value.to_string().parse().unwrap_or(f64::NAN),
        _ => return None,
    })
}

/// The number of bytes of a value of a type that has values of many bytes.
pub(crate) fn bytes(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::String(text) | RawBsonRef::JavaScriptCode(text) | RawBsonRef::Symbol(text) => {
            text.len()
        }
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        RawBsonRef::Binary(binary) => binary.bytes.len(),
        RawBsonRef::JavaScriptCodeWithScope(code) => code.code.len() + code.scope.as_bytes().len(),
        _ => 0,
    }
}

/// A sum of numbers of all types, each type by itself.
#[derive(Debug, Default)]
pub(crate) struct Total {
    numbers: u64,
    /// The sum of the whole numbers. It would take more documents than possible to overflow it.
    whole: i128,
    /// Whether one of them has 64 bits.
    is_long: bool,
    doubles: Option<Doubles>,
    /// Boxed, since it is large and few sums have one.
    decimals: Option<Box<Decimal>>,
}

impl Total {
    /// Adds a value, and returns the memory that it takes.
    fn add(&mut self, value: RawBsonRef<'_>) -> usize {
        let mut memory = 0;
        match value {
            RawBsonRef::Int32(value) => self.whole += i128::from(value),
            RawBsonRef::Int64(value) => {
                self.whole += i128::from(value);
                self.is_long = true;
            }
            RawBsonRef::Double(value) => self.doubles.get_or_insert_default().add(value),
            RawBsonRef::Decimal128(value) => {
                let value = Decimal::new(value);
                match &mut self.decimals {
                    None => {
                        memory = size_of::<Decimal>();
                        self.decimals = Some(Box::new(value));
                    }
                    Some(sum) => **sum = sum.plus(value),
                }
            }
            _ => return memory,
        }
        self.numbers += 1;
        memory
    }

    fn sum(&self) -> RawBson {
        match self.decimals.as_deref() {
            Some(&decimals) => RawBson::Decimal128(self.with_others(decimals).pack()),
            None if self.doubles.is_some() => RawBson::Double(self.double()),
            None => match (i32::try_from(self.whole), i64::try_from(self.whole)) {
                (Ok(sum), _) if !self.is_long => RawBson::Int32(sum),
                (_, Ok(sum)) => RawBson::Int64(sum),
                _ => RawBson::Double(self.double()),
            },
        }
    }

    fn mean(&self) -> RawBson {
        if self.numbers == 0 {
            return RawBson::Null;
        }
        match self.decimals.as_deref() {
            Some(&decimals) => {
                let numbers = Decimal::whole(self.numbers.into());
                RawBson::Decimal128(self.with_others(decimals).over(numbers).pack())
            }
            None => RawBson::Double(self.double() / self.numbers as f64),
        }
    }

    /// The sum of the decimals and all other numbers.
    fn with_others(&self, decimals: Decimal) -> Decimal {
        let mut sum = decimals.plus(Decimal::whole(self.whole));
        if let Some(doubles) = &self.doubles {
            sum = sum.plus(Decimal::wide_double(doubles.sum()));
        }
        sum
    }

    /// The sum of all numbers except the decimals.
    fn double(&self) -> f64 {
        let mut sum = Doubles::default();
        let high = self.whole as f64;
        sum.add(high);
        // The rounding error is exact as a double, or much less than the last digit of the sum.
        sum.add((self.whole - high as i128) as f64);
        if let Some(doubles) = &self.doubles {
            sum.add(doubles.high);
            sum.add(doubles.low);
        }
        sum.sum()
    }
}

/// A sum of doubles with the sum of their rounding errors, so that the order of the numbers has next to no effect.
#[derive(Debug, Default)]
struct Doubles {
    high: f64,
    low: f64,
}

impl Doubles {
    fn add(&mut self, value: f64) {
        let high = self.high + value;
        if high.is_finite() {
            let added = high - self.high;
            self.low += (self.high - (high - added)) + (value - added);
        }
        self.high = high;
    }

    fn sum(&self) -> f64 {
        match self.high.is_finite() {
            true => self.high + self.low,
            false => self.high,
        }
    }
}
