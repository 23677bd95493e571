use super::*;

fn schema() -> Document {
    doc! { "required": ["a"], "properties": { "a": { "bsonType": "number" } } }
}

#[test]
fn a_schema_is_a_condition_on_the_whole_document() {
    let filter = doc! { "$jsonSchema": schema() };
    assert!(matches(filter.clone(), doc! { "a": 1 }));
    assert!(!matches(filter.clone(), doc! { "a": "x" }));
    assert!(!matches(filter, doc! {}));
}

#[test]
fn a_schema_stands_beside_other_conditions_and_in_logic() {
    let beside = doc! { "$jsonSchema": schema(), "b": 1 };
    assert!(matches(beside.clone(), doc! { "a": 1, "b": 1 }));
    assert!(!matches(beside, doc! { "a": 1, "b": 2 }));
    let either = doc! { "$or": [{ "$jsonSchema": schema() }, { "b": 1 }] };
    assert!(matches(either.clone(), doc! { "b": 1 }));
    assert!(matches(either, doc! { "a": 1 }));
    assert!(matches(
        doc! { "$nor": [{ "$jsonSchema": schema() }] },
        doc! {}
    ));
    // One schema does not take the place of the other.
    let both = doc! { "$and": [
        { "$jsonSchema": schema() },
        { "$jsonSchema": { "required": ["b"] } },
    ] };
    assert!(matches(both.clone(), doc! { "a": 1, "b": 1 }));
    assert!(!matches(both.clone(), doc! { "a": 1 }));
    assert!(!matches(both, doc! { "b": 1 }));
}

#[test]
fn a_schema_is_on_whole_documents_only() {
    for filter in [
        doc! { "a": { "$jsonSchema": {} } },
        doc! { "a": { "$not": { "$jsonSchema": {} } } },
        doc! { "a": { "$elemMatch": { "$jsonSchema": {} } } },
        doc! { "a": { "$elemMatch": { "b": 1, "$jsonSchema": {} } } },
        doc! { "a": { "$elemMatch": { "$and": [{ "$jsonSchema": {} }] } } },
    ] {
        let error = refused(filter);
        assert_eq!(error.code(), 224, "{error}");
        assert!(error.to_string().contains("`$jsonSchema`"), "{error}");
    }
}

#[test]
fn a_schema_is_an_object_and_its_errors_are_those_of_the_filter() {
    for operand in [Bson::from("x"), Bson::Array(Vec::new()), Bson::Null] {
        assert_eq!(refused(doc! { "$jsonSchema": operand }).code(), 14);
    }
    let error = refused(doc! { "$or": [{ "$jsonSchema": { "minimum": "x" } }] });
    assert_eq!(
        error.to_string(),
        "invalid schema: `minimum` must be a number"
    );
}

#[test]
fn a_filter_with_a_schema_reads_the_whole_document_and_seeds_nothing() {
    let filter = parse(doc! { "b": 1, "$jsonSchema": schema() });
    assert_eq!(filter.paths(), ["b", ""]);
    assert!(filter.has_schema() && !filter.has_expr());
    assert_eq!(filter.upsert_seed(), Ok(doc! { "b": 1 }));
    let moved = filter.with_paths(&|path| format!("c.{path}").into());
    assert_eq!(moved, parse(doc! { "c.b": 1, "$jsonSchema": schema() }));
    assert!(!parse(doc! { "a": 1, "$expr": true }).has_schema());
}

#[test]
fn a_pattern_of_a_schema_that_cannot_be_decided_fails_the_filter() {
    let costly = doc! { "properties": { "a": { "pattern": "(?=x)" } } };
    let filter = parse(doc! { "$nor": [{ "$jsonSchema": costly }] });
    let document = raw(doc! { "a": "y".repeat(100_000) });
    let error = filter.matches(&document).expect_err("it is too long");
    assert!(matches!(error, Error::RegexLimit { .. }), "{error}");
}
