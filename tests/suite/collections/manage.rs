//! Lists, indexes, renames and removals of collections.

use odm::{
    Collections, ErrorKind,
    bson::{Bson, doc, rawdoc},
    mql::{Direction, Filter},
    store::contract::{IndexSpec, Store},
};
use tests::{behind_the_back, on_every_store};

use super::{assert_right, filled, id};

on_every_store! {
    async fn indexes_of_models_cannot_be_dropped_and_others_come_and_go(store: AnyStore) {
        let (_, collections) = filled(store).await;
        let books = collections.collection("books");
        let unique = IndexSpec { unique: true, ..IndexSpec::new("by_shelf", [("shelf", Direction::Ascending)]) };
        assert_eq!(books.create_index(unique).await.unwrap_err().kind(), ErrorKind::DuplicateKey);
        let index = IndexSpec::new("mine", [("year", Direction::Descending), ("shelf", Direction::Ascending)]);
        books.create_index(index.clone()).await.expect("it is made");
        books.create_index(index.clone()).await.expect("it is there");
        let other = IndexSpec::new("mine", [("shelf", Direction::Ascending)]);
        assert_eq!(books.create_index(other).await.unwrap_err().kind(), ErrorKind::Schema);
        let listed = collections.list().await.expect("they are listed");
        let of = listed.iter().find(|of| of.name == "books").expect("it is there");
        assert!(of.indexes.contains(&index));
        assert!(of.databases.contains("library"));
        assert!(listed.iter().all(|of| !of.name.starts_with("_odm")));
        let declared = of.indexes.iter().find(|of| of.name != "mine").expect("the model has one");
        let refused = books.drop_index(&declared.name).await.unwrap_err();
        assert!(refused.to_string().contains("`library`"), "{refused}");
        assert!(books.drop_index("mine").await.expect("it is dropped"));
        assert!(!books.drop_index("mine").await.expect("there is none"));
    }

    async fn a_program_without_models_finds_and_repairs_what_another_has_made_wrong(store: AnyStore) {
        let (library, _) = filled(store.clone()).await;
        let wrong = doc! { "$set": { "books": 77_i64 } };
        behind_the_back(&store, "shelves", doc! { "_id": 1 }, wrong).await;
        let alone = Collections::open(store).await.expect("it opens");
        let found = alone.audit().await.expect("it is checked");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].collection.as_str(), found[0].path.as_str()), ("shelves", "books"));
        assert_eq!(alone.collection("shelves").audit().await.expect("it is checked"), found);
        assert_eq!(alone.collection("books").audit().await.expect("it is checked"), []);
        let repaired = alone.repair().await.expect("it is repaired");
        assert!(repaired.len() == 1 && repaired[0].repaired, "{repaired:?}");
        assert_right(&library).await;
    }
}

#[test]
fn collections_of_models_cannot_be_dropped_and_others_can() {
    tests::in_memory(async |store: odm::Embedded| {
        let (library, collections) = filled(store.clone().into()).await;
        for name in ["books", "shelves", "notes_of_shelves"] {
            let collection = collections.collection(name);
            for refused in [collection.drop().await, collection.rename("other", true).await] {
                let error = refused.unwrap_err();
                assert!(error.to_string().contains("`library`"), "{error}");
            }
        }
        let notes = collections.collection("notes");
        notes.insert([rawdoc! { "_id": 1 }]).await.expect("it is stored");
        notes
            .create_index(IndexSpec::new("i", [("a", Direction::Ascending)]))
            .await
            .expect("it is made");
        for taken in ["books", "_odm_catalog"] {
            assert_eq!(
                notes.rename(taken, true).await.unwrap_err().kind(),
                ErrorKind::InvalidQuery
            );
        }
        collections.collection("held").insert([rawdoc! { "_id": 2 }]).await.expect("it is stored");
        assert_eq!(notes.rename("held", false).await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        notes.rename("held", true).await.expect("it is renamed");
        let held = collections.collection("held");
        assert_eq!(
            id(&held
                .find(Filter::default())
                .one()
                .await
                .expect("it is read")
                .expect("it is there")),
            Bson::Int32(1)
        );
        assert_eq!(notes.find(Filter::default()).count().await.expect("they are counted"), 0);
        assert_eq!(notes.rename("more", true).await.unwrap_err().kind(), ErrorKind::Schema);

        // A transaction that has written to a collection which is dropped meanwhile stores nothing in nowhere.
        let unit = collections.begin().await.expect("it begins");
        unit.collection("held").insert([rawdoc! { "_id": 3 }]).await.expect("it is written");
        held.drop().await.expect("it is dropped");
        let lost = unit.commit().await.unwrap_err();
        assert!(lost.is_retryable(), "{lost}");
        assert_eq!(held.find(Filter::default()).count().await.expect("they are counted"), 0);
        let names: Vec<String> = store
            .collections()
            .await
            .expect("they are listed")
            .into_iter()
            .map(|spec| spec.name)
            .collect();
        assert!(!names.contains(&"held".to_owned()));
        assert_right(&library).await;
    });
}
