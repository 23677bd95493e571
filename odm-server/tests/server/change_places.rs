//! Places in change streams: nothing is lost after one, and nothing comes twice.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use mongodb::bson::{Document, Timestamp, doc};
use odm::{
    Collections, Database, Embedded,
    bson::rawdoc,
    derive::examples::{Shop, example},
};
use odm_server::{Limits, Server};

use crate::{Fields, Served, client_of, product, raw::RawClient, review};

/// The label of an error after which a driver must not resume by itself.
const NON_RESUMABLE: &str = "NonResumableChangeStreamError";

fn watch(of: impl Into<mongodb::bson::Bson>, options: Document) -> Document {
    doc! { "aggregate": of.into(), "pipeline": [{ "$changeStream": options }], "cursor": {} }
}

fn more(reply: &Document, collection: &str, wait: i64) -> Document {
    let id = reply.inner("cursor").number("id");
    doc! { "getMore": id, "collection": collection, "maxTimeMS": wait }
}

/// The events of a reply.
fn events(reply: &Document) -> Vec<Document> {
    let cursor = reply.inner("cursor");
    let batch = if cursor.contains_key("firstBatch") {
        cursor.list("firstBatch")
    } else {
        cursor.list("nextBatch")
    };
    batch
        .iter()
        .map(|event| event.as_document().unwrap().clone())
        .collect()
}

fn token(reply: &Document) -> Document {
    reply.inner("cursor").inner("postBatchResumeToken").clone()
}

async fn server_of(shop: &Shop) -> Server {
    let builder = Server::builder().database("shop", Collections::of(shop));
    builder.listen("127.0.0.1:0").await.unwrap()
}

/// The `_id` of the document of an event, after its collection.
fn subject(event: &Document) -> (String, i64) {
    let collection = event.inner("ns").text("coll").to_owned();
    (collection, event.inner("documentKey").number("_id"))
}

#[test]
fn a_place_goes_on_within_a_commit_on_another_server_of_the_store() {
    example(async |shop| {
        let server = server_of(&shop).await;
        let mut client = RawClient::new(&server).await;
        let begun = client.run(watch(1, doc! {})).await.unwrap();
        let documents: Vec<_> = (40..43).map(|id| review(id, 3)).collect();
        let insert = doc! { "insert": "reviews", "documents": documents };
        let wrote = client.run(insert).await.unwrap();
        let all = events(
            &client
                .run(more(&begun, "$cmd.aggregate", 1000))
                .await
                .unwrap(),
        );
        let subjects: Vec<_> = all.iter().map(subject).collect();
        assert_eq!(
            subjects[..3],
            [40, 41, 42].map(|id| ("reviews".to_owned(), id))
        );
        assert_eq!(subjects[3], ("products".to_owned(), 3));
        server.shutdown().await;

        let server = server_of(&shop).await;
        let mut client = RawClient::new(&server).await;
        for (at, event) in all.iter().enumerate() {
            for option in ["resumeAfter", "startAfter"] {
                let place = doc! { option: event.inner("_id") };
                let reply = client.run(watch(1, place)).await.unwrap();
                assert_eq!(events(&reply), all[at + 1..]);
            }
        }
        let time = wrote.get_timestamp("operationTime").unwrap();
        assert!(time >= all[3].get_timestamp("clusterTime").unwrap());
        let time = all[0].get_timestamp("clusterTime").unwrap();
        let at_time = client
            .run(watch(1, doc! { "startAtOperationTime": time }))
            .await
            .unwrap();
        assert_eq!(events(&at_time), all);
        let later = Timestamp {
            // Past the times that other tests let the server see.
            time: time.time + 10_000,
            increment: 0,
        };
        let later = client
            .run(watch(1, doc! { "startAtOperationTime": later }))
            .await
            .unwrap();
        assert_eq!(events(&later), []);

        // It is a place of this stream alone.
        let place = doc! { "resumeAfter": all[0].inner("_id") };
        let other = client.run(watch("reviews", place.clone())).await.unwrap();
        assert_eq!(other.number("code"), 260);
        let other_shop = Shop::open(Embedded::memory().await?).await?;
        let other = server_of(&other_shop).await;
        let error = RawClient::new(&other)
            .await
            .run(watch(1, place))
            .await
            .unwrap();
        assert_eq!(
            (error.number("code"), error.text("codeName")),
            (286, "ChangeStreamHistoryLost")
        );
        assert_eq!(*error.list("errorLabels"), [NON_RESUMABLE.into()]);
        Ok(())
    });
}

#[test]
fn a_silent_stream_waits_as_long_as_it_is_asked_and_its_place_goes_on() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let begun = client.run(watch("parts", doc! {})).await.unwrap();
        let started = Instant::now();
        let first = client.run(more(&begun, "parts", 300)).await.unwrap();
        assert!(started.elapsed() >= Duration::from_millis(300));
        assert_eq!(events(&first), []);
        served
            .collection("notes")
            .insert_one(doc! { "_id": 1 })
            .await
            .unwrap();
        let second = client.run(more(&begun, "parts", 10)).await.unwrap();
        assert_eq!(events(&second), []);
        let places = [&begun, &first, &second].map(|reply| token(reply).text("_data").to_owned());
        assert!(places.is_sorted() && places[1] < places[2], "{places:?}");

        // One that waits holds up nobody, and returns with the first event.
        let served = Arc::new(served);
        let writer = served.clone();
        let write = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let parts = writer.collection("parts");
            let found: Vec<_> = writer
                .run(doc! { "find": "parts", "batchSize": 1 })
                .await
                .into_iter()
                .collect();
            assert_eq!(found.len(), 1);
            parts.delete_one(doc! { "_id": 3_i64 }).await.unwrap();
        });
        let started = Instant::now();
        let third = client.run(more(&begun, "parts", 20_000)).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(
            events(&third).iter().map(subject).collect::<Vec<_>>(),
            [("parts".to_owned(), 3)]
        );
        write.await.unwrap();
        let place = doc! { "resumeAfter": token(&second) };
        let again = client.run(watch("parts", place)).await.unwrap();
        assert_eq!(events(&again), events(&third));
        Ok(())
    });
}

#[test]
fn a_wait_ends_with_the_cursor_the_client_and_the_server() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let open = async || {
            let mut client = RawClient::new(&served.server).await;
            let begun = client.run(watch("parts", doc! {})).await.unwrap();
            let id = begun.inner("cursor").number("id");
            let waiting = tokio::spawn(async move {
                let reply = client.run(more(&begun, "parts", 60_000)).await;
                (client, reply)
            });
            tokio::time::sleep(Duration::from_millis(100)).await;
            (id, waiting)
        };
        let mut other = RawClient::new(&served.server).await;
        let status = async |other: &mut RawClient| {
            let status = other.run(doc! { "serverStatus": 1 }).await.unwrap();
            status
                .inner("metrics")
                .inner("cursor")
                .inner("open")
                .number("total")
        };

        let (id, waiting) = open().await;
        let in_use = doc! { "getMore": id, "collection": "parts" };
        assert_eq!(other.run(in_use).await.unwrap().number("code"), 12_051);
        let kill = doc! { "killCursors": "parts", "cursors": [id] };
        assert_eq!(
            other.run(kill).await.unwrap().list("cursorsKilled").len(),
            1
        );
        let (_, reply) = waiting.await.unwrap();
        assert_eq!(reply.unwrap().number("code"), 237);

        let (_, waiting) = open().await;
        assert_eq!(status(&mut other).await, 1);
        waiting.abort();
        let _ = waiting.await;
        let until = Instant::now() + Duration::from_secs(10);
        while status(&mut other).await > 0 {
            assert!(
                Instant::now() < until,
                "the cursor of a client that has gone"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }

        let (_, waiting) = open().await;
        let started = Instant::now();
        served.server.shutdown().await;
        assert!(started.elapsed() < Duration::from_secs(5));
        let (_, reply) = waiting.await.unwrap();
        let reply = reply.unwrap();
        assert_eq!(reply.number("code"), 11_600);
        assert_eq!(
            reply.list("errorLabels"),
            &["ResumableChangeStreamError".into()]
        );
        Ok(())
    });
}

#[test]
fn a_reader_that_is_too_slow_is_told_so_and_holds_little() {
    example(async |shop| {
        let served = Served::with_limits(&shop, Limits::default()).await;
        let mut client = RawClient::new(&served.server).await;
        let begun = client.run(watch("notes", doc! {})).await.unwrap();
        let notes = Collections::of(&shop).collection("notes");
        for id in 0..80_i64 {
            let text = "x".repeat(1 << 20);
            notes.insert([rawdoc! { "_id": id, "text": text }]).await?;
        }
        let error = client.run(more(&begun, "notes", 10)).await.unwrap();
        assert_eq!(error.number("code"), 286);
        assert_eq!(*error.list("errorLabels"), [NON_RESUMABLE.into()]);
        let again = client
            .run(watch("notes", doc! { "resumeAfter": token(&begun) }))
            .await
            .unwrap();
        assert_eq!(again.number("code"), 286);

        // One that keeps up is shown all, in batches of a bounded size.
        let begun = client.run(watch("notes", doc! {})).await.unwrap();
        for id in 100..140_i64 {
            let text = "x".repeat(1 << 20);
            notes.insert([rawdoc! { "_id": id, "text": text }]).await?;
        }
        let mut seen = Vec::new();
        while seen.len() < 40 {
            let batch = events(&client.run(more(&begun, "notes", 1000)).await.unwrap());
            assert!(batch.len() <= 16);
            seen.extend(batch.iter().map(|event| subject(event).1));
        }
        assert!(seen.into_iter().eq(100..140));
        Ok(())
    });
}

/// Writes of several clients, of which each is seen once and in order by a reader whose connection breaks again and again.
async fn history(seed: u64) {
    const WRITERS: i64 = 8;
    const WRITES: i64 = 40;
    let shop = Shop::open(Embedded::memory().await.unwrap()).await.unwrap();
    let served = Arc::new(Served::new(&shop).await);
    for id in 1..=3_i64 {
        served
            .collection("products")
            .insert_one(product(id))
            .await
            .unwrap();
    }
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut client = RawClient::new(&served.server).await;
    let begun = client
        .run(watch(
            1,
            doc! { "fullDocument": "required", "fullDocumentBeforeChange": "required" },
        ))
        .await
        .unwrap();
    let mut place = token(&begun);
    let is_done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let served = served.clone();
            let mut chance = fastrand::Rng::with_seed(seed ^ (writer.cast_unsigned() << 32));
            tokio::spawn(async move {
                let reviews = served.collection("reviews");
                for n in 0..WRITES {
                    let id = 1000 + writer * WRITES + n;
                    let _ = match chance.u8(..4) {
                        0 => reviews
                            .delete_one(doc! { "_id": id - chance.i64(1..5) })
                            .await
                            .is_ok(),
                        1 => {
                            let one = doc! { "_id": id - chance.i64(1..5) };
                            let set = doc! { "$set": { "product": chance.i64(1..4), "stars": 2 } };
                            reviews.update_one(one, set).await.is_ok()
                        }
                        _ => reviews
                            .insert_many([review(id, chance.i64(1..4)), review(id + 10_000, 1)])
                            .await
                            .is_ok(),
                    };
                }
            })
        })
        .collect();
    let done = is_done.clone();
    let ended = tokio::spawn(async move {
        for writer in writers {
            writer.await.unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });

    // The state that the events lead to.
    let mut state: BTreeMap<(String, i64), Document> = BTreeMap::new();
    let mut last: Option<(Timestamp, String)> = None;
    let mut breaks = 0;
    loop {
        let was_done = is_done.load(Ordering::SeqCst);
        let options = doc! { "resumeAfter": place.clone(), "fullDocument": "required", "fullDocumentBeforeChange": "required" };
        let mut command = watch(1, options);
        command.insert("cursor", doc! { "batchSize": chance.i32(0..4) });
        let mut client = RawClient::new(&served.server).await;
        let mut reply = client.run(command).await.unwrap();
        let mut silent = 0;
        for _ in 0..chance.usize(1..6) {
            let batch = events(&reply);
            silent += usize::from(batch.is_empty());
            // A client that goes within a batch goes on after the last event that it has handled.
            let handled = if chance.bool() {
                batch.len()
            } else {
                chance.usize(0..=batch.len())
            };
            for event in &batch[..handled] {
                let key = (
                    event.get_timestamp("clusterTime").unwrap(),
                    event.inner("_id").text("_data").to_owned(),
                );
                assert!(
                    last.as_ref()
                        .is_none_or(|last| (last.0, &last.1) < (key.0, &key.1)),
                    "{last:?} before {key:?}"
                );
                last = Some(key);
                let before = event.get_document("fullDocumentBeforeChange").ok();
                let known = match event.get_document("fullDocument") {
                    Ok(after) => state.insert(subject(event), after.clone()),
                    Err(_) => state.remove(&subject(event)),
                };
                // Each event goes on where the one before has ended.
                if subject(event).0 == "reviews" || known.is_some() {
                    assert_eq!(known.as_ref(), before, "{event}");
                }
                place = event.inner("_id").clone();
            }
            if handled < batch.len() {
                break;
            }
            place = token(&reply);
            let mut next = more(&reply, "$cmd.aggregate", 20);
            next.insert("batchSize", chance.i32(1..7));
            if chance.u8(..5) == 0 {
                // The connection breaks while the reply is on its way.
                let _ =
                    tokio::time::timeout(Duration::from_millis(chance.u64(..5)), client.run(next))
                        .await;
                break;
            }
            reply = client.run(next).await.unwrap();
        }
        breaks += 1;
        if was_done && silent > 1 {
            break;
        }
    }
    ended.await.unwrap();
    assert!(breaks > 5);
    shop.wait_for_refreshes().await.unwrap();
    let mut cursor = served.collection("reviews").find(doc! {}).await.unwrap();
    let mut stored = 0;
    while cursor.advance().await.unwrap() {
        let document = cursor.deserialize_current().unwrap();
        let key = ("reviews".to_owned(), document.number("_id"));
        assert_eq!(state.get(&key), Some(&document));
        stored += 1;
    }
    let reviews = state
        .keys()
        .filter(|(collection, _)| collection == "reviews");
    assert_eq!(reviews.count(), stored);
    for id in 1..=3_i64 {
        let product = served
            .collection("products")
            .find_one(doc! { "_id": id })
            .await
            .unwrap();
        if let Some(shown) = state.get(&("products".to_owned(), id)) {
            assert_eq!(Some(shown), product.as_ref());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_every_break_of_a_connection_nothing_is_lost_and_nothing_comes_twice() {
    for seed in [1, 2, 3, fastrand::u64(..)] {
        println!("seed {seed}");
        history(seed).await;
    }
}

#[test]
fn commits_of_several_databases_are_shown_in_their_order() {
    example(async |shop| {
        let other = Collections::open(Embedded::memory().await?).await?;
        let builder = Server::builder().database("shop", Collections::of(&shop));
        let server = builder
            .database("other", other)
            .listen("127.0.0.1:0")
            .await?;
        let client = client_of(&server).await;
        let all = watch(1, doc! { "allChangesForCluster": true });
        let begun = client.database("admin").run_command(all).await.unwrap();
        let names = |n: i64| if n % 3 == 0 { "other" } else { "shop" };
        for n in 0..30_i64 {
            let notes = client.database(names(n)).collection("notes");
            notes.insert_one(doc! { "_id": n }).await.unwrap();
        }
        for shown in [0_usize, 7, 29] {
            let place = match shown {
                0 => token(&begun),
                // The places of the events before have been shown by the stream from the begin.
                _ => {
                    let place = doc! { "allChangesForCluster": true, "resumeAfter": token(&begun) };
                    let reply = client.database("admin").run_command(watch(1, place)).await;
                    events(&reply.unwrap())[shown - 1].inner("_id").clone()
                }
            };
            let place = doc! { "allChangesForCluster": true, "resumeAfter": place };
            let reply = client.database("admin").run_command(watch(1, place)).await;
            let found: Vec<_> = events(&reply.unwrap())
                .iter()
                .map(|event| (event.inner("ns").text("db").to_owned(), subject(event).1))
                .collect();
            let expected = (shown as i64..30).map(|n| (names(n).to_owned(), n));
            assert!(found.into_iter().eq(expected));
        }
        Ok(())
    });
}
