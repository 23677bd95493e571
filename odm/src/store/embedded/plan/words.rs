//! A plan in words.

use bson::RawBson;

use super::{Candidate, Order, Plan, Wanted, candidate::quoted};
use crate::{
    mql::{Sort, Test},
    store::{Cost, Explain, embedded::entries::show},
};

/// Tells about a plan.
pub(in super::super) fn describe(plan: &Plan<'_, '_>, sort: &Sort, cost: Cost) -> Explain {
    let wanted = Wanted::new(sort, None);
    let sorted_by_index = matches!(plan.order(&wanted), Order::Native | Order::Runs { .. });
    let (mut names, mut bounds) = (Vec::new(), Vec::new());
    match plan {
        Plan::One(candidate) => {
            names.extend(name(
                candidate,
                !wanted.fields.is_empty() && sorted_by_index,
            ));
            bounds = words(candidate);
        }
        Plan::Union(candidates) => {
            for candidate in candidates {
                if let Some(name) = name(candidate, false)
                    && !names.contains(&name)
                {
                    names.push(name);
                }
                bounds.push(words(candidate).join(" and "));
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

fn name(candidate: &Candidate<'_, '_>, sorted: bool) -> Option<String> {
    match candidate.source.index {
        Some(index) => Some(index.spec.name.clone()),
        None if candidate.bounds.is_empty() && !sorted => None,
        None => Some("_id".to_owned()),
    }
}

fn words(candidate: &Candidate<'_, '_>) -> Vec<String> {
    let mut words = Vec::new();
    for (at, constraints) in &candidate.bounds {
        let path = quoted(candidate.source.field(*at).0);
        for constraint in constraints {
            words.push(test_words(&path, constraint.test));
        }
    }
    words
}

fn compared(path: &str, how: &str, value: &RawBson) -> String {
    format!("{path} {how} {}", show(value.as_raw_bson_ref()))
}

fn test_words(path: &str, test: &Test) -> String {
    match test {
        Test::Eq(value) => compared(path, "=", value),
        Test::Gt(value) => compared(path, ">", value),
        Test::Gte(value) => compared(path, ">=", value),
        Test::Lt(value) => compared(path, "<", value),
        Test::Lte(value) => compared(path, "<=", value),
        Test::In(values) => format!("{path} is one of {} values", values.len()),
        Test::Regex(pattern) => format!("{path} begins as `{}` does", pattern.source()),
        Test::ElemTest(tests) => {
            let tests: Vec<String> = tests.iter().map(|test| test_words(path, test)).collect();
            format!("an element: {}", tests.join(" and "))
        }
        _ => format!("{path} within bounds"),
    }
}
