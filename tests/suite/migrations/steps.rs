//! The effect of each step on documents, and refused steps.

use std::{
    error::Error as _,
    sync::{Arc, Mutex},
};

use odm::{
    ErrorKind, OpenOptions,
    bson::{self, Bson, Document as Bsons, doc},
    migration::{Migrations, Step},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{
    TestStore, behind_the_back, insert_behind_the_back, on_embedded_stores, on_every_store,
    poll_once,
};

use crate::migrations::stored;

/// Models with few fields, so that a step can be tried on any documents.
mod any {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "things")]
    pub(super) struct Thing {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(super) a: Option<Bson>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "others")]
    pub(super) struct Other {
        #[serde(rename = "_id")]
        pub(super) id: i64,
    }

    #[derive(Database)]
    #[database(name = "any", version = 1)]
    pub(super) struct First {
        pub(super) things: Repository<Thing>,
        pub(super) others: Repository<Other>,
    }

    macro_rules! second {
        ($($name:ident: $steps:expr;)*) => { $(
            pub(super) mod $name {
                use super::*;

                #[derive(Database)]
                #[database(name = "any", version = 2, migrations = steps)]
                pub(crate) struct Second {
                    pub(crate) things: Repository<Thing>,
                    pub(crate) others: Repository<Other>,
                }

                fn steps() -> Migrations {
                    Migrations::new().to(2, $steps)
                }
            }
        )* };
    }

    second! {
        renamed: [
            Step::rename("things", "a", "b"),
            Step::rename("things", "lines.title", "lines.name"),
            Step::rename("things", "prices.*.amount", "prices.*.cents"),
        ];
        changed: [
            Step::change("things", "a", |old: f64| (old * 100.0) as i64),
            Step::change("things", "lines.n", |old: Option<i32>| old.unwrap_or(7).to_string()),
            Step::change("things", "prices.*", |old: Bson| vec![old]),
        ];
        added: [Step::add("things", "a", "new"), Step::add("things", "lines.n", 0)];
        dated: [
            Step::add("things", "made", DateTime::from_millis(5)),
            Step::add("things", "by", Ref::<Other>::new(7)),
            Step::add("things", "key", ObjectId::from_bytes([1; 12])),
            Step::change("things", "seen", |old: DateTime| vec![old]),
            Step::change("things", "was", |old: (ObjectId, Option<DateTime>)| old),
        ];
        removed: [Step::remove("things", "a"), Step::remove("things", "lines.n")];
        mapped: [Step::map("things", |mut old: Bsons| {
            let sum = old.get_i32("a").unwrap_or(0) + old.get_i32("b").unwrap_or(0);
            old.insert("sum", sum);
            old
        })];
        moved: [
            Step::move_documents("things", "others", doc! { "a": { "$gte": 2 } }),
            Step::add("others", "was", "thing"),
        ];
        dropped: [Step::drop_collection("things")];
        failing: [Step::try_map("things", |mut old: Bsons| {
            let number = old.get_i32("number").unwrap_or_default();
            if old["_id"] == Bson::Int64(600) && !old.contains_key("corrected") {
                return Err("six hundred");
            }
            old.insert("number", number + 1);
            Ok(old)
        })];
        panicking: [Step::change("things", "a", |old: i32| 100 / old)];
        panicking_lines: [
            Step::remove("things", "z"),
            Step::change("things", "lines.n", |old: i32| 100 / old),
        ];
        other_id: [Step::map("things", |old: Bsons| doc! { "_id": 1000, "old": old })];
        identified: [Step::change("things", "_id", |old: i64| old.to_string())];
        elsewhere: [Step::rename("things", "a", "b.c")];
        without_name: [Step::remove("things", "a..b")];
        unparsed: [Step::move_documents("things", "others", doc! { "a": { "$no": 1 } })];
        uncold: [Step::inline("things", "a")];
    }

    #[derive(Database)]
    #[database(name = "any", version = 1, migrations = early)]
    pub(super) struct Early {
        pub(super) things: Repository<Thing>,
        pub(super) others: Repository<Other>,
    }

    fn early() -> Migrations {
        Migrations::new().to(2, [Step::drop_collection("things")])
    }

    /// Declares a field of things of its own.
    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "things")]
    pub(super) struct Counted {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) a: Option<i32>,
    }

    #[derive(Database)]
    #[database(name = "counting", version = 1)]
    pub(super) struct Counting {
        pub(super) things: Repository<Counted>,
    }
}

async fn with_things(store: &impl TestStore, things: Vec<Bsons>) {
    any::First::open(store.clone()).await.unwrap();
    for thing in things {
        insert_behind_the_back(store, "things", thing).await;
    }
}

/// Migrates these documents, and returns them.
macro_rules! migrated {
    ($store:ident, $steps:ident, [$($document:tt),* $(,)?]) => {{
        with_things(&$store, vec![$(doc! $document),*]).await;
        any::$steps::Second::open($store.clone()).await.unwrap();
        stored(&$store, "things").await
    }};
}

/// The error of a migration of these documents.
macro_rules! refused {
    ($store:ident, $steps:ident, [$($document:tt),* $(,)?]) => {{
        with_things(&$store, vec![$(doc! $document),*]).await;
        any::$steps::Second::open($store.clone()).await.map(drop).unwrap_err()
    }};
}

on_every_store! {
    async fn a_field_is_renamed_where_it_is_and_keeps_its_place(store: AnyStore) {
        let after = migrated!(store, renamed, [
            { "_id": 1_i64, "a": 1, "z": 2 },
            { "_id": 2_i64, "z": 2 },
            { "_id": 3_i64, "lines": [{ "title": "x" }, { "n": 1 }, 5], "prices": { "eur": { "amount": 1 } } },
        ]);
        let expected = [
            doc! { "_id": 1_i64, "b": 1, "z": 2 },
            doc! { "_id": 2_i64, "z": 2 },
            doc! { "_id": 3_i64, "lines": [{ "name": "x" }, { "n": 1 }, 5], "prices": { "eur": { "cents": 1 } } },
        ];
        assert_eq!(after, expected);
        let raw = tests::stored(&store, "things").await;
        let names: Vec<&str> = raw[0].iter().map(|field| field.unwrap().0.as_str()).collect();
        assert_eq!(names, ["_id", "b", "z"]);
    }

    async fn values_are_changed_once_each_and_missing_ones_stay_missing(store: AnyStore) {
        let after = migrated!(store, changed, [
            { "_id": 1_i64, "a": 1.25 },
            { "_id": 2_i64, "lines": [{ "n": 1 }, { "n": Bson::Null }, {}] },
            { "_id": 3_i64, "prices": { "eur": 1, "usd": "2" } },
        ]);
        let expected = [
            doc! { "_id": 1_i64, "a": 125_i64 },
            doc! { "_id": 2_i64, "lines": [{ "n": "1" }, { "n": "7" }, {}] },
            doc! { "_id": 3_i64, "prices": { "eur": [1], "usd": ["2"] } },
        ];
        assert_eq!(after, expected);
        // A second open runs no step again.
        any::changed::Second::open(store.clone()).await.unwrap();
        assert_eq!(stored(&store, "things").await, expected);
    }

    async fn a_field_is_added_where_it_is_missing(store: AnyStore) {
        let after = migrated!(store, added, [
            { "_id": 1_i64 },
            { "_id": 2_i64, "a": Bson::Null, "lines": [{}, { "n": 3 }] },
        ]);
        let expected = [
            doc! { "_id": 1_i64, "a": "new" },
            doc! { "_id": 2_i64, "a": Bson::Null, "lines": [{ "n": 0 }, { "n": 3 }] },
        ];
        assert_eq!(after, expected);
    }

    async fn ids_and_dates_stay_what_they_are(store: AnyStore) {
        let date = |millis| bson::DateTime::from_millis(millis);
        let key = bson::oid::ObjectId::from_bytes([1; 12]);
        let after = migrated!(store, dated, [
            { "_id": 1_i64, "seen": date(i64::MAX / 2), "was": [key, date(-1)] },
        ]);
        let expected = doc! {
            "_id": 1_i64, "seen": [date(i64::MAX / 2)], "was": [key, date(-1)],
            "by": 7_i64, "key": key, "made": date(5),
        };
        let [mut after] = after.try_into().unwrap();
        for (name, value) in expected {
            assert_eq!(after.remove(&name), Some(value), "{name}");
        }
        assert_eq!(after, doc! {});
    }

    async fn a_field_is_removed(store: AnyStore) {
        let after = migrated!(store, removed, [
            { "_id": 1_i64, "a": 1, "b": 2 },
            { "_id": 2_i64, "lines": [{ "n": 3, "m": 4 }] },
        ]);
        let expected = [doc! { "_id": 1_i64, "b": 2 }, doc! { "_id": 2_i64, "lines": [{ "m": 4 }] }];
        assert_eq!(after, expected);
    }

    async fn whole_documents_are_changed_by_a_function(store: AnyStore) {
        let after = migrated!(store, mapped, [{ "_id": 1_i64, "a": 1, "b": 2 }]);
        assert_eq!(after, [doc! { "_id": 1_i64, "a": 1, "b": 2, "sum": 3 }]);
    }

    async fn documents_that_match_are_moved(store: AnyStore) {
        let after = migrated!(store, moved, [
            { "_id": 1_i64, "a": 1 }, { "_id": 2_i64, "a": 2 }, { "_id": 3_i64, "a": 3 },
        ]);
        assert_eq!(after, [doc! { "_id": 1_i64, "a": 1 }]);
        let others = [
            doc! { "_id": 2_i64, "a": 2, "was": "thing" },
            doc! { "_id": 3_i64, "a": 3, "was": "thing" },
        ];
        assert_eq!(stored(&store, "others").await, others);
    }

    async fn a_move_onto_a_document_fails_and_both_stay(store: AnyStore) {
        let first = any::First::open(store.clone()).await.unwrap();
        first.others.insert(any::Other { id: 2 }).await.unwrap();
        let error = refused!(store, moved, [{ "_id": 2_i64, "a": 2 }]);
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        assert_eq!(stored(&store, "things").await, [doc! { "_id": 2_i64, "a": 2 }]);
        assert_eq!(stored(&store, "others").await, [doc! { "_id": 2_i64 }]);
    }

    async fn all_documents_of_a_collection_are_dropped(store: AnyStore) {
        let first = any::First::open(store.clone()).await.unwrap();
        let many = (0..1_200).map(|id| any::Thing { id, a: None });
        first.things.insert_many(many).await.unwrap();
        assert!(migrated!(store, dropped, []).is_empty());
    }

    async fn a_step_that_fails_names_the_document_and_the_program_of_before_corrects_it(store: AnyStore) {
        let first = any::First::open(store.clone()).await.unwrap();
        let many = (0..1_200).map(|id| any::Thing { id, a: None });
        first.things.insert_many(many).await.unwrap();
        let error = refused!(store, failing, []);
        assert_eq!(error.kind(), ErrorKind::FailedMigration);
        let text = error.to_string();
        for part in ["change the documents of `things`", "`_id` = 600", "six hundred", "nothing has changed"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(error.source().is_some());
        let things = stored(&store, "things").await;
        assert!(things.iter().all(|thing| !thing.contains_key("number")));
        first.things.update(600).raw(doc! { "$set": { "corrected": 1 } }).await.unwrap();
        any::failing::Second::open(store.clone()).await.unwrap();
        let things = stored(&store, "things").await;
        assert_eq!(things.len(), 1_200);
        assert!(things.iter().all(|thing| thing["number"] == Bson::Int32(1)));
    }

    async fn a_field_that_another_database_declares_is_not_changed(store: AnyStore) {
        any::Counting::open(store.clone()).await.unwrap();
        let error = refused!(store, renamed, [{ "_id": 1_i64, "a": 1 }]);
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        assert!(error.to_string().contains("`things.a`, which the database counting declares"), "{error}");
    }

    async fn a_panic_in_a_function_is_an_error_that_names_the_document(store: AnyStore) {
        let error = refused!(store, panicking, [{ "_id": 1_i64, "a": 1 }, { "_id": 2_i64, "a": 0 }]);
        assert_eq!(error.kind(), ErrorKind::FailedMigration);
        assert!(error.to_string().contains("`_id` = 2: its function panicked"), "{error}");
        // The unit of both is undone.
        assert_eq!(stored(&store, "things").await[0], doc! { "_id": 1_i64, "a": 1 });
    }

    async fn a_value_of_another_type_than_the_function_reads_is_an_error(store: AnyStore) {
        let error = refused!(store, panicking, [{ "_id": 1_i64, "a": "text" }]);
        assert_eq!(error.kind(), ErrorKind::FailedMigration);
        assert!(error.to_string().contains("`_id` = 1: invalid type: string"), "{error}");
    }

    async fn a_field_with_both_names_is_an_error(store: AnyStore) {
        let error = refused!(store, renamed, [{ "_id": 1_i64, "a": 1, "b": 2 }]);
        assert!(error.to_string().contains("there is a field `b` as well"), "{error}");
        assert_eq!(stored(&store, "things").await, [doc! { "_id": 1_i64, "a": 1, "b": 2 }]);
    }

    async fn what_is_no_step_is_refused_before_anything_is_changed(store: AnyStore) {
        for (error, part) in [
            (refused!(store, identified, []), "`_id` cannot be changed"),
            (refused!(store, elsewhere, []), "renamed in its place"),
            (refused!(store, without_name, []), "a path consists of names"),
            (refused!(store, unparsed, []), "$no"),
            (any::Early::open(store.clone()).await.map(drop).unwrap_err(), "increase `version`"),
        ] {
            assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        // No migration has begun.
        any::First::open(store.clone()).await.unwrap();
    }

    async fn a_document_keeps_its_id(store: AnyStore) {
        let error = refused!(store, other_id, [{ "_id": 1_i64 }]);
        assert_eq!(error.kind(), ErrorKind::FailedMigration);
        assert!(error.to_string().contains("another `_id`"), "{error}");
    }

    async fn nothing_is_inlined_where_nothing_was_split(store: AnyStore) {
        // The version between, which has split them, was skipped.
        let after = migrated!(store, uncold, [{ "_id": 1_i64, "a": { "b": 1 } }]);
        assert_eq!(after, [doc! { "_id": 1_i64, "a": { "b": 1 } }]);
    }

    async fn progress_counts_the_documents_of_each_step(store: AnyStore) {
        let first = any::First::open(store.clone()).await.unwrap();
        let many = (0..1_200).map(|id| any::Thing { id, a: Some(1.into()) });
        first.things.insert_many(many).await.unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let report = seen.clone();
        let options = OpenOptions::default().on_progress(move |progress| {
            report.lock().unwrap().push((progress.position, progress.steps, progress.documents));
        });
        any::removed::Second::open_with(store.clone(), options).await.unwrap();
        let expected = [
            (1, 3, 500), (1, 3, 1_000), (1, 3, 1_200),
            (2, 3, 500), (2, 3, 1_000), (2, 3, 1_200),
            (3, 3, 0),
        ];
        assert_eq!(*seen.lock().unwrap(), expected);
    }

    async fn a_store_of_a_library_that_did_not_know_of_migrations_is_migrated(store: AnyStore) {
        with_things(&store, vec![doc! { "_id": 1_i64, "a": 1 }]).await;
        let unset = doc! { "$unset": { "models": "", "oldest": "", "migration": "", "unfinished": "" } };
        behind_the_back(&store, "_odm_catalog", doc! { "_id": "database any" }, unset).await;
        assert_eq!(migrated!(store, renamed, []), [doc! { "_id": 1_i64, "b": 1 }]);
    }

    async fn a_new_store_has_nothing_to_migrate(store: AnyStore) {
        let second = any::failing::Second::open(store.clone()).await.unwrap();
        second.things.insert(any::Thing { id: 600, a: None }).await.unwrap();
        any::failing::Second::open(store.clone()).await.unwrap();
        insert_behind_the_back(&store, "things", doc! { "_id": 2_i64 }).await;
        assert_eq!(stored(&store, "things").await.len(), 2);
    }
}

// Maps answer at once, so that no other write can come between.
on_embedded_stores! {
    async fn others_do_not_write_to_the_collections_while_a_migration_is_under_way(store: AnyStore) {
        let counting = any::Counting::open(store.clone()).await.unwrap();
        with_things(&store, (0..1_200).map(|id| doc! { "_id": id as i64 }).collect()).await;
        let mut opening = any::panicking_lines::Second::open(store.clone());
        let (mut refused, mut next) = (0, 2_000);
        while poll_once(&mut opening).await.is_pending() {
            let thing = any::Counted { id: next, a: None };
            next += 1;
            for written in [
                counting.things.insert(thing).await.map(drop),
                counting.things.delete(1).await.map(drop),
                counting.things.update(2).set(any::Counted::fields().a, 5).await.map(drop),
            ] {
                if let Err(error) = written.as_ref() && error.kind() == ErrorKind::Migrating {
                    assert!(error.is_retryable() && error.to_string().contains("`things`"), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 3, "{refused}");
        counting.things.insert(any::Counted { id: 1_999, a: None }).await.unwrap();
    }
}
