//! Filters without their values, for logs.
//!
//! The text consists of paths and operators alone: it never contains a value.

use super::{Filter, Test};

pub(super) fn filter(filter: &Filter) -> String {
    let mut parts = Vec::new();
    add_parts(filter, &mut parts);
    braced(&parts)
}

fn add_parts(filter: &Filter, parts: &mut Vec<String>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|one| add_parts(one, parts)),
        Filter::Or(any) => parts.push(branches("$or", any)),
        Filter::Nor(none) => parts.push(branches("$nor", none)),
        Filter::Path(path, test) => parts.push(match test_shape(test) {
            None => format!("{path}: ?"),
            Some(operator) => format!("{path}: {{ {operator} }}"),
        }),
        Filter::Expr(_) => parts.push("$expr: ?".to_owned()),
        Filter::Schema(_) => parts.push("$jsonSchema: ?".to_owned()),
        Filter::Collated(_, inner) => add_parts(inner, parts),
    }
}

fn branches(operator: &str, branches: &[Filter]) -> String {
    let mut shapes: Vec<String> = branches.iter().map(filter).collect();
    shapes.dedup();
    format!("{operator}: [{}]", shapes.join(", "))
}

/// The operator of a test, with its inner tests. `None` for equality.
fn test_shape(test: &Test) -> Option<String> {
    Some(match test {
        Test::Eq(_) => return None,
        Test::Not(tests) | Test::ElemTest(tests) => {
            format!("{}: {}", test.operator(), tests_shape(tests))
        }
        Test::ElemMatch(of) => format!("{}: {}", test.operator(), filter(of)),
        test => format!("{}: ?", test.operator()),
    })
}

fn tests_shape(tests: &[Test]) -> String {
    let shapes = tests
        .iter()
        .map(|test| test_shape(test).unwrap_or_else(|| "$eq: ?".to_owned()));
    braced(&shapes.collect::<Vec<_>>())
}

fn braced(parts: &[String]) -> String {
    match parts {
        [] => "{}".to_owned(),
        parts => format!("{{ {} }}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn a_shape_has_the_paths_and_operators_and_no_value() {
        let parse = |document| Filter::parse(&document).unwrap();
        let secret = doc! { "secret": { "secret": ["secret", 4711] } };
        let cases = [
            (doc! {}, "{}"),
            (doc! { "a.b": "secret" }, "{ a.b: ? }"),
            (doc! { "a": &secret }, "{ a: ? }"),
            (doc! { "a": { "$eq": { "$secret": 4711 } } }, "{ a: ? }"),
            (
                doc! { "a": { "$gt": 4711, "$lte": &secret } },
                "{ a: { $gt: ? }, a: { $lte: ? } }",
            ),
            (
                doc! { "a": { "$in": [&secret, "secret"] } },
                "{ a: { $in: ? } }",
            ),
            (
                doc! { "a": { "$not": { "$regex": "secret" } } },
                "{ a: { $not: { $regex: ? } } }",
            ),
            (
                doc! { "a": { "$not": { "$eq": 4711 } } },
                "{ a: { $not: { $eq: ? } } }",
            ),
            (
                doc! { "a": { "$elemMatch": { "b": "secret", "c": { "$size": 4711 } } } },
                "{ a: { $elemMatch: { b: ?, c: { $size: ? } } } }",
            ),
            (
                doc! { "a": { "$elemMatch": { "$gt": 4711 } } },
                "{ a: { $elemMatch: { $gt: ? } } }",
            ),
            (
                doc! { "$or": [{ "a": 1 }, { "a": 4711 }, { "b": { "$exists": true } }], "c": 3 },
                "{ $or: [{ a: ? }, { b: { $exists: ? } }], c: ? }",
            ),
            (
                doc! { "$nor": [{ "a": { "$bitsAnySet": 4711 } }] },
                "{ $nor: [{ a: { $bitsAnySet: ? } }] }",
            ),
            (
                doc! { "$expr": { "$eq": ["$a", "secret"] } },
                "{ $expr: ? }",
            ),
            (
                doc! { "$jsonSchema": { "required": ["secret"] } },
                "{ $jsonSchema: ? }",
            ),
        ];
        for (document, expected) in cases {
            let shape = parse(document.clone()).shape();
            assert_eq!(shape, expected, "{document}");
        }
    }
}
