//! The bounds on the steps and on the memory of an evaluation.

use super::*;
use crate::error::code::{EXCEEDED_MEMORY_LIMIT, MAX_TIME_EXPIRED};

fn within(steps: u64, expression: Document, document: Document) -> Result<Option<Bson>, i32> {
    let expression = Expr::parse(&expression.into()).expect("an expression");
    let patterns = Steps::default();
    let work = Work::new(&patterns).within(steps);
    let value = expression.evaluate_by(None, &raw(document), &work);
    value
        .map(|value| value.map(|value| from_raw(&value)))
        .map_err(|error| error.code())
}

fn code_of(expression: Document, document: Document) -> i32 {
    let expression = Expr::parse(&expression.into()).expect("an expression");
    let error = expression.evaluate(&raw(document));
    error.expect_err("no value").code()
}

fn reduce(input: Bson, body: impl Into<Bson>) -> Document {
    doc! { "$reduce": { "input": input, "initialValue": 0, "in": body.into() } }
}

#[test]
fn loops_in_loops_take_a_bounded_number_of_steps() {
    let range = || Bson::from(doc! { "$range": [0, 20] });
    let loops = |body: &str| reduce(range(), reduce(range(), reduce(range(), body)));
    assert_eq!(
        within(30_000, loops("$$this"), doc! {}),
        Ok(Some(19.into()))
    );
    assert_eq!(
        within(3_000, loops("$$this"), doc! {}),
        Err(MAX_TIME_EXPIRED)
    );
    let map = doc! { "$map": { "input": range(), "in": 1 } };
    assert_eq!(within(20, map, doc! {}), Err(MAX_TIME_EXPIRED));
}

#[test]
fn values_that_are_copied_and_fields_that_are_read_take_steps() {
    let size = |value: &str| {
        let vars = doc! { "x": "$a" };
        let map = doc! { "$map": { "input": { "$range": [0, 100] }, "in": { "$size": value } } };
        doc! { "$let": { "vars": vars, "in": { "$size": map } } }
    };
    let long = || doc! { "a": vec![1; 10_000] };
    for copied in ["$$x", "$a", "$$ROOT.a"] {
        assert_eq!(
            within(50_000, size(copied), doc! { "a": [1] }),
            Ok(Some(100.into()))
        );
        assert_eq!(within(50_000, size(copied), long()), Err(MAX_TIME_EXPIRED));
    }
    let mut fields: Document = (0..10_000)
        .map(|name| (name.to_string(), 1.into()))
        .collect();
    fields.insert("a", Bson::Array(Vec::new()));
    assert_eq!(
        within(50_000, size("$a"), fields.clone()),
        Err(MAX_TIME_EXPIRED)
    );
    // The field is the first one.
    assert_eq!(
        within(50_000, size("$0"), doc! { "0": [1], "1": fields }),
        Ok(Some(100.into()))
    );
}

#[test]
fn the_operands_of_an_operator_have_a_bounded_size_together() {
    let document = || doc! { "long": "a".repeat(30 << 20), "list": ["a".repeat(30 << 20)] };
    let operands = |operator: &str, operand: &str, times: usize| {
        let operand = Bson::from(operand);
        doc! { operator: vec![operand; times] }
    };
    for (operator, operand) in [("$max", "$long"), ("$setUnion", "$list")] {
        let one = operands(operator, operand, 1);
        assert!(value(one, document()).is_some(), "{operator}");
        let many = operands(operator, operand, 5);
        assert_eq!(code_of(many, document()), EXCEEDED_MEMORY_LIMIT);
    }
    let zip = doc! { "$zip": operands("inputs", "$list", 5) };
    assert_eq!(code_of(zip, document()), EXCEEDED_MEMORY_LIMIT);
    // Each of them is held while the one within is computed.
    for operator in ["$max", "$replaceAll"] {
        let nested = (0..5).fold(Bson::from("a"), |inner, _| {
            Bson::from(match operator {
                "$max" => doc! { "$max": ["$long", inner] },
                _ => doc! { "$replaceAll": { "input": "$long", "find": inner, "replacement": "" } },
            })
        });
        let nested = doc! { "x": nested };
        assert_eq!(
            code_of(nested, document()),
            EXCEEDED_MEMORY_LIMIT,
            "{operator}"
        );
    }
    // One after another, they are not.
    let one = Bson::from(doc! { "$strLenBytes": "$long" });
    let after = doc! { "$add": vec![one; 9] };
    assert_eq!(value(after, document()), Some((9 * (30 << 20)).into()));
}

#[test]
fn all_regular_expressions_on_a_document_share_their_steps() {
    let regex = doc! { "$regexMatch": { "input": "$text", "regex": "(a+)\\1$" } };
    let map = |times: i32| {
        doc! { "$size": { "$map": { "input": { "$range": [0, times] }, "in": regex.clone() } } }
    };
    let document = || doc! { "text": format!("{}b", "a".repeat(100)) };
    assert_eq!(value(map(2), document()), Some(2.into()));
    assert_eq!(code_of(map(10_000), document()), 51_156);
    let filter = Filter::parse(&doc! { "$expr": { "$gt": [map(10_000), 0] } }).expect("a filter");
    let refused = filter.matches(&raw(document()));
    assert_eq!(refused.expect_err("no answer").code(), 51_156);
}

#[test]
fn all_matches_of_a_lazy_expression_are_found_in_linear_time() {
    let all = |regex: &str| {
        let found = doc! { "$regexFindAll": { "input": "$text", "regex": regex } };
        doc! { "$size": found }
    };
    let document = || doc! { "text": "a".repeat(100_000) };
    assert_eq!(value(all("a[ab]*?"), document()), Some(100_000.into()));
    assert_eq!(code_of(all("a([ab]*c|)"), document()), 51_156);
}

#[test]
fn the_groups_of_a_match_have_a_bounded_size() {
    let regex = format!("{}.*{}", "(".repeat(90), ")".repeat(90));
    let of = |operator: &str| doc! { operator: { "input": "$text", "regex": &regex } };
    let document = || doc! { "text": "a".repeat(1_000_000) };
    assert_eq!(code_of(of("$regexFind"), document()), 10_334);
    assert_eq!(code_of(of("$regexFindAll"), document()), 51_151);
    assert!(value(of("$regexFind"), doc! { "text": "abc" }).is_some());
}

#[test]
fn an_array_that_is_too_large_has_the_code_of_its_operator() {
    let document = || doc! { "long": "a".repeat(10 << 20) };
    let map = doc! { "$map": { "input": { "$range": [0, 9] }, "in": "$long" } };
    assert_eq!(code_of(map, document()), EXCEEDED_MEMORY_LIMIT);
    let range = doc! { "$range": [0, 20_000_000] };
    assert_eq!(code_of(range, doc! {}), EXCEEDED_MEMORY_LIMIT);
    // The value that grows is too large for the operator within first.
    let rounds = || Bson::from(doc! { "$range": [0, 9] });
    let all = doc! { "$concatArrays": ["$$value", ["$long"]] };
    let grows = doc! { "$reduce": { "input": rounds(), "initialValue": [], "in": all } };
    assert_eq!(code_of(grows, document()), EXCEEDED_MEMORY_LIMIT);
    let all = doc! { "$mergeObjects": ["$$value", { "$arrayToObject": [[{ "k": { "$toString": "$$this" }, "v": "$long" }]] }] };
    let grows = doc! { "$reduce": { "input": rounds(), "initialValue": {}, "in": all } };
    assert_eq!(code_of(grows, document()), EXCEEDED_MEMORY_LIMIT);
}
