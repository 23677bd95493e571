use futures_util::TryStreamExt;
use mongodb::{
    bson::{Bson, Document, doc},
    options::ReturnDocument,
};
use odm::{Database, derive::examples::example};

use crate::{
    Fields, Served, assert_right, error_of, part,
    raw::{OP_MSG, RawClient, body},
    review,
};

#[test]
fn each_kind_of_write_of_a_driver_keeps_what_models_derive() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let (products, reviews) = (served.collection("products"), served.collection("reviews"));

        let new = [review(10, 2), review(11, 2), review(12, 1)];
        reviews.insert_many(new).await.unwrap();
        assert_eq!(shop.products.get(2).await?.review_count, 3);
        assert_right(&shop).await;

        let moved = doc! { "$set": { "product": 3_i64 } };
        let done = reviews
            .update_many(doc! { "product": 2 }, moved)
            .await
            .unwrap();
        assert_eq!((done.matched_count, done.modified_count), (3, 3));
        assert_eq!(shop.products.get(3).await?.review_count, 3);
        assert_right(&shop).await;

        let name = doc! { "$set": { "name": "rack" } };
        products.update_one(doc! { "_id": 1 }, name).await.unwrap();
        shop.wait_for_refreshes().await?;
        assert_eq!(shop.warranties.get(1).await?.product_name, "rack");

        let mut other = review(10, 1);
        other.remove("_id");
        reviews
            .replace_one(doc! { "_id": 10 }, other)
            .await
            .unwrap();
        assert_eq!(shop.products.get(3).await?.review_count, 2);
        assert_right(&shop).await;

        let newest = doc! { "product": 1 };
        let removed = reviews
            .find_one_and_delete(newest)
            .sort(doc! { "published": -1 });
        removed.await.unwrap().unwrap();
        assert_right(&shop).await;

        // With a product go its reviews and its warranty.
        served
            .collection("orders")
            .delete_many(doc! {})
            .await
            .unwrap();
        let done = products
            .delete_many(doc! { "_id": { "$in": [1, 3] } })
            .await
            .unwrap();
        assert_eq!(done.deleted_count, 2);
        assert_eq!(reviews.count_documents(doc! {}).await.unwrap(), 0);
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn a_find_has_the_options_of_the_driver() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let found = parts
            .find(doc! { "qty": { "$gt": 1 } })
            .sort(doc! { "price": -1 })
            .skip(1)
            .limit(1)
            .projection(doc! { "_id": 0, "name": 1 })
            .allow_disk_use(true)
            .comment("a comment")
            .await;
        let found: Vec<Document> = found.unwrap().try_collect().await.unwrap();
        assert_eq!(found, [doc! { "name": "nut" }]);

        assert_eq!(
            parts
                .count_documents(doc! { "tags": "steel" })
                .skip(1)
                .await
                .unwrap(),
            1
        );
        assert_eq!(parts.estimated_document_count().await.unwrap(), 3);
        let tags = parts.distinct("tags", doc! {}).await.unwrap();
        assert_eq!(tags, [Bson::from("new"), Bson::from("steel")]);
        let none = served
            .client
            .database("nowhere")
            .collection::<Document>("parts");
        assert_eq!(none.find_one(doc! {}).await.unwrap(), None);
        Ok(())
    });
}

#[test]
fn an_upsert_a_replacement_and_array_filters_have_mongodbs_replies() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");

        let more = doc! { "$inc": { "n": 1 }, "$setOnInsert": { "list": [1, 5, 9] } };
        let done = notes
            .update_one(doc! { "_id": "a" }, more.clone())
            .upsert(true);
        let done = done.await.unwrap();
        assert_eq!(
            (done.matched_count, done.upserted_id),
            (0, Some("a".into()))
        );
        let done = notes
            .update_one(doc! { "_id": "a" }, more)
            .upsert(true)
            .await
            .unwrap();
        assert_eq!((done.matched_count, done.upserted_id), (1, None));

        let high = doc! { "$set": { "list.$[high]": 0 } };
        let done = notes.update_one(doc! { "_id": "a" }, high);
        done.array_filters([doc! { "high": { "$gt": 4 } }])
            .await
            .unwrap();
        let after = notes
            .find_one_and_update(doc! { "_id": "a" }, doc! { "$push": { "list": 2 } })
            .return_document(ReturnDocument::After)
            .projection(doc! { "_id": 0, "list": 1 });
        assert_eq!(after.await.unwrap(), Some(doc! { "list": [1, 0, 0, 2] }));

        let statement = doc! { "q": { "_id": "c" }, "u": { "$set": { "n": 1 } }, "upsert": true };
        let command = doc! { "update": "notes", "updates": [statement] };
        let reply = served.run(command).await.unwrap();
        assert_eq!((reply.number("n"), reply.number("nModified")), (1, 0));
        let upserted = doc! { "index": 0, "_id": "c" };
        assert_eq!(reply.list("upserted"), &[upserted.into()]);

        let before = notes.find_one_and_replace(doc! { "_id": "b" }, doc! { "n": 7 });
        assert_eq!(before.upsert(true).await.unwrap(), None);
        let done = notes
            .replace_one(doc! { "_id": "b" }, doc! { "m": 8 })
            .await
            .unwrap();
        assert_eq!((done.matched_count, done.modified_count), (1, 1));
        let found = notes.find_one(doc! { "_id": "b" }).await.unwrap();
        assert_eq!(found, Some(doc! { "_id": "b", "m": 8 }));
        Ok(())
    });
}

#[test]
fn an_ordered_insert_ends_at_the_first_error_and_an_unordered_one_goes_on() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        // The third has the name of a stored part, and the fifth that of the first.
        let new = ["a", "b", "nut", "c", "a", "d"];
        let new = || new.iter().zip(10..).map(|(name, id)| part(id, name));

        let error = parts.insert_many(new()).await.unwrap_err();
        assert_eq!(failed_positions(error), [(2, 11_000)]);
        assert_eq!(
            parts
                .count_documents(doc! { "_id": { "$gte": 10 } })
                .await
                .unwrap(),
            2
        );

        parts
            .delete_many(doc! { "_id": { "$gte": 10 } })
            .await
            .unwrap();
        let error = parts.insert_many(new()).ordered(false).await.unwrap_err();
        assert_eq!(failed_positions(error), [(2, 11_000), (4, 11_000)]);
        assert_eq!(
            parts
                .count_documents(doc! { "_id": { "$gte": 10 } })
                .await
                .unwrap(),
            4
        );
        assert_right(&shop).await;
        Ok(())
    });
}

fn failed_positions(error: mongodb::error::Error) -> Vec<(usize, i32)> {
    let mongodb::error::ErrorKind::InsertMany(failed) = *error.kind else {
        panic!("{error:?}");
    };
    let errors = failed.write_errors.unwrap();
    errors
        .iter()
        .map(|error| (error.index, error.code))
        .collect()
}

#[test]
fn statements_of_an_update_and_of_a_delete_fail_one_by_one() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let statement =
            |id: i64, qty: i64| doc! { "q": { "_id": id }, "u": { "$set": { "qty": qty } } };
        let statements = vec![statement(1, 7), statement(2, -1), statement(3, 8)];

        let command = doc! { "update": "parts", "updates": statements.clone() };
        let reply = served.run(command).await.unwrap();
        assert_eq!((reply.number("n"), reply.number("nModified")), (1, 1));
        let errors = reply.list("writeErrors");
        let error = errors[0].as_document().unwrap();
        assert_eq!((error.number("index"), error.number("code")), (1, 121));
        let rules = error.inner("errInfo").inner("details");
        assert!(format!("{rules}").contains("minimum"), "{rules}");

        let command = doc! { "update": "parts", "updates": statements, "ordered": false };
        let reply = served.run(command).await.unwrap();
        assert_eq!((reply.number("n"), reply.number("nModified")), (2, 1));

        // Products need the first two parts.
        let deletes: Vec<Document> = (1..=3)
            .map(|id: i64| doc! { "q": { "_id": id }, "limit": 1 })
            .collect();
        let command = doc! { "delete": "parts", "deletes": deletes, "ordered": false };
        let reply = served.run(command).await.unwrap();
        assert_eq!(reply.number("n"), 1);
        assert_eq!(reply.list("writeErrors").len(), 2);
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn find_and_modify_has_all_its_forms() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let run = async |rest: Document| {
            let mut command = doc! { "findAndModify": "notes" };
            command.extend(rest);
            let reply = served.run(command).await.unwrap();
            let result = reply.inner("lastErrorObject").clone();
            (result, reply.get("value").unwrap().clone())
        };
        let (result, value) = run(doc! { "query": { "_id": 1 }, "update": { "a": 1 } }).await;
        assert_eq!(
            (result, value),
            (doc! { "n": 0, "updatedExisting": false }, Bson::Null)
        );
        let upsert =
            doc! { "query": { "_id": 1 }, "update": { "a": 1 }, "upsert": true, "new": true };
        let (result, value) = run(upsert).await;
        assert_eq!(
            result,
            doc! { "n": 1, "updatedExisting": false, "upserted": 1 }
        );
        assert_eq!(value, doc! { "_id": 1, "a": 1 }.into());
        let update =
            doc! { "query": { "a": 1 }, "update": { "$inc": { "a": 1 } }, "fields": { "_id": 0 } };
        let (result, value) = run(update).await;
        assert_eq!(result, doc! { "n": 1, "updatedExisting": true });
        assert_eq!(value, doc! { "a": 1 }.into());
        let (result, value) = run(doc! { "sort": { "a": -1 }, "remove": true }).await;
        assert_eq!(
            (result, value),
            (doc! { "n": 1 }, doc! { "_id": 1, "a": 2 }.into())
        );
        Ok(())
    });
}

#[test]
fn an_unacknowledged_write_is_carried_out_though_its_client_goes() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        let mut client = RawClient::new(&served.server).await;
        let insert = doc! { "insert": "notes", "documents": [{ "_id": 1 }], "$db": "shop" };
        client.send(OP_MSG, &body(2, &insert)).await;
        drop(client);
        for _ in 0..500 {
            if notes.count_documents(doc! {}).await.unwrap() == 1 {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("the document is not stored");
    });
}

#[test]
fn pipelines_that_are_a_search_or_a_count_run() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let run = async |stages: Vec<Document>| -> Vec<Document> {
            parts
                .aggregate(stages)
                .await
                .unwrap()
                .try_collect()
                .await
                .unwrap()
        };
        let search = vec![
            doc! { "$match": { "qty": { "$gt": 1 } } },
            doc! { "$sort": { "name": -1 } },
            doc! { "$match": { "name": { "$ne": "bolt" } } },
            doc! { "$limit": 1 },
            doc! { "$project": { "_id": 0, "name": 1 } },
        ];
        assert_eq!(run(search).await, [doc! { "name": "washer" }]);
        assert_eq!(
            run(vec![doc! { "$skip": 1 }, doc! { "$count": "n" }]).await,
            [doc! { "n": 2 }]
        );
        let none = vec![doc! { "$match": { "qty": -1 } }, doc! { "$count": "n" }];
        assert!(run(none).await.is_empty());
        let group = doc! { "$group": { "_id": null, "n": { "$sum": 1 } } };
        assert_eq!(run(vec![group]).await, [doc! { "_id": null, "n": 3 }]);
        Ok(())
    });
}

#[test]
fn pipelines_variables_and_updates_by_stages_run() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let (parts, reviews) = (served.collection("parts"), served.collection("reviews"));
        let stages = vec![
            doc! { "$lookup": {
                "from": "products", "localField": "product", "foreignField": "_id", "as": "of",
            } },
            doc! { "$unwind": "$of" },
            doc! { "$group": { "_id": "$of.name", "stars": { "$max": "$stars" } } },
            doc! { "$match": { "$expr": { "$gte": ["$stars", "$$least"] } } },
            doc! { "$sort": { "_id": 1 } },
        ];
        let found = reviews
            .aggregate(stages)
            .let_vars(doc! { "least": 5 })
            .await
            .unwrap();
        let found: Vec<Document> = found.try_collect().await.unwrap();
        let names: Vec<&str> = found.iter().map(|of| of.text("_id")).collect();
        assert_eq!(names, ["lamp", "shelf"]);

        // A cursor of a pipeline with more documents than one batch.
        let many = (0..300).map(|n| doc! { "_id": n, "n": n });
        let numbers = served.collection("numbers");
        numbers.insert_many(many).await.unwrap();
        let doubled = vec![doc! { "$set": { "n": { "$multiply": ["$n", 2] } } }];
        let doubled = numbers.aggregate(doubled).batch_size(7).await.unwrap();
        let doubled: Vec<Document> = doubled.try_collect().await.unwrap();
        assert_eq!(
            doubled.iter().map(|of| of.number("n")).sum::<i64>(),
            300 * 299
        );

        let more = vec![doc! { "$set": { "qty": { "$add": ["$qty", "$$more"] } } }];
        let few = doc! { "$expr": { "$lt": ["$qty", "$$more"] } };
        let update = parts
            .update_many(few.clone(), more)
            .let_vars(doc! { "more": 10_i64 });
        assert_eq!(update.await.unwrap().modified_count, 1);
        assert_eq!(shop.parts.get(2).await?.qty, 15);
        let found = parts
            .find(few)
            .let_vars(doc! { "more": 100_i64 })
            .await
            .unwrap();
        assert_eq!(found.try_collect::<Vec<_>>().await.unwrap().len(), 2);

        // What is derived is refused by its name, and follows.
        let lie = vec![doc! { "$set": { "review_count": 9_i64 } }];
        let products = served.collection("products");
        assert!(products.update_many(doc! {}, lie).await.is_err());
        let moved = vec![doc! { "$set": { "product": { "$literal": 3_i64 } } }];
        reviews.update_many(doc! {}, moved).await.unwrap();
        assert_eq!(
            shop.products.get(3).await?.review_count,
            shop.reviews.all().count().await? as i64
        );
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn null_is_an_id_where_no_model_declares_the_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        let many = [
            doc! { "_id": 1 },
            doc! { "_id": null, "n": 1 },
            doc! { "_id": "a" },
        ];
        notes.insert_many(many).await.unwrap();
        let twice = notes.insert_one(doc! { "_id": null }).await.unwrap_err();
        assert_eq!(error_of(twice).0, 11_000);
        let null = doc! { "_id": null };
        let more = doc! { "$inc": { "n": 1 } };
        notes.update_one(null.clone(), more).await.unwrap();
        let replaced = notes.find_one_and_replace(null.clone(), doc! { "_id": null, "n": 5 });
        let before = replaced.await.unwrap().unwrap();
        assert_eq!(before, doc! { "_id": null, "n": 2 });
        let all = notes.find(doc! {}).batch_size(1).await.unwrap();
        let all: Vec<Document> = all.try_collect().await.unwrap();
        assert_eq!(
            all,
            [
                doc! { "_id": null, "n": 5 },
                doc! { "_id": 1 },
                doc! { "_id": "a" }
            ]
        );
        assert_eq!(
            notes.delete_one(null.clone()).await.unwrap().deleted_count,
            1
        );

        let mut of_model = part(9, "gear");
        of_model.insert("_id", Bson::Null);
        let refused = served.collection("parts").insert_one(of_model).await;
        let (_, message) = error_of(refused.unwrap_err());
        assert!(message.contains("has the `_id` null"), "{message}");
        Ok(())
    });
}
