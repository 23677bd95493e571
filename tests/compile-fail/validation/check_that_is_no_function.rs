use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(with = "even")]
    size: i32,
}

fn main() {}

// - #[validate(with = "even")]
// + #[validate(with = even)]
//
//   fn main() {}
// + fn even(number: &i32) -> Result<(), String> {
// +     (number % 2 == 0).then_some(()).ok_or_else(|| "odd".to_owned())
// + }
