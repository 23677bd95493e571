//! The checks of a database when it is opened, beyond the checks of the compiler.

use std::collections::BTreeMap;

use odm::{Error, ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "things", index(fields = "name", name = "by name"))]
struct Thing {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Database)]
#[database(name = "things", version = 1)]
struct Things {
    things: Repository<Thing>,
}

/// A cold part in the same collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "other_things")]
struct OtherThing {
    #[serde(rename = "_id")]
    id: i64,
    #[split(collection = "things", key = "thing", optional)]
    link: Cold<Link>,
}

#[derive(Database)]
#[database(name = "both", version = 1)]
struct Both {
    one: Repository<Thing>,
    other: Repository<OtherThing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child)]
    to: Ref<Thing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "maps")]
struct Map {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    links: BTreeMap<String, Link>,
}

#[derive(Database)]
#[database(name = "maps", version = 1)]
struct Maps {
    things: Repository<Thing>,
    maps: Repository<Map>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Branch {
    #[reference(child)]
    leaf: Option<Ref<Thing>>,
    #[embed]
    branches: Vec<Branch>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "trees")]
struct Tree {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    root: Branch,
}

#[derive(Database)]
#[database(name = "trees", version = 1)]
struct Trees {
    things: Repository<Thing>,
    trees: Repository<Tree>,
}

async fn schema_error<D: Database>(store: impl TestStore) -> Error {
    let error = D::open(store).await.map(drop).expect_err("the database was opened");
    assert_eq!(error.kind(), ErrorKind::Schema, "{error:?}");
    error
}

/// The name that the index of the reference would have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "named", index(fields = "size", name = "to_1"))]
struct Named {
    #[serde(rename = "_id")]
    id: i64,
    size: i32,
    #[reference(child)]
    to: Ref<Thing>,
}

#[derive(Database)]
#[database(name = "named", version = 1)]
struct Nameds {
    things: Repository<Thing>,
    named: Repository<Named>,
}

on_every_store! {
    async fn an_index_cannot_take_the_name_of_that_of_a_reference(store: AnyStore) {
        let error = Nameds::open(store).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`to_1`"), "{error}");
    }

    async fn a_cold_part_in_the_collection_of_a_model_is_refused(store: AnyStore) {
        let text = schema_error::<Both>(store).await.to_string();
        for name in ["`Thing`", "`Link`", "`things`"] {
            assert!(text.contains(name), "{text}");
        }
    }

    async fn references_that_no_index_could_find_are_refused(store: AnyStore) {
        let text = schema_error::<Maps>(store.clone()).await.to_string();
        assert!(text.contains("`Map.links`"), "{text}");
        let text = schema_error::<Trees>(store).await.to_string();
        assert!(text.contains("`Branch`"), "{text}");
    }

    async fn a_database_can_be_opened_as_often_as_one_likes(store: AnyStore) {
        let first = Things::open(store.clone()).await.unwrap();
        let second = Things::open(store).await.unwrap();
        first.things.insert(Thing { id: 1, name: "a".into() }).await.unwrap();
        assert_eq!(second.things.get(1).await.unwrap().name, "a");
        assert!(second.things.insert(Thing { id: 1, name: "b".into() }).await.is_err());
    }
}
