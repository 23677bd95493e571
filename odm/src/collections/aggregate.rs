//! Aggregation pipelines.

use std::{
    collections::VecDeque,
    fmt,
    future::IntoFuture,
    sync::{Arc, Mutex, PoisonError},
};

use bson::RawDocumentBuf;
use futures_core::future::BoxFuture;
use odm_mql::{
    Error as QueryError, Pipeline, PipelineRun, PipelineStep, QueryPrefix, SourceRequest, code,
};
use odm_store::{Find, Result};

use super::Collection;
use crate::{
    catalog::ParsedViews,
    repository::DocumentStream,
    session::{Session, SnapshotGuard},
};

/// How many documents a run is given at once.
const CHUNK: usize = 256;

/// An aggregation, from [`Collection::aggregate`]. Awaiting it returns the documents that leave the pipeline.
///
/// All of it reads one state of the data, also of a [view](Collection::create_view). The first stages are a query of the store, as far as
/// they can be.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, mql::{Pipeline, Variables}};
///
/// let most = [doc! { "$sort": { "qty": -1 } }, doc! { "$limit": 1 }];
/// let most = Pipeline::parse(&most, &Variables::default())?;
/// let found = Collections::of(&shop).collection("parts").aggregate(most).await?;
/// assert_eq!(found[0].get_str("name").unwrap(), "washer");
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a query does nothing until it is awaited"]
pub struct AggregateDocuments {
    session: Session,
    collection: String,
    pipeline: Pipeline,
    memory_limit: usize,
}

impl AggregateDocuments {
    pub(super) fn new(collection: &Collection, pipeline: Pipeline) -> Self {
        AggregateDocuments {
            session: collection.session.clone(),
            collection: collection.name.clone(),
            pipeline,
            memory_limit: Pipeline::MEMORY_LIMIT,
        }
    }

    /// Sets the memory that each stage may take, and each `$lookup` for the documents that it finds, in bytes:
    /// [`Pipeline::MEMORY_LIMIT`] by default.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, ErrorKind, bson::doc, mql::{Pipeline, Variables}};
    ///
    /// let all = [doc! { "$group": { "_id": null, "names": { "$push": "$name" } } }];
    /// let all = Pipeline::parse(&all, &Variables::default())?;
    /// let refused = Collections::of(&shop).collection("parts").aggregate(all).memory_limit(10).await;
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::Limit);
    /// # Ok(()) });
    /// ```
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Returns the collection whose documents are read, and the query that finds them: of the view and its pipeline, if it is one.
    /// The other stages follow.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, collections::View, mql::Pipeline};
    ///
    /// let few = Collections::of(&shop).collection("few");
    /// few.create_view(View::new("parts", [doc! { "$limit": 2 }])).await?;
    /// let (collection, query) = few.aggregate(Pipeline::default()).query().await?;
    /// assert_eq!((collection.as_str(), query.limit), ("parts", Some(2)));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a read.
    pub async fn query(self) -> Result<(String, QueryPrefix)> {
        self.session.follow_catalog().await?;
        let catalog = self.session.catalog();
        let mut views = ParsedViews::default();
        let (collection, pipeline) = views.through(&catalog, self.collection, self.pipeline)?;
        Ok((collection, pipeline.split_query().0))
    }

    /// Reads the documents one after another, as they leave the pipeline, for results that are too large to be held. The store keeps the
    /// state of the data as long as the cursor lives.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Pipeline, Variables}};
    ///
    /// let cheap = Pipeline::parse(&[doc! { "$unwind": "$tags" }], &Variables::default())?;
    /// let mut tags = Collections::of(&shop).collection("parts").aggregate(cheap).cursor().await?;
    /// while let Some(part) = tags.try_next().await? {
    ///     println!("{}", part.get_str("tags").unwrap());
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn cursor(self) -> Result<AggregateCursor> {
        self.session.follow_catalog().await?;
        let (session, ending) = self.session.snapshot().await?;
        let scope = RunScope {
            session,
            views: Arc::default(),
            memory_limit: self.memory_limit,
        };
        let run = Run::new(&scope, self.collection, self.pipeline)?;
        Ok(AggregateCursor {
            run,
            results: VecDeque::new(),
            _ending: ending,
        })
    }
}

impl IntoFuture for AggregateDocuments {
    type Output = Result<Vec<RawDocumentBuf>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut cursor = self.cursor().await?;
            let mut documents = Vec::new();
            while let Some(more) = cursor.run.next().await? {
                documents.extend(more);
            }
            Ok(documents)
        })
    }
}

/// Documents that leave a pipeline one after another, from [`AggregateDocuments::cursor`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Pipeline};
///
/// let parts = Collections::of(&shop).collection("parts");
/// let mut cursor = parts.aggregate(Pipeline::default()).cursor().await?;
/// assert_eq!(cursor.try_next().await?.unwrap().get_str("name").unwrap(), "bolt");
/// # Ok(()) });
/// ```
#[must_use = "a cursor does nothing unless it is read"]
pub struct AggregateCursor {
    run: Run,
    results: VecDeque<RawDocumentBuf>,
    _ending: SnapshotGuard,
}

impl AggregateCursor {
    /// Waits for the next document. `None` at the end.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Pipeline, Variables}};
    ///
    /// let count = Pipeline::parse(&[doc! { "$count": "parts" }], &Variables::default())?;
    /// let mut cursor = Collections::of(&shop).collection("parts").aggregate(count).cursor().await?;
    /// assert_eq!(cursor.try_next().await?.unwrap().get_i32("parts").unwrap(), 3);
    /// assert!(cursor.try_next().await?.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the stages. Nothing follows an error.
    pub async fn try_next(&mut self) -> Result<Option<RawDocumentBuf>> {
        loop {
            if let Some(document) = self.results.pop_front() {
                return Ok(Some(document));
            }
            match self.run.next().await? {
                Some(more) => self.results.extend(more),
                None => return Ok(None),
            }
        }
    }
}

impl fmt::Debug for AggregateCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggregateCursor").finish_non_exhaustive()
    }
}

/// The common scope of all runs of an aggregation.
#[derive(Clone)]
struct RunScope {
    session: Session,
    views: Arc<Mutex<ParsedViews>>,
    memory_limit: usize,
}

/// A pipeline, and the documents of the collection that have not passed it yet.
struct Run {
    scope: RunScope,
    documents: DocumentStream<RawDocumentBuf>,
    pipeline: PipelineRun,
    /// The run of the `$unionWith` whose documents are read.
    union: Option<Box<Run>>,
    has_ended: bool,
}

impl Run {
    fn new(scope: &RunScope, collection: String, pipeline: Pipeline) -> Result<Self> {
        let session = &scope.session;
        let (collection, pipeline) = {
            let mut views = scope.views.lock().unwrap_or_else(PoisonError::into_inner);
            views.through(&session.catalog(), collection, pipeline)?
        };
        let (query, rest) = pipeline.split_query();
        let find = Find {
            collection,
            filter: query.filter,
            sort: query.sort.unwrap_or_default(),
            skip: query.skip,
            limit: query.limit,
            ..Find::default()
        };
        Ok(Run {
            documents: DocumentStream::of_find(session.clone(), find),
            scope: scope.clone(),
            pipeline: rest.begin(scope.memory_limit),
            union: None,
            has_ended: false,
        })
    }

    /// The next documents that leave the pipeline. `None` at the end, and after an error.
    async fn next(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        if self.has_ended {
            return Ok(None);
        }
        let next = self.run().await;
        self.has_ended = !matches!(next, Ok(Some(_)));
        next
    }

    async fn run(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        loop {
            match self.pipeline.step()? {
                PipelineStep::Documents(documents) => return Ok(Some(documents)),
                PipelineStep::Done => return Ok(None),
                PipelineStep::Read => {
                    let chunk = self.read().await?;
                    match chunk.is_empty() {
                        true => self.pipeline.end(),
                        false => self.pipeline.push(chunk),
                    }
                }
                PipelineStep::Lookup(request) => {
                    let found = look_up(&self.scope, request).await?;
                    self.pipeline.answer(found);
                }
                PipelineStep::Union(SourceRequest { from, pipeline }) => {
                    let run = Run::new(&self.scope, from, pipeline)?;
                    self.union = Some(Box::new(run));
                    self.unite().await?;
                }
                PipelineStep::MoreOfUnion => self.unite().await?,
            }
        }
    }

    /// Answers with the next documents of the `$unionWith`.
    async fn unite(&mut self) -> Result<()> {
        let documents = match &mut self.union {
            Some(run) => run.next_boxed().await?,
            None => None,
        };
        self.pipeline.answer(documents.unwrap_or_default());
        Ok(())
    }

    /// A union can be in the pipeline of another.
    fn next_boxed(&mut self) -> BoxFuture<'_, Result<Option<Vec<RawDocumentBuf>>>> {
        Box::pin(self.next())
    }

    async fn read(&mut self) -> Result<Vec<RawDocumentBuf>> {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK {
            match self.documents.try_next().await? {
                Some(document) => chunk.push(document),
                None => break,
            }
        }
        Ok(chunk)
    }
}

/// All documents that leave the pipeline of a `$lookup`.
fn look_up(scope: &RunScope, request: SourceRequest) -> BoxFuture<'_, Result<Vec<RawDocumentBuf>>> {
    Box::pin(async move {
        let memory_limit = scope.memory_limit;
        let mut run = Run::new(scope, request.from, request.pipeline)?;
        let (mut found, mut bytes) = (Vec::new(), 0_usize);
        while let Some(documents) = run.next().await? {
            let sizes = documents.iter().map(|document| document.as_bytes().len());
            bytes = sizes.fold(bytes, usize::saturating_add);
            if bytes > memory_limit {
                let error = QueryError::MemoryLimit {
                    stage: "$lookup",
                    limit: memory_limit,
                    code: code::MEMORY_LIMIT,
                };
                return Err(error.into());
            }
            found.extend(documents);
        }
        Ok(found)
    })
}
