use proptest::prelude::*;

use super::*;
use crate::fold;

/// Parts of expressions. The linear engine can match most of them.
fn part() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&[
        "a",
        "b",
        "ab",
        "K",
        ".",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\b",
        r"\.",
        r"\n",
        "[ab]",
        "[^a]",
        "[a-c1]",
        r"[\d_]",
        "[-a]",
        "[a-]",
        r"[^\s]",
        "^",
        "$",
        " ",
        "1",
        "{",
        "]",
        "",
        "é",
        "[[:alpha:]]",
        "(?=a)",
        "(?!b)",
        "(?<=a)",
        r"\1",
        "(?>a|ab)",
        r"\Z",
        r"\B",
        r"\R",
        "(?#x)",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(3, 16, 4, |inner| {
            let quantifier = prop::sample::select(&[
                "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,}", "*+", "{,2}", "{2", "{ 1 }",
            ]);
            prop_oneof![
                3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a + &b),
                1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}|{b}")),
                2 => (inner.clone(), quantifier.clone()).prop_map(|(a, by)| format!("(?:{a}){by}")),
                2 => (inner.clone(), quantifier).prop_map(|(a, by)| format!("{a}{by}")),
                1 => inner.prop_map(|a| format!("({a})")),
            ]
        })
}

fn options() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["", "i", "m", "s", "im", "ims", "x"])
}

/// Parts that only backtracking matches, with the rest of the syntax.
fn rare_part() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&[
        "a",
        "b",
        "ab",
        "K",
        "k",
        "ſ",
        ".",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        r"\b",
        r"\n",
        "[ab]",
        "[^a]",
        "[^k]",
        "[k-m]",
        r"[\W_]",
        r"[[:alpha:]]",
        r"[[:^upper:]b]",
        r"[\d-z]",
        r"[a\]b]",
        r"[]a]",
        r"[^]a]",
        r"[\Qa-c\E]",
        r"[a-\Qc\E]",
        "^",
        "$",
        "1",
        "é",
        "É",
        r"\1",
        r"\2",
        r"\g{-1}",
        r"\g1",
        r"\k<n>",
        r"(?P=n)",
        r"\Z",
        r"\z",
        r"\A",
        r"\G",
        r"\B",
        r"\R",
        r"\h",
        r"\v",
        r"\H",
        r"\V",
        r"\N",
        r"\K",
        r"\x61",
        r"\x{e9}",
        r"\07",
        r"\101",
        r"\o{141}",
        r"\cA",
        r"\e",
        r"\Qa.\E",
        r"\E",
        "(?#x)",
        "(?i)",
        "(?-i)",
        "(?x) a b ",
        "(?s)",
        "(?m)",
        "(?U)",
        "(?^)",
        "(?R)?",
        "(?1)",
        r"\g<1>",
        "(?&n)",
        r"\p{L}",
        r"\pL",
        r"\P{Lu}",
        r"\p{^Lu}",
        r"\p{Greek}",
        "(?(1)a|b)",
        "(?(<n>)a)",
        "(?(R)a|b)",
        "(?(?=a)a|b)",
        "(?(?!a)b|a)",
        "(*FAIL)",
        "(?<=a|bc)",
        "(?<!ab?)",
        "(?<=a{1,3})",
        "(?<=a*)",
        "(?<n>a)",
        "(?|(a)|(b))",
        "(?:)",
        "()",
        "[[:<:]]",
        "[[:>:]]",
        "(?i:a)",
        "(?x: a # b\n)",
        "{",
        "{,",
        "{2",
        "]",
        "}",
        r"\.",
        r"\-",
        r"\é",
        "# ",
        "é",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 24, 4, |inner| {
            let quantifier = prop::sample::select(&[
                "*",
                "+",
                "?",
                "*?",
                "+?",
                "??",
                "*+",
                "++",
                "?+",
                "{2}",
                "{1,2}",
                "{0,}",
                "{,2}",
                "{2,}?",
                "{1,3}+",
                "{0}",
                "{ 1 , 2 }",
                "{2,1}",
                "{,}",
                " *",
                "{3,}",
            ]);
            let group = prop::sample::select(&[
                "(",
                "(?:",
                "(?>",
                "(?=",
                "(?!",
                "(?<=",
                "(?<!",
                "(?<n>",
                "(?|",
                "(?i:",
                "(?(1)",
                "(?*",
                "(?(DEFINE)",
                "(?n:",
            ]);
            prop_oneof![
                4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a + &b),
                2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}|{b}")),
                2 => (inner.clone(), quantifier.clone()).prop_map(|(a, by)| format!("(?:{a}){by}")),
                2 => (inner.clone(), quantifier.clone()).prop_map(|(a, by)| format!("({a}){by}")),
                2 => (inner.clone(), quantifier).prop_map(|(a, by)| format!("{a}{by}")),
                3 => (group, inner).prop_map(|(group, a)| format!("{group}{a})")),
            ]
        })
}

/// Compares both engines with PCRE2.
fn check(source: &str, options: &str, texts: &[String]) -> Result<(), TestCaseError> {
    let ours = parse::parse(source, options);
    if matches!(&ours, Err(error) if error.reason.starts_with("a lookbehind has no greatest")) {
        // PCRE2 knows the lengths of some references that have no length here.
        return Ok(());
    }
    let theirs = oracle(source, options);
    prop_assert_eq!(
        ours.as_ref().err().map(|error| &error.reason).is_some(),
        theirs.is_err(),
        "{:?} {:?}: {:?} {:?}",
        source,
        options,
        ours.as_ref().err(),
        theirs.as_ref().err()
    );
    let (Ok(tree), Ok(theirs)) = (ours, theirs) else {
        return Ok(());
    };
    let linear = linear::compile(&tree);
    let program = program::compile(&tree);
    for text in texts {
        let Ok(expected) = theirs.is_match(text.as_bytes()) else {
            continue;
        };
        if let Some(linear) = &linear {
            let found = linear.is_match(text);
            prop_assert_eq!(
                found,
                Some(expected),
                "linear {:?} {:?} on {:?}",
                source,
                options,
                text
            );
        }
        if let Ok(found) = machine::search(&program, text, &Steps::default()) {
            prop_assert_eq!(found, expected, "{:?} {:?} on {:?}", source, options, text);
        }
    }
    Ok(())
}

/// PCRE2's result for an expression. Two of its optimizations are wrong: by that of starts `(?=(?:a|b){0})` is not found in `x`, and by that of
/// possessive quantifiers `\R?\s` is not found in a newline.
fn oracle(source: &str, options: &str) -> Result<pcre2::bytes::Regex, pcre2::Error> {
    let has = |option| options.contains(option);
    pcre2::bytes::RegexBuilder::new()
        .utf(true)
        .caseless(has('i'))
        .multi_line(has('m'))
        .dotall(has('s'))
        .extended(has('x'))
        .build(&format!(
            "(*NO_START_OPT)(*NO_AUTO_POSSESS)(*LIMIT_MATCH=100000)(*LIMIT_HEAP=65536){source}"
        ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn usual_expressions_have_the_meaning_of_pcre2(
        source in part(),
        options in options(),
        texts in prop::collection::vec("[abcK1_ .é\n\u{a0}\u{212a}{-]{0,6}", 8),
    ) {
        check(&source, options, &texts)?;
    }

    #[test]
    fn rare_expressions_have_the_meaning_of_pcre2(
        source in rare_part(),
        options in options(),
        texts in prop::collection::vec("[abckKſ1é\n\r ]{0,6}", 8),
    ) {
        check(&source, options, &texts)?;
    }
}

/// The number of cases of a property, which `PROPTEST_CASES` raises.
fn cases(default: u32) -> u32 {
    let told = std::env::var("PROPTEST_CASES").ok();
    told.and_then(|cases| cases.parse().ok()).unwrap_or(default)
}

#[test]
fn no_word_boundary_is_found_within_a_character() {
    let sources = [
        r"\B",
        r"\B|\W",
        r"\W|\B",
        r"\B|é",
        r"(?:\B|\W)1",
        r"\B1|é1",
        r"1\B",
    ];
    for source in sources {
        let texts = [
            "K\u{212a}1",
            "aé",
            "aéa",
            "a\u{1d11e}1",
            "a1é",
            "ab",
            "a1",
            "a",
        ];
        check(source, "", &texts.map(str::to_owned)).expect("the meaning of PCRE2");
        let is_never_empty = source.contains('1');
        assert_eq!(is_linear(source, ""), is_never_empty, "{source}");
        // Each search has at most one begin.
        if is_never_empty {
            let long = "b ".repeat(1 << 20) + "éa";
            let pattern = Pattern::new(source, "").expect("a pattern");
            assert_eq!(pattern.is_match(&long), Ok(false), "{source}");
        }
    }
}

#[test]
fn a_condition_without_a_no_has_the_length_of_its_yes_in_a_lookbehind() {
    let texts = ["", "a", "b", "ab", "ba", "aab", "éa"].map(str::to_owned);
    for source in [
        "(?<n>(?<=(?(<n>)a)))",
        "(?<n>(?<!(?(<n>)a)))",
        "(?<n>(?<=(?(<n>)a|)))",
        "(?<n>b)?(?<=(?(<n>)a))",
        "(?<n>b)?(?<=(?(<n>)a?))a",
        "(?<n>b)?(?<=(?(<n>)aa|b))",
        "(?<=(?(?=b)b)a)",
    ] {
        check(source, "", &texts).expect("the meaning of PCRE2");
    }
}

fn is_linear(source: &str, options: &str) -> bool {
    linear::compile(&parse::parse(source, options).expect("a pattern")).is_some()
}

#[test]
fn usual_expressions_take_linear_time() {
    for (source, options) in [
        ("^abc", ""),
        ("abc$", ""),
        (r"^\w+@\w+\.(com|org)$", "i"),
        (r"[a-z]{2,5}\d*?", ""),
        ("^a|b$", ""),
        (r"\bword\b", "i"),
        ("^(a+)+$", ""),
        ("a.*b$", "ms"),
        ("a b # and", "x"),
        ("É", "i"),
        ("(a|b$)", ""),
    ] {
        assert!(is_linear(source, options), "{source}");
    }
    for (source, options) in [
        ("a(?=b)", ""),
        (r"(a)\1", ""),
        ("a++", ""),
        ("^a", "m"),
        ("a$b", ""),
    ] {
        assert!(!is_linear(source, options), "{source}");
    }
}

#[test]
fn a_text_that_is_too_long_for_backtracking_is_an_error() {
    let long = "a".repeat(70_000);
    let needs_backtracking = Pattern::new("a(?=b)", "").expect("a pattern");
    let error = needs_backtracking
        .is_match(&long)
        .expect_err("it is too long");
    assert!(error.to_string().contains("`a(?=b)`"), "{error}");
    assert_eq!(
        Pattern::new("ab", "").expect("a pattern").is_match(&long),
        Ok(false)
    );
}

#[test]
fn long_repetitions_on_long_texts_are_refused_or_end_within_the_bound() {
    const EITHER: Option<bool> = None;
    const REFUSED: Option<bool> = Some(true);
    const ENDS: Option<bool> = Some(false);
    let a = |length: usize| "a".repeat(length);
    let but_for_one = format!("{}b", a(1_000)).repeat(60);
    // PCRE2's answer without a bound, and whether the match is refused.
    for (source, text, matches, refused) in [
        ("(?:a?){5000}a{5000}", a(4_999), false, REFUSED),
        ("(?:a?){5000}a{5000}", a(60_000), true, ENDS),
        ("(?:a?){5000}a{5000}", a(1_000_000), true, REFUSED),
        ("a{1001}", a(1_001), true, ENDS),
        ("a{1001}", but_for_one.clone(), false, EITHER),
        ("(?:a|b){1001}c", but_for_one, false, REFUSED),
        ("(?:ab){1001}", "ab".repeat(1_000), false, EITHER),
        ("(?:ab){1001}", "ab".repeat(1_001), true, ENDS),
        ("(?=a)(?:a?){999}[bc]", a(60_000), false, REFUSED),
        ("(?=a)(?:a?){999}[bc]", a(70_000), false, REFUSED),
        ("(?=a)(?:a?){999}[bc]", a(500) + "b", true, ENDS),
        ("(?:a?){999}[bc]", a(1_000_000), false, EITHER),
        ("(?:a?){999}[bc]", a(1_000_000) + "c", true, EITHER),
        ("(?:[ab]?c?){999}d", "abc".repeat(300_000), false, EITHER),
    ] {
        let pattern = Pattern::new(source, "").expect("a pattern");
        let steps = Steps::default();
        let found = pattern.is_match_within(&text, &steps);
        let what = format!("{source} on {} bytes: {found:?}", text.len());
        match &found {
            Ok(found) => assert_eq!(*found, matches, "{what}"),
            Err(error) => assert!(matches!(error, Error::Limit { .. }), "{what}"),
        }
        assert!(
            refused.is_none_or(|refused| refused == found.is_err()),
            "{what}"
        );
        // In addition to the steps that are taken, the refused one.
        #[cfg(feature = "__steps")]
        assert!(steps.made() <= 2_000_100, "{what}");
    }
}

#[test]
fn letters_are_paired_as_pcre2_pairs_them() {
    let mut different = Vec::new();
    for each in '\0'..=char::MAX {
        let cases = each.to_lowercase().chain(each.to_uppercase());
        let others: Vec<char> = cases
            .chain([fold::char(each)])
            .filter(|other| *other != each)
            .collect();
        if others.is_empty() {
            continue;
        }
        let source = format!(r"^{}\z", escape(&each.to_string()));
        let regex = oracle(&source, "i").expect("a pattern");
        let pattern = Pattern::new(&source, "i").expect("a pattern");
        assert!(pattern.as_folded().is_some());
        for other in others {
            let text = other.to_string();
            let matches = regex.is_match(text.as_bytes()).expect("an answer");
            if pattern.is_match(&text).expect("an answer") != matches {
                different.push((each, other));
            }
        }
    }
    assert_eq!(different, Vec::<(char, char)>::new());
}

#[test]
fn a_literal_without_case_is_compared_from_the_begin_of_a_text() {
    let matches = |source: &str, text: &str| {
        let pattern = Pattern::new(source, "i").expect("a pattern");
        let plain = oracle(source, "i").expect("a pattern");
        let is_match = pattern.is_match(text).expect("an answer");
        assert_eq!(
            is_match,
            plain.is_match(text.as_bytes()).expect("an answer"),
            "{source} {text}"
        );
        (pattern.as_folded().is_some(), is_match)
    };
    assert_eq!(matches(r"^a\.B\z", "A.b"), (true, true));
    assert_eq!(matches(r"^a\.b\z", "axb"), (true, false));
    assert_eq!(matches(r"^ab\z", "ab\n"), (true, false));
    assert_eq!(matches(r"^ab\z", "abc"), (true, false));
    assert_eq!(matches("^ab", "ABc"), (true, true));
    assert_eq!(matches("^ÄB", "äbc"), (true, true));
    assert_eq!(matches("^", ""), (true, true));
    assert_eq!(matches("^k", "\u{212a}"), (true, true));
    assert_eq!(matches(r"^ß\z", "ss"), (true, false));
    // A backslash and a letter.
    assert_eq!(matches(r"^a\\z", r"A\Z"), (true, true));
    assert_eq!(matches("^a.c", "AxC"), (false, true));
    assert_eq!(matches(r"^\d", "1"), (false, true));
    assert_eq!(matches("ab", "xAB"), (false, true));
    assert_eq!(matches("^ab$", "AB\n"), (false, true));
    let lines = Pattern::new("^b", "im").expect("a pattern");
    assert!(lines.as_folded().is_none() && lines.is_match("a\nB").expect("an answer"));
}

#[test]
fn a_long_text_is_compared_without_case() {
    let long = "Ä".repeat(100_000);
    let pattern = Pattern::new("^ääÄ", "i").expect("a pattern");
    assert!(pattern.is_match(&long).expect("an answer"));
    let text = long[..20_000].to_owned();
    assert!(
        Pattern::equal_ignoring_case(&text)
            .expect("a pattern")
            .is_match(&text.to_lowercase())
            .expect("an answer")
    );
}
