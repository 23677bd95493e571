//! The refusals of an import, and the lines that they name.

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

use super::models::*;

const HEAD: &str = r#"{"export":1,"database":"market","version":1,"documents":1}"#;

fn line(id: i32, rest: &str) -> String {
    format!(
        r#"{{"collection":"categories","document":{{"_id":{id},"name":"c{id}","children":0,"created_at":{{"$date":"2026-01-01T00:00:00Z"}}{rest}}}}}"#
    )
}

/// Its documents need not conform to the schema, but they must be readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "scraps", validation(level = "off"))]
struct Scrap {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
}

#[derive(Database)]
#[database(name = "scraps", version = 1)]
struct Scraps {
    scraps: Repository<Scrap>,
}

async fn refused(market: &Market, text: &str) -> odm::Error {
    market.import(text.as_bytes()).await.unwrap_err()
}

on_every_store! {
    async fn what_is_no_export_of_this_database_is_refused(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let head = |from: &str, to: &str| HEAD.replace(from, to);
        for (text, says) in [
            (String::new(), "line 0: the export is empty"),
            ("no JSON\n".to_owned(), "line 1: the line is no part of an export"),
            (line(1, ""), "line 1: the line is no part of an export: missing field `export`"),
            (head(":1,\"d", ":2,\"d"), "line 1: the format of the export is 2"),
            (head("market", "shop"), "line 1: the export is of version 1 of the database `shop`"),
            (head("version\":1", "version\":2"), "line 1: the export is of version 2"),
            (HEAD.to_owned(), "line 1: the export ends here after 0 documents, and its first line says that it has 1"),
            (format!("{HEAD}\n{{\"collection\":\"parts\",\"document\":{{}}}}"), "line 2: unknown collection: no model of the database is stored in `parts`"),
            (format!("{HEAD}\n\n{}", &line(1, "")[..30]), "line 3: the line is no part of an export: EOF"),
            (format!("{HEAD}\n{}\n{}\n", line(1, ""), line(2, "")), "line 3: the export ends here after 2"),
            (format!("{HEAD}\n{}", "[".repeat(100_000)), "line 2: the line is no part"),
        ] {
            let error = refused(&market, &text).await;
            assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
            assert!(error.to_string().starts_with(says), "{error}\n{says}");
        }
        assert_eq!(market.categories.all().count().await.unwrap(), 0);
    }

    async fn an_error_names_the_line_of_the_document_and_the_units_before_it_stay(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let good = |id: i32| line(id, ",\"revision\":4");
        for (bad, kind, says) in [
            (good(7), ErrorKind::DuplicateKey, "line 602: duplicate key"),
            (good(900).replace("c900", "c7"), ErrorKind::DuplicateKey, "line 602: duplicate key"),
            (good(900).replace("\"c900\"", "5"), ErrorKind::Invalid, "line 602: invalid document: `categories` with `_id` = 900"),
            (good(900).replace("900,", "null,"), ErrorKind::Invalid, "line 602: invalid document: `categories` with `_id` = null"),
            (line(900, ",\"parent\":1000"), ErrorKind::DanglingReference, "line 602: dangling reference: `categories.parent` = 1000 is neither imported nor stored in `categories`"),
        ] {
            let mut lines = vec![HEAD.replace("documents\":1", "documents\":700")];
            lines.extend((0..600).map(good));
            lines.push(bad);
            lines.extend((601..700).map(good));
            let error = refused(&market, &lines.join("\n")).await;
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().starts_with(says), "{error}\n{says}");
            let stored = market.categories.all().count().await.unwrap();
            let expected = match kind {
                // Only the end shows that the target is missing.
                ErrorKind::DanglingReference => 699,
                _ => 600,
            };
            assert_eq!(stored, expected, "{error}");
            assert_eq!(market.audit().await.unwrap(), []);
            market.categories.delete_where(Filter::all()).await.unwrap();
        }
    }

    async fn a_cold_part_that_its_model_cannot_read_is_refused(store: AnyStore) {
        let market = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
        market.categories.insert(category(1, None)).await.unwrap();
        market.persons.insert(person(1)).await.unwrap();
        market.items.insert(item(1, 1, None)).await.unwrap();
        let lines = exported(&market).await;
        let broken = lines.replace("\"of wood\"", "5");
        assert_ne!(broken, lines);
        let copy = Market::open(store).await.unwrap();
        let error = refused(&copy, &broken).await;
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().starts_with("line 4: "), "{error}");
        assert_eq!(copy.items.all().count().await.unwrap(), 0);
    }

    async fn a_document_that_its_model_cannot_read_is_refused_where_no_schema_is(store: AnyStore) {
        let db = Scraps::open(store).await.unwrap();
        let export = r#"{"export":1,"database":"scraps","version":1,"documents":1}
            {"collection":"scraps","document":{"_id":1,"text":5}}"#;
        let error = db.import(export.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert!(error.to_string().starts_with("line 2: "), "{error}");
        assert_eq!(db.scraps.all().count().await.unwrap(), 0);
        db.import(export.replace("5}", "\"a\"}").as_bytes()).await.unwrap();
    }

    async fn documents_that_name_each_other_are_stored_together_or_not_at_all(store: AnyStore) {
        let market = Market::open(store).await.unwrap();
        let person = |id: i32, friend: i32, name: &str| {
            format!(
                r#"{{"collection":"persons","document":{{"_id":{id},"name":{name},"tasks":[],"friends":[{friend}],"revision":1}}}}"#
            )
        };
        let head = HEAD.replace("documents\":1", "documents\":2");
        let text = format!("{head}\n{}\n{}\n", person(1, 2, "\"a\""), person(2, 1, "5"));
        let error = refused(&market, &text).await;
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with("lines 2 to 3: invalid document: `persons` with `_id` = 2"), "{error}");
        assert_eq!(market.persons.all().count().await.unwrap(), 0);
        let right = text.replace("\"name\":5", "\"name\":\"b\"");
        assert_eq!(market.import(right.as_bytes()).await.unwrap(), 2);
        assert_eq!(market.persons.get(2).await.unwrap().friends[0].id(), &1);
    }

    async fn more_that_refers_to_each_other_than_a_unit_can_store_is_a_limit(store: AnyStore) {
        drop(store);
        let store = odm::Embedded::builder().unit_limit(50).memory().await.unwrap();
        let small = Market::open(store).await.unwrap();
        let all = Market::open(odm::Embedded::memory().await.unwrap()).await.unwrap();
        all.persons.insert_many((0..60).map(person)).await.unwrap();
        for id in 1..60 {
            let friends = vec![Ref::<Person>::new(id - 1)];
            all.persons.update(id).set(Person::fields().friends, friends).await.unwrap();
        }
        let error = refused(&small, &exported(&all).await).await;
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(small.persons.all().count().await.unwrap(), 0);
    }
}
