//! A struct around one scalar is treated as that scalar, at any place of a scalar.

use std::{collections::BTreeMap, marker::PhantomData};

use odm::{
    ObjectId,
    bson::{Document as BsonDocument, doc, rawdoc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct UserId(ObjectId);

/// The number of a `T`.
#[derive(Debug, Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct Id<T> {
    number: u32,
    of: PhantomData<T>,
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        Id { ..*self }
    }
}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Email(String);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct Language(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Labels(Vec<String>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users", new = "NewUser")]
struct User {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: UserId,
    #[index(unique)]
    email: Email,
    #[count(of = "Task")]
    tasks: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks", new = "NewTask")]
struct Task {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: Id<Task>,
    names: BTreeMap<Language, String>,
    labels: Labels,
    #[reference(parent)]
    owner: Ref<User>,
    #[denormalize(from = "User.email")]
    owner_email: Email,
}

#[derive(Database)]
#[database(name = "newtypes", version = 1)]
struct Newtypes {
    users: Repository<User>,
    tasks: Repository<Task>,
}

async fn filled(store: impl TestStore) -> (Newtypes, User, Task) {
    let db = Newtypes::open(store).await.unwrap();
    let user = db.users.insert(NewUser { email: Email("Ada@x.org".into()) }).await.unwrap();
    let task = NewTask {
        names: [(Language("en".into()), "Build".to_owned())].into(),
        labels: Labels(vec!["now".into()]),
        owner: Ref::from(&user),
    };
    let task = db.tasks.insert(task).await.unwrap();
    (db, user, task)
}

on_every_store! {
    async fn ids_are_made_and_numbered(store: AnyStore) {
        let (db, user, task) = filled(store).await;
        assert_eq!((task.id.number, &task.owner_email), (1, &user.email));
        assert_eq!(db.tasks.get(&task.id).await.unwrap(), task);
        assert_eq!(db.users.get(user.id.clone()).await.unwrap().tasks, 1);
        assert_eq!(db.tasks.of(&user).await.unwrap(), [task]);
    }

    async fn they_are_stored_as_the_scalar_in_them(store: AnyStore) {
        let (db, user, task) = filled(store).await;
        let stored = db.tasks.raw().get(&task.id).await.unwrap();
        let expected = doc! {
            "_id": 1_i64,
            "names": { "en": "Build" },
            "labels": ["now"],
            "owner": user.id.0,
            "owner_email": "Ada@x.org",
        };
        assert_eq!(BsonDocument::try_from(stored).unwrap(), expected);
    }

    async fn text_is_found_by_its_start_and_in_any_case(store: AnyStore) {
        let (db, user, _) = filled(store).await;
        let email = User::fields().email;
        for filter in [
            email.starts_with("Ada"),
            email.eq_ignore_case("ADA@X.ORG"),
            User::filter_from_json(&json!({ "email": "Ada@x.org" })).unwrap(),
        ] {
            assert_eq!(db.users.find(filter).await.unwrap()[0].id, user.id);
        }
        let again = NewUser { email: Email("Ada@x.org".into()) };
        assert!(db.users.insert(again).await.unwrap_err().is_duplicate_key());
    }

    async fn a_value_of_another_type_is_no_valid_document(store: AnyStore) {
        let (db, user, _) = filled(store).await;
        let damaged = rawdoc! { "_id": user.id.0, "email": 3 };
        let error = db.users.raw().replace(damaged).await.unwrap_err();
        assert!(error.is_invalid(), "{error}");
    }
}
