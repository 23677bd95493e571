//! Derived fields and references over older documents, and references to documents that are inserted later: the stored values cannot be
//! relied on then.

use odm::{Problem, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

mod old {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "parents")]
    pub(super) struct Parent {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "children")]
    pub(super) struct Child {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) parent: i32,
        pub(super) later: i32,
        pub(super) n: i32,
    }

    #[derive(Database)]
    #[database(name = "family", version = 1)]
    pub(super) struct Family {
        pub(super) parents: Repository<Parent>,
        pub(super) children: Repository<Child>,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parents")]
struct Parent {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Child", via = "parent")]
    #[serde(default)]
    children: i64,
    /// By a filter that reads a copy.
    #[count(of = "Child", via = "parent", filter = named)]
    #[serde(default)]
    named: i64,
    #[subset(limit = 2, sort = "-n", via = "parent")]
    first: Subset<ChildLine>,
    #[count(of = "Child", via = "later")]
    #[serde(default)]
    later: i64,
    #[subset(limit = 2, sort = "-n", via = "later")]
    later_first: Subset<ChildLine>,
}

fn named() -> Filter<Child> {
    Child::fields().parent_name.ne(None::<String>)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Child")]
struct ChildLine {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "children")]
struct Child {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    parent: Ref<Parent>,
    #[denormalize(from = "Parent.name", via = "parent")]
    parent_name: Option<String>,
    #[reference(parent, unchecked)]
    later: Ref<Parent>,
    #[denormalize(from = "Parent.name", via = "later")]
    later_name: Option<String>,
    n: i32,
}

#[derive(Database)]
#[database(name = "family", version = 2)]
struct Family {
    parents: Repository<Parent>,
    children: Repository<Child>,
}

fn parent(id: i32) -> Parent {
    Parent {
        id,
        name: format!("parent {id}"),
        children: 99,
        named: 99,
        first: Subset::new(),
        later: 99,
        later_first: Subset::new(),
    }
}

fn child(id: i32, parent: i32, later: i32) -> Child {
    Child {
        id,
        parent: Ref::new(parent),
        parent_name: None,
        later: Ref::new(later),
        later_name: None,
        n: id,
    }
}

/// Ten children of parent 1, and one of a parent that does not exist.
async fn older(store: &impl TestStore) {
    let db = old::Family::open(store.clone()).await.unwrap();
    let name = "parent 1".to_owned();
    db.parents.insert(old::Parent { id: 1, name }).await.unwrap();
    let child = |id| old::Child { id, parent: if id == 7 { 7 } else { 1 }, later: 3, n: id };
    db.children.insert_many((0..=10).map(child)).await.unwrap();
}

fn ids(shown: &Subset<ChildLine>) -> Vec<i32> {
    shown.iter().map(|child| child.id).collect()
}

/// The fields that a parent derives from its children, for each kind of reference.
async fn derived(db: &Family, id: i32) -> (i64, Vec<i32>, i64, Vec<i32>) {
    let parent = db.parents.get(id).await.unwrap();
    let (first, later) = (ids(&parent.first), ids(&parent.later_first));
    (parent.children, first, parent.later, later)
}

on_every_store! {
    async fn writes_before_the_backfill_count_and_show_older_children(store: AnyStore) {
        older(&store).await;
        let db = Family::open(store).await.unwrap();
        assert!(!db.pending_backfills().is_empty());
        db.children.insert(child(20, 1, 3)).await.unwrap();
        assert_eq!(derived(&db, 1).await, (11, vec![20, 10], 0, vec![]));
        // New, but already the target of older children.
        db.parents.insert(parent(3)).await.unwrap();
        db.parents.upsert(parent(7)).await.unwrap();
        assert_eq!(derived(&db, 3).await, (0, vec![], 12, vec![20, 10]));
        assert_eq!(derived(&db, 7).await, (1, vec![7], 0, vec![]));
        let seven = db.children.get(7).await.unwrap();
        assert_eq!(seven.parent_name.as_deref(), Some("parent 7"));
        assert_eq!(seven.later_name.as_deref(), Some("parent 3"));
        let findings = db.backfill().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(db.parents.get(1).await.unwrap().named, 11);
        assert!(db.pending_backfills().is_empty());
    }

    async fn aggregates_and_distinct_values_read_a_pending_field_as_its_empty_value(store: AnyStore) {
        older(&store).await;
        let db = Family::open(store).await.unwrap();
        let fields = Parent::fields();
        assert_eq!(db.parents.all().count_by(fields.children).await.unwrap(), [(0, 1)]);
        assert_eq!(db.parents.all().max(fields.children).await.unwrap(), Some(0));
        assert_eq!(db.parents.all().distinct(fields.children).await.unwrap(), [0]);
        db.backfill().await.unwrap();
        assert_eq!(db.parents.all().count_by(fields.children).await.unwrap(), [(10, 1)]);
        assert_eq!(db.parents.all().max(fields.children).await.unwrap(), Some(10));
        assert_eq!(db.parents.all().distinct(fields.children).await.unwrap(), [10]);
    }

    async fn a_reference_that_dangles_after_the_backfill_is_not_relied_on(store: AnyStore) {
        older(&store).await;
        let db = Family::open(store).await.unwrap();
        let findings = db.backfill().await.unwrap();
        let left: Vec<_> = findings.iter().filter(|finding| !finding.repaired).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].problem, Problem::Dangling);
        assert_eq!(db.pending_backfills(), ["children.parent"], "it cannot be repaired");
        db.parents.insert_many([parent(6), parent(7)]).await.unwrap();
        assert_eq!(derived(&db, 7).await, (1, vec![7], 0, vec![]));
        let seven = db.children.get(7).await.unwrap();
        assert_eq!(seven.parent_name.as_deref(), Some("parent 7"));
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(db.backfill().await.unwrap(), []);
        assert!(db.pending_backfills().is_empty());
    }

    async fn a_backfill_that_is_resumed_answers_for_no_reference_before_it(store: AnyStore) {
        older(&store).await;
        let old = old::Family::open(store.clone()).await.unwrap();
        let child = |id| old::Child { id, parent: 1, later: 3, n: id };
        old.children.insert_many((11..450).map(child)).await.unwrap();
        let db = Family::open(store).await.unwrap();
        let mut first = db.backfill();
        while first.progress().checked < 400 {
            first.next().await.unwrap().unwrap();
        }
        let position = first.progress().position.clone().unwrap();
        drop(first);
        let findings = db.backfill().resume(&position).await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        let left = ["children.later", "children.parent"];
        assert_eq!(db.pending_backfills(), left, "one of them dangles before the position");
        db.parents.insert(parent(7)).await.unwrap();
        assert_eq!(derived(&db, 7).await, (1, vec![7], 0, vec![]));
        assert_eq!(db.backfill().await.unwrap(), []);
        assert!(db.pending_backfills().is_empty());
    }

    async fn a_parent_that_comes_later_counts_and_shows_its_children(store: AnyStore) {
        let db = Family::open(store).await.unwrap();
        db.parents.insert(parent(1)).await.unwrap();
        db.children.insert_many((1..=4).map(|id| child(id, 1, 2 + id % 2))).await.unwrap();
        db.parents.insert_many([parent(2)]).await.unwrap();
        assert_eq!(derived(&db, 2).await, (0, vec![], 2, vec![4, 2]));
        let name = Parent::fields().name;
        let third = db.parents.update_where(Parent::fields().id.eq(3)).set(name, "third").upsert();
        assert!(third.await.unwrap().inserted);
        assert_eq!(derived(&db, 3).await, (0, vec![], 2, vec![3, 1]));
        assert_eq!(db.children.get(1).await.unwrap().later_name.as_deref(), Some("third"));
        // Gone and back, with a child that came and a child that left meanwhile.
        db.parents.delete(3).await.unwrap();
        db.children.insert(child(5, 1, 3)).await.unwrap();
        db.children.delete(1).await.unwrap();
        db.parents.insert(parent(3)).await.unwrap();
        assert_eq!(derived(&db, 3).await, (0, vec![], 2, vec![5, 3]));
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
