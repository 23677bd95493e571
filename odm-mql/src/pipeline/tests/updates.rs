//! Updates by a pipeline.

use bson::{Document, doc};
use proptest::prelude::*;

use super::super::*;
use crate::testing::{document, raw};

fn parse(stages: &[Document]) -> Result<UpdatePipeline, Error> {
    UpdatePipeline::parse(stages, &Variables::default())
}

fn apply(stages: &[Document], document: Document) -> Result<Document, Error> {
    let update = parse(stages).expect("an update");
    let after = update.apply(&raw(document))?;
    Ok(Document::try_from(&after).expect("valid BSON"))
}

/// The page "Updates with Aggregation Pipeline".
#[test]
fn an_update_computes_fields_from_others() {
    let stages = [
        doc! { "$set": { "average": { "$trunc": { "$divide": [{ "$add": ["$quiz1", "$quiz2"] }, 2] } } } },
        doc! { "$set": { "grade": { "$switch": {
            "branches": [{ "case": { "$gte": ["$average", 90] }, "then": "A" }],
            "default": "B",
        } } } },
        doc! { "$unset": ["quiz2"] },
    ];
    assert_eq!(
        apply(&stages, doc! { "_id": 1, "quiz1": 95, "quiz2": 92 }),
        Ok(doc! { "_id": 1, "quiz1": 95, "average": 93.0, "grade": "A" })
    );
    let replace = [doc! { "$replaceWith": { "old": "$$ROOT", "quiz": "$quiz1" } }];
    assert_eq!(
        apply(&replace, doc! { "_id": 1, "quiz1": 95 }),
        Ok(doc! { "_id": 1, "old": { "_id": 1, "quiz1": 95 }, "quiz": 95 })
    );
}

#[test]
fn the_id_stays_and_comes_first() {
    let stored = doc! { "a": 2, "_id": 1 };
    for (stage, expected) in [
        (doc! { "$unset": "_id" }, doc! { "_id": 1, "a": 2 }),
        (
            doc! { "$project": { "_id": 0, "a": 1 } },
            doc! { "_id": 1, "a": 2 },
        ),
        (
            doc! { "$replaceWith": { "b": "$a" } },
            doc! { "_id": 1, "b": 2 },
        ),
        (
            doc! { "$replaceWith": { "b": "$a", "_id": 1 } },
            doc! { "_id": 1, "b": 2 },
        ),
        (
            doc! { "$set": { "_id": 1_i64 } },
            doc! { "_id": 1_i64, "a": 2 },
        ),
    ] {
        assert_eq!(
            apply(std::slice::from_ref(&stage), stored.clone()),
            Ok(expected),
            "{stage}"
        );
    }
    for stage in [
        doc! { "$set": { "_id": 2 } },
        doc! { "$set": { "_id.x": 2 } },
        doc! { "$replaceWith": { "_id": null } },
        doc! { "$project": { "_id": "$a" } },
    ] {
        let error = apply(std::slice::from_ref(&stage), stored.clone()).expect_err("another `_id`");
        assert_eq!(
            (error.code(), error),
            (66, Error::Immutable("_id".to_owned())),
            "{stage}"
        );
    }
    // The document of an upsert has none yet.
    let seed = doc! { "a": 2 };
    assert_eq!(
        apply(&[doc! { "$set": { "_id": "$a" } }], seed.clone()),
        Ok(doc! { "_id": 2, "a": 2 })
    );
    assert_eq!(
        apply(&[doc! { "$set": { "b": 1 } }], seed),
        Ok(doc! { "a": 2, "b": 1 })
    );
}

#[test]
fn an_update_tells_what_it_names_and_what_it_reads() {
    let update = |stages: &[Document]| {
        let update = parse(stages).expect("an update");
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<Vec<_>>();
        (
            owned(update.named_paths().collect()),
            owned(update.read_paths().collect()),
            update.replaces(),
        )
    };
    let strings = |strings: &[&str]| {
        strings
            .iter()
            .map(|text| text.to_string())
            .collect::<Vec<_>>()
    };
    let set =
        doc! { "$set": { "a.b": { "$add": ["$c.d", "$e"] }, "f": { "g": "$$ROOT", "h": 1 } } };
    let unset = doc! { "$unset": ["x", "y.z"] };
    assert_eq!(
        update(&[set, unset]),
        (
            strings(&["a.b", "f.g", "f.h", "x", "y.z"]),
            strings(&["c.d", "e", ""]),
            false
        )
    );
    assert_eq!(
        update(&[
            doc! { "$replaceWith": { "a": "$b" } },
            doc! { "$addFields": { "c": 1 } }
        ]),
        (strings(&["c"]), strings(&["b"]), true)
    );
    assert_eq!(
        update(&[doc! { "$project": { "a": 1 } }]),
        (strings(&[]), strings(&[""]), true)
    );
    assert_eq!(update(&[]), (strings(&[]), strings(&[]), false));
}

#[test]
fn an_update_has_no_stages_that_read_or_make_other_documents() {
    for stage in [
        doc! { "$match": { "a": 1 } },
        doc! { "$group": { "_id": null } },
        doc! { "$count": "a" },
        doc! { "$sortByCount": "$a" },
        doc! { "$limit": 1 },
        doc! { "$lookup": { "from": "a", "localField": "a", "foreignField": "b", "as": "c" } },
        doc! { "$facet": { "a": [] } },
        doc! { "$unwind": "$a" },
    ] {
        let set = doc! { "$set": { "a": 1 } };
        let error = parse(&[set.clone(), stage.clone(), set]).expect_err("no update");
        let name = stage.keys().next().expect("a name");
        assert_eq!((error.code(), &*error.code_name()), (72, "InvalidOptions"));
        assert!(error.to_string().contains(name.as_str()), "{error}");
    }
    assert_eq!(
        parse(&[doc! { "$merge": {} }])
            .expect_err("no update")
            .code(),
        40_324
    );
    let deep = vec![doc! { "$replaceWith": { "a": "$$ROOT" } }; 300];
    assert_eq!(apply(&deep, doc! {}), Err(Error::ResultTooDeep(200)));
    let large = [doc! { "$set": { "b": ["$a", "$a"] } }];
    let error = apply(&large, doc! { "a": "x".repeat(9 << 20) });
    assert_eq!(error, Err(Error::TooLarge { limit: 16 << 20 }));
}

proptest! {
    #[test]
    fn an_update_of_other_fields_leaves_the_rest(document in document(), number in 0..5_i32) {
        let update = parse(&[
            doc! { "$set": { "x": { "y": number } } },
            doc! { "$unset": "missing" },
            doc! { "$set": { "z": "$x.y" } },
        ]);
        let after = update.expect("an update").apply(&raw(document.clone())).expect("a document");
        let mut expected = document;
        expected.insert("x", doc! { "y": number });
        expected.insert("z", number);
        prop_assert_eq!(after, raw(expected));
    }
}
