//! The parser of schemas.

mod object;

use bson::{RawArray, RawBson, RawBsonRef, RawDocument, spec::ElementType};

use super::{
    check::decimal,
    native::{self, NativeForm},
    node::{
        ArrayRules, Bound, Divisor, Enumeration, Limits, NumberRules, Rest, SchemaNode, TextRules,
        TypeRule,
    },
    words::Path,
};
use crate::{
    Error, Pattern,
    error::code,
    number,
    types::{self, MAX_NESTING},
};

const KEYWORDS: [&str; 32] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "bsonType",
    "dependencies",
    "description",
    "encrypt",
    "encryptMetadata",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nativeForm",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Keywords of JSON Schema that MongoDB refuses.
const UNSUPPORTED: [&str; 6] = ["$ref", "$schema", "default", "definitions", "format", "id"];

/// The names of types in `type`, except `number`, with their names in BSON.
const JSON_TYPES: [(&str, &str); 5] = [
    ("array", "array"),
    ("boolean", "bool"),
    ("null", "null"),
    ("object", "object"),
    ("string", "string"),
];

/// The error is boxed to keep the frames of the parser small, since there is one for each level.
type Parsed<T> = Result<T, Box<Error>>;

pub(super) fn schema(schema: &RawDocument) -> Parsed<Box<SchemaNode>> {
    check_form(RawBsonRef::Document(schema), MAX_NESTING)?;
    node(schema, &Path::Root)
}

/// Checks that a schema is well-formed, and not too deep for a call for each level.
fn check_form(value: RawBsonRef<'_>, left: usize) -> Parsed<()> {
    let inner = left.checked_sub(1).ok_or(Error::TooDeep(MAX_NESTING))?;
    let malformed = |error: bson::error::Error| Error::Malformed(error.to_string());
    let document = |document: &RawDocument| {
        document
            .iter()
            .try_for_each(|field| check_form(field.map_err(malformed)?.1, inner))
    };
    match value {
        RawBsonRef::Document(inner) => document(inner),
        RawBsonRef::Array(array) => array
            .into_iter()
            .try_for_each(|item| check_form(item.map_err(malformed)?, inner)),
        RawBsonRef::JavaScriptCodeWithScope(code) => document(code.scope),
        _ => Ok(()),
    }
}

fn invalid(code: i32, path: &Path<'_>, reason: impl Into<String>) -> Box<Error> {
    Box::new(Error::InvalidSchema {
        path: path.to_string(),
        reason: reason.into(),
        code,
    })
}

fn mismatch(path: &Path<'_>, reason: impl Into<String>) -> Box<Error> {
    invalid(code::TYPE_MISMATCH, path, reason)
}

fn failed(path: &Path<'_>, reason: impl Into<String>) -> Box<Error> {
    invalid(code::FAILED_TO_PARSE, path, reason)
}

/// The keywords of one schema, and where it is in the whole.
struct Keywords<'s> {
    /// In the order of [`KEYWORDS`].
    values: Vec<Option<RawBsonRef<'s>>>,
    path: &'s Path<'s>,
}

impl<'s> Keywords<'s> {
    fn new(schema: &'s RawDocument, path: &'s Path<'s>) -> Parsed<Self> {
        let mut values = vec![None; KEYWORDS.len()];
        for (name, value) in schema.iter().flatten() {
            let name = name.as_str();
            let at = Path::Field(path, name);
            let Ok(position) = KEYWORDS.binary_search(&name) else {
                return Err(match UNSUPPORTED.contains(&name) {
                    true => failed(
                        &at,
                        "is a keyword that MongoDB does not support; leave it out",
                    ),
                    false => failed(&at, "is not a keyword of schemas; leave it out"),
                });
            };
            if values[position].replace(value).is_some() {
                return Err(failed(&at, "is there twice; state it once"));
            }
        }
        Ok(Keywords { values, path })
    }

    /// The operand of a keyword, if the schema has it, with its place.
    fn get(&self, keyword: &'static str) -> Option<(RawBsonRef<'s>, Path<'s>)> {
        let position = KEYWORDS.binary_search(&keyword).ok()?;
        let value = self.values[position]?;
        Some((value, Path::Field(self.path, keyword)))
    }

    fn has(&self, keyword: &'static str) -> bool {
        self.get(keyword).is_some()
    }

    fn boolean(&self, keyword: &'static str) -> Parsed<Option<bool>> {
        match self.get(keyword) {
            None => Ok(None),
            Some((RawBsonRef::Boolean(value), _)) => Ok(Some(value)),
            Some((_, path)) => Err(mismatch(&path, "must be true or false")),
        }
    }

    fn string(&self, keyword: &'static str) -> Parsed<Option<(&'s str, Path<'s>)>> {
        match self.get(keyword) {
            None => Ok(None),
            Some((RawBsonRef::String(text), path)) => Ok(Some((text, path))),
            Some((_, path)) => Err(mismatch(&path, "must be a string")),
        }
    }

    fn array(&self, keyword: &'static str) -> Parsed<Option<(&'s RawArray, Path<'s>)>> {
        match self.get(keyword) {
            None => Ok(None),
            Some((RawBsonRef::Array(array), path)) => Ok(Some((array, path))),
            Some((_, path)) => Err(mismatch(&path, "must be an array")),
        }
    }

    fn number(&self, keyword: &'static str) -> Parsed<Option<(RawBson, Path<'s>)>> {
        match self.get(keyword) {
            None => Ok(None),
            Some((value, path)) if decimal(value).is_none() => {
                Err(mismatch(&path, "must be a number"))
            }
            Some((value, path)) => Ok(Some((value.into(), path))),
        }
    }

    fn length(&self, keyword: &'static str) -> Parsed<Option<u64>> {
        let Some((value, path)) = self.get(keyword) else {
            return Ok(None);
        };
        let length = number::whole(value).and_then(|length| u64::try_from(length).ok());
        let length = length.ok_or_else(|| failed(&path, "must be a whole number of at least 0"))?;
        Ok(Some(length))
    }

    fn limits(&self, least: &'static str, most: &'static str) -> Parsed<Limits> {
        Ok(Limits {
            least: self.length(least)?,
            most: self.length(most)?,
        })
    }

    /// `minimum` or `maximum`, with its `exclusiveMinimum` or `exclusiveMaximum`.
    fn bound(&self, keyword: &'static str, exclusive: &'static str) -> Parsed<Option<Bound>> {
        if !self.has(keyword) {
            return match self.get(exclusive) {
                None => Ok(None),
                Some((_, path)) => Err(failed(&path, format!("needs `{keyword}` beside it"))),
            };
        }
        let exclusive = self.boolean(exclusive)?.unwrap_or_default();
        let bound = self.number(keyword)?;
        Ok(bound.map(|(value, _)| Bound { value, exclusive }))
    }

    /// `additionalItems` or `additionalProperties`.
    fn rest(&self, keyword: &'static str) -> Parsed<Rest> {
        match self.get(keyword) {
            None | Some((RawBsonRef::Boolean(true), _)) => Ok(Rest::Any),
            Some((RawBsonRef::Boolean(false), _)) => Ok(Rest::None),
            Some((RawBsonRef::Document(schema), path)) => {
                Ok(Rest::Conforming(node(schema, &path)?))
            }
            Some((_, path)) => Err(mismatch(&path, "must be a schema, true or false")),
        }
    }
}

/// Parses one schema. If several keywords are wrong, returns the error that MongoDB returns.
///
/// Each level of a schema is a call of this function, so its frame and the frames of the functions that call it must be small: the parts
/// that do not recurse are functions of their own.
fn node(schema: &RawDocument, path: &Path<'_>) -> Parsed<Box<SchemaNode>> {
    let mut node = Box::<SchemaNode>::default();
    let keywords = Keywords::new(schema, path)?;
    scalars(&keywords, &mut node)?;
    array(&keywords, &mut node)?;
    check_no_encryption(&keywords)?;
    node.object = object::object(&keywords)?;
    logic(&keywords, &mut node)?;
    node.one_of = enumeration(&keywords)?;
    Ok(node)
}

fn check_no_encryption(keywords: &Keywords<'_>) -> Parsed<()> {
    for keyword in ["encrypt", "encryptMetadata"] {
        if let Some((_, path)) = keywords.get(keyword) {
            let reason = "is not supported, since no field is encrypted; leave it out";
            return Err(invalid(code::QUERY_FEATURE_NOT_ALLOWED, &path, reason));
        }
    }
    Ok(())
}

fn types_of(keywords: &Keywords<'_>) -> Parsed<Option<TypeRule>> {
    let keyword = match (keywords.get("type"), keywords.get("bsonType")) {
        (None, None) => return Ok(None),
        (Some((_, path)), Some(_)) => {
            return Err(failed(
                &path,
                "cannot be beside `bsonType`; state one of them",
            ));
        }
        (Some(_), None) => "type",
        (None, Some(_)) => "bsonType",
    };
    let Some((value, path)) = keywords.get(keyword) else {
        return Ok(None);
    };
    if let Some((_, path)) = keywords.get("encrypt") {
        return Err(failed(&path, format!("cannot be beside `{keyword}`")));
    }
    let names = match value {
        RawBsonRef::String(name) => vec![name.to_owned()],
        RawBsonRef::Array(array) => strings(array, &path)?,
        _ => {
            return Err(mismatch(
                &path,
                "must be a name of a type, or an array of them",
            ));
        }
    };
    if names.is_empty() {
        return Err(failed(&path, "must name at least one type"));
    }
    if names.iter().any(|name| name == "integer") {
        let reason = "names `integer`, which MongoDB does not support; write `bsonType` with `int` or `long`";
        return Err(failed(&path, reason));
    }
    check_distinct(&names, &path)?;
    let mut types = Vec::new();
    for name in &names {
        let unknown = || {
            let reason = format!("names {name:?}, which is not the name of a type");
            invalid(code::BAD_VALUE, &path, reason)
        };
        types.extend(kinds(keyword, name).ok_or_else(unknown)?);
    }
    Ok(Some(TypeRule::new(keyword, names, &types)))
}

fn kinds(keyword: &str, name: &str) -> Option<Vec<ElementType>> {
    if keyword == "bsonType" || name == "number" {
        return types::by_name(name);
    }
    let (_, name) = JSON_TYPES.iter().find(|(json, _)| *json == name)?;
    types::by_name(name)
}

fn strings(array: &RawArray, path: &Path<'_>) -> Parsed<Vec<String>> {
    let strings = array.into_iter().flatten().map(|item| match item {
        RawBsonRef::String(text) => Ok(text.to_owned()),
        _ => Err(mismatch(path, "must be an array of strings only")),
    });
    strings.collect()
}

fn check_distinct(names: &[String], path: &Path<'_>) -> Parsed<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(failed(
            path,
            format!("has {:?} twice; name it once", pair[0]),
        )),
    }
}

/// Parses the keywords that concern neither arrays nor objects.
fn scalars(keywords: &Keywords<'_>, node: &mut SchemaNode) -> Parsed<()> {
    keywords.string("description")?;
    keywords.string("title")?;
    node.types = types_of(keywords)?;
    node.native = match keywords.get(native::KEYWORD) {
        None => None,
        Some((value, path)) => {
            let form = value.as_document().and_then(NativeForm::parse);
            let unknown = || failed(&path, "is of a kind that this version does not know");
            Some(Box::new(form.ok_or_else(unknown)?))
        }
    };
    let pattern = match keywords.string("pattern")? {
        None => None,
        Some((source, path)) if source.contains('\0') => {
            return Err(invalid(code::BAD_VALUE, &path, "must have no NUL"));
        }
        Some((source, _)) => Some(Pattern::new(source, "").map_err(Error::from)?),
    };
    let length = keywords.limits("minLength", "maxLength")?;
    let text = TextRules { length, pattern };
    let multiple_of = match keywords.number("multipleOf")? {
        None => None,
        Some((value, path)) => Some(divisor(value, &path)?),
    };
    let number = NumberRules {
        multiple_of,
        maximum: keywords.bound("maximum", "exclusiveMaximum")?,
        minimum: keywords.bound("minimum", "exclusiveMinimum")?,
    };
    let has_text = text.length.is_stated() || text.pattern.is_some();
    let has_number =
        number.minimum.is_some() || number.maximum.is_some() || number.multiple_of.is_some();
    node.text = has_text.then(|| Box::new(text));
    node.number = has_number.then(|| Box::new(number));
    Ok(())
}

fn divisor(value: RawBson, path: &Path<'_>) -> Parsed<Divisor> {
    let reference = value.as_raw_bson_ref();
    let decimal = decimal(reference).ok_or_else(|| mismatch(path, "must be a number"))?;
    if decimal.is_negative() || decimal.is_zero() {
        return Err(failed(path, "must be greater than 0"));
    }
    if !decimal.is_finite() {
        return Err(invalid(code::BAD_VALUE, path, "must be finite"));
    }
    let whole = number::whole(reference);
    Ok(Divisor {
        value,
        decimal,
        whole,
    })
}

fn array(keywords: &Keywords<'_>, node: &mut SchemaNode) -> Parsed<()> {
    let mut rules = Box::<ArrayRules>::default();
    rules.length = keywords.limits("minItems", "maxItems")?;
    rules.unique = keywords.boolean("uniqueItems")?.unwrap_or_default();
    items(keywords, &mut rules)?;
    let is_stated = rules.length.is_stated()
        || rules.unique
        || !rules.first.is_empty()
        || !matches!(rules.rest, Rest::Any);
    node.array = is_stated.then_some(rules);
    Ok(())
}

fn items(keywords: &Keywords<'_>, rules: &mut ArrayRules) -> Parsed<()> {
    let operand = keywords.get("items");
    match operand {
        None => {}
        Some((RawBsonRef::Array(array), path)) => rules.first = schemas(array, &path)?,
        Some((RawBsonRef::Document(schema), path)) => {
            rules.rest = Rest::Conforming(node(schema, &path)?);
        }
        Some((_, path)) => return Err(mismatch(&path, "must be a schema or an array of schemas")),
    }
    let additional = keywords.rest("additionalItems")?;
    // Without a list of the first items, no item is additional.
    if let Some((RawBsonRef::Array(_), _)) = operand {
        rules.rest = additional;
    }
    Ok(())
}

fn logic(keywords: &Keywords<'_>, rules: &mut SchemaNode) -> Parsed<()> {
    rules.all = nodes(keywords, "allOf")?;
    rules.any = nodes(keywords, "anyOf")?;
    rules.one = nodes(keywords, "oneOf")?;
    match keywords.get("not") {
        None => Ok(()),
        Some((RawBsonRef::Document(schema), path)) => {
            rules.not = Some(node(schema, &path)?);
            Ok(())
        }
        Some((_, path)) => Err(mismatch(&path, "must be a schema")),
    }
}

/// `allOf`, `anyOf` or `oneOf`.
fn nodes(keywords: &Keywords<'_>, keyword: &'static str) -> Parsed<Vec<SchemaNode>> {
    match keywords.array(keyword)? {
        None => Ok(Vec::new()),
        Some((array, path)) if array.is_empty() => Err(invalid(
            code::BAD_VALUE,
            &path,
            "must have at least one schema",
        )),
        Some((array, path)) => schemas(array, &path),
    }
}

fn schemas(array: &RawArray, path: &Path<'_>) -> Parsed<Vec<SchemaNode>> {
    let mut schemas = Vec::new();
    for (position, item) in array.into_iter().flatten().enumerate() {
        let path = Path::Item(path, position);
        let RawBsonRef::Document(schema) = item else {
            return Err(mismatch(&path, "must be a schema"));
        };
        schemas.push(*node(schema, &path)?);
    }
    Ok(schemas)
}

fn enumeration(keywords: &Keywords<'_>) -> Parsed<Option<Enumeration>> {
    let Some((array, path)) = keywords.array("enum")? else {
        return Ok(None);
    };
    if array.is_empty() {
        return Err(failed(&path, "must have at least one value"));
    }
    let values = array.into_iter().flatten().map(RawBson::from).collect();
    let distinct = Enumeration::new(values);
    let repeated = || failed(&path, "has two equal values; list each once");
    distinct.ok_or_else(repeated).map(Some)
}
