//! Expressions that are matched in time linear in the text.
//!
//! The expressions here have the same meaning in both engines, as to whether there is a match. All other expressions have no translation.

use std::fmt;

use regex_automata::{
    Input, hybrid,
    meta::{self, Regex},
    nfa::thompson::{self, NFA, WhichCaptures},
};
use regex_syntax::hir::{self, Class, ClassUnicode, ClassUnicodeRange, Hir};

use super::{
    set,
    tree::{Greed, Node, One, Place, Tree},
};

/// The greatest memory of a translated expression.
const MAX_SIZE: usize = 1 << 20;
/// The greatest repetition that is translated.
const MAX_REPEAT: u32 = 1_000;
/// The greatest product of the length of a text and the states of an expression for which any algorithm is fast enough.
const MAX_STEPS: usize = 1 << 22;
/// How many bytes, times the states, are searched in the time of a step of a backtracking search.
const STEPS_OF_BACKTRACKING: usize = 256;
/// The memory for the sets of states of a search, and how often it may be used up.
const CACHE: usize = 1 << 20;
const MAX_CLEARS: usize = 4;

/// An expression, and the automata that search for it.
#[derive(Clone)]
pub(super) struct Linear {
    regex: Regex,
    nfa: NFA,
}

/// The name alone: the caches of the automaton differ from match to match.
impl fmt::Debug for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Linear")
    }
}

/// Translates an expression.
pub(super) fn compile(tree: &Tree) -> Option<Linear> {
    let hir = hir(&tree.root, true)?;
    let facts = hir.properties();
    // `\B` is true between the bytes of a character. regex-automata drops an empty match there, and with it a match of the whole character.
    // Then it starts the search again, one byte further each time, which is quadratic in the length of a text.
    if facts.minimum_len() == Some(0) && facts.look_set().contains(hir::Look::WordAsciiNegate) {
        return None;
    }
    let config = thompson::Config::new()
        .nfa_size_limit(Some(MAX_SIZE))
        .which_captures(WhichCaptures::None);
    let mut compiler = thompson::Compiler::new();
    let nfa = compiler.configure(config).build_from_hir(&hir).ok()?;
    let config = meta::Config::new()
        .nfa_size_limit(Some(MAX_SIZE))
        .which_captures(WhichCaptures::Implicit);
    let regex = Regex::builder()
        .configure(config)
        .build_from_hir(&hir)
        .ok()?;
    Some(Linear { regex, nfa })
}

impl Linear {
    /// Whether the expression matches a part of the text, or `None` if the search takes too many steps.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        if text.len().saturating_mul(self.nfa.states().len()) <= MAX_STEPS {
            return Some(self.regex.is_match(text));
        }
        // One step for each byte, and a bounded number of steps to make sets of states.
        let config = hybrid::dfa::Config::new()
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MAX_CLEARS));
        let mut builder = hybrid::dfa::Builder::new();
        let dfa = builder
            .configure(config)
            .build_from_nfa(self.nfa.clone())
            .ok()?;
        let input = Input::new(text).earliest(true);
        let found = dfa.try_search_fwd(&mut dfa.create_cache(), &input).ok()?;
        Some(found.is_some())
    }

    /// The steps of a backtracking search that a search of so many bytes of a text takes as long as.
    pub(super) fn cost(&self, text: &str, bytes: usize) -> u64 {
        let states = self.nfa.states().len();
        let steps = match text.len().saturating_mul(states) <= MAX_STEPS {
            true => bytes.saturating_mul(states),
            false => bytes.saturating_add(MAX_STEPS),
        };
        (steps / STEPS_OF_BACKTRACKING) as u64
    }

    /// The begin of the first match, if there is one; `None` if the search takes too many steps.
    pub(super) fn begin_of_match(&self, text: &str) -> Option<Option<usize>> {
        if text.len().saturating_mul(self.nfa.states().len()) > MAX_STEPS {
            let is_nowhere = self.is_match(text) == Some(false);
            return is_nowhere.then_some(None);
        }
        let found = self.regex.find(text);
        Some(found.map(|found| found.start()))
    }

    /// The least end of the matches that begin at a byte or later, if there is one; `None` if the search takes too many steps.
    ///
    /// A search for the begin could pass by this end, up to the end of the text at each match, so that all matches took a quadratic time.
    pub(super) fn least_end(&self, text: &str, from: usize) -> Option<Option<usize>> {
        if text.len().saturating_mul(self.nfa.states().len()) > MAX_STEPS {
            return None;
        }
        let input = Input::new(text).range(from..).earliest(true);
        let found = self.regex.search_half(&input);
        Some(found.map(|found| found.offset()))
    }
}

/// Translates a part, which may be the last one.
fn hir(node: &Node, is_last: bool) -> Option<Hir> {
    Some(match node {
        Node::Empty => Hir::empty(),
        Node::Fail => Hir::fail(),
        Node::One(One::Char(char)) => literal(*char),
        Node::One(One::Folded(char)) => {
            let variants = set::variants(*char).iter();
            class(variants.map(|char| (*char, *char)), false)
        }
        Node::One(One::Set(set)) => {
            let (ranges, is_negated) = set.ranges()?;
            class(ranges.into_iter(), is_negated)
        }
        Node::At(Place::Start) => Hir::look(hir::Look::Start),
        Node::At(Place::End) => Hir::look(hir::Look::End),
        Node::At(Place::LineEnd) => Hir::look(hir::Look::EndLF),
        Node::At(Place::Word {
            is_unicode: false,
            is_negated,
        }) => Hir::look(match is_negated {
            true => hir::Look::WordAsciiNegate,
            false => hir::Look::WordAscii,
        }),
        // If nothing follows, the place before the last line break is an end as well.
        Node::At(Place::LastEnd) if is_last => Hir::concat(vec![
            repetition(literal('\n'), 0, Some(1)),
            Hir::look(hir::Look::End),
        ]),
        Node::Sequence(all) => {
            let last = all.len() - 1;
            let all = all.iter().enumerate();
            let all = all.map(|(at, node)| hir(node, is_last && at == last));
            Hir::concat(all.collect::<Option<_>>()?)
        }
        Node::Either(all) => {
            let all = all.iter().map(|node| hir(node, is_last));
            Hir::alternation(all.collect::<Option<_>>()?)
        }
        // Greed has no effect on whether there is a match.
        Node::Repeat {
            node,
            min,
            max,
            greed: Greed::Greedy | Greed::Lazy,
        } if max.unwrap_or(*min) <= MAX_REPEAT => repetition(hir(node, false)?, *min, *max),
        Node::Group(_, node) => hir(node, is_last)?,
        Node::At(_)
        | Node::Repeat { .. }
        | Node::Atomic(_)
        | Node::Look(_)
        | Node::Same { .. }
        | Node::If { .. }
        | Node::Call(_) => return None,
    })
}

fn literal(char: char) -> Hir {
    Hir::literal(char.to_string().into_bytes())
}

fn repetition(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(hir::Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(sub),
    })
}

fn class(ranges: impl Iterator<Item = (char, char)>, is_negated: bool) -> Hir {
    let ranges = ranges.map(|(first, last)| ClassUnicodeRange::new(first, last));
    let mut class = ClassUnicode::new(ranges);
    if is_negated {
        class.negate();
    }
    Hir::class(Class::Unicode(class))
}
