//! The compiled form of a schema.

use std::cmp::Ordering;

use bson::{RawBson, RawBsonRef, spec::ElementType};

use super::{equality, native::NativeForm};
use crate::{Pattern, decimal::Decimal};

/// A schema of a value. An absent rule holds for all values.
#[derive(Default)]
pub(super) struct SchemaNode {
    pub(super) types: Option<TypeRule>,
    pub(super) one_of: Option<Enumeration>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) text: Option<Box<TextRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    pub(super) all: Vec<SchemaNode>,
    /// Empty if the schema has no `anyOf`.
    pub(super) any: Vec<SchemaNode>,
    /// Empty if the schema has no `oneOf`.
    pub(super) one: Vec<SchemaNode>,
    pub(super) not: Option<Box<SchemaNode>>,
    pub(super) native: Option<Box<NativeForm>>,
}

/// `type` or `bsonType`.
pub(super) struct TypeRule {
    pub(super) keyword: &'static str,
    /// The types as the schema names them.
    pub(super) names: Vec<String>,
    mask: u32,
}

impl TypeRule {
    pub(super) fn new(keyword: &'static str, names: Vec<String>, types: &[ElementType]) -> Self {
        let mask = types.iter().fold(0, |mask, kind| mask | bit(*kind));
        TypeRule {
            keyword,
            names,
            mask,
        }
    }

    pub(super) fn has(&self, value: RawBsonRef<'_>) -> bool {
        self.mask & bit(value.element_type()) != 0
    }
}

fn bit(kind: ElementType) -> u32 {
    match kind {
        ElementType::MinKey => 1 << 30,
        ElementType::MaxKey => 1 << 31,
        // The codes of the others are 1 to 19.
        other => 1 << (other as u32 % 30),
    }
}

/// `enum`.
pub(super) struct Enumeration {
    /// In the order of the schema.
    pub(super) values: Vec<RawBson>,
    sorted: Vec<RawBson>,
}

impl Enumeration {
    /// Returns `None` if two of the values are equal.
    pub(super) fn new(values: Vec<RawBson>) -> Option<Self> {
        let order =
            |a: &RawBson, b: &RawBson| equality::compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
        let mut sorted = values.clone();
        sorted.sort_by(order);
        let distinct = sorted
            .windows(2)
            .all(|pair| order(&pair[0], &pair[1]).is_ne());
        distinct.then_some(Enumeration { values, sorted })
    }

    pub(super) fn has(&self, value: RawBsonRef<'_>) -> bool {
        let order = |other: &RawBson| equality::compare(other.as_raw_bson_ref(), value);
        self.sorted.binary_search_by(order).is_ok()
    }
}

#[derive(Default)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiple_of: Option<Divisor>,
}

/// `minimum` or `maximum`.
pub(super) struct Bound {
    pub(super) value: RawBson,
    pub(super) exclusive: bool,
}

/// `multipleOf`.
pub(super) struct Divisor {
    pub(super) value: RawBson,
    pub(super) decimal: Decimal,
    /// The divisor, if it is a whole number.
    pub(super) whole: Option<i64>,
}

#[derive(Default)]
pub(super) struct TextRules {
    pub(super) length: Limits,
    pub(super) pattern: Option<Pattern>,
}

/// The least and the greatest number of characters, items or fields.
#[derive(Default)]
pub(super) struct Limits {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

impl Limits {
    pub(super) fn is_stated(&self) -> bool {
        self.least.is_some() || self.most.is_some()
    }
}

#[derive(Default)]
pub(super) struct ArrayRules {
    pub(super) length: Limits,
    pub(super) unique: bool,
    /// The schemas of the first items, by position.
    pub(super) first: Vec<SchemaNode>,
    /// The keyword that states the rule of the other items, and the rule.
    pub(super) rest: Rest,
}

/// The rule of items and fields that no other rule names.
#[derive(Default)]
pub(super) enum Rest {
    #[default]
    Any,
    None,
    Conforming(Box<SchemaNode>),
}

#[derive(Default)]
pub(super) struct ObjectRules {
    pub(super) length: Limits,
    /// All fields that rules name, sorted by name.
    pub(super) fields: Vec<FieldRule>,
    pub(super) patterns: Vec<(Pattern, SchemaNode)>,
    pub(super) rest: Rest,
    /// Positions in `fields`.
    pub(super) required: Vec<usize>,
    pub(super) dependencies: Vec<Dependency>,
}

impl ObjectRules {
    /// The position of a field among the fields that rules name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let order = |field: &FieldRule| -> Ordering { field.name.as_str().cmp(name) };
        self.fields.binary_search_by(order).ok()
    }
}

pub(super) struct FieldRule {
    pub(super) name: String,
    /// The schema, if `properties` names the field.
    pub(super) node: Option<SchemaNode>,
}

/// A requirement that holds in documents with a field.
pub(super) struct Dependency {
    /// The field, as a position in the fields that rules name.
    pub(super) field: usize,
    pub(super) needs: Needs,
}

pub(super) enum Needs {
    /// Other fields, by their positions.
    Fields(Vec<usize>),
    /// A schema of the whole object.
    Conforming(Box<SchemaNode>),
}
