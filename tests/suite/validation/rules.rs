//! Each rule of `#[validate(..)]`, and where it is found.

use super::*;
use odm::bson::doc;
use tests::{TestStore, on_every_store};

on_every_store! {
    async fn a_document_that_follows_all_rules_is_stored(store: impl TestStore) {
        let db = Parts::open(store).await.unwrap();
        let mut whole = part(1);
        whole.size = Some("large".into());
        whole.lines.push(Line { text: "short".into(), number: 4 });
        db.parts.insert(whole).await.unwrap();
        assert_eq!(db.parts.get(1).await.unwrap().lines.len(), 1);
    }

    async fn every_failing_path_and_rule_is_named(store: impl TestStore) {
        let db = Parts::open(store).await.unwrap();
        let wrong = Part {
            id: 1,
            name: "x".into(),
            quantity: -1,
            size: Some("medium".into()),
            slug: "Grommet".into(),
            tags: vec!["a".into(), "a".into(), "b".into(), "c".into()],
            price: 0.25,
            lines: vec![
                Line { text: "fits".into(), number: 2 },
                Line { text: "too long".into(), number: 3 },
            ],
            version: 0,
        };
        let error = db.parts.insert(wrong).await.unwrap_err();
        let mut violations = violated(&error);
        violations.sort();
        assert_eq!(violations, listed([
            ("lines.1.text", "maxLength"),
            ("name", "minLength"),
            ("price", "multipleOf"),
            ("quantity", "minimum"),
            ("size", "enum"),
            ("slugName", "pattern"),
            ("tags", "maxItems"),
            ("tags", "uniqueItems"),
        ]));
        let location = error.location().unwrap();
        assert_eq!(location.collection, "parts");
        assert_eq!(location.id, Some(odm::bson::RawBson::Int32(1)));
        assert!(error.to_string().contains("`parts` with `_id` = 1: `name` must"), "{error}");
        assert_eq!(db.parts.all().count().await.unwrap(), 0);
    }

    async fn the_bounds_belong_to_the_range_unless_they_are_exclusive(store: impl TestStore) {
        let db = Parts::open(store).await.unwrap();
        for (version, quantity) in [(0, 0), (1, 1000)] {
            db.parts.upsert(Part { quantity, version, ..part(1) }).await.unwrap();
        }
        let quantity = Part::fields().quantity;
        for quantity_of in [-1, 1001] {
            let error = db.parts.update(1).set(quantity, quantity_of).await.unwrap_err();
            assert_eq!(violated(&error)[0].0, "quantity");
        }
        let error = db.parts.update(1).set(Part::fields().price, 0.0).await.unwrap_err();
        assert_eq!(violated(&error), listed([("price", "minimum")]));
    }

    async fn a_function_checks_values_in_lists(store: impl TestStore) {
        let db = Parts::open(store).await.unwrap();
        let lines = vec![Line { text: "a".into(), number: 2 }, Line { text: "b".into(), number: 3 }];
        let error = db.parts.insert(Part { lines, ..part(1) }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("lines.1.number", "with")]));
        assert_eq!(error.violations()[0].message, "must be even, and is 3");
        assert!(error.to_string().ends_with("`lines.1.number` must be even, and is 3"), "{error}");
        // By a raw update too.
        db.parts.insert(part(1)).await.unwrap();
        let line = doc! { "text": "c", "number": 5_i64 };
        let error = db.parts.update(1).raw(doc! { "$push": { "lines": line } }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("lines.0.number", "with")]));
        assert_eq!(db.parts.get(1).await.unwrap(), Part { version: 1, ..part(1) });
    }

    async fn a_function_that_panics_fails_its_write_alone(store: impl TestStore) {
        let db = Parts::open(store).await.unwrap();
        let lines = vec![Line { text: "a".into(), number: 13 }];
        let error = db.parts.insert(Part { lines, ..part(1) }).await.unwrap_err();
        assert!(error.to_string().contains("thirteen"), "{error}");
        assert_eq!(db.parts.all().count().await.unwrap(), 0);
        db.parts.insert(part(2)).await.unwrap();
    }
}
