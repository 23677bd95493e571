//! Sorts and projections.

use odm::bson::{Bson, Document, doc};

use super::Choices;

impl Choices<'_> {
    /// Something that looks like a sort.
    pub fn sort(&mut self) -> Document {
        let number = self.below(4);
        let keys = (0..number).map(|_| {
            let direction = match self.below(5) {
                0 if !self.is_plain || self.is_odd(1) => self.value(1),
                1 | 2 => Bson::Int32(-1),
                _ => Bson::Int64(1),
            };
            (self.name(), direction)
        });
        keys.collect()
    }

    /// Something that looks like a projection.
    pub fn projection(&mut self) -> Document {
        let excludes = self.is_plain && self.below(2) == 0;
        let number = self.below(4);
        let fields = (0..number).map(|_| {
            let shown = match self.below(8) {
                0 if !self.is_plain || self.is_odd(1) => self.value(1),
                1 if self.is_plain => doc! { "$slice": self.part() }.into(),
                1 => doc! { "$slice": self.value(1) }.into(),
                2 if self.is_plain => {
                    let name = self.field();
                    return (name, doc! { "$elemMatch": self.inner_filter(1) }.into());
                }
                2 => doc! { "$elemMatch": self.filter(1) }.into(),
                3 if !self.is_plain || self.is_odd(1) => Bson::Int32(0),
                4 if self.is_plain && self.below(3) == 0 => {
                    return (format!("{}.$", self.name()), Bson::Int32(1));
                }
                4 | 5 if !excludes => self.expression(2),
                _ => Bson::Int32(i32::from(!excludes)),
            };
            (self.name(), shown)
        });
        fields.collect()
    }

    /// A part of an array.
    fn part(&mut self) -> Bson {
        let number = |choices: &mut Self| choices.below(7) as i32 - 3;
        match self.below(2) {
            0 => number(self).into(),
            _ => vec![number(self), number(self).abs()].into(),
        }
    }
}
