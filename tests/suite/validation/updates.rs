//! A typed update leaves no document that its type cannot read, for any validation of the model.

use odm::{
    Error, ErrorKind,
    bson::{Document as BsonDocument, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store, stored};

macro_rules! under {
    ($module:ident, $($validation:tt)*) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "counters", validation($($validation)*))]
            pub(super) struct Counter {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                pub(super) tiny: u8,
                pub(super) small: i32,
                pub(super) count: u32,
                pub(super) large: u64,
                pub(super) weight: f64,
                pub(super) votes: Option<i32>,
                pub(super) owed: Option<u32>,
                #[embed]
                pub(super) size: Option<Size>,
                #[embed(recursive)]
                pub(super) tree: Node,
                #[split(collection = "details", key = "counter")]
                pub(super) detail: Cold<Size>,
            }

            #[derive(Database)]
            #[database(name = "counters", version = 1)]
            pub(super) struct Db {
                pub(super) counters: Repository<Counter>,
            }

            /// Counters 1 and 2. The second has no optional fields.
            pub(super) async fn db(store: &impl TestStore) -> Db {
                let db = Db::open(store.clone()).await.unwrap();
                let counter = |id| Counter {
                    id,
                    tiny: 250,
                    small: i32::MAX,
                    count: 1,
                    large: 1,
                    weight: 1.5,
                    votes: None,
                    owed: None,
                    size: (id == 1).then_some(Size { width: 1, height: 2 }),
                    tree: Node { n: 1, first: Some(Box::new(Node { n: i32::MAX, first: None })) },
                    detail: Cold::new(Size { width: i32::MAX, height: 2 }),
                };
                db.counters.insert_many([1, 2].map(counter)).await.unwrap();
                db
            }

            /// The updates that would break a document, with the document and the path in it.
            pub(super) async fn refused(db: &Db) -> Vec<(i32, &'static str, Error)> {
                let of = Counter::fields();
                let all = || db.counters.update_where(Filter::all());
                vec![
                    (1, "small", db.counters.update(1).inc(of.small, 1).await.unwrap_err()),
                    (1, "small", all().mul(of.small, 2).await.unwrap_err()),
                    (1, "tiny", db.counters.update(1).inc(of.tiny, 6).await.unwrap_err()),
                    (1, "tiny", db.counters.update(1).inc(of.tiny, -251).await.unwrap_err()),
                    (1, "count", db.counters.update(1).inc(of.count, -2).await.unwrap_err()),
                    (2, "count", db.counters.update(2).inc(of.count, i64::from(u32::MAX)).await.unwrap_err()),
                    (1, "large", all().inc(of.large, -2).await.unwrap_err()),
                    (1, "owed", db.counters.update(1).inc(of.owed, -1).await.unwrap_err()),
                    (1, "votes", db.counters.update(1).mul(of.votes, 2).await.unwrap_err()),
                    (2, "size", db.counters.update(2).set(of.size.width, 3).await.unwrap_err()),
                    (2, "size", db.counters.update(2).inc(of.size.width, 3).await.unwrap_err()),
                    (1, "tree.first.n", db.counters.update(1).inc(of.tree.first.n, 1).await.unwrap_err()),
                ]
            }
        }
    };
}

under!(strict, level = "strict");
under!(moderate, level = "moderate");
under!(off, level = "off");
under!(warn, action = "warn");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Size {
    width: i32,
    height: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Node {
    n: i32,
    #[embed(recursive)]
    first: Option<Box<Node>>,
}

/// The stored counters and their cold parts.
async fn all(store: &impl TestStore) -> Vec<BsonDocument> {
    let mut all = stored(store, "counters").await;
    all.extend(stored(store, "details").await);
    all.iter().map(|raw| raw.try_into().unwrap()).collect()
}

fn assert_refused(refused: Vec<(i32, &'static str, Error)>) {
    for (id, path, error) in refused {
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::InvalidUpdate), "{error:?}");
        let location = error.location().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(location.collection, "counters", "{text}");
        assert_eq!(location.id, Some(id.into()), "{text}");
        let named = location.path.as_deref().unwrap_or_default();
        assert!(named.starts_with(path), "{text}");
        assert!(text.contains(&format!("`{path}")), "{text}");
        assert!(text.contains("`counters`") && text.contains(&format!("`_id` = {id}")), "{text}");
    }
}

on_every_store! {
    async fn a_typed_update_that_would_break_a_document_fails_under_every_setting(store: AnyStore) {
        let db = strict::db(&store).await;
        let before = all(&store).await;
        assert_refused(strict::refused(&db).await);
        assert_eq!(all(&store).await, before);
    }

    async fn it_fails_under_moderate_validation(store: AnyStore) {
        let db = moderate::db(&store).await;
        let before = all(&store).await;
        assert_refused(moderate::refused(&db).await);
        assert_eq!(all(&store).await, before);
    }

    async fn it_fails_without_validation(store: AnyStore) {
        let db = off::db(&store).await;
        let before = all(&store).await;
        assert_refused(off::refused(&db).await);
        assert_eq!(all(&store).await, before);
        // In a cold part as well.
        let width = off::Counter::fields().detail.width;
        let error = db.counters.update(1).inc(width, 1).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidUpdate, Some(121)), "{error}");
        assert!(error.to_string().contains("`width`"), "{error}");
        assert_eq!(all(&store).await, before);
        // And an unreadable document can be corrected field by field, or by a raw update.
        let small = off::Counter::fields().small;
        let wrong = doc! { "$set": { "small": "many", "weight": "much" } };
        behind_the_back(&store, "counters", doc! { "_id": 1 }, wrong).await;
        db.counters.update(1).set(small, 3).await.unwrap();
        db.counters.update(1).set(off::Counter::fields().weight, 2.0).await.unwrap();
        db.counters.get(1).await.unwrap();
        db.counters.update(1).raw(doc! { "$set": { "small": "many" } }).await.unwrap();
        assert_eq!(db.counters.get(1).await.unwrap_err().kind(), ErrorKind::Decode);
    }

    async fn it_fails_where_validation_warns(store: AnyStore) {
        let db = warn::db(&store).await;
        let before = all(&store).await;
        assert_refused(warn::refused(&db).await);
        assert_eq!(all(&store).await, before);
    }

    async fn unsigned_numbers_take_negative_amounts(store: AnyStore) {
        let db = strict::db(&store).await;
        let of = strict::Counter::fields();
        let amount: u32 = 4;
        db.counters.update(1).inc(of.count, amount).inc(of.large, 9_u64).await.unwrap();
        db.counters.update(1).inc(of.count, -5).inc(of.large, -3_i64).inc(of.tiny, -250).await.unwrap();
        let counter = db.counters.get(1).await.unwrap();
        assert_eq!((counter.count, counter.large, counter.tiny), (0, 7, 0));
        // Types stay the same in the guides' shapes.
        let raw = db.counters.get(1).raw().await.unwrap();
        assert_eq!((raw.get_i32("tiny").ok(), raw.get_i64("count").ok()), (Some(0), Some(0)));
    }

    async fn an_absent_number_counts_as_none_in_an_increase(store: AnyStore) {
        let db = strict::db(&store).await;
        let of = strict::Counter::fields();
        let before = db.counters.get(1).raw().await.unwrap();
        assert_eq!(before.get("votes").unwrap(), Some(odm::bson::RawBsonRef::Null));
        behind_the_back(&store, "counters", doc! { "_id": 2 }, doc! { "$unset": { "votes": 1 } }).await;
        let done = db.counters.update_where(Filter::all()).inc(of.votes, 5).await.unwrap();
        assert_eq!(done.modified, 2);
        for id in [1, 2] {
            assert_eq!(db.counters.get(id).await.unwrap().votes, Some(5));
        }
        // In MongoDB's form it is an error, as in MongoDB.
        db.counters.update(1).set(of.votes, None).await.unwrap();
        let error = db.counters.update(1).raw(doc! { "$inc": { "votes": 1 } }).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidUpdate, Some(14)));
        assert_eq!(error.location().unwrap().path.as_deref(), Some("votes"));
    }
}
