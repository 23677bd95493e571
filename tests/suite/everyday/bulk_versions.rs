//! A bulk is one unit for versions and times.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[split(collection = "bodies", key = "note")]
    body: Cold<Body>,
    #[version]
    revision: i64,
    #[created_at]
    made: DateTime,
    #[updated_at]
    changed: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Body {
    lines: Vec<String>,
}

#[derive(Database)]
#[database(name = "desk", version = 1)]
struct Desk {
    notes: Repository<Note>,
}

fn note(id: i32) -> Note {
    Note {
        id,
        text: "first".to_owned(),
        body: Cold::new(Body { lines: Vec::new() }),
        revision: 0,
        made: DateTime::from_millis(0),
        changed: DateTime::from_millis(0),
    }
}

async fn desk(store: impl TestStore) -> (Desk, Note) {
    let desk = Desk::open(store).await.unwrap();
    desk.notes.insert(note(1)).await.unwrap();
    let before = desk.notes.get(1).await.unwrap();
    // The clock has milliseconds.
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    (desk, before)
}

on_every_store! {
    async fn a_document_that_is_changed_twice_in_a_bulk_has_one_more_version(store: AnyStore) {
        let (desk, before) = desk(store).await;
        let text = Note::fields().text;
        let writes = ["second", "third", "fourth"].map(|new| desk.notes.update(1).set(text, new).returning());
        let returned = desk.bulk(Vec::from(writes)).await.unwrap();
        assert!(returned.iter().all(|note| note.revision == before.revision + 1), "{returned:?}");
        let after = desk.notes.get(1).await.unwrap();
        assert_eq!((after.text.as_str(), after.revision), ("fourth", before.revision + 1));
        assert!(after.changed > before.changed && after.made == before.made);
        // The next unit is another one.
        desk.notes.update(1).set(text, "fifth").await.unwrap();
        assert_eq!(desk.notes.get(1).await.unwrap().revision, before.revision + 2);
        assert_eq!(desk.audit().await.unwrap(), []);
    }

    async fn a_document_that_is_as_before_a_bulk_has_its_version_and_its_times(store: AnyStore) {
        let (desk, before) = desk(store).await;
        let text = Note::fields().text;
        let (there, back) = (desk.notes.update(1).set(text, "other"), desk.notes.update(1).set(text, "first"));
        desk.bulk((there, back)).await.unwrap();
        assert_eq!(desk.notes.get(1).await.unwrap(), before);
        assert_eq!(desk.audit().await.unwrap(), []);
    }

    async fn a_new_document_that_a_bulk_changes_has_its_first_version(store: AnyStore) {
        let (desk, before) = desk(store).await;
        let text = Note::fields().text;
        desk.bulk((desk.notes.insert(note(2)), desk.notes.update(2).set(text, "second"))).await.unwrap();
        let new = desk.notes.get(2).await.unwrap();
        assert_eq!((new.text.as_str(), new.revision), ("second", before.revision));
        // A document that takes the place of another is a new one.
        desk.bulk((desk.notes.delete(1), desk.notes.insert(note(1)))).await.unwrap();
        let again = desk.notes.get(1).await.unwrap();
        assert!(again.revision == before.revision && again.made > before.made, "{again:?}");
    }

    async fn a_change_of_the_cold_part_counts_once_in_a_bulk(store: AnyStore) {
        let (desk, before) = desk(store).await;
        let note = Note::fields();
        let lines = |text: &str| desk.notes.update(1).push(note.body.lines, text);
        let (there, back) = (desk.notes.update(1).set(note.text, "other"), desk.notes.update(1).set(note.text, "first"));
        desk.bulk((lines("a"), there, lines("b"), back)).await.unwrap();
        let after = desk.notes.get(1).await.unwrap();
        assert_eq!((after.text.as_str(), after.revision), ("first", before.revision + 1));
        assert!(after.changed > before.changed);
    }
}
