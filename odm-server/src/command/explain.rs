//! `explain`: how a command would find its documents.

use std::time::Instant;

use odm::{
    bson::{
        Document, RawArrayBuf, RawDocument, RawDocumentBuf,
        raw::{CString, cstr},
        rawdoc,
    },
    mql::Filter,
    store::Explain,
    store::contract::IndexSpec,
};

use super::{
    Access, Command, Context,
    aggregate::Aggregation,
    count::{self, number_of},
    distinct,
    find::Query,
    handshake::VERSION,
    indexes, name_of, namespace, no_snapshot, take_generic,
};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
    session::SessionUse,
};

pub(super) const COMMANDS: &[Command] = &[Command::new(
    "explain",
    Access::Inner,
    |context, arguments| Box::pin(explain(context, arguments)),
)];

/// The search of a command.
#[derive(Debug, Default)]
struct Explained<'a> {
    query: Query<'a>,
    /// The stage of a command that does not return the documents.
    last: Option<&'static str>,
}

async fn explain(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let command: &RawDocument = arguments.required("explain")?;
    let verbosity = arguments
        .optional("verbosity")?
        .unwrap_or("allPlansExecution");
    let variables = arguments.variables().clone();
    arguments.end()?;
    if !["queryPlanner", "executionStats", "allPlansExecution"].contains(&verbosity) {
        let message = format!(
            "Enumeration value '{verbosity}' for field 'explain.verbosity' is not a valid value."
        );
        return Err(CommandError::new(code::BAD_VALUE, message));
    }
    let mut inner = Arguments::of(name_of(command), command)?.with_variables(variables);
    inner.ignore("$db");
    SessionUse::take(&mut inner, context.caller)?;
    let generic = take_generic(context.state, context.client, &mut inner, false)?;
    if generic.snapshot.is_some() {
        return Err(no_snapshot("Command explain"));
    }
    let inner = namespace::collated(context, inner).await?;
    let on;
    let Explained { mut query, last } = explained(context, inner)?;
    if let Some(aggregation) = query.aggregation(context) {
        let (collection, found) = aggregation.query().await?;
        on = collection;
        query = Query {
            collection: &on,
            collation: query.collation,
            ..Query::of(found)
        };
    }
    let (name, filter) = (query.collection, query.filter.clone());
    let collation = query.collation.clone();
    let begun = Instant::now();
    let plan = describe(context, query, last).await?;
    let milliseconds = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);

    let mut reply = rawdoc! { "explainVersion": "1" };
    let mut planner = rawdoc! { "namespace": format!("{}.{name}", context.database) };
    planner.append(cstr!("indexFilterSet"), false);
    planner.append(
        cstr!("parsedQuery"),
        RawDocumentBuf::try_from(&filter.to_document())?,
    );
    if let Some(collation) = collation {
        let collation = RawDocumentBuf::try_from(&collation.to_document())?;
        planner.append(cstr!("collation"), collation);
    }
    planner.append(cstr!("winningPlan"), &*plan.stages);
    planner.append(cstr!("rejectedPlans"), RawArrayBuf::new());
    reply.append(cstr!("queryPlanner"), planner);
    if verbosity != "queryPlanner" {
        let cost = plan.explain.cost;
        reply.append(
            cstr!("executionStats"),
            rawdoc! {
                "executionSuccess": true,
                "nReturned": number_of(cost.documents_returned),
                "executionTimeMillis": milliseconds,
                "totalKeysExamined": number_of(cost.keys_examined),
                "totalDocsExamined": number_of(cost.documents_examined),
                "executionStages": plan.stages,
            },
        );
    }
    reply.append(cstr!("command"), command);
    reply.append(
        cstr!("serverInfo"),
        rawdoc! { "host": "localhost", "version": VERSION },
    );
    Ok(reply)
}

/// Reads the command that is explained.
fn explained<'a>(context: Context<'_>, mut arguments: Arguments<'a>) -> Result<Explained<'a>> {
    let name = arguments.name().to_owned();
    let explained = match name.as_str() {
        "find" => Explained {
            query: Query::take(context, &mut arguments)?,
            last: None,
        },
        "aggregate" => {
            let is_of_view = arguments.is_of_view();
            arguments.ignore("explain");
            let pipeline = Aggregation::take(context, &mut arguments)?;
            if !pipeline.is_of_collection() {
                let message = "an explanation of a pipeline that makes documents is not supported by this server";
                return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
            }
            Explained {
                last: pipeline.is_count().then_some("COUNT"),
                query: pipeline.into_query(is_of_view),
            }
        }
        "count" => Explained {
            query: count::take(context, &mut arguments)?,
            last: Some("COUNT"),
        },
        "distinct" => Explained {
            query: distinct::take(context, &mut arguments)?.0,
            last: None,
        },
        "update" => first_statement(context, &mut arguments, "updates", "UPDATE")?,
        "delete" => first_statement(context, &mut arguments, "deletes", "DELETE")?,
        "findAndModify" | "findandmodify" => {
            let last = match arguments.flag("remove")? {
                true => "DELETE",
                false => "UPDATE",
            };
            for name in ["update", "new", "upsert", "fields", "arrayFilters"] {
                arguments.ignore(name);
            }
            arguments.take_collation()?;
            let query = Query {
                collation: arguments.collation().cloned(),
                collection: namespace::take(context, &mut arguments, &name)?,
                filter: arguments.filter("query")?,
                sort: arguments.sort("sort")?,
                limit: Some(1),
                ..Query::default()
            };
            Explained {
                query,
                last: Some(last),
            }
        }
        _ => {
            let message = format!("Explain failed due to unknown command: {name}");
            return Err(CommandError::new(code::COMMAND_NOT_FOUND, message));
        }
    };
    arguments.end()?;
    Ok(explained)
}

/// The search of the only statement of a write.
fn first_statement<'a>(
    context: Context<'_>,
    arguments: &mut Arguments<'a>,
    statements: &str,
    last: &'static str,
) -> Result<Explained<'a>> {
    let name = arguments.name().to_owned();
    let collection = namespace::take(context, arguments, &name)?;
    for name in ["ordered", "bypassDocumentValidation"] {
        arguments.ignore(name);
    }
    let Ok([mut statement]) = <[Arguments<'_>; 1]>::try_from(arguments.all_nested(statements)?)
    else {
        let message = "explained write batches must be of size 1";
        return Err(CommandError::new(code::INVALID_LENGTH, message));
    };
    let filter: &RawDocument = statement.required("q")?;
    let is_first = match last {
        "DELETE" => statement.optional::<i64>("limit")? == Some(1),
        _ => !statement.flag("multi")?,
    };
    for name in ["u", "upsert", "arrayFilters"] {
        statement.ignore(name);
    }
    statement.take_collation()?;
    let sort = statement.sort("sort")?;
    let collation = statement.collation().cloned();
    statement.refuse("hint")?;
    statement.end()?;
    Ok(Explained {
        query: Query {
            collection,
            filter: Filter::parse(&Document::try_from(filter)?)?.collated(collation.as_ref()),
            collation,
            sort,
            limit: is_first.then_some(1),
            ..Query::default()
        },
        last: Some(last),
    })
}

/// A plan, in MongoDB's words.
#[derive(Debug)]
struct Described {
    explain: Explain,
    stages: RawDocumentBuf,
}

async fn describe(context: Context<'_>, query: Query<'_>, last: Option<&str>) -> Result<Described> {
    let filter = RawDocumentBuf::try_from(&query.filter.to_document())?;
    let sort = query.sort.to_document();
    let (skip, limit) = (query.skip, query.limit);
    let is_projected = query.projection.is_some();
    let info = indexes::info(context, query.collection).await?;
    let (Some(info), Some(find)) = (info, query.find(context)) else {
        return Ok(Described {
            explain: Explain::default(),
            stages: rawdoc! { "stage": "EOF" },
        });
    };
    let explain = find.explain().await?;
    let mut stages = match &explain.index {
        None => rawdoc! { "stage": "COLLSCAN", "filter": filter, "direction": "forward" },
        Some(name) => {
            let index = info.indexes.iter().find(|index| index.name == *name);
            let scan = index_scan(name, index, &explain.bounds);
            rawdoc! { "stage": "FETCH", "filter": filter, "inputStage": scan }
        }
    };
    if !sort.is_empty() && !explain.sorted_by_index {
        let pattern = RawDocumentBuf::try_from(&sort)?;
        stages = rawdoc! { "stage": "SORT", "sortPattern": pattern, "inputStage": stages };
    }
    if skip > 0 {
        let skip = number_of(skip);
        stages = rawdoc! { "stage": "SKIP", "skipAmount": skip, "inputStage": stages };
    }
    if let Some(limit) = limit {
        let limit = number_of(limit);
        stages = rawdoc! { "stage": "LIMIT", "limitAmount": limit, "inputStage": stages };
    }
    if is_projected {
        stages = rawdoc! { "stage": "PROJECTION_DEFAULT", "inputStage": stages };
    }
    if let Some(last) = last {
        stages = rawdoc! { "stage": last, "inputStage": stages };
    }
    Ok(Described { explain, stages })
}

/// The stage that reads an index, or several of them.
fn index_scan(name: &str, index: Option<&IndexSpec>, bounds: &[String]) -> RawDocumentBuf {
    let is_id = name == "_id";
    let name = if is_id { "_id_" } else { name };
    // Several indexes have no keys in common.
    let keys = match index {
        Some(index) => indexes::key_pattern(index),
        None if is_id => rawdoc! { "_id": 1 },
        None => rawdoc! {},
    };
    let mut by_field = RawDocumentBuf::new();
    for bound in bounds {
        // Each begins with its path.
        let path = bound.split('`').nth(1).unwrap_or_default();
        if let Ok(path) = CString::try_from(path) {
            let mut texts = RawArrayBuf::new();
            texts.push(bound.as_str());
            by_field.append(path, texts);
        }
    }
    rawdoc! {
        "stage": "IXSCAN",
        "keyPattern": keys,
        "indexName": name,
        "isUnique": is_id || index.is_some_and(|index| index.unique),
        "isPartial": index.is_some_and(|index| index.filter.is_some()),
        "direction": "forward",
        "indexBounds": by_field,
    }
}
