use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use mongodb::bson::{Document, doc};
use odm::{
    Collections, Embedded,
    collections::ValidationRule,
    derive::examples::example,
    mql::{Filter, bson::rawdoc},
};
use odm_server::{Right, Server};

use crate::{Fields, Secured, Served, client_of, error_of};

/// The code of a document that violates the validator.
const FAILED: i32 = 121;

/// A collection whose documents have a quantity that is not negative.
async fn stock(served: &Served) -> mongodb::Collection<Document> {
    let create = doc! { "create": "stock", "validator": { "qty": { "$gte": 0 } } };
    served.run(create).await.unwrap();
    let stock = served.collection("stock");
    stock.insert_one(doc! { "_id": 1, "qty": 5 }).await.unwrap();
    stock
}

async fn options(served: &Served, name: &str) -> Document {
    let list = doc! { "listCollections": 1, "filter": { "name": name } };
    let listed = served.run(list).await.unwrap();
    let first = &listed.inner("cursor").list("firstBatch")[0];
    first.as_document().unwrap().inner("options").clone()
}

async fn modify(served: &Served, fields: Document) {
    let mut command = doc! { "collMod": "stock" };
    command.extend(fields);
    served.run(command).await.unwrap();
}

#[test]
fn every_write_of_a_client_follows_the_validator_of_the_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let stock = stock(&served).await;
        let less = doc! { "$inc": { "qty": -9 } };
        let one = doc! { "_id": 1 };
        let many = [doc! { "_id": 2, "qty": 1 }, doc! { "_id": 3, "qty": -1 }];
        let errors = [
            error_of(stock.insert_one(doc! { "_id": 2 }).await.unwrap_err()),
            error_of(
                stock
                    .update_one(one.clone(), less.clone())
                    .await
                    .unwrap_err(),
            ),
            error_of(stock.update_many(doc! {}, less.clone()).await.unwrap_err()),
            error_of(
                stock
                    .update_one(one.clone(), vec![doc! { "$set": { "qty": "many" } }])
                    .await
                    .unwrap_err(),
            ),
            error_of(stock.replace_one(one.clone(), doc! {}).await.unwrap_err()),
            error_of(
                stock
                    .update_one(doc! { "_id": 7 }, less.clone())
                    .upsert(true)
                    .await
                    .unwrap_err(),
            ),
            error_of(
                stock
                    .find_one_and_update(one.clone(), less)
                    .await
                    .unwrap_err(),
            ),
            error_of(
                stock
                    .find_one_and_replace(one, doc! { "qty": -1 })
                    .await
                    .unwrap_err(),
            ),
        ];
        for (code, message) in errors {
            assert_eq!(code, FAILED, "{message}");
            assert!(
                message.starts_with("Document failed validation"),
                "{message}"
            );
        }
        let insert = doc! { "insert": "stock", "documents": many.to_vec(), "ordered": false };
        let reply = served.run(insert).await.unwrap();
        let error = reply.list("writeErrors")[0].as_document().unwrap();
        assert_eq!((error.number("index"), error.number("code")), (1, 121));
        assert_eq!(error.inner("errInfo").number("failingDocumentId"), 3);
        assert_eq!(stock.count_documents(doc! {}).await.unwrap(), 2);
        assert_eq!(
            stock.find_one(doc! { "_id": 1 }).await.unwrap().unwrap(),
            doc! { "_id": 1, "qty": 5 }
        );
        Ok(())
    });
}

#[test]
fn a_client_bypasses_the_validator_of_a_collection_and_no_schema_of_a_model() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let stock = stock(&served).await;
        let bypassing = async |mut command: Document| {
            command.insert("bypassDocumentValidation", true);
            served.run(command).await.unwrap()
        };
        let insert =
            doc! { "insert": "stock", "documents": [{ "_id": 2, "qty": -1 }, { "_id": 3 }] };
        assert_eq!(bypassing(insert).await.number("n"), 2);
        let less = doc! { "$inc": { "qty": -9 } };
        let one = doc! { "q": { "_id": 1 }, "u": less.clone() };
        let upsert = doc! { "q": { "_id": 4 }, "u": { "qty": -2 }, "upsert": true };
        let update = doc! { "update": "stock", "updates": [one, upsert] };
        assert_eq!(bypassing(update).await.number("n"), 2);
        let all =
            doc! { "update": "stock", "updates": [{ "q": {}, "u": less.clone(), "multi": true }] };
        assert_eq!(bypassing(all).await.number("nModified"), 4);
        let modify = doc! { "findAndModify": "stock", "query": { "_id": 1 }, "update": less.clone(), "new": true };
        assert_eq!(bypassing(modify).await.inner("value").number("qty"), -22);
        let read = doc! { "aggregate": "stock", "pipeline": [], "cursor": {} };
        assert_eq!(
            bypassing(read)
                .await
                .inner("cursor")
                .list("firstBatch")
                .len(),
            4
        );

        let refused = error_of(stock.update_one(doc! { "_id": 1 }, less).await.unwrap_err());
        assert_eq!(
            refused.0, FAILED,
            "what it leaves is validated by the next write"
        );

        let text = doc! { "update": "parts", "updates": [{ "q": { "_id": 1 }, "u": { "$set": { "qty": "many" } } }] };
        let counted = doc! { "update": "products", "updates": [{ "q": { "_id": 1 }, "u": { "$set": { "review_count": 9 } } }] };
        for refused in [text, counted] {
            let reply = bypassing(refused).await;
            assert_eq!(reply.list("writeErrors").len(), 1, "{reply}");
        }
        Ok(())
    });
}

#[test]
fn a_transaction_follows_the_validator_of_the_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let stock = stock(&served).await;
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let wrong = stock.insert_one(doc! { "_id": 2, "qty": -2 });
        let error = error_of(wrong.session(&mut session).await.unwrap_err());
        assert_eq!(error.0, FAILED, "{}", error.1);
        drop(session);

        // One that has begun before the validator came does not pass it.
        let notes = served.collection("notes");
        notes.insert_one(doc! { "_id": 1 }).await.unwrap();
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let written = notes.insert_one(doc! { "_id": 2 });
        written.session(&mut session).await.unwrap();
        let rule = doc! { "collMod": "notes", "validator": { "text": { "$exists": true } } };
        served.run(rule).await.unwrap();
        let error = error_of(session.commit_transaction().await.unwrap_err());
        assert_eq!(error.0, 112, "{}", error.1);
        assert_eq!(notes.count_documents(doc! {}).await.unwrap(), 1);

        for command in [
            doc! { "create": "drafts", "validator": { "a": 1 } },
            doc! { "collMod": "stock", "validator": {} },
        ] {
            session.start_transaction().await.unwrap();
            let shop = served.client.database("shop");
            let run = shop.run_command(command);
            let error = error_of(run.session(&mut session).await.unwrap_err());
            assert_eq!(error.0, 263, "{}", error.1);
            session.abort_transaction().await.ok();
        }
        Ok(())
    });
}

#[test]
fn the_level_says_which_documents_are_validated() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let stock = stock(&served).await;
        modify(&served, doc! { "validationLevel": "off" }).await;
        stock
            .insert_one(doc! { "_id": 2, "qty": -1 })
            .await
            .unwrap();

        modify(&served, doc! { "validationLevel": "moderate" }).await;
        let less = doc! { "$inc": { "qty": -9 } };
        let update = |id: i32| stock.update_one(doc! { "_id": id }, less.clone());
        update(2).await.unwrap();
        assert_eq!(error_of(update(1).await.unwrap_err()).0, FAILED);
        let insert = stock.insert_one(doc! { "_id": 3, "qty": -1 });
        assert_eq!(error_of(insert.await.unwrap_err()).0, FAILED);

        modify(&served, doc! { "validationLevel": "strict" }).await;
        assert_eq!(error_of(update(2).await.unwrap_err()).0, FAILED);
        modify(&served, doc! { "validationAction": "warn" }).await;
        update(2).await.unwrap();
        assert_eq!(
            options(&served, "stock").await,
            doc! { "validator": { "qty": { "$gte": 0 } }, "validationLevel": "strict", "validationAction": "warn" }
        );
        modify(
            &served,
            doc! { "validationAction": "error", "validator": {} },
        )
        .await;
        stock.insert_one(doc! { "_id": 4 }).await.unwrap();
        assert_eq!(options(&served, "stock").await, doc! {});
        Ok(())
    });
}

#[test]
fn a_validator_is_a_filter_that_can_be_a_schema_or_an_expression() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let schema = doc! { "$jsonSchema": { "required": ["name"], "properties": { "name": { "bsonType": "string" } } } };
        let create = doc! { "create": "people", "validator": schema };
        served.run(create).await.unwrap();
        let people = served.collection("people");
        people
            .insert_one(doc! { "_id": 1, "name": "ann" })
            .await
            .unwrap();
        let (code, message) = error_of(
            people
                .insert_one(doc! { "_id": 2, "name": 5 })
                .await
                .unwrap_err(),
        );
        assert_eq!(code, FAILED);
        assert!(message.contains("`name` must be"), "{message}");

        let both = doc! { "$expr": { "$lt": [{ "$divide": ["$a", "$b"] }, 2] } };
        let create = doc! { "create": "ratios", "validator": both };
        served.run(create).await.unwrap();
        let ratios = served.collection("ratios");
        ratios.insert_one(doc! { "a": 1, "b": 1 }).await.unwrap();
        for wrong in [doc! { "a": 4, "b": 1 }, doc! { "a": 1, "b": 0 }] {
            let error = error_of(ratios.insert_one(wrong).await.unwrap_err());
            assert_eq!(error.0, FAILED, "{}", error.1);
        }

        let collation = doc! { "locale": "en", "strength": 2 };
        let kinds = doc! { "create": "kinds", "validator": { "kind": { "$in": ["nut", "bolt"] } }, "collation": collation };
        served.run(kinds).await.unwrap();
        let kinds = served.collection("kinds");
        kinds.insert_one(doc! { "kind": "NUT" }).await.unwrap();
        assert!(kinds.insert_one(doc! { "kind": "NUTS" }).await.is_err());
        Ok(())
    });
}

#[test]
fn a_wrong_validator_is_refused_by_name_and_creates_nothing() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let time = doc! { "$expr": { "$lt": ["$at", "$$NOW"] } };
        let unbound = doc! { "$expr": { "$eq": ["$a", "$$unbound"] } };
        for (fields, code, said) in [
            (doc! { "validator": 7 }, 14, "validator"),
            (doc! { "validator": { "$nope": 1 } }, 2, "$nope"),
            (doc! { "validator": { "a": { "$nope": 1 } } }, 2, "$nope"),
            (doc! { "validator": { "$where": "true" } }, 238, "$where"),
            (
                doc! { "validator": { "$jsonSchema": { "invalid": 1 } } },
                9,
                "invalid",
            ),
            (doc! { "validator": unbound }, 17_276, "unbound"),
            (doc! { "validator": time }, 224, "$$NOW"),
            (
                doc! { "validator": {}, "validationLevel": "some" },
                2,
                "create.validationLevel",
            ),
            (
                doc! { "validator": {}, "validationLevel": 1 },
                14,
                "validationLevel",
            ),
            (
                doc! { "validator": {}, "validationAction": "errorAndLog" },
                238,
                "errorAndLog",
            ),
        ] {
            let mut create = doc! { "create": "wrong" };
            create.extend(fields);
            let (found, message) = served.refused(create.clone()).await;
            assert!(message.contains(said), "{create}: {message}");
            assert_eq!(found, code, "{create}: {message}");
        }
        let list = doc! { "listCollections": 1, "filter": { "name": "wrong" } };
        let listed = served.run(list).await.unwrap();
        assert!(listed.inner("cursor").list("firstBatch").is_empty());

        // Models describe their documents alone.
        let declared = doc! { "collMod": "parts", "validator": { "a": 1 } };
        let (_, message) = served.refused(declared).await;
        assert!(message.contains("database `shop`"), "{message}");
        let missing = doc! { "collMod": "wrong", "validator": { "a": 1 } };
        assert_eq!(served.refused(missing).await.0, 26);
        let other = doc! { "collMod": "parts", "index": { "name": "a", "hidden": true } };
        assert_eq!(served.refused(other).await.0, 238);
        stock(&served).await;
        let again = doc! { "create": "stock", "validator": { "a": 1 } };
        assert_eq!(served.refused(again).await.0, 48);
        Ok(())
    });
}

#[test]
fn a_validator_goes_with_its_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        stock(&served).await;
        let rename = doc! { "renameCollection": "shop.stock", "to": "shop.store" };
        let admin = served.client.database("admin");
        admin.run_command(rename).await.unwrap();
        let insert = async |name: &str| {
            let collection = served.collection(name);
            collection.insert_one(doc! { "qty": -1 }).await
        };
        assert_eq!(error_of(insert("store").await.unwrap_err()).0, FAILED);
        insert("stock").await.unwrap();

        // The collection that is replaced has lost its own.
        let back =
            doc! { "renameCollection": "shop.stock", "to": "shop.store", "dropTarget": true };
        admin.run_command(back).await.unwrap();
        insert("store").await.unwrap();

        stock(&served).await;
        served.run(doc! { "drop": "stock" }).await.unwrap();
        insert("stock").await.unwrap();
        Ok(())
    });
}

#[tokio::test]
async fn a_validator_is_in_force_after_the_store_is_opened_again_and_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stock.odm");
    let rule = ValidationRule::new(rawdoc! { "qty": { "$gte": 0 } });
    let collections = Collections::open(Embedded::open(&path).await.unwrap())
        .await
        .unwrap();
    let stock = collections.collection("stock");
    stock.create_validated(rule.clone(), None).await.unwrap();
    stock
        .insert([rawdoc! { "_id": 1, "qty": 1 }])
        .await
        .unwrap();
    collections.close().await.unwrap();

    let collections = Collections::open(Embedded::open(&path).await.unwrap())
        .await
        .unwrap();
    let copy = Collections::open(Embedded::memory().await.unwrap())
        .await
        .unwrap();
    collections.copy_to(&copy).await.unwrap();
    for collections in [collections, copy] {
        let stock = collections.collection("stock");
        assert_eq!(stock.validation().await.unwrap(), Some(rule.clone()));
        let wrong = stock.insert([rawdoc! { "_id": 2, "qty": -1 }]).await;
        assert_eq!(wrong.unwrap_err().code(), Some(FAILED));
        let line = br#"{"_id":3,"qty":-1}"#;
        let import = collections.import_files().file_into("stock", &line[..]);
        assert_eq!(import.await.unwrap_err().code(), Some(FAILED));
        assert_eq!(stock.find(Filter::default()).count().await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_writer_passes_a_validator_once_it_is_there() {
    let collections = Collections::open(Embedded::memory().await.unwrap())
        .await
        .unwrap();
    let builder = Server::builder().database("shop", collections.clone());
    let server = builder.listen("127.0.0.1:0").await.unwrap();
    let has_ended = Arc::new(AtomicBool::new(false));
    let stock = collections.collection("stock");
    stock.create().await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..4 {
        let client = client_of(&server).await;
        let has_ended = has_ended.clone();
        writers.push(tokio::spawn(async move {
            let stock = client.database("shop").collection::<Document>("stock");
            let mut refused = 0;
            for n in 0.. {
                if has_ended.load(Ordering::Relaxed) {
                    break;
                }
                let new = doc! { "_id": n * 4 + writer, "qty": -1 };
                match stock.insert_one(new).await {
                    Ok(_) => assert_eq!(refused, 0, "the validator was there before"),
                    Err(error) => {
                        assert_eq!(error_of(error).0, FAILED);
                        refused += 1;
                    }
                }
            }
            refused
        }));
    }
    let rule = ValidationRule::new(rawdoc! { "qty": { "$gte": 0 } });
    stock.set_validation(Some(rule)).await.unwrap();
    let number = stock.find(Filter::default()).count().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    has_ended.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(writer.await.unwrap() > 0);
    }
    assert_eq!(stock.find(Filter::default()).count().await.unwrap(), number);
}

#[test]
fn only_who_may_write_a_collection_can_change_its_validator() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        let rights = [Right::read("notes"), Right::read_write("drafts")];
        users.create("ann", "correct horse", rights).await.unwrap();
        let ann = secured
            .client("ann", "correct horse")
            .await
            .database("shop");
        let rule = doc! { "validator": { "a": 1 } };
        for command in ["create", "collMod"] {
            let mut refused = doc! { command: "notes" };
            refused.extend(rule.clone());
            let error = ann.run_command(refused).await.unwrap_err();
            assert_eq!(error_of(error).0, 13);
            let mut done = doc! { command: "drafts" };
            done.extend(rule.clone());
            ann.run_command(done).await.unwrap();
        }
        let drafts = ann.collection::<Document>("drafts");
        let wrong = drafts.insert_one(doc! { "a": 2 }).await.unwrap_err();
        assert_eq!(error_of(wrong).0, FAILED);
        Ok(())
    });
}
