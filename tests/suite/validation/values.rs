//! Rules of values that may be missing or have names of their own: options, maps, closed objects and fields
//! in the place of others.

use std::collections::BTreeMap;

use super::*;
use odm::bson::doc;
use tests::on_every_store;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "kits")]
struct Kit {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    first: Option<Line>,
    #[embed]
    by_name: BTreeMap<String, Line>,
    #[embed]
    color: Option<Color>,
    #[embed]
    form: Option<Form>,
    #[embed]
    closed: Closed,
    #[embed]
    #[serde(flatten)]
    extra: Option<Extra>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Color {
    Red,
    Green,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Form {
    Round,
    Square { side: i32 },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embed)]
#[serde(deny_unknown_fields)]
struct Closed {
    lock: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Extra {
    weight: i32,
}

#[derive(Database)]
#[database(name = "kits", version = 1)]
struct Kits {
    kits: Repository<Kit>,
}

fn line(number: i64) -> Line {
    Line { text: "a".into(), number }
}

on_every_store! {
    async fn a_function_checks_values_in_options_and_maps(store: AnyStore) {
        let db = Kits::open(store).await.unwrap();
        let kit = |first, second| Kit {
            first: Some(line(first)),
            by_name: [("a".to_owned(), line(2)), ("b".to_owned(), line(second))].into(),
            ..Kit::default()
        };
        let error = db.kits.insert(kit(3, 2)).await.unwrap_err();
        assert_eq!(violated(&error), listed([("first.number", "with")]));
        let error = db.kits.insert(kit(2, 3)).await.unwrap_err();
        assert_eq!(violated(&error), listed([("by_name.b.number", "with")]));
        db.kits.insert(kit(2, 4)).await.unwrap();
    }

    async fn what_may_be_missing_conforms_where_it_is(store: AnyStore) {
        let db = Kits::open(store).await.unwrap();
        db.kits.insert(Kit::default()).await.unwrap();
        let stored = db.kits.update(0).raw(doc! { "$set": { "color": null, "form": null } }).await;
        stored.unwrap();
        let whole = Kit {
            id: 1,
            color: Some(Color::Green),
            form: Some(Form::Square { side: 2 }),
            extra: Some(Extra { weight: 3 }),
            ..Kit::default()
        };
        db.kits.insert(whole.clone()).await.unwrap();
        assert_eq!(db.kits.get(1).await.unwrap(), whole);
        for wrong in [doc! { "color": "Blue" }, doc! { "form": "Oval" }, doc! { "form": {} }] {
            let refused = db.kits.update(0).raw(doc! { "$set": wrong.clone() }).await;
            assert!(refused.expect_err(&wrong.to_string()).is_invalid(), "{wrong}");
        }
    }

    async fn a_type_that_denies_unknown_fields_has_no_others(store: AnyStore) {
        let db = Kits::open(store).await.unwrap();
        db.kits.insert(Kit::default()).await.unwrap();
        let error = db.kits.update(0).raw(doc! { "$set": { "closed.key": 1 } }).await.unwrap_err();
        assert_eq!(violated(&error), listed([("closed.key", "additionalProperties")]));
        // The kit itself denies no unknown fields.
        db.kits.update(0).raw(doc! { "$set": { "key": 1 } }).await.unwrap();
    }
}
