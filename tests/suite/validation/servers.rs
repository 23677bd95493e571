//! The validators of a MongoDB server, which protect against programs without the library.

use std::time::Duration;

use mongodb::bson::{Document as Bson, doc};
use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestDatabase, on_mongodb_database};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "lamps")]
struct Lamp {
    #[serde(rename = "_id")]
    id: i32,
    #[validate(min = 1, max = 100)]
    watts: i32,
}

#[derive(Database)]
#[database(name = "lamps", version = 1)]
struct Lamps {
    lamps: Repository<Lamp>,
}

mod later {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "lamps", validation(level = "off"))]
    struct Lamp {
        #[serde(rename = "_id")]
        id: i32,
        watts: i32,
    }

    #[derive(Database)]
    #[database(name = "lamps", version = 2)]
    pub(super) struct Lamps {
        lamps: Repository<Lamp>,
    }
}

fn on_server(test: impl AsyncFnOnce(&TestDatabase)) {
    on_mongodb_database(Duration::from_secs(60), test);
}

/// Inserts a lamp by the driver, and returns the code of the error.
async fn insert_by_hand(server: &TestDatabase, id: i32, watts: i32) -> Option<i32> {
    let lamps = server.database.collection::<Bson>("lamps");
    let inserted = lamps.insert_one(doc! { "_id": id, "watts": watts }).await;
    inserted.err().map(|error| match *error.kind {
        mongodb::error::ErrorKind::Write(mongodb::error::WriteFailure::WriteError(error)) => {
            error.code
        }
        other => panic!("{other}"),
    })
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_server_refuses_what_another_program_writes_against_the_schema_on_mongodb() {
    on_server(async |server| {
        let shop = Lamps::open(server.store().await).await.unwrap();
        assert_eq!(insert_by_hand(server, 1, 1000).await, Some(121));
        assert_eq!(insert_by_hand(server, 2, 60).await, None);
        let error = shop.lamps.insert(Lamp { id: 3, watts: 0 }).await.unwrap_err();
        assert_eq!(error.violations()[0].path, "watts");
        assert_eq!(shop.lamps.all().count().await.unwrap(), 1);
        // A second opening changes nothing.
        let _again = Lamps::open(server.store().await).await.unwrap();
        assert_eq!(insert_by_hand(server, 1, 1000).await, Some(121));
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_validator_that_no_version_declares_any_more_is_removed_from_the_server_on_mongodb() {
    on_server(async |server| {
        Lamps::open(server.store().await).await.unwrap();
        later::Lamps::open(server.store().await).await.unwrap();
        assert_eq!(insert_by_hand(server, 1, 1000).await, None);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_validator_of_another_program_stays_and_is_obeyed_on_mongodb() {
    on_server(async |server| {
        let own = doc! { "watts": { "$ne": 13 } };
        let create = server.database.create_collection("lamps").validator(own);
        create.await.unwrap();
        let shop = Lamps::open(server.store().await).await.unwrap();
        assert_eq!(insert_by_hand(server, 1, 13).await, Some(121));
        assert_eq!(insert_by_hand(server, 2, 1000).await, None);
        let error = shop.lamps.insert(Lamp { id: 3, watts: 13 }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.code(), Some(121));
        shop.lamps.insert(Lamp { id: 4, watts: 14 }).await.unwrap();
    });
}
