//! Inserts of the fields that only a caller knows: `#[document(new = "..")]` and `#[id(auto)]`.

use std::collections::HashSet;

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors", new(name = "NewAuthor", derive(Debug, Clone, Deserialize)))]
#[serde(rename_all = "camelCase")]
struct Author {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    /// The printed name.
    #[index(unique)]
    full_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_names: Vec<String>,
    #[count(of = "Book")]
    books: i64,
    #[subset(limit = 2, sort = "-year")]
    latest: Subset<BookLine>,
    #[created_at]
    created_at: DateTime,
    #[version]
    revision: i32,
    #[serde(skip)]
    cached: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books", new = "NewBook")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[validate(min = 1450)]
    year: i32,
    #[reference(parent)]
    author: Ref<Author>,
    /// It has no default.
    #[denormalize(from = "Author.full_name")]
    author_name: String,
    #[split(collection = "texts", key = "book")]
    text: Cold<Text>,
    #[updated_at]
    updated_at: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Text {
    pages: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Book")]
struct BookLine {
    year: i32,
}

/// Its new form has no further fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "words", new = "NewWord")]
#[serde(crate = "serde")]
#[expect(non_snake_case, reason = "an expected lint need not be found in the struct of a new one")]
struct Word {
    pluralForm: Option<String>,
    #[serde(rename = "_id")]
    id: String,
    count: i64,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    authors: Repository<Author>,
    books: Repository<Book>,
    words: Repository<Word>,
}

fn author(name: &str) -> NewAuthor {
    NewAuthor { full_name: name.into(), other_names: Vec::new() }
}

fn book(id: i32, author: &Author) -> NewBook {
    let text = Cold::new(Text { pages: vec!["once".into()] });
    NewBook { id, year: 1900 + id, author: Ref::from(author), text }
}

on_every_store! {
    async fn an_insert_adds_what_the_caller_does_not_give(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let start = DateTime::now();
        let ann = library.authors.insert(author("Ann")).await.unwrap();
        assert_eq!((ann.full_name.as_str(), ann.books, ann.revision), ("Ann", 0, 1));
        assert!(ann.created_at >= start && ann.latest.is_empty());
        assert_eq!(library.authors.get(ann.id).await.unwrap(), ann);

        let inserted = library.books.insert(book(1, &ann)).await.unwrap();
        assert_eq!((inserted.id, inserted.author_name.as_str()), (1, "Ann"));
        let read = library.books.get(1).with(Book::fields().text).await.unwrap();
        assert_eq!(read, inserted);
        let ann = library.authors.get(ann.id).await.unwrap();
        assert_eq!((ann.books, ann.latest[0].year), (1, 1901));

        let word = Word { pluralForm: None, id: "a".into(), count: 1 };
        let new = NewWord { pluralForm: None, id: "a".into(), count: 1 };
        assert_eq!(library.words.insert(new).await.unwrap(), word);
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn many_are_inserted_as_one_unit(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let authors = (0..300).map(|n| author(&format!("author {n}")));
        let inserted = library.authors.insert_many(authors).await.unwrap();
        let ids: HashSet<ObjectId> = inserted.iter().map(|author| author.id).collect();
        assert_eq!(ids.len(), 300, "every `_id` is another");
        let mut ordered: Vec<ObjectId> = inserted.iter().map(|author| author.id).collect();
        ordered.sort();
        assert!(ordered.iter().eq(inserted.iter().map(|author| &author.id)), "ids rise");

        let error = library.authors.insert_many([author("new"), author("author 7")]).await;
        assert!(error.unwrap_err().is_duplicate_key());
        assert_eq!(library.authors.all().count().await.unwrap(), 300);
        let none: Vec<NewAuthor> = Vec::new();
        assert_eq!(library.authors.insert_many(none).await.unwrap(), []);
    }

    async fn a_new_document_is_validated_as_a_whole_one(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let ann = library.authors.insert(author("Ann")).await.unwrap();
        let early = NewBook { year: 3, ..book(1, &ann) };
        let error = library.books.insert(early).await.unwrap_err();
        assert_eq!(error.violations()[0].path, "year");
        let nobody = NewBook { author: Ref::new(ObjectId::new()), ..book(2, &ann) };
        assert!(library.books.insert(nobody).await.unwrap_err().is_dangling_reference());
        let plan = library.books.insert(book(3, &ann)).plan().await.unwrap();
        assert!(plan.to_string().contains("books"), "{plan}");
        assert_eq!(library.books.all().count().await.unwrap(), 0);
    }

    async fn a_whole_document_keeps_the_id_that_its_caller_gives(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let ann = library.authors.insert(author("Ann")).await.unwrap();
        let id = ObjectId::new();
        let bob = Author { id, full_name: "Bob".into(), ..ann };
        assert_eq!(library.authors.insert(bob).await.unwrap().id, id);
    }
}

#[test]
fn a_new_document_is_read_from_a_request() {
    let body = serde_json::json!({ "fullName": "Ann", "books": 7 });
    let new: NewAuthor = serde_json::from_value(body).unwrap();
    assert_eq!((new.full_name.as_str(), new.other_names.len()), ("Ann", 0));
}
