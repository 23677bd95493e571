//! The lines of an export.

use odm::{
    Embedded, ErrorKind,
    bson::{self, Bson, Document, doc},
    prelude::*,
};
use tests::{insert_behind_the_back, on_every_store, stored};

use super::models::*;

fn all_types() -> Document {
    doc! {
        "z": 1_i32, "a": 1_i64, "double": 1.0, "negative zero": -0.0, "small": 5e-324, "large": 1.7e308,
        "third": 1.0 / 3.0, "nan": f64::NAN, "infinite": [f64::INFINITY, f64::NEG_INFINITY],
        "text": "a \"quoted\"\n\u{1} ü 🦀 text", "nothing": null, "yes": true,
        "id": bson::oid::ObjectId::from_bytes([7; 12]),
        "date": bson::DateTime::from_millis(-1), "far": bson::DateTime::from_millis(i64::MAX),
        "decimal": "1.10E+30".parse::<bson::Decimal128>().unwrap(),
        "bytes": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] },
        "uuid": bson::Uuid::from_bytes([3; 16]),
        "timestamp": bson::Timestamp { time: 4, increment: 2 },
        "pattern": bson::Regex { pattern: bson::cstr!("a/b").into(), options: bson::cstr!("im").into() },
        "code": Bson::JavaScriptCode("f()".into()), "symbol": Bson::Symbol("s".into()),
        "scoped": bson::JavaScriptCodeWithScope { code: "f()".into(), scope: doc! { "y": 1, "x": 2_i64 } },
        "undefined": Bson::Undefined, "least": Bson::MinKey, "greatest": Bson::MaxKey,
        "list": [[], {}, [{ "q": 1, "b": [2_i64] }]], "": "no name", "$price": 3,
    }
}

on_every_store! {
    async fn all_types_of_values_are_read_back_as_they_were(store: AnyStore) {
        let things = Things::open(store.clone()).await.unwrap();
        insert_behind_the_back(&store, "anything", doc! { "_id": 1, "value": all_types() }).await;
        let mut lines = Vec::new();
        assert_eq!(things.export(&mut lines).await.unwrap(), 1);
        let other = Embedded::memory().await.unwrap();
        let copy = Things::open(other.clone()).await.unwrap();
        assert_eq!(copy.import(&lines[..]).await.unwrap(), 1);
        assert_eq!(stored(&other, "anything").await, stored(&store, "anything").await);
    }

    async fn what_json_would_not_give_back_is_no_export(store: AnyStore) {
        let mut deep = doc! {};
        for _ in 0..150 {
            deep = doc! { "a": deep };
        }
        let things = Things::open(store.clone()).await.unwrap();
        for value in [doc! { "a": [{ "$date": "today" }] }, deep] {
            insert_behind_the_back(&store, "anything", doc! { "_id": 1, "value": value }).await;
            let error = things.export(Vec::new()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
            assert!(error.to_string().contains("`anything` with `_id` = 1"), "{error}");
            things.anything.delete(1).await.unwrap();
        }
    }

    async fn a_line_is_a_document_with_its_collection_after_those_that_it_refers_to(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        market.categories.insert(category(5, None)).await.unwrap();
        market.categories.insert(category(1, Some(5))).await.unwrap();
        market.persons.insert(person(1)).await.unwrap();
        market.tasks.insert(task(1, Some(1))).await.unwrap();
        let lines = exported(&market).await;
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(
            lines[0],
            r#"{"export":1,"database":"market","version":1,"documents":4,"sequences":{}}"#
        );
        let starts = lines[1..].iter().map(|line| line.split(",\"name\"").next().unwrap());
        let starts: Vec<&str> = starts.map(|line| line.split(",\"text\"").next().unwrap()).collect();
        assert_eq!(
            starts,
            [
                r#"{"collection":"categories","document":{"_id":{"$numberInt":"5"}"#,
                r#"{"collection":"categories","document":{"_id":{"$numberInt":"1"}"#,
                r#"{"collection":"tasks","document":{"_id":{"$oid":"010000000000000000000000"}"#,
                r#"{"collection":"persons","document":{"_id":{"$numberInt":"1"}"#,
            ]
        );
    }

    async fn an_export_is_of_the_state_that_it_began_with(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        // Several portions of lines.
        let long = |id| Category { name: format!("category {id} {}", "x".repeat(1_000)), ..category(id, None) };
        market.categories.insert_many((0..3_000).map(long)).await.unwrap();
        let (mut reader, writer) = narrow_pipe();
        let export = market.export(writer);
        let read = async {
            use tokio::io::AsyncReadExt;
            let mut lines = vec![0; 1];
            reader.read_exact(&mut lines).await.unwrap();
            // The export has begun, and waits for its reader.
            market.categories.delete(2_999).await.unwrap();
            market.categories.insert(long(9_999)).await.unwrap();
            reader.read_to_end(&mut lines).await.unwrap();
            String::from_utf8(lines).unwrap()
        };
        let (written, lines) = tokio::join!(async { export.await }, read);
        assert_eq!(written.unwrap(), 3_000);
        assert_eq!(lines.lines().count(), 3_001);
        assert!(lines.contains("category 2999 ") && !lines.contains("category 9999 "));
    }

    async fn what_fails_to_be_written_is_an_error(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let (reader, writer) = narrow_pipe();
        drop(reader);
        let error = market.export(writer).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}

/// The two ends of a pipe with a small buffer.
fn narrow_pipe() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) {
    tokio::io::duplex(64)
}
