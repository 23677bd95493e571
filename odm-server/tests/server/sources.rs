//! Stages that make documents.

use mongodb::bson::{Bson, Document, doc};
use odm::derive::examples::example;
use odm_server::Right;

use crate::{Fields, Secured, Served, error_of, part, raw::RawClient};

fn of_database(stages: impl IntoIterator<Item = Document>) -> Document {
    let stages: Vec<Document> = stages.into_iter().collect();
    doc! { "aggregate": 1, "pipeline": stages, "cursor": {} }
}

fn batch(reply: &Document) -> Vec<Document> {
    let all = reply.inner("cursor").list("firstBatch").iter();
    all.map(|one| one.as_document().unwrap().clone()).collect()
}

#[test]
fn a_pipeline_can_have_documents_of_its_own() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let documents =
            doc! { "$documents": [{ "part": { "$add": [1, "$$one"] } }, { "part": 9 }] };
        let join = doc! { "$lookup": { "from": "parts", "localField": "part", "foreignField": "_id", "as": "of" } };
        let show = doc! { "$project": { "part": 1, "names": "$of.name" } };
        let mut command = of_database([documents, join, show]);
        command.insert("let", doc! { "one": 1 });
        let rows = batch(&served.run(command).await.unwrap());
        assert_eq!(
            rows,
            [
                doc! { "part": 2, "names": ["nut"] },
                doc! { "part": 9, "names": [] }
            ]
        );
        let in_snapshot = doc! { "level": "snapshot" };
        let mut command = of_database([doc! { "$documents": [] }]);
        command.insert("readConcern", in_snapshot);
        assert!(batch(&served.run(command).await.unwrap()).is_empty());

        let documents = || doc! { "$documents": [{ "a": 1 }] };
        let of_collection = doc! { "aggregate": "parts", "pipeline": [documents()], "cursor": {} };
        for (command, code) in [
            (of_database([doc! { "$documents": { "a": 1 } }]), 5_858_203),
            (of_database([doc! { "$documents": [1] }]), 40_228),
            (of_collection, 73),
        ] {
            let (number, message) = served.refused(command).await;
            assert_eq!(number, code, "{message}");
        }
        Ok(())
    });
}

#[test]
fn sessions_are_listed_from_their_first_command_to_their_end() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let started = client.run(doc! { "startSession": 1 }).await.unwrap();
        let lsid = started.inner("id").clone();
        let list = || of_database([doc! { "$listLocalSessions": { "allUsers": true } }]);
        let has = |reply: &Document| {
            let id = lsid.get("id");
            batch(reply).iter().any(|one| {
                let (own, used) = (one.inner("_id"), one.get_datetime("lastUse"));
                used.is_ok() && own.get("id") == id && own.contains_key("uid")
            })
        };
        assert!(has(&client.run(list()).await.unwrap()));
        let ended = doc! { "endSessions": [lsid.clone()] };
        client.run(ended).await.unwrap();
        assert!(!has(&client.run(list()).await.unwrap()));
        // A command that a stranger can send uses no session.
        let ping = doc! { "ping": 1, "lsid": lsid.clone() };
        let mut in_transaction = ping.clone();
        in_transaction.insert("txnNumber", 1_i64);
        for ping in [ping, in_transaction] {
            let reply = client.run(ping).await.unwrap();
            assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
            assert!(!has(&client.run(list()).await.unwrap()));
        }
        let count = doc! { "count": "parts", "lsid": lsid.clone() };
        client.run(count).await.unwrap();
        assert!(has(&client.run(list()).await.unwrap()));

        let stored = doc! { "aggregate": "system.sessions", "pipeline": [{ "$listSessions": {} }], "cursor": {} };
        let config = served.client.database("config");
        assert!(has(&config.run_command(stored.clone()).await.unwrap()));
        assert_eq!(served.refused(stored).await.0, 73);
        for (options, code) in [
            (doc! { "users": [{ "user": "ann", "db": "shop" }] }, 238),
            (doc! { "allUsers": 1 }, 40_415),
            (doc! { "other": true }, 40_415),
        ] {
            let command = of_database([doc! { "$listLocalSessions": options }]);
            assert_eq!(served.refused(command).await.0, code);
        }
        Ok(())
    });
}

#[test]
fn a_user_lists_their_own_sessions_alone() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let list = |all_users: bool| {
            of_database([doc! { "$listLocalSessions": { "allUsers": all_users } }])
        };
        let mut numbers = Vec::new();
        for name in ["ann", "ben"] {
            let all = [Right::read_write_all()];
            secured.users.create(name, "x", all).await?;
            let mut client = secured.raw().await;
            client.log_in(name, "x").await;
            client.run(doc! { "startSession": 1 }).await.unwrap();
            let listed = batch(&client.run(list(false)).await.unwrap());
            let user = format!("{name}@shop");
            assert!(listed.iter().all(|one| one.text("user") == user));
            numbers.push(listed.len());
            let refused = client.run(list(true)).await.unwrap();
            assert_eq!(refused.number("code"), 13, "{refused}");
            assert!(refused.text("errmsg").contains("allUsers"), "{refused}");
        }
        assert_eq!(numbers, [1, 1]);
        Ok(())
    });
}

#[test]
fn what_is_about_the_whole_server_is_asked_of_the_database_admin() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let admin = served.client.database("admin");
        for command in [
            doc! { "currentOp": 1 },
            doc! { "getLog": "global" },
            doc! { "getParameter": "*" },
            doc! { "getCmdLineOpts": 1 },
            doc! { "top": 1 },
        ] {
            let (code, message) = served.refused(command.clone()).await;
            assert_eq!(code, 13, "{message}");
            assert!(message.contains("only be run against the admin database"));
            admin.run_command(command).await.unwrap();
        }
        let unknown = admin.run_command(doc! { "getParameter": 1, "nope": 1 });
        assert_eq!(error_of(unknown.await.unwrap_err()).0, 72);
        let running = || of_database([doc! { "$currentOp": {} }]);
        assert_eq!(served.refused(running()).await.0, 73);
        admin.run_command(running()).await.unwrap();
        Ok(())
    });
}

#[test]
fn stages_about_the_server_are_in_no_transaction() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let stats = [doc! { "$indexStats": {} }];
        let refused = served
            .collection("parts")
            .aggregate(stats)
            .session(&mut session)
            .await;
        let (code, message) = error_of(refused.unwrap_err());
        assert_eq!(code, 263, "{message}");
        session.abort_transaction().await.unwrap();
        session.start_transaction().await.unwrap();
        let documents = [doc! { "$documents": [{ "a": 1 }] }];
        let shop = served.client.database("shop");
        let mut cursor = shop
            .aggregate(documents)
            .session(&mut session)
            .await
            .unwrap();
        let first = cursor.next(&mut session).await.unwrap().unwrap();
        assert_eq!(first.get("a"), Some(&Bson::Int32(1)));
        Ok(())
    });
}

#[test]
fn the_time_of_the_last_commit_is_a_variable() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        parts.insert_one(part(50, "rivet")).await.unwrap();
        let before = served.run(doc! { "ping": 1 }).await.unwrap();
        let before = before.get_timestamp("operationTime").unwrap();
        let show = doc! { "$project": { "at": "$$CLUSTER_TIME", "since": "$$since" } };
        let aggregate = doc! {
            "aggregate": "parts", "pipeline": [{ "$match": { "_id": 50 } }, show], "cursor": {}, "let": { "since": "$$CLUSTER_TIME" },
        };
        for command in [aggregate.clone(), doc! { "explain": aggregate.clone() }] {
            served.run(command).await.unwrap();
        }
        let row = &batch(&served.run(aggregate).await.unwrap())[0];
        let at = row.get_timestamp("at").unwrap();
        assert!(before <= at);
        assert_eq!(row.get_timestamp("since").unwrap(), at);
        let later = doc! { "$expr": { "$gte": ["$$CLUSTER_TIME", at] } };
        assert_eq!(parts.count_documents(later.clone()).await.unwrap(), 4);
        let stamp = [doc! { "$set": { "note": { "$toString": { "$type": "$$CLUSTER_TIME" } } } }];
        parts.update_one(later, stamp.to_vec()).await.unwrap();
        let stamped = parts.count_documents(doc! { "note": "timestamp" }).await;
        assert_eq!(stamped.unwrap(), 1);
        let bound = doc! { "find": "parts", "let": { "CLUSTER_TIME": 1 } };
        assert_eq!(served.refused(bound).await.0, 4_738_901);
        Ok(())
    });
}
