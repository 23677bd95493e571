use std::time::Duration;

use mongodb::{
    bson::{Bson, Document, Timestamp, doc},
    options::SessionOptions,
};
use odm::derive::examples::example;
use odm_server::Limits;

use crate::{Fields, Secured, Served, part};

fn snapshot() -> Document {
    doc! { "level": "snapshot" }
}

fn at(time: Timestamp) -> Document {
    doc! { "level": "snapshot", "atClusterTime": time }
}

fn time_of(reply: &Document) -> Timestamp {
    let time = reply.get_timestamp("atClusterTime");
    time.unwrap_or_else(|_| panic!("no time: {reply}"))
}

#[test]
fn reads_at_one_time_see_one_state_whatever_is_written_meanwhile() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let find = doc! { "find": "parts", "batchSize": 1, "readConcern": snapshot() };
        let found = served.run(find).await.unwrap();
        let (cursor, time) = (found.inner("cursor"), time_of(found.inner("cursor")));
        let parts = served.collection("parts");
        parts.insert_one(part(20, "rod")).await.unwrap();
        let set = doc! { "$set": { "name": "other" } };
        parts.update_one(doc! { "_id": 2 }, set).await.unwrap();

        // Some drivers say the read concern again.
        let more =
            doc! { "getMore": cursor.number("id"), "collection": "parts", "readConcern": at(time) };
        let more = served.run(more).await.unwrap();
        let names: Vec<&str> = more
            .inner("cursor")
            .list("nextBatch")
            .iter()
            .map(|part| part.as_document().unwrap().text("name"))
            .collect();
        assert_eq!(names, ["nut", "washer"]);
        assert_eq!(time_of(more.inner("cursor")), time);

        let distinct = doc! { "distinct": "parts", "key": "name", "readConcern": at(time) };
        let distinct = served.run(distinct).await.unwrap();
        assert_eq!(
            distinct.list("values"),
            &["bolt", "nut", "washer"].map(Bson::from)
        );
        assert_eq!(time_of(&distinct), time);
        let count = |concern: Document| {
            doc! { "aggregate": "parts", "pipeline": [{ "$count": "n" }], "cursor": {}, "readConcern": concern }
        };
        let number = async |concern| {
            let counted = served.run(count(concern)).await.unwrap();
            let cursor = counted.inner("cursor");
            let n = cursor.list("firstBatch")[0]
                .as_document()
                .unwrap()
                .number("n");
            (n, time_of(cursor))
        };
        assert_eq!(number(at(time)).await, (3, time));
        let (n, later) = number(snapshot()).await;
        assert!(n == 4 && later > time);
        Ok(())
    });
}

#[test]
fn a_snapshot_session_of_a_driver_reads_one_state_of_all_collections() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let options = SessionOptions::builder().snapshot(true).build();
        let mut session = served
            .client
            .start_session()
            .with_options(options)
            .await
            .unwrap();
        let (parts, reviews) = (served.collection("parts"), served.collection("reviews"));
        let first = parts
            .find_one(doc! { "_id": 1 })
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(first.unwrap().number("qty"), 90);
        let inc = doc! { "$inc": { "qty": 1_i64 } };
        parts.update_one(doc! { "_id": 1 }, inc).await.unwrap();
        reviews.delete_many(doc! {}).await.unwrap();
        let again = parts
            .find_one(doc! { "_id": 1 })
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(again.unwrap().number("qty"), 90);
        let counted = reviews.count_documents(doc! {}).session(&mut session).await;
        assert_eq!(counted.unwrap(), 4);
        assert_eq!(reviews.count_documents(doc! {}).await.unwrap(), 0);
        Ok(())
    });
}

#[test]
fn a_snapshot_is_kept_for_a_bounded_time_and_number() {
    example(async |shop| {
        let limits = Limits::default().snapshot_life(Duration::from_millis(50));
        let served = Served::with_limits(&shop, limits).await;
        let find = |name: &str, concern: Document| {
            doc! { "find": name, "batchSize": 1, "readConcern": concern }
        };
        let many = (0..1000).map(|id| doc! { "_id": id });
        served.collection("many").insert_many(many).await.unwrap();
        let found = served.run(find("many", snapshot())).await.unwrap();
        let cursor = found.inner("cursor");
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (code, message) = served.refused(find("parts", at(time_of(cursor)))).await;
        assert_eq!(code, 239, "{message}");
        assert!(message.contains("older than the oldest"), "{message}");
        let more = doc! { "getMore": cursor.number("id"), "collection": "many" };
        let (code, message) = served.refused(more).await;
        assert_eq!(code, 239, "{message}");
        served.server.shutdown().await;

        let served = Served::with_limits(&shop, Limits::default().snapshots(2)).await;
        let mut times = Vec::new();
        for id in 30..33 {
            let found = served.run(find("parts", snapshot())).await.unwrap();
            times.push(time_of(found.inner("cursor")));
            let part = part(id, &format!("part {id}"));
            served.collection("parts").insert_one(part).await.unwrap();
        }
        assert_eq!(served.refused(find("parts", at(times[0]))).await.0, 239);
        for time in &times[1..] {
            served.run(find("parts", at(*time))).await.unwrap();
        }
        Ok(())
    });
}

#[test]
fn what_no_snapshot_has_is_refused_by_name() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let found = served
            .run(doc! { "find": "parts", "readConcern": snapshot() })
            .await
            .unwrap();
        let time = time_of(found.inner("cursor"));
        let later = Timestamp {
            time: time.time + 1000,
            ..time
        };
        let null = Timestamp {
            time: 0,
            increment: 0,
        };
        let find = |concern: Document| doc! { "find": "parts", "readConcern": concern };
        let stats = doc! { "$collStats": { "count": {} } };
        for (command, code, text) in [
            (
                doc! { "count": "parts", "readConcern": snapshot() },
                72,
                "Command count",
            ),
            (
                doc! { "aggregate": "parts", "pipeline": [stats], "cursor": {}, "readConcern": snapshot() },
                72,
                "stage $collStats",
            ),
            (
                doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }], "cursor": {}, "readConcern": snapshot() },
                72,
                "stage $changeStream",
            ),
            (find(at(later)), 72, "must not be greater"),
            (find(at(null)), 72, "null timestamp"),
            (
                find(doc! { "level": "local", "atClusterTime": time }),
                72,
                "level 'snapshot'",
            ),
            (
                find(doc! { "level": "snapshot", "atClusterTime": time, "afterClusterTime": time }),
                72,
                "one of",
            ),
        ] {
            let (number, message) = served.refused(command).await;
            assert_eq!(number, code, "{message}");
            assert!(message.contains(text), "{message}");
        }
        Ok(())
    });
}

#[test]
fn a_snapshot_shows_a_user_what_they_may_read_now() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = [odm_server::Right::read("parts")];
        secured.users.create("ann", "x", rights).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let find = |name: &str, concern: Document| doc! { "find": name, "readConcern": concern };
        let found = ann.run(find("parts", snapshot())).await.unwrap();
        let time = time_of(found.inner("cursor"));
        let refused = ann.run(find("orders", at(time))).await.unwrap();
        assert_eq!(refused.number("code"), 13, "{refused}");
        secured.users.set_rights("ann", []).await?;
        let refused = ann.run(find("parts", at(time))).await.unwrap();
        assert_eq!(refused.number("code"), 13, "{refused}");
        Ok(())
    });
}

#[test]
fn a_user_ends_none_of_the_snapshots_of_others() {
    example(async |shop| {
        let secured = Secured::with_limits(&shop, Limits::default().snapshots(3)).await;
        let mut clients = Vec::new();
        for name in ["ann", "ben"] {
            let all = [odm_server::Right::read_write_all()];
            secured.users.create(name, "x", all).await?;
            let mut client = secured.raw().await;
            client.log_in(name, "x").await;
            clients.push(client);
        }
        let find = |concern: Document| doc! { "find": "parts", "readConcern": concern };
        let found = clients[0].run(find(snapshot())).await.unwrap();
        let first = time_of(found.inner("cursor"));
        let mut times = Vec::new();
        for id in 40..45 {
            let part = part(id, &format!("part {id}"));
            let insert = doc! { "insert": "parts", "documents": [part] };
            assert_eq!(clients[1].run(insert).await.unwrap().number("n"), 1);
            let found = clients[1].run(find(snapshot())).await.unwrap();
            times.push(time_of(found.inner("cursor")));
        }
        let kept = clients[0].run(find(at(first))).await.unwrap();
        assert_eq!(time_of(kept.inner("cursor")), first);
        let refused = clients[1].run(find(at(times[2]))).await.unwrap();
        assert_eq!(refused.number("code"), 239, "{refused}");
        for time in &times[3..] {
            let kept = clients[1].run(find(at(*time))).await.unwrap();
            assert_eq!(time_of(kept.inner("cursor")), *time);
        }
        Ok(())
    });
}
