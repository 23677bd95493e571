//! The refusals of a unique index.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{behind_the_back, on_embedded_stores, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Phone {
    number: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[expect(clippy::duplicated_attributes, reason = "each index has a `unique` of its own")]
#[document(
    collection = "members",
    index(fields = "club, seat", unique),
    index(fields = "phones.number", unique, name = "one phone, one member")
)]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique)]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[index(unique)]
    nick: Option<String>,
    club: String,
    seat: i32,
    #[embed]
    phones: Vec<Phone>,
}

#[derive(Database)]
#[database(name = "members", version = 1)]
struct Members {
    members: Repository<Member>,
}

fn member(id: i64) -> Member {
    let seat = id as i32;
    Member { id, email: None, nick: None, club: "chess".into(), seat, phones: Vec::new() }
}

on_every_store! {
    async fn unique_on_an_option_means_unique_among_those_present(store: AnyStore) {
        let db = Members::open(store).await.unwrap();
        db.members.insert_many([member(1), member(2), member(3)]).await.unwrap();
        db.members.update(1).set(Member::fields().email, "a@b.c").await.unwrap();
        let taken = db.members.update(2).set(Member::fields().email, "a@b.c").await.unwrap_err();
        assert!(taken.is_duplicate_key(), "{taken:?}");
        assert!(taken.to_string().contains("email"), "{taken}");
        db.members.update(2).set(Member::fields().nick, "bob").await.unwrap();
        let taken = db.members.insert(Member { nick: Some("bob".into()), ..member(4) }).await;
        assert!(taken.unwrap_err().is_duplicate_key());
        // Free again.
        db.members.update(1).set(Member::fields().email, None::<String>).await.unwrap();
        db.members.update(2).set(Member::fields().email, "a@b.c").unset(Member::fields().nick).await.unwrap();
        db.members.insert(Member { nick: Some("bob".into()), ..member(4) }).await.unwrap();
        // Members without a value are found nevertheless.
        let without = db.members.find(Member::fields().email.is_null());
        assert_eq!(without.count().await.unwrap(), 3);
        let all = db.members.all().sort(Member::fields().email.asc()).await.unwrap();
        assert_eq!(all.iter().map(|member| member.id).collect::<Vec<_>>(), [1, 3, 4, 2]);
    }

    async fn a_compound_key_is_unique_as_a_whole(store: AnyStore) {
        let db = Members::open(store).await.unwrap();
        db.members.insert(member(1)).await.unwrap();
        db.members.insert(Member { seat: 1, club: "go".into(), ..member(2) }).await.unwrap();
        let taken = db.members.insert(Member { seat: 1, ..member(3) }).await.unwrap_err();
        assert!(taken.is_duplicate_key());
        let text = taken.to_string();
        assert!(text.contains("chess") && text.contains("seat"), "{text}");
    }

    async fn numbers_of_other_types_are_the_same_key(store: AnyStore) {
        let db = Members::open(store.clone()).await.unwrap();
        db.members.insert_many([member(1), member(2)]).await.unwrap();
        for seat in [doc! { "seat": 1_i64 }, doc! { "seat": 1.0 }] {
            // As another program could write it: the schema allows whole numbers only.
            behind_the_back(&store, "members", doc! { "_id": 1 }, doc! { "$set": seat }).await;
            let taken = db.members.update(2).set(Member::fields().seat, 1).await.unwrap_err();
            assert!(taken.is_duplicate_key());
        }
    }

    async fn each_element_of_an_array_is_a_key(store: AnyStore) {
        let db = Members::open(store).await.unwrap();
        let phones = |numbers: &[&str]| {
            numbers.iter().map(|&number| Phone { number: Some(number.into()) }).collect()
        };
        db.members.insert(Member { phones: phones(&["1", "2"]), ..member(1) }).await.unwrap();
        let taken = Member { phones: phones(&["3", "2"]), ..member(2) };
        let error = db.members.insert(taken).await.unwrap_err();
        assert!(error.is_duplicate_key());
        assert!(error.to_string().contains("one phone, one member"), "{error}");
        // A key twice in one document is no conflict, and neither is the lack of a key.
        let twice = Member { phones: phones(&["3", "3"]), ..member(2) };
        db.members.insert(twice).await.unwrap();
        db.members.insert_many([member(3), member(4)]).await.unwrap();
        let nobody = vec![Phone { number: None }];
        for id in [3, 4] {
            db.members.update(id).set(Member::fields().phones, nobody.clone()).await.unwrap();
        }
        db.members.update(1).pull_where(Member::fields().phones, |phone| phone.number.eq("2")).await.unwrap();
        db.members.update(3).push(Member::fields().phones, Phone { number: Some("2".into()) }).await.unwrap();
    }
}

on_embedded_stores! {
    async fn an_index_that_the_documents_contradict_is_not_made(store: AnyStore) {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[document(collection = "things")]
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
        mod later {
            use super::*;
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "things")]
            pub(super) struct Thing {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[index(unique)]
                pub(super) name: String,
            }
            #[derive(Database)]
            #[database(name = "things", version = 2)]
            pub(super) struct Things {
                pub(super) things: Repository<Thing>,
            }
        }
        let db = Things::open(store.clone()).await.unwrap();
        for (id, name) in [(1, "a"), (2, "b"), (3, "a")] {
            db.things.insert(Thing { id, name: name.into() }).await.unwrap();
        }
        let Err(error) = later::Things::open(store.clone()).await else {
            panic!("the index was made");
        };
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{error}");
        assert!(error.to_string().contains("\"a\""), "{error}");
        // No part of the index is left, and without the contradiction it is built over the existing documents.
        db.things.insert(Thing { id: 4, name: "b".into() }).await.unwrap();
        db.things.delete_where(Thing::fields().id.gte(3)).await.unwrap();
        let later = later::Things::open(store).await.unwrap();
        let taken = later.things.insert(later::Thing { id: 5, name: "a".into() }).await;
        assert!(taken.unwrap_err().is_duplicate_key());
        let by_name = later.things.find(later::Thing::fields().name.eq("b"));
        assert_eq!(by_name.explain().await.unwrap().index.as_deref(), Some("name_1"));
        // Databases that were opened before do not know the index.
        let outdated = db.things.insert(Thing { id: 5, name: "a".into() }).await.unwrap_err();
        assert_eq!(outdated.kind(), ErrorKind::Schema);
    }
}
