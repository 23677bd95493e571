//! Work on many documents at once, by the database or for a client: backfills, files, expiry, waiting refreshes, moving keys, and requests.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Thing, grows_with_input, options, store, taken, thing, things};

/// Owners and their items, in a version that counts the items and in a version that does not.
macro_rules! owners {
    ($module:ident, $version:literal, { $($count:tt)* }) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "owners")]
            pub(super) struct Owner {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $($count)*
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "items")]
            pub(super) struct Item {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) owner: Ref<Owner>,
            }

            #[derive(Database)]
            #[database(name = "owners", version = $version)]
            pub(super) struct Owners {
                pub(super) owners: Repository<Owner>,
                pub(super) items: Repository<Item>,
            }
        }
    };
}

owners!(uncounted, 1, {});
owners!(counted, 2, {
    #[count(of = "Item", via = "owner")]
    items: i64,
});

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "sources")]
struct Source {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "holders")]
struct Holder {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    source: Ref<Source>,
    #[denormalize(from = "Source.name", refresh = "later")]
    #[index(unique)]
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "visits", expires(field = "until"))]
struct Visit {
    #[serde(rename = "_id")]
    id: i64,
    until: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique)]
    position: i64,
}

#[derive(Database)]
#[database(name = "upkeep", version = 1)]
struct Upkeep {
    sources: Repository<Source>,
    holders: Repository<Holder>,
    visits: Repository<Visit>,
    places: Repository<Place>,
}

fn numbers(size: usize) -> std::ops::Range<i64> {
    0..size as i64
}

/// A database without workers.
async fn empty() -> Upkeep {
    let options = options().refresh_every(None).delete_expired_every(None);
    Upkeep::open_with(store().await, options).await.unwrap()
}

/// A database in which the copies of all names except the first wait to become equal to it. Only one of them can.
async fn waiting(size: usize) -> Upkeep {
    let db = empty().await;
    let name = |id: i64| format!("n{id}");
    db.sources.insert_many(numbers(size).map(|id| Source { id, name: name(id) })).await.unwrap();
    let holder = |id| Holder { id, source: Ref::new(id), name: String::new() };
    db.holders.insert_many(numbers(size).map(holder)).await.unwrap();
    let source = Source::fields();
    db.sources.update_where(source.id.gt(0)).set(source.name, name(0)).await.unwrap();
    db
}

fn place(id: i64) -> Place {
    Place { id, position: id }
}

async fn places(size: usize) -> Upkeep {
    let db = empty().await;
    db.places.insert_many(numbers(size).map(place)).await.unwrap();
    db
}

grows_with_input! {
    500: async fn a_backfill_of_counts(size: usize) -> Taken {
        let store = store().await;
        let old = uncounted::Owners::open_with(store.clone(), options()).await.unwrap();
        old.owners.insert_many(numbers(size).map(|id| uncounted::Owner { id })).await.unwrap();
        let item = |id| uncounted::Item { id, owner: Ref::new(id / 2) };
        old.items.insert_many(numbers(size).map(item)).await.unwrap();
        let new = counted::Owners::open_with(store, options()).await.unwrap();
        assert!(!new.pending_backfills().is_empty());
        taken(async { new.backfill().await.unwrap() }).await
    }

    250: async fn the_lag_of_many_records_that_wait(size: usize) -> Taken {
        let db = waiting(size).await;
        taken(async { assert_eq!(db.deferred_refreshes().await.unwrap().waiting, size as u64 - 1) }).await
    }

    100: async fn the_lag_of_many_records_that_are_parked(size: usize) -> Taken {
        let db = waiting(size).await;
        db.wait_for_refreshes().await.unwrap();
        taken(async { assert_eq!(db.deferred_refreshes().await.unwrap().failed.len(), size - 1) }).await
    }

    500: async fn many_documents_that_have_expired(size: usize) -> Taken {
        let db = empty().await;
        let visit = |id| Visit { id, until: DateTime::from_millis(id) };
        db.visits.insert_many(numbers(size).map(visit)).await.unwrap();
        taken(async { assert_eq!(db.delete_expired().await.unwrap(), size as u64) }).await
    }

    500: async fn an_import_of_a_file(size: usize) -> Taken {
        let db = things(0).await;
        let lines = numbers(size).map(|id| serde_json::to_string(&thing(id)).unwrap() + "\n");
        let lines: String = lines.collect();
        taken(async { db.import_files().file::<Thing>(lines.as_bytes()).await.unwrap() }).await
    }

    250: async fn a_filter_and_a_sort_of_a_request(size: usize) -> Taken {
        let db = things(10).await;
        let json = serde_json::json!({ "n": { "in": numbers(size).collect::<Vec<_>>() } });
        let entries: Vec<String> = numbers(size).map(|n| format!("map.k{n}")).collect();
        let pairs: Vec<(String, &str)> = entries.iter().map(|entry| (format!("{entry}[ne]"), "7")).collect();
        taken(async {
            let filter = Thing::filter_from_json(&json).unwrap() & Thing::filter_from_query(pairs).unwrap();
            let sort = Thing::sort_by(&entries[..20].join(",")).unwrap();
            assert_eq!(db.things.find(filter).sort(sort).await.unwrap().len(), 10)
        })
        .await
    }

    500: async fn many_upserts_by_a_unique_key(size: usize) -> Taken {
        let db = places(size / 2).await;
        let position = Place::fields().position;
        taken(async { for id in numbers(size) { db.places.upsert_by(position, place(id)).await.unwrap(); } }).await
    }

    500: async fn values_of_a_unique_index_that_are_shifted(size: usize) -> Taken {
        let db = places(size).await;
        taken(async { db.places.update_where(Filter::all()).inc(Place::fields().position, 1).await.unwrap() }).await
    }
}
