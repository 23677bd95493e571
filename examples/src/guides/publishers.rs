//! One-to-many by reference: books in an array of the publisher, or the publisher in each book.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query, refused};

/// One author or several: the guides have both forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(untagged)]
pub enum Author {
    /// A name.
    One(String),
    /// Names.
    Several(Vec<String>),
}

/// A book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
pub struct Book {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// Who wrote it.
    #[embed]
    pub author: Author,
    /// When it came out.
    pub published_date: DateTime,
    /// How many pages it has.
    pub pages: i32,
    /// The language that it is in.
    pub language: String,
}

/// A publisher that holds references to its books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "publishers_with_books")]
pub struct PublisherWithBooks {
    /// A short name.
    #[serde(rename = "_id")]
    pub id: String,
    /// The full name.
    pub name: String,
    /// The year of its founding.
    pub founded: i32,
    /// Its state.
    pub location: String,
    /// Its books.
    #[reference(child)]
    pub books: Vec<Ref<Book>>,
}

/// A publisher whose books refer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "publishers")]
pub struct Publisher {
    /// A short name.
    #[serde(rename = "_id")]
    pub id: String,
    /// The full name.
    pub name: String,
    /// The year of its founding.
    pub founded: i32,
    /// Its state.
    pub location: String,
}

/// A book that refers to its publisher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books_with_publisher")]
pub struct PublishedBook {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// Who wrote it.
    #[embed]
    pub author: Author,
    /// When it came out.
    pub published_date: DateTime,
    /// How many pages it has.
    pub pages: i32,
    /// The language that it is in.
    pub language: String,
    /// Who published it.
    #[reference(parent)]
    pub publisher_id: Ref<Publisher>,
}

/// Both forms side by side.
#[derive(Database)]
#[database(name = "publishers", version = 1)]
pub struct Publishers {
    /// Publishers with an array of books.
    pub with_books: Repository<PublisherWithBooks>,
    /// The books in the arrays of publishers.
    pub books: Repository<Book>,
    /// Publishers to which books refer.
    pub publishers: Repository<Publisher>,
    /// The books that refer to them.
    pub published: Repository<PublishedBook>,
}

/// The guides' two books.
pub fn books() -> odm::Result<[Book; 2]> {
    let kristina = "Kristina Chodorow".to_owned();
    Ok([
        Book {
            id: 123456789,
            title: "MongoDB: The Definitive Guide".into(),
            author: Author::Several(vec![kristina.clone(), "Mike Dirolf".into()]),
            published_date: "2010-09-24".parse()?,
            pages: 216,
            language: "English".into(),
        },
        Book {
            id: 234567890,
            title: "50 Tips and Tricks for MongoDB Developer".into(),
            author: Author::One(kristina),
            published_date: "2011-05-06".parse()?,
            pages: 68,
            language: "English".into(),
        },
    ])
}

/// Stores the guides' documents.
pub async fn load(db: &Publishers) -> odm::Result<()> {
    let books = db.books.insert_many(books()?).await?;
    let publisher = PublisherWithBooks {
        id: "oreilly".into(),
        name: "O'Reilly Media".into(),
        founded: 1980,
        location: "CA".into(),
        books: books.iter().map(Ref::from).collect(),
    };
    let PublisherWithBooks {
        id,
        name,
        founded,
        location,
        ..
    } = db.with_books.insert(publisher).await?;

    let oreilly = db
        .publishers
        .insert(Publisher {
            id,
            name,
            founded,
            location,
        })
        .await?;
    let published = books.into_iter().map(|book| PublishedBook {
        id: book.id,
        title: book.title,
        author: book.author,
        published_date: book.published_date,
        pages: book.pages,
        language: book.language,
        publisher_id: Ref::from(&oreilly),
    });
    db.published.insert_many(published).await?;
    Ok(())
}

/// S5: the books of a publisher in its array, and the publisher in each book.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Publishers::open(screen.store()).await?;
    load(&db).await?;
    screen.model(
        include_str!("publishers.rs"),
        &["PublisherWithBooks", "PublishedBook"],
    );
    screen
        .stored(["publishers_with_books", "books", "books_with_publisher"])
        .await?;

    query!(
        screen,
        "publishers, joined with the books in their array",
        db.with_books.all().join(PublisherWithBooks::fields().books)
    );
    refused!(
        screen,
        "a book that a publisher lists is not deleted",
        db.books.delete(234567890)
    );
    let oreilly = db.publishers.get("oreilly").await?;
    query!(
        screen,
        "the other way: the newest book of a publisher",
        db.published
            .of(&oreilly)
            .sort(PublishedBook::fields().published_date.desc())
            .first()
    );
    let book = PublishedBook {
        id: 345678901,
        title: "Scaling MongoDB".into(),
        author: Author::One("Kristina Chodorow".into()),
        published_date: "2011-02-01".parse()?,
        pages: 66,
        language: "English".into(),
        publisher_id: Ref::from(&oreilly),
    };
    change!(
        screen,
        "a new book, by which no publisher grows",
        db.published.insert(book)
    );
    db.audit().await
}
