//! The writes by the library.

use std::time::Duration;

use mongodb::Client;
use odm::{ErrorKind, MongoDb, OpenOptions, prelude::*};
use serde::{Deserialize, Serialize};

use super::{Act, Outcome, Sizes};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
pub(super) struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    changes: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
pub(super) struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    visits: i64,
    #[subset(limit = 2, sort = "-pages")]
    longest: Subset<Line>,
    #[count(of = "Book")]
    books: i64,
    #[count(of = "Book", refresh = "later")]
    books_later: i64,
    #[denormalize(from = "Book.author_later", via = "Book.shelf", refresh = "later")]
    authors_later: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "books", index(fields = "pages"))]
pub(super) struct Book {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(child, on_delete = "cascade")]
    author: Ref<Author>,
    #[denormalize(from = "Author.name")]
    author_name: String,
    #[denormalize(from = "Author.name", refresh = "later")]
    author_later: String,
    #[reference(parent, on_delete = "cascade")]
    shelf: Ref<Shelf>,
    pages: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Book")]
struct Line {
    #[serde(rename = "_id")]
    id: ObjectId,
    author_name: String,
    pages: i32,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
pub(super) struct Library {
    authors: Repository<Author>,
    shelves: Repository<Shelf>,
    books: Repository<Book>,
}

fn shelf(id: i32) -> Shelf {
    Shelf {
        id,
        visits: 0,
        longest: Subset::default(),
        books: 0,
        books_later: 0,
        authors_later: Vec::new(),
    }
}

fn book(author: i32, shelf: i32, pages: i32) -> Book {
    Book {
        id: ObjectId::new(),
        author: Ref::new(author),
        author_name: String::new(),
        author_later: String::new(),
        shelf: Ref::new(shelf),
        pages,
    }
}

/// Opens it without a worker.
pub(super) async fn open(client: &Client, database: &str) -> anyhow::Result<Library> {
    let store = MongoDb::new(client, database).await?;
    let options = OpenOptions::default().refresh_every(None);
    Ok(Library::open_with(store, options).await?)
}

/// Opens it with a worker, and waits forever.
pub(super) async fn work(client: &Client, database: &str) -> anyhow::Result<()> {
    let store = MongoDb::new(client, database).await?;
    let options = OpenOptions::default().refresh_every(Duration::from_millis(50));
    let _library = Library::open_with(store, options).await?;
    std::future::pending().await
}

pub(super) async fn fill(library: &Library, sizes: Sizes) -> odm::Result<()> {
    let name = |id| format!("author {id}");
    let authors = (1..=sizes.authors as i32).map(|id| Author {
        id,
        name: name(id),
        changes: 0,
    });
    library.authors.insert_many(authors).await?;
    library
        .shelves
        .insert_many((1..=sizes.shelves as i32).map(shelf))
        .await?;
    for number in 0..sizes.books.div_ceil(1_000) {
        let from = number * 1_000;
        let books = (from..sizes.books.min(from + 1_000)).map(|of| {
            let author = 1 + of % sizes.authors;
            let shelf = 1 + of % sizes.shelves;
            book(author as i32, shelf as i32, 1 + of as i32)
        });
        library.books.insert_many(books).await?;
    }
    library.wait_for_refreshes().await
}

/// Makes sure that an audit finds no errors.
pub(super) async fn check(client: &Client, database: &str) -> anyhow::Result<()> {
    let library = open(client, database).await?;
    library.wait_for_refreshes().await?;
    let found = library.audit().await?;
    anyhow::ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

pub(super) async fn act(library: &Library, act: Act) -> anyhow::Result<Outcome> {
    let of_pages = |pages: i32| Book::fields().pages.eq(pages);
    let done = match act {
        Act::Insert {
            author,
            shelf,
            pages,
        } => library
            .books
            .insert(book(author, shelf, pages))
            .await
            .map(drop),
        Act::Remove { pages } => library.books.delete_where(of_pages(pages)).await.map(drop),
        Act::Move { pages, shelf } => {
            let moved = library.books.update_where(of_pages(pages));
            moved.set(Book::fields().shelf, shelf).await.map(drop)
        }
        Act::Visit { shelf } => {
            library
                .shelves
                .update(shelf)
                .inc(Shelf::fields().visits, 1)
                .await
        }
        Act::Empty { shelf: id } => {
            let unit = library.transaction(async |library| {
                library.shelves.delete(id).await?;
                library.shelves.insert(shelf(id)).await.map(drop)
            });
            unit.await
        }
        Act::Rename { author, name } => {
            let changed = library
                .authors
                .update(author)
                .set(Author::fields().name, name);
            changed.inc(Author::fields().changes, 1).await
        }
    };
    match done {
        Ok(()) => Ok(Outcome::Done),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::DanglingReference
            ) =>
        {
            Ok(Outcome::Absent)
        }
        Err(error) if error.is_retryable() => Ok(Outcome::Lost),
        Err(error) => Err(error.into()),
    }
}
