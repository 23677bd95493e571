//! The data of a task tracker: boards with tasks, which requests list, change and move.

use std::collections::BTreeMap;

use odm::{Error, ErrorKind, Result, prelude::*, repository::Page};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_local_stores};

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, Embed)]
enum Status {
    Backlog,
    Doing,
    Done,
}

/// A board, with its urgent tasks.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "boards", new = "NewBoard")]
struct Board {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique, case_insensitive)]
    name: String,
    #[count(of = "Task")]
    tasks: i64,
    #[count(of = "Task", filter = open_tasks)]
    open: i64,
    #[subset(limit = 3, sort = "due, -priority", filter = open_tasks)]
    urgent: Subset<Urgent>,
}

fn open_tasks() -> Filter<Task> {
    Task::fields().status.ne(Status::Done)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Task")]
struct Urgent {
    title: String,
    due: Option<DateTime>,
    priority: i32,
}

/// A task. It expires a year after its last change.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(
    collection = "tasks",
    new(name = "NewTask", derive(Debug, Deserialize)),
    index(fields = "board, status, -priority"),
    expires(field = "updated_at", after = "365d")
)]
struct Task {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    board: Ref<Board>,
    #[denormalize(from = "Board.name")]
    board_name: String,
    #[validate(min_length = 1, max_length = 200)]
    title: String,
    #[embed]
    status: Status,
    #[validate(min = 0, max = 9)]
    priority: i32,
    due: Option<DateTime>,
    #[serde(default)]
    #[validate(max_items = 10, unique_items)]
    labels: Vec<String>,
    #[created_at]
    created_at: DateTime,
    #[updated_at]
    updated_at: DateTime,
    #[version]
    revision: i64,
}

/// The body of `PATCH /tasks/{id}`.
#[derive(Debug, Deserialize, Patch)]
#[patch(of = "Task")]
#[serde(deny_unknown_fields)]
struct TaskPatch {
    title: Option<String>,
    priority: Option<i32>,
    #[serde(default, deserialize_with = "odm::present")]
    due: Option<Option<DateTime>>,
    labels: Option<Vec<String>>,
    board: Option<Ref<Board>>,
}

#[derive(Database)]
#[database(name = "tracker", version = 1)]
struct Tracker {
    boards: Repository<Board>,
    tasks: Repository<Task>,
}

impl Tracker {
    /// `GET /tasks?sort=-priority,due&status=Doing&priority[gte]=5&after=..`
    async fn list(&self, mut query: BTreeMap<String, String>) -> Result<Page<Task>> {
        let asked = Task::allow(["board", "status", "priority", "due", "labels", "created_at"]);
        let (sort, after) = (query.remove("sort"), query.remove("after"));
        let found = self.tasks.find(asked.filter_from_query(&query)?);
        let found = found.sort(asked.sort_by(&sort.unwrap_or_default())?);
        let found = match after {
            Some(after) => found.after(&after.parse()?),
            None => found,
        };
        found.with_total().page(20).await
    }

    /// `PATCH /tasks/{id}` with `If-Match`
    async fn patch(&self, id: i64, revision: i64, patch: TaskPatch) -> Result<Task> {
        let update = self.tasks.update(id).if_version(revision);
        update.set_all(patch).returning().await
    }

    /// `POST /tasks/{id}/advance`
    async fn advance(&self, id: i64) -> Result<Task> {
        let next = |task: &mut Task| {
            task.status = match task.status {
                Status::Backlog => Status::Doing,
                Status::Doing => Status::Done,
                Status::Done => return Err(Error::new(ErrorKind::InvalidUpdate, "it is done")),
            };
            Ok(())
        };
        self.tasks.try_modify(id, next).await
    }

    /// `POST /boards/{id}/clear`, which deletes the tasks that are done, and returns them
    async fn clear(&self, board: &Board) -> Result<Vec<Task>> {
        let fields = Task::fields();
        let done = fields.board.eq(board) & fields.status.eq(Status::Done);
        self.tasks.delete_where(done).returning().await
    }

    /// `GET /boards/{id}/columns`
    async fn columns(&self, board: &Board) -> Result<Vec<(Status, u64)>> {
        self.tasks.of(board).count_by(Task::fields().status).await
    }
}

// The tests.

fn new_task(board: &Board, title: &str, priority: i32) -> NewTask {
    NewTask {
        board: board.into(),
        title: title.into(),
        status: Status::Backlog,
        priority,
        due: None,
        labels: Vec::new(),
    }
}

async fn tracker(store: impl TestStore) -> (Tracker, Board) {
    let tracker = Tracker::open(store).await.unwrap();
    let board = tracker.boards.insert(NewBoard { name: "Home".into() }).await.unwrap();
    let tasks = ["paint", "clean", "cook", "rest"];
    let tasks = (1..).zip(tasks).map(|(priority, title)| new_task(&board, title, priority));
    tracker.tasks.insert_many(tasks).await.unwrap();
    (tracker, board)
}

fn query(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    pairs.collect()
}

on_local_stores! {
    async fn tasks_are_listed_as_requests_ask(store: AnyStore) {
        let (tracker, board) = tracker(store).await;
        tracker.advance(2).await.unwrap();
        let list = |pairs: &[(&str, &str)]| tracker.list(query(pairs));
        let ids = |page: &Page<Task>| page.items.iter().map(|task| task.id).collect::<Vec<_>>();
        let all = list(&[("sort", "status,-priority")]).await.unwrap();
        assert_eq!((ids(&all), all.total), (vec![4, 3, 1, 2], Some(4)));
        let some = list(&[("priority[gte]", "2"), ("status[in]", "Backlog,Done")]).await.unwrap();
        assert_eq!(ids(&some), [3, 4]);
        for wrong in [("priority[gte]", "high"), ("revision", "1"), ("sort", "-titel"), ("status[$gt]", "")] {
            let error = list(&[wrong]).await.unwrap_err();
            assert!(error.is_invalid_request(), "{error}");
        }
        let many = (0..40).map(|n| new_task(&board, &format!("more {n}"), 0));
        tracker.tasks.insert_many(many).await.unwrap();
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut asked = query(&[("sort", "-priority")]);
            asked.extend(after.take().map(|after| ("after".to_owned(), after)));
            let page = tracker.list(asked).await.unwrap();
            seen.extend(ids(&page));
            match page.next {
                Some(next) => after = Some(next.to_string()),
                None => break,
            }
        }
        seen.sort();
        assert_eq!(seen, (1..=44).collect::<Vec<_>>());
    }

    async fn a_patch_is_for_the_revision_that_was_read(store: AnyStore) {
        let (tracker, board) = tracker(store).await;
        let patch = |json| serde_json::from_str::<TaskPatch>(json).unwrap();
        let task = tracker.patch(1, 1, patch(r#"{ "due": "2030-01-01T00:00:00.000Z", "priority": 9 }"#)).await.unwrap();
        assert_eq!((task.revision, task.priority, task.title.as_str()), (2, 9, "paint"));
        assert!(task.updated_at >= task.created_at);
        assert!(tracker.patch(1, 1, patch(r#"{ "title": "x" }"#)).await.unwrap_err().is_stale());
        assert!(tracker.patch(9, 1, patch(r#"{ "title": "x" }"#)).await.unwrap_err().is_not_found());
        let invalid = tracker.patch(1, 2, patch(r#"{ "title": "", "priority": 12 }"#)).await.unwrap_err();
        assert_eq!(invalid.violations().len(), 2, "{invalid}");
        assert!(serde_json::from_str::<TaskPatch>(r#"{ "revision": 7 }"#).is_err());
        let task = tracker.patch(1, 2, patch(r#"{ "due": null }"#)).await.unwrap();
        assert_eq!((task.due, task.priority), (None, 9));

        let work = tracker.boards.insert(NewBoard { name: "Work".into() }).await.unwrap();
        let moved = format!(r#"{{ "board": "{}" }}"#, work.id);
        let task = tracker.patch(1, 3, serde_json::from_str(&moved).unwrap()).await.unwrap();
        assert_eq!(task.board_name, "Work");
        assert_eq!(tracker.boards.get(&board).await.unwrap().tasks, 3);
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn tasks_move_through_the_columns_of_their_board(store: AnyStore) {
        let (tracker, board) = tracker(store).await;
        for id in [1, 1, 2] {
            tracker.advance(id).await.unwrap();
        }
        assert_eq!(tracker.advance(1).await.unwrap_err().kind(), ErrorKind::InvalidUpdate);
        let columns = tracker.columns(&board).await.unwrap();
        assert_eq!(columns, [(Status::Backlog, 2), (Status::Doing, 1), (Status::Done, 1)]);
        let seen = tracker.boards.get(&board).await.unwrap();
        let urgent: Vec<&str> = seen.urgent.iter().map(|task| task.title.as_str()).collect();
        assert_eq!((seen.tasks, seen.open, urgent), (4, 3, vec!["rest", "cook", "clean"]));
        let cleared = tracker.clear(&board).await.unwrap();
        assert_eq!(cleared.iter().map(|task| task.id).collect::<Vec<_>>(), [1]);
        assert_eq!(tracker.boards.get(&board).await.unwrap().tasks, 3);
        assert_eq!(tracker.delete_expired().await.unwrap(), 0);
        let taken = tracker.boards.insert(NewBoard { name: "HOME".into() }).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        assert_eq!(tracker.audit().await.unwrap(), []);
    }
}
