//! Filters, orders and unique indexes that ignore the case of letters.

use odm::{
    ErrorKind,
    bson::{RawBson, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_embedded_stores, on_local_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Address {
    city: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users", index(fields = "tenant, address.city", unique, case_insensitive))]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique, case_insensitive)]
    email: Option<String>,
    #[index(case_insensitive)]
    name: String,
    /// Has no index.
    nick: String,
    tenant: i32,
    #[embed]
    address: Address,
}

#[derive(Database)]
#[database(name = "users", version = 1)]
struct Users {
    users: Repository<User>,
}

fn user(id: i64, name: &str) -> User {
    User {
        id,
        email: None,
        name: name.to_owned(),
        nick: name.to_owned(),
        tenant: 1,
        address: Address { city: Some(format!("city {id}")) },
    }
}

const NAMES: [&str; 9] =
    ["bob", "Ann", "Änne", "ann", "ANN", "STRASSE", "straße", "Ärger", "annika"];

async fn with_names(store: impl TestStore) -> Users {
    let db = Users::open(store).await.unwrap();
    let names = NAMES.iter().zip(1..);
    let users = names.map(|(name, id)| user(id, name));
    db.users.insert_many(users.collect::<Vec<_>>()).await.unwrap();
    db
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_index_that_ignores_case_is_refused_with_the_right_form_on_mongodb() {
    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "words")]
    struct Word {
        #[serde(rename = "_id")]
        id: i64,
        #[index(unique, case_insensitive)]
        text: String,
    }
    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "places", index(fields = "country, address.city", case_insensitive))]
    struct Place {
        #[serde(rename = "_id")]
        id: i64,
        country: String,
        #[embed]
        address: Address,
    }
    #[derive(Debug, Database)]
    #[database(name = "words", version = 1)]
    struct Words {
        words: Repository<Word>,
    }
    #[derive(Debug, Database)]
    #[database(name = "places", version = 1)]
    struct Places {
        places: Repository<Place>,
    }
    tests::on_mongodb(|store| async {
        let error = Words::open(store.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        let text = error.to_string();
        let lines = [
            "- #[index(unique, case_insensitive)]",
            "+ #[computed(fold_case(&text))]",
            "+ text_folded: String,",
            "+ .text_folded.eq(odm::fold_case(text))",
        ];
        assert!(lines.iter().all(|line| text.contains(line)), "{text}");

        let text = Places::open(store).await.unwrap_err().to_string();
        let lines = [
            "- index(fields = \"country, address.city\", case_insensitive)",
            "+ index(fields = \"country_folded, address.city_folded\")",
        ];
        assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    });
}

async fn ids(find: impl IntoFuture<Output = odm::Result<Vec<User>>>) -> Vec<i64> {
    let users = find.await.unwrap();
    users.into_iter().map(|user| user.id).collect()
}

on_local_stores! {
    async fn texts_are_found_without_regard_to_case_with_and_without_an_index(store: AnyStore) {
        let db = with_names(store).await;
        let user = User::fields();
        // By an index and by a scan.
        macro_rules! finds {
            ($filter:ident($text:expr), $ids:expr) => {
                assert_eq!(ids(db.users.find(user.name.$filter($text))).await, $ids);
                assert_eq!(ids(db.users.find(user.nick.$filter($text))).await, $ids);
                let count = db.users.find(user.name.$filter($text)).count().await.unwrap();
                assert_eq!(count, $ids.len() as u64);
            };
        }
        finds!(eq_ignore_case("aNN"), [2, 4, 5]);
        finds!(eq_ignore_case("ÄNNE"), [3]);
        finds!(eq_ignore_case("Straße"), [7]);
        finds!(eq_ignore_case(""), [0_i64; 0]);
        finds!(eq_ignore_case("a.n"), [0_i64; 0]);
        finds!(starts_with_ignore_case("ANN"), [2, 4, 5, 9]);
        finds!(starts_with_ignore_case("ä"), [3, 8]);
        finds!(in_ignore_case(["BOB", "ärger", "nobody"]), [1, 8]);
        finds!(in_ignore_case([""; 0]), [0_i64; 0]);
        // With respect to case, a text equals only itself.
        finds!(eq("ann"), [4]);
        finds!(in_(["ann", "ANN"]), [4, 5]);
        finds!(gt("b"), [1, 3, 7, 8]);
        let both = user.name.eq_ignore_case("ann") & user.nick.ne("Ann");
        assert_eq!(ids(db.users.find(both)).await, [4, 5]);
        // A missing field equals no text.
        assert!(db.users.find(user.email.eq_ignore_case("x")).await.unwrap().is_empty());
        let deleted = db.users.delete_where(user.name.eq_ignore_case("Ann")).await.unwrap();
        assert_eq!(deleted, 3);
    }

    async fn an_order_without_case_is_the_same_with_and_without_an_index(store: AnyStore) {
        let db = with_names(store).await;
        let user = User::fields();
        let expected = [2, 4, 5, 9, 1, 6, 7, 3, 8];
        let by_name = || db.users.all().sort(user.name.asc().ignore_case());
        let by_nick = || db.users.all().sort(user.nick.asc().ignore_case());
        assert_eq!(ids(by_name()).await, expected);
        assert_eq!(ids(by_nick()).await, expected);
        let backwards = db.users.all().sort(user.name.desc().ignore_case());
        assert_eq!(ids(backwards).await, [8, 3, 7, 6, 1, 9, 2, 4, 5]);
        let with_case = db.users.all().sort(user.name.asc());
        assert_eq!(ids(with_case).await, [5, 2, 6, 4, 9, 1, 7, 3, 8]);
        // The whole order ignores case.
        let then = db.users.all().sort(user.tenant.asc().ignore_case().then(user.nick.asc()));
        assert_eq!(ids(then).await, expected);
        let within = db.users.find(user.name.eq_ignore_case("ann")).sort(user.name.asc());
        assert_eq!(ids(within).await, [5, 2, 4]);

        // Pages, in both directions.
        for sort in [user.name.asc().ignore_case(), user.nick.asc().ignore_case()] {
            let find = || db.users.all().sort(sort.clone());
            let first = find().page(4).await.unwrap();
            let next = first.next.clone().unwrap();
            let second = find().after(&next).page(4).await.unwrap();
            let pages = [&first.items, &second.items].map(|page| page.iter().map(|user| user.id).collect::<Vec<_>>());
            assert_eq!(pages, [expected[..4].to_vec(), expected[4..8].to_vec()]);
            let before = find().before(&second.previous.unwrap()).page(4).await.unwrap();
            assert_eq!(before.items, first.items);
            // A position is not valid in the order with case.
            let other = db.users.all().sort(user.name.asc()).after(&first.next.unwrap()).page(4).await;
            assert!(other.unwrap_err().is_invalid_request());
        }
    }

    async fn groups_are_sorted_without_regard_to_case(store: AnyStore) {
        let db = with_names(store).await;
        let user = User::fields();
        let rows = |sort| db.users.find(user.id.lte(5)).group_by(user.nick).select(odm::query::count()).sort(sort);
        let names = |rows: Vec<(String, u64)>| rows.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let found = names(rows(user.nick.desc().ignore_case()).await.unwrap());
        assert_eq!(found, ["Änne", "bob", "ANN", "Ann", "ann"]);
        // Groups by an index that ignores case respect the case of the texts.
        let by_name = db.users.all().count_by(user.name).await.unwrap();
        assert_eq!(by_name.len(), NAMES.len());
    }

    async fn a_unique_index_that_ignores_case_refuses_the_same_word(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let fields = User::fields();
        let with_email = |id, email: &str| User { email: Some(email.to_owned()), ..user(id, "x") };
        db.users.insert(with_email(1, "Ann@b.c")).await.unwrap();
        let error = db.users.insert(with_email(2, "ann@B.C")).await.unwrap_err();
        assert!(error.is_duplicate_key(), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("`email` = \"ann@b.c\"") && text.contains("ignores case"), "{text}");
        let location = error.location().unwrap();
        assert_eq!(location.path.as_deref(), Some("email"));
        assert_eq!(location.id, Some(RawBson::from("ann@b.c")));
        assert_eq!(location.index.as_deref(), Some("email_1_case_insensitive"));
        // Missing values are not texts, and other letters make other texts.
        db.users.insert_many([user(2, "x"), user(3, "x"), with_email(4, "änn@b.c")]).await.unwrap();
        // In any way of writing.
        assert!(db.users.update(2).set(fields.email, "ANN@B.C").await.unwrap_err().is_duplicate_key());
        let raw = db.users.update(2).raw(doc! { "$set": { "email": "ÄNN@b.c" } }).await;
        assert!(raw.unwrap_err().is_duplicate_key());
        assert!(db.users.replace(with_email(3, "ANN@b.c")).await.unwrap_err().is_duplicate_key());
        // The same document may change its own case, and gives up its earlier key.
        db.users.update(1).set(fields.email, "ANN@b.c").await.unwrap();
        db.users.update(1).set(fields.email, "bob@b.c").await.unwrap();
        db.users.update(2).set(fields.email, "ann@b.c").await.unwrap();
    }

    async fn an_upsert_by_a_unique_key_that_ignores_case_finds_the_same_word(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let with_email = |id, email: &str| User { email: Some(email.to_owned()), ..user(id, "x") };
        db.users.insert(with_email(1, "Ann@b.c")).await.unwrap();
        let email = User::fields().email;
        let replaced = db.users.upsert_by(email, with_email(7, "ANN@b.c")).await.unwrap();
        assert_eq!((replaced.id, replaced.email.as_deref()), (1, Some("ANN@b.c")));
        let kept = db.users.upsert_by(email, with_email(8, "ann@b.c")).keep().await.unwrap();
        assert_eq!((kept.id, kept.email.as_deref()), (1, Some("ANN@b.c")));
        let inserted = db.users.upsert_by(email, with_email(9, "änn@b.c")).await.unwrap();
        assert_eq!((inserted.id, db.users.all().count().await.unwrap()), (9, 2));
    }

    async fn the_texts_of_a_compound_key_ignore_case_and_its_numbers_do_not(store: AnyStore) {
        let db = Users::open(store).await.unwrap();
        let in_city = |id, tenant, city: &str| User {
            tenant,
            address: Address { city: Some(city.to_owned()) },
            ..user(id, "x")
        };
        db.users.insert_many([in_city(1, 1, "Köln"), in_city(2, 2, "köln")]).await.unwrap();
        let error = db.users.insert(in_city(3, 1, "KÖLN")).await.unwrap_err();
        assert!(error.is_duplicate_key());
        assert_eq!(error.location().unwrap().path.as_deref(), Some("tenant, address.city"));
        db.users.insert(in_city(3, 1, "Koln")).await.unwrap();
        let user = User::fields();
        let found = db.users.find(user.tenant.eq(1) & user.address.city.eq_ignore_case("köLN"));
        assert_eq!(ids(found).await, [1]);
    }
}

on_embedded_stores! {
    async fn an_index_that_ignores_case_answers_what_does(store: AnyStore) {
        let db = with_names(store).await;
        let user = User::fields();
        let explain = db.users.find(user.name.eq_ignore_case("ANN")).explain().await.unwrap();
        assert_eq!(explain.index.as_deref(), Some("name_1_case_insensitive"));
        assert_eq!(explain.cost.documents_examined, 3);
        let sorted = db.users.all().sort(user.name.desc().ignore_case()).limit(2).explain().await.unwrap();
        assert!(sorted.sorted_by_index && sorted.cost.documents_examined <= 3, "{sorted:?}");
        let with_case = db.users.all().sort(user.name.asc()).explain().await.unwrap();
        assert!(!with_case.sorted_by_index);
    }

    async fn an_index_that_begins_to_ignore_case_is_built_anew(store: AnyStore) {
        macro_rules! version {
            ($module:ident, $version:tt, { $($index:tt)* }) => {
                mod $module {
                    use super::*;
                    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
                    #[document(collection = "words")]
                    pub(super) struct Word {
                        #[serde(rename = "_id")]
                        pub(super) id: i64,
                        $($index)*
                        pub(super) text: String,
                    }
                    #[derive(Database)]
                    #[database(name = "words", version = $version)]
                    pub(super) struct Words {
                        pub(super) words: Repository<Word>,
                    }
                    pub(super) fn word(id: i64, text: &str) -> Word {
                        Word { id, text: text.to_owned() }
                    }
                }
            };
        }
        version!(with_case, 1, { #[index(unique, name = "by_text")] });
        version!(without_case, 2, { #[index(unique, case_insensitive, name = "by_text")] });
        let db = with_case::Words::open(store.clone()).await.unwrap();
        let words = [with_case::word(1, "Word"), with_case::word(2, "word"), with_case::word(3, "other")];
        db.words.insert_many(words).await.unwrap();
        let Err(error) = without_case::Words::open(store.clone()).await else {
            panic!("two words are one without their case");
        };
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{error}");
        assert_eq!(error.location().unwrap().path.as_deref(), Some("text"));
        // The failed change had no effect.
        assert!(db.words.insert(with_case::word(4, "word")).await.unwrap_err().is_duplicate_key());
        db.words.delete(2).await.unwrap();
        let db = without_case::Words::open(store).await.unwrap();
        assert!(db.words.insert(without_case::word(4, "OTHER")).await.unwrap_err().is_duplicate_key());
        let found = db.words.find(without_case::Word::fields().text.eq_ignore_case("WORD"));
        assert_eq!(found.explain().await.unwrap().index.as_deref(), Some("by_text"));
    }
}
