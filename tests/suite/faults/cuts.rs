//! A connection that is cut at each message of a unit in turn: the unit is stored once or not at all, and its caller never gets the error
//! that a unit is not stored if it may be stored.

use std::time::Duration;

use odm::{
    ErrorKind, MongoDb,
    bson::{Document as Bson, doc},
    prelude::*,
};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Cut, Plan, Proxy, Side},
};

use super::models::{
    Author, Book, Library, Shelf, State, assert_right, author, id, library, note, numbered, shelf,
    state,
};

/// Longer than all cuts of an act can take.
pub(crate) const MOST: Duration = Duration::from_secs(400);
/// How long the store that is cut off waits for its server: longer than the driver needs to find it again.
const PATIENCE: Duration = Duration::from_secs(1);

/// Stores the same documents each time, whatever is stored before.
async fn fill(library: &Library) {
    for id in [1, 2] {
        library.authors.delete(id).await.ok();
        library.shelves.delete(id).await.ok();
        library.notes.delete(id).await.unwrap();
    }
    library.notes.insert(note(1, "old")).await.unwrap();
    let (authors, shelves) = ([1, 2].map(author), [1, 2].map(shelf));
    library.authors.insert_many(authors).await.unwrap();
    library.shelves.insert_many(shelves).await.unwrap();
    let books = [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 1, 1)];
    let books =
        books.map(|(book, author, shelf)| numbered(id(book), author, shelf, i32::from(book) * 100));
    library.books.insert_many(books).await.unwrap();
    library.wait_for_refreshes().await.unwrap();
}

/// A library through a proxy, and past it.
pub(crate) struct Cuts {
    pub(crate) proxy: Proxy,
    pub(crate) library: Library,
    direct: Library,
    pub(crate) store: MongoDb,
}

impl Cuts {
    pub(crate) async fn new(server: &TestDatabase, patience: Duration) -> Self {
        let store = server.store().await;
        let direct = library(store.clone()).await;
        let proxy = Proxy::new(server);
        let library = library(proxy.store(server, patience).await).await;
        Cuts { proxy, library, direct, store }
    }

    /// Stores the same documents each time, and waits until the store that was cut off has found its server again.
    pub(crate) async fn begin(&self) {
        self.proxy.darken(false);
        self.proxy.end_sessions().await;
        self.proxy.plan(None);
        while let Err(error) = self.library.authors.all().count().await {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.is_retryable(), "nothing is written: {error}");
        }
        fill(&self.direct).await;
    }

    /// Runs an act with a plan.
    async fn run(
        &self,
        act: impl AsyncFn(&Library) -> odm::Result<()>,
        plan: Option<Plan>,
    ) -> odm::Result<()> {
        self.proxy.plan(plan);
        let result = act(&self.library).await;
        self.proxy.darken(false);
        self.proxy.end_sessions().await;
        result
    }

    /// The stored state when no refresh waits any more.
    pub(crate) async fn right(&self, when: &str) -> State {
        assert_right(&self.direct, when).await;
        state(&self.store).await
    }
}

/// How an act continues after an error that the library can retry, such as a cut connection that can be opened again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum After {
    /// The library runs it again.
    GoesOn,
    /// Its caller may have to run it again.
    Fails,
}

/// Cuts at each message of an act in turn, which writes the same each time.
fn at_each_message(after: After, act: impl AsyncFn(&Library) -> odm::Result<()>) {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let cuts = Cuts::new(server, PATIENCE).await;
        cuts.begin().await;
        let before = state(&cuts.store).await;
        cuts.run(&act, None).await.unwrap();
        let commands = cuts.proxy.commands();
        let done = cuts.right("without a cut").await;
        assert_ne!(before, done);
        let last = commands.last().map(String::as_str);
        assert!(matches!(last, Some("commitTransaction" | "bulkWrite")));
        let (mut stored, mut left) = (0, 0);
        for cut in [Cut::One, Cut::All] {
            for side in [Side::Request, Side::Answer] {
                for at in 1..=commands.len() {
                    cuts.begin().await;
                    let plan = Plan { at, side, cut };
                    let result = cuts.run(&act, Some(plan)).await;
                    let when = format!("{plan:?} at `{}`: {result:?}", commands[at - 1]);
                    let now = cuts.right(&when).await;
                    let is_stored = now == done;
                    assert!(is_stored || now == before, "{when}: {now:#?}");
                    match &result {
                        Ok(()) => assert!(is_stored, "{when}"),
                        Err(error) if error.is_retryable() => assert!(!is_stored, "{when}"),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{when}"),
                    }
                    if cut == Cut::One && after == After::GoesOn {
                        assert!(result.is_ok(), "{when}");
                    }
                    if cut == Cut::All && result.is_err() {
                        let is_stored = usize::from(is_stored);
                        (stored, left) = (stored + is_stored, left + 1 - is_stored);
                    }
                }
            }
        }
        // The cut of the last message, whose answer is lost, and all others.
        assert_eq!((stored, left), (1, commands.len() * 2 - 1), "{commands:?}");
    });
}

pub(crate) async fn rename(library: &Library) -> odm::Result<()> {
    let rename = library.authors.update(1).set(Author::fields().name, "new");
    rename.inc(Author::fields().changes, 1).await
}

pub(crate) async fn insert(library: &Library) -> odm::Result<()> {
    library.books.insert(numbered(id(9), 1, 1, 900)).await.map(drop)
}

pub(crate) async fn visit(library: &Library) -> odm::Result<()> {
    library.shelves.update(1).inc(Shelf::fields().visits, 1).await
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_child_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, insert);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_rename_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, rename);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_write_from_which_nothing_follows_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        let shelf = library.shelves.update(1);
        shelf.set(Shelf::fields().visits, 7).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_replacement_from_which_nothing_follows_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        library.notes.upsert(note(1, "new")).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_delete_from_which_nothing_follows_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        library.notes.delete(1).await.map(drop)
    });
}

/// If the server does not recognize a `bulkWrite` that the driver sends again, the caller gets the error that the note may be stored.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_from_which_nothing_follows_is_stored_once_or_not_at_all_on_mongodb() {
    let after = match has_retryable_bulk_writes() {
        true => After::GoesOn,
        false => After::Fails,
    };
    at_each_message(after, async |library: &Library| {
        library.notes.insert(note(2, "new")).await.map(drop)
    });
}

/// SecantusDB carries out a `bulkWrite` again that the driver sends again. By "Retryable writes" of MongoDB's documentation, a server
/// recognizes the statement by its session and transaction number, and does not.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_increment_from_which_nothing_follows_is_stored_once_or_not_at_all_on_mongodb() {
    if has_retryable_bulk_writes() {
        at_each_message(After::GoesOn, visit);
    }
}

fn has_retryable_bulk_writes() -> bool {
    let mut has = false;
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        has = knows_a_bulk_write_again(server).await;
    });
    has
}

/// Whether a server recognizes a `bulkWrite` that it has carried out before. Without the command, a write is a transaction, which each
/// server recognizes.
pub(crate) async fn knows_a_bulk_write_again(server: &TestDatabase) -> bool {
    if !server.has_bulk_write().await {
        return true;
    }
    let counters = server.database.collection::<Bson>("counters");
    counters.insert_one(doc! { "_id": 1, "n": 0 }).await.unwrap();
    let mut session = server.client.start_session().await.unwrap();
    let namespace = format!("{}.counters", server.database.name());
    for _ in 0..2 {
        let write = doc! {
            "bulkWrite": 1,
            "ops": [{ "update": 0, "filter": { "_id": 1 }, "updateMods": { "$inc": { "n": 1 } } }],
            "nsInfo": [{ "ns": &namespace }],
            // Greater than the numbers of the driver.
            "txnNumber": 1_i64 << 40,
        };
        let admin = server.client.database("admin");
        admin.run_command(write).session(&mut session).await.unwrap();
    }
    let counter = counters.find_one(doc! { "_id": 1 }).await.unwrap();
    counter.unwrap().get_i32("n").unwrap() == 1
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_child_that_moves_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        library.books.update(id(4)).set(Book::fields().shelf, 2).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_cascade_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        library.authors.delete(1).await.map(drop)
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_that_is_run_again_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::GoesOn, async |library: &Library| {
        let unit = library.transaction(async |library| {
            rename(&library).await?;
            insert(&library).await?;
            visit(&library).await
        });
        unit.await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_of_a_guard_is_stored_once_or_not_at_all_on_mongodb() {
    at_each_message(After::Fails, async |library: &Library| {
        let guard = library.begin().await?;
        rename(&guard).await?;
        insert(&guard).await?;
        guard.commit().await
    });
}
