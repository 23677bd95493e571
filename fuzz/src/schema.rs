//! Schemas.

use odm::bson::{Bson, Document};

use super::Choices;

const KEYWORDS: [&str; 28] = [
    "bsonType",
    "type",
    "enum",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "properties",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "dependencies",
    "minProperties",
    "maxProperties",
    "items",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];

/// Names of fields that stored documents have.
const FIELDS: [&str; 5] = ["a", "b", "c", "0", "_id"];

const TYPES: [&str; 8] = [
    "number", "int", "double", "string", "object", "array", "null", "date",
];

impl Choices<'_> {
    /// Something that looks like a schema.
    pub fn schema(&mut self, depth: usize) -> Document {
        let number = 1 + self.below(3);
        let rules = (0..number).map(|_| {
            let keyword = self.one_of(&KEYWORDS);
            (keyword.to_owned(), self.rule(keyword, depth))
        });
        rules.collect()
    }

    fn rule(&mut self, keyword: &str, depth: usize) -> Bson {
        if depth == 0 || self.below(16) == 0 {
            return self.value(1);
        }
        let several = 1 + self.below(2);
        match keyword {
            "bsonType" | "type" => self.one_of(&TYPES).into(),
            "enum" => (0..several).map(|_| self.value(2)).collect(),
            "minimum" | "maximum" => self.number().into(),
            "multipleOf" => (self.below(4) as f64 / 2.0).into(),
            "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" => (self.below(2) == 0).into(),
            "pattern" => self.text().into(),
            "required" => (0..several).map(|_| self.one_of(&FIELDS)).collect(),
            "properties" => {
                let fields = (0..several).map(|_| {
                    let name = self.one_of(&FIELDS).to_owned();
                    (name, Bson::Document(self.schema(depth - 1)))
                });
                Bson::Document(fields.collect())
            }
            "patternProperties" => {
                odm::bson::doc! { self.text().replace('\0', ""): self.schema(depth - 1) }.into()
            }
            "dependencies" => match self.below(2) {
                0 => odm::bson::doc! { "a": [self.one_of(&FIELDS)] }.into(),
                _ => odm::bson::doc! { "a": self.schema(depth - 1) }.into(),
            },
            "additionalProperties" | "additionalItems" if self.below(2) == 0 => false.into(),
            "additionalProperties" | "additionalItems" | "not" => self.schema(depth - 1).into(),
            "items" if self.below(2) == 0 => self.schema(depth - 1).into(),
            "items" | "allOf" | "anyOf" | "oneOf" => {
                let schemas = (0..several).map(|_| Bson::Document(self.schema(depth - 1)));
                schemas.collect()
            }
            _ => Bson::Int64(self.below(4) as i64),
        }
    }
}
