//! Among several indexes for a query, the one with the fewest keys is used.

use bson::{Document, doc};
use odm_store::{Find, IndexFilter, IndexSpec, Store};

use super::support::*;

#[test]
fn of_two_indexes_for_the_same_conditions_that_with_fewer_keys_is_used() {
    block_on(async {
        let plain = [index("org_state", &[("org", 1), ("state", -1)])];
        let multikey = index("a_org_words", &[("org", 1), ("words", 1)]);
        let partial = IndexSpec {
            filter: Some(
                IndexFilter::new(&filter(doc! { "state": { "$gte": 0 } })).expect("a filter"),
            ),
            ..index("b_org_words", &[("org", 1), ("words", 1)])
        };
        // In both orders of creation.
        for indexes in [
            vec![multikey.clone(), partial.clone(), plain[0].clone()],
            vec![plain[0].clone(), partial.clone(), multikey.clone()],
        ] {
            let store = things(indexes).await;
            let words: Vec<String> = (0..10).map(|word| format!("w{word}")).collect();
            let documents = (0..100)
                .map(|i| doc! { "_id": i, "org": i % 2, "state": i % 5, "words": words.clone() });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            let used = |asked: Document| {
                let find = Find {
                    filter: filter(asked),
                    ..find_all()
                };
                let store = store.clone();
                async move {
                    let reader = store.reader().expect("an open store");
                    let explain = reader.explain(&find).await.expect("a plan");
                    (explain.index, explain.cost.keys_examined)
                }
            };
            let by_state = || Some("org_state".to_owned());
            assert_eq!(used(doc! { "org": 1 }).await, (by_state(), 50));
            assert_eq!(
                used(doc! { "org": 1, "state": { "$gte": 0 } }).await,
                (by_state(), 50)
            );
            assert_eq!(used(doc! { "org": { "$gte": 1 } }).await, (by_state(), 50));
            // This index compares more fields for equality, and has no more keys than documents there.
            let (name, keys) = used(doc! { "org": 1, "words": "w3" }).await;
            assert_eq!((name.as_deref(), keys), (Some("a_org_words"), 50));
        }
    });
}

#[test]
fn an_index_of_lists_with_few_keys_is_used_as_one_without_lists() {
    block_on(async {
        let few = IndexSpec {
            filter: Some(IndexFilter::new(&filter(doc! { "rare": true })).expect("a filter")),
            ..index("few", &[("org", 1), ("words", 1)])
        };
        let store = things(vec![index("org", &[("org", 1)]), few]).await;
        let document =
            |i: i32| doc! { "_id": i, "org": 1, "rare": i % 20 == 0, "words": ["a", "b", "c"] };
        insert(&store, (0..100).map(document).collect())
            .await
            .expect("an insert");
        let find = Find {
            filter: filter(doc! { "org": 1, "rare": true }),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(
            (explain.index.as_deref(), explain.cost.keys_examined),
            (Some("few"), 15)
        );
    });
}
