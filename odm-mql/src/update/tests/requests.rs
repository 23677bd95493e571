//! Array filters, and refused requests.

use bson::doc;

use super::*;

fn filtered(update: Document, filters: &[Document], document: Document) -> Result<Document, Error> {
    let parsed = Update::parse(&update, filters)?;
    let again = Update::parse(&parsed.to_document(), &parsed.array_filters_documents());
    assert_eq!(again.as_ref(), Ok(&parsed));
    run(&parsed, &document, false)
}

#[test]
fn all_elements_are_updated_by_an_empty_position() {
    assert_eq!(
        apply(doc! { "$inc": { "a.$[]": 1 } }, doc! { "a": [1, 2] }),
        doc! { "a": [2, 3] }
    );
    assert_eq!(
        apply(
            doc! { "$set": { "a.$[].b.$[].c": 0 } },
            doc! { "a": [{ "b": [{ "c": 1 }, {}] }, { "b": [] }] }
        ),
        doc! { "a": [{ "b": [{ "c": 0 }, { "c": 0 }] }, { "b": [] }] }
    );
    assert_eq!(
        apply(doc! { "$unset": { "a.$[]": "" } }, doc! { "a": [1] }),
        doc! { "a": [null] }
    );
    assert!(matches!(
        fails(doc! { "$set": { "a.$[]": 1 } }, doc! {}),
        Error::WrongType { .. }
    ));
    assert!(matches!(
        fails(doc! { "$set": { "a.$[]": 1 } }, doc! { "a": 1 }),
        Error::WrongType { .. }
    ));
}

#[test]
fn array_filters_choose_elements() {
    assert_eq!(
        filtered(
            doc! { "$set": { "parts.$[p].name": "new" } },
            &[doc! { "p.id": 7 }],
            doc! { "parts": [{ "id": 7, "name": "old" }, { "id": 8, "name": "x" }] },
        ),
        Ok(doc! { "parts": [{ "id": 7, "name": "new" }, { "id": 8, "name": "x" }] })
    );
    assert_eq!(
        filtered(
            doc! { "$set": { "a.$[high]": 100 }, "$inc": { "a.$[low]": -1 } },
            &[
                doc! { "high": { "$gte": 5 } },
                doc! { "$or": [{ "low": 1 }, { "low": 2 }] }
            ],
            doc! { "a": [1, 3, 5, 2] },
        ),
        Ok(doc! { "a": [0, 3, 100, 1] })
    );
    assert_eq!(
        filtered(
            doc! { "$set": { "a.$[x].b": 1, "a.$[].c": 2 } },
            &[doc! { "x.k": 1 }],
            doc! { "a": [{ "k": 1 }, { "k": 2 }] },
        ),
        Ok(doc! { "a": [{ "k": 1, "b": 1, "c": 2 }, { "k": 2, "c": 2 }] })
    );
    let conflict = filtered(
        doc! { "$set": { "a.$[x]": 1 }, "$inc": { "a.$[y]": 1 } },
        &[doc! { "x": 1 }, doc! { "y": { "$lt": 5 } }],
        doc! { "a": [1] },
    );
    assert!(matches!(conflict, Err(Error::ConflictingPaths { .. })));
}

#[test]
fn array_filters_must_fit_their_paths() {
    let update = doc! { "$set": { "a.$[x]": 1 } };
    for filters in [
        vec![],
        vec![doc! { "x": 1 }, doc! { "y": 1 }],
        vec![doc! { "x": 1 }, doc! { "x": 2 }],
        vec![doc! { "x": 1, "y": 1 }],
        vec![doc! { "X": 1 }],
        vec![doc! {}],
    ] {
        let error = Update::parse(&update, &filters).expect_err("they do not fit");
        assert!(matches!(error, Error::ArrayFilter { .. }), "{error}");
    }
}

#[test]
fn paths_that_touch_each_other_conflict() {
    assert_eq!(
        refused(doc! { "$set": { "a": 1 }, "$inc": { "a.b": 1 } }).to_string(),
        "conflicting paths: `a.b` and `a` overlap; name each field once"
    );
    for conflict in [
        doc! { "$set": { "a.b": 1, "a": 1 } },
        doc! { "$set": { "a": 1 }, "$inc": { "a": 1 } },
        doc! { "$rename": { "a": "b" }, "$set": { "b.c": 1 } },
        doc! { "$rename": { "a": "a.b" } },
        doc! { "$set": { "a.$[]": 1, "a.0": 1 } },
    ] {
        assert!(matches!(refused(conflict), Error::ConflictingPaths { .. }));
    }
    parse(doc! { "$set": { "a.b": 1, "a.c": 1, "ab": 1 } });
}

#[test]
fn what_is_no_update_is_refused() {
    assert_eq!(refused(doc! { "a": 1 }), Error::NotAnOperator("a".into()));
    for (update, operator) in [
        (doc! { "$x": { "a": 1 } }, "$x"),
        (doc! { "$push": { "a": { "$each": [], "$y": 1 } } }, "$y"),
    ] {
        let error = refused(update);
        assert!(
            matches!(&error, Error::UnknownOperator { operator: name, .. } if name == operator)
        );
    }
    for path in [
        "", "a.", ".a", "a..b", "$a", "$", "$.a", "a.$.b.$", "$[]", "a\0b", "a.$[x",
    ] {
        let error = refused(doc! { "$set": { path: 1 } });
        assert!(matches!(error, Error::BadPath { .. }), "{path}: {error}");
    }
    for operand in [
        doc! { "$set": 1 },
        doc! { "$inc": { "a": "x" } },
        doc! { "$rename": { "a": 1 } },
        doc! { "$rename": { "a": "a" } },
        doc! { "$bit": { "a": 1 } },
        doc! { "$bit": { "a": {} } },
        doc! { "$bit": { "a": { "and": 1.0 } } },
        doc! { "$bit": { "a": { "not": 1 } } },
        doc! { "$pop": { "a": 2 } },
        doc! { "$pullAll": { "a": 1 } },
        doc! { "$currentDate": { "a": 1 } },
        doc! { "$addToSet": { "a": { "$each": 1 } } },
        doc! { "$push": { "a": { "$each": 1 } } },
        doc! { "$push": { "a": { "$each": [], "$slice": 1.5 } } },
        doc! { "$push": { "a": { "$each": [], "$sort": 2 } } },
        doc! { "$push": { "a": { "$each": [], "$sort": {} } } },
    ] {
        let error = refused(operand.clone());
        assert!(
            matches!(error, Error::BadOperand { .. }),
            "{operand}: {error}"
        );
    }
    assert!(matches!(
        refused(doc! { "$rename": { "a.$[]": "b" } }),
        Error::BadPath { .. }
    ));
}

#[test]
fn the_codes_of_errors_are_those_of_mongodb() {
    for (update, code) in [
        (doc! { "$set": 1 }, 9),
        (doc! { "$x": { "a": 1 } }, 9),
        (doc! { "$set": { "": 1 } }, 56),
        (doc! { "$set": { "$a": 1 } }, 52),
        (doc! { "$set": { "a\0": 1 } }, 9_867_600),
        (doc! { "$inc": { "a": "x" } }, 14),
        (doc! { "$pop": { "a": 2 } }, 9),
        (doc! { "$addToSet": { "a": { "$each": 1 } } }, 14),
        (doc! { "$set": { "a": 1, "a.b": 1 } }, 40),
    ] {
        assert_eq!(refused(update.clone()).code(), code, "{update}");
    }
    for (update, document, code) in [
        (doc! { "$inc": { "a": 1 } }, doc! { "a": "x" }, 14),
        (doc! { "$push": { "a": 1 } }, doc! { "a": 1 }, 2),
        (doc! { "$pop": { "a": 1 } }, doc! { "a": 1 }, 14),
        (doc! { "$set": { "a.b": 1 } }, doc! { "a": 1 }, 28),
        (doc! { "$set": { "_id": 2 } }, doc! { "_id": 1 }, 66),
    ] {
        assert_eq!(fails(update.clone(), document).code(), code, "{update}");
    }
}

#[test]
fn an_update_of_absurd_depth_is_refused() {
    let nested =
        |levels: usize| (0..levels).fold(Bson::from(1), |inner, _| doc! { "a": inner }.into());
    for operator in [
        "$set",
        "$push",
        "$addToSet",
        "$pull",
        "$min",
        "$setOnInsert",
    ] {
        for levels in [180, 400] {
            let update = doc! { operator: { "x": nested(levels) } };
            assert_eq!(refused(update), Error::TooDeep(180), "{operator}");
        }
    }
    assert!(Update::parse(&doc! { "$set": { "x": nested(179) } }, &[]).is_ok());
    // The bound applies in arrays, and in the filter of an element, too.
    let array = (0..180).fold(Bson::from(1), |inner, _| vec![inner].into());
    assert_eq!(
        refused(doc! { "$set": { "x": array } }),
        Error::TooDeep(180)
    );
    let filters = [doc! { "e": nested(180) }];
    let by_filter = Update::parse(&doc! { "$set": { "x.$[e]": 1 } }, &filters);
    assert_eq!(by_filter, Err(Error::TooDeep(180)));
}
