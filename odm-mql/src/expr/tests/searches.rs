//! Operators that search in texts and cut them.

use super::*;

fn check(cases: impl IntoIterator<Item = (Document, Bson)>) {
    for (expression, expected) in cases {
        let value = value(expression.clone(), doc! { "null": null });
        assert_eq!(value, Some(expected), "{expression}");
    }
}

fn check_errors(cases: impl IntoIterator<Item = (Document, i32)>) {
    for (expression, code) in cases {
        let parsed = Expr::parse(&expression.clone().into());
        let result = parsed.and_then(|parsed| parsed.evaluate(&raw(doc! { "n": 1 })));
        let error = result.expect_err("no value");
        assert_eq!(error.code(), code, "{expression}: {error}");
    }
}

#[test]
fn places_in_a_text_are_counted_in_bytes_or_in_characters() {
    check([
        (doc! { "$indexOfBytes": ["añb", "b"] }, 3.into()),
        (doc! { "$indexOfCP": ["añb", "b"] }, 2.into()),
        (doc! { "$indexOfCP": ["abab", "ab", 1] }, 2.into()),
        (doc! { "$indexOfCP": ["abab", "ab", 1, 2] }, (-1).into()),
        // The end bounds the first character of the part.
        (doc! { "$indexOfCP": ["abab", "ab", 1, 3] }, 2.into()),
        (doc! { "$indexOfBytes": ["abc", "", 3] }, 3.into()),
        (doc! { "$indexOfBytes": ["abc", "", 4] }, (-1).into()),
        (doc! { "$indexOfBytes": ["$null", "a"] }, Bson::Null),
        (doc! { "$strLenBytes": "añb" }, 4.into()),
        (doc! { "$substrBytes": ["añb", 1, 2] }, "ñ".into()),
        (doc! { "$substr": ["abc", 1, -1] }, "bc".into()),
        (doc! { "$substrBytes": ["abc", 5, 1] }, "".into()),
        (doc! { "$strcasecmp": ["Abc", "aBD"] }, (-1).into()),
    ]);
    check_errors([
        (doc! { "$indexOfBytes": ["$n", "a"] }, 40_091),
        (doc! { "$indexOfCP": ["a", "$n"] }, 40_094),
        (doc! { "$indexOfCP": ["a", "a", -1] }, 40_097),
        (doc! { "$indexOfCP": ["a", "a", "b"] }, 40_096),
        (doc! { "$strLenBytes": "$n" }, 34_473),
        (doc! { "$substrBytes": ["añb", 2, 1] }, 28_656),
        (doc! { "$substrBytes": ["añb", 1, 1] }, 28_657),
        (doc! { "$substrBytes": ["a", -1, 1] }, 50_752),
        (doc! { "$substrBytes": ["a", "b", 1] }, 16_034),
    ]);
}

#[test]
fn texts_are_split_trimmed_and_replaced() {
    let texts = |texts: &[&str]| Bson::Array(texts.iter().map(|text| (*text).into()).collect());
    check([
        (
            doc! { "$split": ["a-b--c", "-"] },
            texts(&["a", "b", "", "c"]),
        ),
        (doc! { "$split": ["$null", "-"] }, Bson::Null),
        (doc! { "$trim": { "input": " \n a\u{a0}" } }, "a".into()),
        (
            doc! { "$ltrim": { "input": "xxaxx", "chars": "x" } },
            "axx".into(),
        ),
        (
            doc! { "$rtrim": { "input": "xxaxx", "chars": "yx" } },
            "xxa".into(),
        ),
        (
            doc! { "$trim": { "input": "a", "chars": "$null" } },
            Bson::Null,
        ),
        (
            doc! { "$replaceOne": { "input": "aab", "find": "a", "replacement": "c" } },
            "cab".into(),
        ),
        (
            doc! { "$replaceAll": { "input": "aab", "find": "a", "replacement": "" } },
            "b".into(),
        ),
        (
            doc! { "$replaceAll": { "input": "$null", "find": "a", "replacement": "" } },
            Bson::Null,
        ),
    ]);
    check_errors([
        (doc! { "$split": ["$n", ""] }, 40_085),
        (doc! { "$split": ["a", ""] }, 40_087),
        (doc! { "$split": ["a", "$n"] }, 10_503_900),
        (doc! { "$trim": { "input": "$n" } }, 50_699),
        (doc! { "$trim": { "input": "a", "chars": "$n" } }, 50_700),
        (doc! { "$trim": "a" }, 50_696),
        (
            doc! { "$replaceOne": { "input": "a", "find": "$n", "replacement": "" } },
            10_503_901,
        ),
        (
            doc! { "$replaceAll": { "input": "a", "find": "a" } },
            51_747,
        ),
    ]);
}

#[test]
fn regular_expressions_find_matches_with_their_groups() {
    let found = |text: &str, idx: i32, captures: Vec<Bson>| {
        Bson::from(doc! { "match": text, "idx": idx, "captures": captures })
    };
    check([
        (
            doc! { "$regexMatch": { "input": "Ab", "regex": "^a", "options": "i" } },
            true.into(),
        ),
        (
            doc! { "$regexMatch": { "input": "$null", "regex": "a" } },
            false.into(),
        ),
        (
            doc! { "$regexFind": { "input": "ñab", "regex": "(a)(c)?" } },
            found("a", 1, vec!["a".into(), Bson::Null]),
        ),
        (
            doc! { "$regexFind": { "input": "a", "regex": "b" } },
            Bson::Null,
        ),
        (
            doc! { "$regexFindAll": { "input": "ñañ", "regex": "ñ" } },
            vec![found("ñ", 0, vec![]), found("ñ", 2, vec![])].into(),
        ),
        (
            doc! { "$regexFindAll": { "input": "ab", "regex": "x*" } },
            vec![found("", 0, vec![]), found("", 1, vec![])].into(),
        ),
    ]);
    check_errors([
        (
            doc! { "$regexMatch": { "input": "$n", "regex": "a" } },
            51_104,
        ),
        (
            doc! { "$regexMatch": { "input": "a", "regex": "$n" } },
            51_105,
        ),
        (
            doc! { "$regexMatch": { "input": "a", "regex": "a", "options": "z" } },
            51_108,
        ),
        (
            doc! { "$regexMatch": { "input": "a", "regex": "(" } },
            51_111,
        ),
        (doc! { "$regexMatch": { "input": "a" } }, 31_023),
        (doc! { "$regexMatch": "a" }, 51_103),
    ]);
}

#[test]
fn a_long_text_is_searched_and_trimmed_in_linear_time() {
    let long =
        || doc! { "text": "a".repeat(1_000_000), "part": format!("{}b", "a".repeat(500_000)) };
    let index = doc! { "$indexOfBytes": ["$text", "$part"] };
    assert_eq!(value(index, long()), Some((-1).into()));
    let chars = format!("{}a", "b".repeat(4_095));
    let trim = |chars: &str| doc! { "$trim": { "input": "$text", "chars": chars } };
    assert_eq!(value(trim(&chars), long()), Some("".into()));
    let refused = evaluated(trim(&format!("b{chars}")), long());
    assert_eq!(refused.expect_err("no value").code(), 12_066_800);
    let hair = doc! { "$trim": { "input": "\u{200a}a\u{2009}" } };
    assert_eq!(value(hair, doc! {}), Some("a".into()));
}

#[test]
fn a_range_of_bytes_can_begin_and_end_inside_of_a_character() {
    let index = |part: &str, range: [i32; 2]| {
        value(
            doc! { "$indexOfBytes": ["äbä", part, range[0], range[1]] },
            doc! {},
        )
    };
    assert_eq!(index("ä", [0, 5]), Some(0.into()));
    assert_eq!(index("ä", [1, 5]), Some(3.into()));
    assert_eq!(index("ä", [1, 4]), Some((-1).into()));
    assert_eq!(index("b", [1, 4]), Some(2.into()));
    assert_eq!(index("", [1, 4]), Some(1.into()));
    assert_eq!(index("", [6, 9]), Some((-1).into()));
}
