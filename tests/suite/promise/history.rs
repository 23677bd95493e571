//! Random histories, held against the oracle after each step.

use std::{
    cell::Cell,
    env,
    panic::{AssertUnwindSafe, catch_unwind},
};

use odm::Embedded;

use super::{
    acts::beginning,
    run::{Place, Run},
    steps::{Chance, Step, step},
};

/// The steps of one history.
const LENGTH: usize = 250;

/// Where the stores are.
#[derive(Debug, Clone, Copy)]
enum On {
    Memory,
    Disk,
}

/// Runs steps, and returns how many were done, or the number of the step that failed and why.
fn run(on: On, steps: &[Step]) -> Result<usize, (usize, String)> {
    let at = Cell::new(0);
    let folder = tempfile::tempdir().expect("there is a directory for tests");
    let history = || {
        tests::run(async {
            let place = match on {
                On::Memory => Place::Memory(Embedded::memory().await.expect("it opens")),
                On::Disk => Place::File(folder.path().join("history.odm")),
            };
            let mut run = Run::new(place, 0).await?;
            for (number, step) in steps.iter().enumerate() {
                at.set(number);
                run.step(step).await?;
            }
            run.right().await?;
            Ok(run.done)
        })
    };
    match catch_unwind(AssertUnwindSafe(history)) {
        Ok(result) => result.map_err(|message: String| (at.get(), message)),
        Err(_) => Err((at.get(), "it panicked".to_owned())),
    }
}

pub(crate) fn steps(seed: u64) -> Vec<Step> {
    let mut chance = Chance::new(seed);
    let beginning = beginning(&mut chance)
        .into_iter()
        .map(|act| Step::One(1, act));
    let mut steps: Vec<Step> = beginning.collect();
    steps.extend((0..LENGTH).map(|_| step(&mut chance)));
    steps
}

/// Leaves out what is not needed for a failure.
fn shrunk(on: On, mut steps: Vec<Step>, mut failure: (usize, String)) -> (Vec<Step>, String) {
    steps.truncate(failure.0 + 1);
    let mut length = steps.len() / 2;
    while length > 0 {
        let mut from = 0;
        while from < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + length).min(steps.len()));
            match run(on, &fewer) {
                Err(other) => {
                    fewer.truncate(other.0 + 1);
                    (steps, failure) = (fewer, other);
                }
                Ok(_) => from += length,
            }
        }
        length /= 2;
    }
    (steps, failure.1)
}

pub(crate) fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("`{name}` is not a number: {text}")),
    )
}

/// Runs histories of so many steps together, or of `STEPS`, from the seed 1, or from `SEED`.
fn histories(on: On, total: u64) {
    let (total, first) = (
        number("STEPS").unwrap_or(total) as usize,
        number("SEED").unwrap_or(1),
    );
    let (mut taken, mut done, mut seed) = (0, 0, first);
    while taken < total {
        let steps = steps(seed);
        taken += steps.len();
        match run(on, &steps) {
            Ok(of) => done += of,
            Err(failure) => {
                let last = &steps[failure.0.saturating_sub(4)..=failure.0];
                let original = format!("step {}: {}\nlast: {last:#?}", failure.0, failure.1);
                let (fewer, message) = shrunk(on, steps, failure);
                panic!("seed {seed}, {original}\n\nshrunk: {message}\nfrom {fewer:#?}");
            }
        }
        seed += 1;
    }
    eprintln!(
        "{taken} steps, {done} not refused, seeds {first} to {}",
        seed - 1
    );
    assert!(
        done * 4 > taken,
        "only {done} of {taken} steps were not refused"
    );
}

#[test]
fn a_long_history_of_several_programs_leaves_nothing_wrong_in_memory() {
    histories(On::Memory, 1_000);
}

#[test]
fn a_long_history_of_several_programs_leaves_nothing_wrong_on_disk() {
    histories(On::Disk, 250);
}
