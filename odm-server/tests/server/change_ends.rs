//! How change streams end.

use futures_util::StreamExt;
use mongodb::{
    bson::{Document, doc},
    change_stream::event::{ChangeStreamEvent, OperationType},
};
use odm::{Collections, Embedded, derive::examples::example};
use odm_server::Server;

use crate::{
    Served,
    changes::{next, of, subject},
    client_of, error_of,
};

#[test]
fn a_stream_ends_with_its_collection() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let notes = served.collection("notes");
        let database = served.client.database("shop");
        notes.insert_one(doc! { "_id": 1_i64 }).await.unwrap();
        let mut of_database = database.watch().await.unwrap();

        let mut changes = notes.watch().await.unwrap();
        notes.delete_one(doc! { "_id": 1_i64 }).await.unwrap();
        notes.drop().await.unwrap();
        notes.insert_one(doc! { "_id": 2_i64 }).await.unwrap();
        let events = next(&mut changes, 3).await;
        let operations: Vec<_> = events.iter().map(|event| &event.operation_type).collect();
        assert_eq!(
            operations,
            [
                &OperationType::Delete,
                &OperationType::Drop,
                &OperationType::Invalidate
            ]
        );
        assert!(changes.next().await.is_none());

        // It can begin anew after its end, and not go on before it.
        let (drop, end) = (events[1].id.clone(), events[2].id.clone());
        let refused = notes.watch().resume_after(end.clone()).await.err().unwrap();
        assert_eq!(error_of(refused).0, 260);
        let mut again = notes.watch().start_after(end).await.unwrap();
        assert_eq!(
            subject(&next(&mut again, 1).await[0]),
            of("Insert", "notes", 2)
        );
        let mut ended = notes.watch().resume_after(drop).await.unwrap();
        let event = next(&mut ended, 1).await.remove(0);
        assert_eq!(event.operation_type, OperationType::Invalidate);
        assert!(ended.next().await.is_none());

        let mut of_target = served.collection("old_notes").watch().await.unwrap();
        Collections::of(&shop)
            .collection("notes")
            .rename("old_notes", false)
            .await?;
        for changes in [&mut again, &mut of_target] {
            let events = next(changes, 2).await;
            assert_eq!(events[0].operation_type, OperationType::Rename);
            assert_eq!(
                events[0].to.as_ref().unwrap().coll.as_deref(),
                Some("old_notes")
            );
            assert_eq!(events[1].operation_type, OperationType::Invalidate);
        }
        let events = next(&mut of_database, 4).await;
        let names: Vec<_> = events.iter().map(|event| subject(event).0).collect();
        assert_eq!(names, ["Delete", "Drop", "Insert", "Rename"]);
        assert!(of_database.is_alive());
        Ok(())
    });
}

#[test]
fn a_stream_of_a_database_ends_when_all_its_collections_are_dropped_at_once() {
    example(async |_| {
        let collections = Collections::open(Embedded::memory().await?).await?;
        let server = Server::builder().database("notes", collections);
        let server = server.listen("127.0.0.1:0").await?;
        let client = client_of(&server).await;
        let database = client.database("notes");
        for name in ["a", "b"] {
            let made = database.collection::<Document>(name);
            made.insert_one(doc! { "_id": 1 }).await.unwrap();
        }
        let mut of_deployment = client.watch().await.unwrap();
        let mut of_database = database.watch().await.unwrap();
        let mut of_collection = database.collection::<Document>("a").watch().await.unwrap();
        let view = doc! { "create": "shown", "viewOn": "a", "pipeline": [] };
        database.run_command(view).await.unwrap();
        database.drop().await.unwrap();
        assert!(database.list_collection_names().await.unwrap().is_empty());

        let operations = |events: &[ChangeStreamEvent<Document>]| -> Vec<String> {
            events.iter().map(|event| subject(event).0).collect()
        };
        let events = next(&mut of_database, 4).await;
        let of_all = ["Drop", "Drop", "DropDatabase", "Invalidate"];
        assert_eq!(operations(&events), of_all);
        let dropped = events[2].ns.as_ref().unwrap();
        assert_eq!((&*dropped.db, &dropped.coll), ("notes", &None));
        assert!(of_database.next().await.is_none());
        let events_of_one = next(&mut of_collection, 2).await;
        assert_eq!(operations(&events_of_one), ["Drop", "Invalidate"]);
        assert_eq!(operations(&next(&mut of_deployment, 3).await), of_all[..3]);
        assert!(of_deployment.is_alive());

        // It goes on after its end, and a place before it leads to the end.
        let mut again = database
            .watch()
            .start_after(events[3].id.clone())
            .await
            .unwrap();
        let other = database.collection("c");
        other.insert_one(doc! { "_id": 2_i64 }).await.unwrap();
        assert_eq!(subject(&next(&mut again, 1).await[0]), of("Insert", "c", 2));
        let mut ended = database
            .watch()
            .resume_after(events[1].id.clone())
            .await
            .unwrap();
        let rest = next(&mut ended, 2).await;
        assert_eq!(operations(&rest), of_all[2..]);
        Ok(())
    });
}
