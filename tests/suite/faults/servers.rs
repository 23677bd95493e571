//! Servers of other versions, disguised by a proxy, and clients with options of their own.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use mongodb::{
    Client,
    bson::doc,
    options::{ReadConcern, WriteConcern},
};
use odm::{ErrorKind, MongoDb, OpenOptions, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Cut, Disguise, Plan, Proxy, Side},
};

use super::models::{
    Author, Book, Library, Note, Shelf, assert_right, author, book, library, note, shelf,
};

const MOST: Duration = Duration::from_secs(200);
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes of each kind: one without consequences, units with unread updates, a rename, and a delete with consequences.
async fn write(library: &Library, number: i32) {
    library.notes.insert(note(number, "new")).await.unwrap();
    library.notes.update(number).set(Note::fields().text, "x").await.unwrap();
    library.authors.insert(author(number)).await.unwrap();
    library.shelves.insert(shelf(number)).await.unwrap();
    for pages in 1..=3 {
        library.books.insert(book(number, number, pages)).await.unwrap();
    }
    let name = Author::fields().name;
    library.authors.update(number).set(name, "another").await.unwrap();
    let longest = library.books.all().sort(Book::fields().pages.desc()).first().await.unwrap();
    let longest = longest.expect("a book");
    assert!(library.books.delete(longest.id).await.unwrap());
}

/// The write whose `bulkWrite` is refused first.
#[derive(Debug, Clone, Copy)]
enum First {
    Unit,
    /// A write without a transaction.
    Alone,
    /// A transaction of the user.
    Transaction,
}

impl First {
    /// Makes the write, with one visit of the first shelf, except in the case of the unit.
    async fn write(self, library: &Library) {
        let visits = Shelf::fields().visits;
        match self {
            First::Unit => drop(library.books.insert(book(1, 1, 9)).await.unwrap()),
            First::Alone => library.shelves.update(1).inc(visits, 1).await.unwrap(),
            First::Transaction => {
                let unit = library.transaction(async |library| {
                    library.shelves.update(1).inc(visits, 1).await?;
                    library.books.insert(book(1, 1, 8)).await.map(drop)
                });
                unit.await.unwrap();
            }
        }
    }
}

/// Makes the server refuse `bulkWrite` at each of these writes, and from the begin on.
fn on_a_server_without_bulk_write(disguise: Disguise, firsts: &[First]) {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let proxy = Proxy::new(server);
        write(&library(server.store().await).await, 1).await;
        let mut visits = 0;
        for (first, number) in firsts.iter().zip(2..) {
            let when = format!("an older member has become the primary before {first:?}");
            proxy.disguise(None);
            let before = library(proxy.store(server, PATIENCE).await).await;
            proxy.disguise(Some(disguise));
            proxy.plan(None);
            first.write(&before).await;
            let is_refused = proxy.commands().contains(&"bulkWrite".to_owned());
            assert_eq!(is_refused, server.has_bulk_write().await, "{when}");
            visits += i64::from(!matches!(first, First::Unit));
            assert_eq!(before.shelves.get(1).await.unwrap().visits, visits, "{when}");
            proxy.plan(None);
            write(&before, number).await;
            let commands = proxy.commands();
            assert!(!commands.contains(&"bulkWrite".to_owned()), "{when}: {commands:?}");
            assert_right(&before, &when).await;
        }
        let after = library(proxy.store(server, PATIENCE).await).await;
        write(&after, 10).await;
        assert_right(&after, "connected to an older server").await;
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_server_of_version_7_is_written_to_before_and_after_a_failover_on_mongodb() {
    on_a_server_without_bulk_write(Disguise::Seven, &[First::Unit, First::Transaction]);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_server_of_version_7_with_an_unfinished_command_is_written_to_on_mongodb() {
    on_a_server_without_bulk_write(Disguise::SevenUnfinished, &[First::Alone]);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_server_whose_compatibility_version_is_7_is_written_to_on_mongodb() {
    on_a_server_without_bulk_write(Disguise::EightAsSeven, &[First::Unit, First::Transaction]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "things", index(fields = "tag"))]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    #[index(unique)]
    name: String,
    #[validate(min_length = 1)]
    tag: Option<String>,
}

#[derive(Database)]
#[database(name = "things", version = 1)]
struct Things {
    things: Repository<Thing>,
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_database_of_a_server_of_version_9_is_opened_again_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let create = doc! {
            "create": "foreign",
            "validator": { "a": { "$gt": 0 } },
        };
        server.database.run_command(create).await.unwrap();
        let proxy = Proxy::new(server);
        proxy.disguise(Some(Disguise::Nine));
        for id in 1..=3 {
            let db = Things::open(proxy.store(server, PATIENCE).await).await.unwrap();
            let thing = Thing { id, name: format!("thing {id}"), tag: None };
            db.things.insert(thing).await.unwrap();
        }
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn reads_are_of_a_snapshot_whatever_the_read_concern_of_the_client_is_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let proxy = Proxy::new(server);
        let mut options = proxy.options(&server.options);
        options.read_concern = Some(ReadConcern::majority());
        options.write_concern = Some(WriteConcern::majority());
        let client = Client::with_options(options).unwrap();
        let library = library(MongoDb::new(&client, server.database.name()).await.unwrap()).await;
        write(&library, 1).await;
        proxy.plan(None);
        let mut reads = Vec::new();
        let mut assert_read = |what: &str| {
            let before = reads.len();
            reads = proxy.reads();
            assert!(reads.len() > before, "no read of {what} is counted");
            for read in &reads {
                assert_eq!(read.level.as_deref(), Some("snapshot"), "of {what}: {read:?}");
            }
        };
        library.books.all().join(Book::fields().author).await.unwrap();
        assert_read("a join");
        library.shelves.all().count().await.unwrap();
        assert_read("a count");
        library.books.all().count_by(Book::fields().pages).await.unwrap();
        assert_read("groups");
        assert_eq!(library.audit().await.unwrap(), []);
        assert_read("an audit");
        let snapshot = library.snapshot(async |library| {
            let books = library.books.all().count().await?;
            Ok((books, library.books.all().await?.len()))
        });
        assert_eq!(snapshot.await.unwrap(), (2, 2));
        assert_read("a snapshot");
        let mut books = library.books.all().stream();
        while books.try_next().await.unwrap().is_some() {}
        assert_read("a stream");
        let mut lines = Vec::new();
        library.export(&mut lines).await.unwrap();
        assert_read("an export");
    });
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "counters")]
pub(super) struct Counter {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
    pub(super) hits: i64,
    pub(super) seen: Vec<i32>,
}

pub(super) fn counter(id: i32) -> Counter {
    Counter { id, name: "a".into(), hits: 0, seen: Vec::new() }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "marks")]
pub(super) struct Mark {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[reference(child, on_delete = "cascade")]
    pub(super) counter: Ref<Counter>,
    #[denormalize(from = "Counter.hits")]
    pub(super) hits: i64,
}

#[derive(Database)]
#[database(name = "alone", version = 1)]
pub(super) struct Alone {
    pub(super) counters: Repository<Counter>,
}

#[derive(Database)]
#[database(name = "alone", version = 1)]
pub(super) struct Together {
    pub(super) counters: Repository<Counter>,
    pub(super) marks: Repository<Mark>,
}

/// The answer of a write without a transaction is lost, and other models are declared before the driver sends the message
/// again: the check of the epoch fails the second time, and the write was carried out the first time.
fn is_carried_out_once(stored: &[Counter], write: impl AsyncFn(&Alone) -> odm::Result<()>) {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        if !server.has_bulk_write().await {
            // The write is a transaction.
            return;
        }
        let options = || OpenOptions::default().refresh_every(None);
        let proxy = Proxy::new(server);
        let store = proxy.store(server, PATIENCE).await;
        let alone = Alone::open_with(store, options()).await.unwrap();
        alone.counters.insert(counter(1)).await.unwrap();
        proxy.plan(Some(Plan { at: 1, side: Side::Answer, cut: Cut::All }));
        let open = async {
            proxy.dark().await;
            let together = Together::open_with(server.store().await, options()).await.unwrap();
            proxy.darken(false);
            together
        };
        let (written, together) = tokio::join!(write(&alone), open);
        assert_eq!(proxy.commands(), ["bulkWrite", "bulkWrite"]);
        let error = written.unwrap_err();
        assert!(error.kind() == ErrorKind::Unavailable && !error.is_retryable(), "{error}");
        assert!(error.to_string().contains("audit()"), "{error}");
        assert_eq!(together.counters.all().await.unwrap(), stored);
        assert_eq!(together.audit().await.unwrap(), []);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_increment_that_is_sent_again_in_another_epoch_is_carried_out_once_on_mongodb() {
    let stored = [Counter { hits: 1, ..counter(1) }];
    is_carried_out_once(&stored, async |alone: &Alone| {
        alone.counters.update(1).inc(Counter::fields().hits, 1).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_push_that_is_sent_again_in_another_epoch_is_carried_out_once_on_mongodb() {
    let stored = [Counter { seen: vec![7], ..counter(1) }];
    is_carried_out_once(&stored, async |alone: &Alone| {
        alone.counters.update(1).push(Counter::fields().seen, 7).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_that_is_sent_again_in_another_epoch_is_carried_out_once_on_mongodb() {
    let stored = [counter(1), counter(2)];
    is_carried_out_once(&stored, async |alone: &Alone| {
        alone.counters.insert(counter(2)).await.map(drop)
    });
}

/// `.ci/certify` reads it.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn the_version_of_the_server_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let info = server.database.run_command(doc! { "buildInfo": 1 }).await.unwrap();
        let version = info.get_str("version").unwrap();
        let name = if server.is_secantus { "SecantusDB as MongoDB" } else { "MongoDB" };
        println!("the server is {name} {version}");
        let major: u32 = version.split('.').next().unwrap().parse().unwrap();
        assert!(major >= 6, "the library needs MongoDB 6.0 or later");
    });
}

/// Reads by a filter that divides by zero.
async fn fail_to_read(library: &Library) {
    let zero = doc! { "$subtract": ["$pages", "$pages"] };
    let divided = Filter::raw(doc! { "$expr": { "$divide": [1, zero] } });
    let error = library.books.find(divided).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FailedFilter, "{error}");
}

/// A server ends a transaction with each failing command in it.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_read_that_the_server_refuses_ends_the_transaction_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let library = library(server.store().await).await;
        write(&library, 1).await;
        let runs = AtomicUsize::new(0);
        let fails = library.transaction(async |library| {
            runs.fetch_add(1, Ordering::Relaxed);
            fail_to_read(&library).await;
            library.notes.insert(note(2, "after it")).await.map(drop)
        });
        let failed = fails.await;
        let goes_on = library.transaction(async |library| {
            runs.fetch_add(1, Ordering::Relaxed);
            library.notes.insert(note(2, "before it")).await?;
            fail_to_read(&library).await;
            Ok(())
        });
        for ended in [failed, goes_on.await] {
            let error = ended.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error}");
            assert!(!error.is_retryable() && error.to_string().contains("divide"), "{error}");
        }
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert!(library.notes.get(2).optional().await.unwrap().is_none());
    });
}
