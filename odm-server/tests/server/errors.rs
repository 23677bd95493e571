use mongodb::bson::{Bson, Document, doc};
use odm::derive::examples::example;

use crate::{Fields, Served, error_of, part, raw::RawClient, review};

#[test]
fn a_duplicate_key_has_mongodbs_message_with_the_key() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let insert = doc! { "insert": "parts", "documents": [part(9, "nut")] };
        let reply = served.run(insert).await.unwrap();
        let error = reply.list("writeErrors")[0].as_document().unwrap().clone();
        assert_eq!(error.number("code"), 11_000);
        assert_eq!(error.inner("keyPattern"), &doc! { "name": 1 });
        assert_eq!(error.inner("keyValue"), &doc! { "name": "nut" });
        let message = error.text("errmsg");
        let start = "E11000 duplicate key error collection: shop.parts index: name_1 dup key: { \"name\": \"nut\" }";
        assert!(message.starts_with(start), "{message}");

        let update = doc! { "findAndModify": "parts", "query": { "_id": 1 }, "update": { "$set": { "name": "nut" } } };
        let (code, message) = served.refused(update).await;
        assert_eq!(code, 11_000);
        assert!(message.starts_with(start), "{message}");
        Ok(())
    });
}

#[test]
fn what_the_models_refuse_is_an_error_of_the_statement_with_its_reason() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let (parts, reviews) = (served.collection("parts"), served.collection("reviews"));
        let products = served.collection("products");
        let all = || doc! {};

        let lie = doc! { "$set": { "review_count": 100_i64 } };
        let (code, message) = error_of(products.update_many(all(), lie).await.unwrap_err());
        assert!(
            code == 2 && message.starts_with("derived field"),
            "{message}"
        );
        let (code, message) = error_of(parts.delete_many(all()).await.unwrap_err());
        assert!(
            code == 2 && message.starts_with("restricted delete"),
            "{message}"
        );
        let (code, message) = error_of(reviews.insert_one(review(9, 77)).await.unwrap_err());
        assert!(
            code == 2 && message.starts_with("dangling reference"),
            "{message}"
        );
        // Not that the copy of the name is missing.
        let warranties = served.collection("warranties");
        let nameless = doc! { "product": 77_i64, "months": 12 };
        let (code, message) = error_of(warranties.replace_one(all(), nameless).await.unwrap_err());
        assert!(
            code == 2 && message.starts_with("dangling reference"),
            "{message}"
        );
        let text = doc! { "$set": { "qty": "many" } };
        let (code, message) = error_of(parts.update_one(all(), text).await.unwrap_err());
        assert!(code == 121 && message.contains("`qty`"), "{message}");
        let own = served.collection("_odm_catalog");
        let (code, message) = error_of(own.delete_many(all()).await.unwrap_err());
        assert!(code == 2 && message.contains("library's own"), "{message}");
        assert!(own.find_one(all()).await.unwrap().is_some());
        Ok(())
    });
}

/// Commands that are refused, each with MongoDB's code.
fn refused_commands() -> Vec<(Document, i32)> {
    let find = |options: Document| {
        let mut command = doc! { "find": "parts" };
        command.extend(options);
        command
    };
    let update = |fields: Document| {
        let mut statement = doc! { "q": {}, "u": { "$set": { "qty": 1_i64 } } };
        statement.extend(fields);
        doc! { "update": "parts", "updates": [statement] }
    };
    let modify = |options: Document| {
        let mut command = doc! { "findAndModify": "parts" };
        command.extend(options);
        command
    };
    let aggregate =
        |stages: Vec<Document>| doc! { "aggregate": "parts", "pipeline": stages, "cursor": {} };
    let of_database = |stage| doc! { "aggregate": 1, "pipeline": [stage], "cursor": {} };
    vec![
        (doc! { "fnd": "parts" }, 59),
        (doc! { "find": 1 }, 73),
        (doc! { "find": "" }, 73),
        (doc! { "find": "a$b" }, 73),
        (find(doc! { "fitler": {} }), 40_415),
        (find(doc! { "filter": 5 }), 14),
        (find(doc! { "filter": { "$where": "true" } }), 238),
        (
            find(doc! { "filter": { "qty": { "$gte": 1, "$nope": 2 } } }),
            2,
        ),
        (find(doc! { "sort": { "qty": 2 } }), 15_975),
        (find(doc! { "projection": { "a": 1, "b": 0 } }), 31_254),
        (find(doc! { "limit": -1 }), 2),
        (find(doc! { "batchSize": -1 }), 2),
        (find(doc! { "maxTimeMS": 1.5 }), 9),
        (find(doc! { "maxTimeMS": "1" }), 14),
        (find(doc! { "readConcern": { "provenance": "nobody" } }), 2),
        (find(doc! { "readConcern": { "atClusterTime": 1 } }), 14),
        (doc! { "count": "parts", "limit": "1" }, 2),
        (doc! { "count": "parts", "limit": 1.5 }, 9),
        (doc! { "count": "parts", "writeConcern": { "w": 1 } }, 72),
        (
            doc! { "insert": "parts", "documents": [{}], "ordered": 1 },
            14,
        ),
        (
            doc! { "insert": "parts", "documents": [{}], "writeConcern": { "j": "yes" } },
            14,
        ),
        (doc! { "aggregate": 2, "pipeline": [], "cursor": {} }, 2),
        (doc! { "aggregate": true, "pipeline": [], "cursor": {} }, 73),
        (
            doc! { "aggregate": "parts", "pipeline": [], "cursor": {}, "allowDiskUse": 1 },
            14,
        ),
        (find(doc! { "skip": "1" }), 14),
        (find(doc! { "maxTimeMS": -1 }), 2),
        (find(doc! { "collation": { "locale": "xx" } }), 2),
        (find(doc! { "collation": { "strength": 1 } }), 40_414),
        (find(doc! { "hint": "name_1" }), 238),
        (find(doc! { "min": { "qty": 1 } }), 238),
        (find(doc! { "let": { "A": 1 } }), 9),
        (find(doc! { "let": { "a": "$qty" } }), 4_890_500),
        (
            find(doc! { "filter": { "$expr": { "$eq": ["$qty", "$$a"] } } }),
            17_276,
        ),
        (find(doc! { "tailable": true }), 238),
        (find(doc! { "returnKey": true }), 238),
        (find(doc! { "showRecordId": true }), 238),
        (
            find(doc! { "readConcern": { "afterOpTime": { "t": 1 } } }),
            238,
        ),
        (find(doc! { "readConcern": { "level": "nope" } }), 2),
        (find(doc! { "readConcern": { "lvel": "local" } }), 40_415),
        (find(doc! { "lsid": { "id": 1 } }), 14),
        (find(doc! { "lsid": {} }), 40_414),
        (
            find(doc! { "txnNumber": 1_i64, "lsid": { "id": mongodb::bson::Uuid::new() } }),
            50_768,
        ),
        (find(doc! { "startTransaction": true }), 72),
        (doc! { "insert": "parts" }, 16),
        (doc! { "insert": "parts", "documents": [] }, 16),
        (doc! { "insert": "parts", "documents": [1] }, 14),
        (
            doc! { "insert": "parts", "documents": [{}], "writeConcern": { "w": -1 } },
            9,
        ),
        (
            doc! { "insert": "parts", "documents": [{}], "writeConcern": { "w": true } },
            9,
        ),
        (
            doc! { "insert": "parts", "documents": [{}], "bypassEmptyTsReplacement": true },
            238,
        ),
        (doc! { "update": "parts", "updates": [{ "u": {} }] }, 40_414),
        (update(doc! { "nope": 1 }), 40_415),
        (update(doc! { "hint": { "qty": 1 } }), 238),
        (doc! { "delete": "parts", "deletes": [{ "q": {} }] }, 40_414),
        (
            doc! { "delete": "parts", "deletes": [{ "q": {}, "limit": 2 }] },
            9,
        ),
        (modify(doc! {}), 9),
        (modify(doc! { "remove": true, "new": true }), 9),
        (modify(doc! { "remove": true, "update": {} }), 9),
        (modify(doc! { "remove": true, "upsert": true }), 9),
        (doc! { "count": "parts", "nope": 1 }, 40_415),
        (doc! { "distinct": "parts" }, 40_414),
        (doc! { "getMore": 5_i64, "collection": "parts" }, 43),
        (doc! { "getMore": 5, "collection": "parts" }, 14),
        (doc! { "aggregate": "parts", "pipeline": [] }, 9),
        (aggregate(vec![doc! { "$lookup": {} }]), 9),
        (aggregate(vec![doc! { "$merge": "parts" }]), 40_324),
        (aggregate(vec![doc! { "$nope": {} }]), 40_324),
        (aggregate(vec![doc! { "$limit": 0 }]), 15_958),
        (aggregate(vec![doc! {}]), 40_323),
        (aggregate(vec![doc! { "$currentOp": {} }]), 73),
        (aggregate(vec![doc! { "$documents": [{}] }]), 73),
        (of_database(doc! { "$documents": 1 }), 5_858_203),
        (of_database(doc! { "$documents": [1] }), 40_228),
        (of_database(doc! { "$documents": [{ "$nope": 1 }] }), 168),
        (aggregate(vec![doc! { "$collStats": 1 }]), 9),
        (
            aggregate(vec![doc! { "$collStats": { "latencyStats": {} } }]),
            238,
        ),
        (
            aggregate(vec![doc! { "$limit": 1 }, doc! { "$collStats": {} }]),
            40_324,
        ),
        (
            aggregate(vec![doc! { "$group": { "n": { "$sum": 1 } } }]),
            15_955,
        ),
        (aggregate(vec![doc! { "$project": {} }]), 51_272),
        (
            aggregate(vec![doc! { "$project": { "tags": { "$slice": 1 } } }]),
            28_667,
        ),
        (doc! { "explain": { "nope": 1 } }, 59),
        (
            doc! { "explain": { "find": "parts" }, "verbosity": "nope" },
            2,
        ),
        (doc! { "listDatabases": 1 }, 13),
        (doc! { "saslStart": 1 }, 18),
        (doc! { "getParameter": 1, "nope": 1 }, 13),
    ]
}

#[test]
fn a_command_that_cannot_be_carried_out_as_it_says_has_mongodbs_code() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let mut wrong = Vec::new();
        for (command, code) in refused_commands() {
            let reply = client.run(command.clone()).await.unwrap();
            if reply.number("code") != i64::from(code) {
                wrong.push(format!("{command} must have {code}: {reply}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    });
}

#[test]
fn a_statement_that_cannot_be_carried_out_as_it_says_is_an_error_of_its_own() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let cases = [
            (doc! { "u": [{ "$limit": 1 }] }, 72),
            (doc! { "u": [{ "$set": { "_id": 5 } }] }, 66),
            (
                doc! { "u": [{ "$set": { "a": 1 } }], "arrayFilters": [{ "x": 1 }] },
                9,
            ),
            (doc! { "u": { "a": 1 }, "multi": true }, 9),
            (
                doc! { "u": { "$set": { "a": 1 } }, "multi": true, "sort": { "a": 1 } },
                9,
            ),
            (doc! { "u": { "$nope": { "a": 1 } } }, 9),
            (doc! { "u": { "_id": 5 } }, 66),
            (doc! { "u": { "a": 1, "$set": { "b": 1 } } }, 52),
            (doc! { "u": { "$set": { "b": 1 }, "a": 1 } }, 9),
            (doc! { "u": { "$inc": { "name": 1 } } }, 14),
            (doc! { "u": 5 }, 9),
        ];
        for (fields, code) in cases {
            let mut statement = doc! { "q": { "_id": 1 } };
            statement.extend(fields);
            let command = doc! { "update": "parts", "updates": [statement] };
            let reply = client.run(command.clone()).await.unwrap();
            let errors = reply.list("writeErrors");
            let found = errors[0].as_document().unwrap();
            assert_eq!(found.number("code"), i64::from(code), "{command}: {found}");
        }
        Ok(())
    });
}

#[test]
fn what_cannot_change_a_result_is_accepted() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let command = doc! {
            "find": "parts",
            "filter": Bson::Null,
            "collation": { "locale": "simple" },
            "let": {},
            "hint": {},
            "tailable": false,
            "noCursorTimeout": true,
            "allowDiskUse": true,
            "allowPartialResults": true,
            "comment": { "any": "thing" },
            "maxTimeMS": 10_000.0,
            "limit": 2.0,
            "readConcern": { "level": "majority" },
        };
        let reply = served.run(command).await.unwrap();
        let found = reply.inner("cursor").list("firstBatch");
        assert_eq!(found.len(), 2);
        let insert = doc! { "insert": "notes", "documents": [{}], "writeConcern": { "w": "majority", "j": true, "wtimeout": 5 } };
        assert_eq!(served.run(insert).await.unwrap().number("n"), 1);
        Ok(())
    });
}

#[test]
fn a_write_whose_concern_needs_other_members_is_carried_out_and_says_so() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for (w, code) in [(Bson::Int32(2), 100), (Bson::String("other".into()), 79)] {
            let insert = doc! { "insert": "notes", "documents": [{}], "writeConcern": { "w": w } };
            let reply = served.run(insert).await.unwrap();
            assert_eq!(reply.number("n"), 1);
            assert_eq!(reply.inner("writeConcernError").number("code"), code);
        }
        assert_eq!(
            served
                .collection("notes")
                .count_documents(doc! {})
                .await
                .unwrap(),
            2
        );
        Ok(())
    });
}

#[test]
fn a_command_that_takes_longer_than_its_limit_ends() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        for part in 0..5 {
            let many =
                (0..20_000).map(|at| doc! { "_id": part * 20_000 + at, "text": "x".repeat(100) });
            notes.insert_many(many).await.unwrap();
        }
        let slow =
            doc! { "count": "notes", "query": { "text": { "$regex": "[xy]+y$" } }, "maxTimeMS": 1 };
        let (code, _) = served.refused(slow).await;
        assert_eq!(code, 50);
        Ok(())
    });
}

#[test]
fn a_database_that_is_not_served_can_be_read_and_not_written() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for name in ["elsewhere", "admin", "local"] {
            let notes = served.client.database(name).collection::<Document>("notes");
            assert_eq!(notes.count_documents(doc! {}).await.unwrap(), 0);
            let insert = doc! { "insert": "notes", "documents": [{}] };
            let refused = served.client.database(name).run_command(insert).await;
            assert_eq!(error_of(refused.unwrap_err()).0, 73);
        }
        Ok(())
    });
}
