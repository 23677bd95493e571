//! An enum of names, and one with its tag inside.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
pub enum Grade {
    Fair,
    Good,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Shape {
    Circle { the_radius: f64 },
    Square { side_length: f64 },
    Nothing,
}
