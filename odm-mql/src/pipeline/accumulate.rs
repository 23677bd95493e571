//! The accumulators of `$group`.

mod kept;
mod ranked;

use std::collections::{HashMap, HashSet};

use bson::{Bson, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString};

use self::kept::{KeptState, KeptValues};
use super::parse::StageScope;
use crate::{
    Collation, Error, Expr,
    error::code,
    expr::{check_method, percentiles},
    group::{Deviation, KeptValue, QuantileKind, Quantiles, State, Total, bytes},
    key, types,
    types::{bad_as, unknown},
    write::{fields, malformed},
};

/// An accumulator, with the expression whose values it takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageAccumulator {
    kind: AccumulatorKind,
    expr: Expr,
}

#[derive(Debug, Clone, PartialEq)]
enum AccumulatorKind {
    Sum,
    Avg,
    Min,
    Max,
    First,
    Last,
    Push,
    AddToSet,
    SetUnion,
    ConcatArrays,
    MergeObjects,
    /// The standard deviation of a sample, or of all values.
    StdDev {
        is_sample: bool,
    },
    Kept(Box<KeptValues>),
    Quantile(QuantileKind),
}

use AccumulatorKind::*;

/// `$count` is `{ $sum: 1 }`.
const ACCUMULATORS: [(&str, AccumulatorKind); 14] = [
    ("$sum", Sum),
    ("$count", Sum),
    ("$avg", Avg),
    ("$min", Min),
    ("$max", Max),
    ("$first", First),
    ("$last", Last),
    ("$push", Push),
    ("$addToSet", AddToSet),
    ("$setUnion", SetUnion),
    ("$concatArrays", ConcatArrays),
    ("$mergeObjects", MergeObjects),
    ("$stdDevPop", StdDev { is_sample: false }),
    ("$stdDevSamp", StdDev { is_sample: true }),
];

impl StageAccumulator {
    /// Parses `{ $sum: .. }` and the like.
    pub(super) fn parse(
        name: &str,
        value: &Bson,
        scope: &StageScope<'_>,
    ) -> Result<StageAccumulator, Error> {
        let Bson::Document(document) = value else {
            let expected = "an accumulator, in a document, as each field but `_id`";
            return Err(bad_as(40_234, "$group", expected));
        };
        if name.contains('.') {
            return Err(bad_as(40_235, name, "to be a name without a dot"));
        }
        if name.starts_with('$') {
            return Err(bad_as(
                40_236,
                name,
                "to be a name without `$` at its begin",
            ));
        }
        let mut operators = document.iter();
        let (Some((operator, operand)), None) = (operators.next(), operators.next()) else {
            return Err(bad_as(40_238, name, "just one accumulator"));
        };
        if let Bson::Array(_) = operand {
            return Err(bad_as(40_237, operator, "one operand, not an array"));
        }
        if let Some(kept) = KeptValues::parse(operator, operand, scope) {
            let (kept, expr) = kept?;
            let kind = Kept(Box::new(kept));
            return Ok(StageAccumulator { kind, expr });
        }
        let found = ACCUMULATORS.iter().find(|(other, _)| other == operator);
        let Some((_, kind)) = found else {
            return match operator.as_str() {
                "$median" | "$percentile" => quantiles(operator, operand, scope),
                "$accumulator" => Err(Error::NotSupported {
                    operator: operator.clone(),
                    instead: "collect values by `$push`, and compute with them after the group",
                    code: 15_952,
                }),
                other => Err(unknown(15_952, other)),
            };
        };
        let expr = match (operator.as_str(), operand) {
            ("$count", Bson::Document(empty)) if empty.is_empty() => Expr::parse(&1.into())?,
            ("$count", _) => {
                return Err(bad_as(code::TYPE_MISMATCH, operator, "an empty document"));
            }
            (_, operand) => scope.expr(operand)?,
        };
        let kind = kind.clone();
        Ok(StageAccumulator { kind, expr })
    }

    /// The number of the documents.
    pub(super) fn count() -> Result<StageAccumulator, Error> {
        let expr = Expr::parse(&1.into())?;
        Ok(StageAccumulator { kind: Sum, expr })
    }

    /// The state of a group without documents. The documents of the group share the value `id`.
    pub(super) fn begin(
        &self,
        id: &RawBson,
        collation: Option<&Collation>,
    ) -> Result<AccumulatorState, Error> {
        Ok(match &self.kind {
            Sum => AccumulatorState::Plain(State::Sum(Total::default())),
            Avg => AccumulatorState::Plain(State::Avg(Total::default())),
            Min => AccumulatorState::Plain(State::Min(KeptValue::collated(collation))),
            Max => AccumulatorState::Plain(State::Max(KeptValue::collated(collation))),
            First => AccumulatorState::First(None),
            Last => AccumulatorState::Last(KeptValue::default()),
            Push => AccumulatorState::Push(RawArrayBuf::new()),
            AddToSet => AccumulatorState::AddToSet(Box::new(ValueSet::by(collation))),
            SetUnion => AccumulatorState::SetUnion(Box::new(ValueSet::by(collation))),
            ConcatArrays => AccumulatorState::ConcatArrays(RawArrayBuf::new()),
            MergeObjects => AccumulatorState::MergeObjects(Box::default()),
            StdDev { is_sample } => AccumulatorState::StdDev(Deviation::default(), *is_sample),
            Kept(kept) => AccumulatorState::Kept(Box::new(kept.begin(id, collation)?)),
            Quantile(_) => AccumulatorState::Quantiles(Quantiles::default()),
        })
    }

    /// Adds the value of a document to a state of this accumulator, and returns the memory that it takes.
    pub(super) fn add(
        &self,
        document: &RawDocument,
        state: &mut AccumulatorState,
    ) -> Result<usize, Error> {
        if state.is_full() {
            return Ok(0);
        }
        let value = self.expr.evaluate(document)?;
        let key = match &self.kind {
            Kept(kept) => kept.sort_keys().map(|keys| keys.key(document)),
            _ => None,
        };
        state.add(value, key)
    }

    /// The value of a group. A missing one is null.
    pub(super) fn value(&self, state: AccumulatorState) -> RawBson {
        match (&self.kind, state) {
            (Quantile(kind), AccumulatorState::Quantiles(numbers)) => numbers.into_value(kind),
            (_, state) => state.into_value(),
        }
    }
}

/// Parses `$median` or `$percentile`.
fn quantiles(
    name: &str,
    operand: &Bson,
    scope: &StageScope<'_>,
) -> Result<StageAccumulator, Error> {
    let is_median = name == "$median";
    let Bson::Document(arguments) = operand else {
        let code = if is_median { 7_436_100 } else { 7_429_703 };
        return Err(bad_as(code, name, "an object of its arguments"));
    };
    let names: &[&str] = if is_median {
        &["input", "method"]
    } else {
        &["input", "method", "p"]
    };
    let mut keys = arguments.keys();
    if let Some(other) = keys.find(|key| !names.contains(&key.as_str())) {
        return Err(unknown(40_415, &format!("{name}.{other}")));
    }
    let argument = |key: &str| {
        let found = arguments.get(key);
        found.ok_or_else(|| bad_as(40_414, name, "all arguments that it requires"))
    };
    let (input, method) = (argument("input")?, argument("method")?);
    check_method(name, method)?;
    let kind = if is_median {
        QuantileKind::Median
    } else {
        let p = scope.constant(argument("p")?)?;
        let p = p.ok_or_else(|| bad_as(7_750_300, name, "a constant `p`"))?;
        QuantileKind::Percentiles(percentiles(&Some(p))?)
    };
    Ok(StageAccumulator {
        kind: Quantile(kind),
        expr: scope.expr(input)?,
    })
}

/// The state of an accumulator of one group.
#[derive(Debug)]
pub(super) enum AccumulatorState {
    Plain(State),
    /// The value of the first document, which may be missing.
    First(Option<Option<RawBson>>),
    /// The value of the last document.
    Last(KeptValue),
    Push(RawArrayBuf),
    AddToSet(Box<ValueSet>),
    SetUnion(Box<ValueSet>),
    ConcatArrays(RawArrayBuf),
    MergeObjects(Box<MergedFields>),
    /// The numbers, and whether they are a sample.
    StdDev(Deviation, bool),
    Kept(Box<KeptState>),
    Quantiles(Quantiles),
}

impl AccumulatorState {
    /// Whether no value changes it any more.
    fn is_full(&self) -> bool {
        match self {
            AccumulatorState::First(first) => first.is_some(),
            AccumulatorState::Kept(kept) => kept.is_full(),
            _ => false,
        }
    }

    /// Adds a value, with the key of its document if the accumulator has an order of documents, and returns the memory that it takes.
    fn add(&mut self, value: Option<RawBson>, key: Option<Vec<u8>>) -> Result<usize, Error> {
        let as_ref = value.as_ref().map(RawBson::as_raw_bson_ref);
        Ok(match (self, as_ref) {
            (AccumulatorState::First(Some(_)), _) => 0,
            (AccumulatorState::First(first), as_ref) => {
                let memory = as_ref.map_or(0, bytes);
                *first = Some(value);
                memory
            }
            (AccumulatorState::Last(last), _) => last.replace(value),
            (AccumulatorState::Kept(kept), _) => kept.add(value, key),
            (_, None) => 0,
            (AccumulatorState::Quantiles(numbers), Some(value)) => numbers.add(value),
            (AccumulatorState::Plain(state), Some(value)) => state.add(value),
            (AccumulatorState::Push(array), Some(value)) => push(array, value),
            (AccumulatorState::AddToSet(set), Some(value)) => set.add(value),
            (AccumulatorState::SetUnion(set), Some(RawBsonRef::Array(array))) => {
                array.into_iter().flatten().map(|it| set.add(it)).sum()
            }
            (AccumulatorState::ConcatArrays(all), Some(RawBsonRef::Array(array))) => {
                array.into_iter().flatten().map(|it| push(all, it)).sum()
            }
            (AccumulatorState::SetUnion(_), Some(other)) => {
                return Err(no_array("$setUnion", other));
            }
            (AccumulatorState::ConcatArrays(_), Some(other)) => {
                return Err(no_array("$concatArrays", other));
            }
            (AccumulatorState::StdDev(deviation, _), Some(value)) => {
                deviation.add(value);
                0
            }
            (AccumulatorState::MergeObjects(_), Some(RawBsonRef::Null | RawBsonRef::Undefined)) => {
                0
            }
            (AccumulatorState::MergeObjects(merged), Some(RawBsonRef::Document(document))) => {
                merged.add(document)?
            }
            (AccumulatorState::MergeObjects(_), Some(other)) => {
                return Err(Error::Expression {
                    operator: "$mergeObjects",
                    reason: format!(
                        "it needs an object, not {}",
                        types::name(other.element_type())
                    )
                    .into(),
                    code: 40_400,
                });
            }
        })
    }

    fn into_value(self) -> RawBson {
        match self {
            AccumulatorState::Plain(state) => state.value(),
            AccumulatorState::First(first) => first.flatten().unwrap_or(RawBson::Null),
            AccumulatorState::Last(last) => last.value.unwrap_or(RawBson::Null),
            AccumulatorState::Push(array) => RawBson::Array(array),
            AccumulatorState::AddToSet(set) | AccumulatorState::SetUnion(set) => {
                RawBson::Array(set.values)
            }
            AccumulatorState::ConcatArrays(array) => RawBson::Array(array),
            AccumulatorState::StdDev(deviation, is_sample) => deviation.value(is_sample),
            AccumulatorState::MergeObjects(merged) => RawBson::Document(merged.into_document()),
            AccumulatorState::Kept(kept) => kept.into_value(),
            AccumulatorState::Quantiles(numbers) => numbers.into_value(&QuantileKind::Median),
        }
    }
}

fn no_array(operator: &'static str, value: RawBsonRef<'_>) -> Error {
    Error::Expression {
        operator,
        reason: format!(
            "it needs an array, not {}",
            types::name(value.element_type())
        )
        .into(),
        code: code::TYPE_MISMATCH,
    }
}

fn push(array: &mut RawArrayBuf, value: RawBsonRef<'_>) -> usize {
    let before = array.as_bytes().len();
    array.push(value);
    array.as_bytes().len() - before
}

/// Values that differ, in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct ValueSet {
    keys: HashSet<Vec<u8>, ahash::RandomState>,
    values: RawArrayBuf,
    /// By which texts are compared.
    collation: Option<Collation>,
}

impl ValueSet {
    fn by(collation: Option<&Collation>) -> Self {
        ValueSet {
            collation: collation.cloned(),
            ..ValueSet::default()
        }
    }

    fn add(&mut self, value: RawBsonRef<'_>) -> usize {
        let key = key::of_by(self.collation.as_ref(), value);
        let memory = key.len() + 2 * size_of::<Vec<u8>>();
        match self.keys.insert(key) {
            true => memory + push(&mut self.values, value),
            false => 0,
        }
    }
}

/// The fields of several documents, each with its last value.
#[derive(Debug, Default)]
pub(super) struct MergedFields {
    fields: Vec<(CString, RawBson)>,
    positions: HashMap<String, usize, ahash::RandomState>,
    bytes: usize,
    most_bytes: usize,
}

impl MergedFields {
    fn add(&mut self, document: &RawDocument) -> Result<usize, Error> {
        for field in fields(document) {
            let field = field?;
            let (name, value) = (field.name(), field.value()?);
            self.bytes += bytes(value);
            match self.positions.get(name) {
                Some(at) => {
                    let old = std::mem::replace(&mut self.fields[*at].1, value.into());
                    self.bytes -= bytes(old.as_raw_bson_ref());
                }
                None => {
                    self.bytes += 2 * (name.len() + size_of::<(CString, RawBson)>());
                    let place = self.fields.len();
                    self.positions.insert(name.to_owned(), place);
                    let name = CString::try_from(name).map_err(malformed)?;
                    self.fields.push((name, value.into()));
                }
            }
        }
        let memory = self.bytes.saturating_sub(self.most_bytes);
        self.most_bytes += memory;
        Ok(memory)
    }

    fn into_document(self) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        for (name, value) in self.fields {
            document.append(name, value);
        }
        document
    }
}
