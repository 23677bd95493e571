//! Processes with many writers each, and workers that are killed at random, on one server, for a given time: `SECONDS=600 PROCESSES=4
//! WRITERS=32 cargo test --release -p tests --all-features --test stores -- --ignored --nocapture faults::soak::soak`. With `KILLS=0` no
//! worker is killed before the writers have ended.

use std::{
    env,
    io::Read,
    process::{self, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use odm::{ErrorKind, OpenOptions, prelude::*};
use tests::{TestDatabase, on_mongodb_database};

use super::{
    chance::Chance,
    end_in,
    models::{Author, Book, Library, Shelf, assert_right, author, book, library, shelf},
    number, store_named,
};

const DATABASE: &str = "ODM_TESTS_SOAK_DATABASE";
const ROLE: &str = "ODM_TESTS_SOAK_ROLE";
const SEED: &str = "ODM_TESTS_SOAK_SEED";

const AUTHORS: u64 = 200;
const SHELVES: u64 = 50;
const BOOKS: u64 = 1_000;

fn seconds() -> u64 {
    number("SECONDS").unwrap_or(5)
}

fn kills() -> bool {
    number("KILLS") != Some(0)
}

/// The work of the writers of a process.
#[derive(Debug, Default)]
struct Done {
    writes: AtomicU64,
    changes: AtomicU64,
    /// The changes that may be stored.
    unknown: AtomicU64,
    /// The writes that have lost all their conflicts.
    lost: AtomicU64,
}

fn id(chance: &mut Chance, of: u64) -> i32 {
    1 + chance.below(of) as i32
}

/// One write of any kind.
async fn write(library: &Library, chance: &mut Chance, done: &Done) -> odm::Result<()> {
    let author = id(chance, AUTHORS);
    let shelf = id(chance, SHELVES);
    let pages = id(chance, 1_000);
    let some = Book::fields().pages.eq(pages);
    match chance.below(20) {
        0..6 => library.books.insert(book(author, shelf, pages)).await.map(drop),
        6..10 => library.books.delete_where(some).await.map(drop),
        10..13 => {
            let moved = library.books.update_where(some);
            moved.set(Book::fields().shelf, shelf).await.map(drop)
        }
        13..15 => library.shelves.update(shelf).inc(Shelf::fields().visits, 1).await,
        15 => {
            let unit = library.transaction(async |library| {
                library.shelves.delete(shelf).await?;
                library.shelves.insert(super::models::shelf(shelf)).await.map(drop)
            });
            unit.await
        }
        _ => {
            let name = format!("named {}", chance.below(1_000));
            let change = library.authors.update(author).set(Author::fields().name, name);
            let changed = change.inc(Author::fields().changes, 1).await;
            match &changed {
                Ok(()) => done.changes.fetch_add(1, Ordering::Relaxed),
                Err(error) if error.is_retryable() => 0,
                Err(_) => done.unknown.fetch_add(1, Ordering::Relaxed),
            };
            changed
        }
    }
}

async fn write_until(end: Instant, library: Library, seed: u64, done: Arc<Done>) {
    let mut chance = Chance::new(seed);
    while Instant::now() < end {
        match write(&library, &mut chance, &done).await {
            Ok(()) => drop(done.writes.fetch_add(1, Ordering::Relaxed)),
            // The shelf or the book was deleted by others.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DanglingReference) => {}
            Err(error) if error.is_retryable() => drop(done.lost.fetch_add(1, Ordering::Relaxed)),
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// A child process: it writes until the end, or works until it is killed.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_process() {
    let Ok(database) = env::var(DATABASE) else {
        return;
    };
    let seed = number(SEED).expect("it is set");
    let time = Duration::from_secs(seconds());
    end_in(time + Duration::from_secs(200));
    tests::run_for(time + Duration::from_secs(200), async {
        let store = store_named(&database).await;
        if env::var(ROLE).unwrap() == "worker" {
            let options = OpenOptions::default().refresh_every(Duration::from_millis(50));
            let _library = Library::open_with(store, options).await.unwrap();
            return std::future::pending().await;
        }
        let library = library(store).await;
        let done = Arc::new(Done::default());
        let end = Instant::now() + time;
        let writers = number("WRITERS").unwrap_or(4);
        let writers: Vec<_> = (0..writers)
            .map(|writer| {
                let seed = seed * 1_000 + writer;
                tokio::spawn(write_until(end, library.clone(), seed, done.clone()))
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        println!("{done:?}");
    });
}

/// A child process, which ends with this value.
struct Child(process::Child);

impl Child {
    fn new(database: &str, role: &str, seed: u64) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "faults::soak::child_process", "--nocapture"]);
        command.env(DATABASE, database).env(ROLE, role).env(SEED, seed.to_string());
        Child(command.stdout(Stdio::piped()).spawn().expect("the child starts"))
    }

    /// Waits for its end, and returns its output.
    fn output(mut self) -> String {
        let mut output = String::new();
        let mut piped = self.0.stdout.take().expect("it is piped");
        piped.read_to_string(&mut output).expect("the pipe is read");
        let status = self.0.wait().expect("the child has ended");
        assert!(status.success(), "a child process has failed: {output}");
        output
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Adds the last numbers in the output of a writing process.
fn add(total: &Done, printed: &str) {
    let of = |name: &str| -> u64 {
        let (_, rest) = printed.rsplit_once(&format!("{name}: ")).expect("it is printed");
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        number.parse().unwrap()
    };
    total.writes.fetch_add(of("writes"), Ordering::Relaxed);
    total.changes.fetch_add(of("changes"), Ordering::Relaxed);
    total.unknown.fetch_add(of("unknown"), Ordering::Relaxed);
    total.lost.fetch_add(of("lost"), Ordering::Relaxed);
}

/// Kills workers at random, and prints how many refreshes wait, until the writers have ended. Returns the work of the writers, and how many
/// workers were killed.
async fn oversee(library: &Library, database: &str, processes: u64) -> (Done, u64) {
    let begin = Instant::now();
    let writers: Vec<_> = (1..=processes)
        .map(|seed| Child::new(database, "writer", seed))
        .map(|writer| tokio::task::spawn_blocking(|| writer.output()))
        .collect();
    let worker = || Child::new(database, "worker", 0);
    let mut workers: Vec<Child> = (0..processes).map(|_| worker()).collect();
    let mut chance = Chance::new(1);
    let (mut killed, mut printed) = (0, Instant::now());
    while !writers.iter().all(|writer| writer.is_finished()) {
        tokio::time::sleep(Duration::from_millis(500 + chance.below(5_500))).await;
        if kills() {
            workers[chance.below(processes) as usize] = worker();
            killed += 1;
        }
        if printed.elapsed() > Duration::from_secs(10) {
            printed = Instant::now();
            let refreshes = library.deferred_refreshes().await.unwrap();
            let now = DateTime::now().timestamp_millis();
            let age = refreshes.oldest.map_or(0, |oldest| now - oldest.timestamp_millis());
            println!(
                "after {:3} s: {:5} records wait, the oldest for {:6.1} s; {killed} workers were killed",
                begin.elapsed().as_secs(),
                refreshes.waiting,
                age as f64 / 1_000.0
            );
        }
    }
    let done = Done::default();
    for writer in writers {
        add(&done, &writer.await.unwrap());
    }
    (done, killed)
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn soak_of_writers_and_of_workers_that_die_leaves_nothing_wrong_on_mongodb() {
    let most = Duration::from_secs(seconds() + 900);
    on_mongodb_database(most, async |server: &TestDatabase| {
        let processes = number("PROCESSES").unwrap_or(2);
        let database = server.database.name();
        let library = library(server.store().await).await;
        let authors = (1..=AUTHORS as i32).map(author);
        library.authors.insert_many(authors).await.unwrap();
        library.shelves.insert_many((1..=SHELVES as i32).map(shelf)).await.unwrap();
        let mut chance = Chance::new(0);
        let books: Vec<Book> = (0..BOOKS)
            .map(|_| {
                book(id(&mut chance, AUTHORS), id(&mut chance, SHELVES), id(&mut chance, 1_000))
            })
            .collect();
        library.books.insert_many(books).await.unwrap();
        library.wait_for_refreshes().await.unwrap();
        let begin = Instant::now();
        let (done, killed) = oversee(&library, database, processes).await;
        let took = begin.elapsed();
        library.wait_for_refreshes().await.unwrap();
        let refreshed = begin.elapsed() - took;
        let writes = done.writes.into_inner();
        println!(
            "{writes} writes in {:.1} s, {:.0} a second; {} have lost all conflicts; {killed} workers were killed; all \
             was refreshed {:.1} s later",
            took.as_secs_f64(),
            writes as f64 / took.as_secs_f64(),
            done.lost.into_inner(),
            refreshed.as_secs_f64()
        );
        let authors = library.authors.all().await.unwrap();
        let stored: u64 = authors.iter().map(|author| author.changes as u64).sum();
        let (changes, unknown) = (done.changes.into_inner(), done.unknown.into_inner());
        assert!(
            (changes..=changes + unknown).contains(&stored),
            "{stored} changes are stored, {changes} were confirmed, and {unknown} were neither confirmed nor refused"
        );
        assert!(writes > 0 && (killed > 0) == kills());
        assert_right(&library, "after the soak").await;
        println!("the audit finds nothing");
    });
}
