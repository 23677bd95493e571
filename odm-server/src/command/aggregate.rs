//! `aggregate`.

mod sources;

use odm::{
    Collections,
    bson::{
        Bson, Document, RawArray, RawBson, RawBsonRef, RawDocumentBuf,
        raw::{CString, cstr},
    },
    collections::AggregateCursor,
    mql::{Collation, Pipeline, PipelineStep, QueryPrefix},
};

use self::sources::SourceStage;
use super::{
    Access, Command, Context, change_stream,
    count::number_of,
    cursors::{self, FirstBatch},
    find::Query,
    namespace, no_snapshot,
};
use crate::{
    arguments::Arguments,
    cursor::{Cursor, Documents},
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "aggregate",
    Access::Read,
    |context, arguments| Box::pin(aggregate(context, arguments)),
)];

/// The collection of the reply to a pipeline of a database.
pub(super) const OF_DATABASE: &str = "$cmd.aggregate";

/// The arguments of `aggregate`.
#[derive(Debug)]
pub(super) struct Aggregation<'a> {
    pub(super) collection: &'a str,
    /// The stage that makes the documents, if they do not come from the collection.
    source: Option<SourceStage>,
    pipeline: Pipeline,
    /// The count of the documents that the pipeline finds, if it ends with it. The stages before it are one query.
    count: Option<(QueryPrefix, Count)>,
    batch: FirstBatch,
    collation: Option<Collation>,
    /// The collections that are read.
    reads: Vec<String>,
}

/// A stage that counts all documents.
#[derive(Debug)]
struct Count {
    /// The `_id` of the document with the number, if it has one.
    id: Option<RawBson>,
    field: String,
}

async fn aggregate(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    if let Some(stage) = change_stream::asked(&arguments) {
        check_place(context, "$changeStream")?;
        return change_stream::open(context, arguments, stage).await;
    }
    let aggregation = Aggregation::take(context, &mut arguments)?;
    arguments.refuse_true("explain")?;
    arguments.end()?;
    aggregation.run(context).await
}

/// Takes the collection of a pipeline, or [`OF_DATABASE`].
pub(super) fn take_collection<'a>(
    context: Context<'_>,
    arguments: &mut Arguments<'a>,
) -> Result<&'a str> {
    match arguments.optional::<RawBsonRef<'_>>("aggregate")? {
        Some(RawBsonRef::String(name)) => {
            namespace::check(context, name)?;
            Ok(name)
        }
        Some(RawBsonRef::Int32(1) | RawBsonRef::Int64(1)) => Ok(OF_DATABASE),
        Some(RawBsonRef::Double(1.0)) => Ok(OF_DATABASE),
        other => {
            let message =
                "Invalid command format: the 'aggregate' field must specify a collection name or 1";
            let is_number = matches!(
                other,
                Some(RawBsonRef::Int32(_) | RawBsonRef::Int64(_) | RawBsonRef::Double(_))
            );
            let code = if is_number {
                code::BAD_VALUE
            } else {
                code::INVALID_NAMESPACE
            };
            Err(CommandError::new(code, message))
        }
    }
}

/// Reads the stages of a pipeline.
pub(super) fn stages(stages: &RawArray) -> Result<Vec<Document>> {
    let stages = stages.into_iter().map(|stage| match stage? {
        RawBsonRef::Document(stage) => Ok(Document::try_from(stage)?),
        _ => {
            let message = "Each element of the 'pipeline' array must be an object";
            Err(CommandError::new(code::TYPE_MISMATCH, message))
        }
    });
    stages.collect()
}

impl<'a> Aggregation<'a> {
    /// Takes the arguments of `aggregate`.
    pub(super) fn take(context: Context<'_>, arguments: &mut Arguments<'a>) -> Result<Self> {
        let collection = take_collection(context, arguments)?;
        arguments.take_variables()?;
        arguments.take_collation()?;
        let mut stages = stages(arguments.required("pipeline")?)?;
        if stages
            .iter()
            .any(|stage| stage.contains_key("$changeStream"))
        {
            return Err(change_stream::misplaced());
        }
        let batch = FirstBatch::take_required(arguments)?;
        arguments.refuse("hint")?;
        // It is about what `$out` and `$merge` write.
        arguments.flag("bypassDocumentValidation")?;
        arguments.boolean("allowDiskUse")?;
        let source = SourceStage::of(context, &stages, arguments.variables())?;
        if let Some(source) = &source {
            source.check_namespace(context.database, collection)?;
            if arguments.is_of_view() && !source.is_constant() {
                return Err(namespace::view_not_supported(context, collection));
            }
            if !source.is_constant() {
                check_place(context, source.name())?;
            }
            stages.remove(0);
        }
        let is_of_database = source.as_ref().is_some_and(SourceStage::is_of_database);
        if is_of_database != (collection == OF_DATABASE) {
            let message = match is_of_database {
                true => "the first stage must be run with {aggregate: 1}",
                false => "{aggregate: 1} is not valid for these stages: name a collection",
            };
            return Err(CommandError::new(code::INVALID_NAMESPACE, message));
        }
        let collation = arguments.collation();
        let parse = |stages: &[Document]| {
            Pipeline::parse_collated(stages, arguments.variables(), collation)
        };
        let count = match stages.split_last() {
            Some((last, before)) if source.is_none() && !arguments.is_of_view() => {
                let query = parse(before)?.split_query();
                let (query, _) = Some(query).filter(|(_, rest)| rest.is_empty()).unzip();
                query.zip(Count::of(last))
            }
            _ => None,
        };
        let pipeline = parse(&stages)?;
        if context.unit.is_some() && has_union(&stages) {
            return Err(not_in_transaction("$unionWith"));
        }
        let of_collection = Some(collection).filter(|name| *name != OF_DATABASE);
        let reads = pipeline.sources().into_iter().chain(of_collection);
        let reads: Vec<String> = reads.map(str::to_owned).collect();
        for name in &reads {
            context.check_read("aggregate", name)?;
        }
        Ok(Aggregation {
            collection,
            source,
            reads,
            pipeline,
            count,
            batch,
            collation: collation.cloned(),
        })
    }

    /// Refuses to read a view in a stage by another collation than its own.
    async fn check_views(&self, context: Context<'_>) -> Result<()> {
        let Some(collections) = context.collections() else {
            return Ok(());
        };
        for name in self.pipeline.sources() {
            let view = collections.collection(name).view().await?;
            if view.is_some_and(|view| view.collation != self.collation) {
                return Err(namespace::other_collation(context, name));
            }
        }
        Ok(())
    }

    async fn run(self, context: Context<'_>) -> Result<RawDocumentBuf> {
        self.check_views(context).await?;
        let collections = context.collections();
        let of_collection = collections.map(|all| all.collection(self.collection));
        let documents = match (self.source, of_collection, self.count) {
            (None, Some(collection), Some((query, count))) => {
                let mut find = collection.find(query.filter).skip(query.skip);
                if let Some(limit) = query.limit {
                    find = find.limit(limit);
                }
                Documents::Listed(count.rows(find.count().await?).into_iter())
            }
            (None, Some(collection), None) => {
                let cursor = collection.aggregate(self.pipeline).cursor().await?;
                Documents::Aggregated(Box::new(cursor))
            }
            (source, _, _) => {
                let made = match source {
                    Some(source) => source.documents(context, self.collection).await?,
                    None => Vec::new(),
                };
                let passed = pass(collections, self.pipeline, made).await?;
                Documents::Listed(passed.into_iter())
            }
        };
        let cursor = Cursor::new(context.database, self.collection, documents).reading(self.reads);
        cursors::first(context, cursor, self.batch).await
    }

    /// Whether the documents come from the collection.
    pub(super) fn is_of_collection(&self) -> bool {
        self.source.is_none()
    }

    pub(super) fn is_count(&self) -> bool {
        self.count.is_some()
    }

    /// The query with which the pipeline begins, or all of it in a view.
    pub(super) fn into_query(self, is_of_view: bool) -> Query<'a> {
        let query = match is_of_view {
            true => Query {
                in_view: Some(self.pipeline),
                ..Query::default()
            },
            false => Query::of(self.pipeline.split_query().0),
        };
        Query {
            collection: self.collection,
            collation: self.collation,
            ..query
        }
    }
}

/// Checks that a stage which reads what no snapshot has is in none, and in no transaction.
fn check_place(context: Context<'_>, stage: &str) -> Result<()> {
    if context.unit.is_some() {
        return Err(not_in_transaction(stage));
    }
    match context.snapshot {
        Some(_) => Err(no_snapshot(&format!("Aggregation stage {stage}"))),
        None => Ok(()),
    }
}

fn not_in_transaction(stage: &str) -> CommandError {
    let message = format!("Stage not supported inside of a multi-document transaction: {stage}");
    CommandError::new(code::NOT_IN_TRANSACTION, message)
}

/// Whether `$unionWith` is one of some stages, or of the pipelines in them, which were parsed before, so that their nesting is bounded.
fn has_union<'s>(stages: impl IntoIterator<Item = &'s Document>) -> bool {
    let is_in = |pipeline: &Bson| {
        let stages = pipeline.as_array().into_iter().flatten();
        has_union(stages.filter_map(Bson::as_document).collect::<Vec<_>>())
    };
    let mut stages = stages.into_iter().flatten();
    stages.any(|(name, operand)| match (name.as_str(), operand) {
        ("$unionWith", _) => true,
        ("$lookup", Bson::Document(lookup)) => lookup.get("pipeline").is_some_and(is_in),
        ("$facet", Bson::Document(facets)) => facets.values().any(is_in),
        _ => false,
    })
}

/// Passes documents that are not stored through a pipeline.
async fn pass(
    collections: Option<&Collections>,
    pipeline: Pipeline,
    documents: Vec<RawDocumentBuf>,
) -> Result<Vec<RawDocumentBuf>> {
    let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    let mut passed = Vec::new();
    let mut union = None;
    run.push(documents);
    run.end();
    loop {
        match run.step()? {
            // It has all.
            PipelineStep::Read | PipelineStep::Done => return Ok(passed),
            PipelineStep::Documents(documents) => passed.extend(documents),
            PipelineStep::Lookup(request) => {
                let found = match collections {
                    Some(all) => {
                        all.collection(request.from)
                            .aggregate(request.pipeline)
                            .await?
                    }
                    None => Vec::new(),
                };
                run.answer(found);
            }
            PipelineStep::Union(request) => {
                union = match collections {
                    Some(all) => {
                        let collection = all.collection(request.from);
                        Some(collection.aggregate(request.pipeline).cursor().await?)
                    }
                    None => None,
                };
                run.answer(next_of(&mut union).await?);
            }
            PipelineStep::MoreOfUnion => run.answer(next_of(&mut union).await?),
        }
    }
}

/// The next document of a collection, if there is one.
async fn next_of(cursor: &mut Option<AggregateCursor>) -> Result<Vec<RawDocumentBuf>> {
    let next = match cursor {
        Some(cursor) => cursor.try_next().await?,
        None => None,
    };
    Ok(next.into_iter().collect())
}

impl Count {
    /// Reads `{ $count: name }`, or `{ $group: { _id: 1, n: { $sum: 1 } } }`, by which drivers count documents.
    fn of(stage: &Document) -> Option<Count> {
        let (name, operand) = stage.iter().next()?;
        match (name.as_str(), operand) {
            ("$count", Bson::String(field)) => Some(Count {
                id: None,
                field: field.clone(),
            }),
            ("$group", Bson::Document(group)) => {
                let mut fields = group.iter();
                let (id, sum, None) = (fields.next()?, fields.next()?, fields.next()) else {
                    return None;
                };
                let (("_id", Bson::Null | Bson::Int32(_)), (field, Bson::Document(sum))) =
                    ((id.0.as_str(), id.1), sum)
                else {
                    return None;
                };
                let is_one = sum.len() == 1 && sum.get("$sum") == Some(&Bson::Int32(1));
                let id = RawBson::try_from(id.1.clone()).ok()?;
                is_one.then(|| Count {
                    id: Some(id),
                    field: field.clone(),
                })
            }
            _ => None,
        }
    }

    /// The document with the number. Without documents there is no group of them.
    fn rows(self, number: u64) -> Vec<RawDocumentBuf> {
        if number == 0 {
            return Vec::new();
        }
        let mut row = RawDocumentBuf::new();
        if let Some(id) = self.id {
            row.append(cstr!("_id"), id);
        }
        if let Ok(field) = CString::try_from(self.field) {
            row.append(field, number_of(number));
        }
        vec![row]
    }
}
