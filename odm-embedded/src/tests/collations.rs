//! Plans of queries with a collation.

use bson::doc;
use odm_store::{Explain, Find, Reader, Store};

use super::support::*;

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
