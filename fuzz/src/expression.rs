//! Expressions.

use odm::bson::{Bson, Document, doc};

use crate::Choices;

const OPERATORS: [&str; 54] = [
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$cmp",
    "$and",
    "$or",
    "$not",
    "$add",
    "$subtract",
    "$multiply",
    "$divide",
    "$mod",
    "$abs",
    "$ceil",
    "$floor",
    "$round",
    "$trunc",
    "$cond",
    "$ifNull",
    "$in",
    "$size",
    "$isArray",
    "$arrayElemAt",
    "$first",
    "$last",
    "$slice",
    "$type",
    "$literal",
    "$switch",
    "$expr",
    "$setUnion",
    "$isNumber",
    "$convert",
    "$toDouble",
    "$toInt",
    "$toLong",
    "$toDecimal",
    "$toString",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$concat",
    "$toLower",
    "$toUpper",
    "$strLenCP",
    "$substrCP",
    "$concatArrays",
    "$mergeObjects",
    "$getField",
    "$setField",
    "$unsetField",
];

/// The operators that a plain expression leaves out: a server has the first one, converts more texts and binary data, and may find an error
/// of a joined value before a null.
const ALONE: [&str; 21] = [
    "$setUnion",
    "$isNumber",
    "$convert",
    "$toDouble",
    "$toInt",
    "$toLong",
    "$toDecimal",
    "$toString",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$concat",
    "$toLower",
    "$toUpper",
    "$strLenCP",
    "$substrCP",
    "$concatArrays",
    "$mergeObjects",
    "$getField",
    "$setField",
    "$unsetField",
];

const PATHS: [&str; 12] = [
    "$a",
    "$b",
    "$c",
    "$a",
    "$b",
    "$_id",
    "$a.b",
    "$a.0",
    "$$ROOT",
    "$$CURRENT.a",
    "$$REMOVE",
    "$",
];

/// Types that `$convert` converts to, and others.
const TYPES: [&str; 10] = [
    "double", "string", "objectId", "bool", "date", "int", "long", "decimal", "binData", "text",
];

/// The operands of `$convert` that may be absent, and the operand that is refused.
const OTHERS: [&str; 3] = ["onError", "onNull", "format"];

/// The number of operands of an operator that takes any number.
const ANY: usize = 0;

/// The operators that do not take exactly two operands, with the number that they take.
const OPERANDS: [(&str, usize); 18] = [
    ("$and", ANY),
    ("$or", ANY),
    ("$add", ANY),
    ("$multiply", ANY),
    ("$ifNull", ANY),
    ("$not", 1),
    ("$abs", 1),
    ("$ceil", 1),
    ("$floor", 1),
    ("$trunc", 1),
    ("$round", 1),
    ("$size", 1),
    ("$isArray", 1),
    ("$first", 1),
    ("$last", 1),
    ("$type", 1),
    ("$cond", 3),
    ("$slice", 2),
];

impl Choices<'_> {
    /// Something that looks like an expression.
    pub fn expression(&mut self, depth: usize) -> Bson {
        if depth == 0 {
            return match self.below(3) {
                0 => self.value(1),
                _ => self.path().into(),
            };
        }
        match self.below(6) {
            0 => self.path().into(),
            1 => {
                let fields = 1 + self.below(2);
                let fields = (0..fields).map(|_| {
                    // A path is not valid as a name here.
                    let name = if self.is_plain {
                        self.field()
                    } else {
                        self.name()
                    };
                    (name, self.expression(depth - 1))
                });
                Bson::Document(fields.collect::<Document>())
            }
            2 => Bson::Array(self.operands(depth)),
            _ => {
                let operator = match self.one_of(&OPERATORS) {
                    operator if self.is_plain && ALONE.contains(&operator) => "$literal",
                    operator => operator,
                };
                let operand = match operator {
                    "$literal" => self.value(2),
                    "$switch" => {
                        let case = self.expression(depth - 1);
                        let then = self.expression(depth - 1);
                        let branches = [doc! { "case": case, "then": then }];
                        let default = self.expression(depth - 1);
                        doc! { "branches": branches.to_vec(), "default": default }.into()
                    }
                    "$convert" => {
                        let to = match self.below(4) {
                            0 => self.expression(depth - 1),
                            _ => self.one_of(&TYPES).into(),
                        };
                        let input = self.expression(depth - 1);
                        let other = self.expression(depth - 1);
                        doc! { "input": input, "to": to, self.one_of(&OTHERS): other }.into()
                    }
                    "$getField" | "$setField" | "$unsetField" if !self.is_odd(4) => {
                        let mut operand = doc! { "field": { "$literal": self.name() } };
                        operand.insert("input", self.expression(depth - 1));
                        if operator == "$setField" {
                            operand.insert("value", self.expression(depth - 1));
                        }
                        operand.into()
                    }
                    _ if self.is_odd(4) => self.expression(depth - 1),
                    "$expr" if self.is_plain => self.expression(depth - 1),
                    _ if self.is_plain && !self.is_odd(1) => {
                        let found = OPERANDS.iter().find(|(name, _)| *name == operator);
                        let number = match found {
                            Some((_, ANY)) => 1 + self.below(3),
                            Some((_, number)) => *number,
                            None => 2,
                        };
                        (0..number).map(|_| self.expression(depth - 1)).collect()
                    }
                    _ => Bson::Array(self.operands(depth)),
                };
                doc! { operator: operand }.into()
            }
        }
    }

    fn path(&mut self) -> &'static str {
        match self.one_of(&PATHS) {
            "$" if self.is_plain => "$c",
            path => path,
        }
    }

    fn operands(&mut self, depth: usize) -> Vec<Bson> {
        let number = self.below(4);
        (0..number).map(|_| self.expression(depth - 1)).collect()
    }
}
