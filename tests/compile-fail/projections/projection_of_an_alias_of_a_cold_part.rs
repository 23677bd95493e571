use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Hidden = Cold<Details>;

#[derive(Clone, Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i64,
    #[split(collection = "details", key = "movie")]
    details: Hidden,
}

#[derive(Serialize, Deserialize, Projection)]
#[projection(of = "Movie")]
struct Brief {
    details: Hidden,
}

fn main() {}

//   details: Hidden,
// + title: String,
//   }
//   #[derive(Serialize, Deserialize, Projection)]
//
//   struct Brief {
// -     details: Hidden,
// +     title: String,
