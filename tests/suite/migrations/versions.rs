//! Twelve versions of one library of books.

use futures_util::future::BoxFuture;
use odm::{
    Result,
    bson::{self, Document as Plain, doc},
    migration::{Migrations, Step},
    prelude::*,
    store::contract::Store,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One version of the program.
pub(crate) trait Program: Send + Sync {
    fn insert(&self, collection: &str, document: Plain) -> BoxFuture<'_, Result<()>>;
    fn backfill(&self) -> BoxFuture<'_, Result<()>>;
    /// The findings of an audit, in words, and the number of readable documents.
    fn audit(&self) -> BoxFuture<'_, Result<(Vec<String>, usize)>>;
}

fn read<T: DeserializeOwned>(document: Plain) -> T {
    bson::deserialize_from_document(document).expect("the oracle makes documents of the version")
}

macro_rules! versions {
    ($($module:ident $number:tt { $($models:tt)* } { $($repository:ident: $model:ident),* })*) => {
        $(mod $module {
            use super::*;

            $($models)*

            fn steps() -> Migrations {
                steps_to($number)
            }

            #[derive(Database)]
            #[database(name = "library", version = $number, migrations = steps)]
            pub(super) struct Library {
                $($repository: Repository<$model>,)*
            }

            impl Program for Library {
                fn insert(&self, collection: &str, document: Plain) -> BoxFuture<'_, Result<()>> {
                    match collection {
                        $(stringify!($repository) => {
                            let document: $model = read(document);
                            Box::pin(async move { self.$repository.insert(document).await.map(drop) })
                        })*
                        other => panic!("there is no {other}"),
                    }
                }

                fn backfill(&self) -> BoxFuture<'_, Result<()>> {
                    Box::pin(async move { Database::backfill(self).await.map(drop) })
                }

                fn audit(&self) -> BoxFuture<'_, Result<(Vec<String>, usize)>> {
                    Box::pin(async move {
                        let found = Database::audit(self).await?;
                        let mut number = 0;
                        $(number += self.$repository.all().await?.len();)*
                        Ok((found.iter().map(ToString::to_string).collect(), number))
                    })
                }
            }
        })*

        /// Opens a version of the program.
        pub(crate) async fn open(version: usize, store: impl Store) -> Result<Box<dyn Program>> {
            Ok(match version {
                $($number => Box::new($module::Library::open(store).await?),)*
                other => panic!("there is no version {other}"),
            })
        }
    };
}

/// The models, each with a number as its `_id`.
macro_rules! models {
    ($($(#[$on:meta])* $name:ident { $($fields:tt)* })*) => { $(
        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        $(#[$on])*
        pub(super) struct $name {
            #[serde(rename = "_id")]
            id: i64,
            $($fields)*
        }
    )* };
}

macro_rules! author {
    ($($fields:tt)*) => {
        models! { #[document(collection = "authors")] Author {
            name: String,
            #[count(of = "Book")]
            books: i64,
            $($fields)*
        } }
    };
}

/// The authors from version 10 on.
macro_rules! newest {
    () => {
        author! {
            #[subset(limit = 2, sort = "-cents")]
            newest: Subset<Shown>,
        }

        #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
        #[projection(of = "Book")]
        struct Shown {
            #[serde(rename = "_id")]
            id: i64,
            name: String,
            cents: i64,
        }
    };
}

/// The books from version 9 on.
macro_rules! last {
    (#[$on:meta] $($fields:tt)*) => {
        models! { #[$on] Book {
            name: String,
            #[embed]
            detail: Detail,
            cents: i64,
            isbn: Option<String>,
            #[embed]
            #[serde(default)]
            lines: Vec<Line>,
            #[reference(parent)]
            author: Ref<Author>,
            #[denormalize(from = "Author.name", via = "author")]
            author_name: String,
            $($fields)*
        } }
    };
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct OldLine {
    t: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Line {
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Detail {
    pages: i32,
}

versions! {
    v1 1 {
        author! {}
        models! { #[document(collection = "books")] Book {
            title: String,
            pages: i32,
            price: f64,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book }
    v2 2 {
        author! {}
        models! { #[document(collection = "books", renamed(from = "title", to = "name"))] Book {
            name: String,
            pages: i32,
            price: f64,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book }
    v3 3 {
        author! {}
        models! { #[document(collection = "books", renamed(from = "title", to = "name"))] Book {
            name: String,
            pages: i32,
            cents: i64,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book }
    v4 4 {
        author! {}
        models! { #[document(collection = "books", renamed(from = "title", to = "name"))] Book {
            name: String,
            pages: i32,
            cents: i64,
            lang: String,
            isbn: Option<String>,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book }
    v5 5 {
        author! {}
        models! { #[document(collection = "books", renamed(from = "title", to = "name"))] Book {
            name: String,
            pages: i32,
            cents: i64,
            lang: String,
            isbn: Option<String>,
            #[embed]
            #[serde(default)]
            lines: Vec<OldLine>,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book }
    v6 6 {
        author! {}
        models! {
            #[document(
                collection = "books",
                renamed(from = "title", to = "name"),
                renamed(from = "lines.t", to = "lines.text")
            )]
            Book {
                name: String,
                pages: i32,
                cents: i64,
                lang: String,
                isbn: Option<String>,
                #[embed]
                #[serde(default)]
                lines: Vec<Line>,
                #[reference(parent)]
                author: Ref<Author>,
            }
        }
    } { authors: Author, books: Book }
    v7 7 {
        author! {}
        models! {
            #[document(
                collection = "books",
                renamed(from = "title", to = "name"),
                renamed(from = "lines.t", to = "lines.text")
            )]
            Book {
                name: String,
                pages: i32,
                cents: i64,
                lang: String,
                isbn: Option<String>,
                #[embed]
                #[serde(default)]
                lines: Vec<Line>,
                #[reference(parent)]
                author: Ref<Author>,
                #[denormalize(from = "Author.name", via = "author")]
                author_name: String,
            }
        }
    } { authors: Author, books: Book }
    v8 8 {
        author! {}
        models! {
            #[document(
                collection = "books",
                renamed(from = "title", to = "name"),
                renamed(from = "lines.t", to = "lines.text")
            )]
            Book {
                name: String,
                #[split(collection = "details", key = "_id")]
                detail: Cold<Detail>,
                cents: i64,
                lang: String,
                isbn: Option<String>,
                #[embed]
                #[serde(default)]
                lines: Vec<Line>,
                #[reference(parent)]
                author: Ref<Author>,
                #[denormalize(from = "Author.name", via = "author")]
                author_name: String,
            }
        }
    } { authors: Author, books: Book }
    v9 9 {
        author! {}
        last! { #[document(
            collection = "books",
            renamed(from = "title", to = "name"),
            renamed(from = "lines.t", to = "lines.text")
        )] lang: String, }
    } { authors: Author, books: Book }
    v10 10 {
        newest! {}
        last! { #[document(
            collection = "books",
            renamed(from = "title", to = "name"),
            renamed(from = "lines.t", to = "lines.text")
        )] lang: String, }
    } { authors: Author, books: Book }
    v11 11 {
        newest! {}
        last! { #[document(
            collection = "books",
            renamed(from = "title", to = "name"),
            renamed(from = "lines.t", to = "lines.text")
        )] lang: String, }
    } { authors: Author, books: Book }
    v12 12 {
        newest! {}
        last! { #[document(
            collection = "books",
            renamed(from = "title", to = "name"),
            renamed(from = "lines.t", to = "lines.text")
        )] }
        models! { #[document(collection = "german_books")] German {
            name: String,
            #[embed]
            #[serde(default)]
            lines: Vec<Line>,
            #[reference(parent)]
            author: Ref<Author>,
        } }
    } { authors: Author, books: Book, german_books: German }
}

/// The steps up to a version. Renames stand on the models.
fn steps_to(version: u32) -> Migrations {
    let cents = |euros: f64| (euros * 100.0).round() as i64;
    let all = [
        (3, vec![Step::change("books", "price", cents), Step::rename("books", "price", "cents")]),
        (4, vec![Step::add("books", "lang", "en")]),
        (
            8,
            vec![Step::map("books", |mut book: Plain| {
                if let Some(pages) = book.remove("pages") {
                    book.insert("detail", doc! { "pages": pages });
                }
                book
            })],
        ),
        (9, vec![Step::inline("books", "detail")]),
        (
            11,
            vec![
                Step::change("books", "cents", |cents: i64| cents * 10),
                Step::change("authors", "name", |name: String| name.to_uppercase()),
            ],
        ),
        (
            12,
            vec![
                Step::move_documents("books", "german_books", doc! { "lang": "de" }),
                Step::remove("german_books", "detail"),
                Step::remove("german_books", "author_name"),
                Step::remove("books", "lang"),
            ],
        ),
    ];
    let own = all.into_iter().filter(|(to, _)| *to <= version);
    own.fold(Migrations::new(), |migrations, (to, steps)| migrations.to(to, steps))
}
