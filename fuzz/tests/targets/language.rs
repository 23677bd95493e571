//! Filters, schemas, updates, sorts and projections, as pure functions.

use std::cmp::Ordering;

use fuzz::{Choices, check};
use odm::{
    bson::{DateTime, Document, RawDocumentBuf},
    mql::{Filter, Projection, Schema, Sort, Update},
};

/// The documents to which the parsed values are applied.
fn documents(choices: &mut Choices<'_>) -> Vec<RawDocumentBuf> {
    (0..3).map(|id| choices.stored(id)).collect()
}

fn whole(document: &RawDocumentBuf) -> Document {
    Document::try_from(document).expect("a result is well-formed")
}

fn check_filter(document: &Document, documents: &[RawDocumentBuf]) {
    let Ok(filter) = Filter::parse(document) else {
        return;
    };
    let again = filter.to_document();
    let read = Filter::parse(&again).unwrap_or_else(|error| panic!("{error}: {again}"));
    // Compares their texts, since NaN is not equal to itself.
    assert_eq!(format!("{filter:?}"), format!("{read:?}"), "{document}");
    let denied = odm::bson::doc! { "$nor": [document.clone()] };
    let denied = Filter::parse(&denied).expect("what can be asked can be denied");
    for document in documents {
        let matches = filter.matches(document);
        assert_eq!(read.matches(document), matches);
        assert_eq!(denied.matches(document), matches.map(|matches| !matches));
    }
    drop((filter.paths(), filter.upsert_seed()));
}

#[test]
fn a_filter_is_read_back_as_it_is_and_matches_what_its_opposite_does_not() {
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let filter = choices.filter(3);
        check_filter(&filter, &documents(&mut choices));
    });
}

fn check_schema(document: &Document, documents: &[RawDocumentBuf]) {
    let raw = RawDocumentBuf::try_from(document).expect("values of all types are BSON");
    let Ok(schema) = Schema::parse(&raw) else {
        return;
    };
    let denied = odm::bson::doc! { "not": document.clone() };
    let denied = RawDocumentBuf::try_from(&denied).expect("it is BSON, too");
    let denied = Schema::parse(&denied).expect("what can be asked can be denied");
    for document in documents {
        if let Ok(matches) = schema.matches(document) {
            assert_eq!(denied.matches(document), Ok(!matches));
            if let Ok(violations) = schema.violations(document) {
                assert_eq!(violations.is_empty(), matches, "{schema:?}: {violations:?}");
            }
        }
    }
    check_filter(&odm::bson::doc! { "$jsonSchema": document }, documents);
}

#[test]
fn a_schema_is_violated_by_what_does_not_match_it() {
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let schema = choices.schema(3);
        check_schema(&schema, &documents(&mut choices));
    });
}

fn check_update(document: &Document, filters: &[Document], documents: &[RawDocumentBuf]) {
    let Ok(update) = Update::parse(document, filters) else {
        return;
    };
    let again = update.to_document();
    let read = Update::parse(&again, &update.array_filters_documents());
    let read = read.unwrap_or_else(|error| panic!("{error}: {again}, from {document}"));
    assert_eq!(format!("{update:?}"), format!("{read:?}"), "{document}");
    let now = DateTime::from_millis(0);
    for document in documents {
        for is_insert in [false, true] {
            let changed = update.apply(document, is_insert, now);
            let changed_again = read.apply(document, is_insert, now);
            if let Ok(Some(changed)) = &changed {
                drop(whole(changed));
            }
            let text = |changed| format!("{changed:?}");
            assert_eq!(text(changed), text(changed_again));
        }
    }
}

#[test]
fn an_update_is_read_back_as_it_is_and_makes_well_formed_documents() {
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let (update, filters) = choices.update();
        check_update(&update, &filters, &documents(&mut choices));
    });
}

fn check_sort(document: &Document, documents: &[RawDocumentBuf]) {
    let Ok(sort) = Sort::parse(document) else {
        return;
    };
    assert_eq!(Sort::parse(&sort.to_document()), Ok(sort.clone()));
    for one in documents {
        for other in documents {
            let order = sort.compare(one, other);
            assert_eq!(order, sort.compare(other, one).reverse(), "{sort:?}");
            let keys = (sort.key(one), sort.key(other));
            assert_eq!(order, sort.compare_keys(&keys.0, &keys.1), "{sort:?}");
            let encoded = sort.encode_key(one).cmp(&sort.encode_key(other));
            assert_eq!(order, encoded, "{sort:?}: {one:?}, {other:?}");
        }
    }
    let mut sorted: Vec<&RawDocumentBuf> = documents.iter().collect();
    sorted.sort_by(|one, other| sort.compare(one, other));
    for pair in sorted.windows(2) {
        assert_ne!(sort.compare(pair[0], pair[1]), Ordering::Greater);
    }
}

fn check_projection(document: &Document, documents: &[RawDocumentBuf]) {
    let Ok(projection) = Projection::parse(document) else {
        return;
    };
    let again = projection.to_document();
    let read = Projection::parse(&again).unwrap_or_else(|error| panic!("{error}: {again}"));
    assert_eq!(format!("{projection:?}"), format!("{read:?}"), "{document}");
    for document in documents {
        let shown = projection.apply(document);
        if let Ok(shown) = &shown {
            drop(whole(shown));
        }
        let shown_again = read.apply(document);
        assert_eq!(format!("{shown:?}"), format!("{shown_again:?}"));
    }
}

#[test]
fn sorts_order_and_projections_show_without_a_panic() {
    check(300, |bytes| {
        let mut choices = Choices::new(bytes);
        let (sort, projection) = (choices.sort(), choices.projection());
        let documents = documents(&mut choices);
        check_sort(&sort, &documents);
        check_projection(&projection, &documents);
    });
}

#[test]
fn any_document_can_be_asked_to_be_a_filter_a_schema_an_update_a_sort_or_a_projection() {
    check(500, |bytes| {
        let mut choices = Choices::new(bytes);
        let document = match choices.below(2) {
            0 => choices.document(4),
            _ => {
                let raw = RawDocumentBuf::from_bytes(choices.framed());
                match raw.map(|raw| Document::try_from(&raw)) {
                    Ok(Ok(document)) => document,
                    _ => return,
                }
            }
        };
        let documents = documents(&mut choices);
        check_filter(&document, &documents);
        check_schema(&document, &documents);
        check_update(&document, &[], &documents);
        check_sort(&document, &documents);
        check_projection(&document, &documents);
    });
}
