//! The state that a store on a MongoDB server leaves after cut connections, server outages, and the death of workers.

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

/// Ends a child process after some time, even if its parent does not.
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

/// The number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().expect("it is a number"))
}
