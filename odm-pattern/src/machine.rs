//! The search for a match by backtracking, with a bound on its steps.

use std::ops::Range;

use super::{
    program::{ENDLESS, Op, Program},
    set,
    tree::{Greed, One, Place},
};
use crate::Steps;
use crate::fold;

/// The most choices that are open at once, including the records that undo their effects: 20 bytes each.
const MAX_FRAMES: usize = 1 << 20;

/// No place in the text, and no call.
const NONE: u32 = u32::MAX;

/// The bound that ended a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Exceeded {
    Steps,
    Memory,
}

/// Whether the program matches a part of the text, which is shorter than 4 GiB.
pub(super) fn search(program: &Program, text: &str, steps: &Steps) -> Result<bool, Exceeded> {
    Ok(find(program, text, 0, steps)?.is_some())
}

/// The place of the first match that begins at this byte or later, and the registers. The text is shorter than 4 GiB.
pub(super) fn find(
    program: &Program,
    text: &str,
    from: usize,
    steps: &Steps,
) -> Result<Option<Matched>, Exceeded> {
    let mut machine = Machine {
        program,
        text,
        steps,
        registers: vec![NONE; program.registers],
        frames: Vec::new(),
        calls: Vec::new(),
    };
    let mut start = from;
    loop {
        if let Some(end) = machine.runs_from(start)? {
            return Ok(Some(Matched {
                place: start..end,
                registers: machine.registers,
            }));
        }
        match text[start..].chars().next() {
            Some(char) if !program.is_anchored => start += char.len_utf8(),
            _ => return Ok(None),
        }
    }
}

/// A match, with the registers at its end.
pub(super) struct Matched {
    pub(super) place: Range<usize>,
    registers: Vec<u32>,
}

impl Matched {
    /// The place of a group, if it has a text.
    pub(super) fn group(&self, group: usize) -> Option<Range<usize>> {
        match (
            self.registers.get(2 * group),
            self.registers.get(2 * group + 1),
        ) {
            (Some(begin), Some(end)) if *end != NONE => Some(*begin as usize..*end as usize),
            _ => None,
        }
    }
}

/// The action after a failure.
enum Frame {
    /// Continues at this instruction and place.
    Branch { op: u32, at: u32, call: u32 },
    /// Gives back one of the characters that were taken from `low` to `high`.
    Give {
        op: u32,
        low: u32,
        high: u32,
        call: u32,
    },
    /// Takes one more character, up to a bound.
    Take {
        op: u32,
        at: u32,
        left: u32,
        call: u32,
    },
    /// Restores a register.
    Restore { register: u32, value: u32 },
}

/// A group that is called.
struct Call {
    group: u32,
    /// The instruction after the call.
    back: u32,
    /// The enclosing call.
    outer: u32,
    /// The registers before the call, which are restored after it.
    registers: Vec<u32>,
}

struct Machine<'p, 't> {
    program: &'p Program,
    text: &'t str,
    steps: &'p Steps,
    registers: Vec<u32>,
    frames: Vec<Frame>,
    /// All calls of a run, also those that have ended.
    calls: Vec<Call>,
}

impl Machine<'_, '_> {
    /// The end of a match that begins here.
    fn runs_from(&mut self, start: usize) -> Result<Option<usize>, Exceeded> {
        self.registers.fill(NONE);
        self.frames.clear();
        self.calls.clear();
        self.spend(1 + self.registers.len() as u64 / 16)?;
        let mut op = 0_u32;
        let mut at = start;
        let mut call = NONE;
        loop {
            self.steps.step();
            self.spend(1)?;
            let next = self.step(op, &mut at, &mut call)?;
            op = match next {
                Next::On => op + 1,
                Next::To(to) => to,
                Next::Found => return Ok(Some(at)),
                Next::Failed => match self.back(&mut at, &mut call)? {
                    Some(op) => op,
                    None => return Ok(None),
                },
            };
        }
    }

    fn spend(&self, steps: u64) -> Result<(), Exceeded> {
        match self.steps.take(steps) {
            true => Ok(()),
            false => Err(Exceeded::Steps),
        }
    }

    fn push(&mut self, frame: Frame) -> Result<(), Exceeded> {
        if self.frames.len() == MAX_FRAMES {
            return Err(Exceeded::Memory);
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Sets a register, until the search goes back to an earlier choice.
    fn set(&mut self, register: u32, value: u32) -> Result<(), Exceeded> {
        let value = std::mem::replace(&mut self.registers[register as usize], value);
        self.push(Frame::Restore { register, value })
    }

    fn get(&self, register: u32) -> u32 {
        self.registers[register as usize]
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }

    /// Takes the last open choice.
    fn back(&mut self, at: &mut usize, call: &mut u32) -> Result<Option<u32>, Exceeded> {
        while let Some(frame) = self.frames.pop() {
            self.steps.step();
            self.spend(1)?;
            match frame {
                Frame::Restore { register, value } => self.registers[register as usize] = value,
                Frame::Branch {
                    op,
                    at: place,
                    call: of,
                } => {
                    (*at, *call) = (place as usize, of);
                    return Ok(Some(op));
                }
                Frame::Give {
                    op,
                    low,
                    high,
                    call: of,
                } => {
                    let last = self.char_before(high as usize);
                    let high = high - last.map_or(0, char::len_utf8) as u32;
                    if high > low {
                        let call = of;
                        self.push(Frame::Give {
                            op,
                            low,
                            high,
                            call,
                        })?;
                    }
                    (*at, *call) = (high as usize, of);
                    return Ok(Some(op));
                }
                Frame::Take {
                    op,
                    at: place,
                    left,
                    call: of,
                } => {
                    let Op::Many { one, .. } = &self.program.ops[op as usize] else {
                        continue;
                    };
                    let Some(char) = self.char_at(place as usize).filter(|it| one.is(*it)) else {
                        continue;
                    };
                    let place = place + char.len_utf8() as u32;
                    if left > 1 {
                        let left = if left == ENDLESS { ENDLESS } else { left - 1 };
                        self.push(Frame::Take {
                            op,
                            at: place,
                            left,
                            call: of,
                        })?;
                    }
                    (*at, *call) = (place as usize, of);
                    return Ok(Some(op + 1));
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self, op: u32, at: &mut usize, call: &mut u32) -> Result<Next, Exceeded> {
        let program = self.program;
        let passes = |passes| if passes { Next::On } else { Next::Failed };
        Ok(match &program.ops[op as usize] {
            Op::One(one) => match self.char_at(*at) {
                Some(char) if one.is(char) => {
                    *at += char.len_utf8();
                    Next::On
                }
                _ => Next::Failed,
            },
            Op::Many {
                one,
                min,
                max,
                greed,
            } => return self.many(op, (one, *min, *max, *greed), at, *call),
            Op::At(place) => passes(self.is_at(*place, *at)),
            Op::Split(first, second) => {
                let (op, at, call) = (*second, *at as u32, *call);
                self.push(Frame::Branch { op, at, call })?;
                Next::To(*first)
            }
            Op::Jump(to) => Next::To(*to),
            Op::Save(register) => {
                self.set(*register, *at as u32)?;
                Next::On
            }
            Op::Close { group, begin } => {
                self.set(2 * group, self.get(*begin))?;
                self.set(2 * group + 1, *at as u32)?;
                self.ends(*group, call)?.map_or(Next::On, Next::To)
            }
            Op::Begin(counter) => {
                self.set(*counter, 0)?;
                Next::On
            }
            Op::Round {
                counter,
                min,
                max,
                is_lazy,
                end,
            } => {
                let count = self.get(*counter);
                let (enter, end) = (op + 1, *end);
                if count < *min {
                    Next::To(enter)
                } else if count == *max {
                    Next::To(end)
                } else {
                    let (first, second) = if *is_lazy { (end, enter) } else { (enter, end) };
                    let (at, call) = (*at as u32, *call);
                    self.push(Frame::Branch {
                        op: second,
                        at,
                        call,
                    })?;
                    Next::To(first)
                }
            }
            Op::Enter(counter) => {
                // No text is long enough for more rounds, except rounds without text, which end a loop.
                self.set(
                    *counter,
                    self.get(*counter).saturating_add(1).min(ENDLESS - 1),
                )?;
                self.set(counter + 1, *at as u32)?;
                Next::On
            }
            Op::Again {
                counter,
                min,
                is_endless,
                head,
                end,
            } => {
                let is_empty = self.get(counter + 1) == *at as u32;
                match *is_endless && is_empty && self.get(*counter) >= *min {
                    true => Next::To(*end),
                    false => Next::To(*head),
                }
            }
            Op::Mark(mark) => {
                self.set(*mark, 0)?;
                self.set(mark + 1, *at as u32)?;
                self.registers[*mark as usize] = self.frames.len() as u32;
                Next::On
            }
            Op::Cut(mark) => {
                let open = self.get(*mark) as usize;
                self.spend((self.frames.len() - open) as u64)?;
                let mut kept = open;
                for at in open..self.frames.len() {
                    if matches!(self.frames[at], Frame::Restore { .. }) {
                        self.frames.swap(kept, at);
                        kept += 1;
                    }
                }
                self.frames.truncate(kept);
                Next::On
            }
            Op::Return(mark) => {
                *at = self.get(mark + 1) as usize;
                Next::On
            }
            Op::Undo(mark) => {
                let (open, place) = (self.get(*mark) as usize, self.get(mark + 1));
                self.spend((self.frames.len() - open) as u64)?;
                for frame in self.frames.drain(open..).rev() {
                    if let Frame::Restore { register, value } = frame {
                        self.registers[register as usize] = value;
                    }
                }
                *at = place as usize;
                Next::On
            }
            Op::Back(number) => {
                self.spend(u64::from(*number))?;
                let mut place = *at;
                for _ in 0..*number {
                    let Some(char) = self.char_before(place) else {
                        return Ok(Next::Failed);
                    };
                    place -= char.len_utf8();
                }
                *at = place;
                Next::On
            }
            Op::IsAt(register) => passes(self.get(*register) == *at as u32),
            Op::Same { groups, folds } => return self.same(groups, *folds, at),
            Op::UnlessSet(groups, to) => {
                self.spend(groups.len() as u64)?;
                let is_set = |group: &u32| self.get(2 * group + 1) != NONE;
                match groups.iter().any(is_set) {
                    true => Next::On,
                    false => Next::To(*to),
                }
            }
            Op::UnlessCalled(groups, to) => {
                self.spend(groups.len() as u64)?;
                let called = self.calls.get(*call as usize).map(|call| call.group);
                match called.is_some_and(|it| groups.is_empty() || groups.contains(&it)) {
                    true => Next::On,
                    false => Next::To(*to),
                }
            }
            Op::Call { group, to } => {
                self.spend(self.registers.len() as u64)?;
                self.calls.push(Call {
                    group: *group,
                    back: op + 1,
                    outer: *call,
                    registers: self.registers.clone(),
                });
                *call = self.calls.len() as u32 - 1;
                Next::To(*to)
            }
            Op::Fail => Next::Failed,
            Op::End => self.ends(0, call)?.map_or(Next::Found, Next::To),
        })
    }

    /// If this is the end of a call of the group, restores the registers and returns the instruction after the call.
    fn ends(&mut self, group: u32, call: &mut u32) -> Result<Option<u32>, Exceeded> {
        let Some(ended) = self.calls.get(*call as usize) else {
            return Ok(None);
        };
        if ended.group != group {
            return Ok(None);
        }
        let (back, outer) = (ended.back, ended.outer);
        let changed: Vec<(u32, u32)> = (0..)
            .zip(&ended.registers)
            .filter(|(register, value)| self.get(*register) != **value)
            .map(|(register, value)| (register, *value))
            .collect();
        self.spend(self.registers.len() as u64)?;
        for (register, value) in changed {
            self.set(register, value)?;
        }
        *call = outer;
        Ok(Some(back))
    }

    fn many(
        &mut self,
        op: u32,
        (one, min, max, greed): (&One, u32, u32, Greed),
        at: &mut usize,
        call: u32,
    ) -> Result<Next, Exceeded> {
        let most = if greed == Greed::Lazy { min } else { max };
        let mut place = *at;
        let mut low = *at;
        let mut count = 0;
        for char in self.text[*at..].chars() {
            self.steps.step();
            self.spend(1)?;
            if count == most || !one.is(char) {
                break;
            }
            place += char.len_utf8();
            count += 1;
            if count == min {
                low = place;
            }
        }
        if count < min {
            return Ok(Next::Failed);
        }
        let (low, high) = (low as u32, place as u32);
        match greed {
            Greed::Greedy if high > low => self.push(Frame::Give {
                op: op + 1,
                low,
                high,
                call,
            })?,
            Greed::Lazy if max > min => self.push(Frame::Take {
                op,
                at: high,
                left: if max == ENDLESS { ENDLESS } else { max - min },
                call,
            })?,
            _ => {}
        }
        *at = place;
        Ok(Next::On)
    }

    fn same(&self, groups: &[u32], folds: bool, at: &mut usize) -> Result<Next, Exceeded> {
        self.spend(groups.len() as u64)?;
        let is_set = |group: &&u32| self.get(**group * 2 + 1) != NONE;
        let Some(group) = groups.iter().find(is_set) else {
            return Ok(Next::Failed);
        };
        let (begin, end) = (self.get(group * 2), self.get(group * 2 + 1));
        let same = &self.text[begin as usize..end as usize];
        self.spend(same.len() as u64)?;
        let rest = &self.text[*at..];
        if !folds {
            if !rest.starts_with(same) {
                return Ok(Next::Failed);
            }
            *at += same.len();
            return Ok(Next::On);
        }
        let mut others = rest.chars();
        for char in same.chars() {
            match others.next() {
                Some(other) if fold::char(other) == fold::char(char) => *at += other.len_utf8(),
                _ => return Ok(Next::Failed),
            }
        }
        Ok(Next::On)
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let rest = &self.text[at..];
        match place {
            Place::Start => at == 0,
            Place::End => rest.is_empty(),
            Place::LastEnd => matches!(rest, "" | "\n"),
            // No line begins at the end of a text.
            Place::LineStart => at == 0 || self.text[..at].ends_with('\n') && !rest.is_empty(),
            Place::LineEnd => rest.is_empty() || rest.starts_with('\n'),
            Place::Word {
                is_unicode,
                is_negated,
            } => {
                let is_word = |char: Option<char>| {
                    char.is_some_and(|char| match char.is_ascii() || !is_unicode {
                        true => char == '_' || char.is_ascii_alphanumeric(),
                        false => set::is_word(char),
                    })
                };
                (is_word(self.char_before(at)) != is_word(self.char_at(at))) != is_negated
            }
        }
    }
}

impl One {
    fn is(&self, char: char) -> bool {
        match self {
            One::Char(own) => *own == char,
            One::Folded(own) => fold::char(char) == *own,
            One::Set(set) => set.contains(char),
        }
    }
}

/// The next place of a run.
enum Next {
    On,
    To(u32),
    Found,
    Failed,
}
