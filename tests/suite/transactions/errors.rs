//! The options of a closure after an error in it: the table of `docs/transactions.md`, on every store.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store, on_local_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "rooms", index(fields = "door", unique))]
struct Room {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min = 1)]
    beds: i64,
    door: i64,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "guests")]
struct Guest {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "restrict")]
    room: Ref<Room>,
}

#[derive(Database)]
#[database(name = "hotel", version = 1)]
struct Hotel {
    rooms: Repository<Room>,
    guests: Repository<Guest>,
}

fn room(id: i64) -> Room {
    Room { id, beds: 2, door: id, revision: 0 }
}

fn guest(id: i64, room: i64) -> Guest {
    Guest { id, room: Ref::new(room) }
}

/// One divided by zero, for each room.
fn divided() -> Filter<Room> {
    let zero = doc! { "$subtract": ["$beds", "$beds"] };
    Filter::raw(doc! { "$expr": { "$divide": [1, zero] } })
}

/// The failing operations of a closure, by their names in the test.
const GOES_ON: [(&str, ErrorKind); 7] = [
    ("get of no document", ErrorKind::NotFound),
    ("update of no document", ErrorKind::NotFound),
    ("replacement of no document", ErrorKind::NotFound),
    ("write of an older version", ErrorKind::Stale),
    ("query that is none", ErrorKind::InvalidQuery),
    ("read of a document that is none of the model", ErrorKind::Decode),
    ("write outside", ErrorKind::OutsideTransaction),
];
const ENDS: [(&str, ErrorKind); 7] = [
    ("insert of a key that is taken", ErrorKind::DuplicateKey),
    ("insert of a unique value that is taken", ErrorKind::DuplicateKey),
    ("insert of an invalid document", ErrorKind::Invalid),
    ("insert with a reference to no document", ErrorKind::DanglingReference),
    ("delete that is restricted", ErrorKind::Restricted),
    ("update whose filter fails", ErrorKind::FailedFilter),
    ("inner transaction that fails", ErrorKind::NotFound),
];

async fn act(name: &str, hotel: &Hotel, outside: &Hotel) -> odm::Result<()> {
    let Hotel { rooms, guests } = hotel;
    let fields = Room::fields();
    match name {
        "get of no document" => rooms.get(77).await.map(drop),
        "update of no document" => rooms.update(77).inc(fields.beds, 1).await,
        "replacement of no document" => rooms.replace(room(77)).await.map(drop),
        "write of an older version" => {
            rooms.replace(Room { revision: 77, ..room(1) }).await.map(drop)
        }
        "query that is none" => rooms.find(Filter::raw(doc! { "$frob": 1 })).await.map(drop),
        "read of a document that is none of the model" => rooms.get(9).await.map(drop),
        "write outside" => outside.rooms.delete(1).await.map(drop),
        "insert of a key that is taken" => {
            rooms.insert(Room { door: 50, ..room(1) }).await.map(drop)
        }
        "insert of a unique value that is taken" => {
            rooms.insert(Room { door: 1, ..room(5) }).await.map(drop)
        }
        "insert of an invalid document" => {
            rooms.insert(Room { beds: 0, ..room(5) }).await.map(drop)
        }
        "insert with a reference to no document" => guests.insert(guest(5, 77)).await.map(drop),
        "delete that is restricted" => rooms.delete(1).await.map(drop),
        "update whose filter fails" => {
            rooms.update_where(divided()).inc(fields.beds, 1).await.map(drop)
        }
        "inner transaction that fails" => {
            Box::pin(hotel.transaction(async |hotel| hotel.rooms.get(77).await.map(drop))).await
        }
        "read whose filter fails" => rooms.find(divided()).await.map(drop),
        other => panic!("{other}"),
    }
}

async fn hotel(store: impl TestStore) -> Hotel {
    let hotel = Hotel::open(store.clone()).await.unwrap();
    hotel.rooms.insert_many([1, 2, 9].map(room)).await.unwrap();
    hotel.guests.insert(guest(1, 1)).await.unwrap();
    let broken = doc! { "$set": { "beds": "two" } };
    behind_the_back(&store, "rooms", doc! { "_id": 9_i64 }, broken).await;
    hotel
}

/// Runs a transaction that goes on after an error, and returns its result.
async fn gone_on(hotel: &Hotel, name: &str, kind: ErrorKind, id: i64) -> odm::Result<()> {
    let ended = hotel
        .transaction(async |inside| {
            let error = act(name, &inside, hotel).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{name}: {error}");
            // Whether or not the next write is refused, the commit reports the fate of the transaction.
            drop(inside.guests.insert(guest(id, 2)).await);
            Ok(())
        })
        .await;
    let is_stored = hotel.guests.get(id).optional().await.unwrap().is_some();
    assert_eq!(is_stored, ended.is_ok(), "{name}: {ended:?}");
    ended
}

on_every_store! {
    async fn a_closure_goes_on_after_an_error_that_leaves_nothing_half_done(store: AnyStore) {
        let hotel = hotel(store).await;
        for (id, (name, kind)) in (100..).zip(GOES_ON) {
            let ended = gone_on(&hotel, name, kind, id).await;
            assert!(ended.is_ok(), "{name}: {ended:?}");
        }
    }

    async fn a_transaction_cannot_commit_after_a_write_that_failed(store: AnyStore) {
        let hotel = hotel(store).await;
        for (id, (name, kind)) in (200..).zip(ENDS) {
            let error = gone_on(&hotel, name, kind, id).await.expect_err(name);
            assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{name}: {error}");
            assert!(!error.is_retryable(), "{name}: {error}");
        }
    }
}

/// The server has ended the transaction, for any result of the closure.
#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_transaction_cannot_commit_after_a_read_whose_filter_fails_on_mongodb() {
    tests::on_mongodb(async |store| {
        let hotel = hotel(store).await;
        let name = "read whose filter fails";
        let error = gone_on(&hotel, name, ErrorKind::FailedFilter, 300).await.expect_err(name);
        assert_eq!(error.kind(), ErrorKind::TransactionAborted, "{error}");
        assert!(!error.is_retryable(), "{error}");
        assert!(error.to_string().contains("an operation in it failed"), "{error}");
    });
}

on_local_stores! {
    // On a MongoDB server the transaction cannot commit then.
    async fn a_closure_goes_on_after_a_read_whose_filter_fails(store: AnyStore) {
        let hotel = hotel(store).await;
        let ended = gone_on(&hotel, "read whose filter fails", ErrorKind::FailedFilter, 300).await;
        assert!(ended.is_ok(), "{ended:?}");
    }
}
