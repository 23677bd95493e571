//! Values that BSON does not have are refused, by the name of their field, and a schema describes the values that a type can read.

use std::{
    num::{NonZeroI8, NonZeroU32},
    sync::Arc,
    time::{Duration, SystemTime},
};

use odm::{bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "limits")]
struct Limits {
    #[serde(rename = "_id")]
    id: i64,
    long: u64,
    size: Option<u64>,
    text: Arc<str>,
    signed: NonZeroI8,
    unsigned: NonZeroU32,
    duration: Duration,
    time: SystemTime,
}

#[derive(Database)]
#[database(name = "limits", version = 1)]
struct All {
    limits: Repository<Limits>,
}

fn limits() -> Limits {
    Limits {
        id: 1,
        long: i64::MAX as u64,
        size: None,
        text: "text".into(),
        signed: NonZeroI8::MIN,
        unsigned: NonZeroU32::MAX,
        duration: Duration::new(3, 5),
        time: SystemTime::UNIX_EPOCH,
    }
}

/// The path that an error of the kind `Encode` names.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: odm::Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), odm::ErrorKind::Encode, "{error}");
    let location = error.location().expect("the error has a location");
    location.path.clone().expect("the error names the field")
}

on_every_store! {
    async fn a_value_that_bson_has_not_is_refused_by_its_name(store: AnyStore) {
        let db = All::open(store).await.unwrap();
        let (repository, fields) = (&db.limits, Limits::fields());
        let above = i64::MAX as u64 + 1;
        let large = Limits { long: above, ..limits() };
        assert_eq!(refused(repository.insert(large.clone()).await), "long");
        let long = Limits { duration: Duration::from_secs(above), ..limits() };
        assert_eq!(refused(repository.insert(long).await), "duration.secs");
        let stored = repository.insert(limits()).await.unwrap();
        assert_eq!(stored, limits());
        assert_eq!(refused(repository.replace(large).await), "long");
        assert_eq!(refused(repository.update(1).set(fields.size, above).await), "size");
        assert_eq!(refused(repository.find(fields.size.gt(above)).await), "size");
        assert_eq!(refused(repository.find(fields.long.in_([1, above])).await), "long");
        assert_eq!(repository.get(1).await.unwrap(), limits());
    }

    async fn what_a_type_cannot_read_is_not_stored(store: AnyStore) {
        let db = All::open(store).await.unwrap();
        db.limits.insert(limits()).await.unwrap();
        for wrong in [
            doc! { "long": -1 },
            doc! { "text": 1 },
            doc! { "signed": 0 },
            doc! { "signed": 128 },
            doc! { "unsigned": 0_i64 },
            doc! { "unsigned": 1_i64 << 32 },
            doc! { "duration": 1 },
            doc! { "duration.secs": -1 },
            doc! { "duration.nanos": 1_000_000_000 },
            doc! { "duration.more": 1 },
            doc! { "time": { "secs_since_epoch": 1 } },
        ] {
            let update = db.limits.update(1).raw(doc! { "$set": wrong.clone() });
            let error = update.await.expect_err(&format!("{wrong}"));
            assert!(error.is_invalid(), "{wrong}: {error}");
        }
        let right = doc! { "signed": 127, "unsigned": 1, "duration": { "secs": 0, "nanos": 0 } };
        db.limits.update(1).raw(doc! { "$set": right }).await.unwrap();
        assert_eq!(db.limits.get(1).await.unwrap().signed, NonZeroI8::MAX);
    }

    async fn a_shared_text_is_a_text(store: AnyStore) {
        let db = All::open(store).await.unwrap();
        db.limits.insert(limits()).await.unwrap();
        let text = Limits::fields().text;
        let owned = "text".to_owned();
        for filter in [
            text.eq("text"),
            text.eq(&owned),
            text.starts_with("te"),
            text.contains("ex"),
            text.regex("x.$"),
        ] {
            assert_eq!(db.limits.find(filter.clone()).count().await.unwrap(), 1, "{filter:?}");
        }
        db.limits.update(1).set(text, "another").await.unwrap();
        assert_eq!(&*db.limits.get(1).await.unwrap().text, "another");
    }
}
