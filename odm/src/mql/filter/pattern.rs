//! Regular expressions.

use bson::{RawBsonRef, Regex};

use crate::mql::{Error, types::bad};

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    options: String,
    regex: regex::Regex,
}

impl Pattern {
    /// Compiles a regular expression. The options are `i`, `m`, `s` and `x`, in any order.
    ///
    /// The syntax is that of the crate `regex`: no look-around and no backreferences, in exchange for
    /// linear time.
    pub fn new(source: &str, options: &str) -> Result<Pattern, Error> {
        let mut letters: Vec<char> = options.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        if letters.iter().any(|letter| !"imsx".contains(*letter)) {
            return Err(bad("$options", "letters among `i`, `m`, `s` and `x`"));
        }
        let has = |letter| letters.contains(&letter);
        let regex = regex::RegexBuilder::new(source)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .build()
            .map_err(|error| Error::InvalidRegex {
                pattern: source.to_owned(),
                reason: error.to_string(),
            })?;
        Ok(Pattern {
            source: source.to_owned(),
            options: letters.into_iter().collect(),
            regex,
        })
    }

    /// Returns the source of the expression.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the options, in alphabetical order.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Whether the expression matches a part of the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(super) fn from_bson(regex: &Regex) -> Result<Pattern, Error> {
        Pattern::new(regex.pattern.as_str(), regex.options.as_str())
    }

    /// The expression as a value, or `None` if it contains a NUL, which a value cannot.
    pub(super) fn to_bson(&self) -> Option<Regex> {
        let pattern = self.source.as_str().try_into().ok()?;
        let options = self.options.as_str().try_into().ok()?;
        Some(Regex { pattern, options })
    }

    pub(super) fn matches(&self, value: RawBsonRef<'_>) -> bool {
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => self.is_match(text),
            RawBsonRef::RegularExpression(other) => {
                other.pattern.as_str() == self.source && other.options.as_str() == self.options
            }
            _ => false,
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.options == other.options
    }
}
