//! `$group`, and the groups of `$bucket`.

use std::collections::HashMap;

use bson::{
    RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CString, cstr},
};

use super::{
    accumulate::{AccumulatorState, StageAccumulator},
    bounds::{Memory, made},
};
use crate::{Collation, Error, Expr, group::bytes, key, order};

/// The stage `$group`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupStage {
    pub(super) id: GroupId,
    /// The accumulators by the names of their fields.
    pub(super) accumulators: Vec<(CString, StageAccumulator)>,
    /// By which texts are compared.
    pub(super) collation: Option<Collation>,
}

/// The value that the documents of a group share.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GroupId {
    Value(Expr),
    /// The lower bound of the bucket that a value is in.
    Bucket {
        of: Expr,
        /// Values of one class of types in ascending order, two at least. Each but the last one begins a bucket.
        boundaries: Vec<RawBson>,
        /// The key of the values in no bucket.
        default: Option<RawBson>,
    },
}

impl GroupId {
    /// The value of a document. A missing one is null.
    fn of(&self, document: &RawDocument, collation: Option<&Collation>) -> Result<RawBson, Error> {
        match self {
            GroupId::Value(expr) => Ok(expr.evaluate(document)?.unwrap_or(RawBson::Null)),
            GroupId::Bucket {
                of,
                boundaries,
                default,
            } => {
                let value = of.evaluate(document)?;
                let value = value.as_ref().map(RawBson::as_raw_bson_ref);
                let value = value.unwrap_or(RawBsonRef::Undefined);
                let is_reached = |boundary: &RawBson| {
                    order::compare_by(collation, boundary.as_raw_bson_ref(), value).is_le()
                };
                let reached = boundaries.partition_point(is_reached);
                let bucket = match reached < boundaries.len() {
                    true => reached.checked_sub(1).map(|at| &boundaries[at]),
                    false => None,
                };
                let no_bucket = || Error::Expression {
                    operator: "$bucket",
                    reason: "a value is in no bucket, and there is no `default`".into(),
                    code: 40_066,
                };
                bucket.or(default.as_ref()).cloned().ok_or_else(no_bucket)
            }
        }
    }
}

/// Documents that are being grouped.
#[derive(Debug)]
pub(super) struct GroupRun {
    stage: GroupStage,
    /// The groups by their encoded values.
    found: HashMap<Vec<u8>, usize, ahash::RandomState>,
    ids: Vec<RawBson>,
    /// The states of the accumulators of all groups, one group after another.
    states: Vec<AccumulatorState>,
    /// The encoded value of the current document.
    key: Vec<u8>,
    memory: Memory,
}

impl GroupRun {
    pub(super) fn new(stage: GroupStage, memory_limit: usize) -> GroupRun {
        GroupRun {
            stage,
            found: HashMap::default(),
            ids: Vec::new(),
            states: Vec::new(),
            key: Vec::new(),
            memory: Memory::new("$group", memory_limit),
        }
    }

    pub(super) fn add(&mut self, document: &RawDocument) -> Result<(), Error> {
        let collation = self.stage.collation.as_ref();
        let id = self.stage.id.of(document, collation)?;
        self.key.clear();
        key::encode_by(collation, id.as_raw_bson_ref(), &mut self.key);
        let at = match self.found.get(&self.key) {
            Some(at) => *at,
            None => self.begin_group(id)?,
        };
        let accumulators = &self.stage.accumulators;
        let states = self.states[at * accumulators.len()..].iter_mut();
        for ((_, accumulator), state) in accumulators.iter().zip(states) {
            self.memory.take(accumulator.add(document, state)?)?;
        }
        Ok(())
    }

    fn begin_group(&mut self, id: RawBson) -> Result<usize, Error> {
        let at = self.ids.len();
        self.memory.take(
            self.key.len()
                + bytes(id.as_raw_bson_ref())
                + size_of::<RawBson>()
                + 2 * size_of::<(Vec<u8>, usize)>()
                + self.stage.accumulators.len() * size_of::<AccumulatorState>(),
        )?;
        let collation = self.stage.collation.as_ref();
        for (_, accumulator) in &self.stage.accumulators {
            self.states.push(accumulator.begin(&id, collation)?);
        }
        self.found.insert(self.key.clone(), at);
        self.ids.push(id);
        Ok(at)
    }

    /// A document for each group, in the order of their first documents.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Result<RawDocumentBuf, Error>> + use<> {
        self.found.clear();
        let accumulators = std::mem::take(&mut self.stage.accumulators);
        let ids = std::mem::take(&mut self.ids).into_iter();
        let mut states = std::mem::take(&mut self.states).into_iter();
        ids.map(move |id| {
            let mut row = RawDocumentBuf::new();
            row.append(cstr!("_id"), id);
            for ((name, accumulator), state) in accumulators.iter().zip(states.by_ref()) {
                row.append(name, accumulator.value(state));
            }
            made(row)
        })
    }
}
