//! Children on which the filter of a count and a subset fails: it is not known whether they count, so no write stores one, and a child that
//! is stored by other means can be taken away.

use odm::{
    ErrorKind, Finding, Problem, Result,
    bson::{Document, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_local_stores};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Book", filter = plain)]
    plain: i64,
    #[subset(limit = 2, sort = "id", filter = plain)]
    first: Subset<Book>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    shelf: Ref<Shelf>,
    title: String,
}

/// An expression that takes more steps than the bound on [`costly`] titles.
const PLAIN: &str = "^(a+)+(?!c)$";

fn plain() -> Filter<Book> {
    Filter::raw(doc! { "title": { "$regex": PLAIN } })
}

fn costly() -> String {
    format!("{}b", "a".repeat(60))
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    shelves: Repository<Shelf>,
    books: Repository<Book>,
}

fn book(id: i32, shelf: i32, title: impl Into<String>) -> Book {
    Book { id, shelf: Ref::new(shelf), title: title.into() }
}

/// Two shelves, each with a book that counts and a book that does not.
async fn library(store: impl TestStore) -> Library {
    let db = Library::open(store).await.unwrap();
    let shelves = [1, 2].map(|id| Shelf { id, plain: 0, first: Subset::new() });
    db.shelves.insert_many(shelves).await.unwrap();
    let books = [book(1, 1, "a"), book(2, 1, "b"), book(3, 2, "aa"), book(4, 2, "c")];
    db.books.insert_many(books).await.unwrap();
    db
}

/// The numbers and the shown books of both shelves.
async fn shelves(db: &Library) -> [(i64, Vec<i32>); 2] {
    let shelves = db.shelves.all().await.unwrap();
    let shelves = shelves.into_iter().map(|shelf| {
        let first = shelf.first.iter().map(|book| book.id);
        (shelf.plain, first.collect())
    });
    shelves.collect::<Vec<_>>().try_into().unwrap()
}

async fn set_title(db: &Library, filter: Filter<Book>, title: &str) -> Result<()> {
    let update: Document = doc! { "$set": { "title": title } };
    db.books.update_where(filter).raw(update).await.map(drop)
}

/// The `_id`s and the paths of the fields that could not be checked.
fn failed(findings: &[Finding]) -> Vec<(i32, String)> {
    let failed = findings.iter().filter(|found| matches!(found.problem, Problem::CheckFailed(_)));
    let failed = failed.map(|found| {
        assert!(!found.repaired);
        (found.id.as_i32().unwrap(), found.path.clone())
    });
    failed.collect()
}

/// The same books before and after a version with a count.
mod plain_library {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "shelves")]
    pub(super) struct Shelf {
        #[serde(rename = "_id")]
        pub(super) id: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "books")]
    pub(super) struct Book {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) shelf: i32,
        pub(super) title: String,
    }

    #[derive(Database)]
    #[database(name = "library", version = 1)]
    pub(super) struct Library {
        pub(super) shelves: Repository<Shelf>,
        pub(super) books: Repository<Book>,
    }

    pub(super) mod newer {
        use super::*;

        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[document(collection = "shelves")]
        pub(in super::super) struct Shelf {
            #[serde(rename = "_id")]
            pub(in super::super) id: i32,
            #[serde(default)]
            #[count(of = "Book", filter = plain)]
            pub(in super::super) plain: i64,
        }

        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[document(collection = "books")]
        pub(in super::super) struct Book {
            #[serde(rename = "_id")]
            pub(in super::super) id: i32,
            #[reference(parent)]
            pub(in super::super) shelf: Ref<Shelf>,
            pub(in super::super) title: String,
        }

        fn plain() -> Filter<Book> {
            Filter::raw(doc! { "title": { "$regex": PLAIN } })
        }

        #[derive(Database)]
        #[database(name = "library", version = 2)]
        pub(in super::super) struct Library {
            pub(in super::super) shelves: Repository<Shelf>,
            pub(in super::super) books: Repository<Book>,
        }
    }
}

on_local_stores! {
    async fn no_write_stores_a_child_on_which_a_filter_fails(store: AnyStore) {
        let db = library(store.clone()).await;
        let before = shelves(&db).await;
        let one = || Book::fields().id.eq(1);
        let many = vec![book(7, 2, "a"), book(5, 1, costly())];
        let upsert = db.books.update_where(Book::fields().id.eq(5)).upsert();
        let refused: [(i32, Result<()>); 7] = [
            (5, db.books.insert(book(5, 1, costly())).await.map(drop)),
            (5, db.books.insert_many(many).await.map(drop)),
            (1, db.books.update(1).set(Book::fields().title, costly()).await.map(drop)),
            (1, set_title(&db, one(), &costly()).await),
            (1, db.books.replace(book(1, 1, costly())).await.map(drop)),
            (5, db.books.upsert(book(5, 1, costly())).await.map(drop)),
            (5, upsert.raw(doc! { "$set": { "shelf": 1, "title": costly() } }).await.map(drop)),
        ];
        for (id, refused) in refused {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FailedFilter, "{error}");
            let text = error.to_string();
            let whose = format!(" on the document of `books` with `_id` = {id}: ");
            for part in ["failed filter: that of `shelves.plain`", &whose, PLAIN] {
                assert!(text.contains(part), "{part} in {text}");
            }
            let location = error.location().unwrap();
            assert_eq!((&*location.collection, location.id.clone()), ("books", Some(id.into())));
        }
        assert_eq!(shelves(&db).await, before);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_child_on_which_a_filter_fails_can_be_deleted_and_corrected(store: AnyStore) {
        type Rescue = (&'static str, fn(Library) -> futures_util::future::BoxFuture<'static, Result<()>>);
        let rescues: [Rescue; 6] = [
            ("delete", |db| Box::pin(async move { db.books.delete(1).await.map(drop) })),
            ("delete_where", |db| Box::pin(async move {
                db.books.delete_where(Book::fields().id.lt(3)).await.map(drop)
            })),
            ("unset", |db| Box::pin(async move {
                let update = doc! { "$set": { "title": "short" } };
                db.books.update_where(Book::fields().id.eq(1)).raw(update).await.map(drop)
            })),
            ("set", |db| Box::pin(async move {
                db.books.update(1).set(Book::fields().title, "a").await.map(drop)
            })),
            ("replace", |db| Box::pin(async move { db.books.replace(book(1, 2, "a")).await.map(drop) })),
            ("delete of the parent's children", |db| Box::pin(async move {
                db.books.delete_where(Filter::all()).await.map(drop)
            })),
        ];
        for (name, rescue) in rescues {
            let db = library(store.clone()).await;
            // A book that counted, so that a difference to its present contribution would be wrong.
            behind_the_back(&store, "books", doc! { "_id": 1 }, doc! { "$set": { "title": costly() } }).await;
            let failed = failed(&db.audit().await.unwrap());
            assert_eq!(failed, [(1, "plain".into()), (1, "first".into())], "{name}");
            rescue(db.clone()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(db.audit().await.unwrap(), [], "{name}");
            db.books.delete_where(Filter::all()).await.unwrap();
            db.shelves.delete_where(Filter::all()).await.unwrap();
        }
    }

    async fn a_child_from_elsewhere_on_which_a_filter_fails_concerns_its_own_parent_alone(store: AnyStore) {
        let db = library(store.clone()).await;
        let failing = doc! { "_id": 9, "shelf": 1, "title": costly() };
        insert_behind_the_back(&store, "books", failing).await;
        db.books.insert(book(5, 2, "aaa")).await.unwrap();
        db.books.delete(3).await.unwrap();
        db.books.delete(9).await.unwrap();
        assert_eq!(shelves(&db).await, [(1, vec![1]), (1, vec![5])]);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn an_audit_goes_on_past_a_child_on_which_a_filter_fails_and_names_it(store: AnyStore) {
        let db = library(store.clone()).await;
        behind_the_back(&store, "books", doc! { "_id": 3 }, doc! { "$set": { "title": costly() } }).await;
        behind_the_back(&store, "shelves", doc! { "_id": 1 }, doc! { "$set": { "plain": 7_i64 } }).await;
        for (findings, repairs) in [
            (db.audit().await.unwrap(), false),
            (db.repair().await.unwrap(), true),
            (db.audit().await.unwrap(), true),
        ] {
            assert_eq!(failed(&findings), [(2, "plain".into()), (2, "first".into())]);
            let Problem::CheckFailed(error) = &findings.last().unwrap().problem else { panic!() };
            assert!(error.starts_with("failed filter: on the document of `books` with `_id` = 3, "), "{error}");
            let count = findings.iter().find(|finding| finding.id == 1.into());
            let count = count.map(|finding| (&*finding.path, finding.repaired));
            assert!(count == Some(("plain", repairs)) || count.is_none() && repairs, "{findings:?}");
        }
        assert_eq!(shelves(&db).await[0], (1, vec![1]));
    }

    async fn a_backfill_that_meets_a_failing_filter_completes_the_rest_and_leaves_the_field_pending(store: AnyStore) {
        let before = plain_library::Library::open(store.clone()).await.unwrap();
        before.shelves.insert_many([1, 2].map(|id| plain_library::Shelf { id })).await.unwrap();
        let books = [(1, 1, costly()), (2, 1, costly()), (3, 2, "a".into())];
        let books = books.map(|(id, shelf, title)| plain_library::Book { id, shelf, title });
        before.books.insert_many(books).await.unwrap();

        let db = plain_library::newer::Library::open(store.clone()).await.unwrap();
        let findings = db.backfill().await.unwrap();
        assert_eq!(failed(&findings), [(1, "plain".into())]);
        assert_eq!(db.shelves.get(2).await.unwrap().plain, 1);
        assert_eq!(db.pending_backfills(), ["shelves.plain"]);
        // One write takes them both away.
        db.books.delete_where(plain_library::newer::Book::fields().id.lt(3)).await.unwrap();
        db.backfill().await.unwrap();
        assert_eq!(db.shelves.get(1).await.unwrap().plain, 0);
        assert!(db.pending_backfills().is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
