//! Entity tags: of the shown document, for `If-None-Match`, and the version of the document, for `If-Match`.

use odm::{ETag, ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: String,
    title: String,
    #[reference(child)]
    author: Ref<Author>,
    #[denormalize(from = "Author.name", via = "author")]
    by: String,
    #[version]
    #[serde(rename = "rev")]
    revision: u32,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    authors: Repository<Author>,
    books: Repository<Book>,
}

async fn library(store: tests::AnyStore) -> (Library, Book) {
    let db = Library::open(store).await.unwrap();
    let author = db.authors.insert(Author { id: 1, name: "Ann".into() }).await.unwrap();
    let book = |id: &str| Book {
        id: id.into(),
        title: "One".into(),
        author: (&author).into(),
        by: String::new(),
        revision: 0,
    };
    db.books.insert(book("b")).await.unwrap();
    let book = db.books.insert(book("a")).await.unwrap();
    (db, book)
}

on_every_store! {
    async fn a_tag_changes_with_all_that_is_shown_and_its_version_with_the_document(store: AnyStore) {
        let (db, book) = library(store).await;
        let before = ETag::of(&book).unwrap();
        assert_eq!(ETag::of(&db.books.get("a").await.unwrap()).unwrap(), before);
        // A new name of the author changes the shown document alone.
        db.authors.update(1).set(Author::fields().name, "Anna").await.unwrap();
        let renamed = db.books.get("a").await.unwrap();
        assert_eq!((renamed.revision, &*renamed.by), (1, "Anna"));
        let after = ETag::of(&renamed).unwrap();
        assert!(!after.is_in(before.to_string()) && after.is_in(after.to_string()));

        let title = Book::fields().title;
        let update = |tag: &str| db.books.update("a").set(title, "Two").if_match(tag);
        assert_eq!(update(&before.to_string()).returning().await.unwrap().revision, 2);
        for stale in [before.to_string(), after.to_string()] {
            assert_eq!(update(&stale).await.unwrap_err().kind(), ErrorKind::Stale);
        }
    }

    async fn an_update_matches_one_of_a_list_of_tags_of_its_document(store: AnyStore) {
        let (db, book) = library(store).await;
        let (mine, others) = (ETag::of(&book).unwrap(), ETag::of(&db.books.get("b").await.unwrap()).unwrap());
        let title = Book::fields().title;
        let none = ["", "*x", "1", "\"1\"", "\"\"", ",", &mine.to_string()[1..], &format!("W/{mine}"), &others.to_string()];
        for header in none {
            let error = db.books.update("a").set(title, "Two").if_match(header).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Stale, "{header}");
        }
        assert_eq!(db.books.get("a").await.unwrap(), book);
        for header in [format!("\"x,y\" ,\t{others},{mine}"), " * ".to_owned()] {
            db.books.update("a").set(title, format!("by {header}")).if_match(&header).await.unwrap();
        }
        assert_eq!(db.books.get("a").await.unwrap().revision, 3);
        for header in ["*", &mine.to_string()] {
            let error = db.books.update("none").set(title, "Two").if_match(header).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
        // A version and another condition in one unit.
        let third = ETag::of(&db.books.get("a").await.unwrap()).unwrap().to_string();
        let both = (db.books.update("a").set(title, "Four").if_match(&third), db.books.delete("b"));
        db.bulk(both).await.unwrap();
        assert_eq!(db.books.get("a").await.unwrap().title, "Four");
    }
}

#[test]
fn a_tag_is_in_a_header_by_its_text_strong_or_weak() {
    let shown = (1, "text");
    let tag = |id: &str, version| ETag::new::<Book>(id, version, &shown).unwrap();
    let tags = [tag("a", 1), tag("b", 1), tag("a", 2), ETag::new::<Book>("a", 1, &2).unwrap()];
    for (at, one) in tags.iter().enumerate() {
        let text = one.to_string();
        assert!(text.starts_with('"') && text.ends_with('"') && text.is_ascii());
        for header in ["*".to_owned(), format!("W/{text}"), format!("\"a,b\", W/\"c\",{text}")] {
            assert!(one.is_in(&header), "{header}");
        }
        for header in
            ["", "\"\"", "W/", &text[1..], &text[..text.len() - 1], &format!("\"x{}", &text[1..])]
        {
            assert!(!one.is_in(header), "{header}");
        }
        assert!(!one.is_in([0xff, b'"']));
        let others = tags.iter().enumerate().filter(|(other, _)| *other != at);
        assert!(others.into_iter().all(|(_, other)| !one.is_in(other.to_string())));
    }
}
