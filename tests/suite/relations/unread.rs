//! Lists of inverse references that a store may change without reading their documents: the result is the same as with reading.

use odm::{ErrorKind, bson::doc, prelude::*, store::embedded::Embedded};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
    #[reference(child, inverse = "reviewer")]
    reviews: Vec<Ref<Task>>,
    #[reference(child, inverse = "checker")]
    checks: Vec<Ref<Task>>,
    #[version]
    version: i64,
}

/// A task that is read with its reviewer, and not with its owner and its checker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[reference(parent, inverse = "tasks")]
    owner: Option<Ref<Owner>>,
    #[reference(parent, inverse = "reviews")]
    reviewer: Option<Ref<Owner>>,
    #[denormalize(from = "Owner.name", via = "reviewer")]
    reviewer_name: Option<String>,
    #[reference(parent, inverse = "checks")]
    checker: Option<Ref<Owner>>,
    #[reference(child, inverse = "tasks")]
    tags: Vec<Ref<Tag>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
struct Tag {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, inverse = "tags")]
    tasks: Vec<Ref<Task>>,
    #[updated_at]
    changed: DateTime,
}

#[derive(Database)]
#[database(name = "office", version = 1)]
struct Office {
    owners: Repository<Owner>,
    tasks: Repository<Task>,
    tags: Repository<Tag>,
}

const OWNERS: i32 = 4;
const TAGS: i32 = 3;
const TASKS: i32 = 12;

fn owner(id: i32) -> Owner {
    Owner {
        id,
        name: format!("owner {id}"),
        tasks: Vec::new(),
        reviews: Vec::new(),
        checks: Vec::new(),
        version: 0,
    }
}

fn task(id: i32, owner: Option<i32>) -> Task {
    Task {
        id,
        title: "new".to_owned(),
        owner: owner.map(Ref::new),
        reviewer: None,
        reviewer_name: None,
        checker: None,
        tags: Vec::new(),
    }
}

fn refs<M: Document<Id = i32>>(ids: &[i32]) -> Vec<Ref<M>> {
    ids.iter().copied().map(Ref::new).collect()
}

async fn office(store: impl TestStore) -> Office {
    let office = Office::open(store).await.unwrap();
    let tags = (0..TAGS).map(|id| Tag { id, tasks: Vec::new(), changed: DateTime::from_millis(0) });
    let owners = (0..OWNERS).map(owner);
    office.owners.insert_many(owners).await.unwrap();
    office.tags.insert_many(tags).await.unwrap();
    office
}

async fn assert_right(office: &Office) {
    assert_eq!(office.audit().await.unwrap(), []);
}

on_every_store! {
    async fn a_task_that_moves_is_in_the_list_of_its_owner_alone(store: AnyStore) {
        let office = office(store).await;
        office.tasks.insert_many([task(1, Some(0)), task(2, Some(0)), task(3, None)]).await.unwrap();
        let owner = Task::fields().owner;
        office.tasks.update(1).set(owner, Ref::new(1)).await.unwrap();
        office.tasks.update(3).set(owner, Ref::new(1)).await.unwrap();
        office.tasks.update(2).set(owner, None).await.unwrap();
        let owners = office.owners.all().sort(Owner::fields().id.asc()).await.unwrap();
        let lists: Vec<_> = owners.iter().map(|owner| owner.tasks.clone()).collect();
        assert_eq!(lists, [vec![], refs(&[1, 3]), vec![], vec![]]);
        let versions: Vec<i64> = owners.iter().map(|owner| owner.version).collect();
        assert_eq!(versions, [4, 3, 1, 1], "each unit that changes an owner counts once");
        assert_right(&office).await;
    }

    async fn a_reference_to_an_owner_that_does_not_exist_is_refused(store: AnyStore) {
        let office = office(store).await;
        let error = office.tasks.insert(task(1, Some(9))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DanglingReference, "{error}");
        assert!(error.to_string().contains("`tasks.owner` = 9"), "{error}");
        office.tasks.insert(task(1, Some(1))).await.unwrap();
        let moved = office.tasks.update(1).set(Task::fields().owner, Ref::new(9)).await;
        assert_eq!(moved.unwrap_err().kind(), ErrorKind::DanglingReference);
        assert_eq!(office.owners.get(1).await.unwrap().tasks, refs(&[1]));
        assert_right(&office).await;
    }

    async fn the_time_of_the_last_change_is_recorded(store: AnyStore) {
        let office = office(store).await;
        let before = office.tags.get(1).await.unwrap().changed;
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        office.tasks.insert(Task { tags: refs(&[1]), ..task(1, None) }).await.unwrap();
        assert!(office.tags.get(1).await.unwrap().changed > before);
    }

    async fn what_another_program_has_left_in_a_list_is_corrected(store: AnyStore) {
        let office = office(store.clone()).await;
        office.tasks.insert(task(1, Some(0))).await.unwrap();
        let wrong = [
            doc! { "$set": { "tasks": [2] } },
            doc! { "$unset": { "tasks": "" } },
            doc! { "$set": { "version": "none" } },
            doc! { "$unset": { "version": "" } },
        ];
        for change in wrong {
            behind_the_back(&store, "owners", doc! { "_id": 1 }, change.clone()).await;
            let moved = office.tasks.insert(task(2, Some(1))).await;
            if change.to_string().contains("none") {
                assert_eq!(moved.unwrap_err().kind(), ErrorKind::Decode, "the version is no number");
                behind_the_back(&store, "owners", doc! { "_id": 1 }, doc! { "$set": { "version": 7 } }).await;
                continue;
            }
            moved.unwrap();
            assert_eq!(office.owners.get(1).await.unwrap().tasks.len(), 1, "{change}");
            assert_right(&office).await;
            office.tasks.delete(2).await.unwrap();
        }
        // A task that is not in the list that it leaves.
        behind_the_back(&store, "owners", doc! { "_id": 0 }, doc! { "$set": { "tasks": [] } }).await;
        office.tasks.update(1).set(Task::fields().owner, Ref::new(1)).await.unwrap();
        assert_right(&office).await;
    }

    async fn long_lists_are_right(store: AnyStore) {
        let office = office(store).await;
        for from in [0, 995, 1_010] {
            let tasks = (from..from + 10).map(|id| task(id, Some(1)));
            let tasks: Vec<Task> = match from {
                0 => (0..995).map(|id| task(id, Some(1))).collect(),
                _ => tasks.collect(),
            };
            office.tasks.insert_many(tasks).await.unwrap();
            office.tasks.insert(task(10_000 + from, Some(1))).await.unwrap();
        }
        let moved = office.tasks.update_where(Task::fields().id.lt(600));
        moved.set(Task::fields().owner, Ref::new(2)).await.unwrap();
        assert_right(&office).await;
        assert_eq!(office.owners.get(2).await.unwrap().tasks.len(), 600);
    }

    async fn tasks_that_move_side_by_side_lose_none(store: AnyStore) {
        let office = office(store).await;
        office.tasks.insert_many((0..24).map(|id| task(id, Some(id % OWNERS)))).await.unwrap();
        let moves = (0..24).map(|id| {
            let office = office.clone();
            tokio::spawn(async move {
                for step in 1..3 {
                    let owner = Ref::new((id + step) % OWNERS);
                    office.tasks.update(id).set(Task::fields().owner, owner).await?;
                }
                office.tasks.insert(task(100 + id, Some(id % 2))).await
            })
        });
        for moved in moves.collect::<Vec<_>>() {
            moved.await.unwrap().unwrap();
        }
        assert_right(&office).await;
        let owners = office.owners.all().await.unwrap();
        assert_eq!(owners.iter().map(|owner| owner.tasks.len()).sum::<usize>(), 48);
        // Each move changes two owners, and each insert one.
        let versions = owners.iter().map(|owner| owner.version - 2).sum::<i64>();
        assert_eq!(versions, 24 * 2 * 2 + 24);
    }
}

#[derive(Debug, Clone)]
enum Op {
    Insert(Vec<Task>),
    Replace(Task),
    Own(i32, Option<i32>),
    Review(i32, Option<i32>, Option<i32>),
    Check(i32, Option<i32>, Option<i32>),
    Tag(i32, Vec<i32>),
    OwnAll(i32, Option<i32>),
    List(i32, Vec<i32>),
    Rename(i32),
    Delete(i32),
    DeleteOwner(i32),
    DeleteTag(i32),
    AddOwner(i32),
}

fn an_owner() -> impl Strategy<Value = Option<i32>> {
    // One of them may not exist.
    prop::option::weighted(0.8, 0..OWNERS + 1)
}

fn some_tags() -> impl Strategy<Value = Vec<i32>> {
    let tags = prop::collection::btree_set(0..TAGS, 0..3);
    tags.prop_map(|tags| tags.into_iter().collect())
}

fn any_task() -> impl Strategy<Value = Task> {
    let task_of = (0..TASKS, an_owner(), an_owner(), some_tags());
    task_of.prop_map(|(id, owner, reviewer, tags)| Task {
        reviewer: reviewer.filter(|id| id % 2 == 0).map(Ref::new),
        checker: owner.filter(|id| id % 2 == 0).map(Ref::new),
        tags: refs(&tags),
        ..task(id, owner)
    })
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 0..TASKS;
    let list = prop::collection::btree_set(id(), 0..4);
    let list = list.prop_map(|ids| ids.into_iter().collect::<Vec<i32>>());
    prop_oneof![
        4 => any_task().prop_map(|task| Op::Insert(vec![task])),
        2 => prop::collection::vec(any_task(), 2..6).prop_map(Op::Insert),
        2 => any_task().prop_map(Op::Replace),
        6 => (id(), an_owner()).prop_map(|(id, owner)| Op::Own(id, owner)),
        3 => (id(), an_owner(), an_owner()).prop_map(|(id, owner, reviewer)| Op::Review(id, owner, reviewer)),
        4 => (id(), an_owner(), an_owner()).prop_map(|(id, owner, checker)| Op::Check(id, owner, checker)),
        3 => (id(), some_tags()).prop_map(|(id, tags)| Op::Tag(id, tags)),
        2 => (id(), an_owner()).prop_map(|(id, owner)| Op::OwnAll(id, owner)),
        2 => (0..OWNERS, list).prop_map(|(owner, tasks)| Op::List(owner, tasks)),
        1 => (0..OWNERS).prop_map(Op::Rename),
        1 => id().prop_map(Op::Delete),
        1 => (0..OWNERS).prop_map(Op::DeleteOwner),
        1 => (0..TAGS).prop_map(Op::DeleteTag),
        2 => (0..OWNERS).prop_map(Op::AddOwner),
    ]
}

async fn run(office: &Office, op: Op) -> odm::Result<()> {
    let (tasks, fields) = (&office.tasks, Task::fields());
    match op {
        Op::Insert(new) => tasks.insert_many(new).await.map(drop),
        Op::Replace(task) => tasks.upsert(task).await.map(drop),
        Op::Own(id, owner) => {
            let update = tasks.update(id).set(fields.owner, owner.map(Ref::new));
            update.await
        }
        Op::Review(id, owner, reviewer) => {
            let update = tasks.update(id).set(fields.owner, owner.map(Ref::new));
            update.set(fields.reviewer, reviewer.map(Ref::new)).await
        }
        Op::Check(id, owner, checker) => {
            let update = tasks.update(id).set(fields.owner, owner.map(Ref::new));
            update.set(fields.checker, checker.map(Ref::new)).await
        }
        Op::Tag(id, tags) => tasks.update(id).set(fields.tags, refs(&tags)).await,
        Op::OwnAll(below, owner) => {
            let update = tasks.update_where(fields.id.lt(below));
            update.set(fields.owner, owner.map(Ref::new)).await.map(drop)
        }
        Op::List(owner, ids) => {
            let update = office.owners.update(owner);
            update.set(Owner::fields().tasks, refs(&ids)).await
        }
        Op::Rename(id) => {
            let update = office.owners.update(id);
            update.set(Owner::fields().name, "renamed").await
        }
        Op::Delete(id) => tasks.delete(id).await.map(drop),
        Op::DeleteOwner(id) => office.owners.delete(id).await.map(drop),
        Op::DeleteTag(id) => office.tags.delete(id).await.map(drop),
        Op::AddOwner(id) => office.owners.insert(owner(id)).await.map(drop),
    }
}

/// All stored documents, without the times.
async fn all(store: &impl TestStore) -> Vec<odm::bson::Document> {
    let mut all = Vec::new();
    for collection in ["owners", "tasks", "tags"] {
        for document in stored(store, collection).await {
            let mut document = odm::bson::Document::try_from(document).unwrap();
            document.remove("changed");
            all.push(document);
        }
    }
    all
}

/// Runs many histories, each on a new store and on a store that reads all lists.
fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = prop::collection::vec(op(), 1..30);
    runner
        .run(&history, |history| {
            tests::run(async {
                let (store, reading) = (new().await, Embedded::memory().await.unwrap());
                let offices = [office(store.clone()).await, office(reading.clone()).await];
                for op in history {
                    let [ours, expected] =
                        [&offices[0], &offices[1]].map(|office| run(office, op.clone()));
                    // Refused writes are a part of the history.
                    let kind = |result: odm::Result<()>| result.map_err(|error| error.kind());
                    assert_eq!(kind(ours.await), kind(expected.await), "{op:?}");
                    assert_eq!(all(&store).await, all(&reading).await, "{op:?}");
                }
                assert_right(&offices[0]).await;
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_every_list_as_if_it_was_read_in_maps() {
    histories(100, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_every_list_as_if_it_was_read_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(12, async || databases.open().await);
}
