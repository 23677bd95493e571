//! `#[sequence(within = "..")]`: numbers within a parent.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use odm::{
    DerivedKind, Embedded, ErrorKind, Problem,
    bson::{Bson, Document, RawDocument, doc, rawdoc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "projects")]
struct Project {
    #[serde(rename = "_id")]
    id: i64,
    key: String,
    #[max(of = "Issue.number")]
    last: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "issues", new(name = "NewIssue", derive(Clone)))]
struct Issue {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    project: Ref<Project>,
    #[denormalize(from = "Project.key")]
    project_key: String,
    #[sequence(within = "project")]
    number: i64,
    #[computed(format!("{project_key}-{number}"))]
    label: String,
    title: String,
}

/// A page that may be in no book, with a number of a small type behind a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    book: Option<BookLink>,
    #[sequence(within = "book.id")]
    #[serde(rename = "pageNumber", skip_serializing_if = "Option::is_none")]
    number: Option<PageNumber>,
}

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, Embed)]
struct PageNumber(i16);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct BookLink {
    #[reference(parent, on_delete = "nullify")]
    id: Option<Ref<Project>>,
    chapter: i32,
}

#[derive(Database)]
#[database(name = "tracker", version = 2)]
struct Tracker {
    projects: Repository<Project>,
    issues: Repository<Issue>,
    pages: Repository<Page>,
}

fn project(id: i64) -> Project {
    Project { id, key: format!("P{id}"), last: None }
}

fn issue(project: i64, title: &str) -> NewIssue {
    NewIssue { project: Ref::new(project), title: title.into() }
}

fn page(id: i64, book: Option<i64>) -> Page {
    let book = book.map(|book| BookLink { id: Some(Ref::new(book)), chapter: 1 });
    // What the caller sends is no number.
    Page { id, book, number: Some(PageNumber(7)) }
}

async fn tracker(store: impl TestStore) -> Tracker {
    let tracker = Tracker::open(store).await.unwrap();
    tracker.projects.insert_many([1, 2, 3].map(project)).await.unwrap();
    tracker
}

/// The numbers of the issues of a project, by their titles.
async fn numbers(tracker: &Tracker, project: i64) -> BTreeMap<String, i64> {
    let issues = tracker.issues.find(Issue::fields().project.eq(Ref::new(project))).await.unwrap();
    issues.into_iter().map(|issue| (issue.title, issue.number)).collect()
}

fn of<const N: usize>(numbers: [(&str, i64); N]) -> BTreeMap<String, i64> {
    numbers.into_iter().map(|(title, number)| (title.to_owned(), number)).collect()
}

/// The last numbers, by the field and the parent.
async fn counters(store: &impl TestStore) -> Vec<(String, i64, i64)> {
    let read = |counter: &RawDocument| {
        let counter = Document::try_from(counter).unwrap();
        let id = counter.get_document("_id").unwrap();
        let field = id.get_str("field").unwrap().to_owned();
        (field, id.get_i64("within").unwrap(), counter.get_i64("last").unwrap())
    };
    let counters = stored(store, "_odm_counters").await;
    counters.iter().map(|counter| read(counter)).collect()
}

on_every_store! {
    async fn each_parent_has_its_own_numbers(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let first = tracker.issues.insert(issue(1, "a")).await.unwrap();
        assert_eq!((first.number, first.label.as_str()), (1, "P1-1"), "the insert returns it, and what follows from it");
        let more = [issue(2, "b"), issue(1, "c"), issue(2, "d")];
        let more = tracker.issues.insert_many(more).await.unwrap();
        assert_eq!(more.iter().map(|issue| issue.number).collect::<Vec<_>>(), [1, 2, 2]);
        let own = Issue { id: 90, number: 500, label: "own".into(), title: "e".into(), ..first };
        assert_eq!(tracker.issues.insert(own).await.unwrap().number, 3, "a number that the caller sends is ignored");
        assert_eq!(tracker.projects.get(1).await.unwrap().last, Some(3));
        assert_eq!(counters(&store).await, [("issues.number".to_owned(), 1, 3), ("issues.number".to_owned(), 2, 2)]);
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_unit_that_fails_uses_up_no_number(store: AnyStore) {
        let tracker = tracker(store).await;
        tracker.issues.insert(issue(1, "a")).await.unwrap();
        let dangling = tracker.issues.insert_many([issue(1, "b"), issue(9, "c")]).await.unwrap_err();
        assert_eq!(dangling.kind(), ErrorKind::DanglingReference);
        let plan = tracker.issues.insert(issue(1, "b")).plan().await.unwrap();
        let changed = plan.collections.iter().map(|of| of.collection.as_str());
        assert_eq!(changed.collect::<Vec<_>>(), ["issues", "projects"], "a counter is no document of a user");
        let no: odm::Result<()> = tracker
            .transaction(async |tracker| {
                assert_eq!(tracker.issues.insert(issue(1, "b")).await?.number, 2);
                Err(odm::Error::new(ErrorKind::InvalidQuery, "no"))
            })
            .await;
        assert_eq!(no.unwrap_err().kind(), ErrorKind::InvalidQuery);
        let writes = (tracker.issues.insert(issue(1, "d")), tracker.issues.insert(issue(1, "e")));
        let (two, three) = tracker.bulk(writes).await.unwrap();
        assert_eq!((two.number, three.number), (2, 3));
    }

    async fn no_number_is_given_twice(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let issues = tracker.issues.insert_many([issue(1, "a"), issue(1, "b"), issue(2, "c")]).await.unwrap();
        tracker.issues.delete(issues[1].id).await.unwrap();
        assert_eq!(tracker.issues.insert(issue(1, "d")).await.unwrap().number, 3);
        // A move gives a new number, also on the way back.
        let project = Issue::fields().project;
        tracker.issues.update(issues[0].id).set(project, Ref::new(2)).await.unwrap();
        assert_eq!(tracker.issues.get(issues[0].id).await.unwrap().label, "P2-2");
        tracker.issues.update(issues[0].id).set(project, Ref::new(1)).await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("a", 4), ("d", 3)]));
        // Other changes give none, whatever a replacement says.
        let mut a = tracker.issues.get(issues[0].id).await.unwrap();
        a.number = 77;
        assert_eq!(tracker.issues.replace(a).await.unwrap().number, 4);
        tracker.issues.update_where(project.eq(Ref::new(1))).set(project, Ref::new(2)).await.unwrap();
        assert_eq!(numbers(&tracker, 2).await, of([("a", 3), ("c", 1), ("d", 4)]));
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_counter_goes_with_its_parent(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        tracker.issues.insert_many([issue(1, "a"), issue(2, "b"), issue(3, "c")]).await.unwrap();
        tracker.projects.delete(1).await.unwrap();
        tracker.projects.delete_where(Project::fields().id.gt(2)).await.unwrap();
        assert_eq!(counters(&store).await, [("issues.number".to_owned(), 2, 1)]);
        tracker.projects.insert(project(1)).await.unwrap();
        assert_eq!(tracker.issues.insert(issue(1, "d")).await.unwrap().number, 1, "another project");
        // In one unit.
        tracker.bulk((tracker.projects.delete(2), tracker.projects.insert(project(2)), tracker.issues.insert(issue(2, "e")))).await.unwrap();
        assert_eq!(numbers(&tracker, 2).await, of([("e", 1)]));
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_document_without_a_parent_has_no_number(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let pages = tracker.pages.insert_many([page(1, None), page(2, Some(1)), page(3, None), page(4, Some(1))]).await.unwrap();
        let number = |page: &Page| page.number.map(|number| number.0);
        assert_eq!(pages.iter().map(number).collect::<Vec<_>>(), [None, Some(1), None, Some(2)]);
        assert_eq!(stored(&store, "pages").await[1].get_i32("pageNumber").unwrap(), 1, "of the field's type, under its name");
        let book = Page::fields().book;
        tracker.pages.update(1).set(book, page(1, Some(1)).book).await.unwrap();
        tracker.pages.update(2).set(book, None).await.unwrap();
        tracker.projects.delete(3).await.unwrap();
        let pages = tracker.pages.all().await.unwrap();
        assert_eq!(pages.iter().map(number).collect::<Vec<_>>(), [Some(3), None, None, Some(2)]);
        tracker.projects.delete(1).await.unwrap();
        let pages = tracker.pages.all().await.unwrap();
        assert_eq!(pages.iter().map(number).collect::<Vec<_>>(), [None; 4], "the rule empties the references");
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_sequence_ends_with_the_numbers_of_its_type(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        tracker.pages.insert(page(1, Some(1))).await.unwrap();
        behind_the_back(&store, "_odm_counters", doc! {}, doc! { "$set": { "last": 32_766_i64 } }).await;
        assert_eq!(tracker.pages.insert(page(2, Some(1))).await.unwrap().number, Some(PageNumber(32_767)));
        let error = tracker.pages.insert(page(3, Some(1))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(
            error.to_string(),
            "the sequence of `pages.pageNumber` within 1 is used up: after 32767 there is no other number of its type"
        );
        tracker.pages.insert(page(3, Some(2))).await.unwrap();
    }

    async fn only_the_library_gives_numbers(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let id = tracker.issues.insert(issue(1, "a")).await.unwrap().id;
        let raw = tracker.issues.raw();
        let sent = rawdoc! { "_id": id, "project": 1_i64, "project_key": "x", "number": 9_i64, "label": "y", "title": "b" };
        raw.replace(sent).await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("b", 1)]));
        raw.insert(rawdoc! { "_id": 50_i64, "project": 1_i64, "title": "c" }).await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("b", 1), ("c", 2)]));
    }

    async fn an_audit_finds_wrong_numbers_and_a_repair_corrects_them(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let ids = tracker.issues.insert_many(["a", "b", "c"].map(|title| issue(1, title))).await.unwrap();
        let ids = ids.iter().map(|issue| issue.id).collect::<Vec<_>>();
        tracker.pages.insert(page(1, None)).await.unwrap();
        let damage = [
            ("issues", doc! { "_id": ids[0] }, doc! { "$set": { "number": "one" } }),
            // The number of another, which is given again.
            ("issues", doc! { "_id": ids[1] }, doc! { "$unset": { "number": 1 } }),
            ("pages", doc! { "_id": 1 }, doc! { "$set": { "pageNumber": 4 } }),
            ("_odm_counters", doc! {}, doc! { "$set": { "last": 2_i64 } }),
        ];
        for (collection, filter, update) in damage {
            behind_the_back(&store, collection, filter, update).await;
        }
        let wrong = Problem::Derived(DerivedKind::Sequence);
        let found = tracker.audit().await.unwrap();
        let places = found.iter().filter(|finding| finding.problem == wrong);
        let places = places.map(|finding| (finding.collection.as_str(), finding.id.as_i64().unwrap())).collect::<Vec<_>>();
        assert_eq!(places, [("issues", 1), ("issues", 2), ("issues", 3), ("pages", 1)], "{found:?}");
        assert_eq!(found[0].to_string(), "wrong number within a parent: `issues.number` of the document with `_id` = 1");
        tracker.repair().await.unwrap();
        assert_eq!(tracker.audit().await.unwrap(), []);
        assert_eq!(numbers(&tracker, 1).await, of([("a", 4), ("b", 5), ("c", 3)]), "a right number stays");
        assert_eq!(tracker.issues.insert(issue(1, "d")).await.unwrap().number, 6);
    }

    async fn numbers_are_unique_by_an_index(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        tracker.issues.insert_many([issue(1, "a"), issue(1, "b")]).await.unwrap();
        let damage = doc! { "$set": { "last": 1_i64 } };
        behind_the_back(&store, "_odm_counters", doc! {}, damage).await;
        let error = tracker.issues.insert(issue(1, "c")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "and nothing is stored twice");
    }
}

mod before {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "projects")]
    pub(super) struct Project {
        #[serde(rename = "_id")]
        id: i64,
        key: String,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "issues")]
    pub(super) struct Issue {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        project: Ref<Project>,
        title: String,
    }

    #[derive(Database)]
    #[database(name = "tracker", version = 1)]
    pub(super) struct Tracker {
        projects: Repository<Project>,
        issues: Repository<Issue>,
    }
}

on_every_store! {
    async fn documents_from_before_the_declaration_get_numbers_beside_those_that_a_program_gave(store: AnyStore) {
        before::Tracker::open(store.clone()).await.unwrap();
        for id in [1_i64, 2] {
            insert_behind_the_back(&store, "projects", doc! { "_id": id, "key": format!("P{id}") }).await;
        }
        // One number was given by hand.
        for (id, number) in [(1_i64, None), (2, Some(1_i64)), (3, None), (4, Some(6)), (5, None)] {
            let mut issue = doc! { "_id": id, "project": 1 + id / 5, "title": format!("t{id}") };
            issue.extend(number.map(|number| ("number".to_owned(), number.into())));
            insert_behind_the_back(&store, "issues", issue).await;
        }
        let tracker = Tracker::open(store.clone()).await.unwrap();
        tracker.backfill().await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("t1", 7), ("t2", 1), ("t3", 8), ("t4", 6)]));
        assert_eq!(numbers(&tracker, 2).await, of([("t5", 1)]));
        assert_eq!(tracker.issues.insert(issue(1, "new")).await.unwrap().label, "P1-9");
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn an_insert_before_the_backfill_goes_on_after_the_greatest_number(store: AnyStore) {
        before::Tracker::open(store.clone()).await.unwrap();
        insert_behind_the_back(&store, "projects", doc! { "_id": 1_i64, "key": "P1" }).await;
        let given = doc! { "_id": 1_i64, "project": 1_i64, "title": "old", "number": 41_i64 };
        insert_behind_the_back(&store, "issues", given).await;
        let tracker = Tracker::open(store.clone()).await.unwrap();
        assert_eq!(tracker.issues.insert(issue(1, "new")).await.unwrap().number, 42);
        tracker.backfill().await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("new", 42), ("old", 41)]));
        assert_eq!(tracker.audit().await.unwrap(), []);
    }
}

/// A model that declares the index itself, with a reference that may dangle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes", unique(fields = "project, number", name = "by_number"))]
struct Note {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "keep")]
    project: Ref<Project>,
    #[sequence(within = "project")]
    number: i64,
}

#[derive(Database)]
#[database(name = "notes", version = 1)]
struct Notes {
    projects: Repository<Project>,
    issues: Repository<Issue>,
    notes: Repository<Note>,
}

on_every_store! {
    async fn the_counter_stays_where_the_documents_stay(store: AnyStore) {
        let notes = Notes::open(store.clone()).await.unwrap();
        let note = |id| Note { id, project: Ref::new(1), number: 0 };
        notes.projects.insert(project(1)).await.unwrap();
        notes.notes.insert_many([1, 2].map(note)).await.unwrap();
        notes.projects.delete(1).await.unwrap();
        assert_eq!(notes.audit().await.unwrap(), []);
        notes.projects.insert(project(1)).await.unwrap();
        assert_eq!(notes.notes.insert(note(3)).await.unwrap().number, 3);
    }

    async fn a_repair_of_many_documents_gives_no_number_of_a_later_one(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        let many = (0..450).map(|n| issue(1, &n.to_string()));
        let issues = tracker.issues.insert_many(many).await.unwrap();
        let first = doc! { "_id": issues[0].id };
        behind_the_back(&store, "issues", first, doc! { "$unset": { "number": 1 } }).await;
        // Of the documents of the last page.
        behind_the_back(&store, "_odm_counters", doc! {}, doc! { "$set": { "last": 447_i64 } }).await;
        tracker.repair().await.unwrap();
        assert_eq!(tracker.audit().await.unwrap(), []);
        assert_eq!(tracker.issues.get(issues[0].id).await.unwrap().number, 451);
    }

    async fn documents_without_a_number_are_imported_after_the_numbers_of_others(store: AnyStore) {
        let source = tracker(Embedded::memory().await.unwrap()).await;
        source.issues.insert_many(["a", "b"].map(|title| issue(1, title))).await.unwrap();
        let mut lines = Vec::new();
        source.export(&mut lines).await.unwrap();
        let text = String::from_utf8(lines).unwrap();
        let lacking = text.replacen(r#""number":{"$numberLong":"1"},"#, "", 1);
        assert_ne!(lacking, text);
        let copy = Tracker::open(store.clone()).await.unwrap();
        copy.import(lacking.as_bytes()).await.unwrap();
        assert_eq!(numbers(&copy, 1).await, of([("a", 3), ("b", 2)]));
        assert_eq!(copy.audit().await.unwrap(), []);
    }

    async fn numbers_that_are_no_integers_of_the_type_hide_no_others(store: AnyStore) {
        before::Tracker::open(store.clone()).await.unwrap();
        insert_behind_the_back(&store, "projects", doc! { "_id": 1_i64, "key": "P1" }).await;
        for (id, number) in [(1_i64, Bson::Double(6.0)), (2, Bson::Int32(5)), (3, Bson::Int32(0)), (4, Bson::Int64(-1))] {
            let issue = doc! { "_id": id, "project": 1_i64, "title": format!("t{id}"), "number": number };
            insert_behind_the_back(&store, "issues", issue).await;
        }
        let tracker = Tracker::open(store.clone()).await.unwrap();
        tracker.backfill().await.unwrap();
        assert_eq!(tracker.issues.insert(issue(1, "new")).await.unwrap().number, 9);
        assert_eq!(numbers(&tracker, 1).await, of([("new", 9), ("t1", 6), ("t2", 5), ("t3", 7), ("t4", 8)]));
        assert_eq!(tracker.audit().await.unwrap(), []);
    }
}

/// A database on the same store, whose models do not know the number.
mod other {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "projects")]
    pub(super) struct Project {
        #[serde(rename = "_id")]
        id: i64,
        key: String,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "issues")]
    pub(super) struct Issue {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[reference(parent, on_delete = "cascade")]
        pub(super) project: Ref<Project>,
        pub(super) title: String,
    }

    #[derive(Database)]
    #[database(name = "inbox", version = 1)]
    pub(super) struct Inbox {
        pub(super) projects: Repository<Project>,
        pub(super) issues: Repository<Issue>,
    }
}

on_every_store! {
    async fn concurrent_writers_leave_no_gap(store: AnyStore) {
        let tracker = Arc::new(tracker(store).await);
        let tasks = (0..24).map(|n| {
            let tracker = tracker.clone();
            tokio::spawn(async move {
                let project = 1 + n % 2;
                match n % 3 {
                    0 => drop(tracker.issues.insert(issue(project, &n.to_string())).await.unwrap()),
                    1 => {
                        let many = [issue(project, &n.to_string()), issue(3, &n.to_string())];
                        tracker.issues.insert_many(many).await.unwrap();
                    }
                    _ => {
                        let insert = tracker.transaction(async |tracker| {
                            tracker.issues.insert(issue(project, &n.to_string())).await
                        });
                        insert.await.unwrap();
                    }
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        for (project, number) in [(1, 12), (2, 12), (3, 8)] {
            let given = numbers(&tracker, project).await.into_values().collect::<BTreeSet<i64>>();
            assert_eq!(given, (1..=number).collect(), "of project {project}");
        }
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_unit_of_many_documents_numbers_all(store: AnyStore) {
        let tracker = tracker(store).await;
        let projects = (10..1_020).map(project);
        tracker.projects.insert_many(projects).await.unwrap();
        let issues = (10..1_020).flat_map(|project| [issue(project, "a"), issue(1, &project.to_string())]);
        tracker.issues.insert_many(issues).await.unwrap();
        let given = numbers(&tracker, 1).await;
        assert!((10..1_020).all(|n| given[&n.to_string()] == n - 9), "in the order of the insert");
        let project = Issue::fields().project;
        let moved = tracker.issues.update_where(project.ne(Ref::new(1))).set(project, Ref::new(2)).await.unwrap();
        assert_eq!(moved.modified, 1_010);
        let label = Issue::fields().label;
        assert_eq!(tracker.issues.find(label.eq("P2-1010")).count().await.unwrap(), 1);
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn a_program_without_the_field_numbers_documents_too(store: AnyStore) {
        let tracker = tracker(store.clone()).await;
        tracker.issues.insert(issue(1, "a")).await.unwrap();
        let inbox = other::Inbox::open(store.clone()).await.unwrap();
        let new = |id, title: &str| other::Issue { id, project: Ref::new(1), title: title.into() };
        inbox.issues.insert(new(70, "b")).await.unwrap();
        inbox.issues.replace(new(70, "c")).await.unwrap();
        assert_eq!(numbers(&tracker, 1).await, of([("a", 1), ("c", 2)]));
        inbox.projects.delete(1).await.unwrap();
        assert_eq!(counters(&store).await, []);
    }

    async fn the_numbers_of_another_store_stay_and_go_on(store: AnyStore) {
        let source = tracker(Embedded::memory().await.unwrap()).await;
        let issues = source.issues.insert_many(["a", "b", "c"].map(|title| issue(1, title))).await.unwrap();
        source.issues.insert(issue(2, "d")).await.unwrap();
        // The last number of the first project is only in its counter.
        source.issues.delete(issues[2].id).await.unwrap();
        source.issues.delete(issues[0].id).await.unwrap();

        let mut lines = Vec::new();
        source.export(&mut lines).await.unwrap();
        let text = String::from_utf8(lines.clone()).unwrap();
        let last = r#"{"collection":"_odm_counters","document":{"_id":{"field":"issues.number","within":{"$numberLong":"2"}},"last":{"$numberLong":"1"}}}"#;
        assert_eq!(text.lines().nth(2), Some(last), "the counters come first");
        let copy = Tracker::open(store.clone()).await.unwrap();
        assert_eq!(copy.import(&lines[..]).await.unwrap(), 5, "and no documents");
        assert_eq!(numbers(&copy, 1).await, of([("b", 2)]));
        assert_eq!(copy.audit().await.unwrap(), []);
        assert_eq!(copy.issues.insert(issue(1, "e")).await.unwrap().label, "P1-4");
        assert_eq!(copy.issues.insert(issue(2, "f")).await.unwrap().label, "P2-2");
        let counters = text.lines().filter(|line| line.starts_with(r#"{"export"#) || line.contains("_odm_counters"));
        let counters = counters.collect::<Vec<_>>().join("\n").replace("\"documents\":5", "\"documents\":0");
        let unknown = counters.replace("issues.number", "issues.id");
        let error = copy.import(unknown.as_bytes()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: unknown counter: the document is not that of a field with `#[sequence]` in a model of the database"
        );
        let further = counters.replace(r#""last":{"$numberLong":"3"}"#, r#""last":9"#);
        copy.import(further.as_bytes()).await.unwrap();
        copy.import(counters.as_bytes()).await.unwrap();
        assert_eq!(copy.issues.insert(issue(1, "g")).await.unwrap().number, 10, "a counter is only raised");
    }

    async fn a_copy_to_another_store_takes_the_last_numbers_along(store: AnyStore) {
        let source = tracker(Embedded::memory().await.unwrap()).await;
        let issues = source.issues.insert_many(["a", "b"].map(|title| issue(1, title))).await.unwrap();
        source.issues.delete(issues[1].id).await.unwrap();
        let copy = Tracker::open(store.clone()).await.unwrap();
        source.copy_to(&copy).await.unwrap();
        // Once more, as after a call that was dropped.
        source.copy_to(&copy).await.unwrap();
        assert_eq!(copy.issues.insert(issue(1, "c")).await.unwrap().number, 3);
        assert_eq!(numbers(&copy, 1).await, of([("a", 1), ("c", 3)]));
        assert_eq!(copy.audit().await.unwrap(), []);
    }
}

macro_rules! version {
    ($module:ident = $version:literal, $(#[$number:meta])* number) => {
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Serialize, Deserialize, Document)]
            #[document(collection = "projects")]
            pub(super) struct Project {
                #[serde(rename = "_id")]
                pub(super) id: i64,
            }

            #[derive(Debug, Serialize, Deserialize, Document)]
            #[document(collection = "issues")]
            pub(super) struct Issue {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) project: Ref<Project>,
                $(#[$number])*
                #[serde(default)]
                pub(super) number: i64,
            }

            #[derive(Debug, Database)]
            #[database(name = "versions", version = $version)]
            pub(super) struct Versions {
                pub(super) projects: Repository<Project>,
                pub(super) issues: Repository<Issue>,
            }

            pub(super) fn issue(id: i64, number: i64) -> Issue {
                Issue { id, project: Ref::new(1), number }
            }
        }
    };
}
version!(
    with = 1,
    #[sequence(within = "project")]
    number
);
version!(without = 2, number);
version!(
    with_again = 3,
    #[sequence(within = "project")]
    number
);

on_every_store! {
    async fn a_version_that_declares_the_field_again_goes_on_after_the_numbers_given_meanwhile(store: AnyStore) {
        let first = with::Versions::open(store.clone()).await.unwrap();
        first.projects.insert(with::Project { id: 1 }).await.unwrap();
        first.issues.insert(with::issue(1, 0)).await.unwrap();
        let second = without::Versions::open(store.clone()).await.unwrap();
        second.issues.insert_many([without::issue(2, 7), without::issue(3, 7)]).await.unwrap();
        // Two documents have one number.
        let error = with_again::Versions::open(store.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{error}");
        second.issues.update(3).set(without::Issue::fields().number, 2).await.unwrap();
        let third = with_again::Versions::open(store.clone()).await.unwrap();
        assert_eq!(third.issues.insert(with_again::issue(4, 0)).await.unwrap().number, 8);
        third.backfill().await.unwrap();
        assert_eq!(third.issues.insert(with_again::issue(5, 0)).await.unwrap().number, 9);
        let issues = third.issues.all().await.unwrap();
        let numbers = issues.iter().map(|issue| (issue.id, issue.number)).collect::<Vec<_>>();
        assert_eq!(numbers, [(1, 1), (2, 7), (3, 2), (4, 8), (5, 9)]);
        assert_eq!(third.audit().await.unwrap(), []);
    }
}
