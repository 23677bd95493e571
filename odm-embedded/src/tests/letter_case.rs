//! Plans through indexes that ignore case.

use bson::{Bson, doc};
use odm_store::{Find, IndexSpec, Store};

use super::support::*;

#[test]
fn an_index_that_ignores_case_answers_filters_and_gives_orders_that_do() {
    block_on(async {
        let store = things(vec![folded(index("by_name", &[("name", 1), ("n", -1)]))]).await;
        let documents = (0..300).map(|i| {
            let name = ["ann", "Ann", "ANN", "Änne", "änne", "bob"][i as usize % 6];
            doc! { "_id": i, "name": name, "n": i / 6 }
        });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let reader = store.reader().expect("an open store");
        let equal = |text: &str| {
            filter(doc! { "name": { "$regex": format!(r"^{text}\z"), "$options": "i" } })
        };
        let find = Find {
            filter: equal("ÄNNE"),
            ..find_all()
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(explain.index.as_deref(), Some("by_name"));
        assert_eq!(explain.cost.documents_examined, 100);
        // A count reads the index alone.
        let (count, cost) = reader.count(&find).await.expect("a count");
        assert_eq!((count, cost.documents_examined), (100, 0));
        // A text is found among the texts that differ in case, and matches with its own case.
        let find = Find {
            filter: filter(doc! { "name": "Ann" }),
            ..find_all()
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert_eq!(explain.index.as_deref(), Some("by_name"));
        assert_eq!(
            (
                explain.cost.documents_examined,
                found(&*reader, &find).await.len()
            ),
            (150, 50)
        );
        // The order, in pages.
        let ignoring = |keys| sort(keys).ignoring_case();
        let find = Find {
            sort: ignoring(doc! { "name": 1, "n": -1 }),
            limit: Some(3),
            ..find_all()
        };
        let explain = reader.explain(&find).await.expect("a plan");
        assert!(
            explain.sorted_by_index && explain.cost.documents_examined <= 3,
            "{explain:?}"
        );
        assert_eq!(
            ids(&found(&*reader, &find).await),
            ids(&[
                doc! { "_id": 294 },
                doc! { "_id": 295 },
                doc! { "_id": 296 }
            ])
        );
        // Orders that differ from the index.
        for sort in [
            sort(doc! { "name": 1, "n": -1 }),
            ignoring(doc! { "name": 1, "n": 1 }),
        ] {
            let explain = reader
                .explain(&Find { sort, ..find_all() })
                .await
                .expect("a plan");
            assert!(!explain.sorted_by_index);
        }
        let range = Find {
            filter: filter(doc! { "name": { "$gt": "B" } }),
            ..find_all()
        };
        assert_eq!(reader.explain(&range).await.expect("a plan").index, None);
    });
}

#[test]
fn an_index_of_present_values_answers_no_list_with_null() {
    block_on(async {
        let present = |name| IndexSpec {
            present_only: true,
            ..index(name, &[("b", 1)])
        };
        let folded = IndexSpec {
            case_insensitive: true,
            ..present("folded")
        };
        let store = things(vec![present("plain"), folded]).await;
        let documents = vec![doc! { "_id": 1 }, doc! { "_id": 2, "b": "AB" }];
        insert(&store, documents).await.expect("an insert");
        let any = |null: bool| {
            let mut any = vec![Bson::RegularExpression(bson::Regex {
                pattern: "^ab\\z".try_into().expect("a pattern"),
                options: "i".try_into().expect("an option"),
            })];
            any.extend(null.then_some(Bson::Null));
            Find {
                filter: filter(doc! { "b": { "$in": any } }),
                ..find_all()
            }
        };
        let reader = store.reader().expect("an open store");
        assert_eq!(found(&*reader, &any(false)).await.len(), 1);
        assert_eq!(found(&*reader, &any(true)).await.len(), 2);
    });
}
