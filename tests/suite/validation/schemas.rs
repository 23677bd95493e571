//! The schemas of types.

use std::collections::BTreeMap;

use super::*;
use odm::bson::{self, Bson, doc};
use tests::on_every_store;

/// One field of each kind of type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: ObjectId,
    byte: u8,
    long: i64,
    float: f64,
    flag: bool,
    letter: char,
    when: DateTime,
    decimal: bson::Decimal128,
    uuid: bson::Uuid,
    any: Bson,
    object: bson::Document,
    maybe: Option<String>,
    #[serde(default)]
    defaulted: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<i32>,
    pair: (i32, String),
    triple: [i32; 3],
    map: BTreeMap<String, i32>,
    #[embed]
    shape: Shape,
    #[embed]
    tagged: Tagged,
    #[embed]
    adjacent: Adjacent,
    #[embed]
    untagged: Untagged,
    #[embed]
    tree: Tree,
    #[reference(child)]
    other: Option<Ref<Thing>>,
    #[embed]
    #[serde(flatten)]
    flat: Flat,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Shape {
    Point,
    Circle(i32),
    Rect { width: i32, height: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Nothing,
    OneText { text: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A,
    B(i32),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Untagged {
    Number(i32),
    Named { name: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Tree {
    label: String,
    #[embed]
    branches: Vec<Tree>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Flat {
    width: i32,
}

#[derive(Database)]
#[database(name = "things", version = 1)]
struct Things {
    things: Repository<Thing>,
}

fn thing() -> Thing {
    Thing {
        id: ObjectId::new(),
        byte: 255,
        long: i64::MIN,
        float: f64::NAN,
        flag: true,
        letter: 'ß',
        when: DateTime::now(),
        decimal: "1.5".parse().unwrap(),
        uuid: bson::Uuid::new(),
        any: Bson::Null,
        object: doc! { "a": 1 },
        maybe: None,
        defaulted: 1,
        skipped: None,
        pair: (1, "a".into()),
        triple: [1, 2, 3],
        map: [("a".to_owned(), 1)].into(),
        shape: Shape::Point,
        tagged: Tagged::Nothing,
        adjacent: Adjacent::A,
        untagged: Untagged::Number(1),
        tree: Tree {
            label: "root".into(),
            branches: vec![Tree { label: "leaf".into(), branches: vec![] }],
        },
        other: None,
        flat: Flat { width: 3 },
    }
}

#[test]
fn a_schema_says_what_the_type_can_read() {
    let schema = Thing::json_schema();
    let properties = schema.get_document("properties").unwrap();
    let of = |name: &str| properties.get_document(name).unwrap().clone();
    assert_eq!(of("_id"), doc! { "bsonType": "objectId" });
    assert_eq!(
        of("byte"),
        doc! { "bsonType": ["int", "long"], "minimum": 0_i64, "maximum": 255_i64 }
    );
    assert_eq!(of("float"), doc! { "bsonType": ["double", "int", "long"] });
    assert_eq!(of("maybe"), doc! { "bsonType": ["string", "null"] });
    assert_eq!(of("when"), doc! { "bsonType": "date" });
    assert_eq!(of("any"), doc! {});
    assert_eq!(of("other"), doc! { "bsonType": ["objectId", "null"] });
    assert_eq!(
        of("map").get_document("additionalProperties").unwrap().get_i64("minimum").unwrap(),
        i64::from(i32::MIN)
    );
    assert_eq!(of("triple").get_i64("maxItems").unwrap(), 3);
    assert_eq!(
        of("adjacent").get_array("anyOf").unwrap()[0],
        Bson::from(doc! {
            "bsonType": "object",
            "required": ["t"],
            "properties": { "t": { "enum": ["A"] } },
        })
    );
    let tree = of("tree");
    let branches = tree.get_document("properties").unwrap().get_document("branches").unwrap();
    assert_eq!(*branches, doc! { "bsonType": "array", "items": { "bsonType": "object" } });
    let required: Vec<&str> =
        schema.get_array("required").unwrap().iter().filter_map(Bson::as_str).collect();
    for name in ["byte", "letter", "pair", "shape", "tree"] {
        assert!(required.contains(&name), "{name}");
    }
    for name in ["_id", "maybe", "defaulted", "skipped", "other", "width"] {
        assert!(!required.contains(&name), "{name}");
    }
}

on_every_store! {
    async fn each_value_that_the_type_has_conforms(store: AnyStore) {
        let db = Things::open(store).await.unwrap();
        let first = db.things.insert(thing()).await.unwrap();
        let variants = [
            Thing { shape: Shape::Circle(3), ..thing() },
            Thing { shape: Shape::Rect { width: 1, height: 2 }, ..thing() },
            Thing { tagged: Tagged::OneText { text: "a".into() }, ..thing() },
            Thing { adjacent: Adjacent::B(1), ..thing() },
            Thing { untagged: Untagged::Named { name: "a".into() }, ..thing() },
            Thing { maybe: Some("a".into()), skipped: Some(1), ..thing() },
            Thing { other: Some(Ref::from(&first)), ..thing() },
        ];
        for variant in variants {
            let text = format!("{variant:?}");
            db.things.insert(variant).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    async fn what_the_type_cannot_read_does_not_conform(store: AnyStore) {
        let db = Things::open(store).await.unwrap();
        let first = db.things.insert(thing()).await.unwrap();
        for wrong in [
            doc! { "byte": 256 },
            doc! { "letter": 1 },
            doc! { "when": "2020-01-01" },
            doc! { "pair": [1] },
            doc! { "pair": ["a", 1] },
            doc! { "triple": [1, 2] },
            doc! { "map.b": "x" },
            doc! { "shape": "Square" },
            doc! { "shape": { "Circle": "x" } },
            doc! { "tagged.kind": "other" },
            doc! { "tagged": { "kind": "one_text" } },
            doc! { "tagged": { "text": "a" } },
            doc! { "adjacent": { "t": "B" } },
            doc! { "untagged": true },
            doc! { "tree.label": 3 },
            doc! { "width": "3" },
            doc! { "maybe": 3 },
        ] {
            let update = db.things.update(first.id).raw(doc! { "$set": wrong.clone() });
            let refused = update.await.expect_err(&format!("{wrong}"));
            assert!(refused.is_invalid(), "{wrong}: {refused}");
        }
        db.things.get(first.id).await.unwrap();
    }
}
