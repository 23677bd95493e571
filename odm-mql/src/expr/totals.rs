//! The operators of expressions that are accumulators of groups, too: `$sum`, `$avg`, `$min`, `$max` and standard deviations.

use bson::RawBson;

use super::{operator::Operator, scope::Scope};
use crate::group::{Deviation, KeptValue, State, Total};

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
        operator => {
            let mut deviation = Deviation::default();
            elements.into_iter().for_each(|value| deviation.add(value));
            return Some(deviation.value(operator == Operator::StdDevSamp));
        }
    };
    for value in elements {
        state.add(value);
    }
    Some(state.value())
}
