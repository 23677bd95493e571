//! The explanation of a query by a server.

use bson::Document;
use odm_store::{Cost, Explain};

use super::reply::number;

/// Reads the reply of an `explain`. Missing numbers are 0.
pub(super) fn read(reply: &Document) -> Explain {
    let plan = reply.get_document("queryPlanner");
    let plan = plan.and_then(|planner| planner.get_document("winningPlan"));
    let mut stages = Vec::new();
    if let Ok(plan) = plan {
        collect(plan, &mut stages);
    }
    let with = |name: &str| {
        let stages = stages
            .iter()
            .filter(|stage| stage.get_str("stage").is_ok_and(|it| it == name));
        stages.copied().collect::<Vec<&Document>>()
    };
    let stats = reply.get_document("executionStats").ok();
    let count = |name: &str| stats.map_or(0, |stats| number(stats, name));
    let scan = with("IXSCAN").first().copied();
    let is_by_id = !with("IDHACK").is_empty() || !with("EXPRESS_IXSCAN").is_empty();
    let name = scan.and_then(|scan| scan.get_str("indexName").ok());
    let index = match name {
        Some("_id_") => Some("_id"),
        None if is_by_id => Some("_id"),
        name => name.map(super::schema::declared_name),
    };
    let bounds = scan.and_then(|scan| scan.get_document("indexBounds").ok());
    let examined = count("totalDocsExamined");
    let bounds = bounds.into_iter().flatten();
    let mut explain = Explain::default();
    explain.index = index.map(str::to_owned);
    explain.bounds = bounds
        .map(|(path, bounds)| format!("{path}: {bounds}"))
        .collect();
    explain.sorted_by_index = index.is_some() && with("SORT").is_empty();
    explain.cost = Cost {
        queries: 1,
        keys_examined: count("totalKeysExamined"),
        documents_examined: examined,
        documents_scanned: if with("COLLSCAN").is_empty() {
            0
        } else {
            examined
        },
        documents_returned: count("nReturned"),
        ..Cost::default()
    };
    explain
}

/// Collects a stage of a plan, and the stages that it reads from.
fn collect<'a>(stage: &'a Document, stages: &mut Vec<&'a Document>) {
    stages.push(stage);
    if let Ok(input) = stage.get_document("inputStage") {
        collect(input, stages);
    }
    // As in a plan of the slot-based engine.
    if let Ok(plan) = stage.get_document("queryPlan") {
        collect(plan, stages);
    }
    for input in stage.get_array("inputStages").into_iter().flatten() {
        if let Some(input) = input.as_document() {
            collect(input, stages);
        }
    }
}
