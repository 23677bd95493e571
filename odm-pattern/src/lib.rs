//! Regular expressions with the meaning of PCRE2 in MongoDB, in pure Rust, and with a bound on each match.
//!
//! The crate `odm` matches texts with them, and the derives refuse an invalid pattern. Use it through `odm`.

#![deny(missing_docs)]

mod finder;
pub mod fold;
mod folded;
mod linear;
mod machine;
mod parse;
mod program;
mod set;
mod steps;
#[cfg(test)]
mod tests;
mod tree;
pub mod words;

use std::sync::Arc;

pub use finder::{Finder, Found};
use folded::Literal;
pub use steps::Steps;

/// Why an expression, or a match, is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The expression is invalid.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    Invalid {
        /// The first hundred characters of the expression.
        pattern: String,
        /// The mistake, and its place.
        reason: String,
    },
    /// The options are not letters among `i`, `m`, `s`, `x` and `u`.
    #[error("the options of a regular expression are letters among `i`, `m`, `s`, `x` and `u`")]
    Options,
    /// A match needs more steps or memory than the bound.
    #[error("regular expression `{pattern}` is too expensive ({reason})")]
    Limit {
        /// The expression.
        pattern: String,
        /// The exceeded bound.
        reason: String,
    },
}

/// The longest expression, in bytes.
const MAX_LEN: usize = 32_764;

/// The longest text for an expression that needs backtracking, in bytes.
const MAX_BACKTRACKED: usize = 64 << 10;

/// A compiled regular expression, with the syntax and the meaning of PCRE2.
///
/// The text is UTF-8: `.` is a character, and the option `i` applies to the letters of all scripts. `\d`, `\w`, `\s` and `\b` apply to
/// ASCII, unless the expression begins with `(*UCP)`.
///
/// No match takes longer than a tenth of a second: it ends by then, or is refused with [`Error::Limit`]. Most expressions are matched in a
/// time that is linear in the text. An expression that needs backtracking, as look-around and back references do, takes a bounded number of
/// steps for all the texts of a document, each of at most 64 KiB.
///
/// The syntax is that of PCRE2 without verbs other than `(*FAIL)`, callouts, `\C`, `\X`, and line breaks other than `\n`.
///
/// An expression that only compares the begin of a text, or all of it, without regard to case, `^literal` or `^literal\z` with the option
/// `i`, compares texts after Unicode's simple case folding, as an index and a sort that ignore case do.
#[derive(Debug, Clone)]
pub struct Pattern(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    source: String,
    options: String,
    engine: Engine,
}

/// A condition on folded texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FoldedText<'a> {
    /// They equal this text.
    Equals(&'a str),
    /// They start with this text.
    StartsWith(&'a str),
}

#[derive(Debug)]
enum Engine {
    Folded(Literal),
    Linear(linear::Linear),
    Backtracking(program::Program),
}

impl Engine {
    fn of(tree: &tree::Tree) -> Engine {
        match linear::compile(tree) {
            Some(linear) => Engine::Linear(linear),
            None => Engine::Backtracking(program::compile(tree)),
        }
    }
}

impl Pattern {
    /// Compiles a regular expression. The options are `i`, `m`, `s`, `x` and `u`, in any order; `u` has
    /// no effect.
    ///
    /// # Errors
    ///
    /// [`Invalid`](Error::Invalid) and [`Options`](Error::Options).
    pub fn new(source: &str, options: &str) -> Result<Pattern, Error> {
        let options = sorted(options)?;
        check_len(source)?;
        let engine = match folded::compile(source, &options) {
            Some(literal) => Engine::Folded(literal),
            None => Engine::of(&tree(source, &options)?),
        };
        Ok(Pattern(Arc::new(Compiled {
            source: source.to_owned(),
            options,
            engine,
        })))
    }

    /// A pattern of the texts that equal this one, ignoring case.
    ///
    /// # Errors
    ///
    /// [`Invalid`](Error::Invalid) if the text is longer than an expression can be.
    pub fn equal_ignoring_case(text: &str) -> Result<Pattern, Error> {
        Pattern::new(&format!(r"^{}\z", escape(text)), "i")
    }

    /// A pattern of the texts that start with this one, ignoring case.
    ///
    /// # Errors
    ///
    /// [`Invalid`](Error::Invalid) if the text is longer than an expression can be.
    pub fn prefix_ignoring_case(text: &str) -> Result<Pattern, Error> {
        Pattern::new(&format!("^{}", escape(text)), "i")
    }

    /// The pattern as a condition on folded texts, if it ignores case and is equivalent to one.
    pub fn as_folded(&self) -> Option<FoldedText<'_>> {
        match &self.0.engine {
            Engine::Folded(literal) => Some(literal.as_folded()),
            _ => None,
        }
    }

    /// Returns the source of the expression.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns the options, in alphabetical order.
    pub fn options(&self) -> &str {
        &self.0.options
    }

    /// Whether the expression matches a part of the text.
    ///
    /// # Errors
    ///
    /// [`Limit`](Error::Limit) if the result is unknown after a bounded number of steps.
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        self.is_match_within(text, &Steps::default())
    }

    /// Whether the expression matches a part of the text, with the remaining steps.
    ///
    /// # Errors
    ///
    /// [`Limit`](Error::Limit).
    pub fn is_match_within(&self, text: &str, steps: &Steps) -> Result<bool, Error> {
        let limit = |reason: &str| Error::Limit {
            pattern: self.0.source.clone(),
            reason: reason.to_owned(),
        };
        let program = match &self.0.engine {
            Engine::Folded(literal) => return Ok(literal.is_match(text)),
            Engine::Linear(linear) => {
                let found = linear.is_match(text);
                return found.ok_or_else(|| limit("too many steps on a long text"));
            }
            Engine::Backtracking(program) => program,
        };
        if text.len() > MAX_BACKTRACKED {
            return Err(limit(&format!(
                "a text is longer than {MAX_BACKTRACKED} bytes"
            )));
        }
        machine::search(program, text, steps).map_err(|exceeded| match exceeded {
            machine::Exceeded::Steps => limit("too many steps"),
            machine::Exceeded::Memory => limit("too much memory"),
        })
    }
}

/// The options in alphabetical order, each once.
fn sorted(options: &str) -> Result<String, Error> {
    const LETTERS: &str = "imsux";
    if options.contains(|letter| !LETTERS.contains(letter)) {
        return Err(Error::Options);
    }
    let letters = LETTERS.chars();
    Ok(letters.filter(|letter| options.contains(*letter)).collect())
}

fn invalid(source: &str, reason: String) -> Error {
    Error::Invalid {
        pattern: source.chars().take(100).collect(),
        reason,
    }
}

fn check_len(source: &str) -> Result<(), Error> {
    if source.len() > MAX_LEN {
        let reason = format!("it is longer than {MAX_LEN} bytes");
        return Err(invalid(source, reason));
    }
    Ok(())
}

fn tree(source: &str, options: &str) -> Result<tree::Tree, Error> {
    check_len(source)?;
    parse::parse(source, options).map_err(|error| {
        let reason = format!("{}, at byte {}", error.reason, error.at);
        invalid(source, reason)
    })
}

/// An expression that matches only this text.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\.+*?()|[]{}^$#-".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source && self.0.options == other.0.options
    }
}
