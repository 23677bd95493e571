//! `$facet`: several pipelines on the same documents.

use std::collections::VecDeque;

use bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf, raw::CString};

use super::{
    Pipeline,
    bounds::{Memory, made},
    run::{PipelineRun, PipelineStep},
};
use crate::{Error, write::malformed};

/// The runs of all pipelines.
#[derive(Debug)]
pub(super) struct FacetRun {
    facets: Vec<Facet>,
    /// The pipeline that asks for documents of another collection, or has got them.
    interrupted: Option<usize>,
    memory: Memory,
}

#[derive(Debug)]
struct Facet {
    name: String,
    run: PipelineRun,
    results: RawArrayBuf,
    is_done: bool,
}

impl FacetRun {
    pub(super) fn new(facets: Vec<(String, Pipeline)>, memory_limit: usize) -> FacetRun {
        let facet = |(name, pipeline): (String, Pipeline)| Facet {
            name,
            run: pipeline.begin(memory_limit),
            results: RawArrayBuf::new(),
            is_done: false,
        };
        FacetRun {
            facets: facets.into_iter().map(facet).collect(),
            interrupted: None,
            memory: Memory::of_facet(memory_limit),
        }
    }

    /// Passes all documents to each pipeline, up to a request of one of them.
    pub(super) fn run(
        &mut self,
        documents: &mut VecDeque<RawDocumentBuf>,
        ends: bool,
    ) -> Result<Option<PipelineStep>, Error> {
        loop {
            if let Some(request) = self.drive()? {
                return Ok(Some(request));
            }
            let ends = ends && !self.has_ended();
            if documents.is_empty() && !ends {
                return Ok(None);
            }
            let documents = Vec::from(std::mem::take(documents));
            for facet in self.facets.iter_mut().filter(|facet| !facet.is_done) {
                facet.run.push(documents.clone());
                if ends {
                    facet.run.end();
                }
            }
        }
    }

    fn drive(&mut self) -> Result<Option<PipelineStep>, Error> {
        for (at, facet) in self.facets.iter_mut().enumerate() {
            loop {
                match facet.run.step()? {
                    PipelineStep::Documents(documents) => {
                        for document in documents {
                            self.memory.take(document.as_bytes().len())?;
                            facet.results.push(RawBsonRef::Document(&document));
                        }
                    }
                    request @ (PipelineStep::Lookup(_)
                    | PipelineStep::Union(_)
                    | PipelineStep::MoreOfUnion) => {
                        self.interrupted = Some(at);
                        return Ok(Some(request));
                    }
                    PipelineStep::Read => break,
                    PipelineStep::Done => {
                        facet.is_done = true;
                        break;
                    }
                }
            }
        }
        self.interrupted = None;
        Ok(None)
    }

    pub(super) fn answer(&mut self, documents: Vec<RawDocumentBuf>) {
        if let Some(at) = self.interrupted {
            self.facets[at].run.answer(documents);
        }
    }

    /// Whether a pipeline was interrupted by a request, and goes on without more documents.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some()
    }

    /// Whether no pipeline takes more documents.
    pub(super) fn is_done(&self) -> bool {
        self.facets.iter().all(|facet| facet.is_done)
    }

    fn has_ended(&self) -> bool {
        self.facets.iter().all(|facet| facet.run.has_ended())
    }

    /// The document of all results.
    pub(super) fn finish(&mut self) -> Result<RawDocumentBuf, Error> {
        let mut document = RawDocumentBuf::new();
        for facet in std::mem::take(&mut self.facets) {
            let name = CString::try_from(facet.name).map_err(malformed)?;
            document.append(name, facet.results);
        }
        made(document)
    }
}
