//! An enum with its tag beside an embedded value, or a scalar.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
pub struct Side {
    pub length: f64,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "kind", content = "of")]
pub enum Figure {
    Square(#[embed] Side),
    Text(String),
}
