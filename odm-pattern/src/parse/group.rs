//! The syntax in parentheses.

use super::{MAX_LENGTHS, Parsed, Parser};
use crate::tree::{Condition, Look, Node, Target};

const NO_END: &str = "a closing parenthesis is missing";

/// The longest text that a lookbehind can match, in characters, as in PCRE2.
const MAX_BEHIND: u32 = 255;

impl Parser<'_> {
    /// Reads the rest of a group after its opening parenthesis, and whether it can be repeated; `None` if it only sets options.
    pub(super) fn group(&mut self) -> Parsed<Option<(Node, bool)>> {
        let at = self.at;
        let item = |node| Ok(Some((node, true)));
        if self.takes("*") {
            return self.verb().map(Some);
        }
        if !self.takes("?") {
            if self.flags.has_only_names {
                return item(self.inner(false)?);
            }
            return item(self.captured(None)?);
        }
        for (start, is_behind, is_negated, is_atomic) in [
            ("=", false, false, true),
            ("!", false, true, true),
            ("<=", true, false, true),
            ("<!", true, true, true),
            ("*", false, false, false),
            ("<*", true, false, false),
        ] {
            if self.takes(start) {
                return item(Node::Look(self.look(is_behind, is_negated, is_atomic)?));
            }
        }
        for (start, end) in [("P<", ">"), ("<", ">"), ("'", "'")] {
            if self.takes(start) {
                let name = self.until(end, "a name without its end")?;
                return item(self.captured(Some(name))?);
            }
        }
        match self.next() {
            None => Err(self.wrong(NO_END)),
            Some(':') => item(self.inner(false)?),
            Some('|') => item(self.inner(true)?),
            Some('>') => item(Node::Atomic(Box::new(self.inner(false)?))),
            Some('(') => item(self.conditional()?),
            Some('P') if self.takes("=") => {
                let name = self.until(")", NO_END)?;
                let of = self.name(name)?;
                self.targets.push((of.clone(), at));
                let folds = self.flags.folds;
                item(Node::Same { of, folds })
            }
            Some('P') if self.takes(">") => self.called(at),
            Some('&') => self.called(at),
            Some('R') => {
                self.close()?;
                self.call(Target::Number(0), at).map(Some)
            }
            Some('0'..='9' | '+') => {
                self.at -= 1;
                self.called(at)
            }
            Some('-') if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                self.at -= 1;
                self.called(at)
            }
            Some('C') => Err(self.wrong("a callout is not supported")),
            Some('[') => Err(self.wrong("a class with operators is not supported")),
            Some(other) => {
                self.at -= other.len_utf8();
                self.options()
            }
        }
    }

    fn called(&mut self, at: usize) -> Parsed<Option<(Node, bool)>> {
        let name = self.until(")", NO_END)?;
        let target = self.target(name)?;
        self.call(target, at).map(Some)
    }

    fn close(&mut self) -> Parsed<()> {
        match self.takes(")") {
            true => Ok(()),
            false => Err(self.wrong(NO_END)),
        }
    }

    fn inner(&mut self, resets: bool) -> Parsed<Node> {
        let node = self.alternatives(resets)?;
        self.close()?;
        Ok(node)
    }

    fn captured(&mut self, name: Option<&str>) -> Parsed<Node> {
        self.groups += 1;
        let number = self.groups;
        if let Some(name) = name {
            let Target::Name(name) = self.name(name)? else {
                return Err(self.wrong("a name is missing"));
            };
            let mut others = self.names.iter().filter(|(other, _)| *other == name);
            if !self.flags.repeats_names && others.any(|(_, other)| *other != number) {
                return Err(self.wrong("two groups have one name"));
            }
            self.names.push((name, number));
        }
        Ok(Node::Group(number, Box::new(self.inner(false)?)))
    }

    fn look(&mut self, is_behind: bool, is_negated: bool, is_atomic: bool) -> Parsed<Look> {
        let at = self.at;
        self.looks += 1;
        let node = self.inner(false)?;
        self.looks -= 1;
        if is_behind {
            let all = match &node {
                Node::Either(all) => all.as_slice(),
                one => std::slice::from_ref(one),
            };
            for one in all {
                let (min, max) = one.len();
                let Some(max) = max.filter(|max| *max <= MAX_BEHIND || *max == min) else {
                    self.at = at;
                    let reason =
                        "a lookbehind has no greatest length, or one beyond 255 characters";
                    return Err(self.wrong(reason));
                };
                self.lengths += max - min + 1;
            }
            if self.lengths > MAX_LENGTHS {
                return Err(self.wrong("the lookbehinds have too many lengths"));
            }
        }
        Ok(Look {
            is_behind,
            is_negated,
            is_atomic,
            node: Box::new(node),
        })
    }

    fn conditional(&mut self) -> Parsed<Node> {
        let at = self.at;
        let condition = if self.rest().starts_with(['?', '*']) {
            match self.group()? {
                Some((Node::Look(look), _)) => Condition::Look(look),
                _ => return Err(self.wrong("a condition that is none")),
            }
        } else {
            let text = self.until(")", NO_END)?;
            let condition = self.condition(text)?;
            if let Condition::IsSet(target) | Condition::IsCalled(Some(target)) = &condition {
                self.targets.push((target.clone(), at));
            }
            condition
        };
        let mut branches = self.branches(false)?.into_iter();
        self.close()?;
        let (yes, no) = (branches.next(), branches.next());
        if branches.next().is_some() {
            return Err(self.wrong("a condition has more than two branches"));
        }
        if condition == Condition::Never && no.is_some() {
            return Err(self.wrong("`(?(DEFINE)` has more than one branch"));
        }
        Ok(Node::If {
            condition,
            yes: Box::new(yes.unwrap_or(Node::Empty)),
            no: no.map(Box::new),
        })
    }

    fn condition(&self, text: &str) -> Parsed<Condition> {
        let is_named = |name: &str| self.names.iter().any(|(own, _)| own == name);
        if text == "DEFINE" && !is_named(text) {
            return Ok(Condition::Never);
        }
        if let Some(of) = text.strip_prefix('R')
            && !is_named(text)
        {
            let target = match of.strip_prefix('&') {
                _ if of.is_empty() => None,
                Some(name) => Some(self.name(name)?),
                None => Some(self.target(of)?),
            };
            return Ok(Condition::IsCalled(target));
        }
        let quoted = |start, end| text.strip_prefix(start)?.strip_suffix(end);
        Ok(Condition::IsSet(
            match quoted('<', '>').or_else(|| quoted('\'', '\'')) {
                Some(name) => self.name(name)?,
                None => self.target(text)?,
            },
        ))
    }

    /// Options, for the rest or for a group.
    fn options(&mut self) -> Parsed<Option<(Node, bool)>> {
        let before = self.flags;
        if self.takes("^") {
            let flags = &mut self.flags;
            (flags.folds, flags.has_lines, flags.matches_breaks) = (false, false, false);
            (flags.is_spaced, flags.has_spaced_classes) = (false, false);
            flags.has_only_names = false;
        }
        let mut is_set = true;
        loop {
            let letter = self.next().ok_or_else(|| self.wrong(NO_END))?;
            let is_twice = letter == 'x' && self.takes("x");
            let flags = &mut self.flags;
            match letter {
                'i' => flags.folds = is_set,
                'm' => flags.has_lines = is_set,
                's' => flags.matches_breaks = is_set,
                'x' => {
                    flags.is_spaced = is_set;
                    flags.has_spaced_classes = is_twice && is_set;
                }
                'n' => flags.has_only_names = is_set,
                'J' => flags.repeats_names = is_set,
                'U' => flags.is_lazy = is_set,
                '-' if is_set => is_set = false,
                ')' => return Ok(None),
                ':' => {
                    let node = self.inner(false);
                    self.flags = before;
                    return Ok(Some((node?, true)));
                }
                _ => return Err(self.wrong("an unknown option or kind of group")),
            }
        }
    }

    /// The syntax that begins with `(*`.
    fn verb(&mut self) -> Parsed<(Node, bool)> {
        for (names, is_behind, is_negated, is_atomic) in [
            (["pla:", "positive_lookahead:"], false, false, true),
            (["nla:", "negative_lookahead:"], false, true, true),
            (["plb:", "positive_lookbehind:"], true, false, true),
            (["nlb:", "negative_lookbehind:"], true, true, true),
            (
                ["napla:", "non_atomic_positive_lookahead:"],
                false,
                false,
                false,
            ),
            (
                ["naplb:", "non_atomic_positive_lookbehind:"],
                true,
                false,
                false,
            ),
        ] {
            if names.iter().any(|name| self.takes(name)) {
                let look = self.look(is_behind, is_negated, is_atomic)?;
                return Ok((Node::Look(look), true));
            }
        }
        if self.takes("atomic:") {
            return Ok((Node::Atomic(Box::new(self.inner(false)?)), true));
        }
        if self.takes("FAIL)") || self.takes("F)") {
            return Ok((Node::Fail, false));
        }
        let name = self.rest().split(')').next().unwrap_or_default();
        let name: String = name.chars().take(40).collect();
        Err(self.wrong(&format!("the verb `(*{name})` is not supported")))
    }
}
