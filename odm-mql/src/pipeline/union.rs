//! `$unionWith`: the documents of another collection after those of the stage before.

use super::{Pipeline, Step, run::SourceRequest};

/// The stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnionStage {
    pub(super) from: String,
    /// The stages that the documents of the other collection pass.
    pub(super) pipeline: Pipeline,
}

/// What of the other collection has been asked for.
#[derive(Debug)]
pub(super) enum UnionRun {
    NotBegun(UnionStage),
    Begun,
    Ended,
}

impl UnionRun {
    /// Asks for the next documents of the other collection. `None` once all of them are there.
    pub(super) fn ask(&mut self) -> Option<Step> {
        match std::mem::replace(self, UnionRun::Begun) {
            UnionRun::NotBegun(stage) => Some(Step::Union(SourceRequest {
                from: stage.from,
                pipeline: stage.pipeline,
            })),
            UnionRun::Begun => Some(Step::MoreOfUnion),
            UnionRun::Ended => {
                *self = UnionRun::Ended;
                None
            }
        }
    }

    /// Says that the other collection has no more documents.
    pub(super) fn end(&mut self) {
        *self = UnionRun::Ended;
    }
}
