//! The bounds on the evaluation of expressions for a document: an expression can loop over arrays that it makes.

use std::cell::Cell;

use bson::RawBson;
use odm_pattern::Steps;

use super::failed;
use crate::{Error, error::code, variables};

/// The most steps of the evaluation, which take a few seconds. MongoDB has no such bound but the time of the command.
const MOST_STEPS: u64 = 1 << 25;

/// How many bytes of a value are copied or read in a step.
const BYTES_OF_STEP: usize = 64;

/// How many fields are passed by in a step.
const FIELDS_OF_STEP: u64 = 8;

/// The most bytes of the values that are held at a time: twice the bound of one value.
const MOST_HELD: usize = 128 << 20;

/// The work that is left for the expressions of a request on a document.
#[derive(Debug)]
pub(crate) struct Work<'s> {
    left: Cell<u64>,
    held: Cell<usize>,
    /// The remaining steps of regular expressions.
    patterns: &'s Steps,
}

impl<'s> Work<'s> {
    pub(crate) fn new(patterns: &'s Steps) -> Self {
        Work {
            left: Cell::new(MOST_STEPS),
            held: Cell::new(0),
            patterns,
        }
    }

    /// The same with less work.
    #[cfg(test)]
    pub(super) fn within(self, steps: u64) -> Self {
        self.left.set(steps);
        self
    }

    pub(crate) fn patterns(&self) -> &'s Steps {
        self.patterns
    }

    pub(super) fn take(&self, steps: u64) -> Result<(), Error> {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or_default());
        match left {
            Some(_) => Ok(()),
            None => Err(failed(
                "$expr",
                "it takes too many steps for one document",
                code::MAX_TIME_EXPIRED,
            )),
        }
    }

    /// Takes the steps for a value that is made.
    pub(super) fn take_value(&self, value: &Option<RawBson>) -> Result<(), Error> {
        self.take((size(value) / BYTES_OF_STEP) as u64)
    }

    /// Takes the steps for fields that are passed by.
    pub(super) fn take_fields(&self, fields: u64) -> Result<(), Error> {
        self.take(fields / FIELDS_OF_STEP)
    }

    /// Counts values that are held while others are computed, as long as the result lives.
    pub(super) fn hold(&self) -> Held<'_> {
        Held {
            work: self,
            bytes: Cell::new(0),
        }
    }
}

/// The bytes of values that an operator holds.
#[derive(Debug)]
pub(super) struct Held<'w> {
    work: &'w Work<'w>,
    bytes: Cell<usize>,
}

impl Held<'_> {
    pub(super) fn add(&self, value: &Option<RawBson>) -> Result<(), Error> {
        self.set(self.bytes.get().saturating_add(size(value)))
    }

    /// Changes how many bytes are held.
    pub(super) fn set(&self, bytes: usize) -> Result<(), Error> {
        let others = self.work.held.get().saturating_sub(self.bytes.get());
        let all = others.saturating_add(bytes);
        self.work.held.set(all);
        self.bytes.set(bytes);
        if all > MOST_HELD {
            let reason = format!("values of more than {MOST_HELD} bytes are computed at a time");
            return Err(failed("$expr", reason, code::EXCEEDED_MEMORY_LIMIT));
        }
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let others = self.work.held.get().saturating_sub(self.bytes.get());
        self.work.held.set(others);
    }
}

fn size(value: &Option<RawBson>) -> usize {
    value.as_ref().map_or(0, variables::size)
}
