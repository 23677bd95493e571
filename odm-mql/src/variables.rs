//! Variables of a caller in expressions.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use bson::{DateTime, Document, RawBson, RawDocumentBuf, Timestamp};

use crate::{Collation, Error, Expr, depth, error::code, expr::part, path};

/// The variables of a caller, as MongoDB's commands have them in `let`: names with constant values, for which expressions have `$$name`, and
/// `$$name.a.b` for a path in a value.
///
/// A parser puts the values in the place of the names. So the form of a parsed filter or projection has literals there. All these values
/// together have at most 64 MiB.
///
/// ```
/// use odm_mql::{Filter, Variables, bson::{doc, rawdoc}};
///
/// let variables = Variables::parse(&doc! { "limit": { "$add": [1, 2] } })?;
/// let filter = doc! { "$expr": { "$lt": ["$qty", "$$limit"] } };
/// let filter = Filter::parse_with(&filter, &variables)?;
/// assert!(filter.matches(&rawdoc! { "qty": 2 })?);
/// # Ok::<_, odm_mql::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables(BTreeMap<String, Option<RawBson>>);

impl Variables {
    /// Parses MongoDB's form: names with expressions that read no field of a document. Each expression is evaluated once, and has the
    /// variables before it.
    ///
    /// # Errors
    ///
    /// The errors of [`bind`](Variables::bind), of [`Expr::parse`] and of [`Expr::evaluate`]; [`BadPath`](Error::BadPath) if an expression
    /// reads a field or the whole document.
    pub fn parse(document: &Document) -> Result<Variables, Error> {
        Variables::parse_collated(document, None)
    }

    /// The same, with texts compared by a collation, if there is one.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Variables::parse).
    pub fn parse_collated(
        document: &Document,
        collation: Option<&Collation>,
    ) -> Result<Variables, Error> {
        Variables::default().then(document, collation)
    }

    /// Parses variables that follow these, as [`parse_collated`](Variables::parse_collated) does: their expressions can name these.
    ///
    /// ```
    /// use odm_mql::{Expr, Variables, bson::{Timestamp, doc, rawdoc}};
    ///
    /// let time = Timestamp { time: 1_700_000_000, increment: 1 };
    /// let variables = Variables::default().with_cluster_time(time);
    /// let variables = variables.then(&doc! { "since": "$$CLUSTER_TIME" }, None)?;
    /// let since = Expr::parse_with(&"$$since".into(), &variables)?;
    /// assert_eq!(since.evaluate(&rawdoc! {})?, Some(time.into()));
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Variables::parse).
    pub fn then(
        mut self,
        document: &Document,
        collation: Option<&Collation>,
    ) -> Result<Variables, Error> {
        let (mut left, now) = (MOST, DateTime::now());
        for (name, value) in document {
            check_name(name)?;
            let substitution = Substitution {
                variables: &self,
                now,
                left: Cell::new(left),
                locals: RefCell::default(),
            };
            let expr = Expr::parse_in(value, &substitution)?.collated(collation);
            left = substitution.left.get();
            if let Some(path) = expr.paths().first() {
                let reason = "it is of a document, and the value of a variable is constant";
                return Err(path::bad(path, reason, 4_890_500));
            }
            let value = expr.evaluate(&RawDocumentBuf::new())?;
            self.keep(name.clone(), value)?;
        }
        Ok(self)
    }

    /// Gives `$$CLUSTER_TIME` a value, which only a server knows. Without it, an expression that names it is refused.
    #[must_use]
    pub fn with_cluster_time(mut self, time: Timestamp) -> Variables {
        let time = Some(RawBson::Timestamp(time));
        self.0.insert(CLUSTER_TIME.to_owned(), time);
        self
    }

    /// Binds a name to a value, or to a missing one, in the place of its value before.
    ///
    /// # Errors
    ///
    /// [`BadPath`](Error::BadPath) if the name does not begin with a lowercase letter of ASCII or with a letter beyond ASCII, if it has
    /// anything but such letters, uppercase ones, digits and `_`, or if it is that of a variable of the system.
    /// [`NotSupported`](Error::NotSupported) if it is `CURRENT`, which MongoDB binds. [`ResultTooDeep`](Error::ResultTooDeep) if the value is
    /// nested too deeply.
    pub fn bind(&mut self, name: impl Into<String>, value: Option<RawBson>) -> Result<(), Error> {
        let name = name.into();
        check_name(&name)?;
        self.keep(name, value)
    }

    /// A value of a request is decoded, which takes a frame of the stack for each level.
    fn keep(&mut self, name: String, value: Option<RawBson>) -> Result<(), Error> {
        value.as_ref().map_or(Ok(()), depth::check_value)?;
        self.0.insert(name, value);
        Ok(())
    }
}

const CLUSTER_TIME: &str = "CLUSTER_TIME";

/// Checks the name of a variable of an expression, which may be `CURRENT`.
pub(super) fn check_local(name: &str) -> Result<(), Error> {
    match name {
        "" => Err(path::bad(name, "a variable has a name", 16_867)),
        "CURRENT" => Ok(()),
        "NOW" | CLUSTER_TIME | "JS_SCOPE" | "IS_MR" | "USER_ROLES" => {
            let reason = "it is a variable of the system";
            Err(path::bad(name, reason, code::FAILED_TO_PARSE))
        }
        name => check_name(name),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let bad = |reason| path::bad(name, reason, code::FAILED_TO_PARSE);
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || !byte.is_ascii();
    match name {
        "CURRENT" => {
            return Err(Error::NotSupported {
                operator: name.to_owned(),
                instead: "bind another name",
                code: code::NOT_IMPLEMENTED,
            });
        }
        "NOW" | CLUSTER_TIME | "JS_SCOPE" | "IS_MR" | "USER_ROLES" => {
            let reason = "it is a variable of the system";
            return Err(path::bad(name, reason, 4_738_901));
        }
        _ => {}
    }
    let Some(first) = name.bytes().next() else {
        return Err(bad("a variable has a name"));
    };
    if !is_letter(first) {
        return Err(bad("the name of a variable begins with a lowercase letter"));
    }
    let is_allowed = |byte: u8| is_letter(byte) || byte.is_ascii_alphanumeric() || byte == b'_';
    match name.bytes().all(is_allowed) {
        true => Ok(()),
        false => Err(bad("the name of a variable has letters, digits and `_`")),
    }
}

/// The greatest number of bytes that take the place of variables in one request.
const MOST: usize = 64 << 20;

/// Variables in one request, with the number of bytes that may still take their place.
#[derive(Debug, PartialEq)]
pub(super) struct Substitution<'v> {
    variables: &'v Variables,
    /// The value of `$$NOW`.
    now: DateTime,
    left: Cell<usize>,
    /// The variables of the expressions around the one that is parsed.
    locals: RefCell<Vec<String>>,
}

impl<'v> Substitution<'v> {
    pub(super) fn new(variables: &'v Variables) -> Self {
        Substitution::at(DateTime::now(), variables)
    }

    /// The variables in a part of a request that was made at a time.
    pub(super) fn at(now: DateTime, variables: &'v Variables) -> Self {
        Substitution {
            variables,
            now,
            left: Cell::new(MOST),
            locals: RefCell::default(),
        }
    }

    pub(super) fn now(&self) -> DateTime {
        self.now
    }

    /// Parses an expression that can name these variables.
    pub(super) fn with_locals<T>(&self, names: &[String], parse: impl FnOnce() -> T) -> T {
        let before = self.locals.borrow().len();
        self.locals.borrow_mut().extend_from_slice(names);
        let parsed = parse();
        self.locals.borrow_mut().truncate(before);
        parsed
    }

    /// Whether an expression around the one that is parsed has this variable.
    pub(super) fn has_local(&self, name: &str) -> bool {
        self.locals.borrow().iter().any(|other| other == name)
    }

    /// The value at a path in a variable, which may be missing, or `None` if there is no such variable.
    pub(super) fn value(
        &self,
        name: &str,
        path: Option<&str>,
    ) -> Result<Option<Option<RawBson>>, Error> {
        let Some(value) = self.variables.0.get(name) else {
            return Ok(None);
        };
        let value = value.as_ref();
        let value = value.and_then(|value| part(value, path, &mut 0));
        let bytes = value.as_ref().map_or(0, size);
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None => {
                return Err(Error::Expression {
                    operator: "$literal",
                    reason: format!("the values of variables have more than {MOST} bytes").into(),
                    code: code::OBJECT_TOO_LARGE,
                });
            }
        }
        Ok(Some(value))
    }
}

/// The number of bytes of a value, if its type has no greatest number of them.
pub(super) fn size(value: &RawBson) -> usize {
    match value {
        RawBson::Document(document) => document.as_bytes().len(),
        RawBson::Array(array) => array.as_bytes().len(),
        RawBson::String(text) | RawBson::JavaScriptCode(text) | RawBson::Symbol(text) => text.len(),
        RawBson::Binary(binary) => binary.bytes.len(),
        RawBson::RegularExpression(regex) => regex.pattern.as_str().len(),
        RawBson::JavaScriptCodeWithScope(code) => code.code.len() + code.scope.as_bytes().len(),
        RawBson::Double(_)
        | RawBson::Boolean(_)
        | RawBson::Null
        | RawBson::Undefined
        | RawBson::Int32(_)
        | RawBson::Int64(_)
        | RawBson::Timestamp(_)
        | RawBson::ObjectId(_)
        | RawBson::DateTime(_)
        | RawBson::Decimal128(_)
        | RawBson::DbPointer(_)
        | RawBson::MaxKey
        | RawBson::MinKey => 0,
    }
}

#[cfg(test)]
mod tests;
