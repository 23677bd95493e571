//! Derived fields of all kinds, of which each program declares some, or none.

use std::collections::BTreeMap;

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

/// A program that declares nothing.
mod plain {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "shelves")]
    pub(super) struct Shelf {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) above: Option<i64>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "books")]
    pub(super) struct Book {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) shelf: i64,
        pub(super) title: String,
        pub(super) price: i64,
    }

    #[derive(Database)]
    #[database(name = "plain", version = 1)]
    pub(super) struct Library {
        pub(super) shelves: Repository<Shelf>,
        pub(super) books: Repository<Book>,
    }
}

/// Programs that declare derived fields of shelves and of books.
macro_rules! program {
    ($module:ident, $name:literal, [$($shelf:tt)*], [$($book:tt)*]) => {
        #[allow(dead_code, reason = "some programs are opened alone")]
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "shelves")]
            pub(super) struct Shelf {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) above: Option<Ref<Shelf>>,
                $($shelf)*
            }

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "books")]
            pub(super) struct Book {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) shelf: Ref<Shelf>,
                pub(super) title: String,
                pub(super) price: i64,
                $($book)*
            }

            #[derive(Database)]
            #[database(name = $name, version = 1)]
            pub(super) struct Library {
                pub(super) shelves: Repository<Shelf>,
                pub(super) books: Repository<Book>,
            }
        }
    };
}

program!(
    totals,
    "totals",
    [
        #[ancestors(via = "above")]
        pub(super) path: Ancestors<Shelf>,
        #[sum(of = "Book.price", via = "path")]
        pub(super) worth: i64,
        #[max(of = "Book.price")]
        pub(super) dearest: Option<i64>,
        #[exists(of = "Book", filter = free)]
        pub(super) has_free: bool,
    ],
    [
        #[ancestors(via = "shelf")]
        pub(super) path: Ancestors<Shelf>,
    ]
);
program!(
    numbers,
    "numbers",
    [
        #[max(of = "Book.number")]
        pub(super) last: Option<i64>,
    ],
    [
        #[sequence(within = "shelf")]
        pub(super) number: i64,
        #[computed(format!("{number}. {title}"))]
        pub(super) label: String,
        #[computed(words(&title))]
        #[index]
        pub(super) words: Vec<String>,
    ]
);

fn free() -> Filter<totals::Book> {
    totals::Book::fields().price.eq(0)
}

fn shelf(id: i64, above: Option<i64>) -> plain::Shelf {
    plain::Shelf { id, above }
}

fn book(id: i64, shelf: i64, title: &str, price: i64) -> plain::Book {
    plain::Book { id, shelf, title: title.to_owned(), price }
}

struct Programs {
    plain: plain::Library,
    totals: totals::Library,
    numbers: numbers::Library,
}

impl Programs {
    /// Three programs, of which the plain one has written the first documents: 2 and 3 are below 1, 4 is below 3.
    async fn open(store: &impl TestStore, plain: plain::Library) -> Programs {
        let totals = totals::Library::open(store.clone()).await.unwrap();
        let numbers = numbers::Library::open(store.clone()).await.unwrap();
        Programs { plain, totals, numbers }
    }

    /// All derived values agree with the references; the numbers are those of the history.
    async fn assert_right(&self, numbered: &[(i64, i64)]) {
        let shelves = self.totals.shelves.all().await.unwrap();
        let above: BTreeMap<i64, Option<i64>> =
            shelves.iter().map(|shelf| (shelf.id, shelf.above.map(|above| *above.id()))).collect();
        let path = |mut next: Option<i64>| {
            let mut path = Vec::new();
            while let Some(id) = next {
                path.insert(0, id);
                next = above[&id];
            }
            path
        };
        let ids =
            |path: &Ancestors<totals::Shelf>| path.iter().map(|of| *of.id()).collect::<Vec<_>>();
        let books = self.totals.books.all().await.unwrap();
        for book in &books {
            assert_eq!(ids(&book.path), path(Some(*book.shelf.id())), "{book:?}");
        }
        for shelf in &shelves {
            assert_eq!(ids(&shelf.path), path(above[&shelf.id]), "{shelf:?}");
            let below = books.iter().filter(|book| ids(&book.path).contains(&shelf.id));
            assert_eq!(shelf.worth, below.map(|book| book.price).sum::<i64>(), "{shelf:?}");
            let own = || books.iter().filter(|book| *book.shelf.id() == shelf.id);
            assert_eq!(shelf.dearest, own().map(|book| book.price).max(), "{shelf:?}");
            assert_eq!(shelf.has_free, own().any(|book| book.price == 0), "{shelf:?}");
        }
        let mut last = BTreeMap::new();
        let mut numbers = Vec::new();
        for book in self.numbers.books.all().await.unwrap() {
            assert_eq!(book.label, format!("{}. {}", book.number, book.title));
            let words = book.title.to_lowercase();
            let mut words: Vec<&str> = words.split(' ').collect();
            words.sort_unstable();
            assert_eq!(book.words, words);
            let last = last.entry(*book.shelf.id()).or_insert(book.number);
            *last = book.number.max(*last);
            numbers.push((book.id, book.number));
        }
        numbers.sort_unstable();
        assert_eq!(numbers, numbered);
        for shelf in self.numbers.shelves.all().await.unwrap() {
            assert_eq!(shelf.last.as_ref(), last.get(&shelf.id), "{shelf:?}");
        }
        assert_eq!(self.totals.audit().await.unwrap(), []);
        assert_eq!(self.numbers.audit().await.unwrap(), []);
        assert_eq!(self.plain.audit().await.unwrap(), []);
    }
}

async fn filled(store: &impl TestStore) -> plain::Library {
    let plain = plain::Library::open(store.clone()).await.unwrap();
    let shelves = [shelf(1, None), shelf(2, Some(1)), shelf(3, Some(1)), shelf(4, Some(3))];
    plain.shelves.insert_many(shelves).await.unwrap();
    let books =
        [book(1, 2, "Red Mars", 5), book(2, 4, "Green Mars", 0), book(3, 2, "Blue Mars", 7)];
    plain.books.insert_many(books).await.unwrap();
    plain
}

on_every_store! {
    async fn a_program_that_declares_nothing_leaves_each_kind_right(store: AnyStore) {
        let plain = plain::Library::open(store.clone()).await.unwrap();
        let all = Programs::open(&store, plain).await;
        let plain = filled(&store).await;
        all.assert_right(&[(1, 1), (2, 1), (3, 2)]).await;
        plain.shelves.update(3).set(plain::Shelf::fields().above, Some(2)).await.unwrap();
        all.assert_right(&[(1, 1), (2, 1), (3, 2)]).await;
        plain.transaction(async |plain| {
            let fields = plain::Book::fields();
            plain.books.update(3).set(fields.shelf, 4).set(fields.price, 0).await?;
            plain.books.delete(2).await?;
            plain.books.insert(book(4, 2, "Aurora", 9)).await?;
            plain.shelves.insert(shelf(5, Some(4))).await.map(drop)
        }).await.unwrap();
        all.assert_right(&[(1, 1), (3, 2), (4, 3)]).await;
        plain.books.replace(book(1, 5, "Icehenge", 3)).await.unwrap();
        plain.books.upsert_many([book(3, 4, "Blue Mars again", 1), book(6, 5, "New York 2140", 0)]).await.unwrap();
        all.assert_right(&[(1, 1), (3, 2), (4, 3), (6, 2)]).await;
        let fields = plain::Book::fields();
        let moved = plain.books.update_where(fields.price.lt(3)).set(fields.shelf, 1);
        let refused = plain.bulk((moved, plain.shelves.delete(5))).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Restricted, "{refused}");
        all.assert_right(&[(1, 1), (3, 2), (4, 3), (6, 2)]).await;
    }

    async fn a_program_that_declares_nothing_is_refused_what_would_leave_it_wrong(store: AnyStore) {
        let plain = plain::Library::open(store.clone()).await.unwrap();
        let all = Programs::open(&store, plain).await;
        let plain = filled(&store).await;
        let ring = plain.shelves.update(1).set(plain::Shelf::fields().above, Some(4)).await.unwrap_err();
        assert_eq!(ring.kind(), ErrorKind::Uncomputable, "{ring}");
        let dangling = plain.books.insert(book(9, 9, "Nowhere", 1)).await.unwrap_err();
        assert_eq!(dangling.kind(), ErrorKind::DanglingReference, "{dangling}");
        let overflow = plain.books.insert_many([book(8, 2, "One", i64::MAX), book(9, 4, "Two", 1)]).await.unwrap_err();
        assert_eq!(overflow.kind(), ErrorKind::Uncomputable, "{overflow}");
        for field in ["number", "label", "words", "path"] {
            let raw = plain.books.update(1).raw(doc! { "$set": { field: 7 } }).await.unwrap_err();
            assert_eq!(raw.kind(), ErrorKind::InvalidQuery, "{raw}");
        }
        all.assert_right(&[(1, 1), (2, 1), (3, 2)]).await;
    }

    async fn programs_that_declare_other_kinds_keep_each_others(store: AnyStore) {
        let plain = plain::Library::open(store.clone()).await.unwrap();
        let all = Programs::open(&store, plain).await;
        filled(&store).await;
        let totals = totals::Book::fields();
        all.totals.books.update_where(totals.path.within(1)).set(totals.title, "One Title").await.unwrap();
        all.totals.shelves.update(4).set(totals::Shelf::fields().above, None).await.unwrap();
        all.assert_right(&[(1, 1), (2, 1), (3, 2)]).await;
        let numbers = numbers::Book::fields();
        all.numbers.books.update_where(numbers.words.contains("title")).set(numbers.price, 0).await.unwrap();
        all.numbers.books.update(1).set(numbers.shelf, Ref::new(4)).await.unwrap();
        all.numbers.books.delete(3).await.unwrap();
        all.assert_right(&[(1, 2), (2, 1)]).await;
    }

    async fn kinds_that_are_declared_over_older_documents_are_rebuilt_beside_writes(store: AnyStore) {
        let plain = filled(&store).await;
        let all = Programs::open(&store, plain).await;
        let pending = all.numbers.pending_backfills();
        assert_eq!(
            pending,
            [
                "books.path",
                "books.shelf",
                "shelves.above",
                "shelves.dearest",
                "shelves.has_free",
                "shelves.last",
                "shelves.path",
                "shelves.worth",
            ],
            "references too, since older documents can dangle; fields without an empty value are computed by `open`"
        );
        all.plain.books.insert(book(4, 4, "Aurora", 9)).await.unwrap();
        all.plain.shelves.update(3).set(plain::Shelf::fields().above, None).await.unwrap();
        all.numbers.backfill().await.unwrap();
        all.plain.books.update(3).set(plain::Book::fields().shelf, 3).await.unwrap();
        all.totals.backfill().await.unwrap();
        assert!(all.plain.pending_backfills().is_empty());
        all.assert_right(&[(1, 1), (2, 1), (3, 1), (4, 2)]).await;
    }
}

program!(
    other_sum,
    "contrary",
    [
        #[ancestors(via = "above")]
        path: Ancestors<Shelf>,
        #[sum(of = "Book.price")]
        worth: i64,
    ],
    []
);
program!(other_extreme, "contrary", [#[max(of = "Book.id")] dearest: Option<i64>,], []);
program!(other_existence, "contrary", [#[exists(of = "Book")] has_free: bool,], []);
program!(
    other_ancestors,
    "contrary",
    [
        #[reference(parent)]
        beside: Option<Ref<Shelf>>,
        #[ancestors(via = "beside")]
        path: Ancestors<Shelf>,
    ],
    []
);
program!(
    other_sequence,
    "contrary",
    [],
    [
        #[reference(parent)]
        second: Option<Ref<Shelf>>,
        #[sequence(within = "second")]
        number: Option<i64>,
    ]
);
program!(other_computed, "contrary", [], [#[computed(format!("{title}"))] label: String,]);
program!(other_words, "contrary", [], [#[computed(words(&format!("{id} {title}")))] words: Vec<String>,]);

/// Each with the field that it declares otherwise than the program before it.
macro_rules! contrary {
    ($store:ident, $($module:ident: $field:literal,)*) => {$(
        let error = $module::Library::open($store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        assert!(error.to_string().contains($field), "{error}");
    )*};
}

on_every_store! {
    async fn a_program_that_declares_a_field_otherwise_is_refused(store: AnyStore) {
        let plain = plain::Library::open(store.clone()).await.unwrap();
        let all = Programs::open(&store, plain).await;
        filled(&store).await;
        contrary! {
            store,
            other_sum: "`shelves.worth`",
            other_extreme: "`shelves.dearest`",
            other_existence: "`shelves.has_free`",
            other_ancestors: "`shelves.path`",
            other_sequence: "`books.number`",
            other_computed: "`books.label`",
            other_words: "`books.words`",
        }
        all.plain.books.update(1).set(plain::Book::fields().shelf, 4).await.unwrap();
        all.assert_right(&[(1, 2), (2, 1), (3, 2)]).await;
        Programs::open(&store, all.plain).await;
    }
}
