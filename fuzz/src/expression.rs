//! Expressions.

use odm::bson::{Bson, Document, doc};

use crate::Choices;

const OPERATORS: [&str; 34] = [
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
    "$concat",
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

impl Choices<'_> {
    /// Something that looks like an expression.
    pub fn expression(&mut self, depth: usize) -> Bson {
        if depth == 0 {
            return match self.below(3) {
                0 => self.value(1),
                _ => self.one_of(&PATHS).into(),
            };
        }
        match self.below(6) {
            0 => self.one_of(&PATHS).into(),
            1 => {
                let fields = 1 + self.below(2);
                let fields = (0..fields).map(|_| (self.name(), self.expression(depth - 1)));
                Bson::Document(fields.collect::<Document>())
            }
            2 => Bson::Array(self.operands(depth)),
            _ => {
                let operator = self.one_of(&OPERATORS);
                let operand = match operator {
                    "$literal" => self.value(2),
                    "$switch" => {
                        let case = self.expression(depth - 1);
                        let then = self.expression(depth - 1);
                        let branches = [doc! { "case": case, "then": then }];
                        let default = self.expression(depth - 1);
                        doc! { "branches": branches.to_vec(), "default": default }.into()
                    }
                    _ if self.below(4) == 0 => self.expression(depth - 1),
                    _ => Bson::Array(self.operands(depth)),
                };
                doc! { operator: operand }.into()
            }
        }
    }

    fn operands(&mut self, depth: usize) -> Vec<Bson> {
        let number = self.below(4);
        (0..number).map(|_| self.expression(depth - 1)).collect()
    }
}
