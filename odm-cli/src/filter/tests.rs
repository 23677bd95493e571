use mongodb::bson::{Bson, doc, oid::ObjectId};

use super::{conditions, id, projection, sort, value, within};

fn all(texts: &[&str]) -> mongodb::bson::Document {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    conditions(&texts).unwrap()
}

#[test]
fn pairs_and_filters_are_conditions_that_all_hold() {
    assert_eq!(all(&[]), doc! {});
    assert_eq!(all(&["qty>=5"]), doc! { "qty": { "$gte": 5 } });
    assert_eq!(all(&["a.b!=x=y"]), doc! { "a.b": { "$ne": "x=y" } });
    let both = all(&["name=nut", r#"{"qty": {"$gt": {"$numberLong": "5"}}}"#]);
    assert_eq!(
        both,
        doc! { "$and": [{ "name": { "$eq": "nut" } }, { "qty": { "$gt": 5_i64 } }] }
    );
}

#[test]
fn conditions_are_moved_to_the_document_within_another_one() {
    let conditions = doc! { "a": 1, "$or": [{ "b.c": { "$gt": 2 } }, { "$and": [{ "d": 3 }] }] };
    let expected =
        doc! { "x.a": 1, "$or": [{ "x.b.c": { "$gt": 2 } }, { "$and": [{ "x.d": 3 }] }] };
    assert_eq!(within("x", conditions).unwrap(), expected);
    for refused in [doc! { "$expr": true }, doc! { "$or": [{ "$where": "1" }] }] {
        let failure = within("x", refused).unwrap_err();
        assert_eq!(failure.exit(), crate::error::Exit::Usage);
    }
}

#[test]
fn what_is_no_condition_is_refused_with_an_example() {
    for text in ["name", "=5", "{name: 1}", "{\"a\": 1} x"] {
        let failure = conditions(&[text.to_owned()]).unwrap_err();
        assert_eq!(failure.exit(), crate::error::Exit::Usage, "{text}");
    }
}

#[test]
fn a_value_is_json_an_object_id_or_a_text() {
    assert_eq!(value("5"), Bson::Int32(5));
    assert_eq!(value("true"), Bson::Boolean(true));
    assert_eq!(value("\"5\""), Bson::String("5".into()));
    assert_eq!(value("two words"), Bson::String("two words".into()));
    let digits = "65f0c0ffee65f0c0ffee65f0";
    assert_eq!(
        value(digits),
        Bson::ObjectId(ObjectId::parse_str(digits).unwrap())
    );
}

#[test]
fn an_id_of_digits_is_a_number_or_a_text() {
    assert_eq!(id("7"), doc! { "_id": { "$in": [7, "7"] } });
    assert_eq!(id("ann"), doc! { "_id": { "$in": ["ann"] } });
}

#[test]
fn sorts_and_projections_are_lists_of_fields() {
    assert_eq!(
        sort("-placed,_id").unwrap(),
        doc! { "placed": -1, "_id": 1 }
    );
    assert_eq!(sort("{\"a\": -1}").unwrap(), doc! { "a": -1 });
    assert_eq!(
        projection("name,price").unwrap(),
        doc! { "name": 1, "price": 1, "_id": 0 }
    );
    assert_eq!(
        projection("_id,name").unwrap(),
        doc! { "_id": 1, "name": 1 }
    );
}
