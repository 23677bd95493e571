//! The search for the slowest case.

use std::{
    env,
    time::{Duration, Instant},
};

use odm::bson::{Bson, doc};

use super::{Choices, number, numbers, random};

/// Searches for the case of at most `most` bytes that takes the greatest part of its bound, for `FUZZ_SECONDS` (2 by default): each try is
/// a change of the slowest case so far, or a new case.
///
/// # Panics
///
/// If a case takes more than its bound.
pub fn slowest(most: usize, part_of_bound: impl Fn(&[u8]) -> f64) {
    let time = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(2));
    let first = number("FUZZ_SEED").unwrap_or(1);
    let (start, mut seed) = (Instant::now(), first);
    let (mut slowest, mut greatest) = (Vec::new(), 0.0);
    while start.elapsed() < time || seed == first {
        let mut next = numbers(seed);
        let case = match next() % 4 {
            0 => random(seed, most),
            _ => changed(&slowest, most, &mut next),
        };
        let part = part_of_bound(&case);
        assert!(
            part <= 1.0,
            "a case of `FUZZ_SEED={seed}` takes {part} of its bound: {case:?}"
        );
        if part >= greatest {
            (slowest, greatest) = (case, part);
        }
        seed += 1;
    }
    let shown = if env::var("FUZZ_SECONDS").is_ok() {
        slowest
    } else {
        Vec::new()
    };
    eprintln!(
        "{} cases, at most {greatest} of the bound {shown:?}",
        seed - first
    );
}

/// The bytes with a few changes: bytes inserted or replaced, parts repeated or removed.
fn changed(bytes: &[u8], most: usize, next: &mut impl FnMut() -> u64) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..1 + next() % 4 {
        let len = changed.len();
        let at = next() as usize % (len + 1);
        let end = (at + next() as usize % 16).min(len);
        match next() % 4 {
            0 => changed.insert(at, next() as u8),
            1 => drop(changed.drain(at..end)),
            2 => {
                let part = changed[at..end].to_vec();
                changed.splice(at..at, part);
            }
            _ if at < len => changed[at] = next() as u8,
            _ => {}
        }
    }
    changed.truncate(most);
    changed
}

/// The parts of regular expressions. Most of them can match in many ways.
const PARTS: [&str; 32] = [
    "a",
    "b",
    ".",
    "(",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?>",
    ")",
    "|",
    "*",
    "+",
    "?",
    "{2,}",
    "{1,9}",
    "{999}",
    "*?",
    "++",
    r"\1",
    "[ab]",
    "(?R)?",
    "(?1)",
    "^",
    "$",
    r"\b",
    "(a*)",
    "(?:a?){99}",
    "(a|b|ab)*",
    "(?(1)a|b)",
    "{0,65535}",
    r"\w+",
];

impl Choices<'_> {
    /// Something that looks like a regular expression, and a text.
    pub fn expression_and_text(&mut self) -> (String, String) {
        let text: String = (0..self.below(256))
            .map(|_| self.one_of(&["a", "b", "ab", "aaaa"]))
            .collect();
        let mut expression = String::new();
        while !self.is_empty() {
            expression += self.one_of(&PARTS);
        }
        let open = expression
            .matches('(')
            .count()
            .saturating_sub(expression.matches(')').count());
        (expression + &")".repeat(open), text)
    }

    /// A path of many parts. Most of them are both positions and names.
    pub fn long_path(&mut self) -> String {
        let parts: Vec<&str> = (0..self.below(90))
            .map(|_| self.one_of(&["0", "0", "0", "1", "a"]))
            .collect();
        format!("a.{}", parts.join("."))
    }

    /// A value that is deep in arrays and documents.
    pub fn deep_value(&mut self) -> Bson {
        let mut value = Bson::Int32(1);
        for _ in 0..self.below(90) {
            value = match self.below(6) {
                0 => Bson::Array(vec![value.clone(), value]),
                1 => doc! { "a": value }.into(),
                2 | 3 => doc! { "0": value }.into(),
                _ => Bson::Array(vec![value]),
            };
            // The doubling ends at a bound.
            if odm::bson::serialize_to_vec(&doc! { "": value.clone() })
                .map_or(0, |bytes| bytes.len())
                > 20_000
            {
                break;
            }
        }
        value
    }
}
