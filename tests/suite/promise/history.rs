//! Random histories, compared with the oracle after each step.

use std::{
    cell::Cell,
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use odm::Embedded;
use tests::{NewDatabases, TestStore};

use super::{
    acts::beginning,
    run::{Checked, Place, Run, in_file, same},
    steps::{Chance, Step, step},
};

/// The most steps of one history, without its beginning.
pub(crate) const LENGTH: usize = 250;

/// The place of the stores.
#[derive(Debug, Clone, Copy)]
enum On {
    Memory,
    Disk,
    Mongodb,
}

/// Runs steps, and returns how many were done, or the number of the step that failed and why.
fn run(on: On, steps: &[Step]) -> Result<usize, (usize, String)> {
    let at = Cell::new(0);
    let most = Duration::from_secs(60) + Duration::from_secs(5) * steps.len() as u32;
    let history = || match on {
        On::Memory => tests::run_for(most, async {
            let store = Embedded::memory().await.expect("it opens");
            take(same(store), steps, &at).await
        }),
        On::Disk => {
            let folder = tempfile::tempdir().expect("there is a directory for tests");
            let path = folder.path().join("history.odm");
            tests::run_for(most, take(in_file(path), steps, &at))
        }
        On::Mongodb => {
            let databases = NewDatabases::default();
            tests::run_for(most, async {
                let mut run = Run::new(same(databases.open().await), 0).await?;
                run.has_snapshots = databases.have_snapshots().await;
                take_in(run, steps, &at).await
            })
        }
    };
    match catch_unwind(AssertUnwindSafe(history)) {
        Ok(result) => result.map_err(|message: String| (at.get(), message)),
        Err(_) => Err((at.get(), "it panicked".to_owned())),
    }
}

async fn take<S: TestStore>(place: Place<S>, steps: &[Step], at: &Cell<usize>) -> Checked<usize> {
    take_in(Run::new(place, 0).await?, steps, at).await
}

async fn take_in<S: TestStore>(
    mut run: Run<S>,
    steps: &[Step],
    at: &Cell<usize>,
) -> Checked<usize> {
    for (number, step) in steps.iter().enumerate() {
        at.set(number);
        run.step(step).await?;
    }
    run.right().await?;
    Ok(run.done)
}

pub(crate) fn steps(seed: u64, number: usize) -> Vec<Step> {
    let mut chance = Chance::new(seed);
    let beginning = beginning(&mut chance).into_iter().map(|act| Step::One(1, act));
    let mut steps: Vec<Step> = beginning.collect();
    steps.extend((0..number).map(|_| step(&mut chance)));
    steps
}

/// Takes at most `most` steps in memory, until the oracle reports an error. Returns the number of steps, and the report.
pub(crate) fn first_report(most: usize) -> (usize, Option<String>) {
    let mut taken = 0;
    for seed in 1.. {
        let steps = steps(seed, LENGTH);
        match run(On::Memory, &steps) {
            Ok(_) => taken += steps.len(),
            Err((at, message)) => return (taken + at + 1, Some(message)),
        }
        if taken >= most {
            break;
        }
    }
    (taken, None)
}

/// Leaves out the steps that the failure does not need.
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
    Some(text.parse().unwrap_or_else(|_| panic!("`{name}` is not a number: {text}")))
}

/// Runs histories of `STEPS` steps in total (`total` by default), from the seed `SEED` (1 by default) on.
fn histories(on: On, total: u64) {
    let (total, first) = (number("STEPS").unwrap_or(total) as usize, number("SEED").unwrap_or(1));
    let (mut taken, mut done, mut seed) = (0, 0, first);
    while taken < total {
        let steps = steps(seed, LENGTH.min(total));
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
    eprintln!("{taken} steps, {done} not refused, seeds {first} to {}", seed - 1);
    assert!(done * 4 > taken, "only {done} of {taken} steps were not refused");
}

#[test]
fn a_long_history_of_several_programs_leaves_nothing_wrong_in_memory() {
    histories(On::Memory, 1_000);
}

#[test]
fn a_long_history_of_several_programs_leaves_nothing_wrong_on_disk() {
    histories(On::Disk, 250);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_long_history_of_several_programs_leaves_nothing_wrong_on_mongodb() {
    histories(On::Mongodb, 60);
}
