//! Decimals, bits, positions, names, and long lists.

use super::*;

#[test]
fn decimals_are_calculated_with_exactly() {
    let decimal = |text: &str| Bson::Decimal128(text.parse().expect("a decimal"));
    let a = |value: Bson| doc! { "a": value };
    let changed = |operator: &str, before: Bson, operand: Bson| {
        apply(doc! { operator: a(operand) }, a(before))
    };
    assert_eq!(changed("$inc", 5.into(), decimal("0.1")), a(decimal("5.1")));
    assert_eq!(
        changed("$inc", decimal("0.1"), decimal("0.20")),
        a(decimal("0.30"))
    );
    assert_eq!(
        changed("$mul", decimal("1.5"), 2_i64.into()),
        a(decimal("3.0"))
    );
    assert_eq!(
        changed("$mul", decimal("Infinity"), 0.into()),
        a(decimal("NaN"))
    );
    assert_eq!(
        apply(doc! { "$inc": a(decimal("1.50")) }, doc! {}),
        a(decimal("1.50"))
    );
    assert_eq!(
        apply(doc! { "$mul": a(decimal("1.5")) }, doc! {}),
        a(decimal("0.0"))
    );
}

#[test]
fn a_double_beside_a_decimal_counts_with_fifteen_digits() {
    let decimal = |text: &str| Bson::Decimal128(text.parse().expect("a decimal"));
    for (operator, before, operand, after) in [
        ("$inc", decimal("1.5"), Bson::from(0.1), "1.600000000000000"),
        ("$inc", 0.25.into(), decimal("1"), "1.250000000000000"),
        (
            "$inc",
            decimal("0"),
            (1.0 / 3.0).into(),
            "0.333333333333333",
        ),
        ("$mul", decimal("1.5"), 0.1.into(), "0.1500000000000000"),
        ("$mul", 0.1.into(), decimal("-3"), "-0.300000000000000"),
        ("$mul", decimal("2"), f64::INFINITY.into(), "Infinity"),
    ] {
        let changed = apply(doc! { operator: { "a": operand } }, doc! { "a": before });
        assert_eq!(changed, doc! { "a": decimal(after) }, "{operator}");
    }
}

#[test]
fn a_number_that_does_not_change_keeps_its_sign() {
    let unchanged = |update: Document| parse(update).apply(&raw(doc! { "a": -0.0 }), false, now());
    assert_eq!(unchanged(doc! { "$inc": { "a": 0.0 } }), Ok(None));
    assert_eq!(unchanged(doc! { "$mul": { "a": -0.0 } }), Ok(None));
}

#[test]
fn bits_are_combined_one_operation_after_another() {
    let bit =
        |operand: Document, document: Document| apply(doc! { "$bit": { "a": operand } }, document);
    assert_eq!(bit(doc! { "and": 10 }, doc! { "a": 13 }), doc! { "a": 8 });
    assert_eq!(
        bit(doc! { "or": 5, "xor": 1 }, doc! { "a": 8 }),
        doc! { "a": 12 }
    );
    assert_eq!(
        bit(doc! { "or": 5_i64 }, doc! { "a": 8 }),
        doc! { "a": 13_i64 }
    );
    assert_eq!(bit(doc! { "or": 5 }, doc! {}), doc! { "a": 5 });
    assert_eq!(bit(doc! { "and": 5_i64 }, doc! {}), doc! { "a": 0_i64 });
    assert!(matches!(
        fails(doc! { "$bit": { "a": { "or": 1 } } }, doc! { "a": 1.0 }),
        Error::WrongType { .. }
    ));
}

#[test]
fn a_position_is_the_element_by_which_the_filter_matches() {
    let matched = |update: Document, filter: Document, document: Document| {
        let update = parse(update);
        let filter = Filter::parse(&filter).expect("a filter");
        let after = update.apply_matched(&filter, &raw(document), now())?;
        Ok::<_, Error>(after.map(|after| Document::try_from(after).expect("a document")))
    };
    let document = || doc! { "a": [{ "b": 1 }, { "b": 2 }], "c": [1, 2, 3] };
    assert_eq!(
        matched(
            doc! { "$set": { "a.$.x": 1 } },
            doc! { "a.b": 2 },
            document()
        ),
        Ok(Some(
            doc! { "a": [{ "b": 1 }, { "b": 2, "x": 1 }], "c": [1, 2, 3] }
        ))
    );
    assert_eq!(
        matched(
            doc! { "$inc": { "c.$": 5 } },
            doc! { "c": { "$gt": 2 } },
            document()
        ),
        Ok(Some(doc! { "a": [{ "b": 1 }, { "b": 2 }], "c": [1, 2, 8] }))
    );
    let none = matched(
        doc! { "$set": { "a.$": 1 } },
        doc! { "a.b": { "$ne": 7 } },
        document(),
    );
    assert!(matches!(none, Err(Error::NoPosition { .. })));
    let update = parse(doc! { "$set": { "a.$": 1 } });
    assert!(update.apply(&raw(document()), false, now()).is_err());
}

#[test]
fn an_embedded_field_can_begin_with_a_dollar() {
    assert_eq!(
        apply(doc! { "$set": { "a.$b": 1 } }, doc! {}),
        doc! { "a": { "$b": 1 } }
    );
    assert_eq!(
        apply(doc! { "$rename": { "$a": "b" } }, doc! { "c": 1 }),
        doc! { "c": 1 }
    );
}

#[test]
fn long_lists_are_added_and_removed_as_short_ones() {
    let numbers = |range: std::ops::Range<i32>| Bson::Array(range.map(Bson::Int32).collect());
    let added = doc! { "$addToSet": { "a": { "$each": numbers(50..20_050) } } };
    let document = || doc! { "a": numbers(0..20_000) };
    let started = std::time::Instant::now();
    assert_eq!(apply(added, document()), doc! { "a": numbers(0..20_050) });
    let pulled = doc! { "$pullAll": { "a": numbers(50..20_000) } };
    assert_eq!(apply(pulled, document()), doc! { "a": numbers(0..50) });
    // Each value compared with each element takes minutes.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
