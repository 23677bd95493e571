//! The syntax after a backslash.

use super::{Parsed, Parser};
use crate::{
    set::{self, Ranges, Set},
    tree::{Node, One, Place, Target},
};

/// The meaning of an escape, inside of a class and outside.
pub(super) enum Escape {
    Char(char),
    Class(Ranges),
    Other(char),
}

impl<'s> Parser<'s> {
    /// Reads the rest of an escape after its backslash, and whether it can be repeated.
    pub(super) fn escape(&mut self) -> Parsed<(Node, bool)> {
        let at = self.at;
        let place = |place| Ok((Node::At(place), false));
        match self.any_escape(false)? {
            Escape::Char(char) => Ok((self.char(char), true)),
            Escape::Class(ranges) => Ok((Node::One(One::Set(Set::of(ranges))), true)),
            Escape::Other('A' | 'G') => place(Place::Start),
            Escape::Other('z') => place(Place::End),
            Escape::Other('Z') => place(Place::LastEnd),
            Escape::Other(letter @ ('b' | 'B')) => place(Place::Word {
                is_unicode: self.is_unicode,
                is_negated: letter == 'B',
            }),
            // It moves the begin of the match, with no effect on whether there is one.
            Escape::Other('K') if self.looks > 0 => Err(self.wrong(r"`\K` in a lookaround")),
            Escape::Other('K') => Ok((Node::Empty, false)),
            Escape::Other('N') => Ok((self.any(false), true)),
            Escape::Other('R') => {
                let single = match self.has_ascii_breaks {
                    true => vec![('\n', '\n'), ('\r', '\r')],
                    false => self.counted(set::class(set::VERTICAL), "")?,
                };
                let both = ['\r', '\n'].map(|char| Node::One(One::Char(char)));
                let any = Node::Either(vec![
                    Node::Sequence(both.into()),
                    Node::One(One::Set(Set::of(single))),
                ]);
                Ok((Node::Atomic(Box::new(any)), true))
            }
            Escape::Other('g') => self.reference(at),
            Escape::Other('k') => {
                let end = match self.next() {
                    Some('<') => ">",
                    Some('\'') => "'",
                    Some('{') => "}",
                    _ => {
                        return Err(
                            self.wrong(r"`\k` without a name in braces, brackets or quotes")
                        );
                    }
                };
                let name = self.until(end, "a name without its end")?;
                let target = self.name(name)?;
                self.same(target, at)
            }
            // A number.
            Escape::Other(_) => {
                self.at = at;
                let digits = self.digits();
                let number = digits.parse().unwrap_or(usize::MAX);
                if number >= 10 && number > self.groups && !digits.starts_with(['8', '9']) {
                    self.at = at;
                    let char = self.octal()?;
                    return Ok((self.char(char), true));
                }
                self.same(Target::Number(number), at)
            }
        }
    }

    /// The escapes with the same meaning in a class, or the letter of another escape.
    pub(super) fn any_escape(&mut self, in_class: bool) -> Parsed<Escape> {
        let Some(letter) = self.next() else {
            return Err(self.wrong("a backslash at the end"));
        };
        Ok(match letter {
            'a' => Escape::Char('\u{7}'),
            'e' => Escape::Char('\u{1b}'),
            'f' => Escape::Char('\u{c}'),
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            'b' if in_class => Escape::Char('\u{8}'),
            '0'..='7' if in_class || letter == '0' => {
                self.at -= 1;
                Escape::Char(self.octal()?)
            }
            'o' => {
                self.expects("{")?;
                let digits = self.until("}", "a number without its end")?;
                Escape::Char(self.code(digits, 8)?)
            }
            'x' if self.takes("{") => {
                let digits = self.until("}", "a number without its end")?;
                Escape::Char(self.code(digits, 16)?)
            }
            'x' => {
                let rest = self.rest();
                let len = rest
                    .bytes()
                    .take(2)
                    .take_while(u8::is_ascii_hexdigit)
                    .count();
                self.at += len;
                Escape::Char(match len {
                    0 => '\0',
                    len => self.code(&rest[..len], 16)?,
                })
            }
            'c' => match self.next() {
                Some(char @ ' '..='~') => {
                    Escape::Char(char::from(char.to_ascii_uppercase() as u8 ^ 64))
                }
                _ => return Err(self.wrong(r"`\c` without a printable character")),
            },
            'd' | 's' | 'w' | 'h' | 'v' => {
                let class = set::perl(letter, self.is_unicode);
                Escape::Class(self.counted(class, "an unknown class")?)
            }
            'D' | 'S' | 'W' | 'H' | 'V' => {
                let class = set::perl(letter.to_ascii_lowercase(), self.is_unicode);
                Escape::Class(set::others(self.counted(class, "an unknown class")?))
            }
            'p' | 'P' => Escape::Class(self.property(letter == 'P')?),
            'N' if self.takes("{U+") => {
                let digits = self.until("}", "a number without its end")?;
                Escape::Char(self.code(digits, 16)?)
            }
            'N' if !in_class && self.rest().starts_with('{') => {
                let start = self.at;
                self.at += 1;
                let is_quantifier = self.counts()?.is_some();
                self.at = start;
                match is_quantifier {
                    true => Escape::Other(letter),
                    false => return Err(self.wrong(r"a character by its name is not supported")),
                }
            }
            'A' | 'B' | 'G' | 'K' | 'N' | 'R' | 'Z' | 'b' | 'g' | 'k' | 'z' | '1'..='9'
                if !in_class =>
            {
                Escape::Other(letter)
            }
            'C' | 'X' if !in_class => {
                return Err(self.wrong(&format!(r"`\{letter}` is not supported")));
            }
            char if char.is_ascii_alphanumeric() => {
                return Err(self.wrong("an unknown character after a backslash"));
            }
            char => Escape::Char(char),
        })
    }

    fn expects(&mut self, text: &str) -> Parsed<()> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{text}` is missing"))),
        }
    }

    fn digits(&mut self) -> &'s str {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += len;
        &rest[..len]
    }

    /// A number of at most three octal digits.
    fn octal(&mut self) -> Parsed<char> {
        let rest = self.rest();
        let is_octal = |byte: &u8| (b'0'..=b'7').contains(byte);
        let len = rest.bytes().take(3).take_while(is_octal).count();
        self.at += len;
        self.code(&rest[..len], 8)
    }

    fn code(&self, digits: &str, radix: u32) -> Parsed<char> {
        let digits = digits.trim_matches([' ', '\t']);
        let code = match digits.starts_with('+') {
            true => None,
            false => u32::from_str_radix(digits, radix).ok(),
        };
        let char = code.and_then(char::from_u32);
        char.ok_or_else(|| self.wrong("a number that is no character"))
    }

    fn property(&mut self, is_negated: bool) -> Parsed<Ranges> {
        let (name, is_negated) = if self.takes("{") {
            let name = self.until("}", "a property without its end")?.trim();
            match name.strip_prefix('^') {
                Some(name) => (name, !is_negated),
                None => (name, is_negated),
            }
        } else {
            let rest = self.rest();
            let len = self.next().map_or(0, char::len_utf8);
            (&rest[..len], is_negated)
        };
        // Without regard to case, these are one.
        let name = match name.to_ascii_lowercase().as_str() {
            "lu" | "ll" | "lt" if self.flags.folds => "lc",
            _ => name,
        };
        let ranges = self.counted(set::property(name), "an unknown property of Unicode")?;
        Ok(match is_negated {
            true => set::others(ranges),
            false => ranges,
        })
    }

    /// The rest of `\g`: a reference to the text of a group, or a call of it.
    fn reference(&mut self, at: usize) -> Parsed<(Node, bool)> {
        for (start, end) in [("<", ">"), ("'", "'")] {
            if self.takes(start) {
                let name = self.until(end, "a name without its end")?;
                let target = self.target(name)?;
                return self.call(target, at);
            }
        }
        let target = if self.takes("{") {
            let name = self.until("}", "a name without its end")?;
            self.target(name.trim_matches([' ', '\t']))?
        } else {
            let rest = self.rest();
            let sign = usize::from(rest.starts_with(['+', '-']));
            self.at += sign;
            let digits = self.digits();
            self.target(&rest[..sign + digits.len()])?
        };
        self.same(target, at)
    }

    fn same(&mut self, target: Target, at: usize) -> Parsed<(Node, bool)> {
        if target == Target::Number(0) {
            return Err(self.wrong("a reference to a group that does not exist"));
        }
        self.targets.push((target.clone(), at));
        let folds = self.flags.folds;
        Ok((Node::Same { of: target, folds }, true))
    }

    pub(super) fn call(&mut self, target: Target, at: usize) -> Parsed<(Node, bool)> {
        self.targets.push((target.clone(), at));
        Ok((Node::Call(target), true))
    }

    /// A number, relative if it has a sign, or a name.
    pub(super) fn target(&self, text: &str) -> Parsed<Target> {
        let missing = || self.wrong("a reference to a group that does not exist");
        let number = |digits: &str| digits.parse::<usize>().map_err(|_| missing());
        Ok(match text.as_bytes() {
            [b'+', ..] => match number(&text[1..])? {
                0 => return Err(missing()),
                ahead => Target::Number(self.groups.saturating_add(ahead)),
            },
            [b'-', ..] => match number(&text[1..])? {
                0 => return Err(missing()),
                back => {
                    let number = (self.groups + 1).checked_sub(back).filter(|it| *it > 0);
                    Target::Number(number.ok_or_else(missing)?)
                }
            },
            [b'0'..=b'9', ..] => Target::Number(number(text)?),
            _ => self.name(text)?,
        })
    }

    pub(super) fn name(&self, text: &str) -> Parsed<Target> {
        let text = text.trim_matches([' ', '\t']);
        let mut chars = text.chars();
        let is_name = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
            && chars.all(|c| c == '_' || c.is_alphanumeric())
            && text.chars().count() <= 128;
        match is_name {
            true => Ok(Target::Name(text.to_owned())),
            false => Err(self.wrong("a name of a group has letters, digits and `_` alone")),
        }
    }
}
