//! `#[sequence(within = "..")]`: numbers within a parent.

mod brought;

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
