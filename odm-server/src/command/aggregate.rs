//! `aggregate`, of the pipelines that are a search or a count.

mod sources;
mod stages;

use odm::{
    bson::{
        RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
        raw::{CString, cstr},
    },
    mql::{Filter, Sort},
};

use self::{
    sources::SourceStage,
    stages::{count_of, document, number, projection},
};
use super::{
    Command, Context,
    count::number_of,
    cursors::{self, FirstBatch},
    find::Query,
    namespace,
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[Command::new("aggregate", |context, arguments| {
    Box::pin(aggregate(context, arguments))
})];

/// The collection of the reply to a pipeline of a database.
const OF_DATABASE: &str = "$cmd.aggregate";

/// What a pipeline does.
#[derive(Debug)]
pub(super) struct Pipeline<'a> {
    /// What makes the documents, if they are not those of the collection.
    source: Option<SourceStage>,
    /// The search among them.
    pub(super) query: Query<'a>,
    /// The count of the documents, if the pipeline ends with it.
    count: Option<Count>,
}

/// A stage that counts all documents.
#[derive(Debug)]
struct Count {
    /// The `_id` of the document with the number, if it has one.
    id: Option<RawBson>,
    field: String,
}

/// Stages in the order in which a search carries them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Start,
    Source,
    Match,
    Sort,
    Skip,
    Limit,
    Project,
    Count,
}

async fn aggregate(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let pipeline = Pipeline::take(context, &mut arguments)?;
    arguments.refuse_true("explain")?;
    arguments.end()?;
    pipeline.run(context).await
}

impl<'a> Pipeline<'a> {
    /// Takes the arguments of `aggregate`.
    pub(super) fn take(context: Context<'_>, arguments: &mut Arguments<'a>) -> Result<Self> {
        let collection = match arguments.optional::<RawBsonRef<'_>>("aggregate")? {
            Some(RawBsonRef::String(name)) => {
                namespace::check(context, name)?;
                name
            }
            Some(RawBsonRef::Int32(1) | RawBsonRef::Int64(1)) => OF_DATABASE,
            Some(RawBsonRef::Double(1.0)) => OF_DATABASE,
            _ => {
                let message = "Invalid command format: the 'aggregate' field must specify a collection name or 1";
                return Err(CommandError::new(code::FAILED_TO_PARSE, message));
            }
        };
        let stages: &RawArray = arguments.required("pipeline")?;
        let batch = match FirstBatch::take(arguments)? {
            None => {
                let message = "The 'cursor' option is required, except for aggregate with the explain argument";
                return Err(CommandError::new(code::FAILED_TO_PARSE, message));
            }
            Some(batch) => batch,
        };
        arguments.simple_collation()?;
        for name in ["hint", "let"] {
            arguments.refuse(name)?;
        }
        arguments.refuse_true("bypassDocumentValidation")?;
        arguments.ignore("allowDiskUse");
        let mut pipeline = Pipeline {
            source: None,
            query: Query {
                collection,
                batch,
                ..Query::default()
            },
            count: None,
        };
        let mut last = Step::Start;
        for stage in stages {
            let RawBsonRef::Document(stage) = stage? else {
                let message = "Each element of the 'pipeline' array must be an object";
                return Err(CommandError::new(code::TYPE_MISMATCH, message));
            };
            let step = pipeline.add(stage)?;
            // A filter is the same before and after a sort.
            let is_moved = step == Step::Match && last <= Step::Sort;
            if step <= last && !is_moved {
                let message = "a pipeline with these stages in this order is not supported by this server: \
                               the order is $match, $sort, $skip, $limit, then $project or a count";
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            last = last.max(step);
        }
        let is_of_database = pipeline.source.is_some_and(SourceStage::is_of_database);
        if is_of_database != (collection == OF_DATABASE) {
            let message = match is_of_database {
                true => "the first stage must be run with {aggregate: 1}",
                false => "{aggregate: 1} is not valid for these stages: name a collection",
            };
            return Err(CommandError::new(code::INVALID_NAMESPACE, message));
        }
        Ok(pipeline)
    }

    /// Adds a stage to the search.
    fn add(&mut self, stage: &'a RawDocument) -> Result<Step> {
        let mut fields = stage.iter();
        let (name, operand) = match (fields.next(), fields.next()) {
            (Some(field), None) => field?,
            _ => {
                let message =
                    "A pipeline stage specification object must contain exactly one field.";
                return Err(CommandError::new(40_323, message));
            }
        };
        let query = &mut self.query;
        match name.as_str() {
            "$match" => {
                let filter = Filter::parse(&document(operand, 15_959, "the match filter")?)?;
                query.filter = std::mem::take(&mut query.filter).and(filter);
                Ok(Step::Match)
            }
            "$sort" => {
                let sort = document(operand, 15_973, "the $sort key specification")?;
                if sort.is_empty() || sort.contains_key("$natural") {
                    let message = "$sort stage must have at least one sort key";
                    return Err(CommandError::new(15_976, message));
                }
                query.sort = Sort::parse(&sort)?;
                Ok(Step::Sort)
            }
            "$skip" => {
                query.skip = number(operand, 5_107_200, "$skip")?;
                Ok(Step::Skip)
            }
            "$limit" => {
                let limit = number(operand, 5_107_201, "$limit")?;
                if limit == 0 {
                    return Err(CommandError::new(15_958, "the limit must be positive"));
                }
                query.limit = Some(limit);
                Ok(Step::Limit)
            }
            "$project" => {
                query.projection = Some(projection(operand)?);
                Ok(Step::Project)
            }
            "$count" => {
                let RawBsonRef::String(field) = operand else {
                    return Err(CommandError::new(
                        40_156,
                        "the count field must be a non-empty string",
                    ));
                };
                if field.is_empty() || field.starts_with('$') || field.contains(['.', '\0']) {
                    let message =
                        "the count field must be a name without '$' before it, '.' and null bytes";
                    return Err(CommandError::new(40_156, message));
                }
                self.count = Some(Count {
                    id: None,
                    field: field.to_owned(),
                });
                Ok(Step::Count)
            }
            "$group" => {
                self.count = Some(count_of(operand)?);
                Ok(Step::Count)
            }
            name => {
                if let Some(source) = SourceStage::by_name(name) {
                    source.check(operand)?;
                    self.source = Some(source);
                    return Ok(Step::Source);
                }
                let message = format!(
                    "Unrecognized pipeline stage name: '{name}'. \
                     This server has $match, $sort, $skip, $limit, $project, $count, and $group that counts all documents"
                );
                Err(CommandError::new(code::UNRECOGNIZED_STAGE, message))
            }
        }
    }

    async fn run(self, context: Context<'_>) -> Result<RawDocumentBuf> {
        let (collection, batch) = (self.query.collection, self.query.batch);
        let rows = match (self.source, self.count) {
            (None, None) => return self.query.run(context).await,
            (None, Some(count)) => {
                let number = match self.query.find(context) {
                    Some(find) => find.count().await?,
                    None => 0,
                };
                count.rows(number)
            }
            (Some(source), count) => {
                let documents = source.documents(context, collection).await?;
                let found = self.query.search(documents)?;
                match count {
                    None => found,
                    Some(count) => count.rows(found.len() as u64),
                }
            }
        };
        cursors::listed(context, collection, rows, batch).await
    }
}

impl Pipeline<'_> {
    /// Whether the documents are those of the collection.
    pub(super) fn is_of_collection(&self) -> bool {
        self.source.is_none()
    }

    pub(super) fn is_count(&self) -> bool {
        self.count.is_some()
    }
}

impl Count {
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
