//! Regular expressions as values, and of values.

use std::cmp::Reverse;

use bson::{RawBson, RawBsonRef, Regex};
use odm_pattern::{Pattern, Steps, words};

use super::{Test, escape};
use crate::{Error, types::bad_as};

impl From<odm_pattern::Error> for Error {
    fn from(error: odm_pattern::Error) -> Self {
        use odm_pattern::Error::{Invalid, Limit, Options};
        match error {
            Invalid { pattern, reason } => Error::InvalidRegex { pattern, reason },
            Limit { pattern, reason } => Error::RegexLimit { pattern, reason },
            Options => bad_as(
                51_108,
                "$options",
                "letters among `i`, `m`, `s`, `x` and `u`",
            ),
        }
    }
}

impl Test {
    /// Tests a list of folded words for all words of a search, and for a beginning of one where the search has `*` after it. `None` if the
    /// search has no words.
    pub fn words(search: &str) -> Result<Option<Test>, Error> {
        let mut words = words::searched(search);
        // An index is read for the first of them, and long words are rare.
        words.sort_by_key(|(word, is_beginning)| (*is_beginning, Reverse(word.chars().count())));
        let tests = words.into_iter().map(|(word, is_beginning)| {
            Ok(if is_beginning {
                Test::Regex(Pattern::new(&format!("^{}", escape(&word)), "")?)
            } else {
                Test::Eq(RawBson::String(word))
            })
        });
        let tests: Vec<Test> = tests.collect::<Result<_, Error>>()?;
        Ok((!tests.is_empty()).then_some(Test::All(tests)))
    }
}

pub(super) fn from_bson(regex: &Regex) -> Result<Pattern, Error> {
    Ok(Pattern::new(
        regex.pattern.as_str(),
        regex.options.as_str(),
    )?)
}

/// The expression as a value, or `None` if it contains a NUL, which a value cannot.
pub(super) fn to_bson(pattern: &Pattern) -> Option<Regex> {
    Some(Regex {
        pattern: pattern.source().try_into().ok()?,
        options: pattern.options().try_into().ok()?,
    })
}

/// Whether the expression matches a text, or is the value.
pub(super) fn matches(
    pattern: &Pattern,
    value: RawBsonRef<'_>,
    steps: &Steps,
) -> Result<bool, Error> {
    match value {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => is_match(pattern, text, steps),
        RawBsonRef::RegularExpression(other) => Ok(other.pattern.as_str() == pattern.source()
            && other.options.as_str() == pattern.options()),
        _ => Ok(false),
    }
}

/// Whether the expression matches a part of the text, with the remaining steps.
pub(crate) fn is_match(pattern: &Pattern, text: &str, steps: &Steps) -> Result<bool, Error> {
    let is_match = pattern.is_match_within(text, steps);
    #[cfg(feature = "__steps")]
    crate::steps::many(steps.made() as usize);
    Ok(is_match?)
}
