//! Versions of models that declare other indexes than earlier ones.

use odm::{
    ErrorKind,
    bson::{RawBson, doc},
    mql::Direction,
    prelude::*,
    store::contract::{CollectionSpec, IndexSpec},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_embedded_stores, on_every_store, on_local_stores};

/// A version of a database of people, with its own index of their e-mail addresses.
macro_rules! version {
    ($module:ident, $name:tt $version:tt, { $($index:tt)* } $email:ty) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "people")]
            pub(super) struct Person {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $($index)*
                pub(super) email: $email,
            }

            #[derive(Database)]
            #[database(name = $name, version = $version)]
            pub(super) struct Club {
                pub(super) people: Repository<Person>,
            }

            #[allow(dead_code, reason = "not all versions are asked")]
            impl Club {
                /// Inserts a person with this address, unless it is taken.
                pub(super) async fn takes(&self, id: i64, email: &str) -> bool {
                    match self.people.insert(Person { id, email: email.to_owned().into() }).await {
                        Ok(_) => true,
                        Err(error) if error.is_duplicate_key() => false,
                        Err(error) => panic!("{error:?}"),
                    }
                }

                /// The number of people with this address, and the index that finds them.
                pub(super) async fn with(&self, email: &str) -> (u64, Option<String>) {
                    let find = || self.people.find(Person::fields().email.eq(email));
                    let index = find().explain().await.unwrap().index;
                    (find().count().await.unwrap(), index)
                }
            }
        }
    };
}

version!(none1, "club" 1, {} String);
version!(plain1, "club" 1, { #[index] } String);
version!(unique1, "club" 1, { #[index(unique)] } String);
version!(none2, "club" 2, {} String);
version!(plain2, "club" 2, { #[index] } String);
version!(unique2, "club" 2, { #[index(unique)] } String);
version!(present1, "club" 1, { #[index(unique)] } Option<String>);
version!(mail1, "mail" 1, { #[index(unique)] } String);
version!(mail2, "mail" 2, {} String);

/// Other names, other directions and other fields.
mod named {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "people", index(fields = "email", name = "i"))]
    pub(super) struct Named {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        email: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "people", index(fields = "-email, id", name = "i"))]
    pub(super) struct Turned {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        email: String,
    }

    #[derive(Database)]
    #[database(name = "club", version = 2)]
    pub(super) struct Club2 {
        #[allow(dead_code, reason = "it is declared, and never used")]
        people: Repository<Named>,
    }

    #[derive(Database)]
    #[database(name = "club", version = 3)]
    pub(super) struct Club3 {
        #[allow(dead_code, reason = "it is declared, and never used")]
        people: Repository<Turned>,
    }
}

/// People have one badge, and then several, and then badges have no people.
mod badges {
    use super::*;

    macro_rules! badges {
        ($module:ident, $version:tt, { $($reference:tt)* } $person:ty) => {
            pub(super) mod $module {
                use super::*;

                #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
                #[document(collection = "badges")]
                pub(in super::super) struct Badge {
                    #[serde(rename = "_id")]
                    pub(in super::super) id: i64,
                    $($reference)*
                    pub(in super::super) person: $person,
                }

                #[derive(Database)]
                #[database(name = "club", version = $version)]
                pub(in super::super) struct Club {
                    pub(in super::super) people: Repository<none1::Person>,
                    pub(in super::super) badges: Repository<Badge>,
                }
            }
        };
    }

    badges!(one, 1, { #[reference(parent, one)] } Ref<none1::Person>);
    badges!(many, 2, { #[reference(parent)] } Ref<none1::Person>);
    badges!(none, 3, {} i64);
}

fn index(name: &str, path: &str) -> IndexSpec {
    IndexSpec {
        name: name.to_owned(),
        keys: vec![(path.to_owned(), Direction::Ascending)],
        unique: true,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}

async fn make_by_hand(store: &impl TestStore, index: IndexSpec) {
    let people = CollectionSpec {
        name: "people".to_owned(),
        indexes: vec![index],
        ..CollectionSpec::default()
    };
    store.ensure(&[people]).await.unwrap();
}

/// Removes from the stored catalog the indexes that an older library did not store.
async fn forget_indexes(store: &impl TestStore, database: &str) {
    let owner = doc! { "_id": format!("database {database}") };
    behind_the_back(store, "_odm_catalog", owner, doc! { "$unset": { "indexes": "" } }).await;
}

on_every_store! {
    async fn a_unique_index_that_is_no_longer_declared_refuses_nothing(store: AnyStore) {
        let old = unique1::Club::open(store.clone()).await.unwrap();
        assert!(old.takes(1, "a").await);
        assert!(!old.takes(2, "a").await);
        let new = none2::Club::open(store.clone()).await.unwrap();
        assert!(new.takes(2, "a").await);
        // Nor by an earlier handle, which finds all documents.
        assert!(old.takes(3, "a").await);
        assert_eq!((old.with("a").await.0, new.with("a").await.0), (3, 3));
        assert!(none2::Club::open(store).await.unwrap().takes(4, "a").await);
    }

    async fn a_unique_index_can_become_a_plain_one(store: AnyStore) {
        let old = unique1::Club::open(store.clone()).await.unwrap();
        assert!(old.takes(1, "a").await);
        let new = plain2::Club::open(store).await.unwrap();
        assert!(new.takes(2, "a").await && old.takes(3, "a").await);
        assert_eq!((old.with("a").await.0, new.with("a").await.0), (3, 3));
    }

    async fn a_plain_index_becomes_unique_or_nothing_changes(store: AnyStore) {
        let old = plain1::Club::open(store.clone()).await.unwrap();
        assert!(old.takes(1, "a").await && old.takes(2, "b").await && old.takes(3, "a").await);
        let error = unique2::Club::open(store.clone()).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        let text = error.to_string();
        for part in ["`email_1`", "`people`", "\"a\"", "nothing has changed"] {
            assert!(text.contains(part), "{text}");
        }
        let location = error.location().unwrap();
        assert_eq!((&*location.collection, location.path.as_deref()), ("people", Some("email")));
        assert_eq!(location.index.as_deref(), Some("email_1"));
        assert_eq!(location.id, Some(RawBson::String("a".into())));
        // The previous version is still in force.
        let again = plain1::Club::open(store.clone()).await.unwrap();
        assert!(again.takes(4, "a").await && old.takes(5, "b").await);
        assert_eq!(again.with("a").await.0, 3);
        again.people.delete_where(plain1::Person::fields().id.gte(3)).await.unwrap();
        let new = unique2::Club::open(store).await.unwrap();
        assert!(!new.takes(3, "a").await && !new.takes(3, "b").await);
        // The index would refuse documents that are right for the older program.
        let person = plain1::Person { id: 4, email: "c".into() };
        assert_eq!(old.people.insert(person).await.map(drop).unwrap_err().kind(), ErrorKind::Schema);
    }

    async fn an_optional_field_can_be_required_once_all_documents_have_it(store: AnyStore) {
        let old = present1::Club::open(store.clone()).await.unwrap();
        for id in [1, 2] {
            old.people.insert(present1::Person { id, email: None }).await.unwrap();
        }
        let error = unique2::Club::open(store.clone()).await.map(drop).unwrap_err();
        assert!(error.to_string().contains("could not read 2 of `people`"), "{error}");
        old.people.insert(present1::Person { id: 3, email: None }).await.unwrap();
        old.people.delete_where(present1::Person::fields().id.gte(1)).await.unwrap();
        unique2::Club::open(store).await.unwrap();
        // The newer version has it in every document.
        let absent = old.people.insert(present1::Person { id: 2, email: None }).await;
        assert_eq!(absent.map(drop).unwrap_err().kind(), ErrorKind::Schema);
    }

    async fn an_index_changes_only_with_the_version(store: AnyStore) {
        let db = unique1::Club::open(store.clone()).await.unwrap();
        assert!(db.takes(1, "a").await);
        for error in [
            none1::Club::open(store.clone()).await.map(drop).unwrap_err(),
            plain1::Club::open(store.clone()).await.map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Schema);
            let text = error.to_string();
            assert!(text.contains("`email_1` of `people`") && text.contains("increase"), "{text}");
        }
        assert!(!db.takes(2, "a").await);
    }

    async fn a_new_index_needs_no_new_version(store: AnyStore) {
        assert!(none1::Club::open(store.clone()).await.unwrap().takes(1, "a").await);
        assert!(!unique1::Club::open(store).await.unwrap().takes(2, "a").await);
    }

    async fn an_index_is_in_force_as_long_as_one_database_declares_it(store: AnyStore) {
        let mail = mail1::Club::open(store.clone()).await.unwrap();
        unique1::Club::open(store.clone()).await.unwrap();
        assert!(mail.takes(1, "a").await);
        let club = none2::Club::open(store.clone()).await.unwrap();
        assert!(!club.takes(2, "a").await);
        let mail = mail2::Club::open(store).await.unwrap();
        assert!(club.takes(2, "a").await && mail.takes(3, "a").await);
    }

    async fn two_databases_that_declare_an_index_differently_are_refused(store: AnyStore) {
        let mail = mail1::Club::open(store.clone()).await.unwrap();
        assert!(mail.takes(1, "a").await);
        let error = plain1::Club::open(store.clone()).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`email_1` of `people`"), "{error}");
        assert!(!mail.takes(2, "a").await);
        mail2::Club::open(store.clone()).await.unwrap();
        assert!(plain1::Club::open(store).await.unwrap().takes(2, "a").await);
    }

    async fn an_index_that_was_made_by_hand_is_not_replaced(store: AnyStore) {
        make_by_hand(&store, index("email_1", "email")).await;
        for error in [
            plain1::Club::open(store.clone()).await.map(drop).unwrap_err(),
            plain2::Club::open(store.clone()).await.map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Schema);
            assert!(error.to_string().contains("`email_1`"), "{error}");
        }
        let db = none2::Club::open(store).await.unwrap();
        assert!(db.takes(1, "a").await);
        assert!(!db.takes(2, "a").await);
    }

    async fn indexes_of_a_database_from_before_they_were_stored_stay(store: AnyStore) {
        mail1::Club::open(store.clone()).await.unwrap();
        unique1::Club::open(store.clone()).await.unwrap();
        forget_indexes(&store, "mail").await;
        let club = none2::Club::open(store.clone()).await.unwrap();
        assert!(club.takes(1, "a").await);
        assert!(!club.takes(2, "a").await, "`mail` may have declared it");
        mail2::Club::open(store).await.unwrap();
        assert!(club.takes(2, "a").await);
    }

    async fn a_reference_of_one_child_can_become_one_of_many(store: AnyStore) {
        let old = badges::one::Club::open(store.clone()).await.unwrap();
        old.people.insert(none1::Person { id: 1, email: "a".into() }).await.unwrap();
        let badge = |id| badges::one::Badge { id, person: Ref::new(1) };
        old.badges.insert(badge(1)).await.unwrap();
        assert!(old.badges.insert(badge(2)).await.unwrap_err().is_duplicate_key());
        let new = badges::many::Club::open(store).await.unwrap();
        let badge = badges::many::Badge { id: 2, person: Ref::new(1) };
        new.badges.insert(badge).await.unwrap();
        assert_eq!(new.badges.all().await.unwrap().len(), 2);
    }
}

on_embedded_stores! {
    async fn an_index_can_have_another_name_and_other_fields(store: AnyStore) {
        let old = plain1::Club::open(store.clone()).await.unwrap();
        assert!(old.takes(1, "a").await);
        assert_eq!(old.with("a").await, (1, Some("email_1".into())));
        named::Club2::open(store.clone()).await.unwrap();
        assert_eq!(old.with("a").await, (1, Some("i".into())));
        let last = || old.people.all().sort(plain1::Person::fields().email.desc()).explain();
        named::Club3::open(store).await.unwrap();
        assert_eq!(old.with("a").await, (1, Some("i".into())));
        assert!(last().await.unwrap().sorted_by_index);
    }

    async fn the_index_of_a_relation_goes_with_the_relation(store: AnyStore) {
        let many = badges::many::Club::open(store.clone()).await.unwrap();
        many.people.insert(none1::Person { id: 1, email: "a".into() }).await.unwrap();
        let badge = badges::many::Badge { id: 1, person: Ref::new(1) };
        many.badges.insert(badge).await.unwrap();
        let of_one = || many.badges.find(badges::many::Badge::fields().person.eq(1)).explain();
        assert_eq!(of_one().await.unwrap().index.as_deref(), Some("person_1"));
        let none = badges::none::Club::open(store).await.unwrap();
        assert_eq!(of_one().await.unwrap().index, None);
        assert_eq!(none.badges.all().count().await.unwrap(), 1);
    }
}

// A server has no two indexes of one form.
on_local_stores! {
    async fn an_index_that_was_made_by_hand_stays(store: AnyStore) {
        unique1::Club::open(store.clone()).await.unwrap();
        make_by_hand(&store, index("by hand", "email")).await;
        let db = none2::Club::open(store).await.unwrap();
        assert!(db.takes(1, "a").await);
        assert!(!db.takes(2, "a").await);
    }
}
