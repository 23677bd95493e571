//! Programs that are killed, again and again, in the middle of a history on one file.

use std::{env, thread, time::Duration};

use tests::killed::{Kill, run_and_kill};

use super::{
    acts::beginning,
    history::number,
    rules::VERSIONS,
    run::{Run, in_file},
    steps::{Chance, Step, step},
};

const PATH: &str = "ODM_TESTS_PROMISE_FILE";
const ROUND: &str = "ODM_TESTS_PROMISE_ROUND";

/// How often programs are killed on one file.
const KILLS: u64 = 12;

/// The version of the application in a round: it advances every few rounds.
fn version(round: u64) -> usize {
    (round % KILLS) as usize * VERSIONS.len() / KILLS as usize
}

/// The child process: it takes steps until it is killed, and reports each.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes() {
    let Some(path) = env::var_os(PATH) else {
        return;
    };
    let round = number(ROUND).expect("it is set");
    // Ends this process even if the parent does not.
    thread::spawn(|| {
        thread::sleep(Duration::from_secs(60));
        std::process::exit(1);
    });
    let mut chance = Chance::new(round);
    let beginning = beginning(&mut chance);
    let beginning = beginning.into_iter().map(|act| Step::One(1, act));
    let steps = std::iter::repeat_with(|| step(&mut chance));
    tests::run(async {
        let place = in_file(path.into());
        let mut run = Run::new(place, version(round)).await.unwrap();
        for step in beginning.chain(steps) {
            if !matches!(step, Step::Tamper(_) | Step::Upgrade | Step::Transfer(_)) {
                run.take(&step).await.unwrap();
                println!("{TAKEN}");
            }
        }
    });
}

/// The line that the child prints after a step.
const TAKEN: &str = "a step is taken";

/// Runs `FILES` histories, each with a file of its own.
#[test]
fn programs_that_are_killed_again_and_again_leave_nothing_wrong() {
    let (files, first) = (number("FILES").unwrap_or(1), number("SEED").unwrap_or(1));
    let mut taken = 0;
    for file in first..first + files {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("killed.odm");
        let mut moments = Chance::new(file);
        for round in file * KILLS..(file + 1) * KILLS {
            // From before the file is open, and new indexes are made, to well into the writing.
            let after = Duration::from_millis(10 + moments.below(400));
            let kill = match round % 3 {
                0 => Kill::AfterStart(after),
                _ => Kill::AfterLine(TAKEN, after),
            };
            let variables = [(PATH, path.to_str().unwrap()), (ROUND, &round.to_string())];
            let told = run_and_kill("crash::child_that_writes", &variables, kill);
            taken += told.iter().filter(|line| *line == TAKEN).count();
            tests::run(async {
                let place = in_file(path.clone());
                let mut run = Run::new(place, version(round)).await.unwrap();
                let right = run.right().await;
                right.unwrap_or_else(|wrong| panic!("round {round}: {wrong}"));
                // Mostly the next child continues the pending backfills.
                if round % 3 == 2 {
                    run.take(&Step::Backfill(Vec::new())).await.unwrap();
                    let right = run.right().await;
                    right.unwrap_or_else(|wrong| panic!("round {round}, filled: {wrong}"));
                }
            });
        }
    }
    assert!(taken > 20 * files as usize, "the processes were killed before they wrote: {taken}");
}
