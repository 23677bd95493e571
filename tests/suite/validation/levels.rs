//! Levels and actions, on documents from before the schema was tightened, and several databases on one collection.

use super::*;
use odm::{Finding, Problem, bson::doc};
use tests::{TestStore, behind_the_back, on_every_store};

use crate::warnings::Warnings;

/// A model of notes whose text must be longer than its version.
macro_rules! notes {
    ($module:ident, $version:literal, $name:literal, { $($validation:tt)* }, $min:literal) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "notes", validation($($validation)*))]
            pub(super) struct Note {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                #[validate(min_length = $min)]
                pub(super) text: String,
                pub(super) likes: i32,
            }

            #[derive(Database)]
            #[database(name = $name, version = $version)]
            pub(super) struct Notes {
                pub(super) notes: Repository<Note>,
            }

            pub(super) fn note(id: i32, text: &str) -> Note {
                Note { id, text: text.into(), likes: 0 }
            }
        }
    };
}

notes!(old, 1, "notes", {}, 0);
notes!(strict, 2, "notes", { level = "strict" }, 5);
notes!(moderate, 2, "notes", { level = "moderate" }, 5);
notes!(off, 2, "notes", { level = "off" }, 5);
notes!(warning, 2, "notes", { action = "warn" }, 5);
notes!(gentle, 2, "notes", { level = "moderate", action = "warn" }, 5);
notes!(beside, 1, "beside", { schema = short }, 0);

fn short() -> odm::bson::Document {
    doc! { "properties": { "text": { "maxLength": 8 } } }
}

/// Notes from before the schema was tightened: the first does not conform to it.
async fn older(store: &impl TestStore) {
    let db = old::Notes::open(store.clone()).await.unwrap();
    db.notes.insert_many([old::note(1, "abc"), old::note(2, "abcdef")]).await.unwrap();
}

/// The `_id`s, paths and rules of findings.
fn listed_of(findings: &[Finding]) -> Vec<(i32, &str, &str)> {
    let violations = findings.iter().map(|found| match &found.problem {
        Problem::Invalid(violation) => {
            assert_eq!((&*found.collection, &found.path), ("notes", &violation.path));
            (found.id.as_i32().unwrap(), &*violation.path, &*violation.rule)
        }
        problem => panic!("{problem:?}"),
    });
    violations.collect()
}

/// A model of counters, each change of which is counted.
macro_rules! counters {
    ($module:ident, $version:literal, { $($validation:tt)* }, $max:literal) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "counters", validation($($validation)*))]
            pub(super) struct Counter {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                #[validate(max = $max, with = even)]
                pub(super) number: i64,
                pub(super) name: String,
                #[version]
                pub(super) version: i64,
            }

            #[derive(Database)]
            #[database(name = "counters", version = $version)]
            pub(super) struct Counters {
                pub(super) counters: Repository<Counter>,
            }

            pub(super) fn counter(id: i32, number: i64) -> Counter {
                Counter { id, number, name: String::new(), version: 0 }
            }
        }
    };
}

counters!(counted, 1, {}, 1000);
counters!(counted_moderately, 2, { level = "moderate" }, 10);
counters!(not_counted, 1, { level = "off" }, 10);

on_every_store! {
    async fn a_replacement_is_validated_as_an_update_is(store: AnyStore) {
        older(&store).await;
        let db = strict::Notes::open(store).await.unwrap();
        let error = db.notes.replace(strict::note(2, "abc")).await.unwrap_err();
        assert_eq!(violated(&error), listed([("text", "minLength")]));
        let error = db.notes.upsert(strict::note(2, "abc")).await.unwrap_err();
        assert_eq!(violated(&error), listed([("text", "minLength")]));
        db.notes.replace(strict::note(2, "abcde")).await.unwrap();
    }

    async fn moderate_knows_what_was_before_also_where_changes_are_counted(store: AnyStore) {
        use counted_moderately::{Counter, Counters, counter};
        let db = counted::Counters::open(store.clone()).await.unwrap();
        let numbers = [counted::counter(1, 12), counted::counter(2, 4)];
        db.counters.insert_many(numbers).await.unwrap();
        let db = Counters::open(store).await.unwrap();
        let number = Counter::fields().number;
        db.counters.update(1).inc(number, 2).await.unwrap();
        assert!(db.counters.update(2).inc(number, 8).await.unwrap_err().is_invalid());
        assert!(db.counters.insert(counter(3, 12)).await.unwrap_err().is_invalid());
        db.counters.update(1).set(number, 10).await.unwrap();
        assert!(db.counters.update(1).inc(number, 2).await.unwrap_err().is_invalid());
    }

    async fn off_runs_no_functions(store: AnyStore) {
        let db = not_counted::Counters::open(store).await.unwrap();
        db.counters.insert(not_counted::counter(1, 33)).await.unwrap();
        let number = not_counted::Counter::fields().number;
        db.counters.update(1).inc(number, 2).await.unwrap();
    }

    async fn strict_validates_each_document_that_changes(store: AnyStore) {
        older(&store).await;
        let db = strict::Notes::open(store).await.unwrap();
        let likes = strict::Note::fields().likes;
        let error = db.notes.update(1).inc(likes, 1).await.unwrap_err();
        assert_eq!(violated(&error), listed([("text", "minLength")]));
        db.notes.update(2).inc(likes, 1).await.unwrap();
        db.notes.update(1).set(strict::Note::fields().text, "longer").await.unwrap();
        db.notes.update(1).inc(likes, 1).await.unwrap();
        assert!(db.notes.insert(strict::note(3, "abc")).await.unwrap_err().is_invalid());
    }

    async fn moderate_leaves_alone_what_was_invalid_before(store: AnyStore) {
        older(&store).await;
        let db = moderate::Notes::open(store).await.unwrap();
        let text = moderate::Note::fields().text;
        db.notes.update(1).set(text, "ab").await.unwrap();
        assert!(db.notes.update(2).set(text, "ab").await.unwrap_err().is_invalid());
        assert!(db.notes.insert(moderate::note(3, "abc")).await.unwrap_err().is_invalid());
        // Once it conforms, it must continue to.
        db.notes.update(1).set(text, "abcde").await.unwrap();
        assert!(db.notes.update(1).set(text, "ab").await.unwrap_err().is_invalid());
    }

    async fn validate_lists_the_documents_that_do_not_conform_whatever_the_level(store: AnyStore) {
        older(&store).await;
        let db = strict::Notes::open(store.clone()).await.unwrap();
        assert_eq!(listed_of(&db.notes.validate().await.unwrap()), [(1, "text", "minLength")]);
        let db = gentle::Notes::open(store.clone()).await.unwrap();
        db.notes.insert(gentle::note(3, "ab")).await.unwrap();
        behind_the_back(&store, "notes", doc! { "_id": 2 }, doc! { "$set": { "likes": "many" }, "$unset": { "text": 1 } }).await;
        let findings = db.notes.validate().await.unwrap();
        let all = [(1, "text", "minLength"), (2, "likes", "bsonType"), (2, "text", "required"), (3, "text", "minLength")];
        assert_eq!(listed_of(&findings), all);
        assert_eq!(
            findings[0].to_string(),
            "invalid document: `notes` with `_id` = 1: `text` must have at least 5 characters, and has 3"
        );
        // An audit includes it on request, and a repair leaves it.
        let unreadable = Problem::Unreadable("expected i32, found string \"many\"".into());
        let found = db.audit().await.unwrap();
        let found: Vec<_> = found.into_iter().map(|of| (of.id, of.path, of.problem)).collect();
        assert_eq!(found, [(2.into(), "likes".into(), unreadable)]);
        assert_eq!(db.audit().with_validation().await.unwrap(), findings);
        assert_eq!(db.repair().with_validation().await.unwrap(), findings);
        // The refused update has written nothing.
        assert_eq!(db.notes.get(1).await.unwrap().text, "abc");
        let db = off::Notes::open(store).await.unwrap();
        assert_eq!(db.notes.validate().await.unwrap(), []);
    }

    async fn validate_streams_its_findings_with_progress_and_can_be_resumed(store: AnyStore) {
        let db = old::Notes::open(store.clone()).await.unwrap();
        db.notes.insert_many((0..500).map(|id| old::note(id, "abc"))).await.unwrap();
        let db = warning::Notes::open(store).await.unwrap();
        let mut findings = db.notes.validate();
        for id in 0..300 {
            assert_eq!(findings.try_next().await.unwrap().unwrap().id, id.into());
        }
        let progress = findings.progress().clone();
        assert_eq!((progress.checked, progress.total), (400, 500));
        let rest = db.notes.validate().resume(&progress.position.unwrap()).await.unwrap();
        assert_eq!(rest.len(), 300);
        assert_eq!(rest[0].id, 200.into());
    }

    async fn off_validates_nothing(store: AnyStore) {
        older(&store).await;
        let db = off::Notes::open(store).await.unwrap();
        db.notes.insert(off::note(3, "")).await.unwrap();
        db.notes.update(2).raw(doc! { "$set": { "text": 7 } }).await.unwrap();
    }

    async fn two_databases_on_one_collection_both_validate(store: AnyStore) {
        let db = old::Notes::open(store.clone()).await.unwrap();
        db.notes.insert(old::note(1, "a rather long text")).await.unwrap();
        let other = beside::Notes::open(store.clone()).await.unwrap();
        let error = db.notes.insert(old::note(2, "a rather long text")).await.unwrap_err();
        assert_eq!(violated(&error), listed([("text", "maxLength")]));
        other.notes.insert(beside::note(2, "short")).await.unwrap();
        // The newest version of a database is the one in force.
        let db = strict::Notes::open(store).await.unwrap();
        assert!(other.notes.insert(beside::note(3, "abc")).await.unwrap_err().is_invalid());
        db.notes.insert(strict::note(3, "abcdef")).await.unwrap();
    }
}

#[test]
fn a_warning_names_the_document_and_what_it_violates_and_the_write_is_stored() {
    // Statements are validated by the store, on a thread of its own.
    let warnings = Warnings::begin();
    tests::in_memory(async |store| {
        older(&store).await;
        let db = warning::Notes::open(store).await.unwrap();
        db.notes.insert(warning::note(3, "ab")).await.unwrap();
        db.notes.update(1).inc(warning::Note::fields().likes, 1).await.unwrap();
        assert_eq!(db.notes.get(3).await.unwrap().text, "ab");
    });
    tests::in_memory(async |store| {
        older(&store).await;
        let db = gentle::Notes::open(store).await.unwrap();
        db.notes.update(1).inc(gentle::Note::fields().likes, 1).await.unwrap();
        db.notes.insert(gentle::note(4, "ab")).await.unwrap();
    });
    let seen = warnings.with("invalid document");
    assert_eq!(seen.len(), 3, "{seen:?}");
    for (text, id) in seen.iter().zip(["3", "1", "4"]) {
        assert!(text.contains("collection=\"notes\""), "{text}");
        assert!(text.contains(&format!("id=\"{id}\"")), "{text}");
        assert!(text.contains("`text` must have at least 5 characters"), "{text}");
    }
}
