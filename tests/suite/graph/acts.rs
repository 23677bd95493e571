//! Writes of every form to any collection, as documents, so that databases with different models of
//! the same collections can run the same ones.

use odm::{
    bson::{self, Document, RawDocumentBuf, doc},
    prelude::*,
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use super::{bare::Bare, left::Left, right::Right, whole::Whole};

/// The collections, each with how many `_id`s its documents have.
pub(crate) const COLLECTIONS: [(&str, i32); 9] = [
    ("authors", 4),
    ("editors", 3),
    ("blogs", 3),
    ("posts", 6),
    ("comments", 10),
    ("likes", 12),
    ("awards", 3),
    ("tags", 3),
    ("nodes", 6),
];

/// A write.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    collection: &'static str,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Insert(Document),
    InsertMany(Vec<Document>),
    Replace(i32, Document),
    Upsert(i32, Document),
    Modify(i32, Document),
    Update(i32, Document),
    UpdateWhere(Vec<i32>, Document),
    UpsertWhere(i32, Document),
    Delete(i32),
    DeleteWhere(Vec<i32>),
}

/// The base data of a document without its `_id`.
fn base(collection: &str, a: i32, b: i32, c: i32) -> Document {
    let optional = |id: i32, number: i32| (id < number).then_some(id);
    match collection {
        "authors" => doc! {
            "name": format!("author {a}"),
            "bio": { "text": format!("text {b}"), "mentor": optional(c, 4) },
        },
        "editors" => doc! {
            "name": format!("editor {a}"),
            "blogs": if b % 3 == 0 { vec![] } else { vec![b % 3, (b + 1) % 3] },
        },
        "blogs" => doc! { "title": format!("blog {a}"), "editor": optional(b, 3) },
        "posts" => doc! {
            "title": format!("post {a}"), "blog": b % 3, "author": optional(c, 4),
        },
        "comments" => doc! { "post": a % 6, "hidden": b % 4 == 0 },
        "likes" => doc! { "comment": a + b % 4, "fan": optional(c, 5) },
        "awards" => doc! { "post": a },
        "tags" => doc! {
            "name": format!("tag {a}"), "owner": b % 4,
            "posts": if c == 0 { vec![] } else { vec![c % 6, (c + 2) % 6] },
            "links": [{ "id": a % 6, "comments": 77 }, { "id": c % 6, "comments": 77 }],
        },
        _ => doc! { "name": format!("node {a}"), "parent": optional(b, 6) },
    }
}

/// Wrong values of derived fields: they are ignored in whole documents.
fn junk(collection: &str) -> Document {
    match collection {
        "authors" => doc! { "posts": 9_i64, "talk": [9_i64], "revision": 0_i64 },
        "editors" => doc! { "liveliest": [], "crowded": 9_i64, "revision": 0_i64 },
        "blogs" => doc! {
            "editor_name": "junk", "top": [], "lively": 9, "silent": 9_i64, "by_busy": 9_i64,
            "revision": 0_i64,
        },
        "posts" => doc! {
            "author_name": "junk", "author_posts": 9_i64, "blog_top": [], "comments": 9_i64,
            "best": [{ "_id": 1, "likes": 9_i64, "post_author": "junk" }], "tags": ["junk"],
            "revision": 0_i64,
        },
        "comments" => doc! { "post_title": "junk", "post_author": "junk", "likes": 9_i64 },
        "likes" => doc! { "author": "junk", "fan_posts": 9_i64 },
        "awards" => doc! { "comments": 9_i64, "title_then": "junk" },
        "tags" => doc! {},
        _ => doc! { "size": 9_i64, "largest": [], "parent_size": 9_i64 },
    }
}

fn whole(collection: &str, id: i32, [a, b, c]: [i32; 3]) -> Document {
    let mut document = doc! { "_id": id };
    document.extend(base(collection, a, b, c));
    document.extend(junk(collection));
    document
}

/// An update of some base data.
fn update(collection: &str, [a, b, c]: [i32; 3]) -> Document {
    let whole = base(collection, a, b, c);
    match (collection, c % 3) {
        ("authors", 0) => doc! { "$set": { "bio.mentor": (b < 4).then_some(b) } },
        ("authors", 1) => doc! { "$set": { "bio.text": format!("text {a}") } },
        ("tags", 0) => doc! { "$push": { "links": { "id": a, "comments": 5 } } },
        ("tags", 1) => doc! { "$pull": { "posts": a } },
        ("tags", _) => doc! { "$addToSet": { "posts": b } },
        ("editors", 0) => doc! { "$pull": { "blogs": a % 3 } },
        ("editors", 1) => doc! { "$addToSet": { "blogs": a % 3 } },
        _ => {
            // One of the fields of the document.
            let names: Vec<&String> = whole.keys().collect();
            let name = names[(a + b + c) as usize % names.len()];
            doc! { "$set": { name: whole[name].clone() } }
        }
    }
}

fn change(collection: &'static str, ids: i32) -> impl Strategy<Value = Change> {
    let id = move || 0..ids;
    let some = move || prop::collection::vec(0..ids, 0..4);
    let values = || [0..6_i32, 0..6_i32, 0..6_i32];
    let documents = move || prop::collection::vec((id(), values()), 1..5);
    prop_oneof![
        6 => (id(), values()).prop_map(move |(id, v)| Change::Insert(whole(collection, id, v))),
        4 => documents().prop_map(move |of| Change::InsertMany(
            of.into_iter().map(|(id, v)| whole(collection, id, v)).collect()
        )),
        2 => (id(), values()).prop_map(move |(id, v)| Change::Replace(id, whole(collection, id, v))),
        3 => (id(), values()).prop_map(move |(id, v)| Change::Upsert(id, whole(collection, id, v))),
        2 => (id(), values()).prop_map(move |(id, [a, b, c])| {
            Change::Modify(id, base(collection, a, b, c))
        }),
        5 => (id(), values()).prop_map(move |(id, v)| Change::Update(id, update(collection, v))),
        3 => (some(), values()).prop_map(move |(ids, v)| {
            Change::UpdateWhere(ids, update(collection, v))
        }),
        2 => (id(), values()).prop_map(move |(id, [a, b, c])| {
            Change::UpsertWhere(id, doc! { "$set": base(collection, a, b, c) })
        }),
        1 => id().prop_map(Change::Delete),
        1 => some().prop_map(Change::DeleteWhere),
    ]
}

/// Any write.
pub(crate) fn act() -> impl Strategy<Value = Act> {
    let of = |at: usize| {
        let (collection, ids) = COLLECTIONS[at];
        change(collection, ids).prop_map(move |change| Act { collection, change })
    };
    prop_oneof![
        3 => of(0),
        2 => of(1),
        3 => of(2),
        5 => of(3),
        5 => of(4),
        4 => of(5),
        1 => of(6),
        2 => of(7),
        3 => of(8),
    ]
}

/// Documents of all collections, so that a history does not start empty.
pub(crate) fn beginning() -> Vec<Act> {
    let all = COLLECTIONS.iter().map(|&(collection, ids)| {
        let ids = 0..(ids + 1) / 2;
        let documents = ids.map(|id| match collection {
            "authors" => whole(collection, id, [id, id, 9]),
            "editors" => whole(collection, id, [id, 0, 0]),
            "comments" | "awards" => whole(collection, id, [id % 3, 1, 1]),
            "likes" => whole(collection, id, [id % 3, 0, id]),
            "tags" => whole(collection, id, [id, id, 0]),
            "posts" => whole(collection, id, [id, id % 2, id % 2]),
            "nodes" => whole(collection, id, [id, if id == 0 { 9 } else { id - 1 }, 0]),
            _ => whole(collection, id, [id, id, id]),
        });
        Act { collection, change: Change::InsertMany(documents.collect()) }
    });
    all.collect()
}

fn typed<M: DeserializeOwned>(document: Document) -> M {
    let shown = document.to_string();
    bson::deserialize_from_document(document).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

fn by_id<M: odm::prelude::Document>(ids: Vec<i32>) -> Filter<M> {
    Filter::raw(doc! { "_id": { "$in": ids } })
}

async fn apply<M: odm::prelude::Document<Id = i32> + 'static>(
    repository: &Repository<M>,
    change: &Change,
) -> odm::Result<()> {
    // The version of the stored document, so that the write is not stale.
    let fresh = async |id: i32, document: &Document| -> odm::Result<M> {
        let mut document = document.clone();
        if let Some(stored) = repository.find(by_id(vec![id])).first().await?
            && let Some(revision) = revision(&stored)
        {
            document.insert("revision", revision);
        }
        Ok(typed(document))
    };
    match change.clone() {
        Change::Insert(document) => repository.insert(typed::<M>(document)).await.map(drop),
        Change::InsertMany(documents) => {
            let documents = documents.into_iter().map(typed::<M>);
            repository.insert_many(documents).await.map(drop)
        }
        Change::Replace(id, document) => {
            repository.replace(fresh(id, &document).await?).await.map(drop)
        }
        Change::Upsert(id, document) => {
            repository.upsert(fresh(id, &document).await?).await.map(drop)
        }
        Change::Modify(id, base) => {
            let modified = repository.modify(Ref::<M>::new(id), move |document: &mut M| {
                let mut all = bson::serialize_to_document(document).unwrap();
                all.extend(base.clone());
                *document = typed(all);
            });
            modified.await.map(drop)
        }
        Change::Update(id, update) => repository.update(Ref::<M>::new(id)).raw(update).await,
        Change::UpdateWhere(ids, update) => {
            repository.update_where(by_id(ids)).raw(update).await.map(drop)
        }
        Change::UpsertWhere(id, update) => {
            let filter = Filter::raw(doc! { "_id": id });
            repository.update_where(filter).raw(update).upsert().await.map(drop)
        }
        Change::Delete(id) => repository.delete(Ref::<M>::new(id)).await.map(drop),
        Change::DeleteWhere(ids) => repository.delete_where(by_id(ids)).await.map(drop),
    }
}

/// The version of a document, if its model has one.
fn revision(document: &impl Serialize) -> Option<i64> {
    let value = serde_json::to_value(document).unwrap();
    value.get("revision")?.as_i64()
}

/// Inserts an author, to whom a like of [`beginning`] refers, and deletes it.
pub(crate) fn author_that_comes_and_goes() -> Vec<Act> {
    let author = doc! {
        "_id": 2, "name": "author", "bio": { "text": "text", "mentor": 2 }, "posts": 9_i64, "talk": [9_i64],
        "revision": 0_i64,
    };
    let changes = [Change::Insert(author), Change::Delete(2)];
    let act = |change| Act { collection: "authors", change };
    changes.map(act).into()
}

/// A database that acts can be run on.
pub(crate) trait Acts: Database {
    fn act(&self, act: &Act) -> impl Future<Output = odm::Result<()>> + Send;

    /// The stored likes and awards, also within a transaction.
    fn copies(&self) -> impl Future<Output = odm::Result<Copies>> + Send;
}

/// The documents that hold copies which outlive their sources.
pub(crate) struct Copies {
    pub(crate) likes: Vec<RawDocumentBuf>,
    pub(crate) awards: Vec<RawDocumentBuf>,
}

async fn copies<L: odm::Document, A: odm::Document>(
    likes: &Repository<L>,
    awards: &Repository<A>,
) -> odm::Result<Copies> {
    Ok(Copies { likes: likes.raw().all().await?, awards: awards.raw().all().await? })
}

macro_rules! acts {
    ($($database:ty),+) => {$(
        impl Acts for $database {
            async fn act(&self, act: &Act) -> odm::Result<()> {
                match act.collection {
                    "authors" => apply(&self.authors, &act.change).await,
                    "editors" => apply(&self.editors, &act.change).await,
                    "blogs" => apply(&self.blogs, &act.change).await,
                    "posts" => apply(&self.posts, &act.change).await,
                    "comments" => apply(&self.comments, &act.change).await,
                    "likes" => apply(&self.likes, &act.change).await,
                    "awards" => apply(&self.awards, &act.change).await,
                    "tags" => apply(&self.tags, &act.change).await,
                    _ => apply(&self.nodes, &act.change).await,
                }
            }

            async fn copies(&self) -> odm::Result<Copies> {
                copies(&self.likes, &self.awards).await
            }
        }
    )+};
}

acts!(Whole, Left, Right);

impl Acts for Bare {
    async fn act(&self, act: &Act) -> odm::Result<()> {
        match act.collection {
            // Without its cold part an author is not whole.
            "authors" => Ok(()),
            "editors" => apply(&self.editors, &act.change).await,
            "blogs" => apply(&self.blogs, &act.change).await,
            "posts" => apply(&self.posts, &act.change).await,
            "comments" => apply(&self.comments, &act.change).await,
            "likes" => apply(&self.likes, &act.change).await,
            "awards" => apply(&self.awards, &act.change).await,
            "tags" => apply(&self.tags, &act.change).await,
            _ => apply(&self.nodes, &act.change).await,
        }
    }
    async fn copies(&self) -> odm::Result<Copies> {
        copies(&self.likes, &self.awards).await
    }
}
