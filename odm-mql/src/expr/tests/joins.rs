//! Operators on texts, and operators that join arrays or documents.

use super::*;

fn error_code(expression: Document, document: Document) -> i32 {
    evaluated(expression.clone(), document).map_or_else(
        |error| error.code(),
        |value| panic!("{expression}: {value:?}"),
    )
}

/// Of the page of `$concat`, of `concat.js` and of `evaluate_string.cpp`.
#[test]
fn texts_are_concatenated_up_to_the_first_null() {
    let document = || doc! { "item": "ABC1", "description": "product 1", "null": null, "n": 1 };
    for (operands, expected) in [
        (
            vec!["$item", " - ", "$description"],
            "ABC1 - product 1".into(),
        ),
        (vec!["$item"], "ABC1".into()),
        (vec![], "".into()),
        (vec!["$item", "$null", "$n"], Bson::Null),
        (vec!["$missing", "$item"], Bson::Null),
    ] {
        assert_eq!(
            value(doc! { "$concat": operands }, document()),
            Some(expected)
        );
    }
    assert_eq!(
        value(doc! { "$concat": "$item" }, document()),
        Some("ABC1".into())
    );
    assert_eq!(
        error_code(doc! { "$concat": ["$n", "$null"] }, document()),
        16_702
    );
    assert_eq!(
        error_code(doc! { "$concat": ["a", ["b"]] }, document()),
        16_702
    );
    // What comes after a null is not evaluated.
    let fails = doc! { "$divide": [1, 0] };
    let after_null = doc! { "$concat": ["$null", fails.clone()] };
    assert_eq!(value(after_null, document()), Some(Bson::Null));
    assert_eq!(error_code(doc! { "$concat": ["a", fails] }, document()), 2);
}

/// Of the pages of `$toLower` and `$toUpper`, and of `Value::coerceToString`.
#[test]
fn the_case_of_ascii_letters_is_changed() {
    let both = |operand: Bson| {
        let [lower, upper] = ["$toLower", "$toUpper"].map(|name| {
            match value(
                doc! { name: { "$ifNull": [operand.clone(), "$x"] } },
                doc! {},
            ) {
                Some(Bson::String(text)) => text,
                other => panic!("{operand}: {other:?}"),
            }
        });
        (lower, upper)
    };
    let date = Bson::DateTime(bson::DateTime::from_millis(872_835_240_000));
    let timestamp = |time, increment| Bson::Timestamp(bson::Timestamp { time, increment });
    for (operand, lower, upper) in [
        ("PRODUCT 1".into(), "product 1", "PRODUCT 1"),
        ("xYz ÄöΣ".into(), "xyz ÄöΣ", "XYZ ÄöΣ"),
        (Bson::Null, "", ""),
        (1.3e37.into(), "1.3e+37", "1.3E+37"),
        (decimal("1.3E+37"), "1.3e+37", "1.3E+37"),
        (7.into(), "7", "7"),
        (1e6.into(), "1e+06", "1E+06"),
        (999_999.4.into(), "999999", "999999"),
        (999_999.5.into(), "1e+06", "1E+06"),
        (123_456.789.into(), "123457", "123457"),
        (0.1.into(), "0.1", "0.1"),
        (0.0001.into(), "0.0001", "0.0001"),
        ((-0.00001).into(), "-1e-05", "-1E-05"),
        ((-0.0).into(), "-0", "-0"),
        (5e-324.into(), "4.94066e-324", "4.94066E-324"),
        (f64::MAX.into(), "1.79769e+308", "1.79769E+308"),
        (f64::NEG_INFINITY.into(), "-inf", "-INF"),
        (
            timestamp(1_704_067_200, 42),
            "jan  1 00:00:00:42",
            "JAN  1 00:00:00:42",
        ),
        (
            timestamp(1_721_500_800, 1),
            "jul 20 18:40:00:1",
            "JUL 20 18:40:00:1",
        ),
        (
            timestamp(u32::MAX, 0),
            "feb  7 06:28:15:0",
            "FEB  7 06:28:15:0",
        ),
        (date, "1997-08-29t06:14:00.000z", "1997-08-29T06:14:00.000Z"),
        (Bson::Symbol("aB".to_owned()), "ab", "AB"),
    ] {
        assert_eq!(both(operand), (lower.to_owned(), upper.to_owned()));
    }
    for other in [
        true.into(),
        Bson::from(vec![1]),
        doc! {}.into(),
        Bson::MinKey,
    ] {
        let document = doc! { "a": other };
        assert_eq!(
            error_code(doc! { "$toLower": "$a" }, document.clone()),
            16_007
        );
        assert_eq!(error_code(doc! { "$toUpper": "$a" }, document), 16_007);
    }
    let not_a_number = value(doc! { "$toUpper": "$a" }, doc! { "a": f64::NAN });
    assert_eq!(not_a_number, Some("NAN".into()));
    let far = doc! { "a": bson::DateTime::MAX };
    assert_eq!(error_code(doc! { "$toLower": "$a" }, far), 18_537);
}

/// Of the pages of `$strLenCP` and `$substrCP`, and of `evaluate_string.cpp`.
#[test]
fn texts_are_counted_and_cut_by_code_points() {
    for (text, expected) in [
        ("abcde", 5),
        ("", 0),
        ("cafeteria", 9),
        ("cafétéria", 9),
        ("寿司", 2),
    ] {
        let len = value(doc! { "$strLenCP": "$a" }, doc! { "a": text });
        assert_eq!(len, Some(Bson::Int32(expected)), "{text}");
    }
    assert_eq!(error_code(doc! { "$strLenCP": "$a" }, doc! {}), 34_471);
    assert_eq!(error_code(doc! { "$strLenCP": 1 }, doc! {}), 34_471);

    for (operands, expected) in [
        (vec!["cafétéria".into(), 3.into(), 3.into()], "été"),
        (vec!["寿司sushi".into(), 0.into(), 3.0.into()], "寿司s"),
        (vec!["abcde".into(), 1_i64.into(), 9.into()], "bcde"),
        (vec!["abcde".into(), 5.into(), 1.into()], ""),
        (vec!["abcde".into(), i32::MAX.into(), i32::MAX.into()], ""),
        (vec![Bson::Null, 0.into(), 1.into()], ""),
        (vec![12_345.into(), 1.into(), decimal("2")], "23"),
    ] {
        let part = value(doc! { "$substrCP": operands }, doc! {});
        assert_eq!(part, Some(expected.into()));
    }
    for (operands, code) in [
        (vec![true.into(), 0.into(), 1.into()], 16_007),
        (vec!["a".into(), "b".into(), 1.into()], 34_450),
        (vec!["a".into(), Bson::Null, 1.into()], 34_450),
        (vec!["a".into(), 0.5.into(), 1.into()], 34_451),
        (vec!["a".into(), 0.into(), "b".into()], 34_452),
        (vec!["a".into(), 0.into(), (1_i64 << 31).into()], 34_453),
        (vec!["a".into(), 0.into(), (-1).into()], 34_454),
        (vec!["a".into(), (-1).into(), 1.into()], 34_455),
        (vec!["a".into(), (-1).into(), (-1).into()], 34_454),
    ] {
        assert_eq!(error_code(doc! { "$substrCP": operands }, doc! {}), code);
    }
    assert_eq!(code(doc! { "$substrCP": ["a", 1] }.into()), 16_020);
    assert_eq!(code(doc! { "$toLower": ["a", "b"] }.into()), 16_020);
}

/// Of `concat_arrays.js`.
#[test]
fn arrays_are_concatenated_up_to_the_first_null() {
    let document = || {
        doc! {
            "ints": [1, 2], "texts": ["a"], "nested": [[], ["b"]], "nulls": [null], "empty": [],
            "null": null, "int": 1,
        }
    };
    let joined = |operands: Bson| value(doc! { "$concatArrays": operands }, document());
    let array = |values: Vec<Bson>| Some(Bson::Array(values));
    assert_eq!(joined("$ints".into()), array(vec![1.into(), 2.into()]));
    assert_eq!(
        joined(vec!["$ints", "$texts", "$nested", "$nulls", "$empty"].into()),
        array(vec![
            1.into(),
            2.into(),
            "a".into(),
            Vec::<Bson>::new().into(),
            vec!["b"].into(),
            Bson::Null,
        ])
    );
    assert_eq!(joined(Bson::Array(Vec::new())), array(Vec::new()));
    for nullish in [vec!["$ints", "$null", "$int"], vec!["$missing", "$ints"]] {
        assert_eq!(joined(nullish.into()), Some(Bson::Null));
    }
    for wrong in [vec!["$int"], vec!["$ints", "text", "$null"]] {
        assert_eq!(
            error_code(doc! { "$concatArrays": wrong }, document()),
            28_664
        );
    }
}

/// Of the page of `$mergeObjects`, and of `ExpressionFromAccumulator`.
#[test]
fn documents_are_merged_field_by_field() {
    let document = || {
        doc! {
            "a": { "x": 1 }, "b": { "x": 2, "y": 2 }, "c": { "z": 3, "x": null }, "null": null,
            "all": [{ "x": 1 }, null, { "y": 2 }], "wrong": [{ "x": 1 }, 1],
        }
    };
    for (operands, expected) in [
        (Bson::from(vec!["$a", "$null"]), doc! { "x": 1 }),
        (vec!["$null", "$missing"].into(), doc! {}),
        (
            vec!["$a", "$b", "$c"].into(),
            doc! { "x": null, "y": 2, "z": 3 },
        ),
        ("$b".into(), doc! { "x": 2, "y": 2 }),
        ("$null".into(), doc! {}),
        (Bson::Array(Vec::new()), doc! {}),
        // An array as the only operand stands for its elements.
        ("$all".into(), doc! { "x": 1, "y": 2 }),
        (vec!["$all"].into(), doc! { "x": 1, "y": 2 }),
        (doc! { "x": { "$add": [1, 1] } }.into(), doc! { "x": 2 }),
    ] {
        let merged = value(doc! { "$mergeObjects": operands }, document());
        assert_eq!(merged, Some(expected.into()));
    }
    for wrong in [
        Bson::from(vec!["$a", "$all"]),
        "$wrong".into(),
        vec![Bson::from("$a"), 1.into()].into(),
    ] {
        assert_eq!(
            error_code(doc! { "$mergeObjects": wrong }, document()),
            40_400
        );
    }
}

/// Of the pages of `$getField`, `$setField` and `$unsetField`, and of their classes in MongoDB's sources.
#[test]
fn a_field_is_read_and_set_by_its_name_whatever_the_name_is() {
    let document = || {
        doc! { "a": { "x.y": 1, "$z": 2, "x": { "y": 3 } }, "b.c": 4, "null": null, "int": 5, "name": "x" }
    };
    let literal = |name: &str| doc! { "$literal": name };
    let set = |field: Bson, value: Bson| doc! { "$setField": { "field": field, "input": "$a", "value": value } };
    for (expression, expected) in [
        (doc! { "$getField": "b.c" }, Some(4.into())),
        (
            doc! { "$getField": { "field": "x.y", "input": "$a" } },
            Some(1.into()),
        ),
        (
            doc! { "$getField": { "field": literal("$z"), "input": "$a" } },
            Some(2.into()),
        ),
        (doc! { "$getField": literal("int") }, Some(5.into())),
        (
            doc! { "$getField": { "field": { "$concat": ["x", ".y"] }, "input": "$a" } },
            Some(1.into()),
        ),
        (
            doc! { "$getField": { "field": { "$toString": "$a.x.y" }, "input": { "3": "found" } } },
            Some("found".into()),
        ),
        (
            doc! { "$getField": { "field": "x", "input": "$missing" } },
            None,
        ),
        (
            doc! { "$getField": { "field": "x", "input": "$null" } },
            Some(Bson::Null),
        ),
        (
            doc! { "$getField": { "field": "x", "input": "$int" } },
            None,
        ),
        (doc! { "$getField": { "field": "no", "input": "$a" } }, None),
        (
            set("x.y".into(), "$int".into()),
            Some(doc! { "x.y": 5, "$z": 2, "x": { "y": 3 } }.into()),
        ),
        (
            set(literal("$new").into(), 1.into()),
            Some(doc! { "x.y": 1, "$z": 2, "x": { "y": 3 }, "$new": 1 }.into()),
        ),
        (
            set(literal("$z").into(), "$$REMOVE".into()),
            Some(doc! { "x.y": 1, "x": { "y": 3 } }.into()),
        ),
        (
            doc! { "$unsetField": { "field": "x.y", "input": "$a" } },
            Some(doc! { "$z": 2, "x": { "y": 3 } }.into()),
        ),
        (
            doc! { "$setField": { "field": "x", "input": "$missing", "value": 1 } },
            Some(Bson::Null),
        ),
    ] {
        assert_eq!(
            value(expression.clone(), document()),
            expected,
            "{expression}"
        );
    }
    for (expression, code) in [
        (
            doc! { "$getField": { "field": "x", "input": 1, "other": 1 } },
            3_041_701,
        ),
        (doc! { "$getField": { "input": 1 } }, 3_041_702),
        (doc! { "$getField": { "field": "x" } }, 3_041_703),
        (doc! { "$getField": 1 }, 3_041_704),
        (doc! { "$setField": 1 }, 4_161_100),
        (
            doc! { "$unsetField": { "field": "x", "input": 1, "value": 1 } },
            4_161_101,
        ),
        (doc! { "$setField": { "input": 1, "value": 1 } }, 4_161_102),
        (
            doc! { "$setField": { "field": "x", "input": 1 } },
            4_161_103,
        ),
        (
            doc! { "$setField": { "field": "x", "value": 1 } },
            4_161_109,
        ),
        (doc! { "$getField": "a\0b" }, 2),
        (set("$name".into(), 1.into()), 4_161_108),
        (set(vec!["x"].into(), 1.into()), 4_161_106),
        (set(1.into(), 1.into()), 4_161_107),
        (set(doc! {}.into(), 1.into()), 4_161_107),
        (set("a\0b".into(), 1.into()), 9_534_700),
        (doc! { "$unsetField": { "field": null } }, 4_161_109),
    ] {
        let refused = Expr::parse(&expression.clone().into()).expect_err("a wrong operand");
        assert_eq!(refused.code(), code, "{expression}");
    }
    for name in [
        Bson::from("$int"),
        "$missing".into(),
        vec!["x"].into(),
        doc! {}.into(),
    ] {
        let refused = evaluated(
            doc! { "$getField": { "field": name, "input": {} } },
            document(),
        );
        assert_eq!(refused.expect_err("no string").code(), 3_041_704);
    }
    let of_int = doc! { "$setField": { "field": "x", "input": "$int", "value": 1 } };
    assert_eq!(error_code(of_int, document()), 4_161_105);
}

#[test]
fn what_is_joined_is_bounded() {
    let document = doc! { "text": "x".repeat(10 << 20) };
    for (operator, operand, code) in [
        ("$concat", Bson::from("$text"), 16_493),
        ("$concatArrays", vec!["$text"].into(), 10_334),
        ("$mergeObjects", "$$ROOT".into(), 10_334),
    ] {
        let joined = doc! { operator: vec![operand; 7] };
        assert_eq!(error_code(joined, document.clone()), code, "{operator}");
    }
}
