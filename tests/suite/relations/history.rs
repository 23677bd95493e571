//! Random histories of writes over all relations; after each step every definition holds, and refused writes have changed nothing.

use odm::{Embedded, prelude::*};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use odm_store_suite::MapStore;
use tests::TestStore;

use super::{
    Badge, Maker, Part, Person, Product, Review, Task, Team, Works, assert_right, everything,
    maker, part, person, product, review, task,
};

#[derive(Debug, Clone)]
pub(super) enum Op {
    Maker(i32),
    NameMaker(i32, i32),
    MoveMaker(i32, i32),
    DeleteMaker(i32),
    Product(i32, Option<i32>, Vec<i32>),
    UpsertProduct(i32, Option<i32>, Vec<i32>),
    NameProduct(i32, i32),
    SetMaker(i32, Option<i32>),
    SetParts(i32, Vec<i32>),
    DeleteProducts(Vec<i32>),
    Part(i32),
    NameParts(Vec<i32>, i32),
    DeletePart(i32),
    Reviews(Vec<(i32, i32, i32)>),
    Score(i32, i32),
    MoveReview(i32, i32),
    DeleteReview(i32),
    Person(i32, Vec<i32>, Option<i32>, Vec<i32>),
    NamePerson(i32, i32),
    SetTasks(i32, Vec<i32>),
    SetSpouse(i32, Option<i32>),
    SetTeams(i32, Vec<i32>),
    DeletePeople(Vec<i32>),
    Task(i32, Option<i32>),
    SetOwner(Vec<i32>, Option<i32>),
    DeleteTask(i32),
    Team(i32, Vec<i32>),
    DeleteTeam(i32),
    Badge(i32, i32),
    MoveBadge(i32, i32),
    SetBadges(i32, Vec<i32>),
    DeleteBadge(i32),
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let id = || 0..4_i32;
    let ids = || prop::collection::vec(0..4_i32, 0..4);
    let maybe = || prop::option::of(0..4_i32);
    prop_oneof![
        prop_oneof![
            3 => id().prop_map(Op::Maker),
            2 => (id(), id()).prop_map(|(a, b)| Op::NameMaker(a, b)),
            1 => (id(), id()).prop_map(|(a, b)| Op::MoveMaker(a, b)),
            1 => id().prop_map(Op::DeleteMaker),
            4 => (id(), maybe(), ids()).prop_map(|(a, b, c)| Op::Product(a, b, c)),
            2 => (id(), maybe(), ids()).prop_map(|(a, b, c)| Op::UpsertProduct(a, b, c)),
            2 => (id(), id()).prop_map(|(a, b)| Op::NameProduct(a, b)),
            2 => (id(), maybe()).prop_map(|(a, b)| Op::SetMaker(a, b)),
            2 => (id(), ids()).prop_map(|(a, b)| Op::SetParts(a, b)),
            1 => ids().prop_map(Op::DeleteProducts),
            4 => id().prop_map(Op::Part),
            2 => (ids(), id()).prop_map(|(a, b)| Op::NameParts(a, b)),
            1 => id().prop_map(Op::DeletePart),
            4 => prop::collection::vec((0..12_i32, id(), 0..6_i32), 0..4).prop_map(Op::Reviews),
            2 => (0..12_i32, 0..6_i32).prop_map(|(a, b)| Op::Score(a, b)),
            2 => (0..12_i32, id()).prop_map(|(a, b)| Op::MoveReview(a, b)),
            1 => (0..12_i32).prop_map(Op::DeleteReview),
        ],
        prop_oneof![
            4 => (id(), ids(), maybe(), ids()).prop_map(|(a, b, c, d)| Op::Person(a, b, c, d)),
            1 => (id(), id()).prop_map(|(a, b)| Op::NamePerson(a, b)),
            3 => (id(), ids()).prop_map(|(a, b)| Op::SetTasks(a, b)),
            3 => (id(), maybe()).prop_map(|(a, b)| Op::SetSpouse(a, b)),
            2 => (id(), ids()).prop_map(|(a, b)| Op::SetTeams(a, b)),
            1 => ids().prop_map(Op::DeletePeople),
            4 => (id(), maybe()).prop_map(|(a, b)| Op::Task(a, b)),
            3 => (ids(), maybe()).prop_map(|(a, b)| Op::SetOwner(a, b)),
            1 => id().prop_map(Op::DeleteTask),
            3 => (id(), ids()).prop_map(|(a, b)| Op::Team(a, b)),
            1 => id().prop_map(Op::DeleteTeam),
            2 => (id(), id()).prop_map(|(a, b)| Op::Badge(a, b)),
            2 => (id(), id()).prop_map(|(a, b)| Op::MoveBadge(a, b)),
            1 => (id(), ids()).prop_map(|(a, b)| Op::SetBadges(a, b)),
            1 => id().prop_map(Op::DeleteBadge),
        ],
    ]
}

fn refs<T: Document<Id = i32>>(ids: Vec<i32>) -> Vec<Ref<T>> {
    ids.into_iter().map(Ref::new).collect()
}

pub(super) async fn run(db: &Works, op: Op) -> odm::Result<()> {
    match op {
        Op::Maker(id) => db.makers.insert(maker(id)).await.map(drop),
        Op::NameMaker(id, n) => {
            db.makers.update(id).set(Maker::fields().name, format!("named {n}")).await
        }
        Op::MoveMaker(id, n) => {
            db.makers.modify(id, |maker| maker.home.city = format!("city {n}")).await.map(drop)
        }
        Op::DeleteMaker(id) => db.makers.delete(id).await.map(drop),
        Op::Product(id, of, parts) => db.products.insert(product(id, of, &parts)).await.map(drop),
        Op::UpsertProduct(id, of, parts) => {
            let old = db.products.get(id).optional().await?;
            let revision = old.map_or(0, |old| old.revision);
            let new = Product { revision, ..product(id, of, &parts) };
            db.products.upsert(new).await.map(drop)
        }
        Op::NameProduct(id, n) => {
            db.products.update(id).set(Product::fields().name, format!("named {n}")).await
        }
        Op::SetMaker(id, of) => {
            db.products.update(id).set(Product::fields().maker, of.map(Ref::new)).await
        }
        Op::SetParts(id, parts) => {
            let parts = product(id, None, &parts).parts;
            db.products.update(id).set(Product::fields().parts, parts).await
        }
        Op::DeleteProducts(ids) => {
            db.products.delete_where(Product::fields().id.in_(ids)).await.map(drop)
        }
        Op::Part(id) => db.parts.insert(part(id)).await.map(drop),
        Op::NameParts(ids, n) => {
            let some = db.parts.update_where(Part::fields().id.in_(ids));
            some.set(Part::fields().name, format!("named {n}")).await.map(drop)
        }
        Op::DeletePart(id) => db.parts.delete(id).await.map(drop),
        Op::Reviews(new) => {
            let new = new.into_iter().map(|(id, of, score)| review(id, of, score));
            db.reviews.insert_many(new).await.map(drop)
        }
        Op::Score(id, score) => db.reviews.update(id).set(Review::fields().score, score).await,
        Op::MoveReview(id, to) => db.reviews.update(id).set(Review::fields().product, to).await,
        Op::DeleteReview(id) => db.reviews.delete(id).await.map(drop),
        Op::Person(id, tasks, spouse, teams) => {
            let new = Person {
                tasks: refs(tasks),
                spouse: spouse.map(Ref::new),
                teams: refs(teams),
                badges: db.people.get(id).optional().await?.map_or(Vec::new(), |old| old.badges),
                ..person(id)
            };
            db.people.upsert(new).await.map(drop)
        }
        Op::NamePerson(id, n) => {
            db.people.update(id).set(Person::fields().name, format!("named {n}")).await
        }
        Op::SetTasks(id, tasks) => {
            db.people.update(id).set(Person::fields().tasks, refs(tasks)).await
        }
        Op::SetSpouse(id, other) => {
            db.people.update(id).set(Person::fields().spouse, other.map(Ref::new)).await
        }
        Op::SetTeams(id, teams) => {
            db.people.update(id).set(Person::fields().teams, refs(teams)).await
        }
        Op::DeletePeople(ids) => {
            db.people.delete_where(Person::fields().id.in_(ids)).await.map(drop)
        }
        Op::Task(id, owner) => db.tasks.upsert(task(id, owner)).await.map(drop),
        Op::SetOwner(ids, owner) => {
            let some = db.tasks.update_where(Task::fields().id.in_(ids));
            some.set(Task::fields().owner, owner.map(Ref::new)).await.map(drop)
        }
        Op::DeleteTask(id) => db.tasks.delete(id).await.map(drop),
        Op::Team(id, members) => {
            db.teams.upsert(Team { id, members: refs(members) }).await.map(drop)
        }
        Op::DeleteTeam(id) => db.teams.delete(id).await.map(drop),
        Op::Badge(id, holder) => {
            db.badges.upsert(Badge { id, holder: Ref::new(holder) }).await.map(drop)
        }
        Op::MoveBadge(id, holder) => db.badges.update(id).set(Badge::fields().holder, holder).await,
        Op::SetBadges(id, badges) => {
            db.people.update(id).set(Person::fields().badges, refs(badges)).await
        }
        Op::DeleteBadge(id) => db.badges.delete(id).await.map(drop),
    }
}

/// Runs many histories, each on a new store.
fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = prop::collection::vec(op(), 1..60);
    runner
        .run(&history, |history| {
            tests::run(async {
                let db = Works::open(new().await).await.unwrap();
                let mut before = everything(&db).await;
                for op in history {
                    let result = run(&db, op.clone()).await;
                    let after = assert_right(&db).await;
                    if let Err(error) = result {
                        assert_eq!(
                            after, before,
                            "{op:?} was refused, {error}, and left something"
                        );
                    }
                    before = after;
                }
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_every_definition_true_in_memory() {
    histories(150, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_leaves_every_definition_true_on_disk() {
    let files = tests::NewFiles::new();
    histories(15, async || files.open().await);
}

#[test]
fn a_random_history_leaves_every_definition_true_in_maps() {
    histories(40, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_every_definition_true_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(4, async || databases.open().await);
}
