//! Random histories, held against the oracle after each step.

use std::{
    collections::BTreeSet,
    env,
    future::{Future, IntoFuture},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use futures_util::future::join_all;
use odm::{Embedded, ErrorKind, Finding, Problem, bson::Bson, prelude::*};
use tests::poll_once;

use super::{
    acts::{Act, Program, beginning},
    models::{desk::Desk, first, fourth, reports::Reports, second, third},
    oracle::{Wrong, unexplained, wrong},
    rules::VERSIONS,
    steps::{Chance, Step, step},
    tamper::{restore, tamper},
    world::{World, key},
};

/// The steps of one history.
const LENGTH: usize = 250;

type Checked<T> = Result<T, String>;

/// What runs.
struct Run {
    store: Embedded,
    /// All that were opened: the application last.
    programs: Vec<Box<dyn Program>>,
    version: usize,
    world: World,
    /// How many steps were not refused.
    done: usize,
}

async fn application(store: &Embedded, version: usize) -> odm::Result<Box<dyn Program>> {
    let store = store.clone();
    Ok(match version {
        0 => Box::new(first::Application::open(store).await?),
        1 => Box::new(second::Application::open(store).await?),
        2 => Box::new(third::Application::open(store).await?),
        _ => Box::new(fourth::Application::open(store).await?),
    })
}

async fn programs(store: &Embedded, version: usize) -> odm::Result<Vec<Box<dyn Program>>> {
    let reports = Reports::open(store.clone()).await?;
    let desk = Desk::open(store.clone()).await?;
    let application = application(store, version).await?;
    Ok(vec![Box::new(reports), Box::new(desk), application])
}

/// Refusals that say what is wrong with the write; any other error is one of the library.
fn refused(result: odm::Result<()>) -> Checked<bool> {
    use ErrorKind::{
        DanglingReference, DuplicateKey, InvalidUpdate, NotFound, Restricted, Stale,
        TransactionAborted,
    };
    match result {
        Ok(()) => Ok(false),
        Err(error) => match error.kind() {
            NotFound | DuplicateKey | DanglingReference | Restricted | Stale | InvalidUpdate
            | TransactionAborted => Ok(true),
            _ => Err(format!("unexpected error: {:?}: {error}", error.kind())),
        },
    }
}

impl Run {
    async fn new() -> Run {
        let store = Embedded::memory().await.expect("a store in memory opens");
        let programs = programs(&store, 0).await.expect("the models fit together");
        Run {
            world: World::read(&store).await,
            store,
            programs,
            version: 0,
            done: 0,
        }
    }

    /// One of the programs that know all these collections.
    fn program(&self, number: usize, acts: &[&Act]) -> &dyn Program {
        let knows = |program: &dyn Program| acts.iter().all(|act| program.knows(act.collection));
        let programs = self.programs.iter().map(Box::as_ref);
        let able: Vec<&dyn Program> = programs.filter(|program| knows(*program)).collect();
        able[number % able.len()]
    }

    fn newest(&self) -> &dyn Program {
        self.programs
            .last()
            .expect("the application is open")
            .as_ref()
    }

    fn wrong(&self, world: &World, before: Option<&World>) -> Wrong {
        wrong(world, self.version, &self.newest().pending(), before)
    }

    fn right(&self, world: &World, before: Option<&World>) -> Checked<()> {
        match self.wrong(world, before) {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(format!("{wrong:#?}")),
        }
    }

    async fn together(&self, acts: &[(usize, Act)]) -> Checked<()> {
        let all = acts
            .iter()
            .map(|(number, act)| self.program(*number, &[act]).act(act));
        for result in join_all(all).await {
            refused(result)?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Checked<()> {
        let mut before = None;
        let mut is_refused = false;
        match step {
            Step::One(number, act) => {
                is_refused = refused(self.program(*number, &[act]).act(act).await)?;
                before = Some(&self.world);
                let after = World::read(&self.store).await;
                unexplained(&self.world, &after, self.version, act.collection)?;
            }
            Step::Transaction(number, acts, rolls_back) => {
                let all: Vec<&Act> = acts.iter().collect();
                let program = self.program(*number, &all);
                is_refused = refused(program.transaction(acts, *rolls_back).await)?;
            }
            Step::Together(acts) => self.together(acts).await?,
            Step::Dropped(number, act, polls) => {
                let program = self.program(*number, &[act]);
                if let Some(result) = poll_and_drop(program.act(act), *polls).await {
                    refused(result)?;
                }
                // Writes wait for each other, so that after this one that one is over.
                refused(self.newest().transaction(&[], false).await)?;
            }
            Step::Tamper(with) => return self.tampered(with).await,
            Step::Repair(number, acts) => {
                let repair = self.programs[number % self.programs.len()].repair();
                let (repaired, acted) = tokio::join!(repair.into_future(), self.together(acts));
                acted?;
                let repaired = repaired.map_err(|error| format!("repair: {error}"))?;
                if !repaired.is_empty() && self.newest().pending().is_empty() {
                    return Err(format!("findings of what was right: {repaired:#?}"));
                }
            }
            Step::Upgrade if self.version + 1 < VERSIONS.len() => {
                self.version += 1;
                let newer = application(&self.store, self.version).await;
                self.programs
                    .push(newer.map_err(|error| format!("open: {error}"))?);
            }
            Step::Upgrade => return Ok(()),
            Step::Backfill(acts) => {
                let backfill = self.newest().backfill();
                let (filled, acted) = tokio::join!(backfill.into_future(), self.together(acts));
                acted?;
                filled.map_err(|error| format!("backfill: {error}"))?;
                let reopened = application(&self.store, self.version).await;
                *self.programs.last_mut().expect("it is open") =
                    reopened.map_err(|error| format!("open: {error}"))?;
                if !self.newest().pending().is_empty() {
                    return Err(format!("still pending: {:?}", self.newest().pending()));
                }
            }
            Step::Reopen => {
                let opened = programs(&self.store, self.version).await;
                self.programs = opened.map_err(|error| format!("open: {error}"))?;
            }
        }
        let after = World::read(&self.store).await;
        if is_refused && after != self.world {
            return Err("it was refused, and has left something".to_owned());
        }
        self.right(&after, before)?;
        self.done += usize::from(!is_refused);
        self.world = after;
        Ok(())
    }

    /// Writes past the library: the audit finds what the oracle finds, and a repair corrects it.
    async fn tampered(&mut self, with: &[super::tamper::Tampering]) -> Checked<()> {
        if tamper(&self.store, with.to_vec()).await.is_err() {
            return Ok(());
        }
        if !self.newest().pending().is_empty() {
            restore(&self.store, &self.world).await;
            return Ok(());
        }
        let tampered = World::read(&self.store).await;
        let wrong = self.wrong(&tampered, None);
        let found = self
            .newest()
            .audit()
            .await
            .map_err(|error| format!("audit: {error}"))?;
        all_found(&wrong, &found)?;
        let repaired = self
            .newest()
            .repair()
            .await
            .map_err(|error| format!("repair: {error}"))?;
        let after = World::read(&self.store).await;
        let left = self.wrong(&after, None);
        let found = self
            .newest()
            .audit()
            .await
            .map_err(|error| format!("audit: {error}"))?;
        all_found(&left, &found)?;
        let is_derived = |finding: &&Finding| matches!(finding.problem, Problem::Derived(_));
        if let Some(finding) = found.iter().find(is_derived) {
            return Err(format!(
                "not repaired: {finding}; the repair found {repaired:#?}"
            ));
        }
        if left.is_empty() {
            self.world = after;
            self.done += 1;
        } else {
            restore(&self.store, &self.world).await;
        }
        Ok(())
    }
}

/// What is wrong by the oracle was found, as far as documents go. More may be found: the oracle does not tell
/// null from nothing.
fn all_found(wrong: &Wrong, found: &[Finding]) -> Checked<()> {
    let found: BTreeSet<_> = found
        .iter()
        .map(|finding| {
            let id = Bson::try_from(finding.id.clone()).expect("an `_id` is BSON");
            (finding.collection.as_str(), key(&id))
        })
        .collect();
    for (at, what) in wrong {
        if !found.contains(&(at.0, at.1.clone())) {
            return Err(format!("not found: {at:?} {what}"));
        }
    }
    Ok(())
}

/// Polls a future at most so many times, with a little time in between, and drops it.
async fn poll_and_drop<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(output) = poll_once(&mut future).await {
            return Some(output);
        }
        tokio::time::sleep(Duration::from_micros(30)).await;
    }
    None
}

/// Runs steps, and returns how many were done, or the number of the step that failed and why.
fn run(steps: &[Step]) -> Result<usize, (usize, String)> {
    let at = std::cell::Cell::new(0);
    let history = || {
        tests::run(async {
            let mut run = Run::new().await;
            for (number, step) in steps.iter().enumerate() {
                at.set(number);
                run.step(step).await?;
            }
            Ok(run.done)
        })
    };
    match catch_unwind(AssertUnwindSafe(history)) {
        Ok(result) => result.map_err(|message: String| (at.get(), message)),
        Err(_) => Err((at.get(), "it panicked".to_owned())),
    }
}

fn steps(seed: u64) -> Vec<Step> {
    let mut chance = Chance::new(seed);
    let beginning = beginning(&mut chance)
        .into_iter()
        .map(|act| Step::One(2, act));
    let mut steps: Vec<Step> = beginning.collect();
    steps.extend((0..LENGTH).map(|_| step(&mut chance)));
    steps
}

/// Leaves out what is not needed for a failure.
fn shrunk(mut steps: Vec<Step>, mut failure: (usize, String)) -> (Vec<Step>, String) {
    steps.truncate(failure.0 + 1);
    let mut length = steps.len() / 2;
    while length > 0 {
        let mut from = 0;
        while from < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + length).min(steps.len()));
            match run(&fewer) {
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

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("`{name}` is not a number: {text}")),
    )
}

/// `STEPS` says how many steps are run, and `SEED` where the seeds start.
#[test]
fn a_long_history_of_several_programs_leaves_nothing_wrong() {
    let (total, first) = (
        number("STEPS").unwrap_or(1_000) as usize,
        number("SEED").unwrap_or(1),
    );
    let (mut taken, mut done, mut seed) = (0, 0, first);
    while taken < total {
        let steps = steps(seed);
        taken += steps.len();
        match run(&steps) {
            Ok(of) => done += of,
            Err(failure) => {
                let last = &steps[failure.0.saturating_sub(4)..=failure.0];
                let original = format!("step {}: {}\nlast: {last:#?}", failure.0, failure.1);
                let (fewer, message) = shrunk(steps, failure);
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
