//! The times of inserts and of changes: `#[created_at]` and `#[updated_at]`.

use std::time::Duration;

use odm::{bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "boards")]
struct Board {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    /// The last changed tasks.
    #[subset(limit = 2, sort = "-updated_at")]
    fresh: Subset<TaskLine>,
    #[serde(rename = "changedAt")]
    #[updated_at]
    changed_at: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    points: i32,
    #[reference(parent)]
    board: Ref<Board>,
    #[denormalize(from = "Board.name")]
    board_name: String,
    #[split(collection = "task_notes", key = "task")]
    notes: Cold<Notes>,
    #[created_at]
    #[index]
    created_at: DateTime,
    #[updated_at]
    updated_at: Option<DateTime>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Notes {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Task")]
struct TaskLine {
    title: String,
    updated_at: Option<DateTime>,
}

#[derive(Database)]
#[database(name = "work", version = 1)]
struct Work {
    boards: Repository<Board>,
    tasks: Repository<Task>,
}

fn never() -> DateTime {
    DateTime::from_millis(0)
}

fn board(id: i32) -> Board {
    let name = format!("board {id}");
    let fresh = Subset::new();
    Board { id, name, fresh, changed_at: never() }
}

fn task(id: i32) -> Task {
    Task {
        id,
        title: format!("task {id}"),
        points: 1,
        board: Ref::new(1),
        board_name: String::new(),
        notes: Cold::new(Notes { text: "old".into() }),
        created_at: never(),
        updated_at: Some(never()),
        revision: 0,
    }
}

async fn work(store: impl TestStore) -> Work {
    let work = Work::open(store).await.unwrap();
    work.boards.insert(board(1)).await.unwrap();
    work.tasks.insert_many([task(1), task(2), task(3)]).await.unwrap();
    work
}

/// Waits until the clock, which has a resolution of a millisecond, shows another time.
async fn later() {
    tokio::time::sleep(Duration::from_millis(3)).await;
}

/// Asserts that a write changes the time of the last change of task 1, and no other time.
async fn assert_dated<T>(work: &Work, write: impl AsyncFnOnce(&Work) -> odm::Result<T>) {
    later().await;
    let (before, start) = (work.tasks.get(1).await.unwrap(), DateTime::now());
    let other = work.tasks.get(2).await.unwrap();
    write(work).await.unwrap();
    let after = work.tasks.get(1).await.unwrap();
    assert_eq!(after.created_at, before.created_at);
    assert!(after.updated_at >= Some(start) && after.updated_at <= Some(DateTime::now()));
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(work.tasks.get(2).await.unwrap(), other);
    let fresh = work.boards.get(1).await.unwrap().fresh;
    assert_eq!(fresh[0], TaskLine { title: after.title, updated_at: after.updated_at });
    assert_eq!(work.audit().await.unwrap(), []);
}

/// Asserts that a write changes no time of task 1.
async fn assert_undated<T>(work: &Work, write: impl AsyncFnOnce(&Work) -> odm::Result<T>) {
    later().await;
    let before = work.tasks.get(1).await.unwrap();
    write(work).await.unwrap();
    let after = work.tasks.get(1).await.unwrap();
    assert_eq!(
        (after.created_at, after.updated_at, after.revision),
        (before.created_at, before.updated_at, before.revision)
    );
    assert_eq!(work.audit().await.unwrap(), []);
}

on_every_store! {
    async fn an_insert_sets_both_times_whatever_the_caller_gives(store: AnyStore) {
        let start = DateTime::now();
        let work = work(store).await;
        let upserted = work.tasks.upsert(task(4)).await.unwrap();
        for task in work.tasks.all().await.unwrap() {
            assert!(task.created_at >= start && task.created_at <= DateTime::now());
            assert_eq!(task.updated_at, Some(task.created_at));
        }
        let read = work.tasks.get(4).with(Task::fields().notes).await.unwrap();
        assert_eq!(read, upserted, "what is returned is what is stored");
        let since = work.tasks.find(Task::fields().created_at.gte(start)).count().await.unwrap();
        assert_eq!(since, 4);
    }

    async fn every_way_of_writing_sets_the_time_of_the_last_change(store: AnyStore) {
        let work = work(store).await;
        let fields = Task::fields();
        assert_dated(&work, async |work| work.tasks.update(1).set(fields.title, "a").await).await;
        assert_dated(&work, async |work| {
            work.tasks.update_where(fields.id.lt(2)).inc(fields.points, 1).await
        })
        .await;
        assert_dated(&work, async |work| {
            work.tasks.update(1).raw(doc! { "$set": { "title": "b" } }).await
        })
        .await;
        assert_dated(&work, async |work| work.tasks.modify(1, |task| task.points = 7).await).await;
        assert_dated(&work, async |work| {
            let mut task = work.tasks.get(1).await?;
            task.title = "c".into();
            (task.created_at, task.updated_at) = (never(), None);
            work.tasks.replace(task).await
        })
        .await;
        assert_dated(&work, async |work| {
            let task = work.tasks.get(1).await?;
            work.tasks.upsert(Task { points: 9, ..task }).await
        })
        .await;
        assert_dated(&work, async |work| {
            work.tasks.update(1).set(fields.notes.text, "new").await
        })
        .await;
        assert_dated(&work, async |work| {
            work.transaction(async |work| work.tasks.update(1).set(fields.title, "d").await).await
        })
        .await;
    }

    async fn neither_a_refresh_nor_a_write_that_changes_nothing_sets_a_time(store: AnyStore) {
        let work = work(store).await;
        let fields = Task::fields();
        assert_undated(&work, async |work| {
            work.boards.update(1).set(Board::fields().name, "renamed").await
        })
        .await;
        assert_eq!(work.tasks.get(1).await.unwrap().board_name, "renamed");
        assert_undated(&work, async |work| work.tasks.update(1).set(fields.title, "task 1").await).await;
        assert_undated(&work, async |work| {
            let task = work.tasks.get(1).await?;
            let (created_at, board_name) = (never(), "wrong".into());
            work.tasks.replace(Task { created_at, board_name, updated_at: None, ..task }).await
        })
        .await;
        assert_undated(&work, async |work| {
            work.tasks.modify(1, |task| task.updated_at = None).await
        })
        .await;
        let board = work.boards.get(1).await.unwrap();
        later().await;
        work.tasks.update(2).set(fields.title, "new").await.unwrap();
        let refreshed = work.boards.get(1).await.unwrap();
        assert_eq!(refreshed.changed_at, board.changed_at, "a subset is refreshed");
        assert_eq!(refreshed.fresh[0].title, "new");
    }

    async fn no_update_names_a_time(store: AnyStore) {
        let work = work(store).await;
        for path in ["created_at", "updated_at"] {
            let set = doc! { "$set": { path: odm::bson::DateTime::now() } };
            let error = work.tasks.update(1).raw(set).await.unwrap_err();
            let text = error.to_string();
            assert!(text.contains(path) && text.contains("the time of a write"), "{text}");
        }
        let fields = Task::fields();
        let upsert = work.tasks.update_where(fields.id.eq(9) & fields.created_at.eq(never()));
        let error = upsert.set(fields.points, 1).upsert().await.unwrap_err();
        assert!(error.to_string().contains("`created_at`"), "{error}");
    }

    async fn an_upsert_by_a_filter_sets_the_times(store: AnyStore) {
        let work = Work::open(store).await.unwrap();
        let rename = |name| {
            let boards = work.boards.update_where(Board::fields().id.eq(5));
            boards.set(Board::fields().name, name).upsert()
        };
        let start = DateTime::now();
        assert!(rename("a").await.unwrap().inserted);
        let inserted = work.boards.get(5).await.unwrap();
        assert!(inserted.changed_at >= start);
        later().await;
        rename("b").await.unwrap();
        assert!(work.boards.get(5).await.unwrap().changed_at > inserted.changed_at);
    }

    async fn another_program_on_the_store_sets_the_times_too(store: AnyStore) {
        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[document(collection = "boards")]
        struct Name {
            #[serde(rename = "_id")]
            id: i32,
            name: String,
        }
        #[derive(Database)]
        #[database(name = "names", version = 1)]
        struct Names {
            boards: Repository<Name>,
        }
        let work = Work::open(store.clone()).await.unwrap();
        let names = Names::open(store).await.unwrap();
        let start = DateTime::now();
        names.boards.insert(Name { id: 1, name: "a".into() }).await.unwrap();
        let inserted = work.boards.get(1).await.unwrap();
        assert!(inserted.changed_at >= start);
        later().await;
        names.boards.replace(Name { id: 1, name: "b".into() }).await.unwrap();
        assert!(work.boards.get(1).await.unwrap().changed_at > inserted.changed_at);
    }
}
