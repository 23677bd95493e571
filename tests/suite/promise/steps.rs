//! The steps of a history, which do not depend on the stored documents: any of them can be left out.

use super::{
    acts::{Act, act},
    tamper::{Tampering, tampering},
};

/// A generator of random numbers (SplitMix64), determined by its seed.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// A number below another.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// A step. A `usize` picks one of the open programs that know the collection.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    One(usize, Act),
    /// Several writes in one transaction, which is rolled back at the end or not.
    Transaction(usize, Vec<Act>, bool),
    /// Writes of several programs at once.
    Together(Vec<(usize, Act)>),
    /// A write whose future is dropped after a number of polls.
    Dropped(usize, Act, usize),
    /// Writes past the library, with an audit and a repair.
    Tamper(Vec<Tampering>),
    /// A repair while others write.
    Repair(usize, Vec<(usize, Act)>),
    /// Opens the next version of the application, while the older one stays open.
    Upgrade,
    /// A backfill while others write.
    Backfill(Vec<(usize, Act)>),
    /// Reopens all programs.
    Reopen,
    /// An export, and its import into a new store, whose future may be dropped after a number of polls.
    Transfer(Option<usize>),
}

impl Step {
    /// The acts of programs in it.
    pub(crate) fn acts(&self) -> Vec<&Act> {
        match self {
            Step::One(_, act) | Step::Dropped(_, act, _) => vec![act],
            Step::Transaction(_, acts, _) => acts.iter().collect(),
            Step::Together(acts) | Step::Repair(_, acts) | Step::Backfill(acts) => {
                acts.iter().map(|(_, act)| act).collect()
            }
            Step::Tamper(_) | Step::Upgrade | Step::Reopen | Step::Transfer(_) => Vec::new(),
        }
    }
}

fn several(chance: &mut Chance, least: u64) -> Vec<(usize, Act)> {
    let number = least + chance.below(4);
    let acts = (0..number).map(|_| (chance.below(60) as usize, act(chance)));
    acts.collect()
}

pub(crate) fn step(chance: &mut Chance) -> Step {
    let program = chance.below(60) as usize;
    match chance.below(60) {
        0..4 => {
            let number = 1 + chance.below(4);
            let acts = (0..number).map(|_| act(chance)).collect();
            Step::Transaction(program, acts, chance.below(3) == 0)
        }
        4..6 => Step::Dropped(program, act(chance), chance.below(12) as usize),
        6..9 => {
            let number = 1 + chance.below(3);
            Step::Tamper((0..number).map(|_| tampering(chance)).collect())
        }
        9 => Step::Upgrade,
        10..12 => Step::Backfill(several(chance, 0)),
        12 => Step::Reopen,
        13 => Step::Repair(program, several(chance, 0)),
        14..17 => Step::Together(several(chance, 2)),
        17 => {
            let polls = chance.below(12) as usize;
            Step::Transfer((chance.below(2) == 0).then_some(polls))
        }
        _ => Step::One(program, act(chance)),
    }
}
