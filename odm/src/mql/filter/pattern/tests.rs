use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::mql::fold;

/// Parts of expressions, most of which the linear engine takes.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8_000))]

    #[test]
    fn all_engines_give_an_expression_one_meaning(
        source in part(),
        options in options(),
        texts in prop::collection::vec("[abcK1_ .é\n\u{a0}\u{212a}{-]{0,6}", 8),
    ) {
        if let Ok(plain) = backtracking::compile(&source, options) {
            let linear = linear::compile(&source, options);
            let search = backtracking::compile_search(&source, options);
            for text in &texts {
                let Ok(expected) = plain.is_match(text.as_bytes()) else {
                    continue;
                };
                if let Some(linear) = &linear {
                    prop_assert_eq!(linear.is_match(text), expected, "{:?} on {:?}", source, text);
                }
                if let Some(Ok(found)) = search.as_ref().map(|it| it.is_match(text.as_bytes())) {
                    prop_assert_eq!(found, expected, "the search of {:?} on {:?}", source, text);
                }
            }
        }
    }
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
    ] {
        assert!(linear::compile(source, options).is_some(), "{source}");
    }
    for (source, options) in [
        ("a(?=b)", ""),
        (r"(a)\1", ""),
        ("a++", ""),
        ("^a", "m"),
        ("a b", "x"),
    ] {
        assert!(linear::compile(source, options).is_none(), "{source}");
    }
}

#[test]
fn no_match_takes_long() {
    let (a, x) = ("a".repeat(60_000), "x".repeat(60_000));
    for (source, text) in [
        ("^(a+)+$", format!("{a}b")),
        ("[ab]*[xy]", a.clone()),
        ("(?!b)[ab]*[xy]", a.clone()),
        (r"(?!b)(x+x+)+y", x.clone()),
        (r"(a*)*\1[xy]", a.clone()),
        (r"(?=(.*))(.*)(.*)(.*)[xy]", a),
    ] {
        let pattern = Pattern::new(source, "").expect("a pattern");
        let started = Instant::now();
        let _ = pattern.is_match(&text);
        // It takes a second at most, on a machine that has nothing else to do.
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{source}: {:?}",
            started.elapsed()
        );
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
fn a_search_keeps_what_begins_and_ends_an_expression() {
    let search = |source: &str, options, text: &str| {
        let regex = backtracking::compile_search(source, options).expect("a search");
        regex.is_match(text.as_bytes()).expect("a cheap one")
    };
    assert!(search(r"(*UCP)\d(?=a)", "", "x١a"));
    assert!(search("a(?=b) # comment", "x", "xab"));
    // A quotation without its end takes in the bracket.
    assert!(backtracking::compile_search(r"(?=a)\Qb", "").is_none());
    assert!(backtracking::compile_search("a(*COMMIT)b", "").is_none());
    assert!(backtracking::compile_search("a(?R)?b", "").is_none());
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
        let source = format!(r"^{}\z", pcre2::escape(&each.to_string()));
        let regex = backtracking::compile(&source, "i").expect("a pattern");
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
        let plain = backtracking::compile(source, "i").expect("a pattern");
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
