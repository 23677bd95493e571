//! The syntax of PCRE2.

mod class;
mod escape;
mod group;

use super::{
    set::{self, Ranges, Set},
    tree::{Greed, Node, One, Place, Target, Tree},
};
use crate::fold;

/// How deep groups are nested at most, as in PCRE2.
const MAX_DEPTH: usize = 250;
/// The greatest number in a quantifier, as in PCRE2.
const MAX_REPEAT: u32 = 65_535;
/// The greatest number of ranges in the classes of an expression.
const MAX_RANGES: usize = 200_000;
/// The greatest total number of lengths of all lookbehinds.
const MAX_LENGTHS: u32 = 20_000;

/// The reason why an expression is invalid.
#[derive(Debug)]
pub(super) struct Invalid {
    /// The place, in bytes.
    pub(super) at: usize,
    pub(super) reason: String,
}

type Parsed<T> = Result<T, Invalid>;

/// Reads an expression.
pub(super) fn parse(source: &str, options: &str) -> Parsed<Tree> {
    let has = |option| options.contains(option);
    let mut parser = Parser {
        source,
        at: 0,
        flags: Flags {
            folds: has('i'),
            has_lines: has('m'),
            matches_breaks: has('s'),
            is_spaced: has('x'),
            ..Flags::default()
        },
        is_unicode: false,
        has_ascii_breaks: false,
        groups: 0,
        names: Vec::new(),
        targets: Vec::new(),
        depth: 0,
        looks: 0,
        ranges: 0,
        lengths: 0,
    };
    parser.settings()?;
    let root = parser.alternatives(false)?;
    if parser.at < source.len() {
        return Err(parser.wrong("a closing parenthesis without an opening one"));
    }
    let tree = Tree {
        root,
        groups: parser.groups,
        names: parser.names,
    };
    for (target, at) in parser.targets {
        if tree.resolve(&target).is_empty() {
            let reason = "a reference to a group that does not exist".to_owned();
            return Err(Invalid { at, reason });
        }
    }
    Ok(tree)
}

/// The options at a place.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// `i`
    folds: bool,
    /// `m`
    has_lines: bool,
    /// `s`
    matches_breaks: bool,
    /// `x`
    is_spaced: bool,
    /// `xx`
    has_spaced_classes: bool,
    /// `n`
    has_only_names: bool,
    /// `J`
    repeats_names: bool,
    /// `U`
    is_lazy: bool,
}

struct Parser<'s> {
    source: &'s str,
    /// The next byte.
    at: usize,
    flags: Flags,
    /// Whether classes cover all scripts: `(*UCP)`.
    is_unicode: bool,
    /// Whether `\R` covers only ASCII: `(*BSR_ANYCRLF)`.
    has_ascii_breaks: bool,
    groups: usize,
    names: Vec<(String, usize)>,
    /// The targets of references, with their places.
    targets: Vec<(Target, usize)>,
    depth: usize,
    /// The number of lookarounds around this place.
    looks: usize,
    /// The number of ranges in all classes.
    ranges: usize,
    /// The number of lengths of all lookbehinds.
    lengths: u32,
}

impl<'s> Parser<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    /// Takes a text if it comes next. Returns whether it does.
    fn takes(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    /// Takes the text before a delimiter, and the delimiter.
    fn until(&mut self, end: &str, missing: &str) -> Parsed<&'s str> {
        match self.rest().split_once(end) {
            Some((text, _)) => {
                self.at += text.len() + end.len();
                Ok(text)
            }
            None => {
                self.at = self.source.len();
                Err(self.wrong(missing))
            }
        }
    }

    fn wrong(&self, reason: &str) -> Invalid {
        Invalid {
            at: self.at,
            reason: reason.to_owned(),
        }
    }

    /// The settings in front of an expression.
    fn settings(&mut self) -> Parsed<()> {
        while self.rest().starts_with("(*") {
            let start = self.at;
            let Some((name, _)) = self.rest()[2..].split_once(')') else {
                return Ok(());
            };
            match name {
                "UTF" | "LF" | "BSR_UNICODE" | "NO_AUTO_POSSESS" | "NO_START_OPT"
                | "NO_DOTSTAR_ANCHOR" | "NO_JIT" => {}
                "UCP" => self.is_unicode = true,
                "BSR_ANYCRLF" => self.has_ascii_breaks = true,
                // The library has bounds of its own.
                _ if name.starts_with("LIMIT_") => {}
                "CR" | "CRLF" | "ANY" | "ANYCRLF" | "NUL" | "NOTEMPTY" | "NOTEMPTY_ATSTART" => {
                    return Err(self.wrong(&format!("the setting `(*{name})` is not supported")));
                }
                _ => return Ok(()),
            }
            self.at = start + "(*)".len() + name.len();
        }
        Ok(())
    }

    /// Reads alternatives up to a closing parenthesis or the end. With `resets`, the numbers of groups start anew in each. Options that are
    /// set within end with the alternatives.
    fn alternatives(&mut self, resets: bool) -> Parsed<Node> {
        let mut all = self.branches(resets)?;
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Node::Either(all),
        })
    }

    fn branches(&mut self, resets: bool) -> Parsed<Vec<Node>> {
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("parentheses are too deeply nested"));
        }
        self.depth += 1;
        let flags = self.flags;
        let first = self.groups;
        let mut most = first;
        let mut all = vec![self.sequence()?];
        while self.takes("|") {
            if resets {
                most = most.max(self.groups);
                self.groups = first;
            }
            all.push(self.sequence()?);
        }
        self.groups = self.groups.max(most);
        self.flags = flags;
        self.depth -= 1;
        Ok(all)
    }

    fn sequence(&mut self) -> Parsed<Node> {
        let mut all: Vec<Node> = Vec::new();
        // Whether the last node can be repeated.
        let mut repeatable = false;
        let mut is_quoted = false;
        loop {
            if is_quoted {
                if self.takes(r"\E") {
                    is_quoted = false;
                } else if let Some(char) = self.next() {
                    all.push(self.char(char));
                    repeatable = true;
                } else {
                    break;
                }
                continue;
            }
            self.skip()?;
            if self.takes(r"\Q") {
                is_quoted = true;
                continue;
            }
            let start = self.at;
            let Some(char) = self.peek() else { break };
            if matches!(char, '|' | ')') {
                break;
            }
            self.at += char.len_utf8();
            if let Some((min, max)) = self.quantifier(char)? {
                if !repeatable {
                    self.at = start;
                    return Err(self.wrong("a quantifier without anything to repeat"));
                }
                let greed = self.greed()?;
                let node = Box::new(all.pop().unwrap_or(Node::Empty));
                all.push(Node::Repeat {
                    node,
                    min,
                    max,
                    greed,
                });
                repeatable = false;
                continue;
            }
            let (node, is_item) = match char {
                '\\' => self.escape()?,
                '.' => (self.any(self.flags.matches_breaks), true),
                '^' if self.flags.has_lines => (Node::At(Place::LineStart), false),
                '^' => (Node::At(Place::Start), false),
                '$' if self.flags.has_lines => (Node::At(Place::LineEnd), false),
                '$' => (Node::At(Place::LastEnd), false),
                '[' => match self.edge()? {
                    Some([at, look]) => {
                        all.push(at);
                        (look, true)
                    }
                    None => (self.class()?, true),
                },
                '(' => match self.group()? {
                    Some(item) => item,
                    None => {
                        // Options for the rest.
                        repeatable = false;
                        continue;
                    }
                },
                char => (self.char(char), true),
            };
            all.push(node);
            repeatable = is_item;
        }
        Ok(match all.len() {
            0 => Node::Empty,
            1 => all.remove(0),
            _ => Node::Sequence(all),
        })
    }

    /// Skips syntax without a meaning: comments, ends of quotations, and ignored spaces.
    fn skip(&mut self) -> Parsed<()> {
        loop {
            if self.takes("(?#") {
                self.until(")", "a comment without its end")?;
            } else if self.takes(r"\E") || self.takes(r"\Q\E") {
            } else if self.flags.is_spaced && self.takes("#") {
                let rest = self.rest();
                self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            } else if self.flags.is_spaced
                && let Some(
                    char @ ('\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{85}' | '\u{200e}'
                    | '\u{200f}' | '\u{2028}' | '\u{2029}'),
                ) = self.peek()
            {
                self.at += char.len_utf8();
            } else {
                return Ok(());
            }
        }
    }

    /// The bounds of a quantifier that begins with this character.
    fn quantifier(&mut self, char: char) -> Parsed<Option<(u32, Option<u32>)>> {
        Ok(match char {
            '*' => Some((0, None)),
            '+' => Some((1, None)),
            '?' => Some((0, Some(1))),
            '{' => self.counts()?,
            _ => None,
        })
    }

    /// The rest of a quantifier in braces, or `None` if the brace is a character.
    fn counts(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let Some((text, _)) = self.rest().split_once('}') else {
            return Ok(None);
        };
        let trim = |text: &'s str| text.trim_matches([' ', '\t']);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (min, max) = match text.split_once(',') {
            None => (trim(text), Some(trim(text))),
            Some((min, max)) => (trim(min), Some(trim(max)).filter(|max| !max.is_empty())),
        };
        let is_empty = min.is_empty() && (max.is_none() || !text.contains(','));
        if is_empty || !(min.is_empty() || is_number(min)) || !max.is_none_or(is_number) {
            return Ok(None);
        }
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number| *number <= MAX_REPEAT);
            number.ok_or_else(|| self.wrong("a number in a quantifier is too big"))
        };
        let min = if min.is_empty() { 0 } else { number(min)? };
        let max = max.map(number).transpose()?;
        if max.is_some_and(|max| max < min) {
            return Err(self.wrong("the numbers of a quantifier are out of order"));
        }
        self.at += text.len() + 1;
        Ok(Some((min, max)))
    }

    fn greed(&mut self) -> Parsed<Greed> {
        self.skip()?;
        Ok(if self.takes("+") {
            Greed::Possessive
        } else if self.takes("?") != self.flags.is_lazy {
            Greed::Lazy
        } else {
            Greed::Greedy
        })
    }

    /// A character that means itself.
    fn char(&self, char: char) -> Node {
        Node::One(match self.flags.folds && !set::variants(char).is_empty() {
            true => One::Folded(fold::char(char)),
            false => One::Char(char),
        })
    }

    fn any(&self, matches_breaks: bool) -> Node {
        let breaks = if matches_breaks {
            Vec::new()
        } else {
            vec![('\n', '\n')]
        };
        Node::One(One::Set(Set::all_but(breaks)))
    }

    /// Counts the ranges of a class.
    fn counted(&mut self, ranges: Option<Ranges>, what: &str) -> Parsed<Ranges> {
        let ranges = ranges.ok_or_else(|| self.wrong(what))?;
        self.ranges += ranges.len();
        match self.ranges > MAX_RANGES {
            true => Err(self.wrong("the classes have too many ranges")),
            false => Ok(ranges),
        }
    }
}
