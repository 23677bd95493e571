//! Random histories of writes: after each step every definition holds, versions count the changes, and refused writes have changed nothing.

use odm::{Embedded, Error, ErrorKind, prelude::*};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use tests::TestStore;

use super::{
    acts::{Act, Acts, Copies, act, author_that_comes_and_goes, beginning},
    bare::Bare,
    left::Left,
    right::Right,
    whole::Whole,
    world::World,
};

#[derive(Debug, Clone)]
enum Step {
    One(Act),
    /// Several writes in one transaction, which is rolled back at the end or not.
    Transaction(Vec<Act>, bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => act().prop_map(Step::One),
        1 => (prop::collection::vec(act(), 1..5), prop::bool::weighted(0.3))
            .prop_map(|(acts, rolls_back)| Step::Transaction(acts, rolls_back)),
    ]
}

/// For a transaction, returns the copies as its last act has found them, since they survive their source: a source that an earlier act has
/// inserted leaves its value.
async fn run(db: &impl Acts, step: &Step) -> odm::Result<Option<Copies>> {
    match step {
        Step::One(act) => db.act(act).await.map(|()| None),
        Step::Transaction(acts, rolls_back) => {
            db.transaction(async |db| {
                let mut found = None;
                for (at, act) in acts.iter().enumerate() {
                    if at + 1 == acts.len() {
                        found = Some(db.copies().await?);
                    }
                    db.act(act).await?;
                }
                match rolls_back {
                    true => Err(Error::new(ErrorKind::NotFound, "rolled back")),
                    false => Ok(found),
                }
            })
            .await
        }
    }
}

/// Runs a step, and checks all stored documents after it.
async fn checked(db: &impl Acts, store: &impl TestStore, mut before: World, step: &Step) -> World {
    let result = run(db, step).await;
    let after = World::read(store).await;
    match result {
        Ok(found) => {
            if let Some(found) = found {
                before.take(&found);
            }
            after.assert_right(&before);
            let units = match step {
                Step::One(_) => 1,
                Step::Transaction(acts, _) => acts.len() as i64,
            };
            after.assert_versions(&before, units);
        }
        Err(error) => {
            assert!(after.is(&before), "{step:?} was refused, {error}, and has left something")
        }
    }
    after
}

fn histories<S: TestStore>(cases: u32, databases: usize, new: impl AsyncFn() -> S) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let history = prop::collection::vec(step(), 1..40);
    let result = runner.run(&history, |history| {
        tests::run(async {
            let store = new().await;
            let whole = match databases {
                1 => Some(Whole::open(store.clone()).await.unwrap()),
                _ => None,
            };
            let left = Left::open(store.clone()).await.unwrap();
            let right = Right::open(store.clone()).await.unwrap();
            let bare = Bare::open(store.clone()).await.unwrap();
            let mut world = World::read(&store).await;
            for step in beginning().into_iter().map(Step::One) {
                world = checked(&left, &store, world, &step).await;
            }
            for (at, step) in history.into_iter().enumerate() {
                world = match (&whole, at % 3) {
                    (Some(whole), _) => checked(whole, &store, world, &step).await,
                    (None, 0) => checked(&left, &store, world, &step).await,
                    (None, 1) => checked(&right, &store, world, &step).await,
                    (None, _) => checked(&bare, &store, world, &step).await,
                };
            }
            assert_eq!(left.audit().await.unwrap(), []);
        });
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_every_definition_true_in_one_database() {
    histories(40, 1, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_leaves_every_definition_true_in_three_databases_on_one_store() {
    histories(45, 3, async || Embedded::memory().await.unwrap());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_every_definition_true_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(2, 3, async || databases.open().await);
}

#[test]
fn the_beginning_of_a_history_is_not_refused() {
    tests::run(async {
        let store = Embedded::memory().await.unwrap();
        let db = Whole::open(store.clone()).await.unwrap();
        let mut world = World::read(&store).await;
        for act in beginning() {
            db.act(&act).await.unwrap();
            let after = World::read(&store).await;
            after.assert_right(&world);
            world = after;
        }
        assert_eq!(db.audit().await.unwrap(), []);
    });
}

#[test]
fn a_copy_of_a_source_that_a_transaction_inserts_and_deletes_keeps_its_value() {
    tests::run(async {
        let store = Embedded::memory().await.unwrap();
        let db = Whole::open(store.clone()).await.unwrap();
        for act in beginning() {
            db.act(&act).await.unwrap();
        }
        let world = World::read(&store).await;
        assert_eq!(world.fan_posts(2), None);
        let step = Step::Transaction(author_that_comes_and_goes(), false);
        let world = checked(&db, &store, world, &step).await;
        assert_eq!(world.fan_posts(2), Some(0));
    });
}
