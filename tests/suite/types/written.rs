//! Values that the library writes itself, in native types: an `_id` that it makes, and the times of writes.

use chrono::Utc;
use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::on_every_store;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes", new = "NewNote")]
struct Note {
    #[serde(rename = "_id", with = "odm::native")]
    #[id(auto)]
    id: Uuid,
    text: String,
    #[serde(with = "odm::native")]
    #[created_at]
    created: chrono::DateTime<Utc>,
    #[serde(with = "odm::native", default)]
    #[updated_at]
    changed: Option<time::OffsetDateTime>,
}

#[derive(Database)]
#[database(name = "notes", version = 1)]
struct Notes {
    notes: Repository<Note>,
}

on_every_store! {
    async fn ids_and_times_are_written_as_the_types_of_their_fields(store: AnyStore) {
        let notes = Notes::open(store).await.unwrap();
        let start = Utc::now() - chrono::Duration::milliseconds(1);
        let [first, second] = ["a", "b"].map(|text| NewNote { text: text.into() });
        let first = notes.notes.insert(first).await.unwrap();
        let second = notes.notes.insert(second).await.unwrap();
        assert_ne!(first.id, second.id);
        assert!(first.created >= start && first.created <= Utc::now());
        assert_eq!(notes.notes.get(first.id).await.unwrap(), first);
        let fields = Note::fields();
        let changed = notes.notes.update(first.id).set(fields.text, "new").returning().await;
        let changed = changed.unwrap();
        assert_eq!((changed.created, changed.text.as_str()), (first.created, "new"));
        assert!(changed.changed >= first.changed);
        let since = notes.notes.find(fields.created.gte(start)).count().await.unwrap();
        assert_eq!(since, 2);
        assert_eq!(notes.audit().await.unwrap(), []);
    }
}
