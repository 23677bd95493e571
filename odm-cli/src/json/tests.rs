use mongodb::bson::{Bson, doc, oid::ObjectId};

use super::{line, pretty};

#[test]
fn fields_keep_their_order() {
    let id = ObjectId::from_bytes([1; 12]);
    let document = doc! { "z": 1, "a": { "y": 2.0, "b": ["x\n", null] }, "_id": id };
    let json =
        r#"{"z":1,"a":{"y":2.0,"b":["x\n",null]},"_id":{"$oid":"010101010101010101010101"}}"#;
    assert_eq!(line(&document), json);
    let read: serde_json::Value = serde_json::from_str(&pretty(&document)).unwrap();
    assert_eq!(read, Bson::Document(document).into_relaxed_extjson());
}

#[test]
fn a_pretty_document_has_its_lists_of_scalars_on_one_line() {
    let document = doc! { "a": [1, 2], "b": [{ "c": [] }], "d": {} };
    assert_eq!(
        pretty(&document),
        "{\n  \"a\": [1,2],\n  \"b\": [\n    {\n      \"c\": []\n    }\n  ],\n  \"d\": {}\n}"
    );
}

#[test]
fn deep_documents_are_cut() {
    let mut deep = doc! { "x": 1 };
    for _ in 0..1_000 {
        deep = doc! { "x": deep };
    }
    assert!(line(&deep).contains("\"..\""));
}
