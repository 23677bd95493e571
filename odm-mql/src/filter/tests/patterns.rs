//! Regular expressions, with the meaning of PCRE2.

use super::*;

/// Whether a pattern with options matches a text.
fn found(pattern: &str, options: &str, text: &str) -> bool {
    let pattern = Pattern::new(pattern, options).expect("a pattern");
    pattern.is_match(text).expect("a cheap pattern")
}

#[test]
fn classes_of_letters_are_ascii_unless_the_pattern_asks_for_unicode() {
    assert!(!found(r"^\d+$", "", "١٢٣"));
    assert!(found(r"(*UCP)^\d+$", "", "١٢٣"));
    assert!(!found(r"^\w+$", "", "café"));
    assert!(found(r"\byster", "", "Blue Öyster Cult"));
    assert!(!found(r"a\sb", "", "a\u{a0}b"));
    assert!(found(r"^\W$", "", "é"));
    assert!(found("É", "i", "é"));
    assert!(found("^.$", "", "é"));
}

#[test]
fn the_end_of_a_text_is_before_its_last_line_break_as_well() {
    assert!(found("abc$", "", "abc\n"));
    assert!(!found("abc$", "", "abc\n\n"));
    assert!(!found(r"abc\z", "", "abc\n"));
    assert!(found(r"abc\Z", "", "abc\n"));
}

#[test]
fn a_class_has_no_operators_and_keeps_its_spaces() {
    assert!(found("^[a&&b]$", "", "&"));
    assert!(found("^[a~~b]$", "", "~"));
    assert!(found("^[a b]$", "x", " "));
    assert!(found("^[a#b]$", "x", "#"));
    assert!(found("[[]", "", "["));
}

#[test]
fn the_syntax_of_pcre_has_its_meaning() {
    for (pattern, yes, no) in [
        (r"^a++b$", "aab", "ab "),
        (r"^(\w)\1$", "aa", "ab"),
        (r"a(?=b)", "ab", "ac"),
        (r"(?<!a)b", "cb", "ab"),
        (r"^(?>a|ab)c$", "ac", "abc"),
        (r"^\h\R$", "\t\r\n", "\n\r"),
        (r"^a\Kb", "ab", "b"),
        (r"^\Qa.b\E$", "a.b", "acb"),
        (r"^a(?#comment)b$", "ab", "a(?#comment)b"),
        (r"^(a)?(?(1)b|c)$", "ab", "ac"),
        ("a{", "a{", "a"),
        ("{x}", "{x}", "x"),
        (r"^(?:(?=a)a|b)*+$", "abba", "abc"),
    ] {
        assert!(found(pattern, "", yes), "{pattern} on {yes:?}");
        assert!(!found(pattern, "", no), "{pattern} on {no:?}");
    }
    assert!(!found("^a++a$", "", "aaa"));
}

#[test]
fn the_option_u_has_no_effect() {
    assert!(!found(r"\d", "u", "١"));
    assert!(found("A", "ui", "a"));
}

#[test]
fn a_pattern_has_at_most_32764_bytes() {
    let long = "a".repeat(32_764);
    assert!(Pattern::new(&long, "").is_ok());
    assert!(Pattern::new(&format!("{long}a"), "").is_err());
}

#[test]
fn an_error_in_a_pattern_is_at_its_place_in_the_source() {
    let error = Pattern::new("ab(c", "").expect_err("a group without its end");
    let text = error.to_string();
    assert!(
        text.contains("`ab(c`") && text.ends_with("at byte 4"),
        "{text}"
    );
}

#[test]
fn a_match_that_explodes_is_an_error_that_names_the_pattern() {
    let text = "a".repeat(60);
    let filter = parse(doc! { "t": { "$regex": r"^(a+)+(?!c)$" } });
    let document = raw(doc! { "t": format!("{text}b") });
    let error = filter.matches(&document).expect_err("too many steps");
    assert!(error.to_string().contains(r"`^(a+)+(?!c)$`"), "{error}");
    assert_eq!(filter.matches(&raw(doc! { "t": text })), Ok(true));
    // The expression itself cannot raise the bound.
    assert!(
        Pattern::new("(*LIMIT_MATCH=4000000000)^(a+)+(?!c)$", "")
            .is_ok_and(|pattern| { pattern.is_match(&format!("{}b", "a".repeat(60))).is_err() })
    );
    // Long repetitions do not evade the bound.
    for (source, length) in [
        ("(?:a?){5000}a{5000}", 4_999),
        ("(?=a)(?:a?){999}[bc]", 60_000),
    ] {
        let filter = parse(doc! { "t": { "$regex": source } });
        let document = raw(doc! { "t": "a".repeat(length) });
        let error = filter.matches(&document).expect_err("too many steps");
        assert!(error.to_string().contains(source), "{error}");
    }
    // No negation turns the error into a match.
    let negated = parse(doc! { "t": { "$not": { "$regex": r"^(a+)+(?!c)$" } } });
    assert!(negated.matches(&document).is_err());
}
