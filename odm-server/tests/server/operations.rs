//! Running commands are listed, and can be ended.

use std::time::Duration;

use mongodb::bson::{Document, doc};
use odm::derive::examples::example;
use odm_server::Right;

use crate::{Fields, Secured, Served, error_of, raw::RawClient};

#[test]
fn a_running_command_is_listed_and_can_be_killed() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let watch =
            doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
        let begun = client.run(watch).await.unwrap();
        let id = begun.inner("cursor").number("id");
        let more = doc! { "getMore": id, "collection": "parts", "maxTimeMS": 60_000 };
        let waiting = tokio::spawn(async move { client.run(more).await });
        tokio::time::sleep(Duration::from_millis(100)).await;

        let admin = served.client.database("admin");
        let listed = async || {
            let reply = admin.run_command(doc! { "currentOp": 1 }).await.unwrap();
            let all = reply
                .list("inprog")
                .iter()
                .map(|one| one.as_document().unwrap().clone());
            all.collect::<Vec<Document>>()
        };
        let all = listed().await;
        assert_eq!(all.len(), 2); // with itself
        let more = all.iter().find(|one| one.text("op") == "getmore").unwrap();
        assert_eq!(more.text("ns"), "shop.parts");
        assert!(more.number("microsecs_running") > 50_000);
        let by_stage = doc! {
            "aggregate": 1,
            "pipeline": [{ "$currentOp": {} }, { "$match": { "op": "getmore" } }, { "$project": { "opid": 1 } }],
            "cursor": {},
        };
        let by_stage = admin.run_command(by_stage).await.unwrap();
        let opid = more.number("opid");
        assert_eq!(
            by_stage.inner("cursor").list("firstBatch"),
            &[doc! { "opid": opid as i32 }.into()]
        );

        for (filter, expected) in [
            (doc! { "op": "getmore" }, 1),
            (doc! { "$all": true, "$ownOps": true, "op": "getmore" }, 1),
            (doc! { "secs_running": { "$gt": 60 } }, 0),
            (doc! { "$or": [{ "opid": opid }, { "ns": "none" }] }, 1),
        ] {
            let mut command = doc! { "currentOp": 1 };
            command.extend(filter);
            let reply = admin.run_command(command.clone()).await.unwrap();
            assert_eq!(reply.list("inprog").len(), expected, "{command}");
        }
        for (options, code) in [
            (doc! { "idleConnections": true, "truncateOps": false }, 0),
            (doc! { "idleCursors": true }, 238),
            (doc! { "allUsers": 1 }, 9),
            (doc! { "other": true }, 9),
        ] {
            let pipeline = [doc! { "$currentOp": options.clone() }];
            let command = doc! { "aggregate": 1, "pipeline": pipeline.to_vec(), "cursor": {} };
            let found = admin.run_command(command).await;
            let found = found.map_or_else(|error| error_of(error).0, |_| 0);
            assert_eq!(found, code, "{options}");
        }

        assert_eq!(served.refused(doc! { "killOp": 1, "op": opid }).await.0, 13);
        for op in [opid, 77_777, -1] {
            admin
                .run_command(doc! { "killOp": 1, "op": op })
                .await
                .unwrap();
        }
        let ended = waiting.await.unwrap().unwrap();
        assert_eq!(
            (ended.number("code"), ended.text("codeName")),
            (11_601, "Interrupted")
        );
        assert!(!ended.contains_key("errorLabels"));
        assert_eq!(listed().await.len(), 1);
        Ok(())
    });
}

#[test]
fn a_user_neither_sees_nor_ends_the_commands_of_another_user() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        for name in ["ann", "ben"] {
            let all = [Right::read_write_all()];
            secured.users.create(name, "x", all).await?;
        }
        let mut waiting = secured.raw().await;
        waiting.log_in("ann", "x").await;
        let watch =
            doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
        let begun = waiting.run(watch).await.unwrap();
        let id = begun.inner("cursor").number("id");
        let more = doc! { "getMore": id, "collection": "parts", "maxTimeMS": 60_000 };
        let ended = tokio::spawn(async move { waiting.run(more).await });
        tokio::time::sleep(Duration::from_millis(100)).await;

        let (ann, ben) = (
            secured.client("ann", "x").await.database("admin"),
            secured.client("ben", "x").await.database("admin"),
        );
        let listed = async |database: &mongodb::Database| {
            let reply = database.run_command(doc! { "currentOp": 1 }).await.unwrap();
            let all = reply.list("inprog").iter();
            let waiting = all.filter_map(|one| {
                let one = one.as_document().unwrap();
                (one.text("op") == "getmore").then(|| one.number("opid"))
            });
            waiting.collect::<Vec<i64>>()
        };
        assert!(listed(&ben).await.is_empty());
        let running = listed(&ann).await;
        let kill = || doc! { "killOp": 1, "op": running[0] };
        ben.run_command(kill()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(listed(&ann).await, running);
        ann.run_command(kill()).await.unwrap();
        let ended = ended.await.unwrap().unwrap();
        assert_eq!(ended.number("code"), 11_601);
        Ok(())
    });
}
