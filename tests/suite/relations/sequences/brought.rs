//! Numbers that documents bring: from before the declaration, of other versions and programs, and of other stores.

use super::*;

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

    async fn a_copy_is_not_taken_for_that_of_a_document_with_another_number(store: AnyStore) {
        let source = tracker(Embedded::memory().await.unwrap()).await;
        let first = source.issues.insert(issue(1, "a")).await.unwrap();
        let copy = Tracker::open(store.clone()).await.unwrap();
        source.copy_to(&copy).await.unwrap();
        for project in [2, 1] {
            source.issues.update(first.id).set(Issue::fields().project, Ref::new(project)).await.unwrap();
        }
        assert_eq!(numbers(&source, 1).await, of([("a", 2)]), "it has come to its project again");
        let error = source.copy_to(&copy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImport);
        assert!(error.to_string().contains("is another one in the source"), "{error}");
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
