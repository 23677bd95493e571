//! Sets of characters.

use std::{collections::HashMap, sync::OnceLock};

use regex_syntax::hir::{Class, HirKind};

use crate::fold;

/// Ranges of characters, with their ends, in order and disjoint.
pub(super) type Ranges = Vec<(char, char)>;

/// A set of characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Set {
    /// The characters that are in it with their own case.
    exact: Ranges,
    /// The characters that are in it in any case.
    folded: Ranges,
    /// The set contains all other characters instead.
    is_negated: bool,
}

impl Set {
    pub(super) fn new(exact: Ranges, folded: Ranges, is_negated: bool) -> Set {
        Set {
            exact: sorted(exact),
            folded: sorted(folded),
            is_negated,
        }
    }

    /// These characters.
    pub(super) fn of(exact: Ranges) -> Set {
        Set::new(exact, Vec::new(), false)
    }

    /// All but these characters.
    pub(super) fn all_but(exact: Ranges) -> Set {
        Set::new(exact, Vec::new(), true)
    }

    pub(super) fn contains(&self, char: char) -> bool {
        let is_in = has(&self.exact, char)
            || !self.folded.is_empty()
                && (has(&self.folded, char)
                    || variants(char).iter().any(|other| has(&self.folded, *other)));
        is_in != self.is_negated
    }

    /// The ranges of the set, and whether it consists of all other characters. `None` if the ranges are too many.
    pub(super) fn ranges(&self) -> Option<(Ranges, bool)> {
        let mut ranges = self.exact.clone();
        let mut left = 512;
        for &(first, last) in &self.folded {
            ranges.push((first, last));
            for char in first..=last {
                left -= 1;
                if left == 0 {
                    return None;
                }
                ranges.extend(variants(char).iter().map(|other| (*other, *other)));
            }
        }
        Some((sorted(ranges), self.is_negated))
    }
}

fn sorted(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut merged: Ranges = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= *end => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    merged
}

fn has(ranges: &[(char, char)], char: char) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= char);
    after > 0 && ranges[after - 1].1 >= char
}

/// The characters that are folded as this one is, including itself, or an empty list if there is no other.
pub(super) fn variants(char: char) -> &'static [char] {
    static VARIANTS: OnceLock<HashMap<char, Vec<char>>> = OnceLock::new();
    let all = VARIANTS.get_or_init(|| {
        let mut variants: HashMap<char, Vec<char>> = HashMap::new();
        for each in '\0'..=char::MAX {
            let folded = fold::char(each);
            if folded != each {
                let folded = variants.entry(folded).or_insert_with(|| vec![folded]);
                folded.push(each);
            }
        }
        variants
    });
    all.get(&fold::char(char)).map_or(&[], Vec::as_slice)
}

/// The characters of a class in the syntax of the crate `regex-syntax`.
pub(super) fn class(text: &str) -> Option<Ranges> {
    let hir = regex_syntax::parse(text).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter();
            Some(ranges.map(|range| (range.start(), range.end())).collect())
        }
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).ok()?;
            Some(text.chars().map(|char| (char, char)).collect())
        }
        // An empty class.
        HirKind::Empty => Some(Vec::new()),
        _ => None,
    }
}

/// All other characters.
pub(super) fn others(ranges: Ranges) -> Ranges {
    let mut others = Vec::new();
    let mut next = Some('\0');
    for (first, last) in sorted(ranges) {
        if let Some(begin) = next
            && begin < first
        {
            others.push((begin, before(first)));
        }
        next = after(last);
    }
    others.extend(next.map(|begin| (begin, char::MAX)));
    others
}

fn before(char: char) -> char {
    let code = match char {
        '\u{e000}' => 0xd7ff,
        char => u32::from(char) - 1,
    };
    char::from_u32(code).unwrap_or(char)
}

fn after(char: char) -> Option<char> {
    match char {
        '\u{d7ff}' => Some('\u{e000}'),
        char => char::from_u32(u32::from(char) + 1),
    }
}

/// The horizontal spaces.
pub(super) const HORIZONTAL: &str =
    r"[\t\x20\xA0\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]";
/// The vertical spaces.
pub(super) const VERTICAL: &str = r"[\n\x0B\x0C\r\x85\x{2028}\x{2029}]";

/// The class of `\d`, `\s` or `\w`.
pub(super) fn perl(letter: char, is_unicode: bool) -> Option<Ranges> {
    class(match (letter, is_unicode) {
        ('d', false) => "[0-9]",
        ('d', true) => r"\p{Nd}",
        ('s', false) => r"[\t\n\x0B\x0C\r\x20]",
        ('s', true) => r"[\p{Z}\t\n\x0B\x0C\r\x85\x{180E}]",
        ('w', false) => "[0-9A-Za-z_]",
        ('w', true) => r"[\p{L}\p{N}\p{Mn}\p{Pc}]",
        ('h', _) => HORIZONTAL,
        ('v', _) => VERTICAL,
        _ => return None,
    })
}

/// Whether a character is a word character, in any script.
pub(super) fn is_word(char: char) -> bool {
    static WORD: OnceLock<Ranges> = OnceLock::new();
    let word = WORD.get_or_init(|| perl('w', true).unwrap_or_default());
    has(word, char)
}

/// The class of a name of POSIX.
pub(super) fn posix(name: &str, is_unicode: bool) -> Option<Ranges> {
    let (ascii, unicode) = match name {
        "alpha" => ("[A-Za-z]", r"\p{L}"),
        "lower" => ("[a-z]", r"\p{Ll}"),
        "upper" => ("[A-Z]", r"\p{Lu}"),
        "alnum" => ("[0-9A-Za-z]", r"[\p{L}\p{N}]"),
        "ascii" => (r"[\x00-\x7F]", r"[\x00-\x7F]"),
        "blank" => (r"[\t\x20]", HORIZONTAL),
        "cntrl" => (r"[\x00-\x1F\x7F]", r"\p{Cc}"),
        "digit" => return perl('d', is_unicode),
        "graph" => (
            r"[\x21-\x7E]",
            r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}]--[\x{061C}\x{180E}\x{2066}-\x{2069}]]",
        ),
        "print" => (
            r"[\x20-\x7E]",
            r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}]--[\x{061C}\x{2066}-\x{2069}]]",
        ),
        "punct" => (
            r"[\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E]",
            r"[\p{P}\x24\x2B\x3C-\x3E\x5E\x60\x7C\x7E]",
        ),
        "space" => return perl('s', is_unicode),
        "word" => return perl('w', is_unicode),
        "xdigit" => (
            "[0-9A-Fa-f]",
            r"[0-9A-Fa-f\x{FF10}-\x{FF19}\x{FF21}-\x{FF26}\x{FF41}-\x{FF46}]",
        ),
        _ => return None,
    };
    class(if is_unicode { unicode } else { ascii })
}

/// The class of a property of Unicode, as in `\p{Lu}`.
pub(super) fn property(name: &str) -> Option<Ranges> {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || " _-=:&".contains(c));
    if !plain || name.is_empty() {
        return None;
    }
    let known = match name.to_ascii_lowercase().as_str() {
        "any" => Some(r"[\x00-\x{10FFFF}]"),
        "l&" | "lc" => Some(r"[\p{Lu}\p{Ll}\p{Lt}]"),
        "xan" => Some(r"[\p{L}\p{N}]"),
        "xwd" => Some(r"[\p{L}\p{N}\p{Mn}\p{Pc}]"),
        "xsp" | "xps" => Some(r"[\p{Z}\t\n\x0B\x0C\r\x85\x{180E}]"),
        // No text has a surrogate.
        "cs" => return Some(Vec::new()),
        _ => None,
    };
    match known {
        Some(known) => class(known),
        // A name alone means the extensions of a script as well.
        None => class(&format!(r"\p{{scx={name}}}")).or_else(|| class(&format!(r"\p{{{name}}}"))),
    }
}
