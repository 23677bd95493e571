//! The description of a plan for users.

use bson::RawBson;
use odm_mql::{Sort, Test};
use odm_store::{Cost, Explain, show_briefly};

use super::{AccessPath, OrderSpec, Plan};

/// Describes a plan.
pub(in super::super) fn explain(plan: &Plan<'_, '_>, sort: &Sort, cost: Cost) -> Explain {
    let bounds = match plan {
        Plan::One(access) => bounds_of(access),
        Plan::Union(union) | Plan::Merge(union) => union
            .iter()
            .map(|access| bounds_of(access).join(" and "))
            .collect(),
    };
    let mut explain = Explain::default();
    explain.index = index_names(plan, sort);
    explain.bounds = bounds;
    explain.sorted_by_index = is_sorted_by_index(plan, sort);
    explain.cost = cost;
    explain
}

/// The names of the indexes that a plan reads. `None` for a scan of the collection.
pub(in super::super) fn index_names(plan: &Plan<'_, '_>, sort: &Sort) -> Option<String> {
    let gives_order = match plan {
        Plan::One(_) => has_fields(sort) && is_sorted_by_index(plan, sort),
        Plan::Union(_) | Plan::Merge(_) => false,
    };
    let mut names: Vec<String> = Vec::new();
    for access in plan.access_paths() {
        if let Some(name) = index_name(access, gives_order)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether there are keys before `_id`.
fn has_fields(sort: &Sort) -> bool {
    !OrderSpec::new(sort, None, false).fields.is_empty()
}

fn is_sorted_by_index(plan: &Plan<'_, '_>, sort: &Sort) -> bool {
    plan.order(&OrderSpec::new(sort, None, false)).is_by_index()
}

fn index_name(access: &AccessPath<'_, '_>, sorted: bool) -> Option<String> {
    match access.source.index {
        Some(index) => Some(index.spec.name.clone()),
        None if access.bounds.is_empty() && !sorted => None,
        None => Some("_id".to_owned()),
    }
}

fn bounds_of(access: &AccessPath<'_, '_>) -> Vec<String> {
    let mut texts = Vec::new();
    for &(at, test) in &access.bounds {
        let path = format!("`{}`", access.source.field(at).0);
        texts.push(test_text(&path, test));
    }
    texts
}

fn compared(path: &str, how: &str, value: &RawBson) -> String {
    format!("{path} {how} {}", show_briefly(value.as_raw_bson_ref()))
}

fn test_text(path: &str, test: &Test) -> String {
    match test {
        Test::Eq(value) => compared(path, "=", value),
        Test::Gt(value) => compared(path, ">", value),
        Test::Gte(value) => compared(path, ">=", value),
        Test::Lt(value) => compared(path, "<", value),
        Test::Lte(value) => compared(path, "<=", value),
        Test::In(values) => format!("{path} is one of {} values", values.len()),
        Test::Regex(pattern) => format!("{path} begins as `{}` does", pattern.source()),
        Test::ElemTest(tests) => {
            let tests: Vec<String> = tests.iter().map(|test| test_text(path, test)).collect();
            format!("an element: {}", tests.join(" and "))
        }
        _ => format!("{path} within bounds"),
    }
}
