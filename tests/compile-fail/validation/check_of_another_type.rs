use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(with = even)]
    size: i32,
}

fn even(number: &i64) -> Result<(), String> {
    (number % 2 == 0).then_some(()).ok_or_else(String::new)
}

fn main() {}

// - fn even(number: &i64) -> Result<(), String> {
// + fn even(number: &i32) -> Result<(), String> {
