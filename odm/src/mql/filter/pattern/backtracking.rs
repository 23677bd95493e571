//! Expressions that only backtracking matches, with bounds.

use pcre2::bytes::{Regex, RegexBuilder};

/// The bounds of a match: its steps, and its memory in KiB. Their place is in front of the expression,
/// which can only lower them. Steps are counted only where a repetition may give back what it took.
pub(super) const BOUNDS: &str = "(*LIMIT_MATCH=2000000)(*LIMIT_HEAP=65536)(*NO_AUTO_POSSESS)";

/// Options that stand in front of an expression, and leave the search as it is.
const OPTIONS: [&str; 9] = [
    "UTF",
    "UCP",
    "CR",
    "LF",
    "CRLF",
    "ANYCRLF",
    "ANY",
    "NUL",
    "BSR_UNICODE",
];

/// Compiles an expression as it is. Steps are bounded for each position of the text.
pub(super) fn compile(source: &str, options: &str) -> Result<Regex, pcre2::Error> {
    let has = |option| options.contains(option);
    RegexBuilder::new()
        .utf(true)
        .caseless(has('i'))
        .multi_line(has('m'))
        .dotall(has('s'))
        .extended(has('x'))
        .build(&format!("{BOUNDS}{source}"))
}

/// Compiles an expression, which is valid, with the search for its place in the text, so that steps are
/// bounded for the whole text. `None` if it does not mean the same then.
pub(super) fn compile_search(source: &str, options: &str) -> Option<Regex> {
    let mut rest = source;
    while let Some(option) = rest.strip_prefix("(*") {
        let (name, after) = option.split_once(')')?;
        let is_known = OPTIONS.contains(&name);
        is_known.then_some(())?;
        rest = after;
    }
    // A recursion into the whole would search anew, and verbs end the search or move it.
    let is_whole = |text| rest.contains(text);
    if ["(*", "(?R", "(?0", r"\g<0", r"\g'0"]
        .into_iter()
        .any(is_whole)
    {
        return None;
    }
    let front = &source[..source.len() - rest.len()];
    // A comment at the end takes in the bracket, unless there is a new line.
    [")", "\n)"].into_iter().find_map(|end| {
        let search = format!(r"{front}\A(?s:.)*?(?:{rest}{end}");
        compile(&search, options).ok()
    })
}
