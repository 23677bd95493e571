//! The parser of MongoDB's form of an expression.

use bson::{Bson, Document, RawBson};

use super::{
    Convert, ExprNode, bind::Bind, fields::FieldOf, named::Named, operator::Operator, texts,
};
use crate::{
    Error,
    error::code,
    path,
    types::{bad_as, to_raw, unknown},
    variables::Substitution,
};

/// The operators that are not an [`Operator`], since their operands are not a list.
pub(super) const SPECIAL: [&str; 8] = [
    "$literal",
    "$const",
    "$switch",
    "$expr",
    "$convert",
    "$getField",
    "$setField",
    "$unsetField",
];

/// Whether a document is an operator with its operands.
pub(super) fn is_operator(document: &Document) -> bool {
    document
        .keys()
        .next()
        .is_some_and(|name| name.starts_with('$'))
}

pub(super) fn node(value: &Bson, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    match value {
        Bson::String(text) => match text.strip_prefix('$') {
            Some(rest) => field(text, rest, variables),
            None => {
                texts::check_len(text.len())?;
                Ok(ExprNode::Literal(to_raw(value)?))
            }
        },
        Bson::Array(array) => nodes(array, variables).map(ExprNode::Array),
        Bson::Document(document) => match document.iter().next() {
            Some((name, _)) if name.starts_with('$') && document.len() > 1 => Err(bad_as(
                15_983,
                name,
                "to be the only operator of its document",
            )),
            Some((name, operand)) if name.starts_with('$') => operator(name, operand, variables),
            _ => object(document, variables),
        },
        value => Ok(ExprNode::Literal(to_raw(value)?)),
    }
}

fn nodes(values: &[Bson], variables: &Substitution<'_>) -> Result<Vec<ExprNode>, Error> {
    let nodes = values.iter().map(|value| node(value, variables));
    nodes.collect()
}

fn object(document: &Document, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    let field = |(name, value): (&String, &Bson)| {
        if name.contains('.') {
            return Err(path::bad(
                name,
                "a field of an expression has no dot",
                16_412,
            ));
        }
        if name.starts_with('$') {
            return Err(path::bad(
                name,
                "a field of an expression begins with `$`",
                16_410,
            ));
        }
        Ok((name.clone(), node(value, variables)?))
    };
    let fields = document.iter().map(field).collect::<Result<_, _>>()?;
    Ok(ExprNode::Object(fields))
}

/// A path or a variable, without its first `$`.
fn field(text: &str, rest: &str, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    if rest.contains('\0') {
        return Err(path::bad(text, "it has a NUL", 16_411));
    }
    let Some(variable) = rest.strip_prefix('$') else {
        if rest.is_empty() {
            return Err(path::bad(text, "it names no field", 16_872));
        }
        path::check_strictly(rest)?;
        return Ok(if variables.has_local("CURRENT") {
            ExprNode::Variable("CURRENT".to_owned(), Some(rest.to_owned()))
        } else {
            ExprNode::Path(rest.to_owned().into())
        });
    };
    let (name, rest) = path::split(variable);
    if name.is_empty() {
        let reason = "it names no variable";
        return Err(path::bad(text, reason, code::FAILED_TO_PARSE));
    }
    match rest {
        Some("") => return Err(path::bad(text, "it ends with a dot", 40_353)),
        Some(rest) => path::check_strictly(rest)?,
        None => {}
    }
    if variables.has_local(name) {
        return Ok(ExprNode::Variable(name.to_owned(), rest.map(str::to_owned)));
    }
    match (name, rest) {
        ("ROOT" | "CURRENT", rest) => {
            Ok(ExprNode::Path(rest.unwrap_or_default().to_owned().into()))
        }
        ("NOW", None) => Ok(ExprNode::Literal(RawBson::DateTime(variables.now()))),
        // A date has no fields.
        ("REMOVE" | "NOW", _) => Ok(ExprNode::Missing),
        (name, rest) => match variables.value(name, rest)? {
            Some(Some(value)) => Ok(ExprNode::Literal(value)),
            Some(None) => Ok(ExprNode::Missing),
            None if ["CLUSTER_TIME", "USER_ROLES"].contains(&name) => Err(Error::NotSupported {
                operator: format!("$${name}"),
                instead: "bind its value to a variable of the request",
                code: 51_144,
            }),
            None => {
                let reason = "there is no such variable; there are `$$ROOT`, `$$CURRENT`, `$$NOW`, `$$REMOVE` and those of the caller";
                Err(path::bad(text, reason, 17_276))
            }
        },
    }
}

fn operator(name: &str, operand: &Bson, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    match (name, operand) {
        ("$literal" | "$const", value) => return Ok(ExprNode::Literal(to_raw(value)?)),
        ("$cond", Bson::Document(document)) => return cond(document, variables),
        ("$switch", operand) => return switch(operand, variables),
        ("$convert", operand) => return convert(operand, variables),
        ("$getField", operand) => {
            return Ok(ExprNode::Field(Box::new(FieldOf::get(operand, variables)?)));
        }
        ("$setField" | "$unsetField", operand) => {
            let field = FieldOf::set(name, operand, variables)?;
            return Ok(ExprNode::Field(Box::new(field)));
        }
        ("$expr", operand) => return node(operand, variables),
        ("$rand", operand) => return rand(operand),
        _ => {}
    }
    if let Some(bind) = Bind::parse(name, operand, variables) {
        return Ok(ExprNode::Bind(Box::new(bind?)));
    }
    if let Some(named) = Named::parse(name, operand, variables) {
        return Ok(ExprNode::Named(Box::new(named?)));
    }
    let Some((operator, least, most)) = Operator::by_name(name) else {
        return Err(unknown(code::INVALID_PIPELINE_OPERATOR, name));
    };
    let operands = match operand {
        // It has one operand, also if that is an array.
        Bson::Array(array) if operator != Operator::Sigmoid => nodes(array, variables)?,
        one => vec![node(one, variables)?],
    };
    if !(least..=most).contains(&operands.len()) {
        let code = match operator {
            Operator::Round
            | Operator::Trunc
            | Operator::Slice
            | Operator::IndexOfArray
            | Operator::IndexOfBytes
            | Operator::IndexOfCp
            | Operator::Range => 28_667,
            Operator::SetEquals => 17_045,
            Operator::IfNull => 1_257_300,
            operator if operator.conversion().is_some() => 50_723,
            _ => 16_020,
        };
        return Err(bad_as(code, name, "another number of operands"));
    }
    Ok(ExprNode::Operator(operator, operands))
}

fn rand(operand: &Bson) -> Result<ExprNode, Error> {
    let bad = |code| Err(bad_as(code, "$rand", "no operand: `{}`"));
    match operand {
        Bson::Document(document) if document.is_empty() => {}
        Bson::Array(array) if array.is_empty() => {}
        Bson::Document(_) | Bson::Array(_) => return bad(3_040_501),
        _ => return bad(10_065),
    }
    Ok(ExprNode::Operator(Operator::Rand, Vec::new()))
}

fn cond(document: &Document, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    if let Some(other) = document
        .keys()
        .find(|key| !["if", "then", "else"].contains(&key.as_str()))
    {
        return Err(unknown(17_083, other));
    }
    let part = |name: &str, code| match document.get(name) {
        Some(value) => node(value, variables),
        None => Err(bad_as(code, "$cond", "`if`, `then` and `else`")),
    };
    let operands = vec![
        part("if", 17_080)?,
        part("then", 17_081)?,
        part("else", 17_082)?,
    ];
    Ok(ExprNode::Operator(Operator::Cond, operands))
}

fn convert(operand: &Bson, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    let bad = |expected| bad_as(code::FAILED_TO_PARSE, "$convert", expected);
    let Bson::Document(document) = operand else {
        return Err(bad("a document of `input`, `to`, `onError` and `onNull`"));
    };
    for key in document.keys() {
        match key.as_str() {
            "input" | "to" | "onError" | "onNull" | "format" | "byteOrder" => {}
            "base" => {
                return Err(Error::NotSupported {
                    operator: key.clone(),
                    instead: "numbers are read and written in decimal digits",
                    code: code::NOT_IMPLEMENTED,
                });
            }
            other => return Err(unknown(code::FAILED_TO_PARSE, other)),
        }
    }
    let part = |name: &str| {
        let part = document.get(name).map(|value| node(value, variables));
        part.transpose()
    };
    Ok(ExprNode::Convert(Box::new(Convert {
        input: part("input")?.ok_or_else(|| bad("an `input`"))?,
        to: part("to")?.ok_or_else(|| bad("a type in `to`"))?,
        on_error: part("onError")?,
        on_null: part("onNull")?,
        format: part("format")?,
        byte_order: part("byteOrder")?,
    })))
}

fn switch(operand: &Bson, variables: &Substitution<'_>) -> Result<ExprNode, Error> {
    let bad = |code, expected| bad_as(code, "$switch", expected);
    let Bson::Document(document) = operand else {
        return Err(bad(40_060, "a document of `branches` and `default`"));
    };
    let (mut branches, mut default) = (Vec::new(), None);
    for (key, value) in document {
        match (key.as_str(), value) {
            ("branches", Bson::Array(array)) => {
                let all = array.iter().map(|value| branch(value, variables));
                branches = all.collect::<Result<_, _>>()?;
            }
            ("branches", _) => return Err(bad(40_061, "an array of `branches`")),
            ("default", value) => default = Some(Box::new(node(value, variables)?)),
            (other, _) => return Err(unknown(40_067, other)),
        }
    }
    if branches.is_empty() {
        return Err(bad(40_068, "at least one branch"));
    }
    Ok(ExprNode::Switch { branches, default })
}

fn branch(value: &Bson, variables: &Substitution<'_>) -> Result<(ExprNode, ExprNode), Error> {
    let bad = |code| {
        bad_as(
            code,
            "$switch",
            "`case` and `then` in each branch, and no more",
        )
    };
    let Bson::Document(document) = value else {
        return Err(bad(40_062));
    };
    if document.keys().any(|key| key != "case" && key != "then") {
        return Err(bad(40_063));
    }
    let part = |name: &str, code| node(document.get(name).ok_or_else(|| bad(code))?, variables);
    Ok((part("case", 40_064)?, part("then", 40_065)?))
}
