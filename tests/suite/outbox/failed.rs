//! Refreshes that fail.

use odm::{ErrorKind, OpenOptions, Problem, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

/// No two have one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "seats")]
struct Seat {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child)]
    user: Ref<User>,
    #[denormalize(from = "User.name", refresh = "later")]
    user_name: String,
    #[index(unique)]
    row: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tables")]
struct Table {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child)]
    user: Ref<User>,
    #[denormalize(from = "User.name", refresh = "later")]
    #[index(unique)]
    user_name: String,
}

#[derive(Database)]
#[database(name = "hall", version = 1)]
struct Hall {
    users: Repository<User>,
    seats: Repository<Seat>,
    tables: Repository<Table>,
}

async fn hall(store: impl TestStore) -> Hall {
    let options = OpenOptions::default().refresh_every(None);
    Hall::open_with(store, options).await.unwrap()
}

async fn rename(hall: &Hall, id: i32, name: &str) {
    let rename = hall.users.update(id).set(User::fields().name, name);
    rename.await.unwrap();
}

/// Two tables, one of which cannot take the name of its user, and many seats.
async fn clashing(store: impl TestStore) -> Hall {
    let hall = hall(store).await;
    let user = |id, name: &str| User { id, name: name.to_owned() };
    hall.users.insert_many([user(1, "ann"), user(2, "bob")]).await.unwrap();
    let table = |id| Table { id, user: Ref::new(id), user_name: String::new() };
    hall.tables.insert_many([table(1), table(2)]).await.unwrap();
    let seat = |id| Seat { id, user: Ref::new(2), user_name: String::new(), row: Some(id) };
    hall.seats.insert_many((1..=40).map(seat)).await.unwrap();
    rename(&hall, 2, "ann").await;
    hall.wait_for_refreshes().await.unwrap();
    hall
}

on_every_store! {
    async fn a_refresh_that_fails_is_parked_and_holds_nothing_else_up(store: AnyStore) {
        let hall = clashing(store).await;
        let refreshes = hall.deferred_refreshes().await.unwrap();
        assert_eq!(refreshes.waiting, 0);
        let [failed] = &refreshes.failed[..] else { panic!("{refreshes:?}") };
        assert_eq!((failed.collection.as_str(), failed.path.as_str(), &failed.id), ("tables", "user", &2.into()));
        assert_eq!(failed.kind, format!("{:?}", ErrorKind::DuplicateKey));
        let right = hall.seats.find(Seat::fields().user_name.eq("ann")).count().await.unwrap();
        assert_eq!(right, 40);
        let findings = hall.audit().await.unwrap();
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((finding.collection.as_str(), finding.path.as_str()), ("tables", "user_name"));
        assert!(matches!(&finding.problem, Problem::FailedRefresh(error) if *error == failed.error), "{finding}");
    }

    async fn failed_refreshes_are_tried_again_when_asked_for(store: AnyStore) {
        let hall = clashing(store).await;
        assert_eq!(hall.retry_failed_refreshes().await.unwrap(), 1);
        hall.wait_for_refreshes().await.unwrap();
        assert_eq!(hall.deferred_refreshes().await.unwrap().failed.len(), 1, "the reason is still there");
        rename(&hall, 1, "cleo").await;
        hall.wait_for_refreshes().await.unwrap();
        assert_eq!(hall.retry_failed_refreshes().await.unwrap(), 1);
        hall.wait_for_refreshes().await.unwrap();
        assert_eq!(hall.deferred_refreshes().await.unwrap().failed, []);
        assert_eq!(hall.tables.get(2).await.unwrap().user_name, "ann");
        assert_eq!(hall.audit().await.unwrap(), []);
    }

    async fn a_parked_refresh_is_forgotten_when_a_later_one_has_refreshed_the_same(store: AnyStore) {
        let hall = clashing(store).await;
        assert_eq!(hall.deferred_refreshes().await.unwrap().failed.len(), 1);
        // Another name, which the table can take.
        rename(&hall, 2, "dan").await;
        hall.wait_for_refreshes().await.unwrap();
        let refreshes = hall.deferred_refreshes().await.unwrap();
        assert_eq!((refreshes.waiting, &*refreshes.failed), (0, &[][..]));
        assert_eq!(hall.tables.get(2).await.unwrap().user_name, "dan");
        assert_eq!(hall.audit().await.unwrap(), []);
    }

    async fn a_parked_refresh_of_another_document_stays(store: AnyStore) {
        let hall = clashing(store).await;
        rename(&hall, 1, "ann").await;
        hall.wait_for_refreshes().await.unwrap();
        assert_eq!(hall.deferred_refreshes().await.unwrap().failed.len(), 1);
        // It fails again.
        rename(&hall, 2, "x").await;
        rename(&hall, 2, "ann").await;
        hall.wait_for_refreshes().await.unwrap();
        let failed = hall.deferred_refreshes().await.unwrap().failed;
        assert!(!failed.is_empty() && failed.iter().all(|of| of.collection == "tables"), "{failed:?}");
    }

    async fn a_parked_refresh_is_forgotten_after_a_repair(store: AnyStore) {
        let hall = clashing(store.clone()).await;
        // The reason is gone, without a report to the record.
        behind_the_back(&store, "users", doc! { "_id": 2 }, doc! { "$set": { "name": "eve" } }).await;
        let repaired = hall.repair().await.unwrap();
        assert!(repaired.iter().all(|finding| finding.repaired), "{repaired:?}");
        hall.wait_for_refreshes().await.unwrap();
        let refreshes = hall.deferred_refreshes().await.unwrap();
        assert_eq!((refreshes.waiting, &*refreshes.failed), (0, &[][..]));
        assert_eq!(hall.tables.get(2).await.unwrap().user_name, "eve");
    }

    async fn failed_refreshes_are_tried_again_at_the_next_open(store: AnyStore) {
        let first = clashing(store.clone()).await;
        rename(&first, 1, "cleo").await;
        // The value is free as soon as the other table has its new one, without a report to the failed refresh.
        first.wait_for_refreshes().await.unwrap();
        assert_eq!(first.deferred_refreshes().await.unwrap().failed.len(), 1);
        drop(first);
        let hall = self::hall(store).await;
        hall.wait_for_refreshes().await.unwrap();
        assert_eq!(hall.deferred_refreshes().await.unwrap().failed, []);
        assert_eq!(hall.audit().await.unwrap(), []);
    }

    async fn of_many_holders_one_that_fails_does_not_keep_back_the_others(store: AnyStore) {
        let hall = hall(store.clone()).await;
        let user = |id, name: &str| User { id, name: name.to_owned() };
        hall.users.insert_many([user(1, "ann"), user(2, "bob")]).await.unwrap();
        let seat = |id| Seat { id, user: Ref::new(2), user_name: String::new(), row: None };
        let large = "x".repeat(15 << 20);
        hall.seats.insert_many((1..=30).map(seat)).await.unwrap();
        let notes = doc! { "$set": { "notes": large } };
        behind_the_back(&store, "seats", doc! { "_id": 17 }, notes).await;
        rename(&hall, 2, &"y".repeat(2 << 20)).await;
        hall.wait_for_refreshes().await.unwrap();
        let refreshes = hall.deferred_refreshes().await.unwrap();
        assert_eq!(refreshes.failed.len(), 1);
        assert_eq!(refreshes.failed[0].kind, format!("{:?}", ErrorKind::Limit));
        let old = hall.seats.find(Seat::fields().user_name.eq("bob")).await.unwrap();
        assert_eq!(old.iter().map(|seat| seat.id).collect::<Vec<_>>(), [17]);
    }
}
