//! The common parts of the fuzz targets: the loop that runs one, and structured values that are made of the bytes of a case, so that a
//! changed byte is a small change of the case.
//!
//! `FUZZ_SECONDS=3600 FUZZ_SEED=7000000 cargo test -p fuzz` runs each target for an hour on cases of its own. Without a seed the cases are
//! the same in every run, so that a failure comes from the change under test.

mod expression;
mod filter;
mod pipeline;
mod projection;
mod schema;
mod slow;
mod update;
mod value;

use std::{
    env,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

pub use slow::slowest;

/// The time after which a case counts as endless.
const STUCK: Duration = Duration::from_secs(30);

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("`{name}` is not a number: {text}")),
    )
}

/// Runs a target on random cases of at most `most` bytes, for `FUZZ_SECONDS` (2 by default), with seeds from `FUZZ_SEED` (1 by default) on.
///
/// # Panics
///
/// If a case panics: with the fewest of its bytes that still do. An endless case ends the process with its bytes.
pub fn check(most: usize, case: impl Fn(&[u8])) {
    let time = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(2));
    let first = number("FUZZ_SEED").unwrap_or(1);
    let running = watched();
    let panics = |bytes: &[u8]| {
        *running.lock().expect("nothing panics with it") = Some((Instant::now(), bytes.to_vec()));
        let result = catch_unwind(AssertUnwindSafe(|| case(bytes)));
        *running.lock().expect("nothing panics with it") = None;
        result.is_err()
    };
    let (start, mut seed) = (Instant::now(), first);
    while start.elapsed() < time || seed == first {
        let bytes = random(seed, most);
        if panics(&bytes) {
            let fewer = shrunk(bytes, panics);
            panic!("a case of `FUZZ_SEED={seed}` panics, and so do its bytes {fewer:?}");
        }
        seed += 1;
    }
    eprintln!("{} cases", seed - first);
}

type Running = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// The running case, which a thread watches until the result is dropped.
fn watched() -> Running {
    let running = Running::default();
    let weak = Arc::downgrade(&running);
    thread::spawn(move || {
        while let Some(running) = weak.upgrade() {
            if let Some((since, bytes)) = &*running.lock().expect("nothing panics with it")
                && since.elapsed() > STUCK
            {
                // Written directly, as the test harness would capture `eprintln!`.
                let message = format!("a case does not end: {bytes:?}\n");
                io::stderr().write_all(message.as_bytes()).ok();
                process::abort();
            }
            drop(running);
            thread::sleep(Duration::from_millis(200));
        }
    });
    running
}

/// At most `most` bytes, determined by the seed.
pub fn random(seed: u64, most: usize) -> Vec<u8> {
    let mut next = numbers(seed);
    let len = next() as usize % (most + 1);
    (0..len).map(|_| next() as u8).collect()
}

/// `len` bytes, determined by the seed.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut next = numbers(seed);
    (0..len).map(|_| next() as u8).collect()
}

/// The random numbers of a seed (SplitMix64).
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// Leaves out, or sets to zero, the bytes that the panic does not need.
fn shrunk(mut bytes: Vec<u8>, panics: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut len = bytes.len();
    while len > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(at..(at + len).min(bytes.len()));
            match panics(&fewer) {
                true => bytes = fewer,
                false => at += len,
            }
        }
        len /= 2;
    }
    for at in 0..bytes.len() {
        let held = std::mem::take(&mut bytes[at]);
        if held != 0 && !panics(&bytes) {
            bytes[at] = held;
        }
    }
    bytes
}

/// The bytes of a case, which are read as choices.
#[derive(Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    /// Most choices are well-formed.
    is_plain: bool,
}

/// One in `ODD` plain choices is of any form.
const ODD: usize = 40;

impl<'a> Choices<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices {
            bytes,
            is_plain: false,
        }
    }

    /// Reads these bytes as choices that are mostly well-formed, so that most cases have an answer, and not only a refusal.
    pub fn plain(bytes: &'a [u8]) -> Self {
        Choices {
            bytes,
            is_plain: true,
        }
    }

    /// Whether the next choice is of any form: one in `one_in` is, and one in `ODD` of plain choices.
    fn is_odd(&mut self, one_in: usize) -> bool {
        let one_in = if self.is_plain { ODD } else { one_in };
        self.below(one_in) == 0
    }

    /// Whether there are bytes left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0..=256 => usize::from(self.byte()) % bound.max(1),
            _ => u32::from_le_bytes(self.array()) as usize % bound,
        }
    }

    /// One of the texts.
    pub fn one_of<'b>(&mut self, of: &[&'b str]) -> &'b str {
        of[self.below(of.len())]
    }

    /// The rest of the bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// Arbitrary bytes in the frame of a document.
    pub fn framed(&mut self) -> Vec<u8> {
        let inner = self.rest();
        let mut framed = (inner.len() as u32 + 5).to_le_bytes().to_vec();
        framed.extend(inner);
        framed.push(0);
        framed
    }
}
