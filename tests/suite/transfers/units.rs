//! The documents that an import stores.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use odm::{ErrorKind, TransferProgress, prelude::*};
use tests::{TestStore, on_every_store};

use super::models::*;

async fn copy_into(store: impl TestStore, market: &Market) -> Market {
    let lines = exported(market).await;
    let copy = Market::open(store).await.unwrap();
    copy.import(lines.as_bytes()).await.unwrap();
    copy
}

async fn market() -> Market {
    let store = odm::Embedded::memory().await.unwrap();
    let market = Market::open(store).await.unwrap();
    market.categories.insert(category(1, None)).await.unwrap();
    market.persons.insert(person(1)).await.unwrap();
    market
}

on_every_store! {
    async fn versions_and_times_are_kept(store: AnyStore) {
        let market = market().await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        let name = Category::fields().name;
        market.categories.update(1).set(name, "tools").await.unwrap();
        let before = market.categories.get(1).await.unwrap();
        assert!(before.revision == 2 && before.updated_at > Some(before.created_at));
        let copy = copy_into(store, &market).await;
        assert_eq!(copy.categories.get(1).await.unwrap(), before);
        // The next write continues from there.
        copy.categories.update(1).set(name, "more tools").await.unwrap();
        let after = copy.categories.get(1).await.unwrap();
        assert_eq!((after.revision, after.created_at), (3, before.created_at));
        assert!(after.updated_at > before.updated_at);
    }

    async fn frozen_copies_and_copies_of_what_is_gone_are_kept(store: AnyStore) {
        let market = market().await;
        let item = market.items.insert(item(1, 1, Some(1))).await.unwrap();
        market.tasks.insert(task(1, Some(1))).await.unwrap();
        market.reviews.insert(review(1, 5, item.id, Some(1))).await.unwrap();
        market.persons.update(1).set(Person::fields().name, "renamed").await.unwrap();
        market.items.delete(item.id).await.unwrap();
        let item = market.items.insert(self::item(1, 1, Some(1))).await.unwrap();
        market.persons.update(1).set(Person::fields().name, "again").await.unwrap();
        let copy = copy_into(store, &market).await;
        let review = copy.reviews.get(1).await.unwrap();
        assert_eq!(review.item_then.as_deref(), Some("a fence"));
        assert_eq!(review.item_name.as_deref(), Some("a fence"));
        assert_eq!(review.by_name.as_deref(), Some("again"));
        let detail = copy.items.get(item.id).with(Item::fields().detail).await.unwrap().detail;
        assert_eq!(detail.get().unwrap().inspector_then.as_deref(), Some("renamed"));
        let tasks = copy.tasks.all().await.unwrap();
        assert_eq!(tasks[0].owner_then.as_deref(), Some("person 1"));
        assert_eq!(copy.audit().await.unwrap(), []);
    }

    async fn derived_values_in_a_line_are_ignored(store: AnyStore) {
        let market = market().await;
        market.items.insert(item(1, 1, None)).await.unwrap();
        let lines = exported(&market).await;
        let wrong = lines.replace(r#""category_name":"category 1""#, r#""category_name":"wrong""#);
        assert_ne!(lines, wrong);
        let copy = Market::open(store).await.unwrap();
        copy.import(wrong.as_bytes()).await.unwrap();
        assert_eq!(exported(&copy).await, lines);
    }

    async fn a_sequence_goes_on_after_numbers_that_were_deleted(store: AnyStore) {
        let market = market().await;
        for _ in 0..3 {
            market.items.insert(item(1, 1, None)).await.unwrap();
        }
        market.items.delete(3).await.unwrap();
        let copy = copy_into(store, &market).await;
        assert_eq!(copy.items.insert(item(1, 1, None)).await.unwrap().id, 4);
    }

    async fn a_sequence_that_is_further_stays_there(store: AnyStore) {
        let market = market().await;
        market.items.insert(item(1, 1, None)).await.unwrap();
        let lines = exported(&market).await;
        let other = Market::open(store).await.unwrap();
        other.categories.insert(category(2, None)).await.unwrap();
        other.persons.insert(person(2)).await.unwrap();
        let items = other.items.insert_many([(); 3].map(|()| item(2, 2, None))).await.unwrap();
        for item in items {
            other.items.delete(item.id).await.unwrap();
        }
        other.import(lines.as_bytes()).await.unwrap();
        assert_eq!(other.items.insert(item(2, 2, None)).await.unwrap().id, 4);
    }

    async fn references_that_one_side_alone_has_are_inverse_again(store: AnyStore) {
        let market = market().await;
        let task = market.tasks.insert(task(1, Some(1))).await.unwrap();
        let lines = exported(&market).await;
        let id = format!("{{\"$oid\":\"{}\"}}", task.id);
        let one_sided = lines.replace(&format!("[{id}]"), "[]");
        assert_ne!(one_sided, lines);
        let copy = Market::open(store).await.unwrap();
        copy.import(one_sided.as_bytes()).await.unwrap();
        assert_eq!(copy.audit().await.unwrap(), []);
        assert_eq!(copy.persons.get(1).await.unwrap().tasks, [Ref::new(task.id)]);
    }

    async fn a_cold_part_in_a_line_conforms_to_its_model(store: AnyStore) {
        let market = market().await;
        market.items.insert(item(1, 1, None)).await.unwrap();
        let lines = exported(&market).await;
        let broken = lines.replace("\"of wood\"", "true");
        assert_ne!(broken, lines);
        let copy = Market::open(store).await.unwrap();
        let error = copy.import(broken.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert_eq!(copy.items.all().count().await.unwrap(), 0);
    }

    async fn an_empty_database_is_imported(store: AnyStore) {
        let market = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
        let copy = copy_into(store, &market).await;
        assert_eq!(exported(&copy).await, exported(&market).await);
    }

    async fn an_import_adds_to_what_is_there(store: AnyStore) {
        let market = market().await;
        let lines = exported(&market).await;
        let other = Market::open(store).await.unwrap();
        other.categories.insert(category(2, None)).await.unwrap();
        other.import(lines.as_bytes()).await.unwrap();
        assert_eq!(other.categories.all().count().await.unwrap(), 2);
        assert_eq!(other.audit().await.unwrap(), []);
    }

    async fn an_import_in_a_transaction_is_stored_as_a_whole_or_not_at_all(store: AnyStore) {
        let lines = exported(&market().await).await;
        let broken = lines.replace("person 1\"", "person 1\", \"friends\": 3, \"x\": \"");
        let copy = Market::open(store).await.unwrap();
        let import = async |lines: &str| {
            copy.transaction(async |copy| copy.import(lines.as_bytes()).await).await
        };
        import(&broken).await.unwrap_err();
        assert_eq!(exported(&copy).await.lines().count(), 1);
        assert_eq!(import(&lines).await.unwrap(), 2);
        assert_eq!(exported(&copy).await, lines);
    }

    async fn an_import_in_a_snapshot_is_refused(store: AnyStore) {
        let lines = exported(&market().await).await;
        let copy = Market::open(store).await.unwrap();
        let error = copy
            .snapshot(async |copy| copy.import(lines.as_bytes()).await)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
    }

    async fn both_say_how_far_they_are(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let categories = (0..2_000).map(|id| category(id, None));
        market.categories.insert_many(categories).await.unwrap();
        let reports: Arc<Mutex<Vec<TransferProgress>>> = Arc::default();
        let report = |reports: &Arc<Mutex<Vec<TransferProgress>>>| {
            let reports = reports.clone();
            move |progress| reports.lock().unwrap().push(progress)
        };
        let mut lines = Vec::new();
        market.export(&mut lines).on_progress(report(&reports)).await.unwrap();
        let last = reports.lock().unwrap().pop().unwrap();
        assert_eq!((last.documents, last.of), (2_000, 2_000));
        let copy = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
        reports.lock().unwrap().clear();
        copy.import(&lines[..]).on_progress(report(&reports)).await.unwrap();
        let units: Vec<(u64, u64)> = reports.lock().unwrap().iter().map(|of| (of.documents, of.of)).collect();
        assert_eq!(units, [(500, 2_000), (1_000, 2_000), (1_500, 2_000), (2_000, 2_000)]);
    }

    async fn a_long_chain_is_exported_from_its_end_and_imported_in_units(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        // Each refers to the next one, which has a greater `_id`.
        let chain = (0..1_500).map(|id| category(id, (id < 1_499).then_some(id + 1)));
        market.categories.insert_many(chain).await.unwrap();
        let lines = exported(&market).await;
        assert!(lines.lines().nth(1).unwrap().contains("category 1499"));
        let copy = imported(&lines).await.unwrap();
        assert_eq!(exported(&copy).await, lines);
        assert_eq!(copy.audit().await.unwrap(), []);
    }

    async fn what_is_stored_before_an_import_is_dropped_is_right(store: AnyStore) {
        let market = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
        let categories = (0..1_200).map(|id| category(id, (id > 0).then_some(id / 2)));
        market.categories.insert_many(categories).await.unwrap();
        let lines = exported(&market).await;
        let copy = Market::open(store).await.unwrap();
        let (mut writer, reader) = tokio::io::duplex(1 << 20);
        use tokio::io::AsyncWriteExt;
        writer.write_all(lines.as_bytes()).await.unwrap();
        let stored = Arc::new(tokio::sync::Notify::new());
        let is_stored = {
            let stored = stored.clone();
            move |progress: TransferProgress| {
                if progress.documents == 1_000 {
                    stored.notify_one();
                }
            }
        };
        let import = copy.import(tokio::io::BufReader::new(reader)).on_progress(is_stored);
        tokio::select! {
            ended = import.into_future() => panic!("the import waits for more: {ended:?}"),
            () = stored.notified() => {}
        }
        let stored = copy.categories.all().count().await.unwrap();
        assert!(stored == 1_000, "{stored}");
        assert_eq!(copy.audit().await.unwrap(), []);
    }
}

#[tokio::test]
async fn documents_that_wait_for_one_are_stored_in_units_of_a_bounded_size() {
    let market = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
    // Many wait for others that wait themselves.
    let categories = (0..2_000).map(|id| category(id, (id > 0).then_some(id / 2)));
    market.categories.insert_many(categories).await.unwrap();
    let lines = exported(&market).await;
    let (head, documents) = lines.split_once('\n').unwrap();
    let reversed: Vec<&str> = documents.lines().rev().collect();
    let reversed = format!("{head}\n{}\n", reversed.join("\n"));
    let store = odm::Embedded::builder().unit_limit(600).memory().await.unwrap();
    let copy = Market::open(store).await.unwrap();
    assert_eq!(copy.import(reversed.as_bytes()).await.unwrap(), 2_000);
    assert_eq!(exported(&copy).await, lines);
    assert_eq!(copy.audit().await.unwrap(), []);
}
