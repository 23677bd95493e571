//! The description of a plan for users.

use bson::RawBson;

use super::{AccessPath, OrderSpec, Plan};
use crate::{
    mql::{Sort, Test},
    store::{Cost, Explain, collection::show},
};

/// Describes a plan.
pub(in super::super) fn explain(plan: &Plan<'_, '_>, sort: &Sort, cost: Cost) -> Explain {
    let wanted = OrderSpec::new(sort, None, false);
    let sorted_by_index = plan.order(&wanted).is_by_index();
    let (mut names, mut bounds) = (Vec::new(), Vec::new());
    match plan {
        Plan::One(access) => {
            names.extend(index_name(
                access,
                !wanted.fields.is_empty() && sorted_by_index,
            ));
            bounds = bounds_of(access);
        }
        Plan::Union(union) | Plan::Merge(union) => {
            for access in union {
                if let Some(name) = index_name(access, false)
                    && !names.contains(&name)
                {
                    names.push(name);
                }
                bounds.push(bounds_of(access).join(" and "));
            }
        }
    }
    Explain {
        index: (!names.is_empty()).then(|| names.join(", ")),
        bounds,
        sorted_by_index,
        cost,
    }
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
    format!("{path} {how} {}", show(value.as_raw_bson_ref()))
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
