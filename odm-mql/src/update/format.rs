//! The formatter of MongoDB's form of an update.

use bson::{Bson, Document, RawBson, doc};

use super::{
    BitOperation, CurrentDate, End, Operation, Pull, Push, PushSort, Update, tree::compare_paths,
};
use crate::{filter, types::from_raw};

pub(super) fn update(update: &Update) -> Document {
    let mut document = Document::new();
    for (path, operation) in &update.operations {
        let (operator, value) = self::operation(operation);
        let fields = document
            .entry(operator.to_owned())
            .or_insert_with(|| Document::new().into());
        if let Bson::Document(fields) = fields {
            fields.insert(path.as_ref(), value);
        }
    }
    document
}

/// The same with all paths in the order of new fields. `None` if an operator would occur twice.
pub(super) fn ordered(update: &Update) -> Option<Document> {
    let mut operations: Vec<_> = update.operations.iter().collect();
    // Operations that add no field come first, grouped by operator.
    let not_adding = |operation: &Operation| match operation {
        Operation::Unset | Operation::Pop(_) => self::operation(operation).0,
        _ => "",
    };
    operations.sort_by(|(a, one), (b, other)| {
        let first = not_adding(other).cmp(not_adding(one));
        first.then_with(|| compare_paths(a, b))
    });
    let mut document = Document::new();
    let mut last = "";
    for (path, operation) in operations {
        let (operator, value) = self::operation(operation);
        match document.get_document_mut(operator) {
            Ok(fields) if last == operator => drop(fields.insert(path.as_ref(), value)),
            Ok(_) => return None,
            Err(_) => drop(document.insert(operator, doc! { path.as_ref(): value })),
        }
        last = operator;
    }
    Some(document)
}

fn operation(operation: &Operation) -> (&'static str, Bson) {
    match operation {
        Operation::Set(value) => ("$set", from_raw(value)),
        Operation::Unset => ("$unset", Bson::String(String::new())),
        Operation::Inc(value) | Operation::Add(value) => ("$inc", from_raw(value)),
        Operation::Mul(value) => ("$mul", from_raw(value)),
        Operation::Bit(operands) => {
            let operand = |(operation, value): &(BitOperation, RawBson)| {
                let name = match operation {
                    BitOperation::And => "and",
                    BitOperation::Or => "or",
                    BitOperation::Xor => "xor",
                };
                (name.to_owned(), from_raw(value))
            };
            (
                "$bit",
                Bson::Document(operands.iter().map(operand).collect()),
            )
        }
        Operation::Min(value) => ("$min", from_raw(value)),
        Operation::Max(value) => ("$max", from_raw(value)),
        Operation::Rename(target) => ("$rename", target.as_str().into()),
        Operation::SetOnInsert(value) => ("$setOnInsert", from_raw(value)),
        Operation::CurrentDate(CurrentDate::Date) => ("$currentDate", true.into()),
        Operation::CurrentDate(CurrentDate::Timestamp) => {
            ("$currentDate", doc! { "$type": "timestamp" }.into())
        }
        Operation::Push(push) => ("$push", self::push(push).into()),
        Operation::AddToSet(values) => ("$addToSet", doc! { "$each": array(values) }.into()),
        Operation::Pop(End::First) => ("$pop", (-1).into()),
        Operation::Pop(End::Last) => ("$pop", 1.into()),
        // As the operand of `$pull` these would be read as a filter.
        Operation::Pull(Pull::Value(
            value @ (RawBson::Document(_) | RawBson::RegularExpression(_)),
        )) => ("$pullAll", array(std::slice::from_ref(value))),
        Operation::Pull(Pull::Value(value)) => ("$pull", from_raw(value)),
        Operation::Pull(Pull::Filter(filter)) => ("$pull", filter.to_document().into()),
        Operation::Pull(Pull::Tests(tests)) => ("$pull", filter::element_test(tests).into()),
        Operation::PullAll(values) => ("$pullAll", array(values)),
    }
}

fn array(values: &[RawBson]) -> Bson {
    values.iter().map(from_raw).collect()
}

fn push(push: &Push) -> Document {
    let mut document = doc! { "$each": array(&push.each) };
    if let Some(position) = push.position {
        document.insert("$position", position);
    }
    match &push.sort {
        None => {}
        Some(PushSort::Elements(direction)) => {
            document.insert("$sort", direction.to_bson());
        }
        Some(PushSort::Fields(sort)) => {
            document.insert("$sort", sort.to_document());
        }
    }
    if let Some(slice) = push.slice {
        document.insert("$slice", slice);
    }
    document
}
