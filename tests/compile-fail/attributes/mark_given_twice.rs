use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "roles")]
struct Role {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    #[reference(child)]
    movie: Ref<Movie>,
    #[index]
    #[index(unique)]
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Role")]
    #[count(of = "Role")]
    roles: i64,
}

fn main() {}

//   #[reference(parent)]
// - #[reference(child)]
//
// - #[index]
//   #[index(unique)]
//
//   #[count(of = "Role")]
// - #[count(of = "Role")]
