//! Units of thousands of documents, which are read, refreshed and written in chunks.

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::TestStore;

/// More than a chunk, and several queues.
const MANY: i32 = 2_500;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "roots")]
struct Root {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "branches")]
struct Branch {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child)]
    root: Ref<Root>,
    #[denormalize(from = "Root.name")]
    root_name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "leaves")]
struct Leaf {
    #[serde(rename = "_id")]
    id: i32,
    /// A level before the copy of the branch's name.
    #[reference(child)]
    root: Ref<Root>,
    #[denormalize(from = "Root.name")]
    root_name: String,
    #[reference(child)]
    branch: Ref<Branch>,
    #[denormalize(from = "Branch.root_name")]
    branch_name: String,
    #[reference(parent, on_delete = "cascade")]
    shelf: Ref<Shelf>,
    n: i64,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Leaf")]
struct LeafLine {
    #[serde(rename = "_id")]
    id: i32,
    root_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Leaf")]
struct RevisionLine {
    #[serde(rename = "_id")]
    id: i32,
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Leaf", filter = new)]
    new: i64,
    #[subset(limit = 2, sort = "-root_name")]
    leaves: Subset<LeafLine>,
    #[subset(limit = 1, sort = "-revision")]
    latest: Subset<RevisionLine>,
}

fn new() -> Filter<Leaf> {
    Leaf::fields().root_name.eq("new")
}

/// Two copies on different levels, without dependents.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child)]
    root: Ref<Root>,
    #[denormalize(from = "Root.name")]
    root_name: String,
    #[reference(child)]
    branch: Ref<Branch>,
    #[denormalize(from = "Branch.root_name")]
    branch_name: String,
}

#[derive(Database)]
#[database(name = "forest", version = 1)]
struct Forest {
    roots: Repository<Root>,
    branches: Repository<Branch>,
    leaves: Repository<Leaf>,
    shelves: Repository<Shelf>,
    notes: Repository<Note>,
}

fn leaf(id: i32, shelf: i32) -> Leaf {
    Leaf {
        id,
        root: Ref::new(1),
        root_name: "junk".into(),
        branch: Ref::new(1),
        branch_name: "junk".into(),
        shelf: Ref::new(shelf),
        n: 0,
        revision: 0,
    }
}

async fn forest(store: impl TestStore) -> Forest {
    let db = Forest::open(store).await.unwrap();
    let (id, name) = (1, "old".to_owned());
    db.roots.insert(Root { id, name }).await.unwrap();
    let branch = Branch { id: 1, root: Ref::new(1), root_name: String::new() };
    db.branches.insert(branch).await.unwrap();
    let shelves =
        (1..=2).map(|id| Shelf { id, new: 9, leaves: Subset::new(), latest: Subset::new() });
    db.shelves.insert_many(shelves).await.unwrap();
    db
}

async fn grown(store: impl TestStore) -> Forest {
    let db = forest(store).await;
    let leaves = (0..MANY).map(|id| leaf(id, 1));
    db.leaves.insert_many(leaves).await.unwrap();
    db
}

macro_rules! in_memory {
    ($(async fn $name:ident($store:ident: impl $bound:ident) $body:block)+) => {$(
        #[test]
        fn $name() {
            async fn test($store: impl $bound) $body
            tests::in_memory(test);
        }
    )+};
}

in_memory! {
    async fn thousands_of_children_are_inserted_for_one_parent(store: impl TestStore) {
        let db = grown(store).await;
        let shelf = db.shelves.get(1).await.unwrap();
        let ids: Vec<i32> = shelf.leaves.iter().map(|leaf| leaf.id).collect();
        assert_eq!((shelf.new, ids), (0, vec![0, 1]));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_rename_with_thousands_of_holders_goes_on_to_all_that_follows(store: impl TestStore) {
        let db = grown(store).await;
        db.leaves.insert(leaf(-1, 2)).await.unwrap();
        db.roots.update(1).set(Root::fields().name, "new").await.unwrap();
        let shelf = db.shelves.get(1).await.unwrap();
        assert_eq!(shelf.new, i64::from(MANY));
        assert!(shelf.leaves.iter().all(|leaf| leaf.root_name == "new"), "{shelf:?}");
        assert_eq!(db.shelves.get(2).await.unwrap().new, 1);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_plan_counts_a_document_once_whose_copies_change_on_several_levels(store: impl TestStore) {
        let db = forest(store).await;
        let notes = (0..MANY).map(|id| Note {
            id,
            root: Ref::new(1),
            root_name: String::new(),
            branch: Ref::new(1),
            branch_name: String::new(),
        });
        db.notes.insert_many(notes).await.unwrap();
        let plan = db.roots.update(1).set(Root::fields().name, "new").plan().await.unwrap();
        let notes = plan.collections.iter().find(|of| of.collection == "notes").unwrap();
        assert_eq!((notes.inserted, notes.changed, notes.removed), (0, MANY as u64, 0));
    }

    async fn a_subset_follows_the_versions_of_thousands(store: impl TestStore) {
        let db = grown(store).await;
        // Among the first that are changed, and alone on its shelf.
        db.leaves.insert(leaf(-1, 2)).await.unwrap();
        let all = db.leaves.update_where(Filter::all()).inc(Leaf::fields().n, 1);
        assert_eq!(all.await.unwrap().modified, MANY as u64 + 1);
        for (shelf, id) in [(1, 0), (2, -1)] {
            let shelf = db.shelves.get(shelf).await.unwrap();
            assert_eq!(*shelf.latest, [RevisionLine { id, revision: 2 }]);
        }
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_parent_goes_with_thousands_of_children(store: impl TestStore) {
        let db = grown(store).await;
        db.leaves.insert(leaf(-1, 2)).await.unwrap();
        let plan = db.shelves.delete(1).plan().await.unwrap();
        let leaves = plan.collections.iter().find(|of| of.collection == "leaves").unwrap();
        assert_eq!((leaves.inserted, leaves.changed, leaves.removed), (0, 0, MANY as u64));
        db.shelves.delete(1).await.unwrap();
        assert_eq!(db.leaves.all().count().await.unwrap(), 1);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn thousands_move_to_another_parent(store: impl TestStore) {
        let db = grown(store).await;
        let some = db.leaves.update_where(Leaf::fields().id.gte(10));
        some.set(Leaf::fields().shelf, 2).await.unwrap();
        let shelf = db.shelves.get(2).await.unwrap();
        let ids: Vec<i32> = shelf.leaves.iter().map(|leaf| leaf.id).collect();
        assert_eq!(ids, [10, 11]);
        assert_eq!(db.leaves.get(10).await.unwrap().revision, 2);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_holder_that_would_outgrow_a_document_refuses_the_rename(store: impl TestStore) {
        let db = forest(store).await;
        db.leaves.insert(leaf(1, 1)).await.unwrap();
        // Each copy fits, and both of them together do not.
        let long = "x".repeat(9 << 20);
        let error = db.roots.update(1).set(Root::fields().name, long.as_str()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(db.roots.get(1).await.unwrap().name, "old");
        assert_eq!(db.leaves.get(1).await.unwrap().root_name, "old");
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
