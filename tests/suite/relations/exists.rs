//! `#[exists]`: whether a document has children that pass a filter.

use odm::{DerivedKind, Embedded, Problem, bson::doc, prelude::*};
use tests::{TestStore, behind_the_back, on_every_store};

macro_rules! version {
    ($module:ident = $version:literal, $(#[$exists:meta])* $open:ident) => {
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "projects")]
            pub(super) struct Project {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $(#[$exists])*
                pub(super) $open: bool,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "issues")]
            pub(super) struct Issue {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) project: Ref<Project>,
                pub(super) is_open: bool,
            }

            #[allow(dead_code, reason = "the version before has no filter")]
            pub(super) fn open() -> Filter<Issue> {
                Issue::fields().is_open.eq(true)
            }

            #[derive(Database)]
            #[database(name = "tracker", version = $version)]
            pub(super) struct Tracker {
                pub(super) projects: Repository<Project>,
                pub(super) issues: Repository<Issue>,
            }
        }
    };
}
version!(before = 1, is_kept);
version!(
    now = 2,
    #[exists(of = "Issue", filter = open)]
    has_open
);

use now::{Issue, Project, Tracker};

fn issue(id: i64, project: i64, is_open: bool) -> Issue {
    Issue { id, project: Ref::new(project), is_open }
}

/// Two projects without issues.
async fn tracker(store: impl TestStore) -> Tracker {
    let db = Tracker::open(store).await.unwrap();
    // What the caller sends is no value.
    let projects = [Project { id: 1, has_open: true }, Project { id: 2, has_open: false }];
    db.projects.insert_many(projects).await.unwrap();
    db
}

/// Which of the two have an open issue.
async fn open(db: &Tracker) -> [bool; 2] {
    assert_eq!(db.audit().await.unwrap(), []);
    [db.projects.get(1).await.unwrap().has_open, db.projects.get(2).await.unwrap().has_open]
}

on_every_store! {
    async fn an_existence_follows_each_write_of_a_child(store: AnyStore) {
        let db = tracker(store).await;
        assert_eq!(open(&db).await, [false, false]);
        db.issues.insert_many([issue(1, 1, false), issue(2, 1, true), issue(3, 1, true)]).await.unwrap();
        assert_eq!(open(&db).await, [true, false]);
        let fields = Issue::fields();
        db.issues.update(2).set(fields.is_open, false).await.unwrap();
        assert_eq!(open(&db).await, [true, false]);
        db.issues.update(3).set(fields.project, Ref::new(2)).await.unwrap();
        assert_eq!(open(&db).await, [false, true]);
        // One leaves and one comes.
        db.bulk((db.issues.delete(3), db.issues.insert(issue(4, 2, true)))).await.unwrap();
        assert_eq!(open(&db).await, [false, true]);
        db.issues.delete_where(Filter::all()).await.unwrap();
        assert_eq!(open(&db).await, [false, false]);
    }

    async fn an_existence_cannot_be_written(store: AnyStore) {
        let db = tracker(store).await;
        db.issues.insert(issue(1, 2, true)).await.unwrap();
        let sent = [Project { id: 1, has_open: true }, Project { id: 2, has_open: false }];
        for project in sent {
            db.projects.replace(project).await.unwrap();
        }
        assert_eq!(open(&db).await, [false, true]);
    }

    async fn an_existence_over_old_documents_is_pending_until_the_backfill(store: AnyStore) {
        let old = before::Tracker::open(store.clone()).await.unwrap();
        let projects = [1, 2].map(|id| before::Project { id, is_kept: true });
        old.projects.insert_many(projects).await.unwrap();
        let issue = |id, project, is_open| before::Issue { id, project: Ref::new(project), is_open };
        old.issues.insert_many([issue(1, 1, false), issue(2, 2, true)]).await.unwrap();
        drop(old);
        let db = Tracker::open(store).await.unwrap();
        db.backfill().await.unwrap();
        assert_eq!(open(&db).await, [false, true]);
    }

    async fn an_existence_that_is_wrong_is_found_and_repaired(store: AnyStore) {
        let db = tracker(store.clone()).await;
        db.issues.insert(self::issue(1, 1, true)).await.unwrap();
        for update in [doc! { "$set": { "has_open": false } }, doc! { "$set": { "has_open": 1 } }, doc! { "$unset": { "has_open": "" } }] {
            behind_the_back(&store, "projects", doc! { "_id": 1 }, update).await;
            let found = db.audit().await.unwrap();
            let wrong = Problem::Derived(DerivedKind::Exists);
            assert!(matches!(&found[..], [found] if found.problem == wrong && found.path == "has_open"), "{found:?}");
            db.repair().await.unwrap();
            assert_eq!(open(&db).await, [true, false]);
        }
    }
}

#[tokio::test]
async fn a_search_for_the_next_child_does_not_read_the_others() {
    let db = tracker(Embedded::memory().await.unwrap()).await;
    let issues = (1..=1_000).map(|id| issue(id, 1, id % 500 == 0));
    db.issues.insert_many(issues).await.unwrap();
    let insert = db.issues.insert(issue(2_000, 1, true));
    let (inserted, insert) = odm::measure(insert.into_future()).await;
    inserted.unwrap();
    let (deleted, delete) = odm::measure(db.issues.delete(500).into_future()).await;
    deleted.unwrap();
    assert_eq!(open(&db).await, [true, false]);
    // The project stays as it is.
    assert_eq!((insert.documents_written, delete.documents_written), (1, 1));
    assert!(insert.documents_examined <= 3, "{insert:?}");
    assert!(delete.documents_examined <= 4 && delete.keys_examined <= 4, "{delete:?}");
}
