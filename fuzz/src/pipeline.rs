//! Aggregation pipelines.

use odm::bson::{Bson, Document, doc};

use super::Choices;

const STAGES: [&str; 21] = [
    "$match",
    "$sort",
    "$skip",
    "$limit",
    "$sample",
    "$project",
    "$set",
    "$addFields",
    "$unset",
    "$replaceRoot",
    "$replaceWith",
    "$group",
    "$count",
    "$sortByCount",
    "$bucket",
    "$unwind",
    "$lookup",
    "$unionWith",
    "$facet",
    "$out",
    "$unknown",
];

const ACCUMULATORS: [&str; 11] = [
    "$sum",
    "$avg",
    "$min",
    "$max",
    "$count",
    "$first",
    "$last",
    "$push",
    "$addToSet",
    "$mergeObjects",
    "$top",
];

impl Choices<'_> {
    /// Something that looks like a pipeline.
    pub fn pipeline(&mut self, depth: usize) -> Vec<Document> {
        let number = self.below(4);
        (0..number).map(|_| self.stage(depth)).collect()
    }

    fn stage(&mut self, depth: usize) -> Document {
        let name = self.one_of(&STAGES);
        let operand = match name {
            _ if self.is_odd(10) => self.value(2),
            "$match" => self.filter(2).into(),
            "$sort" => self.sort().into(),
            "$skip" | "$limit" => self.amount(),
            "$sample" => doc! { "size": self.amount() }.into(),
            "$project" => self.projection().into(),
            "$set" | "$addFields" => doc! { self.name(): self.expression(2) }.into(),
            "$unset" if self.below(2) == 0 => self.name().into(),
            "$unset" => vec![self.name(), self.name()].into(),
            "$replaceRoot" => doc! { "newRoot": self.expression(2) }.into(),
            "$group" => self.group().into(),
            "$count" => self.field().into(),
            "$bucket" => self.bucket().into(),
            "$unwind" => self.unwind(),
            "$lookup" => self.lookup(depth).into(),
            "$unionWith" if depth > 0 => {
                doc! { "coll": "others", "pipeline": self.pipeline(depth - 1) }.into()
            }
            "$facet" if depth > 0 => {
                doc! { "x": self.pipeline(depth - 1), "y": self.pipeline(depth - 1) }.into()
            }
            _ => self.expression(2),
        };
        doc! { name: operand }
    }

    fn amount(&mut self) -> Bson {
        if self.is_odd(6) {
            self.value(0)
        } else {
            Bson::Int64(self.below(4) as i64)
        }
    }

    fn group(&mut self) -> Document {
        let mut group = doc! { "_id": self.expression(2) };
        for name in ["x", "y"] {
            let operand = match self.one_of(&ACCUMULATORS) {
                "$count" => doc! { "$count": {} },
                accumulator => doc! { accumulator: self.expression(2) },
            };
            group.insert(name, operand);
        }
        group
    }

    fn bucket(&mut self) -> Document {
        let boundaries = if self.is_odd(4) {
            vec![self.value(1), self.value(1)]
        } else {
            vec![Bson::Int32(-1), Bson::Double(1.5), Bson::Int64(3)]
        };
        let mut bucket = doc! { "groupBy": self.expression(1), "boundaries": boundaries };
        if self.below(3) > 0 {
            bucket.insert("default", "other");
        }
        bucket
    }

    fn unwind(&mut self) -> Bson {
        let path = format!("${}", self.name());
        match self.below(3) {
            0 => path.into(),
            1 => doc! { "path": path, "preserveNullAndEmptyArrays": true }.into(),
            _ => doc! { "path": path, "includeArrayIndex": self.field() }.into(),
        }
    }

    fn lookup(&mut self, depth: usize) -> Document {
        let mut lookup = doc! { "from": "others", "as": self.field() };
        if self.below(4) > 0 {
            lookup.insert("localField", self.name());
            lookup.insert("foreignField", self.name());
        }
        if depth > 0 && self.below(2) == 0 {
            lookup.insert("let", doc! { "v": self.expression(1) });
            let mut stages = self.pipeline(depth - 1);
            stages.push(doc! { "$set": { "v": "$$v" } });
            lookup.insert("pipeline", stages);
        }
        lookup
    }
}
