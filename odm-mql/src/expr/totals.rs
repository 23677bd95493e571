//! The operators of expressions that are accumulators of groups, too: `$sum`, `$avg`, `$min`, `$max` and standard deviations.

use bson::{RawBson, RawBsonRef};

use super::{operator::Operator, scope::Scope};
use crate::group::{KeptValue, State, Total};

/// The value of an operator on its operands. An array as the only operand stands for its elements.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
    scope: Scope<'_>,
) -> Option<RawBson> {
    let elements = match values {
        [Some(RawBson::Array(array))] => array.into_iter().flatten().collect(),
        values => {
            let values = values.iter().flatten();
            values.map(RawBson::as_raw_bson_ref).collect::<Vec<_>>()
        }
    };
    let mut state = match operator {
        Operator::Sum => State::Sum(Total::default()),
        Operator::Avg => State::Avg(Total::default()),
        Operator::Min => State::Min(KeptValue::collated(scope.collation)),
        Operator::Max => State::Max(KeptValue::collated(scope.collation)),
        operator => return Some(deviation(operator == Operator::StdDevSamp, &elements)),
    };
    for value in elements {
        state.add(value);
    }
    Some(state.value())
}

/// The standard deviation of the numbers, as a double: of a sample, or of all values.
fn deviation(is_sample: bool, values: &[RawBsonRef<'_>]) -> RawBson {
    let numbers = values.iter().filter_map(|value| match value {
        RawBsonRef::Int32(value) => Some(f64::from(*value)),
        RawBsonRef::Int64(value) => Some(*value as f64),
        RawBsonRef::Double(value) => Some(*value),
        RawBsonRef::Decimal128(value) => value.to_string().parse().ok(),
        _ => None,
    });
    // By Welford: the mean, and the sum of the squares of the differences from it.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for number in numbers {
        count += 1.0;
        let difference = number - mean;
        mean += difference / count;
        squares += difference * (number - mean);
    }
    let divisor = if is_sample { count - 1.0 } else { count };
    if divisor <= 0.0 {
        return RawBson::Null;
    }
    RawBson::Double((squares / divisor).sqrt())
}
