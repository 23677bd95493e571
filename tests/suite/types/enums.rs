//! The order of an enum is the order of its variants, or it has no order.

use std::collections::{BTreeMap, BTreeSet};

use odm::{bson::doc, model::Ordered, prelude::*};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tests::{TestStore, on_every_store, stored};

/// Stored as the names of its variants, which are in alphabetical order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
#[serde(rename_all = "lowercase")]
enum Priority {
    #[serde(rename = "1-low")]
    Low,
    #[serde(rename = "2-middle")]
    Middle,
    #[serde(rename = "3-high")]
    High,
    Urgent,
}

/// Stored as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Low = 1,
    High,
}

impl Ordered for Level {
    type Present = Self;
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            1 => Ok(Level::Low),
            2 => Ok(Level::High),
            other => Err(de::Error::custom(format!("no level: {other}"))),
        }
    }
}

/// Stored as names in another order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Embed)]
enum Size {
    Small,
    Large,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 2, sort = "-priority, -level")]
    first: Subset<Task>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    list: Ref<List>,
    #[index]
    priority: Priority,
    #[opaque]
    level: Level,
    size: Option<Size>,
    sizes: Vec<Size>,
    by_day: BTreeMap<String, Priority>,
}

#[derive(Database)]
#[database(name = "tasks", version = 1)]
struct Tasks {
    lists: Repository<List>,
    tasks: Repository<Task>,
}

const ALL: [Priority; 4] = [Priority::High, Priority::Low, Priority::Urgent, Priority::Middle];

/// Tasks of all priorities, with both levels of each.
async fn filled(store: impl TestStore) -> Tasks {
    let db = Tasks::open(store).await.unwrap();
    db.lists.insert(List { id: 1, first: Subset::new() }).await.unwrap();
    for (id, priority) in ALL.into_iter().enumerate() {
        for (more, level) in [(0, Level::High), (10, Level::Low)] {
            let task = Task {
                id: id as i64 + more,
                list: Ref::new(1),
                priority,
                level,
                size: (id < 2).then_some(Size::Large),
                sizes: [Size::Small, Size::Large][..id.min(2)].to_vec(),
                by_day: [("monday".into(), priority)].into(),
            };
            db.tasks.insert(task).await.unwrap();
        }
    }
    db
}

on_every_store! {
    async fn an_enum_is_sorted_and_compared_as_its_variants(store: AnyStore) {
        let db = filled(store).await;
        let task = Task::fields();
        let sort = task.priority.asc().then(task.level.desc());
        let sorted = db.tasks.all().sort(sort).await.unwrap();
        assert!(sorted.is_sorted_by_key(|task| (task.priority, std::cmp::Reverse(task.level))));
        for priority in ALL {
            let found = db.tasks.find(task.priority.gt(priority)).await.unwrap();
            assert_eq!(found.len(), 2 * (3 - priority as usize), "{priority:?}");
            assert!(found.iter().all(|task| task.priority > priority));
        }
        assert_eq!(db.tasks.find(task.level.gte(Level::High)).count().await.unwrap(), 4);
        let distinct = db.tasks.all().distinct(task.priority).await.unwrap();
        assert!(distinct.is_sorted() && distinct.len() == 4);
    }

    async fn a_subset_is_in_the_order_of_an_enum(store: AnyStore) {
        let db = filled(store).await;
        let first = db.lists.get(1).await.unwrap().first;
        let shown: Vec<_> = first.iter().map(|task| (task.priority, task.level)).collect();
        assert_eq!(shown, [(Priority::Urgent, Level::High), (Priority::Urgent, Level::Low)]);
        let task = Task::fields();
        db.tasks.update_where(task.priority.eq(Priority::Urgent)).set(task.priority, Priority::Low).await.unwrap();
        let first = db.lists.get(1).await.unwrap().first;
        assert!(first.iter().all(|task| task.priority == Priority::High));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn an_enum_without_an_order_is_found_by_its_value(store: AnyStore) {
        let db = filled(store).await;
        let size = Task::fields().size;
        assert_eq!(db.tasks.find(size.eq(Size::Large)).count().await.unwrap(), 4);
        assert_eq!(db.tasks.find(size.ne(Size::Large)).count().await.unwrap(), 4);
        assert_eq!(db.tasks.find(size.in_([Size::Small])).count().await.unwrap(), 0);
        assert_eq!(db.tasks.find(size.is_null()).count().await.unwrap(), 4);
    }

    async fn lists_and_maps_of_an_enum_hold_its_values(store: AnyStore) {
        let db = filled(store).await;
        let task = Task::fields();
        assert_eq!(db.tasks.find(task.sizes.contains(Size::Small)).count().await.unwrap(), 6);
        assert_eq!(db.tasks.find(task.sizes.all([Size::Small, Size::Large])).count().await.unwrap(), 4);
        let update = db.tasks.update(0).push(task.sizes, Size::Large).set_entry(task.by_day, "friday", Priority::Low);
        let changed = update.returning().await.unwrap();
        assert_eq!((&changed.sizes[..], changed.by_day["friday"]), (&[Size::Large][..], Priority::Low));
        for unknown in [doc! { "sizes": ["Huge"] }, doc! { "by_day.monday": "never" }] {
            let error = db.tasks.update(0).raw(doc! { "$set": unknown }).await.unwrap_err();
            assert!(error.is_invalid(), "{error}");
        }
        assert_eq!(db.tasks.get(0).await.unwrap(), changed);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_request_names_an_enum_and_lists_and_maps_of_one(store: AnyStore) {
        let db = filled(store).await;
        for (name, value, expected) in [
            ("priority[gt]", "2-middle", 4),
            ("size", "Large", 4),
            ("sizes", "Small", 6),
            ("by_day.monday[gte]", "3-high", 4),
            ("by_day.friday[exists]", "true", 0),
        ] {
            let filter = Task::filter_from_query([(name, value)]).unwrap();
            assert_eq!(db.tasks.find(filter).count().await.unwrap(), expected, "{name}");
        }
        for name in ["priority", "size", "sizes", "by_day.monday"] {
            assert!(Task::filter_from_query([(name, "Huge")]).unwrap_err().is_invalid_request(), "{name}");
        }
        let sorted = db.tasks.all().sort(Task::sort_by("-by_day.monday,priority").unwrap()).await.unwrap();
        assert!(sorted.is_sorted_by_key(|task| std::cmp::Reverse(task.priority)));
        assert!(Task::sort_by("size").unwrap_err().is_invalid_request(), "it has no order");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "jobs")]
struct Job {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    state: State,
    #[embed]
    owner: Owner,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "state")]
enum State {
    Open,
    Assigned {
        #[reference(parent)]
        worker: Ref<Worker>,
        #[denormalize(from = "Worker.name")]
        worker_name: String,
        note: Option<String>,
    },
    Done {
        at: i64,
        note: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Owner {
    name: String,
    #[embed]
    #[serde(flatten)]
    contact: Option<Contact>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Contact {
    mail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "workers")]
struct Worker {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Database)]
#[database(name = "jobs", version = 1)]
struct Jobs {
    jobs: Repository<Job>,
    workers: Repository<Worker>,
}

on_every_store! {
    async fn a_flattened_value_is_set_as_a_whole(store: AnyStore) {
        let db = Jobs::open(store.clone()).await.unwrap();
        db.workers.insert_many([1, 2].map(|id| Worker { id, name: format!("worker {id}") })).await.unwrap();
        let owner = Owner { name: "ann".into(), contact: None };
        let assigned = |worker: i64| State::Assigned {
            worker: Ref::new(worker),
            worker_name: String::new(),
            note: Some("soon".into()),
        };
        db.jobs.insert(Job { id: 1, state: assigned(1), owner, revision: 0 }).await.unwrap();
        let job = Job::fields();
        let names = async || -> BTreeSet<String> {
            let job = stored(&store, "jobs").await.remove(0);
            job.iter().map(|field| field.unwrap().0.to_string()).collect()
        };
        let moved = db.jobs.update(1).set_flattened(job.state, assigned(2)).returning().await.unwrap();
        let State::Assigned { worker_name, .. } = &moved.state else { panic!("{moved:?}") };
        assert_eq!(worker_name, "worker 2", "what is derived follows from the rest");
        let done = State::Done { at: 5, note: None };
        assert_eq!(db.jobs.update(1).set_flattened(job.state, done.clone()).returning().await.unwrap().state, done);
        assert_eq!(names().await, ["_id", "at", "note", "owner", "revision", "state"].map(String::from).into());
        assert_eq!(db.jobs.update(1).set_flattened(job.state, State::Open).returning().await.unwrap().state, State::Open);
        assert_eq!(names().await, ["_id", "owner", "revision", "state"].map(String::from).into());
        // Within an embedded value, and as an `Option`.
        let contact = Contact { mail: "a@b.c".into(), phone: Some("1".into()) };
        let shown = |job: Job| job.owner.contact;
        let with = db.jobs.update(1).set_flattened(job.owner.contact, contact.clone()).returning().await.unwrap();
        assert_eq!(shown(with), Some(contact));
        let less = Contact { mail: "d@e.f".into(), phone: None };
        let with = db.jobs.update(1).set_flattened(job.owner.contact, less.clone()).returning().await.unwrap();
        assert_eq!(shown(with), Some(less));
        let without = db.jobs.update(1).set_flattened(job.owner.contact, None).returning().await.unwrap();
        assert_eq!((without.owner.name.as_str(), without.revision, shown(without.clone())), ("ann", 7, None));
        let dangling = db.jobs.update(1).set_flattened(job.state, assigned(9)).await;
        assert!(dangling.unwrap_err().is_dangling_reference());
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
