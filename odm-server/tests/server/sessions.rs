use std::time::Duration;

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use odm::{Collections, Embedded, derive::examples::example};
use odm_server::{Limits, Server};

use crate::{Fields, Served, assert_right, client_of, error_of, part, raw::RawClient, review};

/// The session of a client.
fn lsid(number: u8) -> Bson {
    let id = Binary {
        subtype: BinarySubtype::Uuid,
        bytes: vec![number; 16],
    };
    doc! { "id": id }.into()
}

/// A command that its client may send again.
fn retryable(mut command: Document, session: u8, number: i64) -> Document {
    command.extend(doc! { "lsid": lsid(session), "txnNumber": number });
    command
}

fn is_ok(reply: &Document) -> bool {
    reply.get_f64("ok").is_ok_and(|ok| ok == 1.0)
}

#[test]
fn a_transaction_of_a_driver_is_stored_as_a_whole_or_not_at_all() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let (products, reviews) = (served.collection("products"), served.collection("reviews"));
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        reviews
            .insert_one(review(20, 3))
            .session(&mut session)
            .await
            .unwrap();
        reviews
            .insert_many([review(21, 3), review(22, 3)])
            .session(&mut session)
            .await
            .unwrap();
        let inside = products
            .find_one(doc! { "_id": 3 })
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(inside.unwrap().number("review_count"), 3);
        assert_eq!(shop.products.get(3).await?.review_count, 0);
        session.commit_transaction().await.unwrap();
        session.commit_transaction().await.unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 3);

        session.start_transaction().await.unwrap();
        reviews
            .delete_many(doc! {})
            .session(&mut session)
            .await
            .unwrap();
        session.abort_transaction().await.unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 3);

        // An error of a statement ends the transaction.
        session.start_transaction().await.unwrap();
        reviews
            .insert_one(review(23, 3))
            .session(&mut session)
            .await
            .unwrap();
        let dangling = reviews
            .insert_one(review(24, 77))
            .session(&mut session)
            .await;
        assert!(
            error_of(dangling.unwrap_err())
                .1
                .contains("dangling reference")
        );
        let after = reviews
            .insert_one(review(25, 3))
            .session(&mut session)
            .await
            .unwrap_err();
        assert!(after.contains_label("TransientTransactionError"), "{after}");
        session.abort_transaction().await.unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 3);
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn a_transaction_that_loses_a_conflict_can_be_run_again() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let taken = |number: i64| doc! { "$inc": { "qty": -number } };
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let read = parts
            .find_one(doc! { "_id": 1 })
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(read.unwrap().number("qty"), 90);
        // Nobody waits for the transaction.
        parts.update_one(doc! { "_id": 1 }, taken(1)).await.unwrap();
        let late = parts
            .update_one(doc! { "_id": 1 }, taken(2))
            .session(&mut session)
            .await;
        let lost = match late {
            Ok(_) => session.commit_transaction().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(lost.contains_label("TransientTransactionError"), "{lost}");
        assert_eq!(shop.parts.get(1).await?.qty, 89);
        Ok(())
    });
}

#[test]
fn a_transaction_in_which_nobody_sends_anything_is_rolled_back() {
    example(async |shop| {
        let limits = Limits::default().idle_transaction(Duration::from_millis(50));
        let served = Served::with_limits(&shop, limits).await;
        let parts = served.collection("parts");
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        parts
            .delete_one(doc! { "_id": 3 })
            .session(&mut session)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let late = session.commit_transaction().await.unwrap_err();
        assert_eq!(error_of(late).0, 251);
        assert!(shop.parts.get(3).await.is_ok());
        Ok(())
    });
}

fn without_time(mut reply: Document) -> Document {
    for name in ["$clusterTime", "operationTime"] {
        reply.remove(name);
    }
    reply
}

#[test]
fn a_write_that_is_sent_again_is_carried_out_once_and_has_the_same_reply() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let taken = doc! { "$inc": { "qty": -1_i64 } };
        let statement = doc! { "q": { "_id": 1 }, "u": &taken };
        let upsert = doc! { "q": { "page": "/" }, "u": { "$inc": { "n": 1 } }, "upsert": true };
        let commands = [
            doc! { "update": "parts", "updates": [&statement, &statement] },
            doc! { "update": "visits", "updates": [&upsert, &upsert] },
            doc! { "insert": "parts", "documents": [part(20, "rivet"), part(21, "dowel")] },
            // The second one fails, and the others are done.
            doc! {
                "insert": "parts",
                "documents": [part(22, "pin"), part(20, "taken"), part(23, "peg")],
                "ordered": false,
            },
            doc! { "delete": "parts", "deletes": [{ "q": { "_id": 23 }, "limit": 1 }] },
            doc! { "findAndModify": "parts", "query": { "_id": 2 }, "update": &taken, "new": true },
            doc! { "findAndModify": "parts", "query": { "_id": 22 }, "remove": true, "fields": { "name": 1 } },
        ];
        for (number, command) in commands.into_iter().enumerate() {
            let command = retryable(command, 1, number as i64 + 1);
            let first = client.run(command.clone()).await.unwrap();
            assert!(is_ok(&first), "{first}");
            let mut other = RawClient::new(&served.server).await;
            // Another test may have committed meanwhile.
            let again = other.run(command).await.unwrap();
            assert_eq!(without_time(again), without_time(first));
        }
        assert_eq!(
            (shop.parts.get(1).await?.qty, shop.parts.get(2).await?.qty),
            (88, 4)
        );
        assert_eq!(shop.parts.all().count().await?, 5);
        // An earlier command does not come after a later one.
        let late = retryable(doc! { "update": "parts", "updates": [statement] }, 1, 1);
        assert!(!is_ok(&client.run(late).await.unwrap()));
        assert_eq!(shop.parts.get(1).await?.qty, 88);
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn a_write_and_a_commit_that_are_sent_again_to_a_new_server_are_carried_out_once() {
    example(async |_| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.odm");
        let insert = doc! { "insert": "notes", "documents": [{ "text": "a" }, { "text": "b" }] };
        let insert = retryable(insert, 1, 1);
        let in_transaction = |mut command: Document, starts: bool| {
            command.extend(doc! { "lsid": lsid(2), "txnNumber": 5_i64, "autocommit": false });
            if starts {
                command.insert("startTransaction", true);
            }
            command
        };
        let begun = in_transaction(
            doc! { "insert": "notes", "documents": [{ "text": "c" }] },
            true,
        );
        let commit = in_transaction(doc! { "commitTransaction": 1, "$db": "admin" }, false);
        let lost = in_transaction(doc! { "commitTransaction": 1, "txnNumber": 6_i64 }, false);
        let mut first = None;
        for _ in 0..3 {
            let collections = Collections::open(Embedded::open(&path).await?).await?;
            let server = Server::builder().database("shop", collections.clone());
            let server = server.listen("127.0.0.1:0").await?;
            let mut client = RawClient::new(&server).await;
            let reply = client.run(insert.clone()).await.unwrap();
            assert_eq!(reply.number("n"), 2, "{reply}");
            if first.is_none() {
                assert_eq!(client.run(begun.clone()).await.unwrap().number("n"), 1);
            }
            assert!(is_ok(&client.run(commit.clone()).await.unwrap()));
            let mut unknown = lost.clone();
            unknown.insert("txnNumber", 6_i64);
            assert_eq!(client.run(unknown).await.unwrap().number("code"), 251);
            first = Some(reply);
            let notes = client_of(&server)
                .await
                .database("shop")
                .collection::<Document>("notes");
            assert_eq!(notes.count_documents(doc! {}).await.unwrap(), 3);
            server.shutdown().await;
            collections.close().await?;
        }
        Ok(())
    });
}

#[test]
fn copies_of_a_write_that_run_at_once_are_carried_out_once() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for number in 1..20 {
            let taken = doc! { "q": { "_id": 3 }, "u": { "$inc": { "qty": -1_i64 } } };
            let updates: Vec<Document> = (0..10).map(|_| taken.clone()).collect();
            let update = retryable(
                doc! { "update": "parts", "updates": updates },
                3,
                2 * number,
            );
            let documents = (0..9).map(|n| doc! { "text": format!("{number} {n}") });
            // One of them cannot be stored.
            let documents: Vec<Document> = documents.chain([doc! { "_id": [1] }]).collect();
            let insert = doc! { "insert": "notes", "documents": documents, "ordered": false };
            let insert = retryable(insert, 3, 2 * number + 1);
            for command in [update, insert] {
                let copies = (0..4).map(async |_| {
                    let mut client = RawClient::new(&served.server).await;
                    client.run(command.clone()).await.unwrap()
                });
                for reply in futures_util::future::join_all(copies).await {
                    assert!(is_ok(&reply) && reply.number("n") >= 9, "{reply}");
                }
            }
        }
        assert_eq!(shop.parts.get(3).await?.qty, 300 - 190);
        let notes = served
            .collection("notes")
            .count_documents(doc! {})
            .await
            .unwrap();
        assert_eq!(notes, 9 * 19);
        Ok(())
    });
}

#[test]
fn a_commit_whose_client_goes_is_answered_when_it_is_sent_again() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for number in 1..20_i64 {
            let in_transaction = |mut command: Document| {
                command.extend(doc! { "lsid": lsid(4), "txnNumber": number, "autocommit": false });
                command
            };
            let mut begun =
                in_transaction(doc! { "insert": "notes", "documents": [{ "n": number }] });
            begun.insert("startTransaction", true);
            let mut client = RawClient::new(&served.server).await;
            assert!(is_ok(&client.run(begun).await.unwrap()));
            let commit = in_transaction(doc! { "commitTransaction": 1, "$db": "admin" });
            client
                .send(crate::raw::OP_MSG, &crate::raw::body(0, &commit))
                .await;
            drop(client);
            let mut client = RawClient::new(&served.server).await;
            let reply = client.run(commit).await.unwrap();
            assert!(is_ok(&reply), "{reply}");
            let notes = served
                .collection("notes")
                .count_documents(doc! {})
                .await
                .unwrap();
            assert_eq!(notes, number as u64);
        }
        Ok(())
    });
}

#[test]
fn a_transaction_that_only_reads_loses_no_conflict() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        parts
            .find_one(doc! { "_id": 1 })
            .session(&mut session)
            .await
            .unwrap();
        let taken = doc! { "$inc": { "qty": -1_i64 } };
        parts.update_one(doc! { "_id": 1 }, taken).await.unwrap();
        let again = parts
            .find_one(doc! { "_id": 1 })
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(again.unwrap().number("qty"), 90);
        session.commit_transaction().await.unwrap();
        Ok(())
    });
}

#[test]
fn commands_that_cannot_be_in_a_transaction_or_sent_again_say_so() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let numbered = |fields: Document| {
            let mut command = doc! { "find": "parts" };
            command.extend(fields);
            command
        };
        let in_transaction = doc! { "lsid": lsid(1), "txnNumber": 1_i64, "autocommit": false };
        let mut count = doc! { "count": "parts", "startTransaction": true };
        count.extend(in_transaction.clone());
        let mut committed = doc! { "commitTransaction": 1 };
        committed.extend(in_transaction);
        let cases = [
            (numbered(doc! { "txnNumber": 1_i64 }), 72),
            (
                numbered(doc! { "txnNumber": 1_i64, "lsid": lsid(1) }),
                50_768,
            ),
            (numbered(doc! { "lsid": lsid(1), "autocommit": false }), 72),
            (
                numbered(doc! { "lsid": lsid(1), "txnNumber": 1_i64, "autocommit": true }),
                72,
            ),
            (
                numbered(doc! { "lsid": lsid(1), "txnNumber": 1_i64, "startTransaction": true }),
                72,
            ),
            (
                numbered(doc! { "lsid": lsid(1), "txnNumber": 1_i64, "autocommit": false }),
                251,
            ),
            (count, 263),
            (committed, 251),
            (doc! { "commitTransaction": 1, "lsid": lsid(1) }, 72),
        ];
        for (command, code) in cases {
            let reply = client.run(command.clone()).await.unwrap();
            assert_eq!(reply.number("code"), code, "{command}: {reply}");
        }
        Ok(())
    });
}

/// A command of the transaction 1 of a session.
fn in_transaction(mut command: Document, session: u8, starts: bool) -> Document {
    command.extend(doc! { "lsid": lsid(session), "txnNumber": 1_i64, "autocommit": false });
    if starts {
        command.insert("startTransaction", true);
    }
    command
}

fn by(field: &str) -> Document {
    doc! { "key": { field: 1 }, "name": field, "unique": true }
}

#[test]
fn a_transaction_creates_collections_and_their_indexes_as_a_whole_or_not_at_all() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let index =
            |name: &str, field: &str| doc! { "createIndexes": name, "indexes": [by(field)] };
        let insert = |id: i32| doc! { "insert": "drafts", "documents": [{ "_id": id, "a": 1 }] };
        let end = |name: &str, session| in_transaction(doc! { name: 1 }, session, false);
        let is_there = async || {
            let shop = served.client.database("shop");
            let all = shop.list_collection_names().await;
            all.unwrap().contains(&"drafts".to_owned())
        };
        for (session, last) in [(1, "abortTransaction"), (2, "commitTransaction")] {
            let mut replies = Vec::new();
            for (at, command) in [
                doc! { "create": "drafts" },
                index("drafts", "a"),
                index("others", "b"),
                insert(1),
                // What is there already is no new index.
                index("drafts", "a"),
            ]
            .into_iter()
            .enumerate()
            {
                let reply = client.run(in_transaction(command, session, at == 0)).await;
                replies.push(reply.unwrap());
            }
            assert!(replies.iter().all(is_ok), "{replies:?}");
            let numbers = |reply: &Document| {
                (
                    reply.number("numIndexesBefore"),
                    reply.number("numIndexesAfter"),
                )
            };
            assert_eq!(numbers(&replies[1]), (1, 2));
            assert!(!replies[1].flag("createdCollectionAutomatically"));
            assert!(replies[2].flag("createdCollectionAutomatically"));
            assert_eq!(numbers(&replies[4]), (2, 2));
            assert!(!is_there().await);
            assert!(is_ok(&client.run(end(last, session)).await.unwrap()));
            assert_eq!(is_there().await, last == "commitTransaction");
        }
        assert!(is_ok(
            &client.run(end("commitTransaction", 2)).await.unwrap()
        ));
        // The index is in force.
        let twice = doc! { "insert": "drafts", "documents": [{ "_id": 2, "a": 1 }] };
        let refused = client.run(twice).await.unwrap();
        assert!(format!("{refused}").contains("11000"), "{refused}");

        // What MongoDB refuses in a transaction ends it.
        let in_full = doc! { "insert": "full", "documents": [{}] };
        assert!(is_ok(
            &client.run(in_transaction(in_full, 6, true)).await.unwrap()
        ));
        let existing = "new indexes on existing collection";
        for (session, command, code, text) in [
            (3, index("parts", "qty"), 263, existing),
            (4, doc! { "create": "drafts" }, 48, "already exists"),
            (5, doc! { "drop": "drafts" }, 263, "Cannot run 'drop'"),
            (6, index("full", "a"), 263, "non-empty"),
            (6, doc! { "commitTransaction": 1 }, 251, "transaction"),
        ] {
            let command = in_transaction(command, session, session < 6);
            let refused = client.run(command).await.unwrap();
            assert_eq!(refused.number("code"), code, "{refused}");
            assert!(refused.text("errmsg").contains(text), "{refused}");
        }
        Ok(())
    });
}

#[test]
fn of_two_transactions_that_create_a_collection_one_is_run_again() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let mut run = async |name: &str, session, starts| {
            let command = in_transaction(doc! { name: "drafts" }, session, starts);
            client.run(command).await.unwrap()
        };
        assert!(is_ok(&run("create", 1, true).await));
        assert!(is_ok(&run("create", 2, true).await));
        assert!(is_ok(&run("commitTransaction", 1, false).await));
        let lost = run("commitTransaction", 2, false).await;
        assert_eq!(lost.number("code"), 112, "{lost}");
        assert_eq!(
            lost.list("errorLabels"),
            &[Bson::from("TransientTransactionError")]
        );
        Ok(())
    });
}

#[test]
fn a_transaction_whose_new_collection_another_has_created_is_run_again() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let index = doc! { "createIndexes": "drafts", "indexes": [by("a")] };
        let emptied = doc! { "delete": "drafts", "deletes": [{ "q": {}, "limit": 0 }] };
        for (session, first) in [
            (1, vec![doc! { "create": "drafts" }]),
            (
                2,
                vec![
                    doc! { "insert": "drafts", "documents": [{ "a": 1 }] },
                    emptied,
                ],
            ),
        ] {
            for (at, command) in first.into_iter().enumerate() {
                let command = in_transaction(command, session, at == 0);
                assert!(is_ok(&client.run(command).await.unwrap()));
            }
            let meanwhile = client.run(doc! { "create": "drafts" }).await.unwrap();
            assert!(is_ok(&meanwhile), "{meanwhile}");
            let command = in_transaction(index.clone(), session, false);
            let created = client.run(command).await.unwrap();
            assert!(is_ok(&created), "{created}");
            let commit = in_transaction(doc! { "commitTransaction": 1 }, session, false);
            let lost = client.run(commit).await.unwrap();
            assert_eq!(lost.number("code"), 112, "{lost}");
            assert_eq!(
                lost.list("errorLabels"),
                &[Bson::from("TransientTransactionError")]
            );
            client.run(doc! { "drop": "drafts" }).await.unwrap();
        }
        Ok(())
    });
}
