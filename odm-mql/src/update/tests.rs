mod operators;
mod properties;
mod requests;

use bson::{Bson, RawBsonRef, Timestamp, bson, doc};

use super::*;
use crate::testing::{raw, raw_value};

const NOW: i64 = 1_700_000_000_123;

fn now() -> DateTime {
    DateTime::from_millis(NOW)
}

fn parse(update: Document) -> Update {
    let parsed = Update::parse(&update, &[]).expect("an update");
    assert_eq!(
        Update::parse(&parsed.to_document(), &[]),
        Ok(parsed.clone())
    );
    parsed
}

fn run(update: &Update, document: &Document, inserting: bool) -> Result<Document, Error> {
    let before = raw(document.clone());
    let after = update.apply(&before, inserting, now())?;
    assert_ne!(
        after.as_ref(),
        Some(&before),
        "a document that stays the same is none"
    );
    Ok(Document::try_from(&after.unwrap_or(before)).expect("valid BSON"))
}

fn apply(update: Document, document: Document) -> Document {
    run(&parse(update), &document, false).expect("it applies")
}

fn fails(update: Document, document: Document) -> Error {
    let error = run(&parse(update), &document, false).expect_err("it fails");
    assert!(error.is_about_document(), "{error}");
    error
}

fn refused(update: Document) -> Error {
    let error = Update::parse(&update, &[]).expect_err("no update");
    assert!(!error.is_about_document(), "{error}");
    error
}

#[test]
fn set_changes_in_place_and_adds_at_the_end() {
    assert_eq!(
        apply(doc! { "$set": { "b": 9, "a": 8 } }, doc! { "b": 1, "c": 2 }),
        doc! { "b": 9, "c": 2, "a": 8 }
    );
    assert_eq!(
        apply(doc! { "$set": { "a.b.c": 1 } }, doc! { "a": { "x": 0 } }),
        doc! { "a": { "x": 0, "b": { "c": 1 } } }
    );
}

#[test]
fn new_fields_are_added_in_the_order_of_their_names() {
    let added = apply(
        doc! { "$set": { "b": 1, "a10": 1, "10": 1, "9": 1, "c.b": 1 }, "$inc": { "a": 1, "c.a": 1 } },
        doc! {},
    );
    assert_eq!(
        added.keys().collect::<Vec<_>>(),
        ["9", "10", "a", "a10", "b", "c"]
    );
    assert_eq!(added.get("c"), Some(&bson!({ "a": 1, "b": 1 })));
}

#[test]
fn a_part_is_an_index_of_an_array() {
    let document = doc! { "a": [1, { "b": 2 }] };
    assert_eq!(
        apply(doc! { "$set": { "a.0": 9 } }, document.clone()),
        doc! { "a": [9, { "b": 2 }] }
    );
    assert_eq!(
        apply(doc! { "$set": { "a.1.c": 3 } }, document.clone()),
        doc! { "a": [1, { "b": 2, "c": 3 }] }
    );
    assert_eq!(
        apply(doc! { "$set": { "a.5": 6, "a.3.x": 4 } }, document.clone()),
        doc! { "a": [1, { "b": 2 }, null, { "x": 4 }, null, 6] }
    );
    assert_eq!(
        apply(doc! { "$set": { "n.0": 1 } }, doc! {}),
        doc! { "n": { "0": 1 } }
    );
}

#[test]
fn an_array_is_padded_with_a_million_and_a_half_nulls_and_not_with_more() {
    let update = parse(doc! { "$set": { "a.1500001": 1 } });
    let padded = update.apply(&raw(doc! { "a": [1] }), false, now());
    let padded = padded.expect("it applies").expect("another document");
    let array = padded.get_array("a").expect("an array");
    let is_null = |at: usize| {
        array
            .get(at)
            .is_ok_and(|value| value == Some(RawBsonRef::Null))
    };
    assert!(!is_null(0) && is_null(1) && is_null(1_500_000) && !is_null(1_500_001));
    assert_eq!(array.into_iter().count(), 1_500_002);
    let error = fails(doc! { "$set": { "a.1500002": 1 } }, doc! { "a": [1] });
    assert!(matches!(error, Error::TooMuchPadding { .. }), "{error}");
    assert_eq!(
        (error.code(), &*error.code_name()),
        (34, "CannotBackfillArray")
    );
}

#[test]
fn padding_ends_where_no_document_could_hold_it() {
    let names = || ["a", "b", "c", "d", "e", "f"].into_iter();
    let arrays: Document = names()
        .map(|name| (name.to_owned(), Bson::Array(Vec::new())))
        .collect();
    let set: Document = names()
        .map(|name| (format!("{name}.1500000"), Bson::Int32(1)))
        .collect();
    let in_one = doc! { "a.1500000": 1, "a.3000000": 1 };
    let inner = doc! { "a": [{ "b": [] }, { "b": [] }] };
    for (set, document) in [
        (set, arrays.clone()),
        (in_one, arrays),
        (doc! { "a.$[].b.1500000": 1 }, inner),
    ] {
        let error = fails(doc! { "$set": set }, document);
        assert_eq!(error, Error::TooLarge { limit: 16 << 20 });
        assert_eq!(&*error.code_name(), "BSONObjectTooLarge");
    }
}

#[test]
fn no_field_is_made_in_what_has_none() {
    assert_eq!(
        fails(doc! { "$set": { "a.b.c": 1 } }, doc! { "a": 5 }).to_string(),
        "cannot create field `b` of `a.b.c` in a value of type int"
    );
    assert!(matches!(
        fails(doc! { "$inc": { "a.x": 1 } }, doc! { "a": [1] }),
        Error::CannotCreateField { .. }
    ));
    assert!(matches!(
        fails(doc! { "$pull": { "a.x": 1 } }, doc! { "a": "text" }),
        Error::CannotCreateField { .. }
    ));
}

#[test]
fn unset_removes_a_field_and_empties_an_element() {
    assert_eq!(
        apply(
            doc! { "$unset": { "a": "", "x.y": 1 } },
            doc! { "a": 1, "b": 2 }
        ),
        doc! { "b": 2 }
    );
    assert_eq!(
        apply(doc! { "$unset": { "a.0": "" } }, doc! { "a": [1, 2] }),
        doc! { "a": [null, 2] }
    );
    assert_eq!(
        apply(doc! { "$unset": { "a.b": "" } }, doc! { "a": 5 }),
        doc! { "a": 5 }
    );
    assert_eq!(
        apply(doc! { "$unset": { "a.b": "" } }, doc! { "a": { "b": 1 } }),
        doc! { "a": {} }
    );
}

#[test]
fn inc_keeps_the_smallest_type_that_holds_the_sum() {
    let inc = |amount: Bson, value: Bson| {
        apply(doc! { "$inc": { "a": amount } }, doc! { "a": value }).remove("a")
    };
    assert_eq!(inc(bson!(1), bson!(2)), Some(bson!(3)));
    assert_eq!(
        inc(bson!(1), bson!(i32::MAX)),
        Some(bson!(2_147_483_648_i64))
    );
    assert_eq!(inc(bson!(1_i64), bson!(2)), Some(bson!(3_i64)));
    assert_eq!(inc(bson!(1), bson!(2.5)), Some(bson!(3.5)));
    assert_eq!(inc(bson!(0.0), bson!(2)), Some(bson!(2.0)));
    assert_eq!(
        apply(doc! { "$inc": { "a.b": 5_i64 } }, doc! {}),
        doc! { "a": { "b": 5_i64 } }
    );
    assert_eq!(
        fails(doc! { "$inc": { "a": 1 } }, doc! { "a": i64::MAX }),
        Error::Overflow {
            operator: "$inc",
            path: "a".into()
        }
    );
    for value in [bson!("1"), bson!(null), bson!([1])] {
        let error = fails(doc! { "$inc": { "a": 1 } }, doc! { "a": value });
        assert!(
            matches!(
                error,
                Error::WrongType {
                    expected: "a number",
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn mul_makes_a_zero_of_the_type_of_the_factor() {
    assert_eq!(
        apply(doc! { "$mul": { "a": 3 } }, doc! { "a": 5 }),
        doc! { "a": 15 }
    );
    assert_eq!(
        apply(doc! { "$mul": { "a": 3_i64 } }, doc! {}),
        doc! { "a": 0_i64 }
    );
    assert_eq!(
        apply(doc! { "$mul": { "a": 0.5 } }, doc! { "a": 5 }),
        doc! { "a": 2.5 }
    );
    assert_eq!(
        apply(doc! { "$mul": { "a": 65_536 } }, doc! { "a": 65_536 }),
        doc! { "a": 4_294_967_296_i64 }
    );
    assert!(matches!(
        fails(doc! { "$mul": { "a": 2 } }, doc! { "a": i64::MAX }),
        Error::Overflow { .. }
    ));
}

#[test]
fn min_and_max_compare_values_of_all_types() {
    assert_eq!(
        apply(doc! { "$min": { "a": 1 } }, doc! { "a": 2 }),
        doc! { "a": 1 }
    );
    assert_eq!(
        apply(doc! { "$min": { "a": 1.0 } }, doc! { "a": 1 }),
        doc! { "a": 1 }
    );
    assert_eq!(
        apply(doc! { "$max": { "a": "x" } }, doc! { "a": 2 }),
        doc! { "a": "x" }
    );
    assert_eq!(apply(doc! { "$max": { "a": 1 } }, doc! {}), doc! { "a": 1 });
    assert_eq!(
        apply(doc! { "$min": { "a": null } }, doc! { "a": 2 }),
        doc! { "a": null }
    );
}

#[test]
fn rename_moves_a_value() {
    assert_eq!(
        apply(
            doc! { "$rename": { "a": "x.y" } },
            doc! { "a": [1], "b": 2 }
        ),
        doc! { "b": 2, "x": { "y": [1] } }
    );
    assert_eq!(
        apply(doc! { "$rename": { "a": "b" } }, doc! { "a": 1, "b": 2 }),
        doc! { "b": 1 }
    );
    assert_eq!(
        apply(doc! { "$rename": { "x": "b.c" } }, doc! { "b": 2 }),
        doc! { "b": 2 }
    );
    assert_eq!(
        fails(doc! { "$rename": { "a.0": "b" } }, doc! { "a": [1] }).to_string(),
        "cannot rename `a.0`: `a` is an array"
    );
    assert!(matches!(
        fails(
            doc! { "$rename": { "x": "a.0" } },
            doc! { "a": [1], "x": 1 }
        ),
        Error::RenameInArray { .. }
    ));
    assert!(matches!(
        fails(doc! { "$rename": { "x": "a.b" } }, doc! { "a": 1, "x": 1 }),
        Error::CannotCreateField { .. }
    ));
    assert!(matches!(
        fails(doc! { "$rename": { "a.b": "x" } }, doc! { "a": 1 }),
        Error::CannotCreateField { .. }
    ));
}

#[test]
fn set_on_insert_acts_on_insert_only() {
    let update = parse(doc! { "$setOnInsert": { "a": 1 }, "$set": { "b": 2 } });
    assert_eq!(run(&update, &doc! {}, true), Ok(doc! { "a": 1, "b": 2 }));
    assert_eq!(run(&update, &doc! {}, false), Ok(doc! { "b": 2 }));
}

#[test]
fn current_date_is_the_time_of_the_update() {
    let update = doc! { "$currentDate": { "a": true, "b": { "$type": "timestamp" }, "c": { "$type": "date" } } };
    let expected =
        doc! { "a": now(), "b": Timestamp { time: 1_700_000_000, increment: 1 }, "c": now() };
    assert_eq!(apply(update, doc! {}), expected);
}

#[test]
fn push_adds_then_sorts_then_slices() {
    let push =
        |push: Bson| apply(doc! { "$push": { "a": push } }, doc! { "a": [3, 1] }).remove("a");
    assert_eq!(push(bson!(2)), Some(bson!([3, 1, 2])));
    assert_eq!(push(bson!([2])), Some(bson!([3, 1, [2]])));
    assert_eq!(
        push(bson!({ "$each": [2, 0], "$position": 1 })),
        Some(bson!([3, 2, 0, 1]))
    );
    assert_eq!(
        push(bson!({ "$each": [2], "$position": -1 })),
        Some(bson!([3, 2, 1]))
    );
    assert_eq!(
        push(bson!({ "$each": [2], "$position": -9 })),
        Some(bson!([2, 3, 1]))
    );
    assert_eq!(
        push(bson!({ "$each": [2], "$position": 9 })),
        Some(bson!([3, 1, 2]))
    );
    assert_eq!(
        push(bson!({ "$each": [2], "$sort": 1 })),
        Some(bson!([1, 2, 3]))
    );
    assert_eq!(
        push(bson!({ "$each": [2], "$sort": -1, "$slice": 2 })),
        Some(bson!([3, 2]))
    );
    assert_eq!(
        push(bson!({ "$slice": -2, "$each": [2] })),
        Some(bson!([1, 2]))
    );
    assert_eq!(push(bson!({ "$each": [], "$slice": 0 })), Some(bson!([])));
    assert_eq!(
        apply(
            doc! { "$push": { "a.b": { "$each": [2, 1], "$sort": 1 } } },
            doc! {}
        ),
        doc! { "a": { "b": [1, 2] } }
    );
    let error = fails(doc! { "$push": { "a": 1 } }, doc! { "a": "text" });
    assert_eq!(
        error.to_string(),
        "cannot apply `$push` to `a`: it needs an array, not string"
    );
}

#[test]
fn push_sorts_documents_by_their_fields() {
    let document = doc! { "a": [{ "s": 2, "n": 1 }, { "s": 1, "n": 2 }, 5] };
    assert_eq!(
        apply(
            doc! { "$push": { "a": { "$each": [{ "s": 2, "n": 0 }], "$sort": { "s": -1, "n": 1 } } } },
            document
        ),
        doc! { "a": [{ "s": 2, "n": 0 }, { "s": 2, "n": 1 }, { "s": 1, "n": 2 }, 5] }
    );
}

#[test]
fn add_to_set_adds_what_is_not_there() {
    assert_eq!(
        apply(doc! { "$addToSet": { "a": 1.0 } }, doc! { "a": [1] }),
        doc! { "a": [1] }
    );
    assert_eq!(
        apply(
            doc! { "$addToSet": { "a": { "$each": [2, 1, 2, 3] } } },
            doc! { "a": [1] }
        ),
        doc! { "a": [1, 2, 3] }
    );
    assert_eq!(
        apply(doc! { "$addToSet": { "a": { "$each": [] } } }, doc! {}),
        doc! { "a": [] }
    );
    assert_eq!(
        apply(
            doc! { "$addToSet": { "a": { "x": 1, "y": 2 } } },
            doc! { "a": [{ "y": 2, "x": 1 }] }
        ),
        doc! { "a": [{ "y": 2, "x": 1 }, { "x": 1, "y": 2 }] }
    );
    assert!(matches!(
        fails(doc! { "$addToSet": { "a": 1 } }, doc! { "a": 1 }),
        Error::WrongType { .. }
    ));
}

#[test]
fn pop_removes_at_an_end() {
    assert_eq!(
        apply(doc! { "$pop": { "a": 1 } }, doc! { "a": [1, 2, 3] }),
        doc! { "a": [1, 2] }
    );
    assert_eq!(
        apply(doc! { "$pop": { "a": -1.0 } }, doc! { "a": [1, 2, 3] }),
        doc! { "a": [2, 3] }
    );
    assert_eq!(
        apply(doc! { "$pop": { "a": 1, "b": 1 } }, doc! { "a": [] }),
        doc! { "a": [] }
    );
}

#[test]
fn pull_removes_what_matches() {
    let pull = |condition: Bson, array: Bson| {
        apply(doc! { "$pull": { "a": condition } }, doc! { "a": array }).remove("a")
    };
    assert_eq!(
        pull(bson!(1), bson!([1, 2, 1.0, [1]])),
        Some(bson!([2, [1]]))
    );
    assert_eq!(
        pull(bson!([1, 2]), bson!([[1, 2], [2, 1]])),
        Some(bson!([[2, 1]]))
    );
    assert_eq!(
        pull(bson!({ "$gte": 2 }), bson!([1, 2, 3])),
        Some(bson!([1]))
    );
    assert_eq!(
        pull(bson!({ "$in": [1, null] }), bson!([1, null, 2])),
        Some(bson!([2]))
    );
    assert_eq!(
        pull(
            bson!({ "s": { "$gt": 1 }, "t": 0 }),
            bson!([{ "s": 2, "t": 0 }, { "s": 2 }, 5])
        ),
        Some(bson!([{ "s": 2 }, 5]))
    );
    assert_eq!(
        pull(
            bson!({ "r": { "$elemMatch": { "q": 2 } } }),
            bson!([{ "r": [{ "q": 2 }] }, { "r": [] }])
        ),
        Some(bson!([{ "r": [] }]))
    );
    assert_eq!(
        pull(
            bson!({ "$or": [{ "x": 1 }, { "x": 2 }] }),
            bson!([{ "x": 2 }, 2])
        ),
        Some(bson!([2]))
    );
    assert_eq!(
        pull(bson!({ "$regex": "^x" }), bson!(["xy", "yx"])),
        Some(bson!(["yx"]))
    );
    assert_eq!(pull(bson!({ "$ne": 1 }), bson!([1, 2])), Some(bson!([1])));
    assert_eq!(apply(doc! { "$pull": { "x": 1 } }, doc! {}), doc! {});
    assert!(matches!(
        fails(doc! { "$pull": { "a": 1 } }, doc! { "a": 1 }),
        Error::WrongType { .. }
    ));
    assert_eq!(
        apply(
            doc! { "$pullAll": { "a": [1, { "x": 1 }] } },
            doc! { "a": [1, { "x": 1 }, { "x": 1, "y": 1 }] }
        ),
        doc! { "a": [{ "x": 1, "y": 1 }] }
    );
}

#[test]
fn pulling_a_document_as_a_value_is_written_as_pull_all() {
    let mut update = Update::default();
    update.push(
        "a",
        Operation::Pull(Pull::Value(raw_value(doc! { "x": 1 }))),
    );
    assert_eq!(
        update.to_document(),
        doc! { "$pullAll": { "a": [{ "x": 1 }] } }
    );
    assert_eq!(
        run(
            &update,
            &doc! { "a": [{ "x": 1 }, { "x": 1, "y": 2 }] },
            false
        ),
        Ok(doc! { "a": [{ "x": 1, "y": 2 }] })
    );
}

#[test]
fn the_id_is_immutable() {
    let document = doc! { "_id": 1, "a": 1 };
    for update in [
        doc! { "$set": { "_id": 2 } },
        doc! { "$set": { "_id": 1.0 } },
        doc! { "$unset": { "_id": "" } },
        doc! { "$rename": { "_id": "x" } },
        doc! { "$rename": { "a": "_id" } },
        doc! { "$inc": { "_id": 1 } },
    ] {
        assert_eq!(
            fails(update, document.clone()),
            Error::Immutable("_id".into())
        );
    }
    assert_eq!(
        apply(doc! { "$set": { "_id": 1 } }, document.clone()),
        document
    );
    let update = parse(doc! { "$setOnInsert": { "_id": 5 } });
    assert_eq!(
        run(&update, &doc! { "a": 1 }, true),
        Ok(doc! { "a": 1, "_id": 5 })
    );
}

#[test]
fn an_update_that_changes_nothing_gives_nothing() {
    let document = raw(doc! { "_id": 1, "a": [1, { "b": 2 }] });
    for update in [
        doc! {},
        doc! { "$set": {} },
        doc! { "$set": { "a.1.b": 2 } },
        doc! { "$pull": { "a": 7 } },
        doc! { "$unset": { "x.y": "" } },
        doc! { "$inc": { "a.0": 0 } },
    ] {
        assert_eq!(parse(update).apply(&document, false, now()), Ok(None));
    }
    assert!(parse(doc! { "$set": {} }).is_empty());
}

#[test]
fn all_touched_paths_are_listed() {
    let update = parse(doc! { "$set": { "a.b": 1 }, "$rename": { "c": "d" } });
    assert_eq!(update.paths().collect::<Vec<_>>(), ["a.b", "c", "d"]);
}

#[test]
fn a_broken_document_is_not_updated() {
    let mut bytes = raw(doc! { "a": "text", "b": 1 }).into_bytes();
    bytes[7] = 0xff;
    let document = RawDocumentBuf::from_bytes(bytes).expect("the frame is sound");
    let result = parse(doc! { "$set": { "b": 2 } }).apply(&document, false, now());
    assert!(matches!(result, Err(Error::Malformed(_))));
}

#[test]
fn an_update_has_a_form_in_the_order_of_new_fields_unless_that_takes_an_operator_twice() {
    let ordered = |update: Document| Update::parse(&update, &[]).unwrap().to_ordered_document();
    let keys = |document: &Document| document.keys().cloned().collect::<Vec<_>>();
    let form =
        ordered(doc! { "$inc": { "c": 1 }, "$set": { "b.10": 1, "b.9": 1, "a": 1, "a-": 1 } })
            .unwrap();
    assert_eq!(keys(&form), ["$set", "$inc"]);
    assert_eq!(
        keys(form.get_document("$set").unwrap()),
        ["a", "a-", "b.9", "b.10"]
    );
    assert_eq!(
        ordered(doc! { "$inc": { "b": 1 }, "$set": { "a": 1, "c": 1 } }),
        None
    );
    let form = ordered(
        doc! { "$set": { "a": 1, "c": 1 }, "$unset": { "b": "" }, "$pop": { "a-": 1, "d": 1 } },
    );
    assert_eq!(keys(&form.unwrap()), ["$unset", "$pop", "$set"]);
}
