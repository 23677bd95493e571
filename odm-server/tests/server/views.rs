use mongodb::bson::{Bson, Document, doc};
use odm::{
    Collections, Database, Embedded,
    collections::View,
    derive::examples::{Shop, example},
    mql::{Filter, Pipeline, bson::rawdoc},
};
use odm_server::{Right, Server};

use crate::{Fields, Secured, Served, client_of, error_of};

/// A view of the numbers from 10 on, with their doubles.
async fn numbers(served: &Served) {
    let kind = |n: i32| if n % 2 == 0 { "even" } else { "odd" };
    let all = (0..20).map(|n| doc! { "_id": n, "kind": kind(n) });
    served.collection("numbers").insert_many(all).await.unwrap();
    let pipeline = [
        doc! { "$match": { "_id": { "$gte": 10 } } },
        doc! { "$set": { "double": { "$multiply": ["$_id", 2] } } },
    ];
    let create = doc! { "create": "large", "viewOn": "numbers", "pipeline": pipeline.to_vec() };
    served.run(create).await.unwrap();
}

async fn batch(served: &Served, command: Document) -> Vec<Document> {
    let reply = served.run(command).await.unwrap();
    let batch = reply.inner("cursor").list("firstBatch").iter();
    batch
        .map(|one| one.as_document().unwrap().clone())
        .collect()
}

#[test]
fn reads_of_a_view_run_its_pipeline_before_theirs() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        numbers(&served).await;
        let find = doc! {
            "find": "large", "filter": { "double": { "$gt": 25 } }, "sort": { "_id": -1 }, "skip": 1, "limit": 2,
            "projection": { "double": 1 },
        };
        assert_eq!(
            batch(&served, find).await,
            [
                doc! { "_id": 18, "double": 36 },
                doc! { "_id": 17, "double": 34 }
            ]
        );
        assert_eq!(batch(&served, doc! { "find": "large" }).await.len(), 10);
        let count = doc! { "count": "large", "query": { "kind": "odd" }, "limit": 4 };
        assert_eq!(served.run(count).await.unwrap().number("n"), 4);
        let distinct =
            doc! { "distinct": "large", "key": "kind", "query": { "_id": { "$ne": 11 } } };
        let values = served.run(distinct).await.unwrap();
        assert_eq!(
            *values.list("values"),
            [Bson::from("even"), Bson::from("odd")]
        );
        let large = served.collection("large");
        assert_eq!(large.count_documents(doc! {}).await.unwrap(), 10);
        let group = doc! { "$group": { "_id": "$kind", "sum": { "$sum": "$double" } } };
        let aggregate = doc! { "aggregate": "large", "pipeline": [group, { "$sort": { "_id": 1 } }], "cursor": {} };
        assert_eq!(
            batch(&served, aggregate).await,
            [
                doc! { "_id": "even", "sum": 140 },
                doc! { "_id": "odd", "sum": 150 }
            ]
        );

        // In batches, in a transaction, and through a view of the view.
        let on = doc! { "create": "odd", "viewOn": "large", "pipeline": [{ "$match": { "kind": "odd" } }] };
        served.run(on).await.unwrap();
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let numbers = served.collection("numbers");
        let new = numbers.insert_one(doc! { "_id": 21, "kind": "odd" });
        new.session(&mut session).await.unwrap();
        let odd = served.collection("odd");
        let found = odd.find(doc! {}).batch_size(2);
        let mut found = found.session(&mut session).await.unwrap();
        let mut ids = Vec::new();
        while let Some(one) = found.next(&mut session).await {
            ids.push(one.unwrap().number("_id"));
        }
        assert_eq!(ids, [11, 13, 15, 17, 19, 21]);
        session.abort_transaction().await.unwrap();
        Ok(())
    });
}

#[test]
fn an_explanation_of_a_read_of_a_view_is_that_of_its_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        numbers(&served).await;
        let index = doc! { "key": { "kind": 1 }, "name": "by_kind" };
        let index = doc! { "createIndexes": "numbers", "indexes": [index] };
        served.run(index).await.unwrap();
        let odd = doc! { "kind": "odd" };
        let on_large = [
            doc! { "$match": odd.clone() },
            doc! { "$sort": { "double": 1 } },
        ];
        // The view of the view ends with a stage that is no query, and so does the query of the collection.
        let view = doc! { "create": "odd", "viewOn": "numbers", "pipeline": [{ "$match": odd.clone() }, { "$skip": 2 }] };
        served.run(view).await.unwrap();
        for (command, last, stage) in [
            (doc! { "find": "odd", "limit": 5 }, "LIMIT", "SKIP"),
            (
                doc! { "find": "odd", "filter": { "_id": 7 } },
                "SKIP",
                "FETCH",
            ),
            (doc! { "count": "odd", "limit": 5 }, "COUNT", "LIMIT"),
            (doc! { "distinct": "odd", "key": "_id" }, "SKIP", "FETCH"),
            (
                doc! { "aggregate": "odd", "pipeline": [], "cursor": {} },
                "SKIP",
                "FETCH",
            ),
        ] {
            let explain = doc! { "explain": command.clone(), "verbosity": "queryPlanner" };
            let planner = served.run(explain).await.unwrap();
            let planner = planner.inner("queryPlanner");
            assert_eq!(planner.text("namespace"), "shop.numbers", "{command}");
            assert_eq!(*planner.inner("parsedQuery"), odd, "{command}");
            let plan = planner.inner("winningPlan");
            assert_eq!(plan.text("stage"), last, "{command}");
            assert_eq!(plan.inner("inputStage").text("stage"), stage, "{command}");
            assert!(plan.to_string().contains("by_kind"), "{command}");
        }
        let aggregate = doc! { "aggregate": "large", "pipeline": on_large.to_vec(), "cursor": {} };
        let explained = served.run(doc! { "explain": aggregate }).await.unwrap();
        let planner = explained.inner("queryPlanner");
        assert_eq!(
            *planner.inner("parsedQuery"),
            doc! { "_id": { "$gte": 10 } }
        );
        assert_eq!(explained.inner("executionStats").number("nReturned"), 10);
        Ok(())
    });
}

#[test]
fn a_statement_has_one_time_in_all_reads_of_a_view() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        numbers(&served).await;
        let pipeline = [
            doc! { "$match": { "_id": 1 } },
            doc! { "$set": { "at": "$$NOW" } },
        ];
        let view = doc! { "create": "timed", "viewOn": "numbers", "pipeline": pipeline.to_vec() };
        served.run(view).await.unwrap();
        let all = (100..400).map(|n| doc! { "_id": n });
        served.collection("numbers").insert_many(all).await.unwrap();
        // Each document has a read of its own.
        let inner = [doc! { "$match": { "$expr": { "$ne": ["$_id", "$$n"] } } }];
        let lookup = doc! { "$lookup": { "from": "timed", "let": { "n": "$_id" }, "pipeline": inner.to_vec(), "as": "timed" } };
        let stages = [
            lookup,
            doc! { "$unwind": "$timed" },
            doc! { "$group": { "_id": "$timed.at", "n": { "$sum": 1 } } },
        ];
        let aggregate = doc! { "aggregate": "numbers", "pipeline": stages.to_vec(), "cursor": {} };
        let times = batch(&served, aggregate).await;
        assert_eq!(times.len(), 1, "{times:?}");
        assert_eq!(times[0].number("n"), 319);
        Ok(())
    });
}

#[tokio::test]
async fn the_stored_catalog_is_read_again_only_after_it_has_changed() {
    let store = Embedded::memory().await.unwrap();
    let collections = Collections::open(store.clone()).await.unwrap();
    let builder = Server::builder().database("shop", collections.clone());
    let server = builder.listen("127.0.0.1:0").await.unwrap();
    let client = client_of(&server).await;
    let served = Served { server, client };
    numbers(&served).await;
    let catalog = collections.collection("_odm_catalog");
    let reads = async || catalog.index_uses().await.unwrap().unwrap()[0].count;
    let (all, query) = (served.collection("numbers"), doc! { "kind": "odd" });
    all.find_one(query.clone()).await.unwrap();
    let before = reads().await;
    for _ in 0..20 {
        all.find_one(query.clone()).await.unwrap();
        all.count_documents(query.clone()).await.unwrap();
        all.distinct("kind", query.clone()).await.unwrap();
    }
    // A checkpoint may have been made meanwhile.
    let read = reads().await - before;
    assert!(read <= 2, "{read}");
    // Another catalog of the store, which tells the server nothing.
    let other = Collections::open(store).await.unwrap();
    let view = View::new("numbers", [doc! { "$match": { "_id": 1 } }]);
    for number in 0..3 {
        let one = other.collection(format!("one {number}"));
        one.create_view(view.clone()).await.unwrap();
        let count = served.collection(one.name());
        assert_eq!(count.count_documents(doc! {}).await.unwrap(), 1);
        one.drop().await.unwrap();
        assert_eq!(count.count_documents(doc! {}).await.unwrap(), 0);
    }
}

#[test]
fn a_lookup_from_a_view_finds_the_documents_of_the_view() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        numbers(&served).await;
        let by_fields = doc! { "$lookup": { "from": "large", "localField": "_id", "foreignField": "double", "as": "halves" } };
        let aggregate = doc! {
            "aggregate": "numbers", "pipeline": [{ "$match": { "_id": { "$in": [1, 12] } } }, by_fields], "cursor": {},
        };
        let found = batch(&served, aggregate).await;
        assert!(found.iter().all(|one| one.list("halves").is_empty()));
        let inner = [doc! { "$match": { "$expr": { "$eq": ["$double", "$$n"] } } }];
        let by_pipeline = doc! { "$lookup": { "from": "large", "let": { "n": { "$add": ["$_id", 4] } }, "pipeline": inner.to_vec(), "as": "halves" } };
        let aggregate = doc! {
            "aggregate": "large", "pipeline": [{ "$match": { "_id": 18 } }, by_pipeline], "cursor": {},
        };
        let found = batch(&served, aggregate).await;
        let halves = found[0].list("halves");
        assert_eq!(halves[0].as_document().unwrap().number("_id"), 11);
        assert_eq!(halves.len(), 1);
        Ok(())
    });
}

#[test]
fn a_stage_reads_a_view_by_the_collation_of_the_view_alone() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let (english, french) = (
            doc! { "locale": "en", "strength": 2 },
            doc! { "locale": "fr" },
        );
        for (name, collation) in [("here", None), ("there", Some(&french))] {
            let mut create = doc! { "create": name, "viewOn": "numbers", "pipeline": [] };
            create.extend(collation.map(|collation| ("collation".to_owned(), collation.into())));
            served.run(create).await.unwrap();
        }
        for (read, from, collation, is_refused) in [
            ("parts", "there", None, true),
            ("parts", "there", Some(&english), true),
            ("parts", "there", Some(&french), false),
            ("parts", "here", None, false),
            ("parts", "here", Some(&french), true),
            ("here", "there", None, true),
            ("there", "there", None, false),
            ("there", "parts", None, false),
        ] {
            let lookup = doc! { "$lookup": { "from": from, "localField": "_id", "foreignField": "_id", "as": "of" } };
            let within = doc! { "$facet": { "all": [lookup.clone()] } };
            let union = doc! { "$unionWith": { "coll": from, "pipeline": [{ "$limit": 1 }] } };
            for stage in [lookup, within, union] {
                let mut command = doc! { "aggregate": read, "pipeline": [stage], "cursor": {} };
                command
                    .extend(collation.map(|collation| ("collation".to_owned(), collation.into())));
                let code = served
                    .run(command.clone())
                    .await
                    .err()
                    .map(|error| error_of(error).0);
                assert_eq!(code, is_refused.then_some(167), "{command}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_view_is_listed_changed_and_dropped_and_nothing_else_can_be_done_with_it() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        numbers(&served).await;
        let list = doc! { "listCollections": 1, "filter": { "type": "view" } };
        let listed = batch(&served, list.clone()).await;
        assert_eq!(listed[0].text("name"), "large");
        assert_eq!(listed[0].inner("options").text("viewOn"), "numbers");
        assert_eq!(listed[0].inner("options").list("pipeline").len(), 2);
        assert!(listed[0].inner("info").flag("readOnly"));
        let stats = served.run(doc! { "dbStats": 1 }).await.unwrap();
        assert_eq!(stats.number("views"), 1);

        let index = doc! { "key": { "a": 1 }, "name": "a_1" };
        for command in [
            doc! { "insert": "large", "documents": [{}] },
            doc! { "update": "large", "updates": [{ "q": {}, "u": { "$set": { "a": 1 } } }] },
            doc! { "delete": "large", "deletes": [{ "q": {}, "limit": 0 }] },
            doc! { "findAndModify": "large", "remove": true },
            doc! { "createIndexes": "large", "indexes": [index] },
            doc! { "listIndexes": "large" },
            doc! { "dropIndexes": "large", "index": "*" },
            doc! { "collStats": "large" },
            doc! { "validate": "large" },
            doc! { "aggregate": "large", "pipeline": [{ "$collStats": { "count": {} } }], "cursor": {} },
            doc! { "aggregate": "large", "pipeline": [{ "$indexStats": {} }], "cursor": {} },
            doc! { "aggregate": "large", "pipeline": [{ "$changeStream": {} }], "cursor": {} },
        ] {
            let (code, message) = served.refused(command.clone()).await;
            assert_eq!(code, 166, "{command}: {message}");
            assert!(message.contains("shop.large is a view"), "{message}");
        }
        let admin = served.client.database("admin");
        for (from, to, code) in [("large", "other", 166), ("numbers", "large", 48)] {
            let rename = doc! { "renameCollection": format!("shop.{from}"), "to": format!("shop.{to}"), "dropTarget": true };
            let error = admin.run_command(rename).await.unwrap_err();
            assert_eq!(error_of(error).0, code);
        }
        for (command, code) in [
            (doc! { "create": "large" }, 48),
            (doc! { "create": "large", "viewOn": "numbers" }, 48),
            (doc! { "create": "numbers", "viewOn": "parts" }, 48),
            (doc! { "collMod": "large", "validator": { "a": 1 } }, 72),
            (doc! { "collMod": "numbers", "viewOn": "parts" }, 72),
            (
                doc! { "explain": { "delete": "large", "deletes": [{ "q": {}, "limit": 0 }] } },
                166,
            ),
        ] {
            let (found, message) = served.refused(command.clone()).await;
            assert_eq!(found, code, "{command}: {message}");
        }

        let small = doc! { "collMod": "large", "pipeline": [{ "$match": { "_id": 3 } }] };
        served.run(small).await.unwrap();
        let found = batch(&served, doc! { "find": "large" }).await;
        assert_eq!(found, [doc! { "_id": 3, "kind": "odd" }]);
        served.run(doc! { "drop": "large" }).await.unwrap();
        assert!(batch(&served, list).await.is_empty());
        assert!(batch(&served, doc! { "find": "large" }).await.is_empty());
        served
            .collection("large")
            .insert_one(doc! {})
            .await
            .unwrap();
        Ok(())
    });
}

#[test]
fn a_wrong_view_is_refused() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let lookup = doc! { "$lookup": { "from": "again", "pipeline": [], "as": "all" } };
        served
            .run(doc! { "create": "above", "viewOn": "again", "pipeline": [] })
            .await
            .unwrap();
        for depth in 1..20 {
            let create =
                doc! { "create": format!("deep{depth}"), "viewOn": format!("deep{}", depth - 1) };
            served.run(create).await.unwrap();
        }
        // The collection of the lowest one becomes a view: that is the twentieth.
        let lowest = doc! { "create": "deep0", "viewOn": "parts" };
        served.run(lowest).await.unwrap();
        let collation = doc! { "locale": "en", "strength": 2 };
        for (fields, code) in [
            (doc! { "viewOn": 1 }, 14),
            (doc! { "viewOn": "" }, 2),
            (doc! { "viewOn": "$a" }, 73),
            (doc! { "viewOn": "_odm_users" }, 13),
            (doc! { "pipeline": [] }, 72),
            (doc! { "viewOn": "parts", "pipeline": { "a": 1 } }, 14),
            (doc! { "viewOn": "parts", "pipeline": [1] }, 14),
            (
                doc! { "viewOn": "parts", "pipeline": [{ "$nope": 1 }] },
                40_324,
            ),
            (
                doc! { "viewOn": "parts", "pipeline": [{ "$out": "a" }] },
                40_324,
            ),
            (
                doc! { "viewOn": "parts", "pipeline": [{ "$set": { "a": "$$b" } }] },
                17_276,
            ),
            (doc! { "viewOn": "parts", "validator": { "a": 1 } }, 72),
            (doc! { "viewOn": "again" }, 5),
            (doc! { "viewOn": "above" }, 5),
            (doc! { "viewOn": "parts", "pipeline": [lookup] }, 5),
            (doc! { "viewOn": "deep19" }, 165),
            (
                doc! { "viewOn": "above", "collation": collation.clone() },
                167,
            ),
        ] {
            let mut create = doc! { "create": "again" };
            create.extend(fields);
            let (found, message) = served.refused(create.clone()).await;
            assert_eq!(found, code, "{create}: {message}");
        }
        assert_eq!(batch(&served, doc! { "find": "deep19" }).await.len(), 3);

        let folded = doc! { "create": "folded", "viewOn": "parts", "collation": collation.clone() };
        served.run(folded).await.unwrap();
        let found = doc! { "find": "folded", "filter": { "name": "BOLT" } };
        assert_eq!(batch(&served, found.clone()).await.len(), 1);
        let mut same = found.clone();
        same.insert("collation", collation);
        assert_eq!(batch(&served, same).await.len(), 1);
        let mut other = found;
        other.insert("collation", doc! { "locale": "de" });
        assert_eq!(served.refused(other).await.0, 167);
        Ok(())
    });
}

#[test]
fn a_right_on_a_view_is_none_on_what_it_is_made_of() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let collections = Collections::of(&shop);
        let names = collections.collection("names");
        let project = doc! { "$project": { "name": 1, "_id": 0 } };
        names
            .create_view(View::new("parts", [project]))
            .await
            .unwrap();
        let users = &secured.users;
        let rights = [Right::read("names"), Right::read_write("own")];
        users.create("ann", "correct horse", rights).await.unwrap();
        let ann = secured
            .client("ann", "correct horse")
            .await
            .database("shop");
        let found = ann.run_command(doc! { "find": "names" }).await.unwrap();
        assert_eq!(found.inner("cursor").list("firstBatch").len(), 3);
        let listed = ann
            .run_command(doc! { "listCollections": 1 })
            .await
            .unwrap();
        assert_eq!(listed.inner("cursor").list("firstBatch").len(), 1);
        let lookup = doc! { "$lookup": { "from": "parts", "pipeline": [], "as": "all" } };
        for command in [
            doc! { "find": "parts" },
            doc! { "aggregate": "names", "pipeline": [lookup.clone()], "cursor": {} },
            doc! { "create": "own", "viewOn": "parts" },
            doc! { "create": "own", "viewOn": "names", "pipeline": [lookup] },
            doc! { "create": "other", "viewOn": "names" },
            doc! { "collMod": "names", "viewOn": "own" },
            doc! { "drop": "names" },
        ] {
            let error = ann.run_command(command.clone()).await.unwrap_err();
            assert_eq!(error_of(error).0, 13, "{command}");
        }
        let create = doc! { "create": "own", "viewOn": "names" };
        ann.run_command(create).await.unwrap();
        let change = doc! { "collMod": "own", "viewOn": "parts" };
        assert_eq!(error_of(ann.run_command(change).await.unwrap_err()).0, 13);
        let found = ann.run_command(doc! { "find": "own" }).await.unwrap();
        assert_eq!(found.inner("cursor").list("firstBatch").len(), 3);
        Ok(())
    });
}

#[tokio::test]
async fn a_view_is_there_after_the_store_is_opened_again_and_no_model_takes_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("views.odm");
    let collections = Collections::open(Embedded::open(&path).await.unwrap())
        .await
        .unwrap();
    let view = View::new("all", [doc! { "$match": { "n": 1 } }]);
    let parts = collections.collection("parts");
    parts.create_view(view.clone()).await.unwrap();
    collections.close().await.unwrap();

    let store = Embedded::open(&path).await.unwrap();
    let refused = Shop::open(store.clone()).await.err().unwrap();
    assert!(refused.to_string().contains("view parts"), "{refused}");
    let collections = Collections::open(store.clone()).await.unwrap();
    let all = collections.collection("all");
    let documents = [rawdoc! { "_id": 1, "n": 1 }, rawdoc! { "_id": 2, "n": 2 }];
    all.insert(documents).await.unwrap();
    let parts = collections.collection("parts");
    assert_eq!(parts.view().await.unwrap(), Some(view));
    assert_eq!(parts.aggregate(Pipeline::default()).await.unwrap().len(), 1);
    for error in [
        parts.insert([rawdoc! { "_id": 3 }]).await.unwrap_err(),
        parts.delete(Filter::default()).await.unwrap_err(),
        parts.find(Filter::default()).await.unwrap_err(),
        parts.find(Filter::default()).count().await.unwrap_err(),
        parts.create().await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Some(166), "{error}");
    }
    assert_eq!(collections.list().await.unwrap().len(), 1);
    parts.drop().await.unwrap();
    Shop::open(store).await.unwrap();
}
