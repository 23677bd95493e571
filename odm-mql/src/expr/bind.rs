//! The operators that bind variables: `$let`, `$map`, `$filter` and `$reduce`.

use bson::{Bson, Document, RawArray, RawArrayBuf, RawBson};

use super::{
    ExprNode,
    evaluate::{MAX_VALUE, is_null, node, truthy, type_of, values},
    failed, parse,
    scope::Scope,
};
use crate::{
    Error, depth,
    error::code,
    number,
    types::{bad_as, unknown},
    variables::{Substitution, check_local},
};

/// An operator with an expression that is evaluated with variables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bind {
    binder: Binder,
    /// The variables.
    names: Vec<String>,
    /// The values of `$let`, or the other operands.
    operands: Vec<ExprNode>,
    body: ExprNode,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Binder {
    Let,
    /// The operand is the array.
    Map,
    /// The operands are the array and, if there is one, the greatest number of elements.
    Filter,
    /// The operands are the array and the first value.
    Reduce,
}

/// The names of the operators with the keys of their operands: the arguments of all are a document.
const BINDERS: [(Binder, &str, &[&str]); 4] = [
    (Binder::Let, "$let", &["vars", "in"]),
    (Binder::Map, "$map", &["input", "as", "in"]),
    (Binder::Filter, "$filter", &["input", "as", "cond", "limit"]),
    (Binder::Reduce, "$reduce", &["input", "initialValue", "in"]),
];

/// The names of the operators.
pub(super) const NAMES: [&str; 4] = [BINDERS[0].1, BINDERS[1].1, BINDERS[2].1, BINDERS[3].1];

impl Bind {
    /// Parses the operator of a name, if it is one of these.
    pub(super) fn parse(
        name: &str,
        operand: &Bson,
        variables: &Substitution<'_>,
    ) -> Option<Result<Bind, Error>> {
        let (binder, name, keys) = BINDERS.iter().find(|(_, other, _)| *other == name)?;
        Some(binder.parse((name, keys), operand, variables))
    }

    pub(super) fn to_bson(&self) -> Bson {
        let name = self.binder.name();
        let body = self.body.to_bson();
        let mut operands = self.operands.iter().map(ExprNode::to_bson);
        let mut arguments = Document::new();
        if self.binder == Binder::Let {
            let bound = self.names.iter().cloned().zip(operands);
            arguments.insert("vars", bound.collect::<Document>());
            arguments.insert("in", body);
            return bson::doc! { name: arguments }.into();
        }
        arguments.extend(operands.next().map(|input| ("input".to_owned(), input)));
        if let (Binder::Map | Binder::Filter, [variable]) = (self.binder, self.names.as_slice()) {
            arguments.insert("as", variable);
        }
        let (of_body, of_other) = match self.binder {
            Binder::Filter => ("cond", "limit"),
            Binder::Let | Binder::Map | Binder::Reduce => ("in", "initialValue"),
        };
        arguments.extend(operands.next().map(|other| (of_other.to_owned(), other)));
        arguments.insert(of_body, body);
        bson::doc! { name: arguments }.into()
    }

    /// The operands, and the expression with variables.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &ExprNode> {
        self.operands.iter().chain([&self.body])
    }

    /// The same with other operands.
    pub(super) fn map(self, change: impl Fn(ExprNode) -> ExprNode) -> Self {
        Bind {
            operands: self.operands.into_iter().map(&change).collect(),
            body: change(self.body),
            ..self
        }
    }

    pub(super) fn evaluate(&self, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
        if self.binder == Binder::Let {
            let (values, _held) = values(&self.operands, scope)?;
            return self.body_with(&values, scope);
        }
        let (input, others) = self.operands.split_at(1);
        let (input, _held) = values(input, scope)?;
        // The other operands are not evaluated without elements, except the first value of an empty array.
        let input = match input.as_slice() {
            [input] if !is_null(input) => self.array(input)?,
            _ => return Ok(Some(RawBson::Null)),
        };
        if self.binder == Binder::Filter && input.into_iter().next().is_none() {
            return Ok(Some(RawBson::Array(RawArrayBuf::new())));
        }
        let other = match others {
            [other] => Some(node(other, scope)?),
            _ => None,
        };
        match (self.binder, other) {
            (Binder::Let | Binder::Map, _) => self.mapped(input, scope),
            (Binder::Filter, Some(limit)) if !is_null(&limit) => {
                self.filtered(input, self::limit(&limit)?, scope)
            }
            (Binder::Filter, _) => self.filtered(input, usize::MAX, scope),
            (Binder::Reduce, first) => self.reduced(input, first.flatten(), scope),
        }
    }

    fn array<'v>(&self, value: &'v Option<RawBson>) -> Result<&'v RawArray, Error> {
        let code = match self.binder {
            Binder::Let | Binder::Map => 16_883,
            Binder::Filter => 28_651,
            Binder::Reduce => 40_080,
        };
        match value {
            Some(RawBson::Array(array)) => Ok(array),
            other => {
                let reason = format!("its input must be an array, not {}", type_of(other));
                Err(failed(self.binder.name(), reason, code))
            }
        }
    }

    /// The value of the expression with these values of the variables.
    fn body_with(
        &self,
        values: &[Option<RawBson>],
        scope: Scope<'_>,
    ) -> Result<Option<RawBson>, Error> {
        scope.work.take(1)?;
        let frame = scope.frame(&self.names, values);
        node(&self.body, scope.within(&frame))
    }

    fn mapped(&self, array: &RawArray, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
        let (mut mapped, held) = (RawArrayBuf::new(), scope.work.hold());
        for element in array.into_iter().flatten() {
            let value = self.body_with(&[Some(element.into())], scope)?;
            mapped.push(value.unwrap_or(RawBson::Null));
            if mapped.as_bytes().len() > MAX_VALUE {
                let reason = format!("its values have more than {MAX_VALUE} bytes");
                let name = self.binder.name();
                return Err(failed(name, reason, code::EXCEEDED_MEMORY_LIMIT));
            }
            held.set(mapped.as_bytes().len())?;
        }
        Ok(Some(RawBson::Array(mapped)))
    }

    fn filtered(
        &self,
        array: &RawArray,
        limit: usize,
        scope: Scope<'_>,
    ) -> Result<Option<RawBson>, Error> {
        let (mut filtered, mut left) = (RawArrayBuf::new(), limit);
        let held = scope.work.hold();
        for element in array.into_iter().flatten() {
            if left == 0 {
                break;
            }
            let holds = self.body_with(&[Some(element.into())], scope)?;
            if holds.is_some_and(|holds| truthy(holds.as_raw_bson_ref())) {
                filtered.push(element);
                held.set(filtered.as_bytes().len())?;
                left = left.saturating_sub(1);
            }
        }
        Ok(Some(RawBson::Array(filtered)))
    }

    fn reduced(
        &self,
        array: &RawArray,
        first: Option<RawBson>,
        scope: Scope<'_>,
    ) -> Result<Option<RawBson>, Error> {
        let (mut values, mut held) = ([first, None], scope.work.hold());
        held.add(&values[0])?;
        for element in array.into_iter().flatten() {
            values[1] = Some(element.into());
            let value = self.body_with(&values, scope).map_err(too_much)?;
            // Each round can add levels.
            value.as_ref().map_or(Ok(()), depth::check_value)?;
            held = scope.work.hold();
            held.add(&value)?;
            values[0] = value;
        }
        let [reduced, _] = values;
        Ok(reduced)
    }
}

/// The error of a round of `$reduce`. The value that grows is too large for the operator within it first, which MongoDB does not bound.
fn too_much(error: Error) -> Error {
    match error {
        Error::Expression {
            code: code::OBJECT_TOO_LARGE,
            ..
        } => {
            let reason = format!("its value has more than {MAX_VALUE} bytes");
            let name = Binder::Reduce.name();
            failed(name, reason, code::EXCEEDED_MEMORY_LIMIT)
        }
        error => error,
    }
}

/// The greatest number of elements of `$filter`.
fn limit(value: &Option<RawBson>) -> Result<usize, Error> {
    let name = Binder::Filter.name();
    let whole = value
        .as_ref()
        .and_then(|value| number::whole(value.as_raw_bson_ref()))
        .and_then(|whole| i32::try_from(whole).ok());
    match whole {
        None => Err(failed(
            name,
            "its limit is a whole number of 32 bits",
            327_391,
        )),
        Some(limit) => usize::try_from(limit)
            .ok()
            .filter(|limit| *limit > 0)
            .ok_or_else(|| failed(name, "its limit must be greater than 0", 327_392)),
    }
}

impl Binder {
    fn name(self) -> &'static str {
        let found = BINDERS.iter().find(|(other, ..)| *other == self);
        // Each of them is in the list.
        found.map_or("", |(_, name, _)| name)
    }

    /// The codes of arguments that are no document, of an unknown key, and of missing keys.
    fn codes(self) -> (i32, i32, &'static [(&'static str, i32)]) {
        match self {
            Binder::Let => (16_874, 16_875, &[("vars", 16_876), ("in", 16_877)]),
            Binder::Map => (16_878, 16_879, &[("input", 16_880), ("in", 16_882)]),
            Binder::Filter => (28_646, 28_647, &[("input", 28_648), ("cond", 28_650)]),
            Binder::Reduce => (
                40_075,
                40_076,
                &[("input", 40_077), ("initialValue", 40_078), ("in", 40_079)],
            ),
        }
    }

    fn parse(
        self,
        (name, keys): (&str, &[&str]),
        operand: &Bson,
        variables: &Substitution<'_>,
    ) -> Result<Bind, Error> {
        let (no_document, of_unknown, required) = self.codes();
        let Bson::Document(arguments) = operand else {
            return Err(bad_as(no_document, name, "a document of its arguments"));
        };
        if let Some(other) = arguments.keys().find(|key| !keys.contains(&key.as_str())) {
            return Err(unknown(of_unknown, other));
        }
        for (key, code) in required {
            if !arguments.contains_key(key) {
                return Err(bad_as(*code, name, "all arguments that it requires"));
            }
        }
        let part = |key: &str| {
            let value = arguments
                .get(key)
                .map(|value| parse::node(value, variables));
            value.transpose()
        };
        let (mut names, mut operands) = (Vec::new(), Vec::new());
        match (self, arguments.get("vars"), arguments.get("as")) {
            (Binder::Let, Some(Bson::Document(bound)), _) => {
                for (name, value) in bound {
                    check_local(name)?;
                    names.push(name.clone());
                    operands.push(parse::node(value, variables)?);
                }
            }
            (Binder::Let, Some(Bson::Array(_)), _) => {
                let expected = "a document of variables in `vars`";
                return Err(bad_as(code::FAILED_TO_PARSE, name, expected));
            }
            (Binder::Let, ..) => {
                return Err(bad_as(10_065, name, "a document of variables in `vars`"));
            }
            (Binder::Reduce, ..) => names.extend(["value".to_owned(), "this".to_owned()]),
            (Binder::Map | Binder::Filter, _, None) => names.push("this".to_owned()),
            (Binder::Map | Binder::Filter, _, Some(Bson::String(variable)))
                if !variable.is_empty() =>
            {
                check_local(variable)?;
                names.push(variable.clone());
            }
            (Binder::Map | Binder::Filter, _, Some(_)) => {
                return Err(bad_as(code::FAILED_TO_PARSE, name, "a name in `as`"));
            }
        }
        for key in ["input", "initialValue", "limit"] {
            operands.extend(part(key)?);
        }
        let body = arguments.get("in").or_else(|| arguments.get("cond"));
        let body = body.unwrap_or(&Bson::Null);
        let body = variables.with_locals(&names, || parse::node(body, variables))?;
        Ok(Bind {
            binder: self,
            names,
            operands,
            body,
        })
    }
}
