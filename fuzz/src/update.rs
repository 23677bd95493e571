//! Updates.

use odm::bson::{Bson, Document, doc};

use super::Choices;

const UPDATES: [&str; 17] = [
    "$set",
    "$unset",
    "$inc",
    "$mul",
    "$min",
    "$max",
    "$rename",
    "$setOnInsert",
    "$push",
    "$addToSet",
    "$pop",
    "$pull",
    "$pullAll",
    "$pushAll",
    "$currentDate",
    "$bit",
    "$set",
];

/// Paths in updates, besides names.
const POSITIONS: [&str; 12] = [
    "a.$[]",
    "a.$[x]",
    "a.$[x].b",
    "b.$[x]",
    "a.$",
    "b.$",
    "a.$.b",
    "c.$[].a",
    "b.$[].$[x]",
    "c.$[x].0",
    "a.b.$[]",
    "a.$[x].$[x]",
];

/// Whether no earlier path begins with the same field.
fn is_new(path: &str, roots: &mut Vec<String>) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    let is_new = roots.iter().all(|other| other != root);
    if is_new {
        roots.push(root.to_owned());
    }
    is_new
}

impl Choices<'_> {
    /// Something that looks like an update, with its array filters.
    pub fn update(&mut self) -> (Document, Vec<Document>) {
        let number = 1 + self.below(3);
        let (mut update, mut roots) = (Document::new(), Vec::new());
        for _ in 0..number {
            let operator = self.one_of(&UPDATES);
            if operator == "$pushAll" && self.is_plain && !self.is_odd(1) {
                continue;
            }
            let fields = 1 + self.below(2);
            let fields = (0..fields).map(|_| (self.target(), self.argument(operator)));
            let mut fields: Vec<(String, Bson)> = fields.collect();
            if self.is_plain && !self.is_odd(1) {
                fields.retain(|(path, _)| is_new(path, &mut roots));
            }
            if !fields.is_empty() {
                update.insert(operator, fields.into_iter().collect::<Document>());
            }
        }
        let needs_filter = format!("{update}").contains("$[x]");
        if self.is_plain && update.is_empty() {
            update.insert("$set", doc! { self.target(): self.value(2) });
        }
        let filters = match self.below(3) {
            _ if self.is_plain && !needs_filter && !self.is_odd(1) => Vec::new(),
            0 => vec![doc! { "x.b": self.value(1) }],
            1 => vec![doc! { "x": Bson::Document(self.tests(1)) }],
            _ if self.is_plain => vec![doc! { "x": self.value(1) }],
            _ => Vec::new(),
        };
        (update, filters)
    }

    /// The path of an operation.
    fn target(&mut self) -> String {
        match self.is_plain && self.below(3) == 0 {
            true => self.one_of(&POSITIONS).to_owned(),
            false => self.name(),
        }
    }

    fn argument(&mut self, operator: &str) -> Bson {
        let is_odd = self.is_odd(4);
        match (operator, self.below(4)) {
            _ if is_odd => self.value(2),
            ("$inc" | "$mul", 0) if self.is_plain => match self.value(0) {
                Bson::String(_) | Bson::Null => Bson::Double(1.5),
                value => value,
            },
            ("$inc" | "$mul", _) => self.number().into(),
            ("$pop", _) if self.is_plain => (self.below(2) as i32 * 2 - 1).into(),
            ("$pop", _) => self.number().into(),
            ("$rename", _) => self.name().into(),
            ("$currentDate", 1) if self.is_plain => {
                doc! { "$type": self.one_of(&["date", "timestamp"]) }.into()
            }
            ("$currentDate", _) => true.into(),
            ("$bit", _) if self.is_plain => {
                let number = match self.below(2) {
                    0 => Bson::Int64(self.number()),
                    _ => Bson::Int32(self.number() as i32),
                };
                doc! { self.one_of(&["and", "or", "xor"]): number }.into()
            }
            ("$push" | "$addToSet", 0) if self.is_plain => self.value(2),
            ("$push", _) => {
                let mut push = doc! { "$each": [self.value(1), self.value(1)] };
                for modifier in ["$slice", "$position"] {
                    if self.below(2) == 0 {
                        push.insert(modifier, self.number());
                    }
                }
                match self.below(4) {
                    0 if self.is_plain => drop(push.insert("$sort", 1)),
                    0 | 1 => drop(push.insert("$sort", doc! { self.name(): -1 })),
                    _ => {}
                }
                push.into()
            }
            ("$addToSet", _) => doc! { "$each": [self.value(1), self.value(1)] }.into(),
            ("$pull", 1) => Bson::Document(self.tests(1)),
            ("$pull", 2) => Bson::Document(self.inner_filter(1)),
            ("$pullAll", _) => vec![self.value(1), self.value(1)].into(),
            _ => self.value(2),
        }
    }
}
