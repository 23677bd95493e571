//! Filters.

use odm::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};

use super::Choices;

const FILTERS: [&str; 25] = [
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$nin",
    "$and",
    "$or",
    "$nor",
    "$not",
    "$exists",
    "$type",
    "$regex",
    "$options",
    "$all",
    "$elemMatch",
    "$size",
    "$mod",
    "$bitsAllSet",
    "$expr",
    "$jsonSchema",
    "$where",
    "$comment",
];

/// The operators on whole documents.
const COMBINED: [&str; 8] = [
    "$and",
    "$or",
    "$nor",
    "$and",
    "$or",
    "$expr",
    "$jsonSchema",
    "$comment",
];

/// The operators on values.
const TESTS: [&str; 19] = [
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$nin",
    "$not",
    "$exists",
    "$type",
    "$regex",
    "$all",
    "$elemMatch",
    "$elemMatch",
    "$size",
    "$mod",
    "$bitsAllSet",
    "$bitsAnyClear",
];

const TYPES: [&str; 22] = [
    "double",
    "string",
    "object",
    "array",
    "binData",
    "undefined",
    "objectId",
    "bool",
    "date",
    "null",
    "regex",
    "dbPointer",
    "javascript",
    "symbol",
    "javascriptWithScope",
    "int",
    "timestamp",
    "long",
    "decimal",
    "minKey",
    "maxKey",
    "number",
];

impl Choices<'_> {
    /// Something that looks like a filter.
    pub fn filter(&mut self, depth: usize) -> Document {
        let number = self.several(3);
        let mut filter = Document::new();
        for _ in 0..number {
            if self.below(4) == 0 {
                let operator = match self.is_plain && !self.is_odd(1) {
                    true => self.one_of(&COMBINED),
                    false => self.any_operator(),
                };
                filter.insert(operator, self.operand(operator, depth));
            } else {
                let test = match self.below(3) {
                    0 => self.value(2),
                    _ => Bson::Document(self.tests(depth)),
                };
                filter.insert(self.name(), test);
            }
        }
        filter
    }

    /// A number of conditions, at most `most`. Plain choices mostly have one, as few documents meet several.
    fn several(&mut self, most: usize) -> usize {
        match self.is_plain && self.below(4) > 0 {
            true => 1,
            false => 1 + self.below(most),
        }
    }

    /// Something that looks like a filter on an element.
    pub(crate) fn inner_filter(&mut self, depth: usize) -> Document {
        let mut filter = self.filter(depth);
        if self.is_plain {
            // These operators are valid for whole documents alone.
            filter.remove("$expr");
            filter.remove("$jsonSchema");
        }
        filter
    }

    /// Operators on the values of a field.
    pub fn tests(&mut self, depth: usize) -> Document {
        let number = self.several(2);
        let mut tests = Document::new();
        for _ in 0..number {
            let operator = match self.is_plain && !self.is_odd(1) {
                true => self.test(),
                false => self.any_operator(),
            };
            tests.insert(operator, self.operand(operator, depth));
            if operator == "$regex" && self.is_plain && self.below(2) == 0 {
                let options = self.one_of(&["", "i", "m", "s", "x", "im", "is", "u", "g"]);
                tests.insert("$options", options);
            }
        }
        tests
    }

    fn any_operator(&mut self) -> &'static str {
        match self.one_of(&FILTERS) {
            // A server evaluates it, and this library refuses it.
            "$where" if self.is_plain => "$comment",
            operator => operator,
        }
    }

    fn test(&mut self) -> &'static str {
        match self.one_of(&TESTS) {
            "$bitsAllSet" if self.below(2) == 0 => "$bitsAllClear",
            "$bitsAnyClear" if self.below(2) == 0 => "$bitsAnySet",
            operator => operator,
        }
    }

    fn operand(&mut self, operator: &str, depth: usize) -> Bson {
        if self.is_odd(8) || depth == 0 && !self.is_plain {
            return self.value(1);
        }
        let several = 1 + self.below(3);
        let inner = depth.saturating_sub(1);
        match operator {
            "$and" | "$or" | "$nor" => {
                let filters = (0..several).map(|_| match depth {
                    0 => doc! { self.name(): self.value(1) },
                    _ => self.filter(inner),
                });
                filters.map(Bson::Document).collect()
            }
            "$all" if self.is_plain && self.below(3) == 0 => {
                let elements = (0..several).map(|_| self.operand("$elemMatch", inner));
                let elements = elements.map(|element| doc! { "$elemMatch": element });
                elements.map(Bson::Document).collect()
            }
            "$in" | "$nin" | "$all" => (0..several).map(|_| self.value(1)).collect(),
            "$not" if depth == 0 => doc! { "$eq": self.value(1) }.into(),
            "$not" => Bson::Document(self.tests(inner)),
            "$elemMatch" if depth == 0 => doc! { "$gt": self.value(0) }.into(),
            "$elemMatch" => match self.below(2) {
                0 => Bson::Document(self.tests(inner)),
                _ => Bson::Document(self.inner_filter(inner)),
            },
            "$size" if self.is_plain => match self.below(2) {
                0 => Bson::Double(self.below(4) as f64),
                _ => Bson::Int32(self.below(4) as i32),
            },
            "$mod" if self.is_plain => {
                let (divisor, remainder) = (1 + self.below(3), self.below(3));
                let number = |choices: &mut Self, number: usize| match choices.below(3) {
                    0 => Bson::Double(number as f64 + 0.5),
                    1 => Bson::Int64(number as i64),
                    _ => Bson::Int32(number as i32),
                };
                vec![number(self, divisor), number(self, remainder)].into()
            }
            "$mod" => Bson::Array(vec![self.number().into(), self.number().into()]),
            "$regex" => Bson::String(self.pattern().to_owned()),
            "$size" => Bson::Int64(self.number()),
            "$exists" if self.is_plain => (self.below(2) == 0).into(),
            "$type" if self.is_plain => match self.below(3) {
                0 => self.one_of(&TYPES).into(),
                1 => (self.below(21) as i32 - 1).into(),
                _ => (0..several).map(|_| self.one_of(&TYPES)).collect(),
            },
            "$bitsAllSet" | "$bitsAllClear" | "$bitsAnySet" | "$bitsAnyClear" if self.is_plain => {
                match self.below(3) {
                    0 => (0..several)
                        .map(|_| Bson::Int32(self.below(70) as i32))
                        .collect(),
                    1 => Bson::Binary(Binary {
                        subtype: BinarySubtype::Generic,
                        bytes: vec![self.below(4) as u8; several],
                    }),
                    _ => Bson::Int64(self.number().unsigned_abs() as i64),
                }
            }
            "$comment" => self.text().into(),
            "$jsonSchema" => Bson::Document(self.schema(depth)),
            "$expr" => self.expression(depth),
            _ => self.value(2),
        }
    }
}
