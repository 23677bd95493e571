use std::time::Duration;

use futures_util::TryStreamExt;
use odm::{
    bson::{Document, doc},
    derive::examples::example,
};
use odm_server::Limits;

use crate::{Fields, Served, raw::RawClient};

/// A collection of so many documents.
async fn filled(served: &Served, number: i32) -> RawClient {
    let documents = (0..number).map(|id| doc! { "_id": id });
    served
        .collection("numbers")
        .insert_many(documents)
        .await
        .unwrap();
    RawClient::new(&served.server).await
}

fn cursor(reply: &Document) -> (i64, usize) {
    let cursor = reply.inner("cursor");
    let batch = match cursor.contains_key("firstBatch") {
        true => cursor.list("firstBatch"),
        false => cursor.list("nextBatch"),
    };
    (cursor.number("id"), batch.len())
}

fn more(id: i64) -> Document {
    doc! { "getMore": id, "collection": "numbers" }
}

#[test]
fn batches_have_the_sizes_of_mongodb() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = filled(&served, 2_500).await;
        let mut find = async |options: Document| {
            let mut command = doc! { "find": "numbers" };
            command.extend(options);
            let reply = client.run(command).await.unwrap();
            let (id, first) = cursor(&reply);
            let mut sizes = vec![first];
            let mut next = id;
            while next != 0 {
                let (id, size) = cursor(&client.run(more(next)).await.unwrap());
                sizes.push(size);
                next = id;
            }
            sizes
        };
        assert_eq!(find(doc! {}).await, [101, 2_399]);
        assert_eq!(find(doc! { "batchSize": 2_000 }).await, [2_000, 500]);
        assert_eq!(find(doc! { "batchSize": 0, "limit": 7 }).await, [0, 7]);
        assert_eq!(find(doc! { "limit": 5 }).await, [5]);
        assert_eq!(find(doc! { "limit": 6, "batchSize": 3 }).await, [3, 3]);
        assert_eq!(find(doc! { "limit": 3, "batchSize": 3 }).await, [3]);
        assert_eq!(find(doc! { "limit": 500, "skip": 2_400 }).await, [100]);
        assert_eq!(
            find(doc! { "batchSize": 5, "singleBatch": true }).await,
            [5]
        );
        // No one knows yet that these are all.
        assert_eq!(
            find(doc! { "batchSize": 2, "filter": { "_id": { "$lt": 2 } } }).await,
            [2, 0]
        );
        let status = served.run(doc! { "serverStatus": 1 }).await.unwrap();
        let open = status.inner("metrics").inner("cursor");
        assert_eq!(open.inner("open").number("total"), 0);
        Ok(())
    });
}

#[test]
fn a_batch_has_at_most_16_mib() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let blobs = served.collection("blobs");
        for id in 0..5 {
            let blob = doc! { "_id": id, "text": "x".repeat(7 << 20) };
            blobs.insert_one(blob).await.unwrap();
        }
        let mut client = RawClient::new(&served.server).await;
        let (id, size) = cursor(&client.run(doc! { "find": "blobs" }).await.unwrap());
        assert_eq!(size, 2);
        let command = doc! { "getMore": id, "collection": "blobs" };
        let (id, size) = cursor(&client.run(command.clone()).await.unwrap());
        assert_eq!(size, 2);
        assert_ne!(id, 0);
        let (id, size) = cursor(&client.run(command).await.unwrap());
        assert_eq!((id, size), (0, 1));

        let all: Vec<Document> = blobs
            .find(doc! {})
            .await
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        assert_eq!(all.len(), 5);
        Ok(())
    });
}

#[test]
fn another_connection_can_read_a_cursor_but_not_another_session_or_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = filled(&served, 300).await;
        let mut other = RawClient::new(&served.server).await;
        let (id, _) = cursor(&client.run(doc! { "find": "numbers" }).await.unwrap());

        let refused = async |client: &mut RawClient, command: Document| {
            client.run(command).await.unwrap().number("code")
        };
        let mut elsewhere = more(id);
        elsewhere.insert("collection", "notes");
        assert_eq!(refused(&mut other, elsewhere).await, 13);
        let mut in_session = more(id);
        in_session.insert("lsid", doc! { "id": mongodb::bson::Uuid::new() });
        assert_eq!(refused(&mut other, in_session).await, 50_736);
        let session = || doc! { "id": mongodb::bson::Uuid::new() };
        let find = doc! { "find": "numbers", "lsid": session() };
        let (of_session, _) = cursor(&client.run(find).await.unwrap());
        assert_eq!(refused(&mut other, more(of_session)).await, 50_737);
        let mut of_another = more(of_session);
        of_another.insert("lsid", session());
        assert_eq!(refused(&mut other, of_another).await, 50_738);
        let mut limited = more(id);
        limited.insert("maxTimeMS", 5);
        assert_eq!(refused(&mut other, limited).await, 2);

        assert_eq!(cursor(&other.run(more(id)).await.unwrap()), (0, 199));
        assert_eq!(refused(&mut client, more(id)).await, 43);
        Ok(())
    });
}

#[test]
fn a_list_of_collections_is_read_in_batches_and_can_be_killed() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let list = doc! { "listCollections": 1, "cursor": { "batchSize": 2 }, "nameOnly": true };
        let (id, size) = cursor(&client.run(list.clone()).await.unwrap());
        assert_eq!(size, 2);
        let rest = doc! { "getMore": id, "collection": "$cmd.listCollections" };
        let (id, size) = cursor(&client.run(rest).await.unwrap());
        assert!(id == 0 && size > 2, "{size}");

        let (id, _) = cursor(&client.run(list).await.unwrap());
        let kill = doc! { "killCursors": "$cmd.listCollections", "cursors": [id] };
        let reply = client.run(kill).await.unwrap();
        assert_eq!(reply.list("cursorsKilled"), &[id.into()]);
        Ok(())
    });
}

#[test]
fn a_cursor_ends_by_a_kill_and_by_the_end_of_its_session() {
    example(async |shop| {
        let limits = Limits::default().cursors(2);
        let served = Served::with_limits(&shop, limits).await;
        let mut client = filled(&served, 300).await;
        let mut opened = async |options: Document| {
            let mut command = doc! { "find": "numbers" };
            command.extend(options);
            let reply = client.run(command).await.unwrap();
            match reply.contains_key("cursor") {
                true => Ok(reply.inner("cursor").number("id")),
                false => Err(reply.number("code")),
            }
        };
        let id = opened(doc! {}).await.unwrap();
        let session = mongodb::bson::Uuid::new();
        let in_session = opened(doc! { "lsid": { "id": session } }).await.unwrap();
        assert_eq!(opened(doc! {}).await, Err(146));

        let mut client = RawClient::new(&served.server).await;
        let kill = doc! { "killCursors": "numbers", "cursors": [id, 5_i64] };
        let reply = client.run(kill).await.unwrap();
        assert_eq!(reply.list("cursorsKilled"), &[id.into()]);
        assert_eq!(reply.list("cursorsNotFound"), &[5_i64.into()]);

        client
            .run(doc! { "endSessions": [{ "id": session }] })
            .await
            .unwrap();
        let mut command = more(in_session);
        command.insert("lsid", doc! { "id": session });
        assert_eq!(client.run(command).await.unwrap().number("code"), 43);

        opened(doc! {}).await.unwrap();
        Ok(())
    });
}

#[test]
fn a_cursor_that_nobody_reads_ends_after_a_time() {
    example(async |shop| {
        let limits = Limits::default().idle_cursor(Duration::from_millis(50));
        let served = Served::with_limits(&shop, limits).await;
        let mut client = filled(&served, 300).await;
        let (id, _) = cursor(&client.run(doc! { "find": "numbers" }).await.unwrap());
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(client.run(more(id)).await.unwrap().number("code"), 43);
        Ok(())
    });
}

#[test]
fn writes_beside_a_cursor_neither_repeat_nor_lose_other_documents() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        filled(&served, 3_000).await;
        let numbers = served.collection("numbers");
        let mut found = Vec::new();
        let mut cursor = numbers.find(doc! {}).batch_size(100).await.unwrap();
        while let Some(document) = cursor.try_next().await.unwrap() {
            let id = document.number("_id");
            if id % 100 == 0 {
                numbers.delete_one(doc! { "_id": id }).await.unwrap();
            }
            found.push(id);
        }
        assert_eq!(found, (0..3_000).collect::<Vec<_>>());
        Ok(())
    });
}
