use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "roles")]
struct Role {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    movie: Ref<Movie>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i64,
    #[split(collection = "details", key = "movie")]
    #[count(of = "Role")]
    a: Cold<Details>,
    #[split(collection = "others", key = "movie")]
    #[denormalize(from = "Role.name", via = "Role.movie")]
    b: Cold<Details>,
    #[subset(limit = 3, sort = "name")]
    #[count(of = "Role")]
    c: Subset<Role>,
    #[embed]
    #[count(of = "Role")]
    d: Details,
    #[index]
    #[subset(limit = 3, sort = "name")]
    e: Subset<Role>,
    #[version]
    #[reference(child)]
    f: Ref<Role>,
    #[split(collection = "more", key = "movie")]
    #[index]
    g: Cold<Details>,
    #[subset(limit = 3, sort = "name")]
    #[denormalize(from = "Role.name", via = "Role.movie")]
    #[embed]
    h: Subset<Role>,
}

fn main() {}

// - #[count(of = "Role")]
//   a: Cold<Details>,
//
// - #[denormalize(from = "Role.name", via = "Role.movie")]
//   b: Cold<Details>,
//
// - #[count(of = "Role")]
//   c: Subset<Role>,
//
// - #[count(of = "Role")]
//   d: Details,
//
// - #[index]
//   #[subset(limit = 3, sort = "name")]
//   e: Subset<Role>,
//
// - #[version]
//   #[reference(child)]
//
// - #[index]
//   g: Cold<Details>,
//
// - #[denormalize(from = "Role.name", via = "Role.movie")]
// - #[embed]
//   h: Subset<Role>,
