//! Indexes of the documents that match a filter.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{on_embedded_stores, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Profile {
    code: Option<i64>,
    public: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "users",
    unique(fields = "team, number", filter = of_age),
    index(fields = "profile.code", unique, filter = public),
    index(fields = "seen", filter = active),
    expires(field = "seen", after = "30d")
)]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique, filter = active)]
    email: String,
    active: bool,
    team: String,
    number: i64,
    age: Option<i64>,
    seen: DateTime,
    #[split(collection = "profiles", key = "_id")]
    profile: Cold<Profile>,
}

fn active() -> Filter<User> {
    User::fields().active.eq(true)
}

fn of_age() -> Filter<User> {
    User::fields().age.gte(18) & User::fields().active.eq(true)
}

fn public() -> Filter<User> {
    User::fields().profile.public.eq(true)
}

#[derive(Database)]
#[database(name = "users", version = 1)]
struct Users {
    users: Repository<User>,
}

fn user(id: i64, email: &str, active: bool) -> User {
    User {
        id,
        email: email.to_owned(),
        active,
        team: "red".to_owned(),
        number: id,
        age: None,
        seen: DateTime::now(),
        profile: Cold::new(Profile { code: Some(id), public: false }),
    }
}

on_every_store! {
    async fn a_partial_unique_index_holds_among_the_documents_that_match(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let users = [user(1, "a", true), user(2, "a", false), user(3, "a", false), user(4, "b", true)];
        db.users.insert_many(users).await.unwrap();
        let error = db.users.insert(user(5, "a", true)).await.unwrap_err();
        assert!(error.is_duplicate_key());
        assert_eq!(error.location().unwrap().path.as_deref(), Some("email"));
        let fields = User::fields();
        // In every way of writing, a document that begins to match is refused if another one has its key.
        assert!(db.users.update(2).set(fields.active, true).await.unwrap_err().is_duplicate_key());
        assert!(db.users.update(4).set(fields.email, "a").await.unwrap_err().is_duplicate_key());
        assert!(db.users.replace(user(3, "a", true)).await.unwrap_err().is_duplicate_key());
        let raw = db.users.update(2).raw(doc! { "$set": { "active": true } }).await;
        assert!(raw.unwrap_err().is_duplicate_key());
        let every = db.users.update_where(fields.email.eq("a")).set(fields.active, true).await;
        assert!(every.unwrap_err().is_duplicate_key());
        // A document that ceases to match gives up its key, and so does a deleted one.
        db.users.update(1).set(fields.active, false).await.unwrap();
        db.users.update(2).set(fields.active, true).await.unwrap();
        assert!(db.users.update(1).set(fields.active, true).await.unwrap_err().is_duplicate_key());
        db.users.delete(2).await.unwrap();
        db.users.update(1).set(fields.active, true).await.unwrap();
    }

    async fn documents_of_one_unit_exchange_a_partial_key(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        db.users.insert_many([user(1, "a", true), user(2, "a", false)]).await.unwrap();
        let fields = User::fields();
        db.transaction(async |db| {
            db.users.update(1).set(fields.active, false).await?;
            db.users.update(2).set(fields.active, true).await?;
            db.users.insert(user(3, "a", false)).await.map(drop)
        })
        .await
        .unwrap();
        let found = db.users.find(active() & fields.email.eq("a")).await.unwrap();
        assert_eq!(found.iter().map(|user| user.id).collect::<Vec<_>>(), [2]);
    }

    async fn all_conditions_of_the_filter_count(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let of = |id: i64, age: Option<i64>, active: bool| User {
            number: 1,
            age,
            ..user(id, &id.to_string(), active)
        };
        let users = [of(1, Some(20), true), of(2, Some(20), false), of(3, Some(17), true), of(4, None, true)];
        db.users.insert_many(users).await.unwrap();
        assert!(db.users.insert(of(5, Some(18), true)).await.unwrap_err().is_duplicate_key());
        for (id, age) in [(3, 18), (4, 99)] {
            let grown = db.users.update(id).set(User::fields().age, Some(age)).await;
            assert!(grown.unwrap_err().is_duplicate_key());
        }
    }

    async fn a_partial_index_of_a_cold_part_has_a_filter_there(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let with = |id: i64, public: bool| User {
            profile: Cold::new(Profile { code: Some(7), public }),
            ..user(id, &id.to_string(), true)
        };
        db.users.insert_many([with(1, true), with(2, false), with(3, false)]).await.unwrap();
        assert!(db.users.insert(with(4, true)).await.unwrap_err().is_duplicate_key());
        let public = User::fields().profile.public;
        assert!(db.users.update(2).set(public, true).await.unwrap_err().is_duplicate_key());
        db.users.update(1).set(public, false).await.unwrap();
        db.users.update(2).set(public, true).await.unwrap();
    }

    async fn a_filter_of_an_index_that_is_not_simple_is_an_error_of_open(store: AnyStore) {
        macro_rules! refused {
            (|$word:ident| $filter:expr, $($named:expr),+) => {{
                #[derive(Serialize, Deserialize, Document)]
                #[document(collection = "words", index(fields = "text", filter = some))]
                struct Word {
                    #[serde(rename = "_id")]
                    id: i64,
                    text: String,
                    #[split(collection = "meanings", key = "_id")]
                    meaning: Cold<Meaning>,
                }
                #[derive(Serialize, Deserialize, Embed)]
                struct Meaning {
                    text: String,
                }
                #[derive(Database)]
                #[database(name = "words", version = 1)]
                struct Words {
                    #[allow(dead_code, reason = "it is declared, and never used")]
                    words: Repository<Word>,
                }
                fn some() -> Filter<Word> {
                    let $word = Word::fields();
                    $filter
                }
                let Err(error) = Words::open(store.clone()).await else {
                    panic!("an index with such a filter");
                };
                assert_eq!(error.kind(), ErrorKind::Schema);
                for named in ["`text_1_partial`", "`Word`", $($named),+] {
                    assert!(error.to_string().contains(named), "{error}");
                }
            }};
        }
        refused!(|word| word.text.ne("a"), r#"`{ "text": { "$ne": "a" } }`"#);
        refused!(|word| word.text.eq("a") | word.id.eq(1), "$or");
        refused!(|word| !word.text.eq("a"), "$nor");
        refused!(|word| word.text.eq("a") & word.text.starts_with("a"), "$regex");
        refused!(|_word| Filter::all(), "every document");
        refused!(|_word| Filter::raw(doc! { "$wrong": 1 }), "$wrong");
        refused!(|word| word.meaning.text.eq("a"), "different collections");
    }

    async fn an_index_whose_filter_changes_is_built_anew_or_nothing_changes(store: AnyStore) {
        macro_rules! version {
            ($module:ident, $version:tt, $least:literal) => {
                mod $module {
                    use super::*;
                    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
                    #[document(collection = "words")]
                    pub(super) struct Word {
                        #[serde(rename = "_id")]
                        pub(super) id: i64,
                        #[index(unique, filter = some)]
                        pub(super) text: String,
                        pub(super) rank: i64,
                    }
                    fn some() -> Filter<Word> {
                        Word::fields().rank.gte($least)
                    }
                    #[derive(Database)]
                    #[database(name = "words", version = $version)]
                    pub(super) struct Words {
                        pub(super) words: Repository<Word>,
                    }
                    impl Words {
                        pub(super) async fn takes(&self, id: i64, rank: i64) -> bool {
                            match self.words.insert(Word { id, text: "a".to_owned(), rank }).await {
                                Ok(_) => true,
                                Err(error) if error.is_duplicate_key() => false,
                                Err(error) => panic!("{error:?}"),
                            }
                        }
                    }
                }
            };
        }
        version!(from5, 1, 5);
        version!(from3, 2, 3);
        version!(from9, 3, 9);
        let db = from5::Words::open(store.clone()).await.unwrap();
        assert!(db.takes(1, 6).await && db.takes(2, 4).await && !db.takes(3, 5).await);
        let Err(error) = from3::Words::open(store.clone()).await else {
            panic!("two of the words are one key");
        };
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{error}");
        assert!(db.takes(3, 3).await && !db.takes(4, 7).await);
        db.words.delete_where(from5::Word::fields().rank.lt(5)).await.unwrap();
        let db = from3::Words::open(store.clone()).await.unwrap();
        assert!(!db.takes(2, 4).await && db.takes(2, 2).await);
        let db = from9::Words::open(store).await.unwrap();
        assert!(db.takes(3, 4).await && db.takes(4, 8).await && db.takes(5, 9).await && !db.takes(6, 10).await);
    }
}

on_embedded_stores! {
    async fn a_query_of_what_a_partial_index_has_uses_it(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let users = (0..60).map(|id| user(id, &id.to_string(), id % 3 == 0));
        db.users.insert_many(users.collect::<Vec<_>>()).await.unwrap();
        let by_email = || User::fields().email.eq("3");
        let explain = db.users.find(by_email() & active()).explain().await.unwrap();
        assert_eq!(explain.index.as_deref(), Some("email_1_partial"));
        assert_eq!(explain.cost.documents_examined, 1);
        for filter in [by_email(), by_email() & User::fields().active.ne(false)] {
            let explain = db.users.find(filter).explain().await.unwrap();
            assert_eq!(explain.index, None);
        }
    }

    async fn the_documents_that_expire_are_found_by_an_index_of_all(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let old = User::fields().seen.lt(DateTime::now());
        let explain = db.users.find(old).explain().await.unwrap();
        assert_eq!(explain.index.as_deref(), Some("seen_1"));
    }
}
