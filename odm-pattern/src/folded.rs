//! Expressions that compare a text with a literal, from its begin and without regard to case.
//!
//! They have the meaning of PCRE2, whose pairs of letters are those of Unicode's simple case folding. But they use the same table as the
//! keys of indexes, so that an answer never depends on the index that gives it.

use super::FoldedText;
use crate::fold;

#[derive(Debug, Clone)]
pub(super) struct Literal {
    /// The folded literal.
    text: String,
    /// Whether the text must end after it.
    is_whole: bool,
}

/// Reads `^literal` or `^literal\z`.
pub(super) fn compile(source: &str, options: &str) -> Option<Literal> {
    // `s` and `u` have no effect on a literal.
    if !options.contains('i') || options.contains(['m', 'x']) {
        return None;
    }
    let literal = source.strip_prefix('^')?;
    let (literal, is_whole) = match literal.strip_suffix(r"\z") {
        // After another backslash, the `z` is a letter.
        Some(rest) if rest.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0 => {
            (rest, true)
        }
        _ => (literal, false),
    };
    let mut text = String::with_capacity(literal.len());
    let mut rest = literal.chars();
    while let Some(char) = rest.next() {
        let char = match char {
            '\\' => rest.next().filter(char::is_ascii_punctuation)?,
            '.' | '[' | '(' | ')' | '|' | '$' | '^' | '*' | '+' | '?' | '{' => return None,
            char => char,
        };
        text.push(fold::char(char));
    }
    Some(Literal { text, is_whole })
}

impl Literal {
    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut folded = text.chars().map(fold::char);
        let starts = self.text.chars().all(|char| folded.next() == Some(char));
        starts && (!self.is_whole || folded.next().is_none())
    }

    pub(super) fn as_folded(&self) -> FoldedText<'_> {
        match self.is_whole {
            true => FoldedText::Equals(&self.text),
            false => FoldedText::StartsWith(&self.text),
        }
    }
}
