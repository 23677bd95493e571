//! The arguments of a command: each is taken by its name and type, and the rest is refused.

use std::borrow::Cow;

use odm::{
    bson::{Bson, Document, RawArray, RawBsonRef, RawDocument, Timestamp},
    mql::{Collation, Filter, Projection, Sort, Variables},
};

use crate::{
    error::{CommandError, Result, code},
    message::Sequence,
};

/// How deeply documents may be nested in a command.
const MAX_NESTING: usize = 200;

/// The arguments of a command, or of a part of it, that are not taken yet.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    /// The name of the command or part that has the arguments, for messages: `find`, `update.updates`.
    of: Cow<'a, str>,
    fields: Vec<(&'a str, RawBsonRef<'a>)>,
    sequences: Vec<Sequence<'a>>,
    /// The variables of the server, with the variables of the command once they are taken.
    variables: Variables,
    of_server: Variables,
    /// Their form, and the collation by which their expressions were evaluated.
    of_variables: (Document, Option<Collation>),
    /// The collation of the command or the part, once it is taken.
    collation: Option<Collation>,
    /// That of the collection, for a command or a part that states none.
    default_collation: Option<Collation>,
    /// Whether the command is one on a view.
    is_of_view: bool,
}

/// A type of arguments.
pub(crate) trait Argument<'a>: Sized {
    /// The type in MongoDB's messages.
    const TYPE: &'static str;

    fn read(value: RawBsonRef<'a>) -> Option<Self>;
}

impl<'a> Arguments<'a> {
    pub(crate) fn of(of: impl Into<Cow<'a, str>>, document: &'a RawDocument) -> Result<Self> {
        check_nesting(document, 1)?;
        let fields = document.iter().map(|field| {
            let (name, value) = field?;
            Ok((name.as_str(), value))
        });
        Ok(Arguments {
            of: of.into(),
            fields: fields.collect::<Result<_>>()?,
            sequences: Vec::new(),
            variables: Variables::default(),
            of_server: Variables::default(),
            of_variables: Default::default(),
            collation: None,
            default_collation: None,
            is_of_view: false,
        })
    }

    /// Adds documents that stand outside of the body of the command.
    pub(crate) fn with_sequences(mut self, sequences: &[Sequence<'a>]) -> Self {
        self.sequences = sequences.to_vec();
        self
    }

    /// Gives the expressions in the arguments the variables of the server.
    pub(crate) fn with_variables(self, of_server: Variables) -> Self {
        Arguments {
            variables: of_server.clone(),
            of_server,
            ..self
        }
    }

    /// Takes the variables of the command, which the expressions in the arguments after them, and in their parts, can name. Their own
    /// expressions compare texts by the collation of the command, which stays.
    pub(crate) fn take_variables(&mut self) -> Result<()> {
        let variables = self.document("let")?.unwrap_or_default();
        let collation = self.look::<&RawDocument>("collation");
        let collation = match collation.map(Document::try_from).transpose()? {
            Some(collation) if !collation.is_empty() => Collation::parse(&collation)?,
            _ => None,
        };
        self.evaluate_variables(variables, collation)
    }

    fn evaluate_variables(
        &mut self,
        variables: Document,
        collation: Option<Collation>,
    ) -> Result<()> {
        let of_server = self.of_server.clone();
        self.variables = of_server.then(&variables, collation.as_ref())?;
        self.of_variables = (variables, collation);
        Ok(())
    }

    /// The variables of the command.
    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Gives the arguments the default collation of the collection.
    pub(crate) fn with_default_collation(self, default_collation: Option<Collation>) -> Self {
        Arguments {
            default_collation,
            ..self
        }
    }

    /// The arguments of a command on a view with this collation.
    pub(crate) fn of_view(self, collation: Option<Collation>) -> Self {
        Arguments {
            is_of_view: true,
            ..self.with_default_collation(collation)
        }
    }

    /// Whether the command is one on a view.
    pub(crate) fn is_of_view(&self) -> bool {
        self.is_of_view
    }

    /// Takes the collation, by which the filter, the sort and the projection that are taken after it compare texts. The variables of the
    /// command are evaluated by it for these arguments, as for each statement of a command that writes.
    pub(crate) fn take_collation(&mut self) -> Result<()> {
        let collation = self.document("collation")?;
        // Some drivers send an empty one.
        self.collation = match collation.filter(|collation| !collation.is_empty()) {
            Some(collation) => Collation::parse(&collation)?,
            None => self.default_collation.clone(),
        };
        let (variables, collation) = &self.of_variables;
        if !variables.is_empty() && *collation != self.collation {
            self.evaluate_variables(variables.clone(), self.collation.clone())?;
        }
        Ok(())
    }

    /// The collation of the command or the part.
    pub(crate) fn collation(&self) -> Option<&Collation> {
        self.collation.as_ref()
    }

    /// Looks at a value, which stays.
    pub(crate) fn look<T: Argument<'a>>(&self, name: &str) -> Option<T> {
        let (_, value) = self.fields.iter().find(|(field, _)| *field == name)?;
        T::read(*value)
    }

    /// Whether a value is there, whatever it is.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| *field == name)
    }

    /// The arguments as a part of these.
    fn within(self, whole: &Arguments<'_>) -> Self {
        Arguments {
            variables: whole.variables.clone(),
            of_server: whole.of_server.clone(),
            of_variables: whole.of_variables.clone(),
            default_collation: whole.default_collation.clone(),
            ..self
        }
    }

    /// The name of the command or part that has the arguments.
    pub(crate) fn name(&self) -> &str {
        &self.of
    }

    fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.of)
    }

    /// Takes a value that can be missing, as null is.
    pub(crate) fn optional<T: Argument<'a>>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(at) = self.fields.iter().position(|(field, _)| *field == name) else {
            return Ok(None);
        };
        let (_, value) = self.fields.swap_remove(at);
        if self.fields.iter().any(|(field, _)| *field == name) {
            let message = format!("BSON field '{}' is a duplicate field", self.path(name));
            return Err(CommandError::new(code::DUPLICATE_FIELD, message));
        }
        if matches!(value, RawBsonRef::Null | RawBsonRef::Undefined) {
            return Ok(None);
        }
        match T::read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(self.wrong_type(name, value, T::TYPE)),
        }
    }

    pub(crate) fn required<T: Argument<'a>>(&mut self, name: &str) -> Result<T> {
        self.optional(name)?.ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> CommandError {
        let message = format!(
            "BSON field '{}' is missing but a required field",
            self.path(name)
        );
        CommandError::new(code::MISSING_FIELD, message)
    }

    /// The error of a value of another type than these.
    pub(crate) fn wrong_type(
        &self,
        name: &str,
        value: RawBsonRef<'_>,
        expected: &str,
    ) -> CommandError {
        let types = match expected.starts_with('[') {
            true => "types",
            false => "type",
        };
        let message = format!(
            "BSON field '{}' is the wrong type '{}', expected {types} '{expected}'",
            self.path(name),
            type_name(value)
        );
        CommandError::new(code::TYPE_MISMATCH, message)
    }

    /// Takes a value that is false if it is missing.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool> {
        Ok(self.optional(name)?.unwrap_or(false))
    }

    /// Takes a boolean, which can be no number.
    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>> {
        match self.optional::<RawBsonRef<'_>>(name)? {
            None => Ok(None),
            Some(RawBsonRef::Boolean(value)) => Ok(Some(value)),
            Some(other) => Err(self.wrong_type(name, other, "bool")),
        }
    }

    /// Takes a number that has 64 bits and no fraction. Another type of value has this code.
    pub(crate) fn whole(&mut self, name: &str, of_type: i32) -> Result<Option<i64>> {
        let Some(value) = self.optional::<RawBsonRef<'_>>(name)? else {
            return Ok(None);
        };
        let path = self.path(name);
        let number = match value {
            RawBsonRef::Int32(number) => return Ok(Some(number.into())),
            RawBsonRef::Int64(number) => return Ok(Some(number)),
            RawBsonRef::Double(number) => number,
            RawBsonRef::Decimal128(number) => decimal(number),
            other => {
                let found = type_name(other);
                let message = format!("'{path}' must be a number, not {found}");
                return Err(CommandError::new(of_type, message));
            }
        };
        let is_long = number.fract() == 0.0 && number.abs() < -(i64::MIN as f64);
        if !is_long {
            let message = format!("'{path}' must be a whole number of 64 bits, not {number}");
            return Err(CommandError::new(code::FAILED_TO_PARSE, message));
        }
        Ok(Some(number as i64))
    }

    /// Takes a number that is not negative.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>> {
        let number = self.optional::<i64>(name)?;
        let count = |number: i64| {
            u64::try_from(number).map_err(|_| {
                let path = self.path(name);
                let message =
                    format!("BSON field '{path}' value must be >= 0, actual value '{number}'");
                CommandError::new(code::BAD_VALUE, message)
            })
        };
        number.map(count).transpose()
    }

    /// Takes a document whose fields are arguments themselves.
    pub(crate) fn nested(&mut self, name: &str) -> Result<Option<Arguments<'a>>> {
        let document = self.optional::<&RawDocument>(name)?;
        let path = self.path(name);
        let nested = document.map(|document| Arguments::of(path, document));
        let nested = nested.transpose()?;
        Ok(nested.map(|nested| nested.within(self)))
    }

    /// Takes documents, from an array or from a sequence outside of the body.
    pub(crate) fn documents(&mut self, name: &str) -> Result<Option<Vec<&'a RawDocument>>> {
        if let Some(at) = self.sequences.iter().position(|one| one.name == name) {
            let documents = self.sequences.swap_remove(at).documents().collect();
            return Ok(Some(documents));
        }
        let Some(array) = self.optional::<&RawArray>(name)? else {
            return Ok(None);
        };
        let mut documents = Vec::new();
        for (at, value) in array.into_iter().enumerate() {
            match value? {
                RawBsonRef::Document(document) => documents.push(document),
                other => return Err(self.wrong_type(&format!("{name}.{at}"), other, "object")),
            }
        }
        Ok(Some(documents))
    }

    /// Takes documents of which each has arguments.
    pub(crate) fn all_nested(&mut self, name: &str) -> Result<Vec<Arguments<'a>>> {
        let path = self.path(name);
        let documents = self.documents(name)?;
        let documents = documents.ok_or_else(|| self.missing(name))?;
        let nested = documents
            .into_iter()
            .map(|document| Ok(Arguments::of(path.clone(), document)?.within(self)));
        nested.collect()
    }

    pub(crate) fn document(&mut self, name: &str) -> Result<Option<Document>> {
        let document = self.optional::<&RawDocument>(name)?;
        Ok(document.map(Document::try_from).transpose()?)
    }

    /// Takes a filter, which matches all documents if it is missing.
    pub(crate) fn filter(&mut self, name: &str) -> Result<Filter> {
        let filter = self.document(name)?.unwrap_or_default();
        let filter = Filter::parse_with(&filter, &self.variables)?;
        Ok(filter.collated(self.collation()))
    }

    /// Takes all arguments that are left as a filter.
    pub(crate) fn rest_as_filter(self) -> Result<Filter> {
        let fields = self
            .fields
            .into_iter()
            .map(|(name, value)| Ok((name.to_owned(), Bson::try_from(value)?)));
        let filter = fields.collect::<Result<Document>>()?;
        Ok(Filter::parse_with(&filter, &self.variables)?)
    }

    pub(crate) fn sort(&mut self, name: &str) -> Result<Sort> {
        let sort = self.document(name)?.unwrap_or_default();
        Ok(Sort::parse(&sort)?.collated(self.collation()))
    }

    /// Takes a projection. An empty one is none.
    pub(crate) fn projection(&mut self, name: &str) -> Result<Option<Projection>> {
        let projection = self.document(name)?.filter(|fields| !fields.is_empty());
        let parse = |fields| {
            let projection = Projection::parse_with(&fields, &self.variables)?;
            Ok(projection.collated(self.collation()))
        };
        projection.map(parse).transpose()
    }

    /// Takes an argument that cannot change the result, whatever it is.
    pub(crate) fn ignore(&mut self, name: &str) {
        self.fields.retain(|(field, _)| *field != name);
    }

    /// Refuses an argument that could change the result, unless it is an empty document, as some drivers send it.
    pub(crate) fn refuse(&mut self, name: &str) -> Result<()> {
        match self.optional::<RawBsonRef<'_>>(name)? {
            None => Ok(()),
            Some(RawBsonRef::Document(document)) if document.is_empty() => Ok(()),
            Some(_) => Err(self.not_supported(name)),
        }
    }

    /// Refuses an argument that could change the result, unless it is false.
    pub(crate) fn refuse_true(&mut self, name: &str) -> Result<()> {
        match self.flag(name)? {
            false => Ok(()),
            true => Err(self.not_supported(name)),
        }
    }

    fn not_supported(&self, name: &str) -> CommandError {
        let message = format!(
            "'{}' is not supported by this server: leave it out",
            self.path(name)
        );
        CommandError::new(code::NOT_IMPLEMENTED, message)
    }

    /// Takes the collation, which can only be the one of bytes, and is that by default.
    pub(crate) fn simple_collation(&mut self) -> Result<()> {
        self.default_collation = None;
        self.take_collation()?;
        let Some(collation) = &self.collation else {
            return Ok(());
        };
        let message = format!(
            "the collation {collation} of '{}' is not supported by this server: only the locale 'simple' is",
            self.of
        );
        Err(CommandError::new(code::NOT_IMPLEMENTED, message))
    }

    /// Refuses the arguments that nobody has taken.
    pub(crate) fn end(self) -> Result<()> {
        let left = self.fields.first().map(|(name, _)| *name);
        match left.or_else(|| self.sequences.first().map(|one| one.name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("BSON field '{}' is an unknown field.", self.path(name));
                Err(CommandError::new(code::UNKNOWN_FIELD, message))
            }
        }
    }
}

/// Checks that a document is well-formed, and not so deep that recursion over it ends the stack.
fn check_nesting(document: &RawDocument, depth: usize) -> Result<()> {
    if depth > MAX_NESTING {
        let message = format!("command is nested deeper than {MAX_NESTING} levels");
        return Err(CommandError::new(code::OVERFLOW, message));
    }
    for element in document.iter_elements() {
        match element?.value()? {
            RawBsonRef::Document(inner) => check_nesting(inner, depth + 1)?,
            RawBsonRef::Array(array) => {
                check_nesting(RawDocument::from_bytes(array.as_bytes())?, depth + 1)?;
            }
            RawBsonRef::JavaScriptCodeWithScope(code) => check_nesting(code.scope, depth + 1)?,
            _ => {}
        }
    }
    Ok(())
}

/// MongoDB's name of the type of a value.
fn type_name(value: RawBsonRef<'_>) -> &'static str {
    match value {
        RawBsonRef::Double(_) => "double",
        RawBsonRef::String(_) => "string",
        RawBsonRef::Array(_) => "array",
        RawBsonRef::Document(_) => "object",
        RawBsonRef::Boolean(_) => "bool",
        RawBsonRef::Null => "null",
        RawBsonRef::RegularExpression(_) => "regex",
        RawBsonRef::JavaScriptCode(_) => "javascript",
        RawBsonRef::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        RawBsonRef::Int32(_) => "int",
        RawBsonRef::Int64(_) => "long",
        RawBsonRef::Timestamp(_) => "timestamp",
        RawBsonRef::Binary(_) => "binData",
        RawBsonRef::ObjectId(_) => "objectId",
        RawBsonRef::DateTime(_) => "date",
        RawBsonRef::Symbol(_) => "symbol",
        RawBsonRef::Decimal128(_) => "decimal",
        RawBsonRef::Undefined => "undefined",
        RawBsonRef::MaxKey => "maxKey",
        RawBsonRef::MinKey => "minKey",
        RawBsonRef::DbPointer(_) => "dbPointer",
    }
}

impl<'a> Argument<'a> for RawBsonRef<'a> {
    const TYPE: &'static str = "any";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        Some(value)
    }
}

impl<'a> Argument<'a> for &'a RawDocument {
    const TYPE: &'static str = "object";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        value.as_document()
    }
}

impl<'a> Argument<'a> for &'a RawArray {
    const TYPE: &'static str = "array";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        value.as_array()
    }
}

impl<'a> Argument<'a> for &'a str {
    const TYPE: &'static str = "string";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        value.as_str()
    }
}

impl<'a> Argument<'a> for Timestamp {
    const TYPE: &'static str = "timestamp";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        match value {
            RawBsonRef::Timestamp(time) => Some(time),
            _ => None,
        }
    }
}

/// Any number, as one of 64 bits: a fraction is cut off, and a number out of the range becomes its end.
impl<'a> Argument<'a> for i64 {
    const TYPE: &'static str = "[long, int, decimal, double]";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        Some(match value {
            RawBsonRef::Int32(number) => number.into(),
            RawBsonRef::Int64(number) => number,
            RawBsonRef::Double(number) => number as i64,
            RawBsonRef::Decimal128(number) => decimal(number) as i64,
            _ => return None,
        })
    }
}

/// A bool, or a number that is not 0.
impl<'a> Argument<'a> for bool {
    const TYPE: &'static str = "[bool, long, int, decimal, double]";

    fn read(value: RawBsonRef<'a>) -> Option<Self> {
        Some(match value {
            RawBsonRef::Boolean(value) => value,
            RawBsonRef::Int32(number) => number != 0,
            RawBsonRef::Int64(number) => number != 0,
            RawBsonRef::Double(number) => number != 0.0,
            RawBsonRef::Decimal128(number) => decimal(number) != 0.0,
            _ => return None,
        })
    }
}

/// The nearest double, or NaN.
fn decimal(number: odm::bson::Decimal128) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
