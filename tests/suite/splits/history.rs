//! Random histories of writes; after each step, the whole values agree with a simple model.

use std::collections::BTreeMap;

use odm::{Embedded, prelude::*};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use odm_store_suite::MapStore;
use tests::TestStore;

use super::{Details, Movie, Movies, details, movie};

#[derive(Debug, Clone)]
enum Op {
    Insert(Vec<(i32, Option<i32>)>),
    Replace(i32, Option<i32>),
    Upsert(i32, Option<i32>),
    SetPlot(i32, i32),
    SetWhole(i32, i32),
    SetBoth(f64, i32),
    Delete(i32),
    DeleteByHalf(f64),
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 0..6;
    let part = || prop::option::of(0..10);
    let rating = || (0..5).prop_map(f64::from);
    prop_oneof![
        3 => prop::collection::vec((id(), part()), 0..3).prop_map(Op::Insert),
        2 => (id(), part()).prop_map(|(id, part)| Op::Replace(id, part)),
        2 => (id(), part()).prop_map(|(id, part)| Op::Upsert(id, part)),
        2 => (id(), 0..3).prop_map(|(id, n)| Op::SetPlot(id, n)),
        2 => (id(), 0..10).prop_map(|(id, n)| Op::SetWhole(id, n)),
        2 => (rating(), 0..3).prop_map(|(rating, n)| Op::SetBoth(rating, n)),
        2 => id().prop_map(Op::Delete),
        1 => rating().prop_map(Op::DeleteByHalf),
    ]
}

type Model = BTreeMap<i32, (String, Option<Details>)>;

fn of(id: i32, part: Option<i32>) -> Movie {
    Movie {
        details: part.map_or_else(Cold::unloaded, |n| details(n).into()),
        title: format!("movie {id} {part:?}"),
        ..movie(id)
    }
}

/// Runs a write on the database and on the model. A refused write changes neither.
async fn run(db: &Movies, model: &mut Model, op: Op) {
    let fields = Movie::fields();
    let put = |model: &mut Model, movie: Movie| {
        let part = movie.details.into_inner();
        let entry = model.entry(movie.id).or_default();
        *entry = (movie.title, part.or(entry.1.take()));
    };
    match op {
        Op::Insert(new) => {
            let new: Vec<Movie> = new.into_iter().map(|(id, part)| of(id, part)).collect();
            if db.movies.insert_many(new.clone()).await.is_ok() {
                new.into_iter().for_each(|movie| put(model, movie));
            }
        }
        Op::Replace(id, part) | Op::Upsert(id, part) => {
            let upsert = matches!(op, Op::Upsert(..));
            let revision = db.movies.get(id).optional().await.unwrap().map_or(0, |m| m.revision);
            let new = Movie { revision, ..of(id, part) };
            let result = match upsert {
                true => db.movies.upsert(new.clone()).await,
                false => db.movies.replace(new.clone()).await,
            };
            // A new document needs the part.
            let is_new = upsert && part.is_some();
            assert_eq!(result.is_ok(), is_new || model.contains_key(&id));
            if result.is_ok() {
                put(model, new);
            }
        }
        Op::SetPlot(id, n) => {
            let plot = format!("plot {n}");
            let result = db.movies.update(id).set(fields.details.plot, plot.as_str()).await;
            let part = model.get_mut(&id).and_then(|(_, part)| part.as_mut());
            assert_eq!(result.is_ok(), part.is_some());
            if let Some(part) = part {
                part.plot = plot;
            }
        }
        Op::SetWhole(id, n) => {
            let result = db.movies.update(id).set(fields.details, details(n)).await;
            assert_eq!(result.is_ok(), model.contains_key(&id));
            if let Some((_, part)) = model.get_mut(&id) {
                *part = Some(details(n));
            }
        }
        Op::SetBoth(rating, n) => {
            let title = format!("set {n}");
            let updated = db
                .movies
                .update_where(fields.details.imdb.rating.eq(rating))
                .set(fields.title, title.as_str())
                .inc(fields.details.imdb.votes, 1)
                .await
                .unwrap();
            let mut matched = 0;
            for (old, part) in model.values_mut() {
                if let Some(part) = part.as_mut().filter(|part| part.imdb.rating == rating) {
                    part.imdb.votes += 1;
                    old.clone_from(&title);
                    matched += 1;
                }
            }
            assert_eq!((updated.matched, updated.modified), (matched, matched));
        }
        Op::Delete(id) => {
            assert_eq!(db.movies.delete(id).await.unwrap(), model.remove(&id).is_some());
        }
        Op::DeleteByHalf(rating) => {
            let filter = fields.details.imdb.rating.eq(rating);
            let before = model.len();
            model
                .retain(|_, (_, part)| part.as_ref().is_none_or(|part| part.imdb.rating != rating));
            let deleted = db.movies.delete_where(filter).await.unwrap();
            assert_eq!(deleted as usize, before - model.len());
        }
    }
}

/// Runs many histories, each on a new store.
fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&prop::collection::vec(op(), 1..30), |history| {
            tests::run(async {
                let db = Movies::open(new().await).await.unwrap();
                let mut model = Model::new();
                for op in history {
                    run(&db, &mut model, op).await;
                    let stored = db.movies.all().with(Movie::fields().details).await.unwrap();
                    let stored: Model = stored
                        .into_iter()
                        .map(|movie| (movie.id, (movie.title, movie.details.into_inner())))
                        .collect();
                    assert_eq!(stored, model);
                }
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_whole_values_in_memory() {
    histories(200, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_leaves_whole_values_in_maps() {
    histories(60, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_whole_values_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(10, async || databases.open().await);
}
