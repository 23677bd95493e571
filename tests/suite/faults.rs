//! Connections that are cut, servers that go away, and workers that die: what a store on a MongoDB server leaves then.

use std::{env, thread, time::Duration};

use odm::MongoDb;

mod chance;
mod cuts;
mod deaths;
mod delays;
mod models;
mod outages;
mod reads;
mod refusals;
mod servers;
mod soak;
mod watches;

/// Makes sure that a child process comes to an end, whatever becomes of its parent.
fn end_in(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        std::process::exit(1);
    });
}

/// The store of a child process in the database that its parent names.
async fn store_named(database: &str) -> MongoDb {
    let uri = env::var("ODM_TEST_MONGODB_URI").expect("its parent has it too");
    let client = mongodb::Client::with_uri_str(uri).await.unwrap();
    MongoDb::new(&client, database).await.unwrap()
}

/// A number that an environment variable gives.
fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().expect("it is a number"))
}
