//! Operators on arrays, sets and the numbers in arrays.

use super::*;

fn check(cases: impl IntoIterator<Item = (Document, Bson)>, document: &Document) {
    for (expression, expected) in cases {
        let value = value(expression.clone(), document.clone());
        assert_eq!(value, Some(expected), "{expression}");
    }
}

fn check_errors(cases: impl IntoIterator<Item = (Document, i32)>, document: &Document) {
    for (expression, code) in cases {
        let parsed = Expr::parse(&expression.clone().into());
        let result = parsed.and_then(|parsed| parsed.evaluate(&raw(document.clone())));
        let error = result.expect_err("no value");
        assert_eq!(error.code(), code, "{expression}: {error}");
    }
}

#[test]
fn arrays_are_searched_made_reversed_and_zipped() {
    let document = doc! { "n": [3, 1, 2, 1], "null": null, "text": "a" };
    check(
        [
            (doc! { "$indexOfArray": ["$n", 1] }, 1.into()),
            (doc! { "$indexOfArray": ["$n", 1, 2] }, 3.into()),
            (doc! { "$indexOfArray": ["$n", 1, 2, 3] }, (-1).into()),
            (doc! { "$indexOfArray": ["$null", 1] }, Bson::Null),
            (doc! { "$reverseArray": "$n" }, vec![1, 2, 1, 3].into()),
            (doc! { "$range": [0, 10, 3] }, vec![0, 3, 6, 9].into()),
            (doc! { "$range": [3, 0, -2] }, vec![3, 1].into()),
            (doc! { "$range": [3, 0] }, Bson::Array(Vec::new())),
            (
                doc! { "$zip": { "inputs": [[1, 2], ["a"]] } },
                Bson::Array(vec![Bson::Array(vec![1.into(), "a".into()])]),
            ),
            (
                doc! { "$zip": { "inputs": [[1, 2], ["a"]], "useLongestLength": true, "defaults": [0, "z"] } },
                Bson::Array(vec![
                    Bson::Array(vec![1.into(), "a".into()]),
                    Bson::Array(vec![2.into(), "z".into()]),
                ]),
            ),
            (doc! { "$zip": { "inputs": ["$n", "$null"] } }, Bson::Null),
        ],
        &document,
    );
    check_errors(
        [
            (doc! { "$indexOfArray": ["$text", 1] }, 40_090),
            (doc! { "$indexOfArray": ["$n", 1, -1] }, 9_711_601),
            (doc! { "$indexOfArray": ["$n", 1, 0.5] }, 9_711_600),
            (doc! { "$reverseArray": "$text" }, 34_435),
            (doc! { "$range": ["a", 1] }, 34_443),
            (doc! { "$range": [0, 1.5] }, 34_446),
            (doc! { "$range": [0, 1, 0] }, 34_449),
            (doc! { "$zip": { "inputs": ["$text"] } }, 34_468),
            (
                doc! { "$zip": { "inputs": [[1]], "defaults": [0] } },
                34_466,
            ),
            (doc! { "$zip": { "inputs": [] } }, 34_465),
        ],
        &document,
    );
}

#[test]
fn documents_become_pairs_and_pairs_documents() {
    let document = doc! { "d": { "a": 1, "b": { "c": 2 } }, "text": "a" };
    let pairs = vec![
        Bson::from(doc! { "k": "a", "v": 1 }),
        doc! { "k": "b", "v": { "c": 2 } }.into(),
    ];
    check(
        [
            (doc! { "$objectToArray": "$d" }, Bson::Array(pairs)),
            (
                doc! { "$arrayToObject": { "$objectToArray": "$d" } },
                doc! { "a": 1, "b": { "c": 2 } }.into(),
            ),
            (
                doc! { "$arrayToObject": { "$literal": [["a", 1], ["b", 2], ["a", 3]] } },
                doc! { "a": 3, "b": 2 }.into(),
            ),
            (doc! { "$objectToArray": null }, Bson::Null),
        ],
        &document,
    );
    let of = |array: Bson| doc! { "$arrayToObject": { "$literal": array } };
    check_errors(
        [
            (doc! { "$objectToArray": "$text" }, 40_390),
            (doc! { "$arrayToObject": "$text" }, 40_386),
            (of(vec![1].into()), 40_398),
            (of(vec![doc! { "k": "a" }].into()), 40_392),
            (of(vec![doc! { "k": "a", "x": 1 }].into()), 40_393),
            (of(vec![doc! { "k": 1, "v": 1 }].into()), 40_394),
            (of(vec![Bson::from(vec!["a"])].into()), 40_397),
            (of(vec![Bson::from(vec![1, 2])].into()), 40_395),
        ],
        &document,
    );
}

#[test]
fn elements_are_sorted_and_some_of_them_taken() {
    let document = doc! { "n": [3, null, 1, 2], "d": [{ "a": 1, "b": 2 }, { "a": 1, "b": 1 }, 7] };
    check(
        [
            (
                doc! { "$sortArray": { "input": "$n", "sortBy": 1 } },
                Bson::Array(vec![Bson::Null, 1.into(), 2.into(), 3.into()]),
            ),
            (
                doc! { "$sortArray": { "input": "$d", "sortBy": { "a": -1, "b": 1 } } },
                Bson::Array(vec![
                    doc! { "a": 1, "b": 1 }.into(),
                    doc! { "a": 1, "b": 2 }.into(),
                    7.into(),
                ]),
            ),
            (
                doc! { "$firstN": { "n": 1, "input": "$n" } },
                vec![3].into(),
            ),
            (
                doc! { "$lastN": { "n": 2, "input": "$n" } },
                vec![1, 2].into(),
            ),
            (
                doc! { "$maxN": { "n": 2, "input": "$n" } },
                vec![3, 2].into(),
            ),
            (
                doc! { "$minN": { "n": 9, "input": "$n" } },
                vec![1, 2, 3].into(),
            ),
        ],
        &document,
    );
    check_errors(
        [
            (
                doc! { "$sortArray": { "input": 1, "sortBy": 1 } },
                2_942_504,
            ),
            (
                doc! { "$sortArray": { "input": [], "sortBy": 2 } },
                2_942_506,
            ),
            (
                doc! { "$sortArray": { "input": [], "sortBy": "a" } },
                2_942_507,
            ),
            (
                doc! { "$sortArray": { "input": [], "sortBy": { "a": 0 } } },
                2_942_505,
            ),
            (doc! { "$firstN": { "n": 0, "input": "$n" } }, 5_787_908),
            (doc! { "$firstN": { "input": "$n" } }, 5_787_906),
            (doc! { "$firstN": { "n": null, "input": "$n" } }, 5_787_902),
            (doc! { "$firstN": { "n": 1.5, "input": "$n" } }, 5_787_903),
        ],
        &document,
    );
}

#[test]
fn sets_have_each_value_once() {
    let document = doc! { "a": [1, 2, 2.0, 3], "b": [3, 1], "null": null, "text": "x" };
    check(
        [
            (
                doc! { "$setUnion": ["$a", "$b", [4]] },
                vec![1, 2, 3, 4].into(),
            ),
            (doc! { "$setIntersection": ["$a", "$b"] }, vec![1, 3].into()),
            (doc! { "$setDifference": ["$a", "$b"] }, vec![2].into()),
            (doc! { "$setEquals": ["$b", [1, 3, 3]] }, true.into()),
            (doc! { "$setIsSubset": ["$b", "$a"] }, true.into()),
            (doc! { "$setIsSubset": ["$a", "$b"] }, false.into()),
            (doc! { "$allElementsTrue": [[1, true]] }, true.into()),
            (doc! { "$allElementsTrue": [[1, null]] }, false.into()),
            (doc! { "$anyElementTrue": [[0, "a"]] }, true.into()),
            (doc! { "$setUnion": ["$a", "$null"] }, Bson::Null),
        ],
        &document,
    );
    check_errors(
        [
            (doc! { "$setUnion": ["$text"] }, 17_043),
            (doc! { "$setIntersection": ["$text"] }, 17_047),
            (doc! { "$setDifference": ["$text", "$a"] }, 17_048),
            (doc! { "$setEquals": ["$a", "$null"] }, 17_044),
            (doc! { "$setIsSubset": ["$a", "$null"] }, 17_042),
            (doc! { "$allElementsTrue": ["$text"] }, 17_040),
        ],
        &document,
    );
}

#[test]
fn totals_are_of_the_operands_or_of_one_array() {
    let document = doc! { "n": [2, 4, 4, 4, 5, 5, 7, 9, "x"], "a": 1, "b": 2.5, "text": "x" };
    check(
        [
            (
                doc! { "$sum": ["$a", "$b", "$text", "$missing"] },
                3.5.into(),
            ),
            (doc! { "$sum": "$n" }, 40.into()),
            (doc! { "$sum": ["$n", 1] }, 1.into()),
            (doc! { "$avg": "$n" }, 5.0.into()),
            (doc! { "$avg": ["$text"] }, Bson::Null),
            (doc! { "$min": ["$a", "$b", null] }, 1.into()),
            (doc! { "$max": "$n" }, "x".into()),
            (doc! { "$stdDevPop": "$n" }, 2.0.into()),
            (doc! { "$stdDevSamp": [1, 3] }, 2.0_f64.sqrt().into()),
            (doc! { "$stdDevSamp": [1] }, Bson::Null),
        ],
        &document,
    );
}

#[test]
fn powers_logarithms_angles_and_bits_are_computed() {
    let document = doc! { "text": "x" };
    check(
        [
            (doc! { "$pow": [2, 10] }, 1_024.into()),
            (doc! { "$pow": [2, 40] }, (1_i64 << 40).into()),
            (doc! { "$pow": [2, -1] }, 0.5.into()),
            (doc! { "$pow": [10, 30] }, 1e30.into()),
            (doc! { "$sqrt": 16 }, 4.0.into()),
            (
                doc! { "$sqrt": decimal("2") },
                decimal("1.414213562373095048801688724209698"),
            ),
            (doc! { "$sqrt": decimal("1.00") }, decimal("1.0")),
            (
                doc! { "$sqrt": decimal("9.9E+11") },
                decimal("994987.4371066199547344798210012060"),
            ),
            (doc! { "$exp": 0 }, 1.0.into()),
            (doc! { "$ln": 1 }, 0.0.into()),
            (
                doc! { "$exp": decimal("-1") },
                decimal("0.3678794411714423215955237701614609"),
            ),
            (
                doc! { "$ln": decimal("10") },
                decimal("2.302585092994045684017991454684364"),
            ),
            (doc! { "$log": [decimal("100"), 10] }, decimal("2")),
            (
                doc! { "$log": [64, decimal("2")] },
                decimal("5.999999999999999999999999999999999"),
            ),
            (
                doc! { "$pow": [2.0, decimal("3")] },
                decimal("8.000000000000000000000000000000000"),
            ),
            (
                doc! { "$sigmoid": decimal("0.5") },
                decimal("0.6224593312018545646389005657455087"),
            ),
            (doc! { "$sigmoid": decimal("Infinity") }, decimal("1")),
            (
                doc! { "$degreesToRadians": decimal("180") },
                decimal("3.141592653589793238462643383279503"),
            ),
            (doc! { "$log10": 1_000 }, 1_000_f64.log10().into()),
            (doc! { "$log": [8, 2] }, (8_f64.ln() / 2_f64.ln()).into()),
            (doc! { "$sigmoid": 0 }, 0.5.into()),
            (doc! { "$sin": 0 }, 0.0.into()),
            (doc! { "$atan2": [0, 1] }, 0.0.into()),
            (
                doc! { "$degreesToRadians": 180 },
                std::f64::consts::PI.into(),
            ),
            (doc! { "$cos": null }, Bson::Null),
            (doc! { "$bitAnd": [12, 10_i64] }, 8_i64.into()),
            (doc! { "$bitOr": [12, 10] }, 14.into()),
            (doc! { "$bitXor": [12, 10] }, 6.into()),
            (doc! { "$bitNot": 0 }, (-1).into()),
        ],
        &document,
    );
    check_errors(
        [
            (doc! { "$pow": ["$text", 1] }, 28_762),
            (doc! { "$pow": [0, -1] }, 28_764),
            (doc! { "$pow": [decimal("0"), -1] }, 28_764),
            (doc! { "$ln": decimal("0") }, 28_766),
            (doc! { "$log10": decimal("-1") }, 28_761),
            (doc! { "$log": [decimal("-1"), 2] }, 28_758),
            (doc! { "$log": [2, decimal("1")] }, 28_759),
            (doc! { "$sin": decimal("1") }, 238),
            (doc! { "$sigmoid": [1] }, 14),
            (doc! { "$sigmoid": [] }, 14),
            (doc! { "$sqrt": -1 }, 28_714),
            (doc! { "$ln": 0 }, 28_766),
            (doc! { "$log10": 0 }, 28_761),
            (doc! { "$log": [1, 1] }, 28_759),
            (doc! { "$exp": "$text" }, 28_765),
            (doc! { "$acos": 2 }, 50_989),
            (doc! { "$bitAnd": [1.0] }, 14),
        ],
        &document,
    );
}

#[test]
fn a_random_number_is_another_one_each_time_and_less_than_1() {
    let random = || match value(doc! { "$rand": {} }, doc! {}) {
        Some(Bson::Double(random)) => random,
        other => panic!("{other:?}"),
    };
    let (a, b) = (random(), random());
    assert!(a != b && (0.0..1.0).contains(&a) && (0.0..1.0).contains(&b));
    check_errors(
        [
            (doc! { "$rand": [1] }, 3_040_501),
            (doc! { "$rand": 1 }, 10_065),
        ],
        &doc! {},
    );
}

#[test]
fn a_percentile_is_one_of_the_numbers_of_an_array() {
    let document = doc! { "n": [4, 1.5, "x", 3, f64::NAN], "one": 7, "nan": f64::NAN };
    let median = |input: &str| doc! { "$median": { "input": input, "method": "approximate" } };
    let percentile = |input: &str, p: Bson| doc! { "$percentile": { "input": input, "p": p, "method": "approximate" } };
    check(
        [
            (median("$n"), 3.0.into()),
            (median("$one"), 7.0.into()),
            (median("$text"), Bson::Null),
            (
                percentile("$n", vec![0.9, 0.0].into()),
                vec![4.0, 1.5].into(),
            ),
            (percentile("$one", vec![0, 1].into()), vec![7.0, 7.0].into()),
            (
                percentile("$x", vec![0.5, 0.6].into()),
                vec![Bson::Null, Bson::Null].into(),
            ),
            (
                percentile("$n", doc! { "$concatArrays": [[0.5], [1]] }.into()),
                vec![3.0, 4.0].into(),
            ),
        ],
        &document,
    );
    let nan = value(median("$nan"), document.clone());
    assert!(matches!(nan, Some(Bson::Double(nan)) if nan.is_nan()));
    check_errors(
        [
            (doc! { "$median": "$n" }, 7_436_201),
            (doc! { "$percentile": ["$n"] }, 7_436_200),
            (doc! { "$median": { "input": "$n" } }, 40_414),
            (doc! { "$median": { "input": "$n", "method": "exact" } }, 2),
            (doc! { "$median": { "input": "$n", "method": null } }, 14),
            (
                doc! { "$median": { "input": "$n", "method": "approximate", "p": [1] } },
                40_415,
            ),
            (percentile("$n", "$n".into()), 7_750_300),
            (percentile("$n", 0.5.into()), 7_750_301),
            (percentile("$n", vec!["x"].into()), 7_750_302),
            (percentile("$n", vec![2].into()), 7_750_303),
        ],
        &document,
    );
}
