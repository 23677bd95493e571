//! What change streams show.

use std::time::Duration;

use futures_util::StreamExt;
use mongodb::{
    bson::{Bson, Document, Timestamp, doc},
    change_stream::{
        ChangeStream,
        event::{ChangeStreamEvent, OperationType},
    },
    options::{FullDocumentBeforeChangeType, FullDocumentType},
};
use odm::{Collections, bson::rawdoc, derive::examples::example, mql::Filter};

use crate::{Fields, Served, error_of, part, raw::RawClient, review};

pub(crate) type Changes = ChangeStream<ChangeStreamEvent<Document>>;

/// The next events.
pub(crate) async fn next(changes: &mut Changes, number: usize) -> Vec<ChangeStreamEvent<Document>> {
    let mut events = Vec::new();
    while events.len() < number {
        let event = tokio::time::timeout(Duration::from_secs(20), changes.next()).await;
        let event = event.expect("an event in time");
        events.push(event.expect("an open stream").unwrap());
    }
    events
}

/// What an event is of: its operation, its collection and the `_id` of its document.
pub(crate) fn subject(event: &ChangeStreamEvent<Document>) -> (String, String, Bson) {
    let operation = format!("{:?}", event.operation_type);
    let collection = event.ns.as_ref().and_then(|ns| ns.coll.clone());
    let key = event.document_key.as_ref();
    let id = key.and_then(|key| key.get("_id")).cloned();
    (
        operation,
        collection.unwrap_or_default(),
        id.unwrap_or(Bson::Null),
    )
}

pub(crate) fn of(operation: &str, collection: &str, id: i64) -> (String, String, Bson) {
    (operation.to_owned(), collection.to_owned(), id.into())
}

#[test]
fn events_of_a_collection_have_the_form_of_mongodb() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let mut changes = parts
            .watch()
            .full_document(FullDocumentType::UpdateLookup)
            .full_document_before_change(FullDocumentBeforeChangeType::Required)
            .await
            .unwrap();
        parts.insert_one(part(70, "new")).await.unwrap();
        let set = doc! { "$set": { "qty": 2_i64, "tags.0": "old" } };
        parts.update_one(doc! { "_id": 70 }, set).await.unwrap();
        parts
            .replace_one(doc! { "_id": 70 }, part(70, "other"))
            .await
            .unwrap();
        parts.delete_one(doc! { "_id": 70 }).await.unwrap();
        let events = next(&mut changes, 4).await;
        let operations: Vec<_> = events.iter().map(|event| &event.operation_type).collect();
        use OperationType::{Delete, Insert, Replace, Update};
        assert_eq!(operations, [&Insert, &Update, &Replace, &Delete]);
        let key = Some(doc! { "_id": 70_i64 });
        assert!(events.iter().all(|event| event.document_key == key));
        assert!(events.iter().all(|event| event.wall_time.is_some()));
        let times: Vec<_> = events
            .iter()
            .map(|event| event.cluster_time.unwrap())
            .collect();
        assert!(times.is_sorted_by(|one, other| one < other), "{times:?}");
        let tokens: Vec<_> = events.iter().map(|event| serde_text(&event.id)).collect();
        assert!(tokens.is_sorted_by(|one, other| one < other), "{tokens:?}");

        let inserted = events[0].full_document.as_ref().unwrap();
        assert_eq!((inserted.text("name"), inserted.number("qty")), ("new", 1));
        let description = events[1].update_description.as_ref().unwrap();
        assert_eq!(
            description.updated_fields,
            doc! { "qty": 2_i64, "tags.0": "old" }
        );
        assert_eq!(events[1].full_document.as_ref().unwrap().number("qty"), 2);
        let before = events[1].full_document_before_change.as_ref().unwrap();
        assert_eq!(before.number("qty"), 1);
        assert!(events[2].update_description.is_none());
        assert!(events[3].full_document.is_none());
        let before = events[3].full_document_before_change.as_ref().unwrap();
        assert_eq!(before.text("name"), "other");

        // Without options, only what was inserted or replaces another is shown whole.
        let mut bare = parts.watch().await.unwrap();
        parts
            .replace_one(doc! { "_id": 2 }, part(2, "whole"))
            .await
            .unwrap();
        let event = next(&mut bare, 1).await.remove(0);
        assert_eq!(event.full_document, Some(part(2, "whole")));
        parts
            .update_one(doc! { "_id": 1 }, doc! { "$set": { "qty": 3_i64 } })
            .await
            .unwrap();
        let event = next(&mut bare, 1).await.remove(0);
        assert!(event.full_document.is_none() && event.full_document_before_change.is_none());
        Ok(())
    });
}

fn serde_text(token: &mongodb::change_stream::event::ResumeToken) -> String {
    let token = mongodb::bson::serialize_to_document(token).unwrap();
    token.text("_data").to_owned()
}

#[test]
fn changes_of_derived_fields_are_events_of_their_commit() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let database = served.client.database("shop");
        let mut of_database = database.watch().await.unwrap();
        let mut of_deployment = served.client.watch().await.unwrap();
        let mut of_products = served.collection("products").watch().await.unwrap();
        served
            .collection("reviews")
            .insert_one(review(50, 3))
            .await
            .unwrap();
        let expected = [of("Insert", "reviews", 50), of("Update", "products", 3)];
        for changes in [&mut of_database, &mut of_deployment] {
            let events = next(changes, 2).await;
            let subjects: Vec<_> = events.iter().map(subject).collect();
            assert_eq!(subjects, expected);
            assert_eq!(events[0].cluster_time, events[1].cluster_time);
            assert_ne!(events[0].id, events[1].id);
        }
        let event = next(&mut of_products, 1).await.remove(0);
        let description = event.update_description.unwrap();
        assert_eq!(description.updated_fields.number("review_count"), 1);

        // A collection that is new, and a write of the program itself.
        served
            .collection("notes")
            .insert_one(doc! { "_id": 5_i64 })
            .await
            .unwrap();
        shop.parts.delete(3).await?;
        let events = next(&mut of_database, 2).await;
        let subjects: Vec<_> = events.iter().map(subject).collect();
        assert_eq!(
            subjects,
            [of("Insert", "notes", 5), of("Delete", "parts", 3)]
        );
        Ok(())
    });
}

#[test]
fn the_events_of_a_transaction_come_together_and_those_of_one_that_is_aborted_never() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let mut changes = served.client.database("shop").watch().await.unwrap();
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        parts
            .insert_one(part(80, "gone"))
            .session(&mut session)
            .await
            .unwrap();
        session.abort_transaction().await.unwrap();
        session.start_transaction().await.unwrap();
        parts
            .insert_one(part(81, "a"))
            .session(&mut session)
            .await
            .unwrap();
        served
            .collection("notes")
            .insert_one(doc! { "_id": 1_i64 })
            .await
            .unwrap();
        parts
            .insert_one(part(82, "b"))
            .session(&mut session)
            .await
            .unwrap();
        session.commit_transaction().await.unwrap();
        let events = next(&mut changes, 3).await;
        let subjects: Vec<_> = events.iter().map(subject).collect();
        let expected = [
            of("Insert", "notes", 1),
            of("Insert", "parts", 81),
            of("Insert", "parts", 82),
        ];
        assert_eq!(subjects, expected);
        assert_eq!(events[1].cluster_time, events[2].cluster_time);
        Ok(())
    });
}

#[test]
fn what_follows_from_several_statements_of_a_transaction_comes_after_all_of_them() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let reviews = served.collection("reviews");
        let mut changes = served.client.database("shop").watch().await.unwrap();
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        for id in [50, 51] {
            let insert = reviews.insert_one(review(id, 3));
            insert.session(&mut session).await.unwrap();
        }
        session.commit_transaction().await.unwrap();
        let events = next(&mut changes, 3).await;
        let subjects: Vec<_> = events.iter().map(subject).collect();
        let expected = [
            of("Insert", "reviews", 50),
            of("Insert", "reviews", 51),
            of("Update", "products", 3),
        ];
        assert_eq!(subjects, expected);
        Ok(())
    });
}

#[test]
fn stages_choose_and_shape_events_and_must_leave_the_token() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let parts = served.collection("parts");
        let pipeline = [
            doc! { "$match": { "operationType": "update", "updateDescription.updatedFields.qty": { "$gt": 5 } } },
            doc! { "$project": { "qty": "$updateDescription.updatedFields.qty" } },
            doc! { "$addFields": { "double": { "$multiply": ["$qty", 2] } } },
        ];
        let mut changes = parts
            .watch()
            .pipeline(pipeline)
            .await
            .unwrap()
            .with_type::<Document>();
        for qty in [1_i64, 6, 2, 7] {
            let set = doc! { "$set": { "qty": qty } };
            parts.update_one(doc! { "_id": 1 }, set).await.unwrap();
        }
        for qty in [6, 7] {
            let event = changes.next().await.unwrap().unwrap();
            assert_eq!(
                (event.number("qty"), event.number("double")),
                (qty, 2 * qty)
            );
        }

        for stage in [
            doc! { "$project": { "_id": 0 } },
            doc! { "$unset": "_id" },
            doc! { "$set": { "_id": 1 } },
            doc! { "$replaceWith": "$documentKey" },
        ] {
            let mut client = RawClient::new(&served.server).await;
            let watch = doc! { "aggregate": "parts", "pipeline": [{ "$changeStream": {} }, &stage], "cursor": {} };
            let id = client
                .run(watch)
                .await
                .unwrap()
                .inner("cursor")
                .number("id");
            let inc = doc! { "$inc": { "qty": 1_i64 } };
            parts.update_one(doc! { "_id": 1 }, inc).await.unwrap();
            let more = doc! { "getMore": id, "collection": "parts" };
            let error = client.run(more).await.unwrap();
            assert_eq!(error.number("code"), 280, "{stage}: {error}");
            let label = Bson::from("NonResumableChangeStreamError");
            assert_eq!(*error.list("errorLabels"), [label], "{stage}");
        }
        Ok(())
    });
}

#[test]
fn what_a_stream_is_not_asked_rightly_is_refused_with_the_code_of_mongodb() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let command =
            |stages: Vec<Document>| doc! { "aggregate": "parts", "pipeline": stages, "cursor": {} };
        let stream = |options: Document| doc! { "$changeStream": options };
        let split = |options: Document| doc! { "$changeStreamSplitLargeEvent": options };
        for (stages, code) in [
            (vec![stream(doc! {}), doc! { "$group": { "_id": 1 } }], 20),
            (vec![stream(doc! {}), doc! { "$sort": { "_id": 1 } }], 20),
            (vec![stream(doc! {}), doc! { "$out": "other" }], 20),
            (vec![stream(doc! {}), doc! { "$nothing": 1 }], 40_324),
            (vec![stream(doc! {}), split(doc! { "at": 1 })], 7_182_800),
            (
                vec![stream(doc! {}), split(doc! {}), split(doc! {})],
                7_182_802,
            ),
            (vec![stream(doc! {}), stream(doc! {})], 40_602),
            (vec![doc! { "$match": {} }, stream(doc! {})], 40_602),
            (vec![stream(doc! { "fullDocument": "some" })], 2),
            (
                vec![stream(doc! { "fullDocumentBeforeChange": "default" })],
                2,
            ),
            (vec![stream(doc! { "showExpandedEvents": true })], 238),
            (vec![stream(doc! { "other": true })], 40_415),
            (vec![stream(doc! { "allChangesForCluster": true })], 72),
            (vec![stream(doc! { "resumeAfter": { "_data": 1 } })], 40_647),
            (vec![stream(doc! { "resumeAfter": { "_data": "text" } })], 9),
            (
                vec![stream(doc! { "resumeAfter": { "_data": "8200" } })],
                260,
            ),
            (
                vec![stream(doc! { "resumeAfter": {}, "startAfter": {} })],
                40_674,
            ),
            (
                vec![stream(
                    doc! { "startAtOperationTime": Timestamp { time: 1, increment: 1 } },
                )],
                286,
            ),
        ] {
            let (found, message) = served.refused(command(stages.clone())).await;
            assert_eq!(found, code, "{stages:?}: {message}");
        }
        for (database, of, code) in [
            ("admin", Bson::Int32(1), 73),
            ("local", Bson::Int32(1), 73),
            ("shop", "system.views".into(), 73),
            ("shop", "_odm_outbox".into(), 73),
        ] {
            let watch = doc! { "aggregate": of, "pipeline": [stream(doc! {})], "cursor": {} };
            let refused = served.client.database(database).run_command(watch).await;
            assert_eq!(error_of(refused.unwrap_err()).0, code);
        }
        for (level, is_refused) in [("local", true), ("snapshot", true), ("majority", false)] {
            let mut watch = command(vec![stream(doc! {})]);
            watch.insert("readConcern", doc! { "level": level });
            let refused = served.run(watch).await.map_err(error_of);
            let refused = refused.err().map(|(code, _)| code);
            assert_eq!(refused, is_refused.then_some(72), "{level}");
        }
        let mut session = served.client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let watch = command(vec![stream(doc! {})]);
        let refused = served
            .client
            .database("shop")
            .run_command(watch)
            .session(&mut session)
            .await;
        assert_eq!(error_of(refused.unwrap_err()).0, 263);
        Ok(())
    });
}

#[test]
fn the_images_are_there_whatever_the_collection_says_about_them() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let images = |enabled: bool| doc! { "enabled": enabled };
        let create = doc! { "create": "notes", "changeStreamPreAndPostImages": images(true) };
        served.run(create).await.unwrap();
        let modify = doc! { "collMod": "notes", "changeStreamPreAndPostImages": images(false) };
        served.run(modify).await.unwrap();
        let unsaid = doc! { "collMod": "notes", "changeStreamPreAndPostImages": {} };
        assert_eq!(served.refused(unsaid).await.0, 40_414);
        let notes = served.collection("notes");
        notes.insert_one(doc! { "_id": 1, "n": 1 }).await.unwrap();
        let changes = notes.watch().full_document(FullDocumentType::Required);
        let mut changes = changes
            .full_document_before_change(FullDocumentBeforeChangeType::WhenAvailable)
            .await
            .unwrap();
        let more = doc! { "$inc": { "n": 1 } };
        notes.update_one(doc! { "_id": 1 }, more).await.unwrap();
        let event = next(&mut changes, 1).await.remove(0);
        assert_eq!(event.full_document.unwrap().number("n"), 2);
        assert_eq!(event.full_document_before_change.unwrap().number("n"), 1);
        Ok(())
    });
}

#[test]
fn a_stream_from_the_time_of_a_created_collection_begins_after_the_drop_before_it() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        let watch = |options: Document| doc! { "aggregate": "notes", "pipeline": [{ "$changeStream": options }], "cursor": {} };
        served.run(watch(doc! {})).await.unwrap();
        notes.insert_one(doc! { "_id": 1 }).await.unwrap();
        notes.drop().await.unwrap();
        let created = served.run(doc! { "create": "notes" }).await.unwrap();
        let time = created.get_timestamp("operationTime").unwrap();
        notes.insert_one(doc! { "_id": 2 }).await.unwrap();
        let later = served
            .run(watch(doc! { "startAtOperationTime": time }))
            .await;
        let events = later.unwrap().inner("cursor").list("firstBatch").clone();
        let first = events[0].as_document().unwrap();
        assert_eq!(first.text("operationType"), "insert");
        Ok(())
    });
}

#[test]
fn times_grow_with_each_write_and_reads_can_ask_for_them() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let time = |reply: &Document| {
            let time = reply.get_timestamp("operationTime").unwrap();
            let cluster = reply.inner("$clusterTime");
            assert!(cluster.get_timestamp("clusterTime").unwrap() >= time);
            assert_eq!(cluster.inner("signature").number("keyId"), 0);
            time
        };
        let mut last = time(&client.run(doc! { "ping": 1 }).await.unwrap());
        for id in 0..20 {
            let insert = doc! { "insert": "notes", "documents": [{ "_id": id }] };
            let next = time(&client.run(insert).await.unwrap());
            assert!(next > last);
            last = next;
        }
        let find =
            |time: Timestamp| doc! { "find": "notes", "readConcern": { "afterClusterTime": time } };
        let reply = client.run(find(last)).await.unwrap();
        assert_eq!(reply.inner("cursor").list("firstBatch").len(), 20);
        let later = Timestamp {
            time: last.time + 1_000,
            increment: 1,
        };
        let error = client.run(find(later)).await.unwrap();
        assert_eq!(error.number("code"), 72);
        time(&error);

        // A time that another server has given, and one that none can have given.
        let seen = |time: Timestamp| doc! { "ping": 1, "$clusterTime": { "clusterTime": time, "signature": {} } };
        assert!(time(&client.run(seen(later)).await.unwrap()) >= later);
        assert!(
            client
                .run(find(later))
                .await
                .unwrap()
                .contains_key("cursor")
        );
        let far = Timestamp {
            time: u32::MAX,
            increment: 1,
        };
        assert_eq!(client.run(seen(far)).await.unwrap().number("code"), 206);

        let mut session = served
            .client
            .start_session()
            .causal_consistency(true)
            .await
            .unwrap();
        let notes = served.collection("notes");
        notes
            .insert_one(doc! { "_id": 77 })
            .session(&mut session)
            .await
            .unwrap();
        let found = notes
            .find_one(doc! { "_id": 77 })
            .session(&mut session)
            .await
            .unwrap();
        assert!(found.is_some());
        let collections = Collections::of(&shop);
        collections
            .collection("notes")
            .insert([rawdoc! { "_id": 78 }])
            .await?;
        assert_eq!(
            collections
                .collection("notes")
                .find(Filter::default())
                .count()
                .await?,
            22
        );
        Ok(())
    });
}
