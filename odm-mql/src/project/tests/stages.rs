//! The projections of stages: `$project`, `$set` and `$unset`.

use bson::{Document, doc};
use proptest::prelude::*;

use super::super::*;
use crate::testing::{document, raw};

fn stage(projection: Document) -> Result<Projection, Error> {
    Projection::parse_stage(&projection, &Substitution::new(&Variables::default()))
}

fn parse_set(fields: &Document) -> Result<Projection, Error> {
    Projection::parse_set(fields, &Substitution::new(&Variables::default()))
}

fn set(fields: Document, document: Document) -> Document {
    let set = parse_set(&fields).expect("fields");
    let document = set.apply(&raw(document)).expect("a document");
    Document::try_from(&document).expect("valid BSON")
}

#[test]
fn a_stage_has_the_operators_of_expressions_in_the_place_of_those_of_find() {
    let first = stage(doc! { "a": { "$slice": ["$b", 1] } }).expect("a projection");
    let document = raw(doc! { "a": 1, "b": [2, 3] });
    let projected = first.apply(&document).expect("a document");
    assert_eq!(projected, raw(doc! { "a": [2] }));
    for (projection, code) in [
        (doc! { "a": { "$slice": 1 } }, 28_667),
        (doc! { "a": { "$elemMatch": { "b": 1 } } }, 168),
        (doc! { "a.$": 1 }, 31_324),
        (doc! { "a.$.b": 1 }, 31_324),
        (doc! { "a": { "$": 1 } }, 31_325),
        (doc! { "a": { "$unknown": 1 } }, 31_325),
        (doc! { "a": { "$add": 1, "b": 1 } }, 16_410),
        (doc! { "a": {} }, 51_270),
        (doc! { "a": 1, "b": 0 }, 31_254),
        (doc! { "a": 0, "b": "$a" }, 31_310),
    ] {
        let error = stage(projection.clone()).expect_err("no projection");
        assert_eq!(error.code(), code, "{projection}");
    }
}

#[test]
fn a_set_field_takes_the_place_of_the_old_one_and_a_new_one_comes_last() {
    let document = doc! { "_id": 1, "a": 2, "b": { "c": 3, "d": 4 }, "e": [{ "f": 1, "g": 2 }, 5, [{ "f": 3 }]] };
    // The fields, and the changes that they make.
    for (fields, changes) in [
        (doc! {}, doc! {}),
        (doc! { "a": "$b.c", "x": "$a" }, doc! { "a": 3, "x": 2 }),
        (doc! { "a": "$a", "_id": "$missing" }, doc! { "_id": null }),
        (doc! { "a": "$$REMOVE" }, doc! { "a": null }),
        (doc! { "a": true, "x": 0 }, doc! { "a": true, "x": 0 }),
        (doc! { "b.c": 5 }, doc! { "b": { "c": 5, "d": 4 } }),
        (
            doc! { "b": { "d": "$a", "x": { "y": 1 } } },
            doc! { "b": { "c": 3, "d": 2, "x": { "y": 1 } } },
        ),
        (doc! { "b": {} }, doc! { "b": {} }),
        (
            doc! { "b": { "$literal": { "x": 1 } } },
            doc! { "b": { "x": 1 } },
        ),
        (
            doc! { "b.c.x": "$a" },
            doc! { "b": { "c": { "x": 2 }, "d": 4 } },
        ),
        (doc! { "x.y": "$missing" }, doc! { "x": {} }),
        (
            doc! { "e.f": 9 },
            doc! { "e": [{ "f": 9, "g": 2 }, { "f": 9 }, [{ "f": 9 }]] },
        ),
        (
            doc! { "e.g": "$$REMOVE" },
            doc! { "e": [{ "f": 1 }, {}, [{ "f": 3 }]] },
        ),
        (doc! { "e": ["$a", 1] }, doc! { "e": [2, 1] }),
    ] {
        let mut expected = document.clone();
        for (name, value) in changes {
            match value {
                bson::Bson::Null => drop(expected.remove(name)),
                value => drop(expected.insert(name, value)),
            }
        }
        assert_eq!(set(fields.clone(), document.clone()), expected, "{fields}");
    }
}

/// The examples of `$addFields` in MongoDB's documentation.
#[test]
fn fields_are_added_as_mongodb_documents_it() {
    let vehicle = doc! { "_id": 1, "type": "car", "specs": { "doors": 4, "wheels": 4 } };
    assert_eq!(
        set(doc! { "specs.fuel_type": "unleaded" }, vehicle),
        doc! { "_id": 1, "type": "car", "specs": { "doors": 4, "wheels": 4, "fuel_type": "unleaded" } }
    );
    assert_eq!(
        set(
            doc! { "cats": 20 },
            doc! { "_id": 1, "dogs": 10, "cats": 15 }
        ),
        doc! { "_id": 1, "dogs": 10, "cats": 20 }
    );
    assert_eq!(
        set(
            doc! { "_id": "$item", "item": "fruit" },
            doc! { "_id": 1, "item": "tangerine", "type": "citrus" },
        ),
        doc! { "_id": "tangerine", "item": "fruit", "type": "citrus" }
    );
}

#[test]
fn a_set_that_names_a_field_twice_or_none_is_refused() {
    for (fields, code) in [
        (doc! { "a": 1, "a.b": 1 }, 40_176),
        (doc! { "a.b": 1, "a": 1 }, 40_176),
        (doc! { "a": { "b": 1 }, "a.b": 1 }, 40_176),
        (doc! { "a": { "$add": [1], "$abs": 1 } }, 40_181),
        (doc! { "a": { "b": 1, "$abs": 1 } }, 40_181),
        (doc! { "a": { "b.c": 1 } }, 40_183),
        (doc! { "a": { "$unknown": 1 } }, 168),
        (doc! { "": 1 }, 40_352),
        (doc! { "a.": 1 }, 40_353),
        (doc! { "$a": 1 }, 16_410),
        (doc! { "a..b": 1 }, 15_998),
    ] {
        let error = parse_set(&fields).expect_err("no fields");
        assert_eq!(error.code(), code, "{fields}");
    }
    let error = Projection::exclude(["a", "a"]).expect_err("twice");
    assert_eq!(error.code(), 31_250);
}

#[test]
fn a_set_that_multiplies_the_document_is_refused() {
    let elements = vec![doc! {}; 200];
    let document = raw(doc! { "text": "x".repeat(1 << 20), "elements": elements });
    let fields = doc! { "elements.x": "$text" };
    let set = parse_set(&fields).expect("fields");
    assert_eq!(
        set.apply(&document),
        Err(Error::TooLarge { limit: 64 << 20 })
    );
}

proptest! {
    #[test]
    fn a_set_that_names_no_field_of_a_document_only_adds(document in document(), value in 0..3_i32) {
        let mut expected = document.clone();
        expected.insert("x", value);
        let set = parse_set(&doc! { "x": value });
        let set = set.expect("fields").apply(&raw(document.clone()));
        prop_assert_eq!(set, Ok(raw(expected)));
        let kept = Projection::exclude(["x"]).expect("a projection").apply(&raw(document.clone()));
        prop_assert_eq!(kept, Ok(raw(document)));
    }
}
