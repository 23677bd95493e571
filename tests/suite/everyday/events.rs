//! Events of operations, and warnings of operations that take long or read much.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use odm::{Embedded, OpenOptions, bson::doc, measure, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_embedded_stores, on_every_store, on_local_stores};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

use crate::warnings::Warnings;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    name: String,
    price: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "teams")]
struct Team {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Member")]
    members: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    team: Ref<Team>,
}

#[derive(Database)]
#[database(name = "club", version = 1)]
struct Club {
    teams: Repository<Team>,
    members: Repository<Member>,
}

/// A thing that shows the name of its part.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    part: Ref<Part>,
    #[denormalize(from = "Part.name")]
    part_name: String,
}

#[derive(Database)]
#[database(name = "things", version = 1)]
struct Things {
    parts: Repository<Part>,
    things: Repository<Thing>,
}

async fn with_six(store: impl TestStore, options: OpenOptions) -> Shop {
    let shop = Shop::open_with(store, options).await.unwrap();
    let parts = (0..6).map(|id| Part { id, name: format!("secret {}", id % 2), price: 4711 + id });
    shop.parts.insert_many(parts).await.unwrap();
    shop
}

/// Options under which no operation is slow, on a machine of any speed.
fn never_slow() -> OpenOptions {
    OpenOptions::default().slow_operation(Duration::MAX)
}

/// An event, with its fields as text.
#[derive(Debug, Clone)]
struct Seen {
    level: Level,
    fields: BTreeMap<&'static str, String>,
}

impl Seen {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> u64 {
        self.field(name).unwrap().parse().unwrap()
    }
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// Records the events of the library from a level on, on the thread of the test.
#[derive(Clone)]
struct Recorder {
    level: Level,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Recorder {
    fn set(level: Level) -> (Self, DefaultGuard) {
        let recorder = Recorder { level, seen: Arc::default() };
        let guard = tracing::subscriber::set_default(recorder.clone());
        (recorder, guard)
    }

    /// The operations since the last call.
    fn take(&self) -> Vec<Seen> {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        seen.retain(|event| event.field("operation").is_some());
        seen
    }

    /// The only operation since the last call.
    fn one(&self) -> Seen {
        let mut seen = self.take();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "odm" && *metadata.level() <= self.level
    }

    fn event(&self, event: &Event<'_>) {
        let mut seen = Seen { level: *event.metadata().level(), fields: BTreeMap::new() };
        event.record(&mut seen);
        self.seen.lock().unwrap().push(seen);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

on_every_store! {
    async fn every_operation_emits_an_event_with_its_cost_and_without_values(store: AnyStore) {
        let parts = with_six(store, never_slow()).await.parts;
        let part = Part::fields();
        let (recorder, _guard) = Recorder::set(Level::DEBUG);
        let dear = || part.price.gt(4713) & part.name.eq("secret 1");
        let shape = Some("{ price: { $gt: ? }, name: ? }");

        assert_eq!(parts.find(dear()).sort(part.price.desc()).await.unwrap().len(), 2);
        let find = recorder.one();
        assert_eq!((find.level, find.field("operation")), (Level::DEBUG, Some("find")));
        assert_eq!((find.field("collection"), find.field("filter")), (Some("parts"), shape));
        assert_eq!(find.field("sort"), Some("{ \"price\": -1 }"));
        assert_eq!((find.number("queries"), find.number("documents_returned")), (1, 2));
        find.number("elapsed_us");

        parts.find(dear()).page(1).await.unwrap();
        parts.find(dear()).count().await.unwrap();
        parts.find(dear()).distinct(part.name).await.unwrap();
        parts.find(dear()).explain().await.unwrap();
        let mut stream = parts.find(dear()).stream();
        while stream.try_next().await.unwrap().is_some() {}
        parts.update_where(dear()).set(part.price, 4800).await.unwrap();
        parts.delete_where(dear()).await.unwrap();
        let searches = recorder.take();
        let names: Vec<_> = searches.iter().map(|event| event.field("operation").unwrap()).collect();
        assert_eq!(
            names,
            ["page", "count", "distinct", "explain", "stream", "update", "delete"]
        );
        for event in &searches {
            assert_eq!(event.field("filter"), shape, "{event:?}");
        }
        assert_eq!(searches[5].number("documents_written"), 2);

        parts.get(1).await.unwrap();
        parts.get_many([0, 2]).await.unwrap();
        parts.insert(Part { id: 9, name: "secret 4711".into(), price: 4711 }).await.unwrap();
        parts.modify(9, |part| part.price += 1).await.unwrap();
        parts.replace(Part { id: 9, name: "secret".into(), price: 4711 }).await.unwrap();
        let others = recorder.take();
        let names: Vec<_> = others.iter().map(|event| event.field("operation").unwrap()).collect();
        assert_eq!(names, ["get", "fetch", "insert", "get", "modify", "replace"]);
        for event in others.iter().chain(&searches) {
            assert_eq!(event.field("collection"), Some("parts"));
            for (name, value) in &event.fields {
                let is_number = value.parse::<u64>().is_ok();
                let has_value = value.contains("secret") || value.contains("47");
                assert!(is_number || !has_value, "{name} in {event:?}");
            }
        }
    }

    async fn operations_of_a_transaction_emit_events(store: AnyStore) {
        let shop = with_six(store, never_slow()).await;
        let (recorder, _guard) = Recorder::set(Level::DEBUG);
        shop.transaction(async |shop| {
            shop.parts.find(Part::fields().price.gt(1)).await?;
            shop.parts.delete_where(Part::fields().price.gt(4715)).await
        })
        .await
        .unwrap();
        let seen = recorder.take();
        let names: Vec<_> = seen.iter().map(|event| event.field("operation").unwrap()).collect();
        assert_eq!(names, ["find", "delete"]);
        assert!(seen.iter().all(|event| event.field("filter") == Some("{ price: { $gt: ? } }")));
    }

    async fn of_the_writes_of_a_slow_bulk_one_is_a_warning(store: AnyStore) {
        let options = OpenOptions::default().slow_operation(Duration::ZERO).large_scan(u64::MAX);
        let shop = with_six(store, options).await;
        let (recorder, _guard) = Recorder::set(Level::WARN);
        let price = Part::fields().price;
        shop.bulk(Vec::from([1, 2, 3].map(|id| shop.parts.update(id).inc(price, 1)))).await.unwrap();
        assert_eq!(recorder.one().field("operation"), Some("update"));
    }

    async fn an_operation_slower_than_the_limit_is_a_warning(store: AnyStore) {
        let options = OpenOptions::default().slow_operation(Duration::ZERO).large_scan(u64::MAX);
        let parts = with_six(store.clone(), options).await.parts;
        let (recorder, _guard) = Recorder::set(Level::WARN);
        parts.find(Part::fields().price.gt(4713)).await.unwrap();
        let slow = recorder.one();
        assert_eq!((slow.level, slow.field("operation")), (Level::WARN, Some("find")));
        assert_eq!(slow.field("message"), Some("slow operation: it took longer than 0ns"));
        assert_eq!(slow.field("filter"), Some("{ price: { $gt: ? } }"));
        parts.get(1).await.unwrap();
        assert_eq!(recorder.one().field("operation"), Some("get"));
        parts.update(1).inc(Part::fields().price, 1).await.unwrap();
        let update = recorder.one();
        assert_eq!(update.field("operation"), Some("update"));
        assert_eq!(update.field("filter"), Some("{ _id: ? }"));

        // The limits apply to one database.
        let other = Shop::open_with(store, never_slow()).await.unwrap();
        other.parts.find(Part::fields().price.gt(4713)).await.unwrap();
        assert!(recorder.take().is_empty());
    }
}

on_local_stores! {
    async fn an_operation_of_many_documents_may_take_the_time_for_each_hundred(store: AnyStore) {
        let options = OpenOptions::default().slow_operation(Duration::from_nanos(1)).large_scan(u64::MAX);
        let db = Things::open_with(store, options).await.unwrap();
        let (recorder, _guard) = Recorder::set(Level::WARN);
        let assert_slow = |operation: &str, limit: &str| {
            let slow = recorder.one();
            let message = format!("slow operation: it took longer than {limit}");
            let told = (slow.field("operation"), slow.field("message"));
            assert_eq!(told, (Some(operation), Some(&*message)));
        };
        // The documents that the call is given.
        let part = |id| Part { id, name: "bolt".into(), price: 1 };
        db.parts.insert_many((0..250).map(part)).await.unwrap();
        assert_slow("insert", "3ns");
        db.parts.get_many(0..100).await.unwrap();
        assert_slow("fetch", "2ns");
        db.parts.get(1).await.unwrap();
        assert_slow("get", "1ns");
        let thing = |id| Thing { id, part: Ref::new(0), part_name: String::new() };
        db.things.insert_many((0..150).map(thing)).await.unwrap();
        assert_slow("insert", "2ns");
        // The documents that the filter finds, and the documents that follow.
        let part = Part::fields();
        db.parts.update_where(part.id.gte(50)).inc(part.price, 1).await.unwrap();
        assert_slow("update", "3ns");
        db.parts.update(1).set(part.name, "of nobody").await.unwrap();
        assert_slow("update", "1ns");
        db.parts.update(0).set(part.name, "of all").await.unwrap();
        assert_slow("update", "2ns");
        db.things.delete_where(Filter::all()).await.unwrap();
        assert_slow("delete", "2ns");
        // The documents of a unit together.
        let both = [part.id.lt(60), part.id.gte(60)].map(|filter| db.parts.update_where(filter).inc(part.price, 1));
        db.bulk(Vec::from(both)).await.unwrap();
        assert_slow("update", "3ns");
    }

    async fn a_scan_of_more_documents_than_the_limit_is_a_warning(store: AnyStore) {
        let parts = with_six(store.clone(), never_slow().large_scan(5)).await.parts;
        let (recorder, _guard) = Recorder::set(Level::WARN);
        parts.find(Part::fields().price.eq(4711)).await.unwrap();
        let scan = recorder.one();
        assert_eq!(scan.level, Level::WARN);
        let message = "large scan: more than 5 documents were read without an index";
        assert_eq!(scan.field("message"), Some(message));
        assert_eq!((scan.number("documents_scanned"), scan.field("index")), (6, None));
        parts.get(1).await.unwrap();
        assert!(recorder.take().is_empty(), "a read by `_id` scans nothing");

        let parts = Shop::open_with(store, never_slow().large_scan(6)).await.unwrap().parts;
        parts.find(Part::fields().price.eq(4711)).await.unwrap();
        assert!(recorder.take().is_empty(), "as many as the limit are no more than it");
    }
}

on_embedded_stores! {
    async fn a_scan_of_more_keys_than_the_limit_is_a_warning(store: AnyStore) {
        let parts = with_six(store, never_slow().large_scan(2)).await.parts;
        let (recorder, _guard) = Recorder::set(Level::WARN);
        let part = Part::fields();
        // By the name alone, which half of the parts have.
        parts.find(part.name.eq("secret 1")).await.unwrap();
        parts.update_where(part.name.eq("secret 1")).inc(part.price, 1).await.unwrap();
        assert!(recorder.take().is_empty(), "each key is one of a document that was returned or written");
        parts.find(part.name.eq("secret 1") & part.price.lt(0)).await.unwrap();
        let scan = recorder.one();
        assert_eq!((scan.level, scan.number("keys_examined"), scan.number("documents_scanned")), (Level::WARN, 3, 0));
        let message = "large scan of an index: it examined more than 2 keys of which no document was returned or written";
        assert_eq!(scan.field("message"), Some(message));
        parts.find(part.name.eq("secret 1")).count().await.unwrap();
        assert_eq!(recorder.one().field("operation"), Some("count"));
    }

    async fn a_warning_of_a_scan_of_keys_tells_the_limit_that_it_is_over(store: AnyStore) {
        let shop = with_six(store.clone(), never_slow().large_scan(1)).await;
        let (recorder, _guard) = Recorder::set(Level::WARN);
        let part = Part::fields();
        // Each goes through three keys in vain, like one of a hundred writes in one call.
        let in_vain = |shop: &Shop| {
            let filter = || part.name.eq("secret 1") & part.price.lt(0);
            (0..100).map(|_| shop.parts.update_where(filter()).inc(part.price, 1)).collect::<Vec<_>>()
        };
        shop.bulk(in_vain(&shop)).await.unwrap();
        let scans = recorder.take();
        assert_eq!(scans.len(), 100);
        let message = "large scan of an index: it examined more than 2 keys of which no document was returned or written";
        assert!(scans.iter().all(|scan| scan.field("message") == Some(message)), "{:?}", scans[0]);
        let shop = Shop::open_with(store, never_slow().large_scan(2)).await.unwrap();
        shop.bulk(in_vain(&shop)).await.unwrap();
        assert!(recorder.take().is_empty(), "three keys are not more than four");
    }

    async fn no_warning_tells_of_an_audit(store: AnyStore) {
        let options = OpenOptions::default().slow_operation(Duration::ZERO).large_scan(0);
        let club = Club::open_with(store, options).await.unwrap();
        club.teams.insert(Team { id: 1, members: 0 }).await.unwrap();
        club.members.insert_many((0..6).map(|id| Member { id, team: Ref::new(1) })).await.unwrap();
        let (recorder, _guard) = Recorder::set(Level::WARN);
        club.teams.get(1).await.unwrap();
        assert!(!recorder.take().is_empty(), "each operation takes longer than no time");
        assert!(club.audit().await.unwrap().is_empty());
        let warnings = recorder.take();
        assert!(warnings.is_empty(), "an audit reads everything, and takes its time: {warnings:?}");
    }

    async fn events_tell_the_index_and_whether_there_was_a_scan(store: AnyStore) {
        let parts = with_six(store, never_slow().large_scan(0)).await.parts;
        let part = Part::fields();
        let (recorder, _guard) = Recorder::set(Level::DEBUG);
        let of_event = |event: &Seen| {
            (event.field("index").map(str::to_owned), event.number("documents_scanned"))
        };
        let by_name = parts.find(part.name.eq("secret 1")).explain().await.unwrap().index;
        assert!(by_name.is_some());
        let explained = recorder.one();
        assert_eq!(of_event(&explained), (by_name.clone(), 0));

        parts.find(part.name.eq("secret 1")).await.unwrap();
        assert_eq!(of_event(&recorder.one()), (by_name.clone(), 0));
        parts.all().sort(part.name.asc()).page(2).await.unwrap();
        assert_eq!(of_event(&recorder.one()), (by_name.clone(), 0));
        parts.find(part.id.lt(3)).await.unwrap();
        assert_eq!(of_event(&recorder.one()), (Some("_id".to_owned()), 0));
        parts.update_where(part.name.eq("secret 1")).inc(part.price, 1).await.unwrap();
        assert_eq!(of_event(&recorder.one()), (by_name, 0));

        // Without an index, each is a warning as well.
        for limit in [1, 6] {
            parts.find(part.price.gte(0)).limit(limit).await.unwrap();
            let [event, warning] = &recorder.take()[..] else { panic!("not two events") };
            assert_eq!((event.level, warning.level), (Level::DEBUG, Level::WARN));
            assert_eq!(of_event(event), (None, limit));
        }
        parts.update_where(part.price.gt(4713)).inc(part.price, 1).await.unwrap();
        let [event, _] = &recorder.take()[..] else { panic!("not two events") };
        assert_eq!(of_event(event), (None, 6));
        let sorted = parts.find(part.price.gt(0)).sort(part.price.desc()).limit(2);
        let (_, cost) = measure(async { sorted.await.unwrap() }).await;
        assert_eq!((cost.documents_scanned, cost.documents_examined), (6, 6));
    }

    async fn a_disjunction_with_a_branch_without_an_index_is_a_scan(store: AnyStore) {
        let parts = with_six(store, never_slow()).await.parts;
        let part = Part::fields();
        let scanned = async |filter| {
            let (found, cost) = measure(async { parts.find(filter).await }).await;
            (found.unwrap().len(), cost.documents_scanned)
        };
        assert_eq!(scanned(part.name.eq("secret 1") | part.id.eq(0)).await, (4, 0));
        assert_eq!(scanned(part.name.eq("secret 1") | part.price.eq(4711)).await, (4, 6));
        let raw = odm::Filter::raw(doc! { "price": 4711_i64 });
        assert_eq!(scanned(raw).await, (1, 6));
    }
}

#[test]
fn a_unit_that_writes_more_than_half_of_what_it_may_is_a_warning() {
    tests::run(async {
        let store = Embedded::builder().unit_limit(60).memory().await.unwrap();
        let db = Things::open_with(store, never_slow()).await.unwrap();
        db.parts.insert(Part { id: 1, name: "bolt".into(), price: 1 }).await.unwrap();
        let thing = |id| Thing { id, part: Ref::new(1), part_name: String::new() };
        db.things.insert_many((0..29).map(thing)).await.unwrap();
        let warnings = Warnings::begin();
        let large = || warnings.with("large unit: it writes more than half of the 60 documents");
        let rename = async |name: &str| {
            db.parts.update(1).set(Part::fields().name, name).await.unwrap();
        };
        rename("nut").await;
        assert!(large().is_empty(), "with its copies, these are 30 documents");
        db.things.insert(thing(29)).await.unwrap();
        rename("screw").await;
        let message = "message=large unit: it writes more than half of the 60 documents that one may; if these are \
                       copies, let them follow later, by `refresh = \"later\"`;";
        assert_eq!(large(), [message]);
        assert_eq!(
            db.things.find(Thing::fields().part_name.eq("screw")).count().await.unwrap(),
            30
        );
    });
}
