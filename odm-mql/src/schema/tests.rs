use bson::{Bson, Document, RawBson, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::*;
use crate::{
    End, Filter, Operation, Push, Update,
    testing::{document, raw, small_nested, small_value},
};

fn parse(schema: Document) -> Result<Schema, Error> {
    Schema::parse(&raw(schema))
}

/// The violations of a document, as text.
fn told(schema: Document, document: Document) -> Vec<String> {
    let schema = parse(schema).expect("a schema");
    let violations = schema
        .violations(&raw(document.clone()))
        .expect("no pattern is costly");
    assert_eq!(schema.matches(&raw(document)), Ok(violations.is_empty()));
    let told = violations.iter().map(Violation::to_string);
    told.collect()
}

/// The cases state the behaviour that MongoDB documents, in extended JSON: each a schema, and a document with whether it conforms, or the
/// code of the error.
#[test]
fn every_case_has_the_result_of_mongodb() {
    let mut wrong = Vec::new();
    for line in include_str!("cases.jsonl").lines() {
        let case: Document = serde_json::from_str(line).expect("a case is extended JSON");
        let name = case.get_str("name").expect("a case has a name");
        let schema = parse(case.get_document("schema").expect("a schema").clone());
        let result = match &schema {
            Err(error) => Err(error.code()),
            Ok(schema) => {
                let document = case.get_document("document").cloned().unwrap_or_default();
                let document = raw(document);
                let matches = schema.matches(&document);
                let violations = schema.violations(&document).map(|all| all.is_empty());
                assert_eq!(matches, violations, "{name}");
                Ok(matches.expect("no pattern is costly"))
            }
        };
        let expected = match case.get_bool("valid") {
            Ok(valid) => Ok(valid),
            Err(_) => Err(case.get_i32("error").expect("a result")),
        };
        if result != expected {
            wrong.push(format!("{name}: {result:?}, not {expected:?}: {schema:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn violations_are_told_in_words_in_the_order_of_the_document() {
    let schema = doc! {
        "required": ["name", "code"],
        "properties": {
            "price": { "properties": { "value": { "minimum": 0 } } },
            "kind": { "enum": ["nut", "bolt"] },
            "parts": { "items": { "required": ["name"] }, "maxItems": 1, "uniqueItems": true },
            "name": { "bsonType": ["string", "null"], "minLength": 2, "pattern": "^[a-z]+$" },
            "size": { "maximum": 10, "exclusiveMaximum": true, "multipleOf": 3 },
        },
        "additionalProperties": false,
    };
    let document = doc! {
        "size": 10,
        "price": { "value": -3 },
        "parts": [{}, { "name": "a" }, {}],
        "other": 1,
        "kind": "nail",
        "name": "A",
    };
    let expected = [
        "`size` must be less than 10, and is 10",
        "`size` must be a multiple of 3, and is 10",
        "`price.value` must be at least 0, and is -3",
        "`parts.0.name` is missing",
        "`parts.2.name` is missing",
        "`parts` must have at most 1 item, and has 3",
        "`parts` must have no equal items, and the items 0 and 2 are equal",
        "`other` is not allowed, since the schema does not name it",
        "`kind` must be one of \"nut\", \"bolt\", and is \"nail\"",
        "`name` must have at least 2 characters, and has 1",
        "`name` must match the pattern `^[a-z]+$`, and is \"A\"",
        "`code` is missing",
    ];
    assert_eq!(told(schema, document), expected);
}

#[test]
fn a_rule_of_the_document_is_told_of_the_document() {
    let schema = doc! { "minProperties": 2, "not": { "required": ["a"] } };
    let expected = [
        "the document must have at least 2 fields, and has 1",
        "the document must not conform to the schema of `not`, and does",
    ];
    assert_eq!(told(schema, doc! { "a": 1 }), expected);
    let schema = doc! { "dependencies": { "a": ["b"] }, "bsonType": "string" };
    let expected = [
        "the document must be of type string, and is object",
        "`b` is missing, and is needed beside `a`",
    ];
    assert_eq!(told(schema, doc! { "a": 1 }), expected);
}

#[test]
fn a_violation_names_its_path_and_its_keyword() {
    let schema = parse(doc! { "properties": { "a": { "items": [{ "type": "string" }] } } });
    let violations = schema.and_then(|schema| schema.violations(&raw(doc! { "a": [1] })));
    let expected = Violation {
        path: "a.0".to_owned(),
        rule: "type".to_owned(),
        message: "must be of type string, and is int".to_owned(),
    };
    assert_eq!(violations, Ok(vec![expected]));
}

#[test]
fn an_empty_name_in_a_path_is_told_as_such() {
    let text = doc! { "type": "string" };
    let schema = doc! { "properties": {
        "": text.clone(),
        "a": { "properties": { "": text } },
    } };
    let expected = [
        "`\"\"` must be of type string, and is int",
        "`a.\"\"` must be of type string, and is int",
    ];
    assert_eq!(told(schema, doc! { "": 1, "a": { "": 1 } }), expected);
}

#[test]
fn the_schema_that_was_meant_is_told_where_types_or_lists_say_it() {
    let shapes = doc! { "properties": { "shape": { "anyOf": [
        { "bsonType": "string", "minLength": 3 },
        { "properties": { "kind": { "enum": ["circle"] }, "r": { "minimum": 0 } } },
        { "properties": { "kind": { "enum": ["square"] }, "side": { "minimum": 0 } } },
    ] } } };
    let none = "`shape` must conform to one of 3 schemas, and conforms to none";
    let square = doc! { "shape": { "kind": "square", "side": -1, "r": -1 } };
    let expected = [none, "`shape.side` must be at least 0, and is -1"];
    assert_eq!(told(shapes.clone(), square), expected);
    let unknown = doc! { "shape": { "kind": "line" } };
    assert_eq!(told(shapes, unknown), [none]);
    let numbers = doc! { "properties": { "a": { "anyOf": [{ "minimum": 5 }, { "enum": [1] }] } } };
    let expected = [
        "`a` must conform to one of 2 schemas, and conforms to none",
        "`a` must be at least 5, and is 2",
    ];
    assert_eq!(told(numbers, doc! { "a": 2 }), expected);
}

#[test]
fn one_of_tells_how_many_schemas_match() {
    let schema = doc! { "properties": { "a": { "oneOf": [{ "minimum": 0 }, { "maximum": 3 }] } } };
    let expected = ["`a` must conform to exactly one of 2 schemas, and conforms to 2"];
    assert_eq!(told(schema, doc! { "a": 1 }), expected);
    let schema = doc! { "properties": { "a": { "oneOf": [{ "minimum": 3 }, { "enum": [1] }] } } };
    let expected = ["`a` must conform to exactly one of 2 schemas, and conforms to none"];
    assert_eq!(told(schema, doc! { "a": 2 }), expected);
}

#[test]
fn a_long_value_is_cut_where_it_is_told() {
    let schema = doc! { "properties": { "a": { "pattern": "^b" } } };
    for length in [100, 1000] {
        let told = told(schema.clone(), doc! { "a": "\u{e9}".repeat(length) });
        assert!(told[0].ends_with("..."), "{told:?}");
        assert!(told[0].chars().count() < 150, "{told:?}");
    }
}

#[test]
fn an_error_names_the_place_in_the_schema() {
    let text = |schema| parse(schema).expect_err("no schema").to_string();
    assert_eq!(
        text(doc! { "properties": { "a": { "items": [{}, { "minimum": "0" }] } } }),
        "invalid schema: `properties.a.items.1.minimum` must be a number"
    );
    assert_eq!(
        text(doc! { "anyOf": [{ "format": "email" }] }),
        "invalid schema: `anyOf.0.format` is a keyword that MongoDB does not support; leave it out"
    );
}

#[test]
fn a_field_or_a_keyword_that_is_there_twice_is_refused() {
    let twice = |name: &str, value: Bson| {
        let once = RawDocumentBuf::try_from(doc! { name: value }).expect("valid BSON");
        let once = &once.as_bytes()[4..once.as_bytes().len() - 1];
        let mut bytes = ((once.len() * 2 + 5) as u32).to_le_bytes().to_vec();
        bytes.extend([once, once, &[0]].concat());
        RawDocumentBuf::from_bytes(bytes).expect("a document")
    };
    let error = Schema::parse(&twice("type", "object".into())).expect_err("a keyword is twice");
    assert_eq!(error.code(), 9);
    for keyword in ["properties", "dependencies"] {
        let mut schema = RawDocumentBuf::new();
        let keyword: &str = keyword;
        let name = bson::raw::CString::try_from(keyword).expect("no NUL");
        schema.append(name, twice("a", doc! {}.into()));
        let error = Schema::parse(&schema).expect_err("a field is twice");
        assert_eq!(error.code(), 9, "{error}");
    }
}

#[test]
fn more_fields_than_a_word_has_bits_are_required_one_by_one() {
    let names: Vec<String> = (0..150).map(|number| format!("f{number}")).collect();
    let schema = parse(doc! { "required": names.clone() }).expect("a schema");
    let whole: Document = names.iter().map(|name| (name.clone(), 1.into())).collect();
    assert_eq!(schema.matches(&raw(whole.clone())), Ok(true));
    for name in names {
        let mut document = whole.clone();
        document.remove(&name);
        let violations = schema.violations(&raw(document)).expect("no pattern");
        let paths: Vec<String> = violations.into_iter().map(|one| one.path).collect();
        assert_eq!(paths, [name]);
    }
}

/// A schema of as many levels of documents, with the innermost one.
fn nested(levels: usize, keyword: &str) -> Document {
    (1..levels).fold(doc! {}, |inner, _| doc! { keyword: inner })
}

#[test]
fn a_schema_is_as_deep_as_a_filter_and_is_checked_on_a_small_stack() {
    for keyword in ["not", "items", "additionalProperties"] {
        let schema = parse(nested(180, keyword)).expect("a schema of 180 levels");
        let document = (0..179).fold(Bson::Int32(1), |inner, _| match keyword {
            "items" => Bson::Array(vec![inner]),
            _ => doc! { "a": inner }.into(),
        });
        let document = raw(doc! { "a": document });
        let matches = schema.matches(&document);
        let violations = schema.violations(&document).map(|all| all.is_empty());
        assert_eq!(matches, violations);
        let error = parse(nested(181, keyword)).expect_err("a schema of 181 levels");
        assert_eq!(error, Error::TooDeep(180));
    }
    let form = nested(179, "not");
    let filter = Filter::parse(&doc! { "$jsonSchema": form.clone() }).expect("a filter");
    assert_eq!(filter.to_document(), doc! { "$jsonSchema": form });
    let error = Filter::parse(&doc! { "$jsonSchema": nested(180, "not") });
    assert_eq!(error, Err(Error::TooDeep(180)));
}

#[test]
fn a_pattern_that_cannot_be_decided_is_an_error() {
    let schema = parse(doc! { "properties": { "a": { "pattern": "(?=x)" } } }).expect("a schema");
    let document = raw(doc! { "a": "y".repeat(100_000) });
    let error = schema.matches(&document).expect_err("the text is too long");
    assert!(matches!(error, Error::RegexLimit { .. }), "{error}");
    assert_eq!(schema.violations(&document), Err(error));
}

/// Schemas of few names and few values.
fn schema() -> impl Strategy<Value = Document> {
    let number = || prop_oneof![Just(Bson::Int32(1)), Just(Bson::Double(1.5))];
    let leaf = prop_oneof![
        Just(doc! {}),
        prop_oneof!["int", "number", "string", "array", "object", "null"]
            .prop_map(|name| doc! { "bsonType": name }),
        (number(), any::<bool>())
            .prop_map(|(bound, is)| doc! { "minimum": bound, "exclusiveMinimum": is }),
        (number(), any::<bool>())
            .prop_map(|(bound, is)| doc! { "maximum": bound, "exclusiveMaximum": is }),
        number().prop_map(|divisor| doc! { "multipleOf": divisor }),
        small_nested().prop_map(|value| doc! { "enum": [value] }),
        (0..3).prop_map(|length| doc! { "minLength": length, "maxItems": length }),
        (0..3).prop_map(|length| doc! { "minProperties": length, "uniqueItems": true }),
        Just(doc! { "pattern": "a" }),
        Just(doc! { "required": ["a", "1"], "dependencies": { "b": ["c"] } }),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            two().prop_map(|(a, b)| doc! { "properties": { "a": a, "b": b } }),
            two().prop_map(|(a, b)| doc! { "properties": { "0": a }, "additionalProperties": b }),
            two().prop_map(|(a, b)| doc! { "patternProperties": { "[ab]": a, "b": b } }),
            two().prop_map(|(a, b)| doc! { "items": [a], "additionalItems": b }),
            inner.clone().prop_map(|a| doc! { "items": a }),
            two().prop_map(|(a, b)| doc! { "allOf": [a, b] }),
            two().prop_map(|(a, b)| doc! { "anyOf": [a, b] }),
            two().prop_map(|(a, b)| doc! { "oneOf": [a, b] }),
            inner.clone().prop_map(|a| doc! { "not": a }),
            inner.prop_map(|a| doc! { "dependencies": { "a": a } }),
        ]
    })
}

proptest! {
    #[test]
    fn a_document_conforms_if_it_violates_nothing(schema in schema(), document in document()) {
        let denied = parse(doc! { "not": schema.clone() }).expect("a schema");
        let schema = parse(schema).expect("a schema");
        let document = raw(document);
        let matches = schema.matches(&document).expect("no pattern is costly");
        let violations = schema.violations(&document).expect("no pattern is costly");
        prop_assert_eq!(violations.is_empty(), matches, "{:?}", violations);
        prop_assert_eq!(denied.matches(&document), Ok(!matches));
    }

    #[test]
    fn logic_is_that_of_its_parts(a in schema(), b in schema(), document in document()) {
        let document = raw(document);
        let matches = |schema: Document| {
            parse(schema).and_then(|schema| schema.matches(&document)).expect("a schema")
        };
        let (is_a, is_b) = (matches(a.clone()), matches(b.clone()));
        let both = vec![a, b];
        prop_assert_eq!(matches(doc! { "allOf": both.clone() }), is_a && is_b);
        prop_assert_eq!(matches(doc! { "anyOf": both.clone() }), is_a || is_b);
        prop_assert_eq!(matches(doc! { "oneOf": both }), is_a != is_b);
    }

    #[test]
    fn a_rule_of_single_values_is_that_of_a_filter(value in small_value(), operand in small_value()) {
        let document = raw(doc! { "a": value });
        let conforms = |schema: Document| {
            let schema = parse(doc! { "properties": { "a": schema } }).expect("a schema");
            schema.matches(&document).expect("no pattern")
        };
        let matches = |test: Document| {
            let filter = Filter::parse(&doc! { "a": test }).expect("a filter");
            filter.matches(&document).expect("no pattern")
        };
        prop_assert_eq!(
            conforms(doc! { "enum": [operand.clone()] }),
            matches(doc! { "$eq": operand.clone() })
        );
        let is_number = matches(doc! { "$type": "number" });
        prop_assert_eq!(conforms(doc! { "bsonType": "number" }), is_number);
        if matches!(operand, Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)) {
            for (keyword, exclusive, within, beyond) in [
                ("minimum", "exclusiveMinimum", "$gte", "$gt"),
                ("maximum", "exclusiveMaximum", "$lte", "$lt"),
            ] {
                let bound = doc! { keyword: operand.clone() };
                let expected = !is_number || matches(doc! { within: operand.clone() });
                prop_assert_eq!(conforms(bound.clone()), expected);
                let mut bound = bound;
                bound.insert(exclusive, true);
                let expected = !is_number || matches(doc! { beyond: operand.clone() });
                prop_assert_eq!(conforms(bound), expected);
            }
        }
    }

    #[test]
    fn equality_without_the_order_of_fields_is_an_order(
        a in small_nested(), b in small_nested(), c in small_nested(),
    ) {
        use equality::compare;
        let [a, b, c] = [a, b, c].map(crate::testing::raw_value);
        let [a, b, c] = [&a, &b, &c].map(|value| value.as_raw_bson_ref());
        prop_assert_eq!(compare(a, b), compare(b, a).reverse());
        prop_assert!(compare(a, a).is_eq());
        if compare(a, b).is_le() && compare(b, c).is_le() {
            prop_assert!(compare(a, c).is_le());
        }
        if crate::order::equal(a, b) {
            prop_assert!(compare(a, b).is_eq());
        }
    }
}

/// Schemas that allow and refuse small documents, about as often.
fn small_schema() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(doc! {}),
        Just(doc! { "bsonType": "int" }),
        Just(doc! { "bsonType": "long" }),
        Just(doc! { "bsonType": "double" }),
        Just(doc! { "bsonType": ["long", "null"] }),
        Just(doc! { "bsonType": ["int", "string"] }),
        (0..2_i32, 0..2_i32)
            .prop_map(|(least, most)| doc! { "minimum": least, "maximum": most + 1 }),
        any::<bool>().prop_map(|exclusive| {
            doc! { "bsonType": "int", "maximum": 2, "exclusiveMaximum": exclusive }
        }),
        Just(doc! { "minimum": i64::MAX - 1 }),
        Just(doc! { "multipleOf": 2 }),
        Just(doc! { "enum": [0, 1, "a"] }),
        Just(doc! { "pattern": "^a" }),
        Just(doc! { "not": { "bsonType": "string" } }),
        Just(doc! { "anyOf": [{ "bsonType": "int" }, { "minimum": 1 }] }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let properties = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        let properties = properties.prop_map(|fields| {
            let fields = fields
                .into_iter()
                .map(|(name, schema)| (name, Bson::Document(schema)));
            fields.collect::<Document>()
        });
        prop_oneof![
            properties
                .clone()
                .prop_map(|fields| doc! { "properties": fields }),
            (properties.clone(), "[abc]").prop_map(|(fields, name)| {
                doc! { "bsonType": "object", "properties": fields, "required": [name] }
            }),
            properties
                .prop_map(|fields| doc! { "properties": fields, "additionalProperties": false }),
            inner
                .clone()
                .prop_map(|rest| doc! { "additionalProperties": rest }),
            inner
                .clone()
                .prop_map(|items| doc! { "bsonType": "array", "items": items }),
            (inner.clone(), 0..3_i32)
                .prop_map(|(items, most)| doc! { "items": items, "maxItems": most }),
            inner.clone().prop_map(|first| doc! { "items": [first] }),
            inner
                .clone()
                .prop_map(|one| doc! { "allOf": [one, { "uniqueItems": true }] }),
            (inner.clone(), inner).prop_map(|(one, other)| doc! { "allOf": [one, other] }),
            (1..3_i32).prop_map(|least| doc! { "minItems": least }),
            (0..3_i32).prop_map(|most| doc! { "maxProperties": most }),
            Just(doc! { "dependencies": { "a": ["b"] } }),
            Just(doc! { "patternProperties": { "^a": { "bsonType": "int" } } }),
        ]
    })
}

fn small_operation() -> impl Strategy<Value = Operation> {
    let value = || small_nested().prop_map(crate::testing::raw_value);
    let whole = prop_oneof![
        (-2..3_i32).prop_map(RawBson::from),
        (-2..3_i64).prop_map(RawBson::from),
        Just(RawBson::from(i64::MIN)),
        Just(RawBson::from(i32::MAX)),
        Just(RawBson::from(0.5)),
    ];
    let push = (
        prop::collection::vec(value(), 0..3),
        prop::option::of(-2..3_i64),
    );
    prop_oneof![
        3 => value().prop_map(Operation::Set),
        1 => Just(Operation::Unset),
        3 => whole.prop_map(Operation::Inc),
        1 => value().prop_map(Operation::Min),
        1 => value().prop_map(Operation::Max),
        2 => push.prop_map(|(each, slice)| Operation::Push(Push { each, slice, ..Push::default() })),
        1 => prop::collection::vec(value(), 0..3).prop_map(Operation::AddToSet),
        1 => Just(Operation::Pop(End::First)),
        1 => Just(Operation::Mul(2.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn an_update_that_a_schema_says_to_be_kept_by_leaves_no_document_against_it(
        schema in small_schema(),
        operations in prop::collection::btree_map(crate::testing::path(), small_operation(), 1..3),
        documents in prop::collection::vec(document(), 8),
    ) {
        let schema = parse(schema).expect("a schema");
        let mut update = Update::default();
        for (path, operation) in operations {
            update.push(path, operation);
        }
        let Some(kept) = schema.kept_by(&update) else {
            return Ok(());
        };
        let now = bson::DateTime::from_millis(0);
        for document in documents.into_iter().map(raw) {
            if schema.matches(&document).unwrap()
                && kept.matches(&document).unwrap()
                && let Ok(Some(after)) = update.apply(&document, false, now)
            {
                prop_assert!(schema.matches(&after).unwrap(), "{document:?} becomes {after:?}");
            }
        }
    }
}

/// The filters under which updates keep conformity, and `None` for updates that need the document.
#[test]
fn a_schema_is_kept_by_updates_that_each_conform_to_the_rules_of_their_field() {
    let schema = parse(doc! {
        "bsonType": "object",
        "required": ["_id", "name"],
        "properties": {
            "name": { "bsonType": "string", "maxLength": 5 },
            "note": { "bsonType": ["string", "null"] },
            "count": { "bsonType": "long", "minimum": 0 },
            "small": { "bsonType": "int" },
            "price": { "bsonType": "object", "required": ["value"], "properties": { "value": { "bsonType": "double" } } },
            "tags": { "bsonType": "array", "items": { "bsonType": "string" } },
            "few": { "bsonType": "array", "maxItems": 2 },
        },
    })
    .unwrap();
    let kept = |update: Document| {
        let update = Update::parse(&update, &[]).unwrap();
        schema.kept_by(&update).map(|filter| filter.to_document())
    };
    assert_eq!(
        kept(doc! { "$set": { "name": "short", "note": null } }),
        Some(doc! {})
    );
    assert_eq!(kept(doc! { "$set": { "name": "longer" } }), None);
    assert_eq!(kept(doc! { "$set": { "other": 1 } }), Some(doc! {}));
    assert_eq!(kept(doc! { "$unset": { "note": "" } }), Some(doc! {}));
    assert_eq!(kept(doc! { "$unset": { "name": "" } }), None);
    assert_eq!(
        kept(doc! { "$inc": { "count": -2_i64 } }),
        Some(doc! { "count": { "$type": "long", "$gte": 2_i64 } })
    );
    assert_eq!(
        kept(doc! { "$inc": { "small": 1 } }),
        Some(doc! { "small": {
            "$type": "int",
            "$gte": i64::from(i32::MIN) - 1,
            "$lte": i64::from(i32::MAX) - 1,
        } })
    );
    assert_eq!(kept(doc! { "$inc": { "small": 1_i64 } }), None);
    assert_eq!(kept(doc! { "$mul": { "count": 2_i64 } }), None);
    assert_eq!(
        kept(doc! { "$set": { "price.value": 1.5 } }),
        Some(doc! { "price": { "$type": "object" } })
    );
    assert_eq!(kept(doc! { "$set": { "price": {} } }), None);
    assert_eq!(
        kept(doc! { "$push": { "tags": "new" }, "$pop": { "few": 1 } }),
        Some(doc! {})
    );
    assert_eq!(kept(doc! { "$push": { "tags": 1 } }), None);
    assert_eq!(kept(doc! { "$push": { "few": 1 } }), None);
    assert_eq!(kept(doc! { "$set": { "tags.0": "new" } }), None);
}
