//! The accumulators that keep some of the values of a group: `$firstN`, `$lastN`, `$maxN`, `$minN`, `$top`, `$topN`, `$bottom` and
//! `$bottomN`.

use std::collections::VecDeque;

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf, raw::CString};

use super::ranked::{Rank, RankedValues};
use crate::{
    Collation, Error, Expr, Sort,
    expr::at_path,
    group::bytes,
    key, number,
    pipeline::parse::{self, StageScope},
    types::{self, bad_as, unknown},
    write::malformed,
};

/// Which values of a group are kept, and how many.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptValues {
    name: &'static str,
    choice: Choice,
    /// How many, as an expression of the value that the documents of the group share. Without it one, which is not in an array.
    n: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
enum Choice {
    First,
    Last,
    ByValue(Rank),
    BySort(Rank, SortKeys),
}

/// The order of the documents whose values are kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SortKeys {
    /// The paths of expressions, which go through arrays as those do.
    paths: Vec<(CString, String)>,
    /// The order of the values at these paths, each in a field.
    sort: Sort,
}

/// The names of the accumulators.
const NAMES: [&str; 8] = [
    "$firstN", "$lastN", "$maxN", "$minN", "$top", "$topN", "$bottom", "$bottomN",
];

impl KeptValues {
    /// Parses the accumulator of a name, if it is one of these, with the expression of its values.
    pub(super) fn parse(
        name: &str,
        operand: &Bson,
        scope: &StageScope<'_>,
    ) -> Option<Result<(KeptValues, Expr), Error>> {
        let name = NAMES.into_iter().find(|other| *other == name)?;
        Some(match name {
            "$top" | "$topN" | "$bottom" | "$bottomN" => sorted(name, operand, scope),
            _ => unsorted(name, operand, scope),
        })
    }

    /// The state of a group without values.
    pub(super) fn begin(
        &self,
        id: &RawBson,
        collation: Option<&Collation>,
    ) -> Result<KeptState, Error> {
        let most = match &self.n {
            Some(n) => self.most(n, id)?,
            None => 1,
        };
        Ok(match self.choice {
            Choice::First => KeptState::First(most, Vec::new()),
            Choice::Last => KeptState::Last(most, VecDeque::new(), Peak::default()),
            Choice::ByValue(rank) => {
                KeptState::ByValue(RankedValues::new(rank, most), collation.cloned())
            }
            Choice::BySort(rank, _) => {
                KeptState::BySort(RankedValues::new(rank, most), self.n.is_none())
            }
        })
    }

    fn most(&self, n: &Expr, id: &RawBson) -> Result<usize, Error> {
        let value = match id {
            RawBson::Document(id) => n.evaluate(id),
            _ => n.evaluate(&RawDocumentBuf::new()),
        }?;
        let whole = value.as_ref().map(RawBson::as_raw_bson_ref);
        let whole = whole.and_then(number::whole).filter(|n| *n > 0);
        let found = value.map_or("missing", |value| types::name(value.element_type()));
        match whole {
            // There are never more values than that.
            Some(n) => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
            None => Err(Error::Expression {
                operator: self.name,
                reason: format!(
                    "`n` must be a positive whole number of 64 bits: it is of type {found}"
                )
                .into(),
                code: 7_548_606,
            }),
        }
    }

    /// The order of the documents, if it is not that of the values.
    pub(super) fn sort_keys(&self) -> Option<&SortKeys> {
        match &self.choice {
            Choice::BySort(_, keys) => Some(keys),
            Choice::First | Choice::Last | Choice::ByValue(_) => None,
        }
    }
}

fn unsorted(
    name: &'static str,
    operand: &Bson,
    scope: &StageScope<'_>,
) -> Result<(KeptValues, Expr), Error> {
    let (choice, no_document) = match name {
        "$firstN" => (Choice::First, 5_787_801),
        "$lastN" => (Choice::Last, 5_787_801),
        "$maxN" => (Choice::ByValue(Rank::GreatestFirst), 5_787_900),
        _ => (Choice::ByValue(Rank::Least), 5_787_900),
    };
    let bad = |code, expected| bad_as(code, name, expected);
    let Bson::Document(arguments) = operand else {
        return Err(bad(no_document, "an object of its arguments"));
    };
    check_names(arguments, &["n", "input"], 5_787_901)?;
    let n = arguments.get("n").ok_or_else(|| bad(5_787_906, "`n`"))?;
    let input = arguments.get("input");
    let input = input.ok_or_else(|| bad(5_787_907, "an `input`"))?;
    let n = Some(scope.expr(n)?);
    Ok((KeptValues { name, choice, n }, scope.expr(input)?))
}

fn sorted(
    name: &'static str,
    operand: &Bson,
    scope: &StageScope<'_>,
) -> Result<(KeptValues, Expr), Error> {
    let bad = |code, expected| bad_as(code, name, expected);
    let Bson::Document(arguments) = operand else {
        return Err(bad(5_788_001, "an object of its arguments"));
    };
    let has_n = name.ends_with('N');
    let names: &[&str] = if has_n {
        &["n", "output", "sortBy"]
    } else {
        &["output", "sortBy"]
    };
    check_names(arguments, names, 5_788_002)?;
    let n = match arguments.get("n") {
        Some(n) => Some(scope.expr(n)?),
        None if has_n => return Err(bad(5_788_003, "`n`")),
        None => None,
    };
    let output = arguments.get("output");
    let output = output.ok_or_else(|| bad(5_788_004, "an `output`"))?;
    let keys = match arguments.get("sortBy") {
        Some(Bson::Document(by)) if by.is_empty() => {
            return Err(bad(9_657_900, "a `sortBy` with at least one field"));
        }
        Some(Bson::Document(by)) => SortKeys::new(&parse::sort(by)?, scope.collation())?,
        Some(_) => return Err(bad(10_065, "an object as `sortBy`")),
        None => return Err(bad(5_788_005, "a `sortBy`")),
    };
    let rank = if name.starts_with("$top") {
        Rank::Least
    } else {
        Rank::Greatest
    };
    let choice = Choice::BySort(rank, keys);
    Ok((KeptValues { name, choice, n }, scope.expr(output)?))
}

fn check_names(arguments: &Document, names: &[&str], code: i32) -> Result<(), Error> {
    let mut keys = arguments.keys();
    match keys.find(|key| !names.contains(&key.as_str())) {
        Some(other) => Err(unknown(code, other)),
        None => Ok(()),
    }
}

impl SortKeys {
    fn new(by: &Sort, collation: Option<&Collation>) -> Result<SortKeys, Error> {
        let (mut paths, mut sort) = (Vec::new(), Sort::new());
        for (at, (path, direction)) in by.keys().iter().enumerate() {
            let name = at.to_string();
            sort = sort.by(name.clone(), *direction);
            paths.push((
                CString::try_from(name).map_err(malformed)?,
                path.to_string(),
            ));
        }
        let sort = sort.collated(collation);
        Ok(SortKeys { paths, sort })
    }

    /// Bytes that sort as the documents do.
    pub(super) fn key(&self, document: &RawDocument) -> Vec<u8> {
        let mut values = RawDocumentBuf::new();
        for (name, path) in &self.paths {
            if let Some(value) = at_path(document, path, &mut 0) {
                values.append(name, value);
            }
        }
        self.sort.encode_key(&values)
    }
}

/// The values of one group.
#[derive(Debug)]
pub(in crate::pipeline) enum KeptState {
    /// The greatest number of values, and the values.
    First(usize, Vec<RawBson>),
    /// The greatest number of values, and the values, with the memory that they take.
    Last(usize, VecDeque<RawBson>, Peak),
    /// By the values, with the collation of texts.
    ByValue(RankedValues, Option<Collation>),
    /// By the keys of documents, and whether it is one value.
    BySort(RankedValues, bool),
}

impl KeptState {
    /// Whether no value changes it any more.
    pub(super) fn is_full(&self) -> bool {
        matches!(self, KeptState::First(most, values) if values.len() >= *most)
    }

    /// Adds a value, with the key of its document if that has one, and returns the memory that it takes.
    pub(super) fn add(&mut self, value: Option<RawBson>, key: Option<Vec<u8>>) -> usize {
        let value = value.unwrap_or(RawBson::Null);
        match self {
            KeptState::First(..) if self.is_full() => 0,
            KeptState::First(_, values) => {
                let taken = memory(&value);
                values.push(value);
                taken
            }
            KeptState::Last(most, values, peak) => {
                let taken = memory(&value);
                values.push_back(value);
                let last = if values.len() > *most {
                    values.pop_front()
                } else {
                    None
                };
                peak.change(taken, last.as_ref().map_or(0, memory))
            }
            KeptState::ByValue(_, _) if matches!(value, RawBson::Null | RawBson::Undefined) => 0,
            KeptState::ByValue(values, collation) => {
                let key = key::of_by(collation.as_ref(), value.as_raw_bson_ref());
                values.add(key, value)
            }
            KeptState::BySort(values, _) => values.add(key.unwrap_or_default(), value),
        }
    }

    pub(super) fn into_value(self) -> RawBson {
        match self {
            KeptState::First(_, values) => RawBson::Array(values.into_iter().collect()),
            KeptState::Last(_, values, _) => RawBson::Array(values.into_iter().collect()),
            KeptState::BySort(values, true) => values.into_first().unwrap_or(RawBson::Null),
            KeptState::ByValue(values, _) | KeptState::BySort(values, false) => {
                RawBson::Array(values.into_array())
            }
        }
    }
}

fn memory(value: &RawBson) -> usize {
    bytes(value.as_raw_bson_ref()) + size_of::<RawBson>()
}

/// Memory that is taken and freed, and the most of it so far.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Peak {
    now: usize,
    most: usize,
}

impl Peak {
    /// Takes and frees memory, and returns by how much the most of it grows.
    pub(super) fn change(&mut self, taken: usize, freed: usize) -> usize {
        self.now = self.now.saturating_add(taken).saturating_sub(freed);
        let grown = self.now.saturating_sub(self.most);
        self.most += grown;
        grown
    }
}
