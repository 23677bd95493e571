//! A MongoDB server for tests.

mod commands;

use std::{
    cell::RefCell,
    env,
    future::Future,
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use futures_util::FutureExt;
use mongodb::{Client, Database, error::ErrorKind, options::ClientOptions};
use odm::{
    MongoDb, ObjectId,
    bson::{Document, doc},
};

use crate::{
    STUCK,
    proxy::{Disguise, Proxy},
};

/// The tests that fail on SecantusDB, which is not MongoDB, each with the statement of MongoDB's documentation.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "batches::a_document_with_values_of_deprecated_types_is_stored_byte_for_byte",
        "\"Undefined\" and \"Symbol\" are BSON types, if deprecated ones (Reference: BSON Types).",
    ),
    (
        "unreadable::a_raw_read_gives_the_document_as_it_is_stored::on_mongodb",
        "As above.",
    ),
    (
        "ids_and_dates_stay_what_they_are::on_mongodb",
        "Date is a 64-bit integer: the milliseconds since the epoch, of about 290 million years (BSON Types: Date).",
    ),
    (
        "lines::all_types_of_values_are_read_back_as_they_were::on_mongodb",
        "As above.",
    ),
    (
        "native::what_a_type_does_not_have_is_an_error_that_names_it::on_mongodb",
        "As above.",
    ),
    (
        "numbers::dates_at_their_bounds_expire_or_not::on_mongodb",
        "As above.",
    ),
    (
        "numbers::a_refresh_that_waits_since_any_time_is_done::on_mongodb",
        "As above.",
    ),
    ("models::adjacent::on_mongodb", "As above."),
    ("models::containers::on_mongodb", "As above."),
    ("models::embedding::on_mongodb", "As above."),
    ("models::external::on_mongodb", "As above."),
    ("models::flat::on_mongodb", "As above."),
    ("models::internal::on_mongodb", "As above."),
    ("models::others::on_mongodb", "As above."),
    ("models::untagged::on_mongodb", "As above."),
    ("uses::chrono_da", "As above."),
    ("uses::jiff_da", "As above."),
    ("uses::time_da", "As above."),
    (
        "schemas::a_store_that_measures_collections_tells_what_they_take",
        "`size` is the total uncompressed size in memory of all records in a collection (collStats: Output).",
    ),
    (
        "schemas::a_store_that_counts_the_uses_of_indexes_counts_those_that_find",
        "`accesses.ops` is the number of operations that used the index ($indexStats: Output).",
    ),
    (
        "filters::arrays_are_matched_by_element_by_all_and_as_a_whole::on_mongodb",
        "`$elemMatch` takes any query on the elements, `$or` as well ($elemMatch: Syntax).",
    ),
    (
        "filters::filters_are_combined_in_any_number::on_mongodb",
        "As above.",
    ),
    (
        "finds::a_query_returns_the_fields_of_its_projection",
        "A projection of a field in embedded documents applies to each element of an array (Tutorial: Project Fields to \
         Return from Query, Project Specific Embedded Fields in an Array).",
    ),
    (
        "schemas::a_transaction_that_began_before_an_index_does_not_break_it",
        "An operation in a transaction on a collection whose catalog has changed since its snapshot fails (Production \
         Considerations: Pending DDL Operations and Transactions).",
    ),
    (
        "snapshots::a_reader_sees_what_was_committed_before_it_and_nothing_later",
        "Queries with read concern \"snapshot\" of one session read from one point in time (Read Concern \"snapshot\": Read \
         Concern and atClusterTime).",
    ),
    (
        "snapshots::a_snapshot_holds_up_no_write_and_does_not_see_it::on_mongodb",
        "As above.",
    ),
    (
        "snapshots::a_snapshot_in_another_one_has_its_state::on_mongodb",
        "As above.",
    ),
    (
        "semi_joins::a_semi_join_sees_the_state_of_its_transaction_or_snapshot::on_mongodb",
        "As above.",
    ),
    (
        "semi_joins::both_sides_are_read_from_one_state_while_others_write::on_mongodb",
        "As above.",
    ),
    (
        "streams::a_stream_reads_one_state_while_others_write::on_mongodb",
        "As above.",
    ),
    (
        "lines::an_export_is_of_the_state_that_it_began_with::on_mongodb",
        "As above.",
    ),
    (
        "unique_indexes::each_element_of_an_array_is_a_key",
        "A compound multikey index has one key for each element of the array that its fields meet (Multikey Indexes: \
         Multikey Index on Embedded Fields in an Array).",
    ),
    (
        "unique_indexes::two_arrays_side_by_side_in_an_index_are_refused",
        "You cannot create a compound multikey index if more than one field to be indexed in a document is an array, and \
         cannot insert such a document (Multikey Indexes: Compound Multikey Indexes).",
    ),
];

/// The tests that SecantusDB does not end, or after which it does not answer any more, by a part of their names, each with the statement of
/// MongoDB's documentation. They are not run on it.
const ENDLESS: &[(&str, &str)] = &[
    (
        "snapshots::all_reads_of_a_snapshot_see_one_state_while_others_write",
        "Queries with read concern \"snapshot\" of one session read from one point in time (Read Concern \"snapshot\": Read \
         Concern and atClusterTime). Here a read waits for one that sees what it will not.",
    ),
    (
        "dropped::a_transaction_dropped_during_its_first_write",
        "If a write operation within a transaction encounters a conflict, it fails (Production Considerations: In-progress \
         Transactions and Write Conflicts); here it is tried without an end, also where its connection is gone.",
    ),
];

/// A new database of the MongoDB server that `ODM_TEST_MONGODB_URI` names.
#[derive(Debug)]
pub struct TestDatabase {
    /// A client of the server, for requests of the test without the library.
    pub client: Client,
    /// The options of a client of a store, whose commands are compared with the table of commands.
    pub options: ClientOptions,
    /// The database, which is removed after the test.
    pub database: Database,
    /// The server is SecantusDB, which is not MongoDB.
    pub is_secantus: bool,
}

impl TestDatabase {
    /// A store in the database, with a client of its own.
    ///
    /// # Panics
    ///
    /// If the server cannot be used.
    pub async fn store(&self) -> MongoDb {
        let client = client_with(self.options.clone());
        let store = MongoDb::new(&client, self.database.name()).await;
        store.expect("the server can be used")
    }

    /// Whether the server has the command `bulkWrite`: MongoDB from 8.0 on, unless its feature compatibility version is older.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub async fn has_bulk_write(&self) -> bool {
        let admin = self.client.database("admin");
        let hello = admin.run_command(doc! { "hello": 1 }).await;
        let hello: Document = hello.expect("the server answers");
        if hello.get_i32("maxWireVersion").unwrap_or(0) < 25 {
            return false;
        }
        // A server with the command refuses the lack of operations, which it checks later.
        let namespace = format!("{}.none", self.database.name());
        let empty = doc! { "bulkWrite": 1, "ops": [], "nsInfo": [{ "ns": namespace }] };
        let refused = admin.run_command(empty).await;
        !refused.is_err_and(|error| {
            matches!(&*error.kind, ErrorKind::Command(command) if [59, 115, 40_415].contains(&command.code))
        })
    }
}

/// Runs a test on a store in a new database of the MongoDB server that `ODM_TEST_MONGODB_URI` names. Removes the database after it.
///
/// # Panics
///
/// As the test does, and without the variable. A test that is listed among the differences of the server must panic, so that the list is
/// true.
pub fn on_mongodb<F: Future>(test: impl FnOnce(MongoDb) -> F) {
    let name = name_of_test();
    on_mongodb_database(STUCK, async |server: &TestDatabase| {
        let is_different =
            server.is_secantus && DIFFERENCES.iter().any(|(test, _)| name.contains(test));
        let store = server.store().await;
        let tested = AssertUnwindSafe(test(store)).catch_unwind().await;
        match (tested, is_different) {
            (Ok(_), false) | (Err(_), true) => {}
            (Ok(_), true) => {
                panic!("`{name}` passes: remove it from the differences of the server")
            }
            (Err(failed), false) => panic::resume_unwind(failed),
        }
    });
}

/// The name of the thread that the harness has made for a test.
fn name_of_test() -> String {
    let thread = thread::current();
    thread.name().unwrap_or_default().to_owned()
}

/// Runs a test on a new database of the server, for at most this time.
///
/// # Panics
///
/// As the test does, and without the variable, and if a store has sent a command that `docs/dev/mongodb-commands.md` does not have.
pub fn on_mongodb_database(most: Duration, test: impl AsyncFnOnce(&TestDatabase)) {
    crate::run_for(most, async {
        let options = options().await;
        let client = client_with(options.clone());
        let server = TestDatabase {
            is_secantus: is_secantus(&client).await,
            database: client.database(&new_name()),
            client,
            options: commands::recorded(options),
        };
        let name = name_of_test();
        if server.is_secantus && ENDLESS.iter().any(|(test, _)| name.contains(test)) {
            return;
        }
        let tested = AssertUnwindSafe(test(&server)).catch_unwind().await;
        remove(&server.database, server.is_secantus).await;
        if let Err(failed) = tested {
            panic::resume_unwind(failed);
        }
        commands::assert_documented();
    });
}

/// New databases of the server, for tests that need many stores. They are removed with this value.
#[derive(Debug, Default)]
pub struct NewDatabases(Mutex<Vec<String>>);

impl NewDatabases {
    /// A store in a new database, with a client of its own: a client ends with the runtime in which it was made.
    ///
    /// # Panics
    ///
    /// Without the variable, and if the server cannot be used.
    pub async fn open(&self) -> MongoDb {
        let name = new_name();
        let client = client_with(commands::recorded(options().await));
        let store = MongoDb::new(&client, &name).await;
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(name);
        store.expect("the server can be used")
    }

    /// Whether all reads of a snapshot see the state of its first one, which SecantusDB accepts to do and does not.
    ///
    /// # Panics
    ///
    /// If the server cannot be used.
    pub async fn have_snapshots(&self) -> bool {
        let client = client().await;
        let name = new_name();
        let collection = client.database(&name).collection::<Document>("written");
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(name);
        let expected = "the server can be used";
        collection.insert_one(doc! {}).await.expect(expected);
        let mut snapshot = client.start_session().snapshot(true).await.expect(expected);
        let filter = doc! {};
        collection
            .find_one(filter)
            .session(&mut snapshot)
            .await
            .expect(expected);
        collection
            .insert_one(doc! { "_id": "later" })
            .await
            .expect(expected);
        let later = collection.find_one(doc! { "_id": "later" });
        later
            .session(&mut snapshot)
            .await
            .expect(expected)
            .is_none()
    }
}

impl Drop for NewDatabases {
    fn drop(&mut self) {
        let names = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        crate::run(async {
            let client = client().await;
            let is_secantus = is_secantus(&client).await;
            for name in names {
                remove(&client.database(name), is_secantus).await;
            }
        });
    }
}

async fn is_secantus(client: &Client) -> bool {
    let admin = client.database("admin");
    let server = admin.run_command(doc! { "buildInfo": 1 }).await;
    let server: Document = server.expect("the server answers");
    server.contains_key("secantusVersion")
}

/// Removes the database of a test, unless the server is SecantusDB: it does not answer any more if a transaction that the test has left
/// open has changed a document of the database.
async fn remove(database: &Database, is_secantus: bool) {
    if is_secantus {
        return;
    }
    let dropped = database.drop().await;
    assert!(
        dropped.is_ok() || thread::panicking(),
        "the database is removed: {dropped:?}"
    );
}

/// The options of a client of the server.
async fn options() -> ClientOptions {
    let uri =
        env::var("ODM_TEST_MONGODB_URI").expect("ODM_TEST_MONGODB_URI names a MongoDB server");
    let options = ClientOptions::parse(&uri).await;
    disguised(options.expect("the URI is one of a server"))
}

async fn client() -> Client {
    client_with(options().await)
}

thread_local! {
    /// The clients that were made while this thread runs a test.
    static CLIENTS: RefCell<Vec<Client>> = const { RefCell::new(Vec::new()) };
}

fn client_with(options: ClientOptions) -> Client {
    let client = Client::with_options(options).expect("the options are those of a URI");
    CLIENTS.with_borrow_mut(|clients| clients.push(client.clone()));
    client
}

/// The options of a client of the disguised server, if there is a disguise.
fn disguised(options: ClientOptions) -> ClientOptions {
    match Disguise::of_environment() {
        None => options,
        Some(disguise) => {
            let direct = client_with(options.clone());
            Proxy::before(&direct, &options, Some(disguise)).options(&options)
        }
    }
}

/// Ends the transactions that the test of this thread has left open on the server: dropped futures end them in tasks that would go with the
/// runtime. The server would keep them for a minute, in which it is slow.
pub(crate) async fn end_sessions() {
    for client in CLIENTS.take() {
        // A session that the test has leaked does not end.
        drop(tokio::time::timeout(Duration::from_secs(5), client.shutdown()).await);
    }
}

fn new_name() -> String {
    format!("odm_test_{}", ObjectId::new())
}
