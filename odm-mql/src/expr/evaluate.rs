//! The values of expressions.

use std::cmp::Ordering;

use bson::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString};

use super::{
    Convert, ExprNode, arrays, bits,
    convert::{self, Target},
    numbers, objects,
    operator::{Family, Operator},
    parts, powers,
    scope::Scope,
    sets, texts, totals, trigonometry,
    work::Held,
};
use crate::steps;
use crate::{Error, error::code, order, path, types, write::malformed};

/// The value of an expression. It takes a step of the work, and more for the bytes of the value, and for the fields that are read.
pub(super) fn node(node: &ExprNode, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    steps::step();
    scope.work.take(1)?;
    let value = computed(node, scope)?;
    scope.work.take_value(&value)?;
    Ok(value)
}

fn computed(node: &ExprNode, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    match node {
        ExprNode::Literal(value) => Ok(Some(value.clone())),
        ExprNode::Missing => Ok(None),
        ExprNode::Path(path) if path.is_empty() => {
            Ok(Some(RawBson::Document(scope.document.to_owned())))
        }
        ExprNode::Path(path) => {
            let mut read = 0;
            let value = at_path(scope.document, path, &mut read);
            scope.work.take_fields(read)?;
            Ok(value)
        }
        ExprNode::Object(fields) => {
            let (mut object, held) = (RawDocumentBuf::new(), scope.work.hold());
            for (name, node) in fields {
                if let Some(value) = self::node(node, scope)? {
                    let name = CString::try_from(name.as_str()).map_err(malformed)?;
                    object.append(name, value);
                    check_size(object.as_bytes().len())?;
                    held.set(object.as_bytes().len())?;
                }
            }
            Ok(Some(RawBson::Document(object)))
        }
        ExprNode::Array(nodes) => {
            let (mut array, held) = (RawArrayBuf::new(), scope.work.hold());
            for node in nodes {
                array.push(self::node(node, scope)?.unwrap_or(RawBson::Null));
                check_size(array.as_bytes().len())?;
                held.set(array.as_bytes().len())?;
            }
            Ok(Some(RawBson::Array(array)))
        }
        ExprNode::Operator(operator, operands) => self::operator(*operator, operands, scope),
        ExprNode::Switch { branches, default } => {
            for (case, then) in branches {
                if is_true(case, scope)? {
                    return self::node(then, scope);
                }
            }
            match default {
                Some(default) => self::node(default, scope),
                None => Err(Error::Expression {
                    operator: "$switch",
                    reason: "no case holds, and there is no default".into(),
                    code: 40_069,
                }),
            }
        }
        ExprNode::Convert(convert) => converted(convert, scope),
        ExprNode::Field(field) => field.evaluate(scope),
        ExprNode::Variable(name, path) => scope.variable(name, path.as_deref()),
        ExprNode::Bind(bind) => bind.evaluate(scope),
        ExprNode::Named(named) => named.evaluate(scope),
    }
}

fn converted(convert: &Convert, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    let held = scope.work.hold();
    let to = node(&convert.to, scope)?;
    held.add(&to)?;
    let input = node(&convert.input, scope)?;
    held.add(&input)?;
    let argument = |argument: &Option<ExprNode>| match argument {
        Some(argument) => node(argument, scope),
        None => Ok(None),
    };
    let (format, byte_order) = (argument(&convert.format)?, argument(&convert.byte_order)?);
    let target = Target::new(&to)?;
    let other = |other: &Option<ExprNode>| match other {
        Some(other) => node(other, scope),
        None => Ok(Some(RawBson::Null)),
    };
    match input {
        Some(input) if !is_nullish(&input) => {
            let target = target.with_form(&format, &byte_order)?;
            match convert::convert("$convert", &input, &target) {
                Err(error) if convert.on_error.is_some() && convert::is_failure(&error) => {
                    other(&convert.on_error)
                }
                result => result.map(Some),
            }
        }
        _ => other(&convert.on_null),
    }
}

/// The most bytes of a computed value: the size of several documents, since an expression can refer to a document any number of times.
pub(super) const MAX_VALUE: usize = 64 << 20;

/// Checks the number of bytes of a computed value.
pub(super) fn check_size(bytes: usize) -> Result<(), Error> {
    match bytes > MAX_VALUE {
        true => Err(Error::Expression {
            operator: "$literal",
            reason: format!("a value has more than {MAX_VALUE} bytes").into(),
            code: code::OBJECT_TOO_LARGE,
        }),
        false => Ok(()),
    }
}

/// The values of operands, which are held together.
pub(super) fn values<'s>(
    operands: &[ExprNode],
    scope: Scope<'s>,
) -> Result<(Vec<Option<RawBson>>, Held<'s>), Error> {
    let (mut values, held) = (Vec::with_capacity(operands.len()), scope.work.hold());
    for operand in operands {
        let value = node(operand, scope)?;
        held.add(&value)?;
        values.push(value);
    }
    Ok((values, held))
}

fn is_true(operand: &ExprNode, scope: Scope<'_>) -> Result<bool, Error> {
    let value = node(operand, scope)?;
    Ok(value.is_some_and(|value| truthy(value.as_raw_bson_ref())))
}

/// Whether a value counts as true.
pub(super) fn truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        RawBsonRef::Int32(0) | RawBsonRef::Int64(0) => false,
        RawBsonRef::Double(value) => value != 0.0,
        RawBsonRef::Decimal128(_) => !order::equal(value, RawBsonRef::Int32(0)),
        _ => true,
    }
}

/// The value at a path. Arrays on it give the values in their elements that are documents.
/// The fields that it reads are added to the fields that were read.
pub(crate) fn at_path(document: &RawDocument, path: &str, read: &mut u64) -> Option<RawBson> {
    steps::step();
    let (name, rest) = path::split(path);
    let value = path::get_counted(document, name, read)?;
    match (value, rest) {
        (value, None) => Some(value.into()),
        (RawBsonRef::Document(inner), Some(rest)) => at_path(inner, rest, read),
        (RawBsonRef::Array(array), Some(rest)) => Some(in_elements(array, rest, read)),
        _ => None,
    }
}

/// The array of the values at a path in the elements of an array that are documents.
pub(crate) fn in_elements(array: &RawArray, path: &str, read: &mut u64) -> RawBson {
    let mut values = RawArrayBuf::new();
    for element in array.into_iter().flatten() {
        *read = read.saturating_add(1);
        if let RawBsonRef::Document(inner) = element
            && let Some(value) = at_path(inner, path, read)
        {
            values.push(value);
        }
    }
    RawBson::Array(values)
}

/// Whether a value is null, undefined or missing.
pub(super) fn is_null(value: &Option<RawBson>) -> bool {
    value.as_ref().is_none_or(is_nullish)
}

fn is_nullish(value: &RawBson) -> bool {
    matches!(value, RawBson::Null | RawBson::Undefined)
}

/// Whether a value is of a numeric type.
pub(super) fn is_number(value: &Option<RawBson>) -> bool {
    matches!(
        value,
        Some(RawBson::Int32(_) | RawBson::Int64(_) | RawBson::Double(_) | RawBson::Decimal128(_))
    )
}

/// The name of the type of a value.
pub(super) fn type_of(value: &Option<RawBson>) -> &'static str {
    match value {
        None => "missing",
        Some(value) => types::name(value.element_type()),
    }
}

fn operator(
    operator: Operator,
    operands: &[ExprNode],
    scope: Scope<'_>,
) -> Result<Option<RawBson>, Error> {
    // These operators evaluate only the operands that they need.
    match operator {
        Operator::And | Operator::Or => {
            let wanted = operator == Operator::Or;
            for operand in operands {
                if is_true(operand, scope)? == wanted {
                    return Ok(Some(RawBson::Boolean(wanted)));
                }
            }
            return Ok(Some(RawBson::Boolean(!wanted)));
        }
        Operator::Cond => {
            let [condition, yes, no] = operands else {
                return Ok(None);
            };
            let chosen = if is_true(condition, scope)? { yes } else { no };
            return node(chosen, scope);
        }
        Operator::IfNull => {
            let mut last = None;
            for operand in operands {
                last = node(operand, scope)?;
                if !is_null(&last) {
                    break;
                }
            }
            return Ok(last);
        }
        Operator::Concat => return texts::concat(operands, scope),
        Operator::ConcatArrays => return arrays::concat(operands, scope),
        Operator::MergeObjects => return objects::merge(operands, scope),
        _ => {}
    }
    if operator.family() == Family::Sets {
        return sets::operator(operator, operands, scope);
    }
    let (values, _held) = values(operands, scope)?;
    if let (Some(target), [value]) = (operator.conversion(), values.as_slice()) {
        return match value {
            Some(value) if !is_nullish(value) => {
                convert::convert(operator.name(), value, &Target::of_operator(target)).map(Some)
            }
            _ => Ok(Some(RawBson::Null)),
        };
    }
    let compare = |a, b| compare(a, b, scope);
    let boolean = |value| Ok(Some(RawBson::Boolean(value)));
    match (operator, values.as_slice()) {
        (Operator::Eq, [a, b]) => boolean(compare(a, b).is_eq()),
        (Operator::Ne, [a, b]) => boolean(compare(a, b).is_ne()),
        (Operator::Gt, [a, b]) => boolean(compare(a, b).is_gt()),
        (Operator::Gte, [a, b]) => boolean(compare(a, b).is_ge()),
        (Operator::Lt, [a, b]) => boolean(compare(a, b).is_lt()),
        (Operator::Lte, [a, b]) => boolean(compare(a, b).is_le()),
        (Operator::Cmp, [a, b]) => Ok(Some(RawBson::Int32(compare(a, b) as i32))),
        (Operator::Not, [value]) => boolean(
            !value
                .as_ref()
                .is_some_and(|value| truthy(value.as_raw_bson_ref())),
        ),
        (Operator::Type, [value]) => Ok(Some(RawBson::String(type_of(value).to_owned()))),
        (Operator::Rand, []) => Ok(Some(RawBson::Double(random()))),
        (Operator::IsNumber, [value]) => boolean(is_number(value)),
        (operator, values) => match operator.family() {
            Family::Arrays => arrays::operator(operator, values, scope),
            Family::Texts => texts::operator(operator, values),
            Family::Powers => powers::operator(operator, values, scope.work),
            Family::Trigonometry => trigonometry::operator(operator, values),
            Family::Bits => bits::operator(operator, values),
            Family::Totals => Ok(totals::operator(operator, values, scope)),
            Family::Parts => parts::operator(operator, values),
            Family::Arithmetic => numbers::calculate(operator, values),
            // They are evaluated above.
            Family::Values | Family::Lazy | Family::Conversions | Family::Sets => Ok(None),
        },
    }
}

/// A number from 0 up to 1, without 1.
fn random() -> f64 {
    // Each state has other random keys.
    let bits = ahash::RandomState::new().hash_one(0) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// The order of two values. A missing one comes before null.
fn compare(a: &Option<RawBson>, b: &Option<RawBson>, scope: Scope<'_>) -> Ordering {
    fn known(value: &Option<RawBson>) -> RawBsonRef<'_> {
        value
            .as_ref()
            .map_or(RawBsonRef::Undefined, RawBson::as_raw_bson_ref)
    }
    order::compare_by(scope.collation, known(a), known(b))
}
