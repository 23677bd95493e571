//! An error names an unreadable document, with the path of the mistake, and the document is in nobody's way.

use futures_util::StreamExt as _;
use odm::{
    ErrorKind, Problem,
    bson::{Bson, RawDocumentBuf, doc, rawdoc},
    prelude::*,
    repository::Cursor,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Book {
    title: String,
    pages: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct History {
    founded: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    best: Vec<Book>,
    #[split(collection = "histories", key = "shelf", optional)]
    history: Cold<History>,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    shelves: Repository<Shelf>,
}

fn book(pages: u64) -> Book {
    Book { title: "t".into(), pages }
}

fn shelf(id: i32) -> Shelf {
    Shelf { id, best: vec![book(1); 4], history: Cold::new(History { founded: 1900 }) }
}

/// Shelves 0 to 9. Each of `broken` has a number for the title of its fourth book.
async fn with_broken(store: &impl TestStore, broken: &[i32]) -> Library {
    let db = Library::open(store.clone()).await.unwrap();
    db.shelves.insert_many((0..10).map(shelf)).await.unwrap();
    let wrong = doc! { "$set": { "best.3.title": 3 } };
    behind_the_back(store, "shelves", doc! { "_id": { "$in": broken } }, wrong).await;
    db
}

fn assert_names(error: &odm::Error, id: i32, path: &str, reason: &str) {
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Decode, "{text}");
    let location = error.location().unwrap();
    assert_eq!(location.collection, "shelves");
    assert_eq!(location.path.as_deref(), Some(path), "{text}");
    assert_eq!(location.id, Some(id.into()));
    for part in ["`shelves`", &format!("`_id` = {id}"), &format!("`{path}`: {reason}")] {
        assert!(text.contains(part), "{text}");
    }
}

/// The ids of the documents in a stream, and -1 for each unreadable document.
async fn streamed(db: &Library) -> Vec<i32> {
    let found = db.shelves.all().stream().map(|found| match found {
        Ok(shelf) => shelf.id,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Decode);
            -1
        }
    });
    found.collect().await
}

on_every_store! {
    async fn an_error_of_a_read_names_the_document_and_the_path_in_it(store: AnyStore) {
        let db = with_broken(&store, &[3]).await;
        let path = "best.3.title";
        let reason = "expected a string, found integer `3`";
        for error in [
            db.shelves.get(3).await.unwrap_err(),
            db.shelves.get_many([1, 3]).await.unwrap_err(),
            db.shelves.all().await.unwrap_err(),
            db.shelves.all().page(5).await.unwrap_err(),
            db.shelves.modify(3, |_| ()).await.unwrap_err(),
        ] {
            assert_names(&error, 3, path, reason);
        }
        let gone = doc! { "$unset": { "best.3.title": "" } };
        behind_the_back(&store, "shelves", doc! { "_id": 3 }, gone).await;
        assert_names(&db.shelves.get(3).await.unwrap_err(), 3, path, "the field is missing");

        let wrong = doc! { "$set": { "founded": "long ago" } };
        behind_the_back(&store, "histories", doc! { "shelf": 5 }, wrong).await;
        let field = Shelf::fields().history;
        let mut loaded = db.shelves.get(5).await.unwrap();
        for error in [
            db.shelves.get(5).with(field).await.unwrap_err(),
            db.shelves.load(&mut loaded, field).await.unwrap_err(),
        ] {
            assert_names(&error, 5, "history.founded", "expected i32, found string \"long ago\"");
        }
    }

    async fn an_error_of_a_value_that_cannot_be_stored_names_its_path(store: AnyStore) {
        let db = with_broken(&store, &[]).await;
        let before = stored(&store, "shelves").await;
        let large = Shelf { best: vec![book(1), book(u64::MAX)], ..shelf(3) };
        let best = Shelf::fields().best;
        for (error, id, path) in [
            (db.shelves.insert(large.clone()).await.unwrap_err(), Some(3), "best.1.pages"),
            (db.shelves.replace(large.clone()).await.unwrap_err(), Some(3), "best.1.pages"),
            (db.shelves.update(3).push(best, book(u64::MAX)).await.unwrap_err(), Some(3), "best.pages"),
            (db.shelves.update(3).set(best, large.best).await.unwrap_err(), Some(3), "best.1.pages"),
            (db.shelves.update_where(Filter::all()).push(best, book(u64::MAX)).await.unwrap_err(), None, "best.pages"),
        ] {
            let text = error.to_string();
            assert_eq!(error.kind(), ErrorKind::Encode, "{text}");
            let location = error.location().unwrap();
            assert_eq!((&*location.collection, location.path.as_deref()), ("shelves", Some(path)));
            assert_eq!(location.id, id.map(Into::into));
            assert!(text.contains("`shelves`") && text.contains(&format!("`{path}`")), "{text}");
            assert_eq!(text.contains("`_id` = 3"), id.is_some(), "{text}");
        }
        assert_eq!(stored(&store, "shelves").await, before);
    }

    async fn a_stream_goes_on_after_a_document_that_cannot_be_read(store: AnyStore) {
        let db = with_broken(&store, &[0, 4, 5, 9]).await;
        let expected = [-1, 1, 2, 3, -1, -1, 6, 7, 8, -1];
        assert_eq!(streamed(&db).await, expected);
        let inside = db.transaction(async |db| Ok(streamed(&db).await));
        assert_eq!(inside.await.unwrap(), expected);
        let mut limited = db.shelves.all().skip(3).limit(3).stream();
        let mut found = Vec::new();
        loop {
            match limited.try_next().await {
                Ok(None) => break,
                found_one => found.push(found_one.is_ok()),
            }
        }
        assert_eq!(found, [true, false, false]);
    }

    async fn a_page_that_cannot_be_read_is_passed_by_its_raw_form(store: AnyStore) {
        let db = with_broken(&store, &[0, 4, 5, 9]).await;
        let mut seen = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let query = || {
                let query = db.shelves.all().sort(Shelf::fields().id.desc());
                match &after {
                    None => query,
                    Some(cursor) => query.after(cursor),
                }
            };
            let next = match query().page(3).await {
                Ok(page) => {
                    seen.extend(page.items.iter().map(|shelf| Ok(shelf.id)));
                    page.next
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Decode);
                    let page = query().raw().page(3).await.unwrap();
                    seen.extend(page.items.iter().map(|raw| Err(raw.get_i32("_id").unwrap())));
                    page.next
                }
            };
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        // 9 and 5, 4, and 0 are in different pages.
        let expected = [Err(9), Err(8), Err(7), Err(6), Err(5), Err(4), Ok(3), Ok(2), Ok(1), Err(0)];
        assert_eq!(seen, expected);
    }

    async fn a_raw_read_gives_the_document_as_it_is_stored(store: AnyStore) {
        let db = with_broken(&store, &[3]).await;
        let odd = doc! {
            "_id": 77, "best": "none", "date": odm::bson::DateTime::from_millis(-1),
            "bin": Bson::Binary(odm::bson::Binary { subtype: 0x80.into(), bytes: vec![1, 2] }),
            "regex": odm::bson::Regex { pattern: "a.b".try_into().unwrap(), options: "i".try_into().unwrap() },
            "time": odm::bson::Timestamp { time: 3, increment: 4 },
            "decimal": "1.50".parse::<odm::bson::Decimal128>().unwrap(),
            "old": Bson::Symbol("s".into()), "code": Bson::JavaScriptCode("f()".into()),
            "min": Bson::MinKey, "max": Bson::MaxKey, "undefined": Bson::Undefined, "null": Bson::Null,
            "nested": [[{ "$oid": "no id" }], -0.0, i64::MAX],
        };
        insert_behind_the_back(&store, "shelves", odd.clone()).await;
        let odd = RawDocumentBuf::try_from(&odd).unwrap();
        assert_eq!(db.shelves.get(77).raw().await.unwrap(), odd);
        assert_eq!(db.shelves.get(78).raw().optional().await.unwrap(), None);
        let all = db.shelves.all().raw().await.unwrap();
        assert_eq!(all, stored(&store, "shelves").await);
        assert_eq!(db.shelves.get_many([77, 3]).raw().await.unwrap(), [odd, all[3].clone()]);
        // Cold parts are loaded as in any read.
        let whole = db.shelves.get(2).with(Shelf::fields().history).raw().await.unwrap();
        assert_eq!(whole.get_document("history").unwrap(), &*rawdoc! { "founded": 1900 });
        // The documents can be corrected.
        db.shelves.update(3).raw(doc! { "$set": { "best.3.title": "three" } }).await.unwrap();
        assert_eq!(db.shelves.get(3).await.unwrap().best[3].title, "three");
    }

    async fn an_audit_finds_the_documents_that_cannot_be_read(store: AnyStore) {
        let db = with_broken(&store, &[3, 7]).await;
        let wrong = doc! { "$set": { "founded": "long ago" } };
        behind_the_back(&store, "histories", doc! { "shelf": 5 }, wrong).await;
        for findings in [db.audit().await.unwrap(), db.repair().await.unwrap()] {
            let found: Vec<_> = findings
                .iter()
                .map(|of| (&*of.collection, &*of.path, of.problem.clone(), of.repaired))
                .collect();
            let mistyped = Problem::Unreadable("expected a string, found integer `3`".into());
            let history = Problem::Unreadable("expected i32, found string \"long ago\"".into());
            assert_eq!(found, [
                ("shelves", "best.3.title", mistyped.clone(), false),
                ("shelves", "best.3.title", mistyped, false),
                ("histories", "founded", history, false),
            ]);
            assert_eq!(findings[1].id, 7.into());
            assert_eq!(
                findings[1].to_string(),
                "unreadable document: `shelves.best.3.title` of the document with `_id` = 7: expected a \
                 string, found integer `3`",
            );
        }
    }
}
