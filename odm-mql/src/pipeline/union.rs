//! `$unionWith`: the documents of another collection after the documents of the stage before.

use super::{Pipeline, PipelineStep, run::SourceRequest};

/// The stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnionStage {
    pub(super) from: String,
    /// The stages that the documents of the other collection pass.
    pub(super) pipeline: Pipeline,
}

/// The part of the other collection that has been requested.
#[derive(Debug)]
pub(super) enum UnionRun {
    NotBegun(UnionStage),
    Begun,
    Ended,
}

impl UnionRun {
    /// Asks for the next documents of the other collection. `None` once all of them are there.
    pub(super) fn ask(&mut self) -> Option<PipelineStep> {
        match std::mem::replace(self, UnionRun::Begun) {
            UnionRun::NotBegun(stage) => Some(PipelineStep::Union(SourceRequest {
                from: stage.from,
                pipeline: stage.pipeline,
            })),
            UnionRun::Begun => Some(PipelineStep::MoreOfUnion),
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
