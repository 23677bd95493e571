//! A server that goes away for some time, while several writers write.

use std::{
    env,
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mongodb::{Client, options::ClientOptions};
use odm::{
    ErrorKind, MongoDb, OpenOptions,
    bson::{Document, doc},
    prelude::*,
};
use tests::{TestDatabase, on_mongodb_database, proxy::Proxy, run_for};

use super::models::{Author, Library, assert_right, author, book, library, shelf};

/// Longer than the tests can take.
const MOST: Duration = Duration::from_secs(200);
const WRITERS: i32 = 6;
/// How long the server is away.
const AWAY: Duration = Duration::from_secs(3);

/// The answers to a writer.
#[derive(Debug, Default)]
struct Told {
    books: Vec<ObjectId>,
    changes: i64,
    /// The changes that may be stored by their answers.
    unknown: i64,
}

/// Writes until it is stopped: books, and changes of an author of its own.
async fn write(library: Library, id: i32, is_over: Arc<AtomicBool>) -> Told {
    let mut told = Told::default();
    let may_fail = |error: &odm::Error| {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(!error.is_retryable(), "the store has not waited long enough: {error}");
    };
    while !is_over.load(Ordering::Relaxed) {
        match library.books.insert(book(id, 1 + id % 2, told.changes as i32)).await {
            Ok(book) => told.books.push(book.id),
            // A server without memory of the stored insert.
            Err(error) if error.is_duplicate_key() => {}
            Err(error) => may_fail(&error),
        }
        let name = format!("named {}", told.changes);
        let change = library.authors.update(id).set(Author::fields().name, name);
        match change.inc(Author::fields().changes, 1).await {
            Ok(()) => told.changes += 1,
            Err(error) => {
                may_fail(&error);
                told.unknown += 1;
            }
        }
    }
    told
}

/// Lets writers write before, during and after an outage, and then compares the stored documents with their answers.
async fn assert_nothing_is_lost(library: &Library, has_memory: bool, outage: impl AsyncFnOnce()) {
    library.authors.insert_many((1..=WRITERS).map(author)).await.unwrap();
    library.shelves.insert_many([1, 2].map(shelf)).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> =
        (1..=WRITERS).map(|id| tokio::spawn(write(library.clone(), id, is_over.clone()))).collect();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = library.books.all().count().await.unwrap();
    outage().await;
    let during = library.books.all().count().await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    is_over.store(true, Ordering::Relaxed);
    for (writer, id) in writers.into_iter().zip(1..) {
        let told = writer.await.unwrap();
        let found = library.books.get_many(told.books.clone()).await.unwrap();
        assert_eq!(found.len(), told.books.len(), "books of writer {id}");
        let changes = library.authors.get(id).await.unwrap().changes;
        assert!(changes >= told.changes, "{changes} changes are stored: {told:?}");
        if has_memory {
            assert!(
                changes <= told.changes + told.unknown,
                "{changes} changes are stored: {told:?}"
            );
        }
    }
    let after = library.books.all().count().await.unwrap();
    assert!(0 < before && during < after, "{before}, {during} and {after} books");
    assert_right(library, "after the outage").await;
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn writers_go_on_after_an_outage_and_lose_nothing_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let proxy = Proxy::new(server);
        let library = library(proxy.store(server, AWAY * 5).await).await;
        let outage = async || {
            proxy.darken(true);
            tokio::time::sleep(AWAY).await;
            proxy.darken(false);
        };
        assert_nothing_is_lost(&library, true, outage).await;
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_worker_goes_on_soon_after_an_outage_however_rarely_it_looks_for_work_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let proxy = Proxy::new(server);
        let store = proxy.store(server, Duration::from_secs(1)).await;
        // Longer than the test can take.
        let options = OpenOptions::default().refresh_every(Duration::from_secs(600));
        let library = Library::open_with(store, options).await.unwrap();
        library.authors.insert(author(1)).await.unwrap();
        library.shelves.insert(shelf(1)).await.unwrap();
        library.books.insert(book(1, 1, 1)).await.unwrap();
        library.wait_for_refreshes().await.unwrap();
        let records = server.database.collection::<Document>("_odm_outbox");
        let mut number = 0;
        // If the worker is done before the outage, another one begins.
        while records.count_documents(doc! {}).await.unwrap() == 0 {
            proxy.darken(false);
            number += 1;
            let rename = library.authors.update(1);
            let name = format!("new {number}");
            match rename.set(Author::fields().name, name).await {
                Ok(()) => proxy.darken(true),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
            }
        }
        tokio::time::sleep(AWAY).await;
        proxy.darken(false);
        let refreshed = tokio::time::timeout(Duration::from_secs(60), async {
            while !library.deferred_refreshes().await.is_ok_and(|refreshes| refreshes.waiting == 0)
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        refreshed.await.expect("the worker goes on");
        let name = library.authors.get(1).await.unwrap().name;
        assert_eq!(library.books.all().await.unwrap()[0].author_later, name);
        assert_right(&library, "after the outage").await;
    });
}

/// A server that the test has for itself.
struct Server {
    command: String,
    port: u16,
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    fn new(command: String) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        drop(free);
        let process = Server::start(&command, port, &folder);
        Server { command, port, folder, process }
    }

    fn start(command: &str, port: u16, folder: &tempfile::TempDir) -> Child {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec {command}")]);
        shell.env("PORT", port.to_string()).env("FOLDER", folder.path());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().expect("ODM_TEST_MONGODB_COMMAND starts a server")
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.process = Server::start(&self.command, self.port, &self.folder);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn writers_go_on_after_the_server_was_killed_and_lose_nothing_on_mongodb() {
    let Ok(command) = env::var("ODM_TEST_MONGODB_COMMAND") else {
        println!(
            "left out: ODM_TEST_MONGODB_COMMAND does not say how to start a server on $PORT with its data in $FOLDER"
        );
        return;
    };
    let mut server = Server::new(command);
    run_for(MOST, async {
        let uri = format!("mongodb://127.0.0.1:{}/?directConnection=true", server.port);
        let client = Client::with_options(ClientOptions::parse(uri).await.unwrap()).unwrap();
        let build = client.database("admin").run_command(doc! { "buildInfo": 1 }).await.unwrap();
        // SecantusDB forgets which transactions it has committed.
        let has_memory = !build.contains_key("secantusVersion");
        let library = library(MongoDb::new(&client, "library").await.unwrap()).await;
        let outage = async || {
            server.kill();
            tokio::time::sleep(AWAY).await;
            server.start_again();
        };
        assert_nothing_is_lost(&library, has_memory, outage).await;
    });
}
