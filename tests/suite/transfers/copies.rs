//! Copies of a database from store to store.

use std::{
    future::{Future, IntoFuture},
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use odm::{
    Embedded, ErrorKind, OpenOptions, TransferProgress,
    bson::{RawBson, doc},
    prelude::*,
};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{
    TestStore, behind_the_back, insert_behind_the_back, on_every_store, on_mongodb_database,
    poll_once, remove_behind_the_back, stored,
};

use super::{
    histories::{Op, op, run},
    models::*,
};

/// A market with relations of all kinds, and its store.
async fn source() -> (Embedded, Market) {
    let store = Embedded::memory().await.unwrap();
    let market = Market::open(store.clone()).await.unwrap();
    for id in 0..6 {
        let parent = (id > 0).then_some(id / 2);
        market.categories.insert(category(id, parent)).await.unwrap();
        market.persons.insert(person(id)).await.unwrap();
        market.tasks.insert(task(id as u8, Some(id / 3))).await.unwrap();
    }
    let friends: Vec<Ref<Person>> = [2, 3].map(Ref::new).into();
    market.persons.update(1).set(Person::fields().friends, friends).await.unwrap();
    for id in 0..12 {
        let item = market.items.insert(item(id % 6, id % 4, Some(id % 5))).await.unwrap();
        market.reviews.insert(review(id, id % 5, item.id, Some(1))).await.unwrap();
    }
    market.persons.update(1).set(Person::fields().name, "renamed").await.unwrap();
    market.items.delete(12).await.unwrap();
    (store, market)
}

/// `count` categories, some of which are children of others.
async fn large(count: i32) -> (Embedded, Market) {
    let store = Embedded::memory().await.unwrap();
    let market = Market::open(store.clone()).await.unwrap();
    let categories = (0..count).map(|id| category(id, (id >= 100).then_some(id % 100)));
    market.categories.insert_many(categories).await.unwrap();
    (store, market)
}

/// Polls a future at most `times` times, with short waits in between, and drops it.
async fn poll_and_drop<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(output) = poll_once(&mut future).await {
            return Some(output);
        }
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
    None
}

on_every_store! {
    async fn a_copy_is_the_same_there_and_back_byte_for_byte(store: AnyStore) {
        let (first, market) = source().await;
        let there = Market::open(store.clone()).await.unwrap();
        let done = market.copy_to(&there).await.unwrap();
        assert_eq!((done.documents, done.found, done.of), (41, 0, 41));
        assert_eq!(all_stored(&store).await, all_stored(&first).await);
        assert_eq!(there.audit().await.unwrap(), []);
        let last = Embedded::memory().await.unwrap();
        let back = Market::open(last.clone()).await.unwrap();
        there.copy_to(&back).await.unwrap();
        assert_eq!(all_stored(&last).await, all_stored(&first).await);
        // The sequence continues after the number of a deleted document.
        let item = back.items.insert(item(1, 1, None)).await.unwrap();
        assert_eq!(item.id, 13);
    }

    async fn a_copy_of_nothing_is_empty(store: AnyStore) {
        let market = Market::open(Embedded::memory().await.unwrap()).await.unwrap();
        let copy = Market::open(store).await.unwrap();
        let done = market.copy_to(&copy).await.unwrap();
        assert_eq!((done.documents, done.found, done.checked, done.of), (0, 0, 0, 0));
    }

    async fn a_second_copy_leaves_what_the_first_has_stored(store: AnyStore) {
        let (first, market) = source().await;
        let copy = Market::open(store.clone()).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        let done = market.copy_to(&copy).await.unwrap();
        assert_eq!((done.documents, done.found, done.of), (0, 41, 41));
        assert_eq!(all_stored(&store).await, all_stored(&first).await);
    }

    async fn a_target_with_other_documents_is_refused_by_name(store: AnyStore) {
        let (_, market) = source().await;
        let copy = Market::open(store.clone()).await.unwrap();
        let refused = async |id: i32| {
            let before = all_stored(&store).await;
            let error = market.copy_to(&copy).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
            let location = error.location().unwrap();
            assert_eq!((location.collection.as_str(), &location.id), ("categories", &Some(RawBson::Int32(id))));
            assert_eq!(all_stored(&store).await, before);
        };
        copy.categories.insert(category(77, None)).await.unwrap();
        refused(77).await;
        copy.categories.delete(77).await.unwrap();
        // A document that differs from the source: its times are others.
        copy.categories.insert(category(0, None)).await.unwrap();
        refused(0).await;
        copy.categories.delete(0).await.unwrap();
        market.copy_to(&copy).await.unwrap();
    }

    async fn a_document_of_another_source_is_found_behind_many_that_are_the_same(store: AnyStore) {
        let (_, market) = large(450).await;
        let copy = Market::open(store).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        copy.categories.insert(category(449_000, None)).await.unwrap();
        let error = market.copy_to(&copy).await.unwrap_err();
        assert_eq!(error.location().unwrap().id, Some(RawBson::Int32(449_000)), "{error}");
    }

    async fn a_cold_part_that_the_source_has_otherwise_is_refused(store: AnyStore) {
        let (_, market) = source().await;
        let copy = Market::open(store).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        copy.items.update(1).set(Item::fields().detail.text, "of steel").await.unwrap();
        let error = market.copy_to(&copy).await.unwrap_err();
        assert_eq!(error.location().unwrap().collection, "item_details", "{error}");
    }

    async fn a_collection_that_no_model_has_is_not_copied_and_is_left(store: AnyStore) {
        let (first, market) = source().await;
        insert_behind_the_back(&first, "visits", doc! { "_id": 1 }).await;
        insert_behind_the_back(&store, "others", doc! { "_id": 2 }).await;
        let copy = Market::open(store.clone()).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        assert_eq!(stored(&store, "visits").await, []);
        assert_eq!(stored(&store, "others").await.len(), 1);
    }

    async fn derived_data_of_another_program_that_is_wrong_in_the_target_is_no_error(store: AnyStore) {
        let (_, market) = source().await;
        let shop = Shop::open(store.clone()).await.unwrap();
        shop.makers.insert(Maker { id: 1, name: "Acme".into(), parts: 0 }).await.unwrap();
        behind_the_back(&store, "makers", doc! { "_id": 1 }, doc! { "$set": { "parts": 9_i64 } }).await;
        let copy = Market::open(store).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        assert_eq!(copy.audit().await.unwrap().len(), 1);
    }

    async fn derived_data_that_is_wrong_in_the_source_is_right_in_the_copy(store: AnyStore) {
        let (first, market) = source().await;
        let wrong = doc! { "$set": { "children": 9_i64 } };
        behind_the_back(&first, "categories", doc! { "_id": 1 }, wrong).await;
        assert_eq!(market.audit().await.unwrap().len(), 1);
        let copy = Market::open(store).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        assert_eq!(copy.categories.get(1).await.unwrap().children, 2);
        assert_eq!(market.copy_to(&copy).await.unwrap().found, 41);
    }

    async fn derived_data_that_is_wrong_in_the_copy_is_found_at_its_end(store: AnyStore) {
        let (_, market) = source().await;
        let copy = Market::open(store.clone()).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        let wrong = doc! { "$set": { "children": 9_i64 } };
        behind_the_back(&store, "categories", doc! { "_id": 1 }, wrong).await;
        let error = market.copy_to(&copy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImport);
        assert_eq!(error.location().unwrap().path.as_deref(), Some("children"), "{error}");
        copy.repair().await.unwrap();
        market.copy_to(&copy).await.unwrap();
    }

    async fn what_is_wrong_in_the_source_and_in_the_copy_is_no_error(store: AnyStore) {
        let (first, market) = source().await;
        // An older library stored documents without their cold parts.
        let part = stored(&first, "item_details").await.swap_remove(0);
        remove_behind_the_back(&first, "item_details", part).await;
        let found = market.audit().await.unwrap();
        assert_eq!(found.len(), 1);
        let copy = Market::open(store.clone()).await.unwrap();
        market.copy_to(&copy).await.unwrap();
        assert_eq!(copy.audit().await.unwrap(), found);
        assert_eq!(all_stored(&store).await, all_stored(&first).await);
    }

    async fn a_source_with_a_pending_field_is_refused(store: AnyStore) {
        let memory = Embedded::memory().await.unwrap();
        let before = before::Depot::open(memory.clone()).await.unwrap();
        before.boxes.insert(before::Box { id: 1 }).await.unwrap();
        before.things.insert(before::Thing { id: 1, within: Ref::new(1) }).await.unwrap();
        let depot = Depot::open(memory.clone()).await.unwrap();
        assert_eq!(depot.pending_backfills(), ["boxes.things"]);
        let copy = Depot::open(store.clone()).await.unwrap();
        let error = depot.copy_to(&copy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        depot.backfill().await.unwrap();
        depot.copy_to(&copy).await.unwrap();
        assert_eq!(stored(&store, "boxes").await, stored(&memory, "boxes").await);
    }

    async fn what_is_written_meanwhile_is_not_copied(store: AnyStore) {
        let (_, market) = large(1_200).await;
        let copy = Market::open(store).await.unwrap();
        let mut copied = market.copy_to(&copy).into_future();
        assert!(poll_once(&mut copied).await.is_pending());
        market.categories.insert(category(5_000, None)).await.unwrap();
        let done = copied.await.unwrap();
        assert_eq!((done.documents, done.of), (1_200, 1_200));
        assert_eq!(copy.categories.all().count().await.unwrap(), 1_200);
    }

    async fn two_copies_at_once_make_one(store: AnyStore) {
        let (first, market) = large(2_200).await;
        let copy = Market::open(store.clone()).await.unwrap();
        let (one, other) = tokio::join!(
            market.copy_to(&copy).into_future(),
            market.copy_to(&copy).into_future(),
        );
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(one.documents + other.documents, 2_200);
        assert_eq!(one.documents + one.found, 2_200);
        assert_eq!(all_stored(&store).await, all_stored(&first).await);
    }

    async fn a_copy_says_how_far_it_is(store: AnyStore) {
        let (_, market) = large(1_200).await;
        let copy = Market::open(store).await.unwrap();
        let reports: Arc<Mutex<Vec<TransferProgress>>> = Arc::default();
        let report = {
            let reports = reports.clone();
            move |progress| reports.lock().unwrap().push(progress)
        };
        let done = market.copy_to(&copy).on_progress(report).await.unwrap();
        assert_eq!((done.documents, done.of, done.checked), (1_200, 1_200, 1_200));
        let reports = reports.lock().unwrap();
        let stored: Vec<u64> = reports.iter().map(|of| of.documents).collect();
        assert_eq!(stored[..3], [500, 1_000, 1_200]);
        assert_eq!(reports.last(), Some(&done));
    }

    async fn a_copy_into_a_transaction_or_a_snapshot_is_refused(store: AnyStore) {
        let (_, market) = source().await;
        let copy = Market::open(store).await.unwrap();
        let copied = copy.transaction(async |copy| market.copy_to(&copy).await).await;
        assert_eq!(copied.unwrap_err().kind(), ErrorKind::InvalidQuery);
        let copied = copy.snapshot(async |copy| market.copy_to(&copy).await).await;
        assert_eq!(copied.unwrap_err().kind(), ErrorKind::InvalidQuery);
        assert_eq!(copy.categories.all().count().await.unwrap(), 0);
    }

    async fn a_field_that_waits_for_its_refresh_is_refreshed_in_the_copy(store: AnyStore) {
        let options = || OpenOptions::default().refresh_every(None);
        let memory = Embedded::memory().await.unwrap();
        let shop = Shop::open_with(memory, options()).await.unwrap();
        shop.makers.insert(Maker { id: 1, name: "Acme".into(), parts: 0 }).await.unwrap();
        let part = |id| Part { id, maker: Ref::new(1), maker_name: String::new() };
        shop.parts.insert_many((0..600).map(part)).await.unwrap();
        shop.makers.update(1).set(Maker::fields().name, "Acme & Sons").await.unwrap();
        assert!(shop.deferred_refreshes().await.unwrap().waiting > 0);
        let copy = Shop::open_with(store, options()).await.unwrap();
        shop.copy_to(&copy).await.unwrap();
        assert_eq!(copy.parts.get(7).await.unwrap().maker_name, "Acme & Sons");
        assert_eq!(copy.makers.get(1).await.unwrap().parts, 600);
        assert_eq!(copy.deferred_refreshes().await.unwrap().waiting, 0);
        // The source is unchanged.
        assert_eq!(shop.parts.get(7).await.unwrap().maker_name, "Acme");
    }
}

async fn drop_and_go_on(store: impl TestStore) {
    let (first, market) = large(2_200).await;
    let copy = Market::open(store.clone()).await.unwrap();
    let (mut polls, mut dropped) = (3, 0);
    let done = loop {
        match poll_and_drop(market.copy_to(&copy).into_future(), polls).await {
            Some(done) => break done.unwrap(),
            None => dropped += 1,
        }
        // The stored documents are right after each unit.
        assert_eq!(copy.audit().await.unwrap(), []);
        polls += polls / 2;
    };
    assert!(dropped > 1, "{dropped}");
    assert_eq!((done.documents + done.found, done.of), (2_200, 2_200));
    assert_eq!(all_stored(&store).await, all_stored(&first).await);
}

#[test]
fn a_copy_that_is_dropped_anywhere_goes_on_where_it_ended_in_memory() {
    tests::in_memory(drop_and_go_on);
}

#[test]
fn a_copy_that_is_dropped_anywhere_goes_on_where_it_ended_on_disk() {
    tests::on_disk(drop_and_go_on);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_copy_that_is_dropped_anywhere_goes_on_where_it_ended_on_mongodb() {
    tests::on_mongodb(drop_and_go_on);
}

/// Fields that a worker refreshes later.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[count(of = "Part", refresh = "later")]
    parts: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name", refresh = "later")]
    maker_name: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    makers: Repository<Maker>,
    parts: Repository<Part>,
}

mod before {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "boxes")]
    pub(super) struct Box {
        #[serde(rename = "_id")]
        pub(super) id: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "things")]
    pub(super) struct Thing {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[reference(parent)]
        pub(super) within: Ref<Box>,
    }

    #[derive(Database)]
    #[database(name = "depot", version = 1)]
    pub(super) struct Depot {
        pub(super) boxes: Repository<Box>,
        pub(super) things: Repository<Thing>,
    }
}

/// It counts the things in it since the second version.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "boxes")]
struct Crate {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Thing")]
    things: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    within: Ref<Crate>,
}

#[derive(Database)]
#[database(name = "depot", version = 2)]
struct Depot {
    boxes: Repository<Crate>,
    things: Repository<Thing>,
}

/// Copies the result of a history, in some pieces.
async fn check(
    stores: (impl TestStore, impl TestStore),
    history: &[Op],
    polls: usize,
) -> Result<(), TestCaseError> {
    let market = Market::open(stores.0.clone()).await.unwrap();
    for op in history {
        // A write that the rules refuse changes nothing.
        let _ = run(&market, op).await;
    }
    let copy = Market::open(stores.1.clone()).await.unwrap();
    let _ = poll_and_drop(market.copy_to(&copy).into_future(), polls).await;
    let done = market.copy_to(&copy).await;
    let done = done.map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(done.documents + done.found, done.of);
    prop_assert_eq!(all_stored(&stores.1).await, all_stored(&stores.0).await);
    Ok(())
}

fn histories<S: TestStore, T: TestStore>(
    cases: u32,
    new: impl AsyncFn() -> S,
    other: impl AsyncFn() -> T,
) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = (proptest::collection::vec(op(), 0..80), 0..40_usize);
    let outcome = runner.run(&history, |(history, polls)| {
        tests::run(async { check((new().await, other().await), &history, polls).await })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn a_copy_of_a_history_is_the_same_byte_for_byte_in_memory() {
    let new = async || Embedded::memory().await.unwrap();
    histories(50, new, new);
}

#[test]
fn a_copy_of_a_history_is_the_same_byte_for_byte_on_disk() {
    let files = tests::NewFiles::new();
    histories(12, async || files.open().await, async || files.open().await);
}

#[test]
fn a_copy_of_a_history_is_the_same_byte_for_byte_in_maps() {
    let new = async || MapStore::new();
    histories(40, new, new);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_copy_of_a_history_is_the_same_byte_for_byte_there_and_back_on_mongodb() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..8 {
        let history = proptest::collection::vec(op(), 40..80);
        let history = history.new_tree(&mut runner).unwrap().current();
        on_mongodb_database(Duration::from_secs(120), async |server| {
            let there = server.store().await;
            let memory = async || Embedded::memory().await.unwrap();
            let checked = check((memory().await, there.clone()), &history, 20).await;
            checked.unwrap();
            // No work is done there before it is copied back.
            check((there, memory().await), &[], 20).await.unwrap();
        });
    }
}

async fn copy_many(store: impl TestStore, count: i32) {
    let (first, market) = large(count).await;
    let copy = Market::open(store.clone()).await.unwrap();
    let begin = std::time::Instant::now();
    let done = market.copy_to(&copy).await.unwrap();
    eprintln!("{count} documents copied in {:?}", begin.elapsed());
    assert_eq!((done.documents, done.checked), (count as u64, count as u64));
    assert_eq!(all_stored(&store).await, all_stored(&first).await);
}

#[test]
fn twenty_thousand_documents_are_copied_in_memory() {
    tests::in_memory(|store| copy_many(store, 20_000));
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn many_documents_are_copied_to_a_mongodb_server() {
    let count = std::env::var("DOCUMENTS").map_or(2_000, |count| count.parse().unwrap());
    on_mongodb_database(Duration::from_secs(600), async |server| {
        copy_many(server.store().await, count).await;
    });
}
