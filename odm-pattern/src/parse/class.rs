//! Classes in brackets.

use super::{Parsed, Parser, escape::Escape};
use crate::{
    set::{self, Ranges, Set},
    tree::{Look, Node, One, Place},
};

const NO_END: &str = "a class without its end";

/// A part of a class.
enum Item {
    Char(char),
    Class(Ranges),
}

impl<'s> Parser<'s> {
    /// Reads a class after its opening bracket.
    pub(super) fn class(&mut self) -> Parsed<Node> {
        if self.posix_name(":").is_some() {
            return Err(self.wrong("a POSIX class outside of a class"));
        }
        let is_negated = self.takes("^");
        let (mut exact, mut chars) = (Vec::new(), Vec::new());
        let mut is_first = true;
        let mut is_quoted = false;
        while let Some(item) = self.item(is_first, &mut is_quoted)? {
            is_first = false;
            let first = match item {
                Item::Char(char) => char,
                Item::Class(ranges) => {
                    exact.extend(ranges);
                    if !is_quoted && self.begins_range() {
                        return Err(self.wrong("a range that begins with a class"));
                    }
                    continue;
                }
            };
            if is_quoted || !self.begins_range() {
                chars.push((first, first));
                continue;
            }
            self.skip_in_class();
            self.at += 1;
            match self.item(false, &mut is_quoted)? {
                Some(Item::Char(last)) if last < first => {
                    return Err(self.wrong("a range whose end is before its begin"));
                }
                Some(Item::Char(last)) => chars.push((first, last)),
                Some(Item::Class(_)) => {
                    return Err(self.wrong("a range that ends with a class"));
                }
                None => break,
            }
        }
        let exact = self.counted(Some(exact), NO_END)?;
        let chars = self.counted(Some(chars), NO_END)?;
        let set = match self.flags.folds {
            true => Set::new(exact, chars, is_negated),
            false => Set::new([exact, chars].concat(), Vec::new(), is_negated),
        };
        Ok(Node::One(One::Set(set)))
    }

    /// Whether the next character is a hyphen of a range.
    fn begins_range(&mut self) -> bool {
        let start = self.at;
        self.skip_in_class();
        let mut ends = self.takes("-");
        if ends {
            self.skip_in_class();
            ends = !self.rest().starts_with(']') && !self.rest().is_empty();
        }
        self.at = start;
        ends
    }

    fn skip_in_class(&mut self) {
        while self.takes(r"\E")
            || self.takes(r"\Q\E")
            || self.flags.has_spaced_classes && (self.takes(" ") || self.takes("\t"))
        {}
    }

    /// The next part, or `None` at the end of the class.
    fn item(&mut self, is_first: bool, is_quoted: &mut bool) -> Parsed<Option<Item>> {
        loop {
            if *is_quoted {
                if self.takes(r"\E") {
                    *is_quoted = false;
                    continue;
                }
                let char = self.next().ok_or_else(|| self.wrong(NO_END))?;
                return Ok(Some(Item::Char(char)));
            }
            self.skip_in_class();
            if self.takes(r"\Q") {
                *is_quoted = true;
                continue;
            }
            break;
        }
        if let Some((name, is_negated)) = self.posix_name("[:") {
            self.at += name.len() + 4 + usize::from(is_negated);
            // Without regard to case, these are one.
            let known = match name {
                "lower" | "upper" if self.flags.folds && self.is_unicode => set::property("lc"),
                "lower" | "upper" if self.flags.folds => set::posix("alpha", false),
                name => set::posix(name, self.is_unicode),
            };
            let ranges = self.counted(known, "an unknown POSIX class")?;
            return Ok(Some(Item::Class(match is_negated {
                true => set::others(ranges),
                false => ranges,
            })));
        }
        Ok(Some(match self.next() {
            None => return Err(self.wrong(NO_END)),
            Some(']') if !is_first => return Ok(None),
            Some('\\') => match self.any_escape(true)? {
                Escape::Char(char) => Item::Char(char),
                Escape::Class(ranges) => Item::Class(ranges),
                Escape::Other(_) => {
                    return Err(self.wrong("an escape that has no place in a class"));
                }
            },
            Some(char) => Item::Char(char),
        }))
    }

    /// The name of the POSIX class that comes next, as in `[:alpha:]`, after this prefix, and whether it is negated.
    fn posix_name(&self, begin: &str) -> Option<(&'s str, bool)> {
        let rest = self.rest().strip_prefix(begin)?;
        let (is_negated, rest) = match rest.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (name, _) = rest.split_once(":]")?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase());
        is_name.then_some((name, is_negated))
    }

    /// Reads `[[:<:]]` or `[[:>:]]`, the begin of a word or its end, after the first bracket. A quantifier is about the second part.
    pub(super) fn edge(&mut self) -> Parsed<Option<[Node; 2]>> {
        let is_behind = match (self.takes("[:<:]]"), self.takes("[:>:]]")) {
            (true, _) => false,
            (_, true) => true,
            _ => return Ok(None),
        };
        let word = self.counted(set::perl('w', self.is_unicode), NO_END)?;
        let at = Node::At(Place::Word {
            is_unicode: self.is_unicode,
            is_negated: false,
        });
        let look = Node::Look(Look {
            is_behind,
            is_negated: false,
            is_atomic: true,
            node: Box::new(Node::One(One::Set(Set::of(word)))),
        });
        Ok(Some([at, look]))
    }
}
