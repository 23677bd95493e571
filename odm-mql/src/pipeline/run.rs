//! The run of a pipeline.

use std::{collections::VecDeque, fmt};

use bson::RawDocumentBuf;

use super::{
    Pipeline, Stage,
    bounds::check_result,
    each::{EachRun, Passed},
    facet::FacetRun,
    group::GroupRun,
    lookup::LookupRun,
    sort::{SampleRun, SortRun},
    union::UnionRun,
};
use crate::Error;

/// A request for the results of a pipeline on another collection.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRequest {
    /// The name of the collection, in the same database.
    pub from: String,
    /// The stages that its documents pass. Those of a join by equal fields are one `$match`.
    pub pipeline: Pipeline,
}

/// The next step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum PipelineStep {
    /// It needs more documents: [`push`](PipelineRun::push) or [`end`](PipelineRun::end) goes before the next step.
    Read,
    /// It needs all documents of a request: [`answer`](PipelineRun::answer) goes before the next step.
    Lookup(SourceRequest),
    /// It needs the first documents of a request, in portions of any size: [`answer`](PipelineRun::answer) goes before the next step. At
    /// most one such request is open, so that a new one ends the one before.
    Union(SourceRequest),
    /// It needs the documents that follow in the open request, and none if it has no more: [`answer`](PipelineRun::answer) goes before
    /// the next step.
    MoreOfUnion,
    /// These documents have passed all stages.
    Documents(Vec<RawDocumentBuf>),
    /// All documents have passed. This may be so before the end of the collection, by a `$limit`.
    Done,
}

/// A run of a pipeline, which its caller drives step by step.
///
/// The documents leave it as soon as the stages allow, and in portions. It must not be used after an error.
///
/// ```
/// # use std::collections::HashMap;
/// use odm_mql::{Error, Pipeline, PipelineStep, Variables, bson::{RawDocumentBuf, doc, rawdoc}};
///
/// type Collections = HashMap<String, Vec<RawDocumentBuf>>;
///
/// fn aggregate(
///     collections: &Collections,
///     from: &str,
///     pipeline: Pipeline,
/// ) -> Result<Vec<RawDocumentBuf>, Error> {
///     let mut chunks = collections[from].chunks(100);
///     let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
///     let mut results = Vec::new();
///     loop {
///         match run.step()? {
///             PipelineStep::Read => match chunks.next() {
///                 Some(chunk) => run.push(chunk.to_vec()),
///                 None => run.end(),
///             },
///             PipelineStep::Lookup(request) => {
///                 run.answer(aggregate(collections, &request.from, request.pipeline)?);
///             }
///             PipelineStep::Union(request) => {
///                 run.answer(aggregate(collections, &request.from, request.pipeline)?);
///             }
///             // The answer before had all.
///             PipelineStep::MoreOfUnion => run.answer(Vec::new()),
///             PipelineStep::Documents(documents) => results.extend(documents),
///             PipelineStep::Done => return Ok(results),
///         }
///     }
/// }
///
/// let collections = Collections::from([
///     ("orders".to_owned(), vec![rawdoc! { "_id": 1, "item": "almonds" }]),
///     ("inventory".to_owned(), vec![rawdoc! { "_id": 1, "sku": "almonds" }]),
/// ]);
/// let lookup = doc! {
///     "$lookup": { "from": "inventory", "localField": "item", "foreignField": "sku", "as": "stock" },
/// };
/// let pipeline = Pipeline::parse(&[lookup], &Variables::default())?;
/// assert_eq!(
///     aggregate(&collections, "orders", pipeline)?,
///     [rawdoc! { "_id": 1, "item": "almonds", "stock": [{ "_id": 1, "sku": "almonds" }] }]
/// );
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
pub struct PipelineRun {
    stages: Vec<StageState>,
    /// The documents before each stage, and after the last one.
    queues: Vec<VecDeque<RawDocumentBuf>>,
    has_ended: bool,
    /// The stages that wait for an answer, with their requests. Each comes after those before it in the list, and is answered first.
    waiting: Vec<(usize, PipelineStep)>,
}

/// Documents that are made one by one.
pub(super) type Documents = Box<dyn Iterator<Item = Result<RawDocumentBuf, Error>> + Send>;

struct StageState {
    run: StageRun,
    /// Documents that it passes before it takes others.
    pending: Option<Documents>,
    /// Whether it takes no more documents.
    has_ended: bool,
}

#[derive(Debug)]
enum StageRun {
    Each(EachRun),
    Lookup(LookupRun),
    Union(UnionRun),
    Facet(FacetRun),
}

/// The result of a step of a stage.
enum StageStep {
    /// It has passed a portion, or needs more documents.
    Passed,
    /// It takes no more documents.
    Ended,
    /// It needs an answer.
    Asked(PipelineStep),
}

/// The most documents that a stage passes, and about the most bytes of them, before the next stage takes them.
const PORTION: (usize, usize) = (256, 1 << 20);

impl fmt::Debug for StageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageState")
            .field("run", &self.run)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

impl PipelineRun {
    pub(super) fn new(stages: Vec<Stage>, memory_limit: usize) -> PipelineRun {
        let mut states = Vec::with_capacity(stages.len());
        let mut stages = stages.into_iter();
        while let Some(stage) = stages.next() {
            let run = match stage {
                Stage::Match(filter) => StageRun::Each(EachRun::Match(filter)),
                Stage::Project(projection) => StageRun::Each(EachRun::Project(projection)),
                Stage::ReplaceRoot(expr) => StageRun::Each(EachRun::ReplaceRoot(expr)),
                Stage::Unwind(unwind) => StageRun::Each(EachRun::Unwind(unwind)),
                Stage::Skip(skip) => StageRun::Each(EachRun::Skip(skip)),
                Stage::Limit(limit) => StageRun::Each(EachRun::Limit(limit)),
                Stage::Sort(sort) => {
                    let keep = taken_by(stages.as_slice());
                    StageRun::Each(EachRun::Sort(SortRun::new(sort, keep, memory_limit)))
                }
                Stage::Sample(size) => {
                    StageRun::Each(EachRun::Sample(SampleRun::new(size, memory_limit)))
                }
                Stage::Group(group) => {
                    let group = GroupRun::new(group, memory_limit);
                    StageRun::Each(EachRun::Group(Box::new(group)))
                }
                Stage::Lookup(lookup) => StageRun::Lookup(LookupRun::new(*lookup)),
                Stage::Union(union) => StageRun::Union(UnionRun::NotBegun(union)),
                Stage::Facet(facets) => StageRun::Facet(FacetRun::new(facets, memory_limit)),
            };
            states.push(StageState {
                run,
                pending: None,
                has_ended: false,
            });
        }
        PipelineRun {
            queues: (0..=states.len()).map(|_| VecDeque::new()).collect(),
            stages: states,
            has_ended: false,
            waiting: Vec::new(),
        }
    }

    /// Adds documents of the collection. They are ignored after the [end](PipelineRun::end), and once no stage needs more.
    pub fn push(&mut self, documents: Vec<RawDocumentBuf>) {
        if !self.has_ended {
            self.queues[0].extend(documents);
        }
    }

    /// Says that the collection has no more documents.
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Whether no more documents are taken.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Answers a request with the documents that leave its pipeline, in their order: a [lookup](PipelineStep::Lookup) with all, and a
    /// [union](PipelineStep::Union) with some, or with none if there are no more. Without a request it has no effect.
    pub fn answer(&mut self, documents: Vec<RawDocumentBuf>) {
        if let Some((at, _)) = self.waiting.pop() {
            let stage = &mut self.stages[at];
            match &mut stage.run {
                StageRun::Lookup(lookup) => stage.pending = Some(lookup.answer(documents)),
                StageRun::Union(union) if documents.is_empty() => union.end(),
                StageRun::Union(_) => stage.pending = Some(Box::new(documents.into_iter().map(Ok))),
                StageRun::Facet(facet) => facet.answer(documents),
                // It asks for nothing.
                StageRun::Each(_) => {}
            }
        }
    }

    /// Runs the stages until the caller has something to do. A request that was not answered is made again.
    ///
    /// # Errors
    ///
    /// [`MemoryLimit`](Error::MemoryLimit), [`TooLarge`](Error::TooLarge) and [`ResultTooDeep`](Error::ResultTooDeep); the errors of the
    /// filters, projections and expressions in the stages.
    pub fn step(&mut self) -> Result<PipelineStep, Error> {
        let step = self.step_of_any_size()?;
        if let PipelineStep::Documents(documents) = &step {
            let mut each = documents.iter();
            each.try_for_each(|document| check_result(document))?;
        }
        Ok(step)
    }

    /// Does so without a bound on the documents that leave the pipeline, for a caller who divides large ones.
    ///
    /// # Errors
    ///
    /// The others of [`step`](PipelineRun::step).
    pub fn step_of_any_size(&mut self) -> Result<PipelineStep, Error> {
        let last = self.stages.len();
        loop {
            if !self.queues[last].is_empty() {
                let documents = Vec::from(std::mem::take(&mut self.queues[last]));
                return Ok(PipelineStep::Documents(documents));
            }
            // The last stage that can run goes first: so the run holds few documents, and a limit ends it before a request.
            let first = self.waiting.last().map_or(0, |(at, _)| at + 1);
            match (
                (first..last).rev().find(|at| self.can_run(*at)),
                self.waiting.last(),
            ) {
                (Some(at), _) => match self.run_stage(at)? {
                    StageStep::Passed => {}
                    StageStep::Ended => self.end_before(at),
                    StageStep::Asked(request) => self.waiting.push((at, request)),
                },
                (None, Some((_, request))) => return Ok(request.clone()),
                (None, None) if self.gets_no_more(last) => return Ok(PipelineStep::Done),
                (None, None) => return Ok(PipelineStep::Read),
            }
        }
    }

    fn can_run(&self, at: usize) -> bool {
        let stage = &self.stages[at];
        let is_interrupted = matches!(&stage.run, StageRun::Facet(facet) if facet.is_interrupted());
        is_interrupted
            || stage.pending.is_some()
            || !self.queues[at].is_empty()
            || self.gets_no_more(at) && !stage.has_ended
    }

    /// Whether no documents will be added to a queue.
    fn gets_no_more(&self, at: usize) -> bool {
        match at.checked_sub(1).map(|before| &self.stages[before]) {
            None => self.has_ended,
            Some(before) => before.has_ended && before.pending.is_none(),
        }
    }

    /// Lets a stage pass a portion of documents to the next one.
    fn run_stage(&mut self, at: usize) -> Result<StageStep, Error> {
        let ends = self.gets_no_more(at);
        let (before, after) = self.queues.split_at_mut(at + 1);
        let (input, output) = (&mut before[at], &mut after[0]);
        let stage = &mut self.stages[at];
        let mut bytes = 0;
        while output.len() < PORTION.0 && bytes < PORTION.1 {
            let passed = match (&mut stage.pending, &mut stage.run) {
                (Some(pending), _) => match pending.next() {
                    Some(document) => Passed::One(document?),
                    None => {
                        stage.pending = None;
                        continue;
                    }
                },
                (None, _) if input.is_empty() && ends && stage.has_ended => break,
                (None, StageRun::Facet(facet)) => {
                    if let Some(request) = facet.run(input, ends)? {
                        return Ok(StageStep::Asked(request));
                    }
                    if !facet.is_done() {
                        break;
                    }
                    let result = facet.finish();
                    stage.pending = Some(Box::new(std::iter::once(result)));
                    stage.has_ended = true;
                    return Ok(StageStep::Ended);
                }
                (None, StageRun::Lookup(lookup)) if !input.is_empty() => {
                    let mut documents = std::iter::from_fn(|| input.pop_front());
                    if let Some(request) = lookup.take(&mut documents)? {
                        return Ok(StageStep::Asked(PipelineStep::Lookup(request)));
                    }
                    stage.pending = lookup.known();
                    continue;
                }
                (None, StageRun::Lookup(_)) => {
                    stage.has_ended = ends;
                    break;
                }
                (None, StageRun::Union(union)) => match input.pop_front() {
                    Some(document) => Passed::One(document),
                    None if ends => match union.ask() {
                        Some(request) => return Ok(StageStep::Asked(request)),
                        None => {
                            stage.has_ended = true;
                            break;
                        }
                    },
                    None => break,
                },
                (None, StageRun::Each(each)) => match input.pop_front() {
                    Some(document) => each.take(document)?,
                    None if ends => {
                        stage.has_ended = true;
                        stage.pending = each.finish();
                        continue;
                    }
                    None => break,
                },
            };
            match passed {
                Passed::Nothing => {}
                Passed::One(document) => {
                    bytes += document.as_bytes().len();
                    output.push_back(document);
                }
                Passed::Last(document) => {
                    output.push_back(document);
                    stage.has_ended = true;
                    return Ok(StageStep::Ended);
                }
                Passed::Many(documents) => stage.pending = Some(documents),
            }
        }
        Ok(StageStep::Passed)
    }

    /// Ends all stages before a stage that takes no more documents.
    fn end_before(&mut self, at: usize) {
        self.has_ended = true;
        self.waiting.clear();
        for stage in &mut self.stages[..at] {
            stage.has_ended = true;
            stage.pending = None;
        }
        self.queues[..=at].iter_mut().for_each(VecDeque::clear);
    }
}

/// How many documents the stages after a sort take at most.
fn taken_by(stages: &[Stage]) -> usize {
    let mut skipped = 0_u64;
    for stage in stages {
        match stage {
            Stage::Skip(skip) => skipped = skipped.saturating_add(*skip),
            Stage::Limit(limit) => {
                let taken = skipped.saturating_add(*limit);
                return usize::try_from(taken).unwrap_or(usize::MAX);
            }
            _ => break,
        }
    }
    usize::MAX
}
