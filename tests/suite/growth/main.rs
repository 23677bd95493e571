//! The cost of an operation grows with its input, and not with the square of it.
//!
//! Each operation that takes a list, a map, a document or a set runs with an input of one size and with one four times as large, and its
//! steps are counted: the rounds of the loops of the library, see `odm-mql/src/steps.rs`. They may be four times as many, and a bit for
//! sorting. `docs/limits.md` lists the exceptions.
//!
//! `TIMES=1 cargo test --workspace --all-features --test growth -- --nocapture` also prints the processor time, which includes loops that
//! count no steps.

mod language;
mod lists;
mod open;
mod plans;
mod relations;
mod updates;
mod upkeep;
mod writes;

use std::{
    env, fs,
    future::Future,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use odm::{Embedded, OpenOptions, prelude::*};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "things", index(fields = "group, n"))]
struct Thing {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    n: i64,
    group: i64,
    text: String,
    #[index]
    list: Vec<i64>,
    #[embed]
    parts: Vec<Part>,
    map: BTreeMap<String, i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Part {
    code: i64,
    count: i64,
}

#[derive(Database)]
#[database(name = "store", version = 1)]
struct Things {
    things: Repository<Thing>,
}

fn thing(id: i64) -> Thing {
    Thing {
        id,
        n: id,
        group: id % 10,
        text: format!("t{id}"),
        list: vec![id, id + 1],
        parts: Vec::new(),
        map: BTreeMap::new(),
    }
}

/// A store that gives a unit enough time even on a busy machine.
async fn store() -> Embedded {
    let store = Embedded::builder().transaction_limit(Duration::from_secs(600));
    store.memory().await.unwrap()
}

/// The plan of a slow operation is made again, for its event: that depends on the time.
fn options() -> OpenOptions {
    OpenOptions::default().slow_operation(Duration::MAX)
}

/// A database with `count` things.
async fn things(count: usize) -> Things {
    let db = Things::open_with(store().await, options()).await.unwrap();
    let things = (0..count as i64).map(thing);
    db.things.insert_many(things).await.unwrap();
    db
}

/// A database with one thing, which is large.
async fn large(size: usize) -> Things {
    let db = things(0).await;
    let numbers = 0..size as i64;
    let large = Thing {
        list: numbers.clone().collect(),
        parts: numbers.clone().map(|code| Part { code, count: 0 }).collect(),
        map: numbers.map(|n| (format!("k{n}"), n)).collect(),
        ..thing(1)
    };
    db.things.insert(large).await.unwrap();
    db
}

/// The cost of an operation.
#[derive(Debug, Clone, Copy)]
struct Taken {
    steps: u64,
    millis: u64,
}

/// Runs an operation, and counts its steps.
async fn taken<T>(operation: impl Future<Output = T>) -> Taken {
    let before = (odm::derive::steps(), millis());
    operation.await;
    Taken { steps: odm::derive::steps() - before.0, millis: millis().saturating_sub(before.1) }
}

/// The same for a function.
fn taken_by<T>(operation: impl FnOnce() -> T) -> Taken {
    let before = (odm::derive::steps(), millis());
    std::hint::black_box(operation());
    Taken { steps: odm::derive::steps() - before.0, millis: millis().saturating_sub(before.1) }
}

/// The processor time of this process, if the system reports it.
fn millis() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
    10 * (ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0))
}

/// Asserts that the steps of a case grow at most like its input, times a logarithmic factor.
fn assert_grows_with_input<F>(name: &str, size: usize, case: impl Fn(usize) -> F)
where
    F: Future<Output = Taken>,
{
    // The steps are counted for the whole process.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let [few, many] = [size, 4 * size].map(|size| runtime.block_on(case(size)));
    let grown = many.steps as f64 / few.steps as f64;
    if env::var_os("TIMES").is_some() {
        let (steps, millis) = (many.steps, [few.millis, many.millis]);
        eprintln!("{name}: {grown:.1} times the steps, {steps}, in {millis:?} ms");
    }
    assert!(few.steps > 0, "no step of `{name}` is counted");
    assert!(
        grown < 6.0,
        "`{name}` takes {} steps for {size}, and {} for four times as many",
        few.steps,
        many.steps
    );
}

/// Turns each `async fn name(size: usize) -> Taken` into a test that its steps grow at most with the size.
macro_rules! grows_with_input {
    ($($size:literal: async fn $name:ident($n:ident: usize) -> Taken $body:block)+) => {$(
        #[test]
        fn $name() {
            async fn case($n: usize) -> $crate::Taken $body
            $crate::assert_grows_with_input(stringify!($name), $size, case);
        }
    )+};
}
use grows_with_input;
