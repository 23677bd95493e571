//! Aggregation pipelines: the stages that documents pass.

mod accumulate;
mod bounds;
mod each;
mod facet;
mod group;
mod lookup;
mod nested;
mod parse;
mod run;
mod sort;
mod union;
mod unwind;
mod update;

use bson::Document;

use self::{
    group::GroupStage, lookup::LookupStage, parse::PipelineContext, union::UnionStage,
    unwind::UnwindStage,
};
use crate::{Collation, Error, Expr, Filter, Projection, Sort, Variables};

pub use run::{PipelineRun, PipelineStep, SourceRequest};
pub use update::UpdatePipeline;

/// An aggregation pipeline: stages, each of which turns the documents of the stage before into others.
///
/// The documentation of [`mql`](crate) lists the stages. A pipeline does no I/O: a [run](Pipeline::begin) is given the documents of a
/// collection, and asks for the documents of others.
///
/// The stages have the meaning of MongoDB, with these differences: groups come in the order of their first documents, and documents that
/// are equal in the order of `$sort` keep theirs; a document between two stages has at most 64 MiB and 200 levels. `$$NOW` is the time at
/// which the pipeline is parsed, in the pipelines in it too.
///
/// ```
/// use odm_mql::{Pipeline, PipelineStep, Variables, bson::{doc, rawdoc}};
///
/// let stages = [
///     doc! { "$match": { "size": "medium" } },
///     doc! { "$group": { "_id": "$name", "pizzas": { "$sum": "$quantity" } } },
/// ];
/// let pipeline = Pipeline::parse(&stages, &Variables::default())?;
/// let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
/// run.push(vec![
///     rawdoc! { "name": "Vegan", "size": "medium", "quantity": 10 },
///     rawdoc! { "name": "Vegan", "size": "small", "quantity": 20 },
///     rawdoc! { "name": "Vegan", "size": "medium", "quantity": 30 },
/// ]);
/// run.end();
/// let PipelineStep::Documents(groups) = run.step()? else {
///     unreachable!("the pipeline has no `$lookup`, and there is a group");
/// };
/// assert_eq!(groups, [rawdoc! { "_id": "Vegan", "pizzas": 40 }]);
/// # Ok::<_, odm_mql::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    stages: Vec<Stage>,
}

/// A stage. `$addFields`, `$set` and `$unset` are projections; `$count`, `$sortByCount` and `$bucket` are a group and a stage after it.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    Match(Filter),
    Sort(Sort),
    Skip(u64),
    Limit(u64),
    Sample(u64),
    Project(Projection),
    ReplaceRoot(Expr),
    Unwind(UnwindStage),
    Group(GroupStage),
    Lookup(Box<LookupStage>),
    Union(UnionStage),
    Facet(Vec<(String, Pipeline)>),
}

/// The stages at the begin of a pipeline that are one query of a collection: the matching documents in an order, without the first ones and
/// up to a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryPrefix {
    /// The filter that the documents match.
    pub filter: Filter,
    /// Their order; any order if there is none.
    pub sort: Option<Sort>,
    /// The number of documents that are left out at the begin.
    pub skip: u64,
    /// The greatest number of the documents that follow these, which is not 0.
    pub limit: Option<u64>,
}

impl Pipeline {
    /// The memory that one stage of a run may take, in MongoDB by default: 100 MiB.
    pub const MEMORY_LIMIT: usize = 100 << 20;

    /// Parses the stages of a pipeline, with the values of variables in the place of their names.
    ///
    /// # Errors
    ///
    /// [`UnknownStage`](Error::UnknownStage), and [`NotSupported`](Error::NotSupported) for a stage of MongoDB that this library does not
    /// have; the errors of the filters, expressions, projections and sorts in the stages; [`BadOperand`](Error::BadOperand) for any other
    /// argument that a stage does not accept.
    pub fn parse(stages: &[Document], variables: &Variables) -> Result<Pipeline, Error> {
        Pipeline::parse_collated(stages, variables, None)
    }

    /// Parses the stages of a pipeline as [`parse`](Pipeline::parse) does, with a collation by which all texts are compared, also in the
    /// pipelines in it.
    ///
    /// ```
    /// # #[cfg(feature = "collation")] {
    /// use odm_mql::{Collation, Pipeline, PipelineStep, Variables, bson::{doc, rawdoc}};
    ///
    /// let collation = Collation::parse(&doc! { "locale": "en", "strength": 2 })?;
    /// let stages = [doc! { "$group": { "_id": "$name", "n": { "$sum": 1 } } }];
    /// let pipeline = Pipeline::parse_collated(&stages, &Variables::default(), collation.as_ref())?;
    /// let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    /// run.push(vec![rawdoc! { "name": "Vegan" }, rawdoc! { "name": "vegan" }]);
    /// run.end();
    /// assert_eq!(run.step()?, PipelineStep::Documents(vec![rawdoc! { "_id": "Vegan", "n": 2 }]));
    /// # }
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Pipeline::parse).
    pub fn parse_collated(
        stages: &[Document],
        variables: &Variables,
        collation: Option<&Collation>,
    ) -> Result<Pipeline, Error> {
        parse::pipeline(stages, &PipelineContext::new(variables, collation))
    }

    /// Splits the pipeline into a query of the collection and the stages after it.
    ///
    /// The query is made of the first stages that are `$match`, `$sort`, `$skip` or `$limit`, as far as one query has their meaning.
    pub fn split_query(self) -> (QueryPrefix, Pipeline) {
        let mut query = QueryPrefix::default();
        let mut stages = self.stages.into_iter();
        let mut rest = Vec::new();
        for stage in stages.by_ref() {
            let is_whole = query.skip == 0 && query.limit.is_none();
            match (stage, query.limit) {
                (Stage::Match(filter), _) if is_whole => query.filter = query.filter.and(filter),
                (Stage::Sort(sort), _) if is_whole && query.sort.is_none() => {
                    query.sort = Some(sort);
                }
                (Stage::Skip(skip), None) => query.skip = query.skip.saturating_add(skip),
                (Stage::Skip(skip), Some(limit)) if skip < limit => {
                    query.skip = query.skip.saturating_add(skip);
                    query.limit = Some(limit - skip);
                }
                (Stage::Limit(limit), before) => {
                    query.limit = Some(before.map_or(limit, |before| before.min(limit)));
                }
                (stage, _) => {
                    rest.push(stage);
                    break;
                }
            }
        }
        rest.extend(stages);
        (query, Pipeline { stages: rest })
    }

    /// Returns a pipeline of these stages, and then the stages of another one.
    ///
    /// ```
    /// use odm_mql::{Pipeline, Variables, bson::doc};
    ///
    /// let parse = |stage| Pipeline::parse(&[stage], &Variables::default());
    /// let some = parse(doc! { "$match": { "qty": 1 } })?.then(parse(doc! { "$limit": 3 })?);
    /// let (query, rest) = some.split_query();
    /// assert_eq!((query.limit, rest.is_empty()), (Some(3), true));
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    #[must_use]
    pub fn then(mut self, next: Pipeline) -> Pipeline {
        self.stages.extend(next.stages);
        self
    }

    /// Returns whether there are no stages.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Returns the collections that its stages read besides its own: of each `$lookup` and `$unionWith`, also
    /// within other stages.
    ///
    /// ```
    /// use odm_mql::{Pipeline, Variables, bson::doc};
    ///
    /// let join = doc! { "$lookup": { "from": "products", "localField": "product", "foreignField": "_id", "as": "product" } };
    /// let pipeline = Pipeline::parse(&[doc! { "$facet": { "all": [join] } }], &Variables::default())?;
    /// assert_eq!(pipeline.sources(), ["products"]);
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    pub fn sources(&self) -> Vec<&str> {
        let mut sources = Vec::new();
        self.add_sources(&mut sources);
        sources
    }

    fn add_sources<'p>(&'p self, sources: &mut Vec<&'p str>) {
        for stage in &self.stages {
            match stage {
                Stage::Lookup(lookup) => lookup.add_sources(sources),
                Stage::Union(union) => {
                    sources.push(&union.from);
                    union.pipeline.add_sources(sources);
                }
                Stage::Facet(facets) => {
                    for (_, pipeline) in facets {
                        pipeline.add_sources(sources);
                    }
                }
                Stage::Match(_)
                | Stage::Sort(_)
                | Stage::Skip(_)
                | Stage::Limit(_)
                | Stage::Sample(_)
                | Stage::Project(_)
                | Stage::ReplaceRoot(_)
                | Stage::Unwind(_)
                | Stage::Group(_) => {}
            }
        }
    }

    /// Begins to run the pipeline. A stage that must hold documents or groups before it passes any takes at most this memory, in bytes,
    /// about.
    pub fn begin(self, memory_limit: usize) -> PipelineRun {
        PipelineRun::new(self.stages, memory_limit)
    }
}

#[cfg(test)]
mod tests;
