//! The stages that take documents one by one.

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{
    bounds::made,
    group::GroupRun,
    run::Documents,
    sort::{SampleRun, SortRun},
    unwind::{UnwindStage, Unwound},
};
use crate::{Error, Expr, Filter, Projection, types};

/// The run of such a stage.
#[derive(Debug)]
pub(super) enum EachRun {
    Match(Filter),
    Project(Projection),
    ReplaceRoot(Expr),
    Unwind(UnwindStage),
    /// The number of documents that it still leaves out.
    Skip(u64),
    /// The number of documents that it still passes.
    Limit(u64),
    Sort(SortRun),
    Sample(SampleRun),
    Group(Box<GroupRun>),
}

/// The documents that a stage makes of one.
pub(super) enum Passed {
    Nothing,
    One(RawDocumentBuf),
    /// The last document: the stage takes no more.
    Last(RawDocumentBuf),
    Many(Documents),
}

impl EachRun {
    pub(super) fn take(&mut self, document: RawDocumentBuf) -> Result<Passed, Error> {
        Ok(match self {
            EachRun::Match(filter) => match filter.matches(&document)? {
                true => Passed::One(document),
                false => Passed::Nothing,
            },
            EachRun::Project(projection) => Passed::One(projection.apply(&document)?),
            EachRun::ReplaceRoot(expr) => Passed::One(replace_root(expr, &document)?),
            EachRun::Unwind(unwind) => match unwind.unwind(document)? {
                Unwound::Whole(None) => Passed::Nothing,
                Unwound::Whole(Some(document)) => Passed::One(document),
                Unwound::Elements(elements) => Passed::Many(Box::new(elements)),
            },
            EachRun::Skip(0) => Passed::One(document),
            EachRun::Skip(left) => {
                *left -= 1;
                Passed::Nothing
            }
            EachRun::Limit(left @ 2..) => {
                *left -= 1;
                Passed::One(document)
            }
            EachRun::Limit(_) => Passed::Last(document),
            EachRun::Sort(sort) => {
                sort.add(document)?;
                Passed::Nothing
            }
            EachRun::Sample(sample) => {
                sample.add(document)?;
                Passed::Nothing
            }
            EachRun::Group(group) => {
                group.add(&document)?;
                Passed::Nothing
            }
        })
    }

    /// The documents that it passes after it has taken the last one.
    pub(super) fn finish(&mut self) -> Option<Documents> {
        match self {
            EachRun::Sort(sort) => Some(Box::new(sort.finish().map(Ok))),
            EachRun::Sample(sample) => Some(Box::new(sample.finish().map(Ok))),
            EachRun::Group(group) => Some(Box::new(group.finish())),
            EachRun::Match(_)
            | EachRun::Project(_)
            | EachRun::ReplaceRoot(_)
            | EachRun::Unwind(_)
            | EachRun::Skip(_)
            | EachRun::Limit(_) => None,
        }
    }
}

pub(super) fn replace_root(expr: &Expr, document: &RawDocument) -> Result<RawDocumentBuf, Error> {
    let found = match expr.evaluate(document)? {
        Some(RawBson::Document(root)) => return made(root),
        Some(other) => types::name(other.element_type()),
        None => "a missing value",
    };
    Err(Error::Expression {
        operator: "$replaceRoot",
        reason: format!("the new document must be an object, not {found}").into(),
        code: 40_228,
    })
}
