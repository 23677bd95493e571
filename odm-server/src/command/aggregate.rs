//! `aggregate`, of the pipelines that are a search or a count.

use odm::{
    bson::{
        Bson, Document, RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
        raw::{CString, cstr},
    },
    mql::{Filter, Projection, Sort},
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
            query: Query {
                collection,
                batch,
                ..Query::default()
            },
            count: None,
        };
        let mut last = Step::Match;
        for stage in stages {
            let RawBsonRef::Document(stage) = stage? else {
                let message = "Each element of the 'pipeline' array must be an object";
                return Err(CommandError::new(code::TYPE_MISMATCH, message));
            };
            let step = pipeline.add(stage)?;
            if step < last || step == last && step != Step::Match {
                let message = format!(
                    "a pipeline with these stages in this order is not supported by this server: {}",
                    "the order is $match, $sort, $skip, $limit, then $project or a count"
                );
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            last = step;
        }
        if collection == OF_DATABASE {
            let message = "{aggregate: 1} is not valid for a pipeline that begins with documents of a collection";
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
                let message = format!(
                    "Unrecognized pipeline stage name: '{name}'. This server has $match, $sort, $skip, $limit, $project, $count, and $group that counts all documents"
                );
                Err(CommandError::new(code::UNRECOGNIZED_STAGE, message))
            }
        }
    }

    async fn run(self, context: Context<'_>) -> Result<RawDocumentBuf> {
        let Some(count) = self.count else {
            return self.query.run(context).await;
        };
        let (collection, batch) = (self.query.collection, self.query.batch);
        let number = match self.query.find(context) {
            Some(find) => find.count().await?,
            None => 0,
        };
        // Without documents there is no group of them.
        let rows = match number {
            0 => Vec::new(),
            number => vec![count.row(number)],
        };
        cursors::listed(context, collection, rows, batch).await
    }
}

impl Pipeline<'_> {
    pub(super) fn is_count(&self) -> bool {
        self.count.is_some()
    }
}

impl Count {
    fn row(self, number: u64) -> RawDocumentBuf {
        let mut row = RawDocumentBuf::new();
        if let Some(id) = self.id {
            row.append(cstr!("_id"), id);
        }
        if let Ok(field) = CString::try_from(self.field) {
            row.append(field, number_of(number));
        }
        row
    }
}

fn document(operand: RawBsonRef<'_>, code: i32, what: &str) -> Result<Document> {
    match operand {
        RawBsonRef::Document(document) => Ok(document.try_into()?),
        _ => Err(CommandError::new(code, format!("{what} must be an object"))),
    }
}

fn number(operand: RawBsonRef<'_>, code: i32, stage: &str) -> Result<u64> {
    let number = match operand {
        RawBsonRef::Int32(number) => u64::try_from(number).ok(),
        RawBsonRef::Int64(number) => u64::try_from(number).ok(),
        RawBsonRef::Double(number) if number.fract() == 0.0 && (0.0..1e18).contains(&number) => {
            Some(number as u64)
        }
        _ => None,
    };
    number.ok_or_else(|| {
        let message =
            format!("invalid argument to {stage} stage: it must be a whole number from 0 on");
        CommandError::new(code, message)
    })
}

/// Reads a stage that has the meaning of the projection of a search.
fn projection(operand: RawBsonRef<'_>) -> Result<Projection> {
    let fields = document(operand, 15_969, "$project specification")?;
    if fields.is_empty() {
        let message = "projection specification must have at least one field";
        return Err(CommandError::new(51_272, message));
    }
    check_projected(&fields)?;
    Ok(Projection::parse(&fields)?)
}

/// Refuses what a search has in other forms than a stage, at any path.
fn check_projected(fields: &Document) -> Result<()> {
    for (name, value) in fields {
        if name.contains('$') {
            let message = format!("'{name}' in $project is not supported by this server");
            return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
        }
        let Bson::Document(inner) = value else {
            continue;
        };
        match inner.keys().next().map(String::as_str) {
            Some(name @ ("$slice" | "$elemMatch")) => {
                let message = format!("'{name}' in $project is not supported by this server");
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            Some(name) if name.starts_with('$') => {}
            Some(_) | None => check_projected(inner)?,
        }
    }
    Ok(())
}

/// Reads `{ _id: 1, n: { $sum: 1 } }`, by which drivers count documents.
fn count_of(operand: RawBsonRef<'_>) -> Result<Count> {
    let group = document(operand, 15_947, "a group's fields")?;
    let mut id = None;
    let mut fields = Vec::new();
    for (name, value) in &group {
        match (name.as_str(), value) {
            ("_id", Bson::Null | Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)) => {
                id = Some(RawBson::try_from(value.clone())?);
            }
            (name, Bson::Document(sum)) if is_count(sum) && !name.contains(['.', '$']) => {
                fields.push(name.to_owned());
            }
            _ => fields.clear(),
        }
    }
    match (id, <[String; 1]>::try_from(fields), group.len()) {
        (Some(id), Ok([field]), 2) => Ok(Count {
            id: Some(id),
            field,
        }),
        _ => {
            let message = "$group is supported by this server only as a count of all documents: {_id: null, n: {$sum: 1}}";
            Err(CommandError::new(code::NOT_IMPLEMENTED, message))
        }
    }
}

fn is_count(sum: &Document) -> bool {
    let one = [Bson::Int32(1), Bson::Int64(1), Bson::Double(1.0)];
    sum.len() == 1 && sum.get("$sum").is_some_and(|value| one.contains(value))
}
