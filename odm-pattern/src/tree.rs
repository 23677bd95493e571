//! A regular expression as a tree.

use std::iter;

use super::set::Set;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// The empty text.
    Empty,
    /// Never matches.
    Fail,
    /// One character.
    One(One),
    /// The empty text at some places.
    At(Place),
    /// One part after another.
    Sequence(Vec<Node>),
    /// One of several parts: the first that matches.
    Either(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        /// `None` for no bound.
        max: Option<u32>,
        greed: Greed,
    },
    /// A part whose text is remembered by a number.
    Group(usize, Box<Node>),
    /// A part that does not backtrack.
    Atomic(Box<Node>),
    /// A condition on the text before or after a place.
    Look(Look),
    /// The text of a group again.
    Same { of: Target, folds: bool },
    If {
        condition: Condition,
        yes: Box<Node>,
        no: Option<Box<Node>>,
    },
    /// A call of the part of a group. The group 0 is the whole expression.
    Call(Target),
}

/// How much a repetition takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Greed {
    /// As much as possible; it gives back.
    Greedy,
    /// As little as possible.
    Lazy,
    /// As much as possible; it gives nothing back.
    Possessive,
}

/// A test of one character.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum One {
    Char(char),
    /// A folded character, in any case.
    Folded(char),
    Set(Set),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// The begin of the text.
    Start,
    /// The end of the text.
    End,
    /// The end of the text, or of its last line.
    LastEnd,
    /// The begin of a line.
    LineStart,
    /// The end of a line.
    LineEnd,
    /// A place between a letter of a word and something else, or, if negated, any other place.
    Word { is_unicode: bool, is_negated: bool },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) is_behind: bool,
    pub(super) is_negated: bool,
    /// Whether the choices within are final.
    pub(super) is_atomic: bool,
    pub(super) node: Box<Node>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// A group has a text.
    IsSet(Target),
    /// The condition is evaluated within a call: of this group, or of any.
    IsCalled(Option<Target>),
    Look(Look),
    Never,
}

/// A group.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    Number(usize),
    Name(String),
}

/// An expression.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// The number of groups.
    pub(super) groups: usize,
    /// The groups by name.
    pub(super) names: Vec<(String, usize)>,
}

impl Tree {
    /// The groups of a target.
    pub(super) fn resolve(&self, target: &Target) -> Vec<usize> {
        match target {
            Target::Number(number) if *number <= self.groups => vec![*number],
            Target::Number(_) => Vec::new(),
            Target::Name(name) => {
                let named = self.names.iter().filter(|(own, _)| own == name);
                named.map(|(_, number)| *number).collect()
            }
        }
    }
}

impl Node {
    /// The least and the greatest length in characters, or `None` if there is no known greatest one.
    pub(super) fn len(&self) -> (u32, Option<u32>) {
        match self {
            Node::Empty | Node::Fail | Node::At(_) | Node::Look(_) => (0, Some(0)),
            Node::One(_) => (1, Some(1)),
            Node::Sequence(all) => all.iter().fold((0, Some(0)), |(min, max), node| {
                let (least, most) = node.len();
                let most = max
                    .zip(most)
                    .and_then(|(a, b): (u32, u32)| a.checked_add(b));
                (min.saturating_add(least), most)
            }),
            Node::Either(any) => either(any.iter().map(Node::len)),
            Node::Repeat { node, min, max, .. } => {
                let (least, most) = node.len();
                let most = max.zip(most).and_then(|(a, b)| a.checked_mul(b));
                (least.saturating_mul(*min), most)
            }
            Node::Group(_, node) | Node::Atomic(node) => node.len(),
            Node::Same { .. } | Node::Call(_) => (0, None),
            Node::If { yes, no, condition } => match condition {
                Condition::Never => (0, Some(0)),
                // PCRE2 leaves a missing `no` out of the length, although a false condition takes nothing.
                _ => either(iter::once(yes.len()).chain(no.as_ref().map(|no| no.len()))),
            },
        }
    }
}

fn either(all: impl Iterator<Item = (u32, Option<u32>)>) -> (u32, Option<u32>) {
    let both = all
        .reduce(|(a, b), (least, most)| (a.min(least), b.zip(most).map(|(b, most)| b.max(most))));
    both.unwrap_or((0, Some(0)))
}
