//! Expressions as instructions, if only backtracking matches them.

use super::tree::{Condition, Greed, Look, Node, One, Place, Tree};

/// An instruction. Places in the program and the numbers of registers fit into 32 bits, as an expression has at most
/// 32,764 bytes.
#[derive(Debug, Clone)]
pub(super) enum Op {
    One(One),
    /// As many repetitions of one character as possible, which are given back one by one.
    Many {
        one: One,
        min: u32,
        max: u32,
        greed: Greed,
    },
    At(Place),
    /// Continues with the first, and with the second after a failure.
    Split(u32, u32),
    Jump(u32),
    /// Sets a register to the place in the text.
    Save(u32),
    /// The end of a group, whose begin is in the register.
    Close {
        group: u32,
        begin: u32,
    },
    /// Begins to count the rounds of a loop.
    Begin(u32),
    /// Another round, or the end of the loop. The next register has the begin of the round.
    Round {
        counter: u32,
        min: u32,
        max: u32,
        is_lazy: bool,
        end: u32,
    },
    /// The begin of a round.
    Enter(u32),
    /// The end of a round. A loop without a bound ends after a round without text.
    Again {
        counter: u32,
        min: u32,
        is_endless: bool,
        head: u32,
        end: u32,
    },
    /// Records the open choices and the place in this register and the next one.
    Mark(u32),
    /// Closes the choices since a mark.
    Cut(u32),
    /// Goes back to the place of a mark.
    Return(u32),
    /// Undoes everything since a mark, and goes back to its place.
    Undo(u32),
    /// Goes back by a number of characters.
    Back(u32),
    /// Passes if the place is the place of a mark.
    IsAt(u32),
    /// The text of the first of these groups that has a text.
    Same {
        groups: Vec<u32>,
        folds: bool,
    },
    /// Goes on there if no group in the list has a text.
    UnlessSet(Vec<u32>, u32),
    /// Goes on there unless a group in the list is called, or, if the list is empty, any group.
    UnlessCalled(Vec<u32>, u32),
    /// The part of a group, which begins there.
    Call {
        group: u32,
        to: u32,
    },
    Fail,
    /// The end of the expression.
    End,
}

/// No bound.
pub(super) const ENDLESS: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) registers: usize,
    /// Whether a match can only be at the begin of a text.
    pub(super) is_anchored: bool,
}

pub(super) fn compile(tree: &Tree) -> Program {
    let mut compiler = Compiler {
        tree,
        ops: Vec::new(),
        registers: 2 * (tree.groups as u32 + 1),
        groups: vec![None; tree.groups + 1],
        calls: Vec::new(),
    };
    compiler.node(&tree.root);
    compiler.ops.push(Op::End);
    for (at, group) in std::mem::take(&mut compiler.calls) {
        if let Op::Call { to, .. } = &mut compiler.ops[at] {
            // The whole expression begins at 0.
            *to = compiler.groups[group as usize].unwrap_or_default();
        }
    }
    Program {
        is_anchored: matches!(compiler.ops.first(), Some(Op::At(Place::Start))),
        ops: compiler.ops,
        registers: compiler.registers as usize,
    }
}

struct Compiler<'t> {
    tree: &'t Tree,
    ops: Vec<Op>,
    registers: u32,
    /// Where groups begin.
    groups: Vec<Option<u32>>,
    calls: Vec<(usize, u32)>,
}

impl Compiler<'_> {
    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Reserves a place for an instruction that is known later.
    fn later(&mut self) -> usize {
        self.ops.push(Op::Fail);
        self.ops.len() - 1
    }

    fn registers(&mut self, number: u32) -> u32 {
        let first = self.registers;
        self.registers += number;
        first
    }

    fn resolve(&self, target: &super::tree::Target) -> Vec<u32> {
        let groups = self.tree.resolve(target).into_iter();
        groups.map(|group| group as u32).collect()
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Fail => self.ops.push(Op::Fail),
            Node::One(one) => self.ops.push(Op::One(one.clone())),
            Node::At(place) => self.ops.push(Op::At(*place)),
            Node::Sequence(all) => all.iter().for_each(|node| self.node(node)),
            Node::Either(all) => self.either(all.len(), |compiler, at| compiler.node(&all[at])),
            Node::Repeat {
                node,
                min,
                max,
                greed,
            } => self.repeat(node, *min, max.unwrap_or(ENDLESS), *greed),
            Node::Group(number, node) => {
                let begin = self.registers(1);
                let here = self.here();
                // If several groups have one number, the first is called.
                self.groups[*number].get_or_insert(here);
                self.ops.push(Op::Save(begin));
                self.node(node);
                let group = *number as u32;
                self.ops.push(Op::Close { group, begin });
            }
            Node::Atomic(node) => {
                let mark = self.registers(2);
                self.ops.push(Op::Mark(mark));
                self.node(node);
                self.ops.push(Op::Cut(mark));
            }
            Node::Look(look) => {
                let mark = self.registers(2);
                self.ops.push(Op::Mark(mark));
                if look.is_negated {
                    let split = self.later();
                    self.look(look, mark);
                    self.ops.push(Op::Undo(mark));
                    self.ops.push(Op::Fail);
                    self.ops[split] = Op::Split(split as u32 + 1, self.here());
                } else {
                    self.look(look, mark);
                    if look.is_atomic {
                        self.ops.push(Op::Cut(mark));
                    }
                    self.ops.push(Op::Return(mark));
                }
            }
            Node::Same { of, folds } => {
                let groups = self.resolve(of);
                self.ops.push(Op::Same {
                    groups,
                    folds: *folds,
                });
            }
            Node::If { condition, yes, no } => {
                self.branch(condition, yes, no.as_deref().unwrap_or(&Node::Empty))
            }
            Node::Call(target) => {
                let group = self.resolve(target).first().copied().unwrap_or_default();
                self.calls.push((self.ops.len(), group));
                self.ops.push(Op::Call { group, to: 0 });
            }
        }
    }

    fn either(&mut self, number: usize, mut each: impl FnMut(&mut Self, usize)) {
        let mut jumps = Vec::new();
        for at in 0..number {
            if at + 1 == number {
                each(self, at);
                break;
            }
            let split = self.later();
            each(self, at);
            jumps.push(self.later());
            self.ops[split] = Op::Split(split as u32 + 1, self.here());
        }
        for jump in jumps {
            self.ops[jump] = Op::Jump(self.here());
        }
    }

    /// The expression of a lookaround. After a lookbehind, the place is that of the mark.
    fn look(&mut self, look: &Look, mark: u32) {
        if !look.is_behind {
            return self.node(&look.node);
        }
        let all = match look.node.as_ref() {
            Node::Either(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        self.either(all.len(), |compiler, at| {
            let (min, max) = all[at].len();
            let lengths: Vec<u32> = (min..=max.unwrap_or(min)).collect();
            compiler.either(lengths.len(), |compiler, at| {
                compiler.ops.push(Op::Back(lengths[at]));
            });
            compiler.node(&all[at]);
            // PCRE2 takes the end of a fixed length for granted, also where it is wrong.
            if max != Some(min) {
                compiler.ops.push(Op::IsAt(mark + 1));
            }
        });
    }

    fn branch(&mut self, condition: &Condition, yes: &Node, no: &Node) {
        let test = match condition {
            Condition::Look(look) => {
                let mark = self.registers(2);
                self.ops.push(Op::Mark(mark));
                let split = self.later();
                self.look(look, mark);
                self.ops.push(match look.is_negated {
                    true => Op::Undo(mark),
                    false => Op::Cut(mark),
                });
                self.ops.push(Op::Return(mark));
                let (then, other) = if look.is_negated {
                    (no, yes)
                } else {
                    (yes, no)
                };
                self.node(then);
                let jump = self.later();
                self.ops[split] = Op::Split(split as u32 + 1, self.here());
                self.node(other);
                self.ops[jump] = Op::Jump(self.here());
                return;
            }
            _ => self.later(),
        };
        self.node(yes);
        let jump = self.later();
        let other = self.here();
        self.ops[test] = match condition {
            Condition::IsSet(target) => Op::UnlessSet(self.resolve(target), other),
            Condition::IsCalled(target) => {
                let groups = target.as_ref().map_or(Vec::new(), |it| self.resolve(it));
                Op::UnlessCalled(groups, other)
            }
            Condition::Never | Condition::Look(_) => Op::Jump(other),
        };
        self.node(no);
        self.ops[jump] = Op::Jump(self.here());
    }

    fn repeat(&mut self, node: &Node, min: u32, max: u32, greed: Greed) {
        if let Node::One(one) = node {
            let one = one.clone();
            self.ops.push(Op::Many {
                one,
                min,
                max,
                greed,
            });
            return;
        }
        if greed == Greed::Possessive {
            let mark = self.registers(2);
            self.ops.push(Op::Mark(mark));
            self.repeat(node, min, max, Greed::Greedy);
            self.ops.push(Op::Cut(mark));
            return;
        }
        let is_lazy = greed == Greed::Lazy;
        let split = |first: u32, second: u32| match is_lazy {
            true => Op::Split(second, first),
            false => Op::Split(first, second),
        };
        let is_never_empty = node.len().0 > 0;
        match (min, max) {
            (1, 1) => self.node(node),
            // It can be called.
            (_, 0) => {
                let jump = self.later();
                self.node(node);
                self.ops[jump] = Op::Jump(self.here());
            }
            (0, 1) => {
                let at = self.later();
                self.node(node);
                self.ops[at] = split(at as u32 + 1, self.here());
            }
            (0, ENDLESS) if is_never_empty => {
                let at = self.later();
                self.node(node);
                self.ops.push(Op::Jump(at as u32));
                self.ops[at] = split(at as u32 + 1, self.here());
            }
            (1, ENDLESS) if is_never_empty => {
                let head = self.here();
                self.node(node);
                let op = split(head, self.here() + 1);
                self.ops.push(op);
            }
            _ => {
                let counter = self.registers(2);
                self.ops.push(Op::Begin(counter));
                let head = self.later();
                self.ops.push(Op::Enter(counter));
                self.node(node);
                let end = self.here() + 1;
                self.ops.push(Op::Again {
                    counter,
                    min,
                    is_endless: max == ENDLESS,
                    head: head as u32,
                    end,
                });
                self.ops[head] = Op::Round {
                    counter,
                    min,
                    max,
                    is_lazy,
                    end,
                };
            }
        }
    }
}
