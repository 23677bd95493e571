//! Workers of the outbox that die.

use std::{env, thread, time::Duration};

use odm::{
    MongoDb, OpenOptions,
    bson::{DateTime, Document, Uuid, doc},
    prelude::*,
};
use tests::{
    TestDatabase, behind_the_back,
    killed::{Kill, run_and_kill},
    on_mongodb_database,
    proxy::{Cut, Plan, Proxy, Refusal, Side},
    told::Told,
};

use super::{
    chance::Chance,
    models::{Author, Book, Library, assert_right, author, book, library, shelf},
    number,
};

const MOST: Duration = Duration::from_secs(400);
/// How long the next worker waits for its server.
const PATIENCE: Duration = Duration::from_secs(30);

/// Leaves work of each kind to a worker.
async fn leave_work(library: &Library, round: usize) {
    let rename = library.authors.update(1).set(Author::fields().name, format!("named {round}"));
    rename.await.unwrap();
    let moved = library.books.update_where(Book::fields().pages.eq(100));
    moved.set(Book::fields().shelf, 1 + (round % 2) as i32).await.unwrap();
    assert!(library.deferred_refreshes().await.unwrap().waiting > 2);
}

/// Passes the turn of a dead worker to another one, as at the end of its lease.
async fn end_turn(store: &MongoDb) {
    let ended = doc! { "$set": { "until": DateTime::now() } };
    behind_the_back(store, "_odm_leases", doc! {}, ended).await;
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn another_worker_goes_on_from_any_message_at_which_one_has_died_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let store = server.store().await;
        let proxy = Proxy::new(server);
        let direct = library(proxy.store(server, PATIENCE).await).await;
        direct.authors.insert(author(1)).await.unwrap();
        direct.shelves.insert_many([1, 2].map(shelf)).await.unwrap();
        let books = (1..=6).map(|pages| book(1, 1, pages * 50));
        direct.books.insert_many(books).await.unwrap();
        direct.wait_for_refreshes().await.unwrap();
        let leases = server.database.collection::<Document>("_odm_leases");
        let (mut deaths, mut kills, mut rounds) = (0, 0, 0);
        for side in [Side::Request, Side::Answer] {
            for at in 1.. {
                // Each one moves the books.
                rounds += 1;
                leave_work(&direct, rounds).await;
                // The process of a dead worker is silent: so each has a proxy of its own.
                let cut_off = Proxy::new(server);
                let dying = library(cut_off.store(server, Duration::from_secs(1)).await).await;
                let cut = Cut::All;
                cut_off.plan(Some(Plan { at, side, cut }));
                let has_ended = tokio::select! {
                    biased;
                    () = cut_off.dark() => false,
                    ended = dying.wait_for_refreshes() => {
                        ended.unwrap();
                        true
                    }
                };
                end_turn(&store).await;
                // The next worker ends the transaction of the dead one.
                let is_left = direct.deferred_refreshes().await.unwrap().waiting > 0;
                let has_turn = leases.count_documents(doc! {}).await.unwrap() > 0;
                proxy.plan(None);
                assert_right(&direct, &format!("{side:?} {at}")).await;
                let is_killed = proxy.commands().contains(&"killSessions".to_owned());
                assert_eq!(is_killed, is_left && has_turn, "{side:?} {at}");
                kills += usize::from(is_killed);
                if has_ended {
                    break;
                }
                deaths += 1;
            }
        }
        assert!(deaths > 20, "{deaths} messages");
        assert!(kills > deaths / 4, "of {deaths} workers {kills} had their turn");
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_worker_that_may_not_end_the_transaction_of_a_dead_one_warns_and_goes_on_on_mongodb() {
    let told = Told::default();
    let _guard = tracing::subscriber::set_default(told.clone());
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let proxy = Proxy::new(server);
        let library = library(proxy.store(server, PATIENCE).await).await;
        library.authors.insert(author(1)).await.unwrap();
        library.shelves.insert(shelf(1)).await.unwrap();
        library.books.insert(book(1, 1, 1)).await.unwrap();
        let dead = doc! {
            "_id": "outbox",
            "turn": ObjectId::new(),
            "until": DateTime::from_millis(0),
            "session": { "id": Uuid::new() },
        };
        let leases = server.database.collection::<Document>("_odm_leases");
        leases.insert_one(dead).await.unwrap();
        let unauthorized = Refusal::new(13, "Unauthorized");
        proxy.refuse_each(&["killSessions"], unauthorized);
        library.wait_for_refreshes().await.unwrap();
        assert!(proxy.commands().contains(&"killSessions".to_owned()));
        assert!(
            told.has("the last transaction of a worker that is gone was not ended"),
            "{told:?}"
        );
        assert_right(&library, "after the refusal").await;
    });
}

/// The server keeps the transaction of a process that was killed for a minute.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_worker_goes_on_beside_what_an_open_transaction_keeps_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let store = server.store().await;
        let library = library(store.clone()).await;
        library.authors.insert_many((1..=8).map(author)).await.unwrap();
        library.shelves.insert(shelf(1)).await.unwrap();
        library.books.insert_many((1..=8).map(|id| book(id, 1, 1))).await.unwrap();
        library.wait_for_refreshes().await.unwrap();
        let all = library.authors.update_where(Filter::all());
        all.set(Author::fields().name, "new").await.unwrap();

        // A record, and a document that needs a refresh.
        let mut session = server.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        for (collection, kept) in
            [("_odm_outbox", doc! { "holder": "books", "id": 1 }), ("books", doc! { "author": 2 })]
        {
            let collection = server.database.collection::<Document>(collection);
            let keep = collection.update_one(kept, doc! { "$set": { "kept": true } });
            let kept = keep.session(&mut session).await.unwrap();
            assert_eq!(kept.modified_count, 1);
        }
        let refreshed = async || {
            let old = library.books.find(Book::fields().author_later.ne("new")).await.unwrap();
            let mut old: Vec<_> = old.iter().map(|book| *book.author.id()).collect();
            old.sort_unstable();
            old == [1, 2]
        };
        tokio::select! {
            ended = library.wait_for_refreshes() => panic!("all is refreshed: {ended:?}"),
            in_time = tokio::time::timeout(Duration::from_secs(30), async {
                while !refreshed().await {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }) => in_time.expect("the worker waits for the transaction"),
        }
        session.abort_transaction().await.unwrap();
        end_turn(&store).await;
        assert_right(&library, "after the transaction").await;
    });
}

const DATABASE: &str = "ODM_TESTS_FAULTS_DATABASE";
const SEED: &str = "ODM_TESTS_FAULTS_SEED";
const WRITTEN: &str = "written";

/// The child process: it writes sources of deferred fields, and refreshes these, until it is killed.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes_and_works() {
    let Ok(database) = env::var(DATABASE) else {
        return;
    };
    let mut chance = Chance::new(number(SEED).expect("it is set"));
    super::end_in(Duration::from_secs(120));
    tests::run(async {
        let store = super::store_named(&database).await;
        let options = OpenOptions::default().refresh_every(Duration::from_millis(1));
        let library = Library::open_with(store, options).await.unwrap();
        loop {
            let id = 1 + chance.below(3) as i32;
            match chance.below(3) {
                0 => {
                    let name = format!("named {}", chance.below(1000));
                    let rename = library.authors.update(id).set(Author::fields().name, name);
                    rename.await.unwrap();
                }
                1 => {
                    let pages = chance.below(100) as i32;
                    library.books.insert(book(id, 1 + pages % 2, pages)).await.unwrap();
                }
                _ => {
                    let some = Book::fields().pages.eq(chance.below(100) as i32);
                    library.books.delete_where(some).await.unwrap();
                }
            }
            println!("{WRITTEN}");
        }
    });
}

/// Kills `KILLS` processes, three at a time.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn what_processes_leave_that_are_killed_is_finished_by_another_on_mongodb() {
    let kills = number("KILLS").unwrap_or(6);
    let mut chance = Chance::new(number("SEED").unwrap_or(1));
    on_mongodb_database(Duration::from_secs(60 * kills), async |server: &TestDatabase| {
        let library = library(server.store().await).await;
        library.authors.insert_many([1, 2, 3].map(author)).await.unwrap();
        library.shelves.insert_many([1, 2].map(shelf)).await.unwrap();
        // More than a unit of the worker goes through.
        let books = (0..330).map(|book| self::book(1 + book % 3, 1 + book % 2, book));
        library.books.insert_many(books).await.unwrap();
        let mut written = 0;
        for round in 0..kills.div_ceil(3) {
            let killed: Vec<_> = (0..3)
                .map(|child| {
                    let seed = (round * 3 + child).to_string();
                    let after = Kill::AfterStart(Duration::from_millis(300 + chance.below(3000)));
                    let database = server.database.name().to_owned();
                    thread::spawn(move || {
                        let variables = [(DATABASE, &*database), (SEED, &*seed)];
                        run_and_kill(
                            "faults::deaths::child_that_writes_and_works",
                            &variables,
                            after,
                        )
                    })
                })
                .collect();
            for child in killed {
                let told = tokio::task::spawn_blocking(|| child.join().unwrap()).await.unwrap();
                written += told.iter().filter(|line| line.ends_with(WRITTEN)).count();
            }
        }
        assert!(written > 0, "the processes were killed before they wrote");
        assert_right(&library, &format!("after {kills} kills and {written} writes")).await;
    });
}
