//! Documents are validated as they will be stored, in every way of writing.

mod levels;
mod native;
mod rules;
mod schemas;
mod servers;
mod updates;
mod values;
mod writes;

use odm::{Error, ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};

/// A number of things, none of them negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[validate(min_length = 2, max_length = 20)]
    name: String,
    #[validate(min = 0, max = 1000)]
    quantity: i32,
    #[validate(one_of("small", "large"))]
    size: Option<String>,
    #[validate(pattern = "^[a-z]+$")]
    #[serde(rename = "slugName")]
    slug: String,
    #[validate(min_items = 1, max_items = 3, unique_items)]
    tags: Vec<String>,
    #[validate(exclusive_min = 0, multiple_of = 0.5)]
    price: f64,
    #[embed]
    lines: Vec<Line>,
    #[version]
    version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    #[validate(max_length = 5)]
    text: String,
    #[validate(with = even)]
    number: i64,
}

fn even(number: &i64) -> Result<(), String> {
    match number % 2 {
        0 => Ok(()),
        _ if *number == 13 => panic!("thirteen"),
        _ => Err(format!("must be even, and is {number}")),
    }
}

#[derive(Database)]
#[database(name = "parts", version = 1)]
struct Parts {
    parts: Repository<Part>,
}

fn part(id: i32) -> Part {
    Part {
        id,
        name: "grommet".into(),
        quantity: 7,
        size: None,
        slug: "grommet".into(),
        tags: vec!["a".into()],
        price: 1.5,
        lines: Vec::new(),
        version: 0,
    }
}

/// The paths and the rules in the refusal of a write.
fn violated(error: &Error) -> Vec<(String, String)> {
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.is_invalid() && !error.is_retryable());
    assert_eq!(error.code(), Some(121));
    assert_eq!(error.code_name().as_deref(), Some("DocumentValidationFailure"));
    let violations = error.violations().iter();
    let listed = violations.map(|violation| (violation.path.clone(), violation.rule.clone()));
    listed.collect()
}

fn listed<const N: usize>(violations: [(&str, &str); N]) -> Vec<(String, String)> {
    let owned = violations.map(|(path, rule)| (path.to_owned(), rule.to_owned()));
    owned.into()
}
