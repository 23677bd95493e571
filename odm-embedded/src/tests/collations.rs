//! Plans of queries with a collation.

use bson::{Document, doc};
use odm_store::{ErrorKind, Explain, Find, Reader, Store};

use super::support::*;
use crate::schema::{Collection, Index, Schema};

async fn plan(reader: &dyn Reader, find: Find) -> Explain {
    reader.explain(&find).await.expect("a plan")
}

#[test]
fn an_index_of_bytes_serves_a_collation_for_what_is_no_text() {
    block_on(async {
        let store = things(vec![
            index("by_name", &[("name", 1)]),
            index("by_n", &[("n", 1)]),
        ])
        .await;
        let documents = (0..100).map(|i| {
            let name = ["ann", "Ann", "bob"][i as usize % 3];
            doc! { "_id": i, "name": name, "n": i }
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let english = collation(2);
        let with = |document| Find {
            filter: filter(document).collated(Some(&english)),
            ..find_all()
        };
        let by_name = with(doc! { "name": "ANN" });
        assert_eq!(plan(&*reader, by_name.clone()).await.index, None);
        assert_eq!(found(&*reader, &by_name).await.len(), 67);
        let by_n = plan(&*reader, with(doc! { "n": { "$gte": 10, "$lt": 20 } })).await;
        assert_eq!(
            (by_n.index.as_deref(), by_n.cost.documents_examined),
            (Some("by_n"), 10)
        );
        // Of values that are no texts an index gives the order in any collation.
        let ordered = |filter, keys| Find {
            sort: sort(keys).collated(Some(&english)),
            limit: Some(3),
            ..with(filter)
        };
        let by_n = plan(
            &*reader,
            ordered(doc! { "n": { "$gt": 10 } }, doc! { "n": -1 }),
        )
        .await;
        assert!(by_n.sorted_by_index, "{by_n:?}");
        let unknown = plan(&*reader, ordered(doc! {}, doc! { "n": -1 })).await;
        assert!(!unknown.sorted_by_index, "{unknown:?}");
        let by_id = plan(&*reader, ordered(doc! {}, doc! { "_id": 1 })).await;
        assert!(!by_id.sorted_by_index, "{by_id:?}");
    });
}

#[test]
fn an_index_with_a_collation_answers_and_orders_queries_with_the_same_one() {
    block_on(async {
        let store = things(vec![collated(index("by_name", &[("name", 1)]), 2)]).await;
        let documents = (0..100).map(|i| {
            let name = ["ann", "Ann", "bob", "Bob", "eve"][i as usize % 5];
            doc! { "_id": i, "name": name }
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let of = |strength| {
            let collation = collation(strength);
            Find {
                filter: filter(doc! { "name": { "$gte": "ANN", "$lt": "BOB" } })
                    .collated(Some(&collation)),
                sort: sort(doc! { "name": 1 }).collated(Some(&collation)),
                ..find_all()
            }
        };
        let same = plan(&*reader, of(2)).await;
        assert_eq!(same.index.as_deref(), Some("by_name"));
        assert!(
            same.sorted_by_index && same.cost.documents_examined == 40,
            "{same:?}"
        );
        let (count, cost) = reader.count(&of(2)).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (40, 0));
        assert_eq!(plan(&*reader, of(1)).await.index, None);
        let plain = Find {
            filter: filter(doc! { "name": "ann" }),
            ..find_all()
        };
        assert_eq!(plan(&*reader, plain).await.index, None);
    });
}

#[test]
fn a_unique_index_with_a_collation_takes_equal_texts_once() {
    block_on(async {
        let store = things(vec![collated(unique("by_name", &[("name", 1)]), 2)]).await;
        let person = |id: i32, name: &str| vec![doc! { "_id": id, "name": name }];
        insert(&store, person(1, "Ann")).await.expect("an insert");
        let error = insert(&store, person(2, "ANN")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        assert!(error.to_string().contains("`name` = \"ANN\""), "{error}");
        insert(&store, person(2, "Änn")).await.expect("an insert");
        store.check_integrity().await.expect("sound indexes");
    });
}

#[test]
fn an_index_with_a_collation_is_stored_with_its_version_and_no_other_version_uses_it() {
    let mut schema = Schema::default();
    let index = Index {
        build: None,
        ..Index::new(2, collated(index("by_name", &[("name", 1)]), 2))
    };
    schema.set(Collection {
        name: "things".to_owned(),
        tree: 1,
        indexes: vec![index],
    });
    assert_eq!(schema.format(), 5);
    let record = schema.encode().expect("a record");
    let read = Schema::decode(&record).expect("a schema");
    assert_eq!(read.specs(), schema.specs());
    let mut record: Document = bson::deserialize_from_slice(&record).expect("a document");
    let collections = record.get_array_mut("collections").expect("an array");
    let things = collections[0].as_document_mut().expect("a collection");
    let indexes = things.get_array_mut("indexes").expect("an array");
    let index = indexes[0].as_document_mut().expect("an index");
    let form = index.get_document_mut("collation").expect("a collation");
    form.insert("version", "icu4x-1.0.0");
    let record = bson::serialize_to_vec(&record).expect("a record");
    let error = Schema::decode(&record).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("make it again"), "{error}");
}
