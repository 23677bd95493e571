//! Child processes that are killed in the middle of their work.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::{Duration, UNIX_EPOCH},
};

/// Random numbers for the moments of kills.
#[derive(Debug)]
pub struct Moments(u64);

impl Moments {
    /// Begins with the seed in `SEED`, or with the time. It prints the seed, so that the moments can be reproduced.
    ///
    /// # Panics
    ///
    /// If the variable is no number.
    pub fn begin() -> Self {
        let seed = match env::var("SEED") {
            Ok(seed) => seed.parse().expect("the seed is a number"),
            Err(_) => {
                let now = UNIX_EPOCH
                    .elapsed()
                    .expect("the time is after that of Unix");
                now.as_nanos() as u64
            }
        };
        println!("to have the same moments again: SEED={seed}");
        Moments(seed)
    }

    /// A number less than another.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

/// How many processes a test kills: the number in `KILLS`.
///
/// # Panics
///
/// If the variable is no number.
pub fn kills(otherwise: u64) -> u64 {
    let kills = env::var("KILLS");
    kills.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// The moment when a child is killed.
#[derive(Debug, Clone, Copy)]
pub enum Kill {
    /// Some time after its start, at any point of its work.
    AfterStart(Duration),
    /// Some time after the first line that begins with a text, so that it works on a slow machine, too. A child that ends before is a
    /// failure.
    AfterLine(&'static str, Duration),
}

/// Runs an ignored test of this program in a process of its own, and kills it. Returns the whole lines of its output.
///
/// # Panics
///
/// If the child panics, or ends by itself.
pub fn run_and_kill(test: &str, variables: &[(&str, &str)], kill: Kill) -> Vec<String> {
    let mut child = Command::new(env::current_exe().expect("this program has a path"))
        .args(["--ignored", "--exact", test, "--nocapture"])
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = Vec::new();
    let mut next = move || {
        let mut line = String::new();
        out.read_line(&mut line).expect("the pipe is read");
        // The last line may be cut off.
        line.strip_suffix('\n').map(str::to_owned)
    };
    let after = match kill {
        Kill::AfterStart(after) => after,
        Kill::AfterLine(begin, after) => {
            while let Some(line) = next() {
                let is_first = line.starts_with(begin);
                lines.push(line);
                if is_first {
                    break;
                }
            }
            after
        }
    };
    // A child whose pipe is full would wait.
    let rest = thread::spawn(move || std::iter::from_fn(next).collect::<Vec<_>>());
    thread::sleep(after);
    let ended = child.try_wait().expect("the child is asked");
    child.kill().expect("the child is killed");
    let output = child.wait_with_output().expect("the child has ended");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        ended.is_none() && !errors.contains("panicked"),
        "the child ended by itself, with {ended:?}: {errors}"
    );
    lines.extend(rest.join().expect("the lines are read"));
    lines
}
