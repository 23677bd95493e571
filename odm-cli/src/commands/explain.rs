//! `explain`: how documents would be found.

use mongodb::bson::{Bson, Document, doc};

use super::check_collection;
use crate::{
    arguments::Query,
    error::{Exit, Result},
    filter,
    output::Output,
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, query: &Query, output: &mut Output) -> Result<Exit> {
    let mut find =
        doc! { "find": &query.collection, "filter": filter::conditions(&query.conditions)? };
    if let Some(sort) = &query.sort {
        find.insert("sort", filter::sort(sort)?);
    }
    if let Some(limit) = query.limit {
        find.insert("limit", i64::from(limit));
    }
    let opened = source.look().await?;
    check_collection(&opened, &query.collection).await?;
    let command = doc! { "explain": find, "verbosity": "executionStats" };
    let reply = opened.database().await?.run_command(command).await?;
    if output.is_json() {
        output.json(&reply)?;
        return Ok(Exit::Done);
    }
    let mut record = Document::new();
    let plan = reply
        .get_document("queryPlanner")
        .and_then(|planner| planner.get_document("winningPlan"));
    if let Ok(plan) = plan {
        describe(plan, &mut record);
    }
    if let Ok(stats) = reply.get_document("executionStats") {
        for (name, of) in [
            ("documents found", "nReturned"),
            ("documents read", "totalDocsExamined"),
            ("keys read", "totalKeysExamined"),
            ("milliseconds", "executionTimeMillis"),
        ] {
            record.insert(name, stats.get(of).cloned().unwrap_or(Bson::Null));
        }
    }
    output.record(&record)?;
    let reads_all = record
        .get_str("access")
        .is_ok_and(|access| access == "all documents");
    let number = |name: &str| match record.get(name) {
        Some(Bson::Int32(number)) => i64::from(*number),
        Some(Bson::Int64(number)) => *number,
        _ => 0,
    };
    if reads_all && number("documents read") > 10 * number("documents found").max(1) {
        output.note("Most of what is read does not match: an index on the fields of the conditions would help.")?;
    }
    Ok(Exit::Done)
}

/// Names the access path and the sort of a plan, whose stages lie in one another.
fn describe(plan: &Document, record: &mut Document) {
    let mut stage = Some(plan);
    record.insert("access", "nothing is read");
    while let Some(current) = stage {
        match current.get_str("stage").unwrap_or_default() {
            "COLLSCAN" => _ = record.insert("access", "all documents"),
            "IXSCAN" | "EXPRESS_IXSCAN" | "IDHACK" | "EXPRESS_CLUSTERED_IXSCAN" => {
                let index = current.get_str("indexName").unwrap_or("_id_");
                record.insert("access", format!("index {index}"));
                if let Ok(bounds) = current.get_document("indexBounds") {
                    let bounds: Vec<String> = bounds.values().flat_map(texts).collect();
                    record.insert("bounds", bounds.join(", "));
                }
            }
            "SORT" => _ = record.insert("sort", "in memory, of all that match"),
            _ => {}
        }
        stage = current.get_document("inputStage").ok();
    }
}

fn texts(bounds: &Bson) -> Vec<String> {
    let texts = bounds.as_array().into_iter().flatten();
    texts.filter_map(Bson::as_str).map(str::to_owned).collect()
}
