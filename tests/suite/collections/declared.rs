//! What models declare beside their relations holds in a process without them: when documents expire, and the numbers of sequences.

use std::time::Duration;

use futures_util::future::join_all;
use odm::{
    Collections, ErrorKind, OpenOptions,
    bson::{self, RawBson, RawDocumentBuf, doc, rawdoc},
    mql::{Filter, Update},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct TicketId(i32);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tickets", new = "NewTicket", expires(field = "until"))]
struct Ticket {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: TicketId,
    until: Option<DateTime>,
    #[count(of = "Note")]
    notes: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes", new = "NewNote")]
struct Note {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    ticket: Ref<Ticket>,
}

/// Of which there are few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "lockers", new = "NewLocker")]
struct Locker {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i16,
}

#[derive(Debug, Database)]
#[database(name = "desk", version = 1)]
pub(super) struct Desk {
    lockers: Repository<Locker>,
    tickets: Repository<Ticket>,
    notes: Repository<Note>,
}

/// A later version of the program, in which tickets expire a day later.
pub(super) mod later {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "tickets", expires(field = "until", after = "1d"))]
    pub(super) struct Ticket {
        #[serde(rename = "_id")]
        id: TicketId,
        until: Option<DateTime>,
        #[count(of = "Note")]
        notes: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    pub(super) struct Note {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        ticket: Ref<Ticket>,
    }

    #[derive(Debug, Database)]
    #[database(name = "desk", version = 2)]
    pub(in super::super) struct Desk {
        lockers: Repository<super::Locker>,
        tickets: Repository<Ticket>,
        notes: Repository<Note>,
    }
}

fn by_hand() -> OpenOptions {
    OpenOptions::default().delete_expired_every(None)
}

fn ticket(until: DateTime) -> NewTicket {
    NewTicket { until: Some(until) }
}

/// A ticket that has expired, with a note, and one that has not.
async fn tickets(desk: &Desk) {
    let (past, future) = (DateTime::from_millis(0), DateTime::from_millis(4_000_000_000_000));
    desk.tickets.insert_many([ticket(past), ticket(future)]).await.unwrap();
    desk.notes.insert(NewNote { ticket: Ref::new(TicketId(1)) }).await.unwrap();
}

on_every_store! {
    async fn documents_expire_for_a_process_without_models(store: AnyStore) {
        let desk = Desk::open_with(store.clone(), by_hand()).await.unwrap();
        tickets(&desk).await;
        let collections = Collections::open_with(store, by_hand()).await.unwrap();
        // The ticket; its note goes with it.
        assert_eq!(collections.delete_expired().await.unwrap(), 1);
        assert_eq!(collections.delete_expired().await.unwrap(), 0);
        assert_eq!(desk.notes.all().count().await.unwrap(), 0);
        assert_eq!(desk.tickets.all().await.unwrap().len(), 1);
        assert_eq!(desk.audit().await.unwrap(), []);
    }

    async fn a_worker_deletes_them_there_too(store: AnyStore) {
        let desk = Desk::open_with(store.clone(), by_hand()).await.unwrap();
        tickets(&desk).await;
        let often = OpenOptions::default().delete_expired_every(Duration::from_millis(20));
        let collections = Collections::open_with(store, often).await.unwrap();
        let notes = collections.collection("notes");
        let gone = async {
            while notes.find(Filter::default()).count().await.unwrap() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the worker deletes it");
    }

    async fn the_newest_version_says_when_documents_expire(store: AnyStore) {
        let desk = Desk::open_with(store.clone(), by_hand()).await.unwrap();
        let hour_ago = DateTime::from_millis(DateTime::now().timestamp_millis() - 3_600_000);
        desk.tickets.insert(ticket(hour_ago)).await.unwrap();
        let newest = later::Desk::open_with(store, by_hand()).await.unwrap();
        assert_eq!(desk.delete_expired().await.unwrap(), 0);
        assert_eq!(newest.delete_expired().await.unwrap(), 0);
    }

    async fn a_process_without_models_gives_the_next_numbers(store: AnyStore) {
        let desk = Desk::open_with(store.clone(), by_hand()).await.unwrap();
        tickets(&desk).await;
        let collections = Collections::open(store).await.unwrap();
        let tickets = collections.collection("tickets");
        // A document with an `_id` of its own keeps it, and the others get greater ones.
        let mixed = [rawdoc! {}, rawdoc! { "_id": 7 }, rawdoc! {}];
        let ids = tickets.insert(mixed).await.unwrap();
        assert_eq!(ids, [8, 7, 9].map(RawBson::Int32));
        let note = rawdoc! { "ticket": 9 };
        assert_eq!(collections.collection("notes").insert([note]).await.unwrap(), [RawBson::Int64(2)]);
        // So does a document that an upsert inserts.
        let named = Filter::parse(&doc! { "until": bson::DateTime::from_millis(1) }).unwrap();
        let update = Update::parse(&doc! { "$unset": { "other": "" } }, &[]).unwrap();
        let upserted = collections.collection("tickets").update(named, update).upsert().await.unwrap();
        assert_eq!(upserted.inserted_id, Some(RawBson::Int32(10)));
        let next = desk.tickets.insert(NewTicket { until: None }).await.unwrap();
        assert_eq!(next.id, TicketId(11));
        assert_eq!(desk.tickets.get(TicketId(9)).await.unwrap().notes, 1);
        // A write that fails uses up no number.
        let wrong = rawdoc! { "until": "tomorrow" };
        assert_eq!(tickets.insert([rawdoc! {}, wrong]).await.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(tickets.insert([rawdoc! {}]).await.unwrap(), [RawBson::Int32(12)]);
        assert_eq!(desk.audit().await.unwrap(), []);
    }

    async fn a_process_that_was_there_before_the_models_gives_them_too(store: AnyStore) {
        let collections = Collections::open(store.clone()).await.unwrap();
        let tickets = collections.collection("tickets");
        let _desk = Desk::open(store).await.unwrap();
        assert_eq!(tickets.insert([rawdoc! {}]).await.unwrap(), [RawBson::Int32(1)]);
    }

    async fn an_id_of_a_client_that_was_removed_ends_no_sequence(store: AnyStore) {
        let _desk = Desk::open(store.clone()).await.unwrap();
        let collections = Collections::open(store).await.unwrap();
        let tickets = collections.collection("tickets");
        tickets.insert([rawdoc! { "_id": i32::MAX }]).await.unwrap();
        tickets.delete(Filter::default()).await.unwrap();
        assert_eq!(tickets.insert([rawdoc! {}]).await.unwrap(), [RawBson::Int32(1)]);
    }

    async fn concurrent_inserts_get_different_numbers(store: AnyStore) {
        let desk = Desk::open(store.clone()).await.unwrap();
        let collections = Collections::open(store).await.unwrap();
        let tickets = collections.collection("tickets");
        let raw = (0..10).map(|_| async { tickets.insert([rawdoc! {}, rawdoc! {}]).await.unwrap() });
        let typed = (0..10).map(|_| async { desk.tickets.insert(NewTicket { until: None }).await.unwrap().id.0 });
        let (raw, typed) = futures_util::join!(join_all(raw), join_all(typed));
        let raw = raw.into_iter().flatten().map(|id| id.as_i32().expect("an `_id` is an int"));
        let mut ids: Vec<i32> = raw.chain(typed).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..=30).collect::<Vec<_>>());
    }

    async fn a_sequence_at_the_end_of_its_type_is_used_up(store: AnyStore) {
        let _desk = Desk::open(store.clone()).await.unwrap();
        let collections = Collections::open(store).await.unwrap();
        let ends = [("tickets", RawBson::Int32(i32::MAX)), ("lockers", RawBson::Int32(i16::MAX.into()))];
        for (name, last) in ends {
            let collection = collections.collection(name);
            collection.insert([rawdoc! { "_id": last }]).await.unwrap();
            let error = collection.insert([RawDocumentBuf::new()]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.to_string().contains(&format!("the sequence of `{name}` is used up")), "{error}");
            assert_eq!(collection.find(Filter::default()).count().await.unwrap(), 1);
        }
    }
}
