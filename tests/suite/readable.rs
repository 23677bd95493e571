//! Every written value is read back, with any attributes of serde in the model, any values, and any way of writing; or the write fails, and
//! the earlier document stays.
//!
//! A case of a seed is always the same. `CASES` is the number of cases for each model, with successive seeds, and `SEED` the first seed.
//! For a million in all:
//!
//! ```text
//! CASES=80000 cargo test --release -p tests --test models readable
//! ```

mod enums;
mod models;
mod structs;
mod values;

use std::{env, fmt::Debug, ops::Range};

use odm::{Repository, prelude::*};
use tests::TestStore;

use crate::readable::{
    models::All,
    values::{Any, Rng},
};

/// A model with random values.
trait Model: Document<Id = i64> + Any + Clone + Debug {
    fn with_id(self, id: i64) -> Self;

    /// The value that is read after this one was written.
    fn read(self) -> Self {
        self
    }

    /// The value, with the fields of opaque documents in one order: `modify` changes a document field by field, and leaves the order of the
    /// stored ones.
    fn modified(self) -> Self {
        self
    }

    /// The changes that set the fields of another value to those of this one.
    fn changes(&self) -> Update<Self>;

    /// A value with these changes.
    fn changed(self, by: &Self) -> Self;

    /// Filters by typed paths that match the value.
    fn filters(&self) -> Vec<Filter<Self>>;
}

/// The number in an environment variable.
fn number(name: &str, otherwise: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    }
}

/// The form in which a value is compared: a NaN equals a NaN.
fn text<M: Debug>(value: &M) -> String {
    format!("{value:?}")
}

/// One way of writing.
#[derive(Debug, Clone, Copy)]
enum Way {
    Insert,
    InsertMany,
    Upsert,
    Replace,
    Modify,
    Set,
}

const WAYS: [Way; 6] =
    [Way::Insert, Way::InsertMany, Way::Upsert, Way::Replace, Way::Modify, Way::Set];

/// Writes `value`, over `before` if that is stored. Returns the result of the call.
async fn write<M: Model>(at: &Repository<M>, way: Way, value: &M) -> odm::Result<Option<M>> {
    let value = value.clone();
    match way {
        Way::Insert => at.insert(value).await.map(Some),
        Way::InsertMany => at.insert_many([value]).await.map(|mut all| all.pop()),
        Way::Upsert => at.upsert(value).await.map(Some),
        Way::Replace => at.replace(value).await.map(Some),
        Way::Modify => {
            let new = value.clone();
            at.modify(&value, move |document| *document = new.clone()).await.map(Some)
        }
        Way::Set => at.update(&value).with(value.changes()).await.map(|()| None),
    }
}

async fn case<M: Model>(at: &Repository<M>, seed: u64) {
    let rng = &mut Rng::new(seed);
    let id = 1;
    for way in WAYS {
        let value = M::any(rng).with_id(id);
        let other = M::any(rng).with_id(id);
        at.delete_where(Filter::all()).await.expect("the documents can be deleted");
        let is_new = matches!(way, Way::Insert | Way::InsertMany);
        let before = (!is_new && other.is_storable()).then_some(other);
        if let Some(before) = &before {
            at.insert(before.clone()).await.expect("what can be stored is inserted");
        } else if !is_new {
            continue;
        }
        let context = || format!("SEED={seed}: {} by {way:?}: {value:?}", M::COLLECTION);
        let written = write(at, way, &value).await;
        let found = at.all().await;
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", context()));
        let compared = |value: M| match way {
            Way::Modify => value.modified(),
            _ => value,
        };
        let whole = match (way, &before) {
            (Way::Set, Some(before)) => before.clone().changed(&value),
            _ => value.clone(),
        };
        let expected = match (&written, whole.is_storable()) {
            (Ok(_), true) => Some(whole.read()),
            (Err(_), false) => before.map(Model::read),
            (Ok(_), false) => panic!("{}: was stored", context()),
            (Err(error), true) => panic!("{}: {error}", context()),
        };
        assert_eq!(
            text(&Vec::from_iter(found.into_iter().map(compared))),
            text(&Vec::from_iter(expected.clone().map(compared))),
            "{}",
            context()
        );
        if let (Ok(Some(returned)), Some(expected)) = (&written, &expected) {
            let [returned, expected] =
                [returned, expected].map(|value| text(&compared(value.clone())));
            assert_eq!(returned, expected, "{}", context());
        }
        for filter in expected.iter().flat_map(M::filters) {
            let name = format!("{filter:?}");
            let count = at.find(filter).count().await;
            let count = count.unwrap_or_else(|error| panic!("{}: {name}: {error}", context()));
            assert_eq!(count, 1, "{}: {name}", context());
        }
    }
}

/// The seeds of `CASES` cases (`cases` by default), in parts that each take less time than a test may.
fn parts(cases: u64, part: usize) -> impl Iterator<Item = Range<u64>> {
    let first = number("SEED", 1);
    let end = first + number("CASES", cases);
    let starts = (first..end).step_by(part);
    starts.map(move |start| start..end.min(start + part as u64))
}

/// Runs some cases of one model.
async fn cases<M: Model>(
    store: impl TestStore,
    of: impl Fn(&All) -> &Repository<M>,
    seeds: Range<u64>,
) {
    let all = All::open(store).await.expect("the database can be opened");
    for seed in seeds {
        case(of(&all), seed).await;
    }
}
