//! Versions of documents that programs with different models write.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[version]
    revision: i64,
}

#[derive(Database)]
#[database(name = "versioned", version = 1)]
struct Versioned {
    notes: Repository<Note>,
}

mod plain {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    pub(super) struct Note {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) text: String,
    }

    #[derive(Database)]
    #[database(name = "plain", version = 1)]
    pub(super) struct Plain {
        pub(super) notes: Repository<Note>,
    }
}

mod turned {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    pub(super) struct Note {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) tag: Option<i32>,
        pub(super) text: String,
    }

    #[derive(Database)]
    #[database(name = "turned", version = 1)]
    pub(super) struct Turned {
        pub(super) notes: Repository<Note>,
    }
}

mod contrary {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    struct Note {
        #[serde(rename = "_id")]
        id: i32,
        text: String,
        #[version]
        edition: i64,
    }

    #[derive(Database)]
    #[database(name = "contrary", version = 1)]
    #[allow(dead_code, reason = "it cannot be opened beside the other")]
    pub(super) struct Contrary {
        notes: Repository<Note>,
    }
}

on_every_store! {
    async fn a_program_without_the_version_replaces_and_the_version_counts_it(store: AnyStore) {
        let plain = plain::Plain::open(store.clone()).await.unwrap();
        let db = Versioned::open(store).await.unwrap();
        let note = |text: &str| plain::Note { id: 1, text: text.into() };
        db.notes.insert(Note { id: 1, text: "a".into(), revision: 0 }).await.unwrap();
        plain.notes.replace(note("b")).await.unwrap();
        assert_eq!(db.notes.get(1).await.unwrap().revision, 2);
        plain.notes.upsert(note("c")).await.unwrap();
        plain.notes.upsert(note("c")).await.unwrap();
        plain.notes.update(1).raw(doc! { "$set": { "text": "d" } }).await.unwrap();
        let stored = db.notes.get(1).await.unwrap();
        assert_eq!((stored.text.as_str(), stored.revision), ("d", 4));
        // A caller with an older version gets an error.
        let stale = db.notes.replace(Note { revision: 2, ..stored.clone() }).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::Stale);
        assert_eq!(db.notes.replace(stored.clone()).await.unwrap(), stored);
        plain.notes.delete(1).await.unwrap();
        plain.notes.upsert(note("e")).await.unwrap();
        assert_eq!(db.notes.get(1).await.unwrap().revision, 1);
    }

    async fn a_replacement_that_changes_the_order_of_fields_alone_is_counted(store: AnyStore) {
        let turned = turned::Turned::open(store.clone()).await.unwrap();
        let db = Versioned::open(store).await.unwrap();
        let version = async || db.notes.get(1).await.unwrap().revision;
        let text = String::from("a");
        db.notes.insert(Note { id: 1, text: text.clone(), revision: 0 }).await.unwrap();
        turned.notes.update(1).raw(doc! { "$set": { "tag": 7 } }).await.unwrap();
        assert_eq!(version().await, 2);
        let note = turned::Note { id: 1, tag: Some(7), text };
        assert_eq!(turned.notes.get(1).await.unwrap(), note);
        // The tag comes before the text now, and stays there.
        turned.notes.replace(note.clone()).await.unwrap();
        assert_eq!(version().await, 3);
        turned.notes.replace(note).await.unwrap();
        assert_eq!(version().await, 3);
    }

    async fn two_programs_with_different_versions_of_one_model_are_refused(store: AnyStore) {
        Versioned::open(store.clone()).await.unwrap();
        let error = contrary::Contrary::open(store).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`notes.edition`"), "{error}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[split(collection = "lives", key = "person")]
    life: Cold<Life>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Life {
    #[reference(child, on_delete = "nullify")]
    mentor: Option<Ref<Person>>,
}

#[derive(Database)]
#[database(name = "people", version = 1)]
struct People {
    people: Repository<Person>,
}

on_every_store! {
    async fn a_replacement_that_brings_the_cold_part_as_it_is_changes_nothing(store: AnyStore) {
        let db = People::open(store).await.unwrap();
        let life = || Life { mentor: None }.into();
        db.people.insert(Person { id: 1, life: life(), revision: 0 }).await.unwrap();
        for _ in 0..2 {
            let replaced = db.people.replace(Person { id: 1, life: life(), revision: 1 }).await;
            assert_eq!(replaced.unwrap().revision, 1);
        }
    }

    async fn a_rule_that_clears_a_reference_in_a_cold_part_is_a_change_of_the_document(store: AnyStore) {
        let db = People::open(store).await.unwrap();
        let person = |id, mentor: Option<i32>| {
            let life = Life { mentor: mentor.map(Ref::new) }.into();
            Person { id, life, revision: 0 }
        };
        db.people.insert(person(1, None)).await.unwrap();
        db.people.insert_many([person(2, Some(1)), person(3, None)]).await.unwrap();
        let held = db.people.get(2).with(Person::fields().life).await.unwrap();
        db.people.delete(1).await.unwrap();
        let versions: Vec<i64> = db.people.all().await.unwrap().iter().map(|of| of.revision).collect();
        assert_eq!(versions, [2, 1]);
        let stale = db.people.replace(held).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::Stale, "it would bring the reference back");
    }
}
