//! Documents one after the other.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    group: i32,
    rank: i32,
}

#[derive(Database)]
#[database(name = "entries", version = 1)]
struct Entries {
    entries: Repository<Entry>,
}

fn entry(id: i64) -> Entry {
    Entry { id, group: (id % 7) as i32, rank: (id * 31 % 1009) as i32 }
}

async fn entries(store: impl TestStore, number: i64) -> Entries {
    let db = Entries::open(store).await.unwrap();
    db.entries.insert_many((0..number).map(entry)).await.unwrap();
    db
}

on_every_store! {
    async fn a_stream_gives_what_the_query_gives(store: AnyStore) {
        let db = Entries::open(store).await.unwrap();
        for (from, to) in [(0, 0), (0, 1), (1, 100), (100, 101), (101, 1100), (1100, 2500)] {
            db.entries.insert_many((from..to).map(entry)).await.unwrap();
            let all = db.entries.all().await.unwrap();
            assert_eq!(all.len() as i64, to);
            let streamed: Vec<Entry> = db.entries.all().stream().try_collect().await.unwrap();
            assert!(streamed == all, "a stream of {to} is not the result");
        }
        let fields = Entry::fields();
        for sort in [
            fields.id.desc(),
            fields.group.asc(),
            fields.group.desc().then(fields.rank.asc()),
            fields.rank.desc(),
        ] {
            let query = || db.entries.find(fields.rank.gt(3)).sort(sort.clone());
            let all = query().await.unwrap();
            let streamed: Vec<Entry> = query().stream().try_collect().await.unwrap();
            assert!(streamed == all, "a stream by {sort:?} is not the result");
        }
    }

    async fn skip_and_limit_count_for_the_whole_stream(store: AnyStore) {
        let db = entries(store, 2_500).await;
        for (skip, limit) in [(0, 0), (0, 1), (0, 100), (0, 101), (5, 1_100), (2_000, 600), (9, 9)] {
            let query = || db.entries.all().sort(Entry::fields().rank.asc()).skip(skip).limit(limit);
            let streamed: Vec<Entry> = query().stream().try_collect().await.unwrap();
            assert!(streamed == query().await.unwrap(), "skip {skip}, limit {limit}");
        }
    }

    async fn a_stream_that_is_dropped_half_way_leaves_nothing_behind(store: AnyStore) {
        let db = entries(store, 500).await;
        let mut stream = db.entries.all().stream();
        for id in 0..150 {
            assert_eq!(stream.next().await.unwrap().unwrap().id, id);
        }
        drop(stream);
        db.entries.insert(entry(500)).await.unwrap();
        assert_eq!(db.entries.all().count().await.unwrap(), 501);
    }

    async fn a_stream_reads_one_state_while_others_write(store: AnyStore) {
        let db = entries(store, 1_500).await;
        let mut stream = db.entries.all().stream();
        let first = stream.next().await.unwrap().unwrap();
        db.entries.delete_where(Entry::fields().id.gt(200)).await.unwrap();
        db.entries.insert(entry(9_999)).await.unwrap();
        let rest: Vec<Entry> = stream.try_collect().await.unwrap();
        assert_eq!(first.id, 0);
        assert_eq!(rest.len(), 1_499);
        assert_eq!(rest.last().unwrap().id, 1_499);
    }

    async fn a_stream_in_a_transaction_sees_its_writes(store: AnyStore) {
        let db = entries(store, 300).await;
        let seen = db
            .transaction(async |db| {
                db.entries.insert(entry(300)).await?;
                let mut stream = db.entries.all().stream();
                stream.next().await.unwrap()?;
                // Between two chunks, other operations of the transaction have their turn.
                db.entries.insert(entry(301)).await?;
                let rest: Vec<Entry> = stream.try_collect().await?;
                Ok(rest.last().map(|entry| entry.id))
            })
            .await
            .unwrap();
        assert_eq!(seen, Some(301));
    }

    async fn a_wrong_query_is_an_error_of_the_stream(store: AnyStore) {
        let db = entries(store, 1).await;
        let mut stream = db.entries.find(Entry::fields().id.in_([1])).stream();
        assert!(stream.next().await.is_none());
        let unknown = Filter::raw(odm::bson::doc! { "$frob": 1 });
        let mut stream = db.entries.find(unknown).stream();
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(stream.next().await.is_none());
    }
}

/// On one store only, since it has to wait for longer than a state of the data is kept.
#[test]
fn a_slow_stream_goes_on_with_a_newer_state_unless_it_is_a_snapshot() {
    tests::in_memory(async |store| {
        let db = entries(store, 150).await;
        let mut goes_on = db.entries.all().stream();
        let mut snapshot = db.entries.all().stream().snapshot();
        assert_eq!(goes_on.next().await.unwrap().unwrap().id, 0);
        assert_eq!(snapshot.next().await.unwrap().unwrap().id, 0);
        db.entries.delete_where(Entry::fields().id.gte(140)).await.unwrap();
        db.entries.insert(entry(200)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10_300)).await;

        let rest: Vec<i64> = goes_on.map_ok(|entry| entry.id).try_collect().await.unwrap();
        let expected: Vec<i64> = (1..140).chain([200]).collect();
        assert_eq!(rest, expected);
        let rest: Vec<_> = snapshot.collect().await;
        let (last, read) = rest.split_last().unwrap();
        assert!(read.iter().all(Result::is_ok));
        assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::Limit);
    });
}
