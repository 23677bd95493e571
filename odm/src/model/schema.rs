//! The schema of a type, in the form of MongoDB's `$jsonSchema`.
//!
//! A schema accepts the values that can be read as the type: a number that is stored as another type of number conforms if serde converts
//! it. A recursive type is any object at the second level, since the form has no references.

use std::any::TypeId;

use bson::{Bson, Document, doc};

use super::{FieldKind, FieldShape, Shape};

/// The types whose schemas are being made.
#[derive(Debug, Default)]
pub struct SchemaTypes(Vec<TypeId>);

/// Makes the schema of a value.
pub type SchemaOf = fn(&mut SchemaTypes) -> Document;

/// A stored field in a schema.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// The stored name; empty if the fields of the value are stored in its place (flattened).
    pub name: &'static str,
    /// Whether every document has it.
    pub required: bool,
    /// The schema of its type.
    pub schema: SchemaOf,
    /// The rules of `#[validate(..)]`.
    pub rules: &'static [Rule],
}

/// A keyword of `#[validate(..)]`, by its name in a schema.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The keyword.
    pub keyword: &'static str,
    /// Its value.
    pub value: RuleValue,
}

/// The value of a keyword.
#[derive(Debug, Clone, Copy)]
pub enum RuleValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// A text.
    Text(&'static str),
    /// Several values.
    List(&'static [RuleValue]),
}

/// How serde stores the variants of an enum.
#[derive(Debug, Clone, Copy)]
pub enum EnumForm {
    /// `{ "Variant": content }`, or only the name for a variant without content.
    External,
    /// `{ "tag": "Variant", ..content }`
    Internal(&'static str),
    /// `{ "tag": "Variant", "content": content }`
    Adjacent(&'static str, &'static str),
    /// `content`
    Untagged,
}

/// One variant of an enum in a schema.
#[derive(Debug, Clone, Copy)]
pub struct VariantSchema {
    /// Its stored name.
    pub name: &'static str,
    /// How it is stored.
    pub form: EnumForm,
    /// The schema of its content; `None` without content.
    pub content: Option<SchemaOf>,
}

impl From<RuleValue> for Bson {
    fn from(value: RuleValue) -> Self {
        match value {
            RuleValue::Bool(value) => value.into(),
            RuleValue::Integer(value) => value.into(),
            RuleValue::Float(value) => value.into(),
            RuleValue::Text(value) => value.into(),
            RuleValue::List(values) => values.iter().copied().map(Bson::from).collect(),
        }
    }
}

impl SchemaTypes {
    /// Runs a function unless it runs for the same type already.
    fn enter<T: 'static, R>(&mut self, make: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let id = TypeId::of::<T>();
        if self.0.contains(&id) {
            return None;
        }
        self.0.push(id);
        let made = make(self);
        self.0.pop();
        Some(made)
    }
}

/// The schema of any value.
pub fn any(_: &mut SchemaTypes) -> Document {
    Document::new()
}

/// The schema of an array with unknown elements.
pub fn any_array(_: &mut SchemaTypes) -> Document {
    doc! { "bsonType": "array" }
}

/// The schema of values of these types.
pub(super) fn of_types(types: &[&str]) -> Document {
    match types {
        [] => Document::new(),
        [one] => doc! { "bsonType": *one },
        _ => doc! { "bsonType": types.iter().map(|&of| Bson::from(of)).collect::<Vec<_>>() },
    }
}

/// The schema of values that are null or conform to this one.
pub(super) fn nullable(mut schema: Document) -> Document {
    // A value can be null in several ways: as an `Option` of an `Option`, or of `()`.
    let add = |values: &mut Vec<Bson>, null: Bson| {
        if !values.contains(&null) {
            values.push(null);
        }
    };
    if let Some(Bson::Array(values)) = schema.get_mut("enum") {
        add(values, Bson::Null);
    }
    match schema.get_mut("bsonType") {
        Some(Bson::Array(types)) => add(types, "null".into()),
        Some(one) if one.as_str() == Some("null") => {}
        Some(one) => *one = Bson::Array(vec![one.clone(), "null".into()]),
        None => {
            if let Some(Bson::Array(schemas)) = schema.get_mut("anyOf") {
                add(schemas, doc! { "bsonType": "null" }.into());
            }
        }
    }
    schema
}

/// The schema of a struct `T` of these fields.
pub fn object<T: 'static>(
    types: &mut SchemaTypes,
    properties: &[Property],
    is_closed: bool,
) -> Document {
    let made = types.enter::<T, _>(|types| {
        let mut schema = Object::default();
        for property in properties {
            schema.add(types, property);
        }
        schema.is_closed |= is_closed;
        schema.into_schema()
    });
    made.unwrap_or_else(|| doc! { "bsonType": "object" })
}

/// The schema of a struct `T` of the described fields.
pub(super) fn fields<T: 'static>(
    types: &mut SchemaTypes,
    shape: &Shape,
    is_closed: bool,
) -> Document {
    // The schema of the cold part is of a collection of its own.
    let own = |field: &&FieldShape| !matches!(field.kind, FieldKind::Split(_));
    let properties = shape.fields.iter().filter(own).map(|field| Property {
        name: field.name,
        required: field.required,
        schema: field.described.schema,
        rules: field.rules,
    });
    object::<T>(types, &properties.collect::<Vec<_>>(), is_closed)
}

/// Whether functions check values in the fields of a type `T`.
pub fn any_has_checks<T: 'static>(
    types: &mut SchemaTypes,
    fields: &[fn(&mut SchemaTypes) -> bool],
) -> bool {
    let found = types.enter::<T, _>(|types| fields.iter().any(|has_checks| has_checks(types)));
    found.unwrap_or(false)
}

/// The schema of an enum `T` of these variants.
pub fn variants<T: 'static>(
    types: &mut SchemaTypes,
    variants: &[VariantSchema],
    is_closed: bool,
) -> Document {
    let made = types.enter::<T, _>(|types| {
        // The names of variants without content form one list.
        let is_name = |variant: &&VariantSchema| {
            matches!(variant.form, EnumForm::External) && variant.content.is_none()
        };
        let names: Vec<Bson> = variants
            .iter()
            .filter(is_name)
            .map(|of| of.name.into())
            .collect();
        let mut all = Vec::new();
        if !names.is_empty() {
            all.push(doc! { "bsonType": "string", "enum": names });
        }
        let others = variants.iter().filter(|variant| !is_name(variant));
        all.extend(others.map(|variant| variant.schema(types, is_closed)));
        match all.len() {
            1 => all.remove(0),
            _ => doc! { "anyOf": all },
        }
    });
    made.unwrap_or_default()
}

impl VariantSchema {
    fn schema(&self, types: &mut SchemaTypes, is_closed: bool) -> Document {
        let content = self.content.map(|content| content(types));
        let tag = |name: &str| doc! { name: { "enum": [self.name] } };
        match self.form {
            EnumForm::External => {
                let content = content.unwrap_or_default();
                doc! {
                    "bsonType": "object",
                    "required": [self.name],
                    "properties": { self.name: content },
                    "maxProperties": 1_i64,
                }
            }
            EnumForm::Internal(name) => {
                let tagged =
                    doc! { "bsonType": "object", "required": [name], "properties": tag(name) };
                match content {
                    Some(mut content) if !content.is_empty() => {
                        if content.contains_key("additionalProperties")
                            && let Ok(properties) = content.get_document_mut("properties")
                        {
                            properties.insert(name, Document::new());
                        }
                        doc! { "allOf": [tagged, content] }
                    }
                    _ => tagged,
                }
            }
            EnumForm::Adjacent(name, content_name) => {
                let mut properties = tag(name);
                let mut required = vec![Bson::from(name)];
                if let Some(content) = content {
                    properties.insert(content_name, content);
                    required.push(content_name.into());
                }
                let mut schema =
                    doc! { "bsonType": "object", "required": required, "properties": properties };
                if is_closed {
                    schema.insert("additionalProperties", false);
                }
                schema
            }
            EnumForm::Untagged => content.unwrap_or_else(|| doc! { "bsonType": "null" }),
        }
    }
}

/// The schema of an object while it is made.
#[derive(Default)]
struct Object {
    required: Vec<Bson>,
    properties: Document,
    all_of: Vec<Bson>,
    is_closed: bool,
}

impl Object {
    fn add(&mut self, types: &mut SchemaTypes, property: &Property) {
        let mut schema = (property.schema)(types);
        for rule in property.rules {
            set_rule(&mut schema, rule);
        }
        if property.name.is_empty() {
            // An optional value may lack all of its fields.
            open(&mut schema);
            if property.required && !schema.is_empty() {
                self.all_of.push(schema.into());
            }
            return;
        }
        if property.required {
            self.required.push(property.name.into());
        }
        self.properties.insert(property.name, schema);
    }

    fn into_schema(self) -> Document {
        let mut schema = doc! { "bsonType": "object" };
        if !self.required.is_empty() {
            schema.insert("required", self.required);
        }
        if !self.properties.is_empty() {
            schema.insert("properties", self.properties);
        }
        if !self.all_of.is_empty() {
            schema.insert("allOf", self.all_of);
        } else if self.is_closed {
            schema.insert("additionalProperties", false);
        }
        schema
    }
}

/// Lets a flattened enum have other fields beside the field of its variant.
fn open(schema: &mut Document) {
    schema.remove("maxProperties");
    if let Ok(variants) = schema.get_array_mut("anyOf") {
        for variant in variants {
            if let Bson::Document(variant) = variant {
                open(variant);
            }
        }
    }
}

/// Adds a rule, which replaces the same keyword of the type.
fn set_rule(schema: &mut Document, rule: &Rule) {
    let mut value = Bson::from(rule.value);
    // If the value may be null, the closed list of values includes null.
    if rule.keyword == "enum"
        && let Bson::Array(values) = &mut value
        && is_nullable(schema)
    {
        values.push(Bson::Null);
    }
    schema.insert(rule.keyword, value);
}

fn is_nullable(schema: &Document) -> bool {
    match schema.get("bsonType") {
        Some(Bson::Array(types)) => types.iter().any(|of| of.as_str() == Some("null")),
        _ => false,
    }
}
