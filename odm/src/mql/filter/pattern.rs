//! Regular expressions, with the meaning that PCRE2 gives them in MongoDB.

use bson::{RawBsonRef, Regex};
use pcre2::bytes::RegexBuilder;

use crate::mql::{Error, types::bad_as};

/// The longest expression, in bytes.
const MAX_LEN: usize = 32_764;

/// The bounds of a match: its steps from one position of the text, and its memory in KiB. Their place is
/// in front of the expression, which can only lower them.
const BOUNDS: &str = "(*LIMIT_MATCH=1000000)(*LIMIT_HEAP=65536)";

/// A compiled regular expression, with the syntax and the meaning of PCRE2.
///
/// The text is UTF-8: `.` is a character, and the option `i` is about the letters of all scripts. `\d`,
/// `\w`, `\s` and `\b` are about ASCII, unless the expression begins with `(*UCP)`. A match takes a
/// bounded number of steps: see [`Error::RegexLimit`].
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    options: String,
    regex: pcre2::bytes::Regex,
}

impl Pattern {
    /// Compiles a regular expression. The options are `i`, `m`, `s`, `x` and `u`, in any order; `u` has
    /// no effect.
    pub fn new(source: &str, options: &str) -> Result<Pattern, Error> {
        let mut letters: Vec<char> = options.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        if letters.iter().any(|letter| !"imsxu".contains(*letter)) {
            let expected = "letters among `i`, `m`, `s`, `x` and `u`";
            return Err(bad_as(51_108, "$options", expected));
        }
        let invalid = |reason: String| Error::InvalidRegex {
            pattern: source.chars().take(100).collect(),
            reason,
        };
        if source.len() > MAX_LEN {
            return Err(invalid(format!("it is longer than {MAX_LEN} bytes")));
        }
        let has = |letter| letters.contains(&letter);
        let regex = RegexBuilder::new()
            .utf(true)
            .caseless(has('i'))
            .multi_line(has('m'))
            .dotall(has('s'))
            .extended(has('x'))
            .build(&format!("{BOUNDS}{source}"))
            .map_err(|error| invalid(reason(&error)))?;
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
    ///
    /// # Errors
    ///
    /// [`RegexLimit`](Error::RegexLimit) if that is not known after a bounded number of steps.
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        self.regex
            .is_match(text.as_bytes())
            .map_err(|error| Error::RegexLimit {
                pattern: self.source.clone(),
                reason: error.to_string(),
            })
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

    pub(super) fn matches(&self, value: RawBsonRef<'_>) -> Result<bool, Error> {
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => self.is_match(text),
            RawBsonRef::RegularExpression(other) => {
                Ok(other.pattern.as_str() == self.source && other.options.as_str() == self.options)
            }
            _ => Ok(false),
        }
    }
}

/// What PCRE2 says of an expression, with the offset in its source.
fn reason(error: &pcre2::Error) -> String {
    let text = error.to_string();
    let (Some(offset), Some((_, what))) = (error.offset(), text.rsplit_once(": ")) else {
        return text;
    };
    format!("{what}, at byte {}", offset.saturating_sub(BOUNDS.len()))
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.options == other.options
    }
}
