//! Properties of all requests.

use std::collections::BTreeMap;

use odm::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Thing, query};
use crate::repositories::items::Item;

/// One condition of a request, as JSON, as a pair of a query string, and typed.
type Condition = (&'static str, &'static str, Value, String, Filter<Item>);

fn conditions() -> impl Strategy<Value = Condition> {
    let item = || Item::fields();
    let numbers = -10..20_i32;
    prop_oneof![
        (numbers.clone(), 0..6_usize).prop_map(move |(number, operator)| {
            let count = item().count;
            let (name, typed) = match operator {
                0 => ("eq", count.eq(number)),
                1 => ("ne", count.ne(number)),
                2 => ("gt", count.gt(number)),
                3 => ("gte", count.gte(number)),
                4 => ("lt", count.lt(number)),
                _ => ("lte", count.lte(number)),
            };
            ("count", name, json!(number), number.to_string(), typed)
        }),
        prop::collection::vec(numbers, 0..4).prop_map(move |numbers| {
            let texts: Vec<String> = numbers.iter().map(i32::to_string).collect();
            let typed = item().count.in_(numbers.clone());
            ("count", "in", json!(numbers), texts.join(","), typed)
        }),
        "[a-z$.{}\" ]{0,3}".prop_map(move |text| {
            ("code", "gte", json!(text), text.clone(), item().code.gte(text))
        }),
        (-5.0..5.0_f64).prop_map(move |number| {
            ("weight", "lt", json!(number), number.to_string(), item().weight.lt(number))
        }),
        prop_oneof!["red", "blue", "x"].prop_map(move |tag: String| {
            ("tags", "eq", json!(tag), tag.clone(), item().tags.contains(tag))
        }),
        any::<bool>().prop_map(move |is| {
            ("note", "exists", json!(is), is.to_string(), item().note.exists(is))
        }),
        (0..9000_i64).prop_map(move |millis| {
            let date = DateTime::from_millis(millis);
            ("made", "gt", json!(date), date.to_string(), item().made.gt(date))
        }),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("$gt".to_owned()),
        Just("gte".to_owned()),
        Just("in".to_owned()),
        Just("eq".to_owned()),
        Just("name".to_owned()),
        Just("tags".to_owned()),
        Just("size".to_owned()),
        Just("price.cur".to_owned()),
        Just("note".to_owned()),
        Just("1-low".to_owned()),
        Just("priority".to_owned()),
        Just("weight".to_owned()),
        ".{0,5}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-5..5_i64).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 1..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Whether a value cannot hide an operator in a filter.
fn is_plain(json: &Value) -> bool {
    !json.is_object() && !json.is_array()
}

proptest! {
    #[test]
    fn each_request_that_is_accepted_is_the_typed_filter(conditions in prop::collection::vec(conditions(), 0..5)) {
        let mut json = BTreeMap::<&str, BTreeMap<&str, Value>>::new();
        let mut taken = Vec::new();
        for condition in conditions {
            let operators = json.entry(condition.0).or_default();
            if operators.insert(condition.1, condition.2.clone()).is_none() {
                taken.push(condition);
            } else {
                operators.insert(condition.1, taken.iter()
                    .find(|other: &&Condition| other.0 == condition.0 && other.1 == condition.1)
                    .unwrap().2.clone());
            }
        }
        // In the order of the object.
        taken.sort_by_key(|condition| (condition.0, condition.1));
        let typed = Filter::all_of(taken.iter().map(|condition| condition.4.clone()));
        let of_json = Item::filter_from_json(&json!(json)).unwrap();
        let pairs = taken.iter().map(|of| (format!("{}[{}]", of.0, of.1), of.3.clone()));
        let of_query = Item::filter_from_query(pairs).unwrap();
        prop_assert_eq!(format!("{of_json:?}"), format!("{typed:?}"));
        prop_assert_eq!(format!("{of_query:?}"), format!("{typed:?}"));
    }

    #[test]
    fn no_json_panics_and_none_with_an_operator_of_the_store_is_accepted(json in any_json()) {
        if Thing::filter_from_json(&json).is_ok() && !json.is_null() {
            for value in json.as_object().unwrap().values() {
                match value {
                    Value::Object(operators) => {
                        let known = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "exists"];
                        for (name, value) in operators {
                            prop_assert!(known.contains(&name.as_str()));
                            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                            prop_assert!(values.iter().all(is_plain));
                        }
                    }
                    Value::Array(values) => prop_assert!(values.iter().all(is_plain)),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn no_text_panics(name in ".{0,12}", value in ".{0,12}") {
        drop(Thing::sort_by(&name));
        drop(query(&[(&name, &value), (&format!("size[{name}]"), &value), ("made", &value)]));
    }
}
