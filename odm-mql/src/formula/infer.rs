//! The types of literal integers, as Rust infers them: that of the other operand, of the other branch, or of the whole; or else `i32`.

use super::{Expression, FieldValue, Function, NumberType, ValueType};

/// Gives each literal in an expression, whose value has this type, its own.
pub(super) fn literals(expression: &mut Expression, result: &ValueType) {
    assign(expression, within(result), &mut Vec::new());
}

/// The type of the numbers in values of a type.
fn within(ty: &ValueType) -> Option<NumberType> {
    match ty {
        ValueType::Number(number) => Some(*number),
        ValueType::Optional(ty) | ValueType::List(ty) => within(ty),
        ValueType::Bool | ValueType::Text | ValueType::Date | ValueType::Other => None,
    }
}

/// The type of the number, or of the numbers in the value, if something other than a literal tells it. The parameters have the types of
/// their values.
fn number_of(
    expression: &Expression,
    parameters: &mut Vec<Option<NumberType>>,
) -> Option<NumberType> {
    match expression {
        Expression::Integer(_, number) => *number,
        Expression::Float(_) => Some(NumberType::F64),
        Expression::Field(FieldValue { ty, .. }) => within(ty),
        Expression::Parameter(at) => parameters.get(*at).copied().flatten(),
        Expression::Constant(_) | Expression::None => None,
        Expression::Call(function, arguments) => match (function, &**arguments) {
            (Function::As(number) | Function::Sum(number), _) => Some(*number),
            (Function::Len | Function::Count | Function::CountChars, _) => Some(NumberType::Usize),
            (Function::Map | Function::FilterMap, [list, body]) => {
                let element = number_of(list, parameters);
                parameters.push(element);
                let number = number_of(body, parameters);
                parameters.pop();
                number
            }
            (Function::Filter, [list, _]) => number_of(list, parameters),
            (Function::If, [_, then, otherwise]) => {
                number_of(then, parameters).or_else(|| number_of(otherwise, parameters))
            }
            (function, arguments) if is_of_one_type(*function) => first(arguments, parameters),
            _ => None,
        },
    }
}

fn first(arguments: &[Expression], parameters: &mut Vec<Option<NumberType>>) -> Option<NumberType> {
    let mut arguments = arguments.iter();
    arguments.find_map(|argument| number_of(argument, parameters))
}

/// Whether the operands have the type of the value.
fn is_of_one_type(function: Function) -> bool {
    matches!(
        function,
        Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Remainder
            | Function::Negate
            | Function::Abs
            | Function::Min
            | Function::Max
            | Function::Some
            | Function::UnwrapOr
            | Function::Least
            | Function::Greatest
    )
}

/// Whether the operands have one type, and the value another.
fn is_comparison(function: Function) -> bool {
    matches!(
        function,
        Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
    )
}

/// Gives the literals in an expression their types. The type of its value may be known from around it.
fn assign(
    expression: &mut Expression,
    known: Option<NumberType>,
    parameters: &mut Vec<Option<NumberType>>,
) {
    let number = number_of(expression, parameters).or(known);
    let (function, arguments) = match expression {
        Expression::Integer(_, own) => {
            *own = number.or(Some(NumberType::I32));
            return;
        }
        Expression::Call(function, arguments) => (*function, arguments),
        _ => return,
    };
    match (function, &mut **arguments) {
        (
            Function::Map | Function::Filter | Function::FilterMap | Function::Any | Function::All,
            [list, body],
        ) => {
            let (of_list, of_body) = match function {
                Function::Map | Function::FilterMap => (None, number),
                Function::Filter => (number, None),
                _ => (None, None),
            };
            assign(list, of_list, parameters);
            let element = number_of(list, parameters);
            parameters.push(element);
            assign(body, of_body, parameters);
            parameters.pop();
        }
        (Function::If, [condition, then, otherwise]) => {
            assign(condition, None, parameters);
            assign(then, number, parameters);
            assign(otherwise, number, parameters);
        }
        (Function::Sum(of), [list]) => assign(list, Some(of), parameters),
        (function, arguments) => {
            let of_arguments = if is_of_one_type(function) {
                number
            } else if is_comparison(function) {
                first(arguments, parameters)
            } else {
                None
            };
            for argument in arguments {
                assign(argument, of_arguments, parameters);
            }
        }
    }
}
