//! The accumulators that keep some values, and those of sorted numbers.

use bson::{Bson, Document, RawArrayBuf, RawBson, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::{Collections, aggregate, parse, parsed, plain, raws, run_in_chunks};
use crate::{
    Error, Sort,
    order::compare,
    testing::{document, raw, raw_value},
};

fn group(accumulator: Document) -> Document {
    doc! { "$group": { "_id": null, "value": accumulator } }
}

fn accumulated(accumulator: Document, documents: &[Document]) -> Bson {
    let results = aggregate(&[group(accumulator)], documents.to_vec());
    results[0].get("value").cloned().expect("a value")
}

/// The code of the error, by the parser or by a run.
fn code(accumulator: Document) -> i32 {
    let error = match parse(&[group(accumulator)]) {
        Ok(pipeline) => {
            let documents = raws(vec![doc! { "a": 1 }]);
            run_in_chunks(pipeline, &documents, 1, &Collections::new()).expect_err("no documents")
        }
        Err(error) => error,
    };
    error.code()
}

/// The pages of the accumulators.
#[test]
fn accumulators_keep_as_many_values_as_they_are_told() {
    let scores = [
        doc! { "player": "A", "score": 31 },
        doc! { "player": "B", "score": 33 },
        doc! { "player": "C", "score": 99 },
        doc! { "player": "D", "score": 1 },
        doc! { "player": "E", "score": null },
        doc! { "player": "F" },
    ];
    for (accumulator, expected) in [
        (
            doc! { "$firstN": { "input": "$player", "n": 2 } },
            Bson::from(vec!["A", "B"]),
        ),
        (
            doc! { "$lastN": { "input": "$score", "n": 3 } },
            vec![Bson::from(1), Bson::Null, Bson::Null].into(),
        ),
        (
            doc! { "$maxN": { "input": "$score", "n": 2 } },
            vec![99, 33].into(),
        ),
        (
            doc! { "$minN": { "input": "$score", "n": 3.0 } },
            vec![1, 31, 33].into(),
        ),
        (
            doc! { "$minN": { "input": "$missing", "n": 3 } },
            Bson::Array(vec![]),
        ),
        (
            doc! { "$topN": { "n": 2_i64, "sortBy": { "score": -1 }, "output": ["$player", "$score"] } },
            vec![
                Bson::from(vec![Bson::from("C"), 99.into()]),
                vec![Bson::from("B"), 33.into()].into(),
            ]
            .into(),
        ),
        (
            doc! { "$bottomN": { "n": 2, "sortBy": { "score": 1 }, "output": "$player" } },
            vec!["B", "C"].into(),
        ),
        (
            doc! { "$topN": { "n": i64::MAX, "sortBy": { "score": 1 }, "output": "$player" } },
            vec!["E", "F", "D", "A", "B", "C"].into(),
        ),
        (
            doc! { "$top": { "sortBy": { "score": 1, "player": -1 }, "output": "$player" } },
            "F".into(),
        ),
        (
            doc! { "$bottom": { "sortBy": { "score": 1 }, "output": "$player" } },
            "C".into(),
        ),
        (
            doc! { "$top": { "sortBy": { "score": 1 }, "output": "$missing" } },
            Bson::Null,
        ),
    ] {
        assert_eq!(
            accumulated(accumulator.clone(), &scores),
            expected,
            "{accumulator}"
        );
    }
}

#[test]
fn a_value_does_not_take_the_place_of_an_equal_one() {
    let documents = [
        doc! { "a": 1, "n": 1 },
        doc! { "a": 1.0, "n": 2 },
        doc! { "a": 1_i64, "n": 3 },
        doc! { "a": 2, "n": 4 },
    ];
    let sorted = |name: &str, most: i32| {
        let arguments = doc! { "n": most, "sortBy": { "a": 1 }, "output": "$n" };
        accumulated(doc! { name: arguments }, &documents)
    };
    assert_eq!(sorted("$topN", 2), vec![1, 2].into());
    assert_eq!(sorted("$bottomN", 2), vec![2, 4].into());
    let descending = doc! { "$bottom": { "sortBy": { "a": -1 }, "output": "$n" } };
    assert_eq!(accumulated(descending, &documents), 1.into());
    // The one that came last is the first of those that are equal, as in a set that is read from its end.
    let greatest = accumulated(doc! { "$maxN": { "input": "$a", "n": 3 } }, &documents);
    assert_eq!(
        greatest,
        vec![Bson::from(2), 1_i64.into(), 1.0.into()].into()
    );
}

#[test]
fn the_number_of_values_can_follow_from_the_value_of_the_group() {
    let documents = vec![
        doc! { "g": "a", "x": 1 },
        doc! { "g": "a", "x": 2 },
        doc! { "g": "b", "x": 3 },
        doc! { "g": "b", "x": 4 },
    ];
    let n = doc! { "$cond": [{ "$eq": ["$of", "a"] }, 1, "$$ROOT.two"] };
    let stage = doc! { "$group": {
        "_id": { "of": "$g", "two": { "$literal": 2 } },
        "first": { "$firstN": { "input": "$x", "n": n } },
    } };
    let results = aggregate(&[stage], documents.clone());
    let firsts: Vec<_> = results.iter().map(|group| group["first"].clone()).collect();
    assert_eq!(firsts, [vec![1].into(), vec![3, 4].into()]);
    // It reads no document.
    let stage =
        doc! { "$group": { "_id": "$g", "first": { "$firstN": { "input": "$x", "n": "$x" } } } };
    let error = run_in_chunks(parsed(&[stage]), &raws(documents), 1, &Collections::new());
    assert_eq!(error.expect_err("no number").code(), 7_548_606);
}

/// The paths are those of expressions, in which a number is a name.
#[test]
fn the_order_is_that_of_the_values_at_paths() {
    let documents = [
        doc! { "a": [3, 9], "d": [{ "x": 2 }, { "x": 7 }] },
        doc! { "a": [4, 5], "d": [{ "x": 1 }, { "x": 8 }] },
        doc! { "a": [], "d": { "x": 5 } },
    ];
    let top = |by: Document, output: &str| {
        accumulated(
            doc! { "$topN": { "n": 3, "sortBy": by, "output": output } },
            &documents,
        )
    };
    assert_eq!(
        top(doc! { "a": 1 }, "$a"),
        vec![Bson::Array(vec![]), vec![3, 9].into(), vec![4, 5].into()].into()
    );
    assert_eq!(
        top(doc! { "a": -1 }, "$a"),
        vec![
            Bson::from(vec![3, 9]),
            vec![4, 5].into(),
            Bson::Array(vec![])
        ]
        .into()
    );
    assert_eq!(
        top(doc! { "d.x": -1 }, "$d.x"),
        vec![Bson::from(vec![1, 8]), vec![2, 7].into(), 5.into()].into()
    );
    assert_eq!(
        top(doc! { "a.0": 1 }, "$a"),
        vec![
            Bson::from(vec![3, 9]),
            vec![4, 5].into(),
            Bson::Array(vec![])
        ]
        .into()
    );
}

#[test]
fn arguments_that_these_accumulators_refuse_have_the_codes_of_mongodb() {
    let top = |name: &str, more: Document| {
        let mut arguments = doc! { "output": "$a", "sortBy": { "a": 1 } };
        arguments.extend(more);
        doc! { name: arguments }
    };
    for (accumulator, expected) in [
        (doc! { "$firstN": "$a" }, 5_787_801),
        (doc! { "$lastN": 1 }, 5_787_801),
        (doc! { "$maxN": null }, 5_787_900),
        (doc! { "$minN": [1] }, 40_237),
        (
            doc! { "$minN": { "n": 1, "input": 1, "output": 1 } },
            5_787_901,
        ),
        (doc! { "$minN": { "input": 1 } }, 5_787_906),
        (doc! { "$minN": { "n": 1 } }, 5_787_907),
        (doc! { "$topN": 1 }, 5_788_001),
        (top("$topN", doc! { "n": 1, "x": 1 }), 5_788_002),
        (top("$bottom", doc! { "n": 1 }), 5_788_002),
        (top("$bottomN", doc! {}), 5_788_003),
        (doc! { "$top": { "sortBy": { "a": 1 } } }, 5_788_004),
        (doc! { "$top": { "output": "$a" } }, 5_788_005),
        (top("$top", doc! { "sortBy": "a" }), 10_065),
        (top("$top", doc! { "sortBy": {} }), 9_657_900),
        (top("$top", doc! { "sortBy": { "a": "x" } }), 15_974),
        (top("$top", doc! { "sortBy": { "a": 2 } }), 15_975),
        (top("$top", doc! { "sortBy": { "$natural": 1 } }), 16_410),
        (
            top("$top", doc! { "sortBy": { "a": { "$meta": "textScore" } } }),
            40_218,
        ),
        (doc! { "$median": "$a" }, 7_436_100),
        (doc! { "$percentile": "$a" }, 7_429_703),
        (doc! { "$median": { "input": "$a" } }, 40_414),
        (
            doc! { "$median": { "input": "$a", "method": "approximate", "p": [1] } },
            40_415,
        ),
        (doc! { "$median": { "input": "$a", "method": "exact" } }, 2),
        (doc! { "$median": { "input": "$a", "method": 1 } }, 14),
        (
            doc! { "$percentile": { "input": "$a", "method": "approximate" } },
            40_414,
        ),
    ] {
        assert_eq!(code(accumulator.clone()), expected, "{accumulator}");
    }
    for n in [
        Bson::Null,
        "x".into(),
        0.into(),
        (-1).into(),
        1.5.into(),
        f64::NAN.into(),
        1e300.into(),
        "$a".into(),
    ] {
        for accumulator in [
            top("$topN", doc! { "n": n.clone() }),
            doc! { "$firstN": { "input": "$a", "n": n.clone() } },
        ] {
            assert_eq!(code(accumulator.clone()), 7_548_606, "{accumulator}");
        }
    }
    for (p, expected) in [
        (Bson::from("$a"), 7_750_300),
        (vec![Bson::from("$a")].into(), 7_750_300),
        (Bson::Null, 7_750_301),
        (0.5.into(), 7_750_301),
        (Bson::Array(vec![]), 7_750_301),
        (vec![Bson::from("x")].into(), 7_750_302),
        (vec![Bson::Null].into(), 7_750_302),
        (vec![1.5].into(), 7_750_303),
        (vec![-0.1].into(), 7_750_303),
        (vec![f64::NAN].into(), 7_750_303),
    ] {
        let percentile = doc! { "input": "$a", "method": "approximate", "p": p };
        assert_eq!(
            code(doc! { "$percentile": percentile.clone() }),
            expected,
            "{percentile}"
        );
    }
}

/// Numbers of all types count, and nothing else.
#[test]
fn percentiles_are_numbers_of_the_group_by_their_rank() {
    let decimal: bson::Decimal128 = "2.5".parse().expect("a decimal");
    let documents = [
        doc! { "v": 4 },
        doc! { "v": 1_i64 },
        doc! { "v": 3.0 },
        doc! { "v": decimal },
        doc! { "v": f64::NAN },
        doc! { "v": "5" },
        doc! { "v": null },
        doc! {},
    ];
    let median = |input: &str| doc! { "$median": { "input": input, "method": "approximate" } };
    assert_eq!(accumulated(median("$v"), &documents), 2.5.into());
    assert_eq!(accumulated(median("$x"), &documents), Bson::Null);
    let percentile = |input: &str| {
        doc! { "$percentile": { "input": input, "p": [1, 0.0, { "$add": [0.25, 0.25] }, 0.51], "method": "approximate" } }
    };
    assert_eq!(
        accumulated(percentile("$v"), &documents),
        vec![4.0, 1.0, 2.5, 3.0].into()
    );
    assert_eq!(
        accumulated(percentile("$x"), &documents),
        vec![Bson::Null; 4].into()
    );
    let infinite = [
        doc! { "v": f64::INFINITY },
        doc! { "v": f64::NEG_INFINITY },
        doc! { "v": 0 },
    ];
    assert_eq!(
        accumulated(percentile("$v"), &infinite),
        vec![f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0].into()
    );
}

/// An expression is not evaluated for documents that change nothing.
#[test]
fn the_first_values_are_those_of_the_first_documents_alone() {
    let inverse = doc! { "$divide": [1, "$a"] };
    let documents = [doc! { "a": 1 }, doc! { "a": 0 }];
    let first = doc! { "$firstN": { "input": inverse.clone(), "n": 1 } };
    assert_eq!(accumulated(first, &documents), vec![1.0].into());
    assert_eq!(
        accumulated(doc! { "$first": inverse }, &documents),
        1.0.into()
    );
}

#[test]
fn what_is_not_kept_takes_no_memory() {
    let documents: Vec<RawDocumentBuf> = (0..2_000)
        .map(|at| raw(doc! { "a": at * 7 % 2_000, "text": "x".repeat(1_000) }))
        .collect();
    let run = |accumulator: Document| -> Result<Vec<Document>, Error> {
        let mut run = parsed(&[group(accumulator)]).begin(20_000);
        run.push(documents.clone());
        run.end();
        let mut results = Vec::new();
        loop {
            match run.step()? {
                super::PipelineStep::Documents(documents) => results.extend(plain(documents)),
                super::PipelineStep::Done => return Ok(results),
                _ => {}
            }
        }
    };
    let accumulators = |n: i32| {
        let sorted = doc! { "n": n, "sortBy": { "a": 1 }, "output": "$text" };
        [
            doc! { "$firstN": { "input": "$text", "n": n } },
            doc! { "$lastN": { "input": "$text", "n": n } },
            doc! { "$maxN": { "input": ["$a", "$text"], "n": n } },
            doc! { "$minN": { "input": ["$a", "$text"], "n": n } },
            doc! { "$topN": sorted.clone() },
            doc! { "$bottomN": sorted },
        ]
    };
    for accumulator in accumulators(5) {
        assert!(run(accumulator.clone()).is_ok(), "{accumulator}");
    }
    for accumulator in accumulators(i32::MAX) {
        let error = run(accumulator.clone()).expect_err("too much memory");
        assert_eq!(error.code(), 292, "{accumulator}");
    }
    let median = doc! { "$median": { "input": "$a", "method": "approximate" } };
    assert!(run(median).is_ok());
}

#[cfg(feature = "collation")]
#[test]
fn texts_are_kept_by_the_collation_of_the_pipeline() {
    use crate::{Collation, Pipeline, Variables};
    let collation = Collation::parse(&doc! { "locale": "en", "numericOrdering": true });
    let collation = collation.expect("a collation");
    let documents = raws(
        ["10", "9", "100", "2"]
            .map(|text| doc! { "x": text })
            .to_vec(),
    );
    for (accumulator, expected) in [
        (doc! { "$minN": { "input": "$x", "n": 2 } }, vec!["2", "9"]),
        (
            doc! { "$maxN": { "input": "$x", "n": 2 } },
            vec!["100", "10"],
        ),
        (
            doc! { "$topN": { "n": 2, "sortBy": { "x": -1 }, "output": "$x" } },
            vec!["100", "10"],
        ),
        (
            doc! { "$bottomN": { "n": 2, "sortBy": { "x": -1 }, "output": "$x" } },
            vec!["9", "2"],
        ),
        (
            doc! { "$firstN": { "n": { "$cond": [{ "$lt": ["9", "10"] }, 1, 2] }, "input": "$x" } },
            vec!["10"],
        ),
    ] {
        let stages = [group(accumulator.clone())];
        let pipeline = Pipeline::parse_collated(&stages, &Variables::default(), collation.as_ref());
        let pipeline = pipeline.expect("a pipeline");
        let results = run_in_chunks(pipeline, &documents, 1, &Collections::new());
        let results = plain(results.expect("documents"));
        assert_eq!(results[0]["value"], expected.into(), "{accumulator}");
    }
}

proptest! {
    /// Sorting all documents and cutting is the same, up to the choice among equal ones.
    #[test]
    fn kept_values_are_those_at_an_end_of_all_of_them(
        documents in prop::collection::vec(document(), 1..12),
        n in 1..6_usize,
        up in any::<bool>(),
    ) {
        let direction = if up { 1 } else { -1 };
        let by = doc! { "a": direction };
        let accumulated = |accumulator: Document| {
            let results = run_in_chunks(parsed(&[group(accumulator)]), &raws(documents.clone()), 3, &Collections::new());
            let results = results.expect("documents");
            let value = results[0].get("value").expect("valid BSON").expect("a value");
            RawBson::from(value)
        };
        let as_key = |documents: &[RawDocumentBuf]| {
            let key = |document: &RawDocumentBuf| Sort::parse(&by).expect("a sort").encode_key(document);
            documents.iter().map(key).collect::<Vec<_>>()
        };
        let mut sorted = raws(documents.clone());
        sorted.sort_by_key(|document| as_key(std::slice::from_ref(document)));
        let count = n as i64;
        let roots = |name: &str| {
            let value = accumulated(doc! { name: { "n": count, "sortBy": by.clone(), "output": "$$ROOT" } });
            let array = value.as_array().expect("an array").to_owned();
            let document = |value: bson::RawBsonRef<'_>| value.as_document().expect("a document").to_owned();
            array.into_iter().flatten().map(document).collect::<Vec<_>>()
        };
        let first = &sorted[..n.min(sorted.len())];
        prop_assert_eq!(roots("$topN"), first.to_vec());
        let last = &sorted[sorted.len().saturating_sub(n)..];
        prop_assert_eq!(as_key(&roots("$bottomN")), as_key(last));

        let mut values: Vec<RawBson> = documents.iter().filter_map(|document| document.get("a")).map(|value| raw_value(value.clone())).collect();
        values.retain(|value| *value != RawBson::Null);
        values.sort_by(|a, b| compare(a.as_raw_bson_ref(), b.as_raw_bson_ref()));
        let least: RawArrayBuf = values.iter().take(n).cloned().collect();
        let greatest: RawArrayBuf = values.iter().rev().take(n).cloned().collect();
        for (name, expected) in [("$minN", least), ("$maxN", greatest)] {
            let kept = accumulated(doc! { name: { "n": count, "input": "$a" } });
            let expected = RawBson::Array(expected);
            prop_assert!(compare(kept.as_raw_bson_ref(), expected.as_raw_bson_ref()).is_eq(), "{}", name);
        }
    }
}
