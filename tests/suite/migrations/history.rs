//! A year of deployments: twelve versions of one library of books. Each adds documents of its own, which every later version opens,
//! directly or one by one, with processes that end after any unit. An oracle without shared code makes the same changes to plain documents.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use odm::{
    Embedded, Error, ErrorKind, Result,
    bson::{Bson, Document as Plain, doc},
    store::{
        Durability,
        contract::{
            Capabilities, CollectionSpec, Reader, Store, Transaction, TransactionOptions,
            UnitOfWork,
        },
    },
};
use tests::{TestStore, in_memory, on_mongodb};

use crate::migrations::{
    sorted, stored,
    versions::{Program, open},
};

/// A store whose process ends before the unit of this number.
#[derive(Clone)]
pub(super) struct Ending<S> {
    pub(super) store: S,
    pub(super) units: Arc<AtomicUsize>,
}

#[async_trait]
impl<S: TestStore> Store for Ending<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let left = |units: usize| units.checked_sub(1);
        match self.units.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left) {
            Ok(_) => self.store.run(unit, durability).await,
            Err(_) => Err(Error::new(ErrorKind::Io, "the process has ended")),
        }
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.store.begin(options).await
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

const LAST: usize = 12;

/// The base data, by collection and `_id`. Cold parts are in their documents.
type World = BTreeMap<&'static str, BTreeMap<i64, Plain>>;

/// The changes of a version, done by hand.
fn change(world: &mut World, version: usize) {
    let rename = |document: &mut Plain, from: &str, to: &str| {
        if let Some(value) = document.remove(from) {
            document.insert(to, value);
        }
    };
    for book in world.entry("books").or_default().values_mut() {
        match version {
            2 => rename(book, "title", "name"),
            3 => {
                let cents = (book.get_f64("price").unwrap() * 100.0).round() as i64;
                book.remove("price");
                book.insert("cents", cents);
            }
            4 => {
                book.insert("lang", "en");
            }
            6 => {
                for line in book.get_array_mut("lines").into_iter().flatten() {
                    rename(line.as_document_mut().unwrap(), "t", "text");
                }
            }
            8 => {
                let pages = book.remove("pages").unwrap();
                book.insert("detail", doc! { "pages": pages });
            }
            11 => {
                let cents = book.get_i64("cents").unwrap();
                book.insert("cents", cents * 10);
            }
            _ => {}
        }
    }
    if version == 11 {
        for author in world.entry("authors").or_default().values_mut() {
            let name = author.get_str("name").unwrap().to_uppercase();
            author.insert("name", name);
        }
    }
    if version == 12 {
        let books = std::mem::take(world.entry("books").or_default());
        for (id, mut book) in books {
            match book.remove("lang").unwrap().as_str() {
                Some("de") => {
                    book.remove("detail");
                    book.insert("lang", "de");
                    world.entry("german_books").or_default().insert(id, book);
                }
                _ => {
                    world.entry("books").or_default().insert(id, book);
                }
            }
        }
    }
}

/// New documents in the form of a version. The oldest author has written one of them.
fn additions(version: usize, oldest: i64) -> Vec<(&'static str, Plain)> {
    let first = version as i64 * 10;
    let author = doc! { "_id": first, "name": format!("Author {first}") };
    let book = |n: i64| {
        let mut book = doc! { "_id": first + n, "author": if n == 3 { oldest } else { first } };
        book.insert(if version < 2 { "title" } else { "name" }, format!("Book {n}"));
        match version {
            0..8 => {
                book.insert("pages", 100 + n as i32);
            }
            _ => {
                book.insert("detail", doc! { "pages": 100 + n as i32 });
            }
        }
        match version {
            0..3 => book.insert("price", n as f64 + 0.25),
            _ => book.insert("cents", n * 100 + first),
        };
        if (4..12).contains(&version) {
            book.insert("lang", if n == 2 { "de" } else { "en" });
        }
        if version >= 4 {
            book.insert("isbn", if n == 1 { Bson::Null } else { format!("{n}").into() });
        }
        if version >= 5 {
            let name = if version < 6 { "t" } else { "text" };
            book.insert("lines", vec![Bson::from(doc! { name: "a" }), doc! { name: "b" }.into()]);
        }
        book
    };
    vec![("authors", author), ("books", book(1)), ("books", book(2)), ("books", book(3))]
}

/// A document from which its typed model can be read, before its derived fields are computed.
fn typed(version: usize, collection: &str, mut document: Plain) -> Plain {
    match collection {
        "authors" => {
            document.insert("books", 0_i64);
            if version >= 10 {
                document.insert("newest", Vec::<Bson>::new());
            }
        }
        "books" if version >= 7 => {
            document.insert("author_name", "");
        }
        _ => {}
    }
    document
}

/// The stored documents of a world in a version, with all derived fields.
fn expected(world: &World, version: usize) -> BTreeMap<&'static str, Vec<Plain>> {
    let mut all: BTreeMap<&'static str, Vec<Plain>> = BTreeMap::new();
    for name in ["authors", "books", "details", "german_books"] {
        all.insert(name, Vec::new());
    }
    let empty = BTreeMap::new();
    let books = world.get("books").unwrap_or(&empty);
    for (id, author) in world.get("authors").unwrap_or(&empty) {
        let mut author = author.clone();
        let mut own: Vec<&Plain> =
            books.values().filter(|book| book["author"] == Bson::Int64(*id)).collect();
        author.insert("books", own.len() as i64);
        if version >= 10 {
            own.sort_by_key(|book| (-book.get_i64("cents").unwrap(), book.get_i64("_id").unwrap()));
            let shown = own.iter().take(2).map(|book| {
                let fields =
                    ["_id", "name", "cents"].map(|name| (name.to_owned(), book[name].clone()));
                Bson::Document(fields.into_iter().collect())
            });
            author.insert("newest", shown.collect::<Vec<Bson>>());
        }
        all.get_mut("authors").unwrap().push(sorted(author));
    }
    for (id, book) in books {
        let mut book = book.clone();
        if version >= 7 {
            let author = book.get_i64("author").unwrap();
            book.insert("author_name", world["authors"][&author]["name"].clone());
        }
        if version == 8 {
            let mut part = doc! { "_id": id };
            part.extend(book.remove("detail").unwrap().as_document().unwrap().clone());
            all.get_mut("details").unwrap().push(part);
        }
        all.get_mut("books").unwrap().push(sorted(book));
    }
    for book in world.get("german_books").unwrap_or(&empty).values() {
        all.get_mut("german_books").unwrap().push(sorted(book.clone()));
    }
    all
}

/// Adds the documents of a version by its program.
async fn add(program: &dyn Program, world: &mut World, version: usize) {
    let authors = world.entry("authors").or_default();
    let oldest = authors.keys().next().copied().unwrap_or(version as i64 * 10);
    for (collection, document) in additions(version, oldest) {
        let whole = typed(version, collection, document.clone());
        program.insert(collection, whole).await.unwrap();
        let id = document.get_i64("_id").unwrap();
        world.entry(collection).or_default().insert(id, document);
    }
}

/// A store as the versions up to one leave it, if only some of them are opened.
async fn after(store: &impl TestStore, versions: &[usize]) -> World {
    let (mut world, mut last) = (World::new(), 0);
    for &version in versions {
        let program = open(version, store.clone()).await.unwrap();
        (last + 1..=version).for_each(|version| change(&mut world, version));
        add(&*program, &mut world, version).await;
        last = version;
    }
    world
}

async fn check(store: &impl TestStore, world: &World, version: usize, what: &str) {
    let program =
        open(version, store.clone()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    program.backfill().await.unwrap();
    let (findings, number) =
        program.audit().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(findings.is_empty(), "{what}: {findings:#?}");
    let expected = expected(world, version);
    let models: usize =
        ["authors", "books", "german_books"].iter().map(|name| expected[name].len()).sum();
    assert_eq!(number, models, "{what}");
    for (collection, documents) in expected {
        assert_eq!(stored(store, collection).await, documents, "{what}: {collection}");
    }
}

#[test]
fn every_version_opens_what_every_older_one_has_left() {
    in_memory(async |_: Embedded| {
        for from in 1..=LAST {
            for to in from..=LAST {
                let store = Embedded::memory().await.unwrap();
                let all: Vec<usize> = (1..=from).collect();
                let mut world = after(&store, &all).await;
                (from + 1..=to).for_each(|version| change(&mut world, version));
                check(&store, &world, to, &format!("from {from} to {to}")).await;
            }
        }
    });
}

/// Opens some of the versions on a new store, one after another.
async fn left_out(store: &impl TestStore, versions: &[usize]) {
    let world = after(store, versions).await;
    let last = *versions.last().unwrap();
    check(store, &world, last, &format!("{versions:?}")).await;
}

#[test]
fn versions_can_be_left_out_on_the_way() {
    for versions in [&[1, 3, 6, 12][..], &[2, 8], &[4, 9, 10], &[5, 7, 11, 12], &[8, 12], &[1, 12]]
    {
        in_memory(async |store| left_out(&store, versions).await);
    }
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn versions_can_be_left_out_on_the_way_on_mongodb() {
    for versions in [&[1, 3, 6, 12][..], &[2, 8], &[5, 7, 11, 12]] {
        on_mongodb(async |store| left_out(&store, versions).await);
    }
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_process_that_ends_after_any_unit_of_a_migration_is_carried_on_on_mongodb() {
    for units in [0, 1, 3, 7, 12] {
        on_mongodb(async |store| {
            let mut world = after(&store, &[4]).await;
            die_after(&store, 8, units).await;
            (5..=8).for_each(|version| change(&mut world, version));
            check(&store, &world, 8, &format!("{units} units")).await;
        });
    }
}

#[test]
fn a_process_that_ends_after_any_unit_of_a_migration_is_carried_on() {
    in_memory(async |_: Embedded| {
        let mut ended = 0;
        for (from, to) in [(1, LAST), (4, 8), (8, LAST)] {
            for units in 0.. {
                let store = Embedded::memory().await.unwrap();
                let mut world = after(&store, &(1..=from).collect::<Vec<_>>()).await;
                let opened = die_after(&store, to, units).await;
                (from + 1..=to).for_each(|version| change(&mut world, version));
                check(&store, &world, to, &format!("from {from} to {to}, {units} units")).await;
                if opened {
                    break;
                }
                ended += 1;
            }
        }
        assert!(ended > 40, "{ended}");
    });
}

#[test]
fn processes_that_end_again_and_again_come_to_the_end() {
    in_memory(async |_: Embedded| {
        for from in 1..LAST {
            let store = Embedded::memory().await.unwrap();
            let mut world = after(&store, &(1..=from).collect::<Vec<_>>()).await;
            let mut units = 1;
            while !die_after(&store, LAST, units).await {
                units += 1;
            }
            (from + 1..=LAST).for_each(|version| change(&mut world, version));
            check(&store, &world, LAST, &format!("from {from}")).await;
        }
    });
}

/// Opens a version in a process that ends before a unit of this number. Returns whether it was opened before.
async fn die_after(store: &impl TestStore, version: usize, units: usize) -> bool {
    let units = Arc::new(AtomicUsize::new(units));
    let ending = Ending { store: store.clone(), units };
    match open(version, ending).await {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::Io => false,
        Err(error) => panic!("version {version}: {error}"),
    }
}
