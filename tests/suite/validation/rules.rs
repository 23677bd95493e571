//! Each rule of `#[validate(..)]`, and its places.

use std::collections::BTreeMap;

use super::*;
use odm::bson::doc;
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    lines: BTreeMap<String, Line>,
    #[embed]
    outside: Outside,
    #[embed]
    inside: Inside,
    #[embed]
    beside: Beside,
    #[embed]
    around: Outside,
    #[split(collection = "place_details", key = "place")]
    detail: Cold<Detail>,
}

/// It has a field with the name of the key, in an embedded value, and refuses unknown fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(deny_unknown_fields)]
struct Detail {
    #[validate(with = even)]
    height: i64,
    #[embed]
    line: Line,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Outside {
    Circle {
        #[validate(with = even)]
        radius: i64,
        #[embed]
        center: Line,
    },
    Line(#[embed] Line),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Inside {
    Circle {
        #[validate(with = even)]
        radius: i64,
        #[embed]
        center: Line,
    },
    Point,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind", content = "content")]
enum Beside {
    Circle {
        #[validate(with = even)]
        radius: i64,
        #[embed]
        center: Line,
    },
    Point,
}

#[derive(Database)]
#[database(name = "places", version = 1)]
struct Places {
    places: Repository<Place>,
}

fn line(number: i64) -> Line {
    Line { text: "a".into(), number }
}

/// A place with this number wherever a function checks one, except in its cold part.
fn place(number: i64) -> Place {
    let center = line(number);
    Place {
        id: 2,
        lines: [("de".to_owned(), line(number))].into(),
        outside: Outside::Circle { radius: number, center: center.clone() },
        inside: Inside::Circle { radius: number, center: center.clone() },
        beside: Beside::Circle { radius: number, center: center.clone() },
        around: Outside::Line(center),
        detail: Cold::new(Detail { height: 2, line: line(2) }),
    }
}

on_every_store! {
    async fn a_document_that_follows_all_rules_is_stored(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        let mut whole = part(1);
        whole.size = Some("large".into());
        whole.lines.push(Line { text: "short".into(), number: 4 });
        db.parts.insert(whole).await.unwrap();
        assert_eq!(db.parts.get(1).await.unwrap().lines.len(), 1);
    }

    async fn every_failing_path_and_rule_is_named(store: AnyStore) {
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

    async fn the_bounds_belong_to_the_range_unless_they_are_exclusive(store: AnyStore) {
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

    async fn a_function_checks_values_in_lists(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        let lines = vec![Line { text: "a".into(), number: 2 }, Line { text: "b".into(), number: 3 }];
        let error = db.parts.insert(Part { lines, ..part(1) }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("lines.1.number", "with")]));
        assert_eq!(error.violations()[0].message, "must be even, and is 3");
        assert!(error.to_string().ends_with("`lines.1.number` must be even, and is 3"), "{error}");
        // A raw update is checked, too.
        db.parts.insert(part(1)).await.unwrap();
        let line = doc! { "text": "c", "number": 5_i64 };
        let error = db.parts.update(1).raw(doc! { "$push": { "lines": line } }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("lines.0.number", "with")]));
        assert_eq!(db.parts.get(1).await.unwrap(), Part { version: 1, ..part(1) });
    }

    async fn functions_check_cold_parts_maps_and_all_forms_of_variants(store: AnyStore) {
        let db = Places::open(store).await.unwrap();
        db.places.insert(place(2)).await.unwrap();
        let error = db.places.insert(Place { id: 2, ..place(3) }).await.unwrap_err();
        // The document first, and its cold part once that conforms.
        assert_eq!(violated(&error), listed([
            ("lines.de.number", "with"),
            ("outside.Circle.radius", "with"),
            ("outside.Circle.center.number", "with"),
            ("inside.radius", "with"),
            ("inside.center.number", "with"),
            ("beside.content.radius", "with"),
            ("beside.content.center.number", "with"),
            ("around.Line.number", "with"),
        ]));
        let detail = Place::fields().detail;
        let error = db.places.update(2).set(detail.height, 3).await.unwrap_err();
        assert_eq!(violated(&error), listed([("height", "with")]));
        assert_eq!(error.location().unwrap().collection, "place_details");
        let cold = Cold::new(Detail { height: 5, line: line(5) });
        let error = db.places.replace(Place { detail: cold, ..place(2) }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("height", "with"), ("line.number", "with")]));
        db.places.update(2).set(detail.height, 8).await.unwrap();
        assert_eq!(db.places.validate().await.unwrap(), []);
    }

    async fn a_function_that_panics_fails_its_write_alone(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        let lines = vec![Line { text: "a".into(), number: 13 }];
        let error = db.parts.insert(Part { lines, ..part(1) }).await.unwrap_err();
        assert!(error.to_string().contains("thirteen"), "{error}");
        assert_eq!(db.parts.all().count().await.unwrap(), 0);
        db.parts.insert(part(2)).await.unwrap();
    }
}
