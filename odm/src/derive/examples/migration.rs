//! Runs the steps of an example on one document.

use std::cell::RefCell;

use odm::{Embedded, bson, migration::Migrations, prelude::*};
use serde::{Deserialize, Serialize};

use super::run_async;

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct AnyPart {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "archive")]
struct Archived {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Before {
    parts: Repository<AnyPart>,
    archive: Repository<Archived>,
}

#[derive(Database)]
#[database(name = "shop", version = 3, migrations = steps)]
struct After {
    parts: Repository<AnyPart>,
    archive: Repository<Archived>,
}

thread_local! {
    static STEPS: RefCell<Migrations> = RefCell::new(Migrations::new());
}

/// The steps of the example that runs on this thread.
fn steps() -> Migrations {
    STEPS.with_borrow(Clone::clone)
}

/// Asserts the result of steps for a document of `parts`.
pub fn migrated(before: bson::Document, steps: Migrations, after: bson::Document) {
    migrated_of("parts", before, steps, Some(after));
}

/// Asserts the result of steps for a document of `parts` or `archive`, which is in `parts` then, or nowhere.
pub fn migrated_of(
    collection: &str,
    before: bson::Document,
    steps: Migrations,
    after: Option<bson::Document>,
) {
    STEPS.set(steps);
    run_async(async {
        let store = Embedded::memory().await?;
        let shop = Before::open(store.clone()).await?;
        let before = bson::RawDocumentBuf::try_from(&before).expect("it is well-formed");
        match collection {
            "archive" => shop.archive.raw().insert(before).await?,
            _ => shop.parts.raw().insert(before).await?,
        };
        let shop = After::open(store).await?;
        let found = shop.parts.raw().all().first().await?;
        let found =
            found.map(|found| bson::Document::try_from(&*found).expect("it is well-formed"));
        assert_eq!(found, after);
        assert_eq!(shop.archive.all().count().await?, 0);
        Ok(())
    });
}
