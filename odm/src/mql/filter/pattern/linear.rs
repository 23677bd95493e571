//! Expressions of PCRE2 that the crate `regex` matches in linear time.
//!
//! What is here has one meaning in both, for the question whether there is a match. Everything else, what
//! only the one has and what has another meaning in the other, has no translation.

use std::{iter::Peekable, str::Chars};

/// The greatest memory of a translated expression.
const MAX_SIZE: usize = 4 << 20;
/// The greatest repetition that is translated.
const MAX_REPEAT: u32 = 1_000;
const DIGITS: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACES: &str = r"\t\n\x0B\x0C\r ";

/// Translates an expression that PCRE2 accepts.
pub(super) fn compile(source: &str, options: &str) -> Option<regex::Regex> {
    let has = |option| options.contains(option);
    // The scripts of the two have not always the same pairs of letters.
    if has('x') || (has('i') && !source.is_ascii()) {
        return None;
    }
    let mut translator = Translator {
        rest: source.chars().peekable(),
        out: String::with_capacity(source.len() + 16),
        ignores_case: has('i'),
        has_lines: has('m'),
        matches_breaks: has('s'),
    };
    translator.run()?;
    regex::RegexBuilder::new(&translator.out)
        .case_insensitive(has('i'))
        .size_limit(MAX_SIZE)
        .build()
        .ok()
}

struct Translator<'s> {
    rest: Peekable<Chars<'s>>,
    out: String,
    ignores_case: bool,
    has_lines: bool,
    matches_breaks: bool,
}

impl Translator<'_> {
    fn run(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        // Whether what is before can be repeated.
        let mut repeatable = false;
        while let Some(char) = self.rest.next() {
            repeatable = match char {
                '\\' => self.escape()?,
                '.' => {
                    let any = if self.matches_breaks {
                        "(?s:.)"
                    } else {
                        r"[^\n]"
                    };
                    self.out.push_str(any);
                    true
                }
                '^' if !self.has_lines => {
                    self.out.push_str(r"\A");
                    false
                }
                '$' if self.has_lines => {
                    self.out.push_str("(?m:$)");
                    false
                }
                // Before the last line break it is the end as well, if nothing follows.
                '$' if depth == 0 && matches!(self.rest.peek(), None | Some('|')) => {
                    self.out.push_str(r"(?:\n?\z)");
                    false
                }
                '(' => {
                    match self.rest.peek() {
                        Some('*') => return None,
                        Some('?') => {
                            self.rest.next();
                            self.rest.next_if_eq(&':')?;
                        }
                        _ => {}
                    }
                    self.out.push_str("(?:");
                    depth += 1;
                    false
                }
                ')' => {
                    depth = depth.checked_sub(1)?;
                    self.out.push(')');
                    true
                }
                '|' => {
                    self.out.push('|');
                    false
                }
                '*' | '+' | '?' if repeatable => {
                    self.out.push(char);
                    self.greed()?;
                    false
                }
                '{' if repeatable => {
                    self.repetition()?;
                    self.greed()?;
                    false
                }
                '^' | '$' | '*' | '+' | '?' | '{' => return None,
                '[' => {
                    self.class()?;
                    true
                }
                literal => {
                    self.literal(literal);
                    true
                }
            };
        }
        (depth == 0).then_some(())
    }

    fn literal(&mut self, char: char) {
        self.out.push_str(&format!("\\x{{{:X}}}", u32::from(char)));
    }

    /// Translates what follows a backslash, and returns whether it can be repeated.
    fn escape(&mut self) -> Option<bool> {
        let (class, negated) = match self.rest.next()? {
            'd' => (DIGITS, ""),
            'D' => (DIGITS, "^"),
            'w' => (WORD, ""),
            'W' => (WORD, "^"),
            's' => (SPACES, ""),
            'S' => (SPACES, "^"),
            'b' => {
                self.out.push_str(r"(?-u:\b)");
                return Some(false);
            }
            other => {
                self.literal(escaped(other)?);
                return Some(true);
            }
        };
        self.out.push_str(&format!("(?-i:[{negated}{class}])"));
        Some(true)
    }

    /// A quantifier can be lazy, which is of no matter here, but not possessive.
    fn greed(&mut self) -> Option<()> {
        match self.rest.peek() {
            Some('+') => None,
            Some('?') => {
                self.rest.next();
                self.out.push('?');
                Some(())
            }
            _ => Some(()),
        }
    }

    fn repetition(&mut self) -> Option<()> {
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '}' => break,
                char => text.push(char),
            }
        }
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number: u32 = text.parse().ok()?;
            (digits && number <= MAX_REPEAT).then_some(number)
        };
        match text.split_once(',') {
            None => number(&text)?,
            Some((least, "")) => number(least)?,
            Some((least, most)) => number(least).filter(|least| Some(*least) <= number(most))?,
        };
        self.out.push_str(&format!("{{{text}}}"));
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut is_empty = true;
        loop {
            let char = match self.rest.next()? {
                ']' if !is_empty => break,
                // A name of a class, or a bracket that means itself.
                '[' | ']' => return None,
                '\\' => match self.rest.next()? {
                    'd' => {
                        self.out.push_str(DIGITS);
                        is_empty = false;
                        continue;
                    }
                    's' => {
                        self.out.push_str(SPACES);
                        is_empty = false;
                        continue;
                    }
                    // Its letters would be those of all scripts.
                    'w' if !self.ignores_case => {
                        self.out.push_str(WORD);
                        is_empty = false;
                        continue;
                    }
                    other => escaped(other)?,
                },
                '-' if !is_empty && self.rest.peek() != Some(&']') => return None,
                char => char,
            };
            is_empty = false;
            self.literal(char);
            if char != '-' && self.rest.next_if_eq(&'-').is_some() {
                match self.rest.peek() {
                    Some(']') => self.literal('-'),
                    Some('[' | '\\') | None => return None,
                    Some(&end) if end < char => return None,
                    Some(&end) => {
                        self.rest.next();
                        self.out.push('-');
                        self.literal(end);
                    }
                }
            }
        }
        self.out.push(']');
        Some(())
    }
}

/// The character that an escape means.
fn escaped(char: char) -> Option<char> {
    match char {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'f' => Some('\u{c}'),
        char => char.is_ascii_punctuation().then_some(char),
    }
}
