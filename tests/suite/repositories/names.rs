//! Models under any name, in any place.

use odm::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tests::{on_every_store, stored};

/// Named like the types that generated code uses. `String`, `Option` and others are these types here.
mod like_std {
    use odm::prelude::{Database, Document, Embed, Projection, Ref, Repository};

    #[derive(
        std::fmt::Debug,
        std::clone::Clone,
        std::cmp::PartialEq,
        serde::Serialize,
        serde::Deserialize,
        Embed,
    )]
    pub(super) struct Vec {
        pub(super) len: i32,
    }

    #[derive(
        std::fmt::Debug,
        std::clone::Clone,
        std::cmp::PartialEq,
        serde::Serialize,
        serde::Deserialize,
        Document,
    )]
    #[document(collection = "strings", index(fields = "of.len, -other"))]
    pub(super) struct String {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[embed]
        pub(super) of: Vec,
        #[reference(child)]
        pub(super) other: std::option::Option<Ref<Option>>,
    }

    #[derive(
        std::fmt::Debug,
        std::clone::Clone,
        std::cmp::PartialEq,
        serde::Serialize,
        serde::Deserialize,
        Document,
    )]
    #[document(collection = "options")]
    pub(super) struct Option {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[embed]
        pub(super) some: Result,
    }

    #[derive(
        std::fmt::Debug,
        std::clone::Clone,
        std::cmp::PartialEq,
        serde::Serialize,
        serde::Deserialize,
        Embed,
    )]
    pub(super) enum Result {
        Ok { value: i32 },
        Err(#[embed] Vec),
    }

    #[derive(
        std::fmt::Debug, std::clone::Clone, std::cmp::PartialEq, serde::Deserialize, Projection,
    )]
    #[projection(of = "Option")]
    pub(super) struct Some {
        #[embed]
        pub(super) some: Result,
    }

    #[derive(Database)]
    #[database(name = "like std", version = 1)]
    pub(super) struct Box {
        pub(super) string: Repository<String>,
        pub(super) option: Repository<Option>,
    }
}

mod outer {
    pub(super) mod inner {
        use odm::prelude::*;
        use serde::{Deserialize, Serialize};

        // Private, with private fields.
        #[derive(Debug, Serialize, Deserialize, Embed)]
        struct Hidden {
            depth: i32,
        }

        #[derive(Debug, Serialize, Deserialize, Document)]
        #[document(collection = "secrets")]
        struct Secret {
            #[serde(rename = "_id")]
            id: i64,
            #[embed]
            hidden: Hidden,
        }

        #[derive(Database)]
        #[database(name = "secrets", version = 1)]
        struct Secrets {
            secrets: Repository<Secret>,
        }

        pub(in crate::repositories::names) async fn run(store: impl tests::TestStore) -> i32 {
            let db = Secrets::open(store).await.unwrap();
            db.secrets.insert(Secret { id: 1, hidden: Hidden { depth: 3 } }).await.unwrap();
            let found = db.secrets.find(Secret::fields().hidden.depth.eq(3)).one().await.unwrap();
            found.hidden.depth
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct r#Struct {
    r#in: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "raw", index(fields = "type, -match.in"))]
struct r#Raw {
    #[serde(rename = "_id")]
    r#fn: i64,
    #[index]
    r#type: String,
    #[embed]
    r#match: r#Struct,
    #[reference(child)]
    r#ref: Option<Ref<r#Raw>>,
    #[version]
    r#move: i64,
}

/// The content of an envelope.
trait Content:
    Embed + Serialize + DeserializeOwned + std::fmt::Debug + Clone + PartialEq + Send + Sync + 'static
{
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Letter {
    text: String,
}

impl Content for Letter {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(bound = "T: Content")]
#[document(collection = "envelopes", index(fields = "sender"))]
struct Envelope<T: Content> {
    #[serde(rename = "_id")]
    id: i64,
    sender: String,
    #[embed]
    content: T,
    #[reference(child)]
    answers: Vec<Ref<Envelope<T>>>,
}

/// The library under another name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "elsewhere", crate = "renamed")]
struct Elsewhere {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    within: Within,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[embed(crate = "renamed")]
struct Within {
    value: i32,
}

#[derive(Database)]
#[database(name = "names", version = 1)]
struct r#Names {
    r#raw: Repository<r#Raw>,
    envelopes: Repository<Envelope<Letter>>,
    elsewhere: Repository<Elsewhere>,
}

on_every_store! {
    async fn models_may_be_named_like_types_of_the_standard_library(store: AnyStore) {
        use like_std::{Box, Option as O, Result as R, Some as S, String as Str, Vec as V};
        let db = Box::open(store).await.unwrap();
        let option = O { id: 1, some: R::Ok { value: 2 } };
        db.option.insert(option.clone()).await.unwrap();
        db.option.insert(O { id: 2, some: R::Err(V { len: 5 }) }).await.unwrap();
        let string = Str { id: 1, of: V { len: 3 }, other: Some(Ref::from(&option)) };
        db.string.insert(string.clone()).await.unwrap();
        let rows = db.string.find(Str::fields().of.len.eq(3)).join(Str::fields().other).await;
        assert_eq!(rows.unwrap(), [(string, Some(option))]);
        let some: Vec<S> = db.option.find(O::fields().some.err.len.eq(5)).select().await.unwrap();
        assert_eq!(some, [S { some: R::Err(V { len: 5 }) }]);
    }

    async fn models_may_be_private(store: AnyStore) {
        assert_eq!(outer::inner::run(store).await, 3);
    }

    async fn a_raw_identifier_is_stored_without_its_mark(store: AnyStore) {
        let db = Names::open(store.clone()).await.unwrap();
        let r#in = r#Struct { r#in: 7 };
        let raw = Raw { r#fn: 1, r#type: "t".into(), r#match: r#in, r#ref: Some(Ref::new(1)), r#move: 0 };
        let raw = db.raw.insert(raw).await.unwrap();
        assert_eq!(raw.r#move, 1);
        let names: Vec<String> = stored(&store, "raw").await[0]
            .iter()
            .map(|element| element.unwrap().0.as_str().to_owned())
            .collect();
        assert_eq!(names, ["_id", "type", "match", "ref", "move"]);
        let fields = Raw::fields();
        assert_eq!(fields.r#match.r#in.path(), "match.in");
        let found = db.raw.find(fields.r#type.eq("t") & fields.r#match.r#in.gt(6));
        let (read, of) = found.join(fields.r#ref).one().await.unwrap();
        assert_eq!((&read, of.as_ref()), (&raw, Some(&raw)));
        let changed = Raw { r#type: "u".into(), ..read };
        assert_eq!(db.raw.replace(changed).await.unwrap().r#move, 2);
    }

    async fn a_model_may_be_generic(store: AnyStore) {
        let db = Names::open(store).await.unwrap();
        let envelope = |id, answers: &[i64]| Envelope {
            id,
            sender: "kate".into(),
            content: Letter { text: format!("letter {id}") },
            answers: answers.iter().map(|&id| Ref::new(id)).collect(),
        };
        let sent = [envelope(1, &[2, 3]), envelope(2, &[]), envelope(3, &[3])];
        db.envelopes.insert_many(sent.clone()).await.unwrap();
        let fields = Envelope::<Letter>::fields();
        let rows = db.envelopes.find(fields.sender.eq("kate")).join(fields.answers).await.unwrap();
        let [one, two, three] = sent;
        let expected = [
            (one, vec![two.clone(), three.clone()]),
            (two, vec![]),
            (three.clone(), vec![three]),
        ];
        assert_eq!(rows, expected);
        let dangling = db.envelopes.insert(envelope(4, &[5])).await.unwrap_err();
        assert!(dangling.is_dangling_reference());
        assert!(db.envelopes.delete(2).await.unwrap_err().is_restricted());
    }

    async fn the_library_may_have_another_name(store: AnyStore) {
        let db = Names::open(store).await.unwrap();
        db.elsewhere.insert(Elsewhere { id: 1, within: Within { value: 2 } }).await.unwrap();
        let found = db.elsewhere.find(Elsewhere::fields().within.value.eq(2));
        assert_eq!(found.one().await.unwrap().id, 1);
    }
}
