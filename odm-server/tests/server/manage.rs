use futures_util::TryStreamExt;
use mongodb::{
    IndexModel,
    bson::{Document, doc},
    options::IndexOptions,
};
use odm::{
    Collections, Database, Embedded,
    bson::rawdoc,
    derive::examples::{Shop, example},
    prelude::*,
    store::contract::{CollectionWrites, DocumentWrite, Store, TransactionOptions},
};
use odm_server::{Right, Server, Users};
use serde::{Deserialize, Serialize};

use crate::{Fields, Secured, Served, error_of};

#[test]
fn collections_are_created_listed_renamed_and_dropped_unless_models_need_them() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let database = served.client.database("shop");
        database.create_collection("notes").await.unwrap();
        let again = database.create_collection("notes").await.unwrap_err();
        assert_eq!(error_of(again).0, 48);
        let names = database.list_collection_names().await.unwrap();
        assert!(
            ["notes", "parts"]
                .iter()
                .all(|name| names.iter().any(|other| other == name))
        );
        assert!(
            !names.iter().any(|name| name.starts_with("_odm")),
            "{names:?}"
        );
        let some = database.list_collections().filter(doc! { "name": "parts" });
        let some: Vec<_> = some.await.unwrap().try_collect().await.unwrap();
        assert_eq!(some.len(), 1);

        let admin = served.client.database("admin");
        let rename = |from: &str, to: &str| {
            doc! { "renameCollection": format!("shop.{from}"), "to": format!("shop.{to}") }
        };
        admin.run_command(rename("notes", "old")).await.unwrap();
        let missing = admin
            .run_command(rename("notes", "other"))
            .await
            .unwrap_err();
        assert_eq!(error_of(missing).0, 26);
        let taken = admin.run_command(rename("old", "parts")).await.unwrap_err();
        assert_eq!(error_of(taken).0, 48);
        database.collection::<Document>("old").drop().await.unwrap();
        database.collection::<Document>("old").drop().await.unwrap();

        let (code, message) = served.refused(doc! { "drop": "parts" }).await;
        assert!(
            code == 2 && message.contains("database `shop`"),
            "{message}"
        );
        let (code, message) = served.refused(doc! { "dropDatabase": 1 }).await;
        assert!(
            code == 2 && message.contains("database `shop`"),
            "{message}"
        );
        assert_eq!(shop.parts.all().count().await?, 3);

        let databases = served.client.list_database_names().await.unwrap();
        assert_eq!(databases, ["admin", "config", "local", "shop"]);
        Ok(())
    });
}

#[test]
fn indexes_are_created_listed_used_and_dropped_unless_models_need_them() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        let unique = IndexOptions::builder().unique(true).sparse(true).build();
        let model = IndexModel::builder()
            .keys(doc! { "a": -1 })
            .options(unique)
            .build();
        notes.create_index(model.clone()).await.unwrap();
        let again = doc! { "createIndexes": "notes", "indexes": [{ "key": { "a": -1 }, "name": "a_-1", "unique": true, "sparse": true }] };
        let reply = served.run(again).await.unwrap();
        assert_eq!(
            (
                reply.number("numIndexesBefore"),
                reply.number("numIndexesAfter")
            ),
            (2, 2)
        );
        let partial = doc! { "n": { "$gt": 5 } };
        let partial = IndexOptions::builder()
            .partial_filter_expression(partial)
            .build();
        let model = IndexModel::builder()
            .keys(doc! { "b": 1, "c": -1 })
            .options(partial)
            .build();
        notes.create_index(model).await.unwrap();

        // Documents without the field are not in the sparse index, and those with null are.
        notes
            .insert_many([
                doc! { "_id": 1 },
                doc! { "_id": 2 },
                doc! { "_id": 3, "a": null },
            ])
            .await
            .unwrap();
        let error = notes.insert_one(doc! { "a": null }).await.unwrap_err();
        assert_eq!(error_of(error).0, 11_000);

        let listed = served.run(doc! { "listIndexes": "notes" }).await.unwrap();
        let listed = listed.inner("cursor").list("firstBatch").clone();
        let expected = [
            doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" },
            doc! { "v": 2, "key": { "a": -1 }, "name": "a_-1", "unique": true, "sparse": true },
            doc! { "v": 2, "key": { "b": 1, "c": -1 }, "name": "b_1_c_-1", "partialFilterExpression": { "n": { "$gt": 5 } } },
        ];
        assert_eq!(listed, expected.map(Into::into));

        let conflict = |name: &str, key: Document| {
            doc! { "createIndexes": "notes", "indexes": [{ "key": key, "name": name }] }
        };
        assert_eq!(
            served.refused(conflict("a_-1", doc! { "z": 1 })).await.0,
            86
        );
        assert_eq!(
            served.refused(conflict("a_-1", doc! { "a": -1 })).await.0,
            85
        );
        for (options, code) in [
            (doc! { "key": { "a": "text" } }, 238),
            (doc! { "key": { "a": 0 } }, 67),
            (doc! { "key": {} }, 67),
            (doc! { "key": { "a": 1 }, "expireAfterSeconds": 5 }, 238),
            (doc! { "key": { "a": 1 }, "nope": 5 }, 40_415),
            (doc! { "key": { "a": 1, "b": 1 }, "sparse": true }, 238),
            (
                doc! { "key": { "a": 1 }, "partialFilterExpression": { "a": { "$ne": 1 } } },
                67,
            ),
        ] {
            let mut index = doc! { "name": "x" };
            index.extend(options);
            let command = doc! { "createIndexes": "notes", "indexes": [index] };
            let (found, message) = served.refused(command.clone()).await;
            assert_eq!(found, code, "{command}: {message}");
        }

        notes.drop_index("a_-1").await.unwrap();
        assert_eq!(error_of(notes.drop_index("a_-1").await.unwrap_err()).0, 27);
        assert_eq!(error_of(notes.drop_index("_id_").await.unwrap_err()).0, 72);
        notes.drop_indexes().await.unwrap();
        assert_eq!(notes.list_index_names().await.unwrap(), ["_id_"]);
        assert_eq!(
            served.refused(doc! { "listIndexes": "nowhere" }).await.0,
            26
        );
        let error = served
            .collection("parts")
            .drop_index("name_1")
            .await
            .unwrap_err();
        assert!(error_of(error).1.contains("database `shop`"));
        Ok(())
    });
}

#[test]
fn an_explained_command_names_its_index_and_its_cost() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let explain = async |command: Document| {
            let explain = doc! { "explain": command, "verbosity": "executionStats" };
            let reply = served.run(explain).await.unwrap();
            let planner = reply.inner("queryPlanner");
            let plan = planner.inner("winningPlan").clone();
            (plan, reply.inner("executionStats").clone())
        };
        let by_name = doc! { "find": "parts", "filter": { "name": "nut" } };
        let (plan, stats) = explain(by_name).await;
        let scan = plan.inner("inputStage");
        assert_eq!(
            (plan.text("stage"), scan.text("stage")),
            ("FETCH", "IXSCAN")
        );
        assert_eq!(scan.text("indexName"), "name_1");
        assert_eq!(scan.inner("keyPattern"), &doc! { "name": 1 });
        assert_eq!(
            (stats.number("nReturned"), stats.number("totalDocsExamined")),
            (1, 1)
        );

        let (plan, _) = explain(doc! { "find": "parts", "sort": { "price": 1 }, "limit": 2 }).await;
        assert_eq!(plan.text("stage"), "LIMIT");
        let sort = plan.inner("inputStage");
        assert_eq!(sort.text("stage"), "SORT");
        assert_eq!(sort.inner("inputStage").text("stage"), "COLLSCAN");

        let statements = vec![doc! { "q": { "_id": 1 }, "u": { "$inc": { "qty": 1_i64 } } }];
        let (plan, _) = explain(doc! { "update": "parts", "updates": statements }).await;
        assert_eq!(plan.text("stage"), "UPDATE");
        let statements = vec![doc! { "q": { "_id": 3 }, "limit": 0 }];
        let (plan, _) = explain(doc! { "delete": "parts", "deletes": statements }).await;
        assert_eq!(plan.text("stage"), "DELETE");
        let (plan, _) = explain(doc! { "count": "parts", "query": {} }).await;
        assert_eq!(plan.text("stage"), "COUNT");
        // Nothing was changed.
        assert_eq!(shop.parts.get(1).await?.qty, 90);
        assert_eq!(shop.parts.all().count().await?, 3);
        Ok(())
    });
}

#[test]
fn statistics_have_the_bytes_of_documents_and_of_each_index() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let texts = (0..500).map(|n| doc! { "_id": n, "text": "a".repeat(1_000) });
        let texts: Vec<Document> = texts.collect();
        let bytes: usize = texts.iter().map(|text| text.to_vec().unwrap().len()).sum();
        let notes = served.collection("notes");
        notes.insert_many(&texts).await.unwrap();
        let index = doc! { "key": { "text": 1 }, "name": "text_1" };
        let create = doc! { "createIndexes": "notes", "indexes": [index] };
        served.run(create).await.unwrap();

        let stats = served.run(doc! { "collStats": "notes" }).await.unwrap();
        let size = stats.number("size");
        assert!(
            (bytes as i64..bytes as i64 * 11 / 10).contains(&size),
            "{stats}"
        );
        assert_eq!(
            (stats.number("count"), stats.number("scaleFactor")),
            (500, 1)
        );
        assert_eq!(stats.number("avgObjSize"), size / 500);
        let by_index = stats.inner("indexSizes");
        assert!(by_index.number("text_1") > 0, "{stats}");
        let total: i64 = by_index.keys().map(|name| by_index.number(name)).sum();
        assert_eq!(stats.number("totalIndexSize"), total);
        let sum = stats.number("storageSize") + total;
        assert_eq!(stats.number("totalSize"), sum);

        let scaled = served
            .run(doc! { "collStats": "notes", "scale": 1024 })
            .await
            .unwrap();
        assert_eq!(scaled.number("size"), size / 1024);
        for scale in [0, -1] {
            let refused = doc! { "collStats": "notes", "scale": scale };
            assert_eq!(served.refused(refused).await.0, 2);
            let stage = doc! { "$collStats": { "storageStats": { "scale": scale } } };
            let refused = doc! { "aggregate": "notes", "pipeline": [stage], "cursor": {} };
            assert_eq!(served.refused(refused).await.0, 2);
        }
        let stage = doc! { "$collStats": { "storageStats": { "scale": 1024 } } };
        let rows = notes.aggregate([stage]).await.unwrap();
        let rows: Vec<Document> = rows.try_collect().await.unwrap();
        assert_eq!(rows[0].inner("storageStats").number("size"), size / 1024);
        assert!(!rows[0].contains_key("count"));

        let all = served.run(doc! { "dbStats": 1 }).await.unwrap();
        assert!(all.get_f64("dataSize").unwrap() >= size as f64);
        assert!(all.get_f64("indexSize").unwrap() >= total as f64);
        let admin = served.client.database("admin");
        let listed = admin
            .run_command(doc! { "listDatabases": 1 })
            .await
            .unwrap();
        let databases = listed
            .list("databases")
            .iter()
            .filter_map(|one| one.as_document());
        let sizes: Vec<(&str, i64)> = databases
            .map(|one| (one.text("name"), one.number("sizeOnDisk")))
            .collect();
        assert!(
            sizes
                .iter()
                .any(|(name, size)| *name == "shop" && *size > 0)
        );
        let total = sizes.iter().map(|(_, size)| size).sum::<i64>();
        assert_eq!(listed.number("totalSize"), total);
        Ok(())
    });
}

#[test]
fn statistics_have_the_numbers_of_documents_and_indexes() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let stats = served.run(doc! { "collStats": "parts" }).await.unwrap();
        assert_eq!((stats.number("count"), stats.number("nindexes")), (3, 2));
        let rows = async |stages: Vec<Document>| {
            let parts = served.collection("parts");
            let rows = parts.aggregate(stages).await.unwrap();
            rows.try_collect::<Vec<Document>>().await.unwrap()
        };
        let stats = rows(vec![
            doc! { "$collStats": { "storageStats": {}, "count": {} } },
        ])
        .await;
        assert_eq!(stats[0].inner("storageStats").number("count"), 3);
        let names = vec![
            doc! { "$indexStats": {} },
            doc! { "$match": { "name": { "$ne": "_id_" } } },
            doc! { "$sort": { "name": 1 } },
            doc! { "$project": { "name": 1, "used": "$accesses.ops" } },
        ];
        let unused = [doc! { "name": "name_1", "used": 0_i64 }];
        assert_eq!(rows(names.clone()).await, unused);
        let parts = served.collection("parts");
        let found = parts.find_one(doc! { "name": "nut" }).await.unwrap();
        assert!(found.is_some());
        let used = [doc! { "name": "name_1", "used": 1_i64 }];
        assert_eq!(rows(names).await, used);
        let running = doc! { "aggregate": 1, "pipeline": [{ "$currentOp": {} }], "cursor": {} };
        let running = served
            .client
            .database("admin")
            .run_command(running)
            .await
            .unwrap();
        assert_eq!(running.inner("cursor").list("firstBatch").len(), 1); // itself

        let given = doc! {
            "aggregate": 1,
            "let": { "n": 2 },
            "pipeline": [{ "$documents": [{ "n": 1 }, { "n": "$$n" }] }, { "$match": { "n": { "$gt": 1 } } }],
            "cursor": {},
        };
        let given = served.run(given).await.unwrap();
        let batch = given.inner("cursor").list("firstBatch").to_vec();
        assert_eq!(batch, [doc! { "n": 2 }.into()]);

        let stats = served.run(doc! { "dbStats": 1 }).await.unwrap();
        assert!(stats.number("collections") >= 6);
        for command in [
            "hostInfo",
            "serverStatus",
            "buildInfo",
            "connectionStatus",
            "whatsmyuri",
            "top",
            "currentOp",
            "hello",
            "ismaster",
        ] {
            served
                .client
                .database("admin")
                .run_command(doc! { command: 1 })
                .await
                .unwrap();
        }
        let session = served.run(doc! { "startSession": 1 }).await.unwrap();
        served
            .run(doc! { "endSessions": [session.inner("id")] })
            .await
            .unwrap();
        Ok(())
    });
}

#[test]
fn a_collection_is_validated_by_the_audit_of_its_derived_data() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let reply = served
            .run(doc! { "validate": "products", "full": true })
            .await
            .unwrap();
        assert!(reply.get_bool("valid").unwrap() && reply.list("errors").is_empty());
        assert_eq!(reply.number("nrecords"), 3);
        let (code, _) = served.refused(doc! { "validate": "nowhere" }).await;
        assert_eq!(code, 26);

        // A store whose documents are older than the models.
        let store = Embedded::memory().await?;
        let older = Collections::open(store.clone()).await?;
        let part = rawdoc! { "_id": 1_i64, "name": "nut", "qty": "many", "price": 1.5, "tags": [] };
        older.collection("parts").insert([part]).await?;
        let served = Served::new(&Shop::open(store).await?).await;
        let reply = served.run(doc! { "validate": "parts" }).await.unwrap();
        assert!(!reply.get_bool("valid").unwrap());
        assert_eq!(reply.number("nInvalidDocuments"), 1);
        let errors = reply.list("errors");
        assert!(errors[0].as_str().unwrap().contains("qty"), "{errors:?}");
        Ok(())
    });
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
struct BankAccount {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Entry.amount")]
    total: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    account: Ref<BankAccount>,
    amount: i64,
}

#[derive(Database)]
#[database(name = "bank", version = 1)]
struct Bank {
    accounts: Repository<BankAccount>,
    entries: Repository<Entry>,
}

#[test]
fn validate_shows_why_a_check_has_failed_only_to_readers_of_all_collections() {
    example(async |_| {
        let store = Embedded::memory().await?;
        let bank = Bank::open(store.clone()).await?;
        bank.accounts
            .insert(BankAccount { id: 1, total: 0 })
            .await?;
        let entry = |id: i64, amount: i64| Entry {
            id,
            account: Ref::new(1),
            amount,
        };
        bank.entries
            .insert_many([entry(1, 5), entry(2, i64::MAX - 5)])
            .await?;
        // A sum that is out of range, which only a write past the library leaves.
        let mut beneath = store.begin(TransactionOptions::default()).await?;
        let added = rawdoc! { "_id": 3_i64, "account": 1_i64, "amount": 9_i64 };
        let batch = CollectionWrites {
            collection: "entries",
            writes: vec![DocumentWrite::Insert(&added)],
        };
        beneath.apply(&[batch]).await?;
        beneath.commit().await?;

        let collections = Collections::of(&bank);
        let users = Users::of(&collections);
        users.create("ann", "x", [Right::read("accounts")]).await?;
        users.create("all", "x", [Right::read_all()]).await?;
        let builder = Server::builder().database("shop", collections);
        let server = builder.require_users().listen("127.0.0.1:0").await?;
        let secured = Secured { server, users };
        for (name, shown, hidden) in [
            ("all", "9223372036854775816", "users who may read"),
            ("ann", "users who may read", "9223372036854775816"),
        ] {
            let client = secured.client(name, "x").await;
            let validate = doc! { "validate": "accounts" };
            let reply = client.database("shop").run_command(validate).await.unwrap();
            assert_eq!(reply.number("nInvalidDocuments"), 1);
            let finding = reply.list("errors")[0].as_str().unwrap();
            assert!(finding.contains(shown), "{finding}");
            assert!(!finding.contains(hidden), "{finding}");
        }
        Ok(())
    });
}
